// `packed` writes the text of a long link in few characters: an arithmetic coder on the chances of a Predictor takes a
// third to a half of what zlib needs. to_base64url() then writes it in characters that an address may hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace normscope::link {

/// `kPlace` is what a refusal calls a link.
inline constexpr const char* kPlace = "link";
/// `kMostText` limits the bytes of text that are packed or unpacked.
inline constexpr size_t kMostText = 32768;

/// `packed` writes two bytes of length and two that check the text, then the code. It throws Error for a longer text.
std::string packed(std::string_view text);
/// `unpacked` reads it back. It throws Error for bytes that are cut, damaged or no packed text; kMostText bounds its
/// work.
std::string unpacked(std::string_view bytes);

/// `to_base64url` follows RFC 4648, section 5, without padding.
std::string to_base64url(std::string_view bytes);
std::string from_base64url(std::string_view text);  ///< Throws Error.

/// `percent_encoded` writes as in the fragment of an address (RFC 3986): a blank as +, what may not stand there as
/// %XX.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);  ///< Throws Error.

}  // namespace normscope::link
