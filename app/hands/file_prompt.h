// The one place where a file's name is typed: save the runs under a name (Ctrl+Shift+S), open a session or a
// text (Ctrl+O). Drawn by the hands after the screens.
#pragma once

#include <optional>
#include <string>

#include "app/ui/ui.h"

namespace normscope::hands {

struct FilePrompt {
  bool saving = false;
  std::string path;
};

void ask_for_file(ui::Ui&, FilePrompt&, bool saving, const std::string& path);
// The path once Enter was pressed on it; "~" is the home folder.
std::optional<std::string> draw_file_prompt(ui::Ui&, FilePrompt&);

}  // namespace normscope::hands
