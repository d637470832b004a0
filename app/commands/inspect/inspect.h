// What normscope inspect says of a text: as tables, as JSON, as a picture.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "training/inside/inside.h"

namespace normscope::commands {

struct Inspected {
  std::string name;      ///< of the model, for a title
  bool decoder = true;   ///< asks for the next symbol, otherwise for each where it stands
  nlohmann::json about;  ///< what the model is
  std::function<std::string(int32_t)> text_of;  ///< a token as text; empty where nobody knows
  Inside inside;
};

/// `shown_token` is a token in quotes with its control characters escaped, or its number where it has no text.
std::string shown_token(const Inspected& inspected, int32_t token);
/// `root_mean_square` of the norms of all tokens.
double root_mean_square(const std::vector<float>& norms);

void print_inside(const Inspected& inspected);
nlohmann::json json_of(const Inspected& inspected);
/// `norms_svg` is a map of |x| by token and layer.
std::string norms_svg(const Inspected& inspected);

}  // namespace normscope::commands
