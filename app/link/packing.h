// The text of a long link in few characters: an arithmetic coder on the chances of a Predictor, a third to a half of
// what zlib needs for it, and in characters that an address may hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace normscope::link {

/// Bytes of text that are packed and unpacked at most.
inline constexpr size_t kMostText = 32768;

/// Two bytes of length and two that check the text, then the code. Throws Error for a text that is too long.
std::string packed(std::string_view text);
/// Back. Throws Error for bytes that are cut, damaged or no packed text; the work is bounded by kMostText.
std::string unpacked(std::string_view bytes);

/// RFC 4648, section 5, without padding.
std::string to_base64url(std::string_view bytes);
std::string from_base64url(std::string_view text);  ///< Throws Error.

/// As in the fragment of an address (RFC 3986): a blank as +, what may not stand there as %XX.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);  ///< Throws Error.

}  // namespace normscope::link
