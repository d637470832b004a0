// The report on a model that has read a text: the file that the Inside screen and normscope inspect
// write, as JSON and as a picture.
#pragma once

#include <nlohmann/json.hpp>

#include "addons/inside/training/inside.h"

namespace normscope::inside {

struct Inspection {
  std::string name{};                             ///< name of the model, for a title
  bool decoder = true;                            ///< each target is the next token; else the token itself
  std::string unit = "symbol";                    ///< a piece of the text; "token" of a published model
  nlohmann::json about{};                         ///< the model and its settings
  std::function<std::string(int32_t)> text_of{};  ///< a token as text; empty: unknown
  Inside inside{};
};

/// Adds the model's settings, in the words of a configuration.
void put_settings(nlohmann::json& about, const RunSpec& spec);
/// A token in quotes with its control characters escaped, or its number where it has no text.
std::string shown_token(const Inspection& inspected, int32_t token);
/// The root of the mean of |x|^2 over all tokens, from their norms.
double root_mean_square(const std::vector<float>& norms);

nlohmann::json json_of(const Inspection& inspected);
/// A map of |x| by token and layer.
std::string norms_svg(const Inspection& inspected);

}  // namespace normscope::inside
