// The tiny run is what tests train: so small that a step costs next to nothing. One table gives it as a specification,
// as settings of a plan, as options of a command and as a configuration.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "training/spec/spec.h"

namespace normscope::test {

/// Every size but the number of layers, which some tests choose themselves.
inline constexpr std::pair<std::string_view, std::string_view> kTinySizes[] = {{"model.d_model", "16"},
                                                                               {"model.heads", "2"},
                                                                               {"model.feed_forward", "32"},
                                                                               {"model.sequence", "16"},
                                                                               {"train.batch", "4"}};

/// A specification with these fields set.
inline RunSpec with_fields(RunSpec spec,
                           std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  for (const auto& [key, value] : fields) set_field(spec, key, value);
  return spec;
}

/// With `layers` 0 the run keeps its own number of layers.
inline void make_tiny(RunSpec& spec, int layers = 2) {
  if (layers > 0) set_field(spec, "model.layers", std::to_string(layers));
  for (const auto& [key, value] : kTinySizes) set_field(spec, key, value);
}

inline RunSpec tiny_spec(const std::string& preset, int32_t steps, int layers = 2) {
  RunSpec spec = preset_run(preset);
  make_tiny(spec, layers);
  set_field(spec, "train.steps", std::to_string(steps));
  return spec;
}

/// "model.layers=2", "model.d_model=16" and so on, as the plan of a sweep or of the zoo sets them.
inline std::vector<std::string> tiny_set(int layers = 2, std::string_view is = "=") {
  std::vector<std::string> set;
  if (layers > 0) set.push_back("model.layers" + std::string(is) + std::to_string(layers));
  for (const auto& [key, value] : kTinySizes)
    set.push_back(std::string(key) + std::string(is) + std::string(value));
  return set;
}

/// " --set model.layers=2 --set model.d_model=16" and so on.
inline std::string tiny_options(int layers = 2) {
  std::string text;
  for (const std::string& one : tiny_set(layers)) text += " --set " + one;
  return text;
}

/// "model.layers = 2" and so on, one per line, as in a table [run.A].
inline std::string tiny_lines() {
  std::string text;
  for (const std::string& one : tiny_set(2, " = ")) text += one + "\n";
  return text;
}

/// A configuration of twelve steps; lines appended without a heading belong to [train].
inline const std::string kTiny = [] {
  std::string model = "[model]\nlayers = 2\n", train = "[train]\n";
  for (const auto& [key, value] : kTinySizes)
    (key.starts_with("model.") ? model : train)
        .append(key.substr(6))
        .append(" = ")
        .append(value)
        .append("\n");
  return model + train + "steps = 12\n";
}();

}  // namespace normscope::test
