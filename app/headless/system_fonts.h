// Fonts of the system for signs that the program's own faces lack, such as Chinese ones: a text of one's own may be any
// UTF-8, and nobody knows beforehand which scripts are wanted. Fontconfig, which every Linux desktop has, is asked on a
// thread of its own once such a sign is to be drawn. Without it the signs stay question marks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace normscope::headless {

/// A font file and the index of a face in it.
struct FontFile {
  std::string path;  ///< empty: there is none
  int face = 0;
};
using FindFont = std::function<FontFile(char32_t sign)>;

/// Asks fontconfig for a scalable face without colours that has the sign.
FontFile find_system_font(char32_t sign);

/// Adds what was found for the signs that the last frames lacked to all faces of the current ImGui context. Call it before
/// a frame. `wait`: a picture waits for the answer, a window draws on.
void add_system_fonts(bool wait);

/// Asks another than find_system_font() from now on; returns the one before. Tests do.
FindFont ask_for_fonts(FindFont find);

/// Whether an answer is still to come, after which a window draws again.
bool looks_for_fonts();

}  // namespace normscope::headless
