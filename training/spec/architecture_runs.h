// What a run asks of a network that is not a transformer; add-ons bring these with their rows of architectures.def.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

struct ArchitectureRuns {
  void (*complete)(RunSpec&) = nullptr;  ///< sets what follows from the rest; see complete in spec.h
  void (*fit)(ModelConfig&, const Task&) = nullptr;  ///< takes over from the data; see fit_to_data
  std::string (*name)(Placement) = nullptr;          ///< how default_name begins
  std::string_view wiring = {};                      ///< in tables in place of the placement; empty: that
  std::string_view preset = {};                      ///< of `train --preset`, and
  RunSpec (*run)() = nullptr;                        ///< its run
  std::vector<RunSpec> (*comparison)() = nullptr;    ///< see comparison_of
  bool sized = true;    ///< reads model.layers, model.d_model, model.feed_forward, model.dropout_activation
  bool started = true;  ///< reads model.init
};

#define ARCHITECTURE(Name, name) extern const ArchitectureRuns name##_runs;
#include "chosen/architectures.def"
#undef ARCHITECTURE

const ArchitectureRuns* added_runs(Architecture architecture);  ///< null for a transformer
std::span<const ArchitectureRuns* const> added_architectures();

}  // namespace normscope
