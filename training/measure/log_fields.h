// The lines of a log (docs/log-format.md): its format, and the fields that hold numbers by tensor. `normscope train
// --log` writes the fields that the engine measures.
#pragma once

#include <cstdint>
#include <string_view>

namespace normscope {

inline constexpr const char* kLogFormat = "normscope log 2";

/// A field that holds a number by tensor: the measured numbers whose names end in `suffix`. A single head's number, of
/// "L03.attn.head.2", may have another suffix.
struct LogField {
  std::string_view key, suffix;
  const char* words;                  ///< its name in messages; null: no message where a log lacks it
  std::string_view head_suffix = {};  ///< empty: the same
  std::string_view suffix_of(std::string_view name) const {
    return head_suffix.empty() || name.find(".head.") == name.npos ? suffix : head_suffix;
  }
};
inline constexpr LogField kLogFields[] = {{"grad_norm", ".grad_norm", "gradient sizes"},
                                          {"update_norm", ".update_norm", "update norms"},
                                          {"weight_norm", ".weight_norm", "weight norms"},
                                          {"mean_square", ".mean_square", "hidden states"},
                                          {"branch_variance", ".branch.variance", nullptr},
                                          {"input_variance", ".input.variance", nullptr},
                                          {"share", "", nullptr},
                                          {"attention_entropy", ".attention_entropy", nullptr, ".entropy"},
                                          {"largest_logit", ".largest_logit", nullptr, ".logit"},
                                          {"first_mass", ".first_mass", nullptr, ".first_mass"},
                                          {"longest", ".longest", nullptr},
                                          {"token_share", ".token_share", nullptr}};
inline constexpr int32_t kHiddenField = 3, kFirstOfAttention = 7;

}  // namespace normscope
