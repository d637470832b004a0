// The one place where a file's name is typed: save the runs under a name (Ctrl+Shift+S), open a session or a
// text (Ctrl+O). Says before Enter what the file will not hold, and what cannot be undone. Drawn by the hands
// after the screens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/ui/ui.h"

namespace normscope::hands {

enum class FilePurpose : uint8_t { save, open, open_for_good };  // the last: it cannot be undone

struct FilePrompt {
  FilePurpose purpose = FilePurpose::open;
  std::string path;
};

void ask_for_file(ui::Ui&, FilePrompt&, FilePurpose, const std::string& path);
// The path once Enter was pressed on it; "~" is the home folder.
std::optional<std::string> draw_file_prompt(ui::Ui&, FilePrompt&);

}  // namespace normscope::hands
