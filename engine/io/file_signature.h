// Files of other programs that are taken for weights, and are none that is read here: each is told by its first bytes.
#pragma once

#include <string_view>

#include "engine/core/error.h"

namespace normscope {

/// What a file is and what to do with it: "is a pointer of git-lfs …". Empty where its first bytes are of none of these.
Message signature_words(std::string_view head);
/// Whether its first bytes are of a file that is no text either.
bool is_data_signature(std::string_view head);

}  // namespace normscope
