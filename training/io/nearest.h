// Guesses what a person may have meant: the name nearest to an unknown word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/core/message.h"

namespace normscope {

/// The first name with the fewest letters to change, add or leave out (Levenshtein), in any case of
/// letters; empty where there are no names.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// The same, but empty where more than a third of the word would have to change: such a guess only
/// confuses.
std::string_view likely(std::string_view word, std::span<const std::string_view> names);

/// Says "did you mean post? expected post, pre" after "'psot' is unknown: "; without the question where no
/// name is likely.
Message expected(std::string_view word, std::span<const std::string_view> names);

}  // namespace normscope
