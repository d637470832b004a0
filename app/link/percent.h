// Percent-encoding of a link's lines, as in the fragment of an address (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace normscope::link {

/// What a refusal calls a link.
inline constexpr const char* kPlace = "link";

/// Writes a blank as + and what may not stand there as %XX.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);  ///< Throws Error.

}  // namespace normscope::link
