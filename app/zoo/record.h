// The result of one run of the zoo and where it is kept: one file per run, named by a hash of its specification,
// so that no run is trained twice. Called by app/zoo/trainer.cpp and app/zoo/summary.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/input_value.h"

namespace normscope::zoo {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Diverges: finite, and at the end worse than guessing every symbol alike. Undecided: too few steps for a
/// verdict (measure/plateau.h).
enum class Verdict : uint8_t { Learns, Stuck, Diverges, NotFinite, Undecided, Failed };
const char* to_string(Verdict verdict);

struct Record {
  Verdict verdict = Verdict::Undecided;
  int32_t steps = 0;         ///< trained
  int32_t since = 0;         ///< Learns: first step off the plateau
  std::string what;          ///< NotFinite: "L02.attn output at step 23"; Failed: why it could not be trained
  double loss = kUnknown;    ///< mean training loss of the last kWindow steps, nats a symbol
  double level = kUnknown;   ///< unigram entropy: the loss of a model that knows letter frequencies only
  double beta2 = kUnknown;   ///< sum over sub-layers of beta^2_ii at initialisation (Liu et al. 2020)
  std::string beta2_reason;  ///< why there is none
  /// Norm of dL/dW2 in layer 1 and in the last layer at step kGradientStep.
  double gradient_first = kUnknown, gradient_last = kUnknown;
  std::vector<float> opening;  ///< losses of the first kOpening steps: what tells this run from another one's

  static constexpr int32_t kWindow = 25, kGradientStep = 20, kOpening = 3;
};

nlohmann::json to_json(const Record& record);
/// Throws Error for what is no record.
Record record_from(const InputValue& json);
/// A number, or null where it is not finite.
nlohmann::json number_json(double value);

/// A folder of records. A file that cannot be read, or that belongs to another run, counts as absent and is
/// replaced in time; damaged() counts those. With an empty folder nothing is kept. Safe to use from several
/// threads and programs: files are replaced whole.
class RecordStore {
 public:
  /// Makes the folder. Throws Error.
  explicit RecordStore(std::string folder);
  std::optional<Record> find(const std::string& key);
  void put(const std::string& key, const Record& record);  ///< throws Error
  /// Where the state of an interrupted run is kept; empty without a folder.
  std::string state_path(const std::string& key) const;
  /// The record of an interrupted run, as far as it went.
  std::optional<Record> find_partial(const std::string& key);
  void put_partial(const std::string& key, const Record& record);
  void drop_partial(const std::string& key);

  const std::string& folder() const { return folder_; }
  /// Files that could not be read, each named once.
  std::vector<std::string> damaged() const;

 private:
  std::string path(const std::string& key, std::string_view ending) const;
  std::optional<Record> read(const std::string& key, std::string_view ending);
  void write(const std::string& key, std::string_view ending, const Record& record) const;

  std::string folder_;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace normscope::zoo
