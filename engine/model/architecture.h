// The architectures: three arrangements of a transformer's stacks, and the networks that add-ons bring as rows
// ARCHITECTURE(Enumerator, name) of architectures.def. What the engine asks of such a network is name_architecture, what
// runs ask is name_runs (training/spec/architecture_runs.h), and the app name_chain (app/view/chain.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace normscope {

class Tape;
struct ModelConfig;
struct ModelValues;
struct RecordOptions;

enum class Architecture : uint8_t {
  Decoder,
  Encoder,
  EncoderDecoder,
#define ARCHITECTURE(Name, name) Name,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};
inline bool is_transformer(Architecture a) { return a <= Architecture::EncoderDecoder; }

struct ArchitectureRow {
  std::string_view name;     ///< "convolutional": in files
  std::string_view learner;  ///< "a convolutional network": in sentences
  ModelValues (*record)(Tape&, const ModelConfig&, const RecordOptions&);
  void (*validate)(const ModelConfig&);
  int64_t (*bytes)(const ModelConfig&, int32_t batch);  ///< see estimated_bytes
  double (*flop)(const ModelConfig&, int32_t batch);    ///< see step_flop
  /// A network without a residual stream: the matrix of its layer l is L0l.PART.w, and the last one class.w.
  std::string_view part = {};  ///< "conv"
  int32_t (*source)(const ModelConfig&) =
      nullptr;              ///< numbers of a row of an input "source"; null: there is none
  bool one_target = false;  ///< "targets" is (B), whatever the length of a row
  void (*fit_usual_data)(ModelConfig&) = nullptr;  ///< sets what data would: as many classes as are usual
};
const ArchitectureRow& row_of(Architecture architecture);

#define ARCHITECTURE(Name, name) extern const ArchitectureRow name##_architecture;
#include "chosen/architectures.def"
#undef ARCHITECTURE

std::vector<Architecture> architectures();
std::vector<std::string_view> architecture_names();
Architecture architecture_from(std::string_view name);  ///< throws Error listing the names

}  // namespace normscope
