// Opening and saving files: what was dropped or named is recognised by its content in the background and then
// taken, asked about or refused; a file that is not this session's own is never replaced unasked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/shell/file_prompt.h"

namespace normscope {
struct AppState;
}

namespace normscope::shell {

// The file that the runs were saved to or opened from here, as it was then.
struct OwnFile {
  std::string path{};
  std::filesystem::file_time_type time{};
  std::uintmax_t size = 0;
};
OwnFile own_file(const std::string& path);
// It is the same file and nobody else has written to it.
bool is_own(const OwnFile&, const std::string& path);

// How sure the person is: dropped, chosen where the prompt said what it does, chosen once more.
enum class Sure : uint8_t { Dropped, Asked, Again };

struct Files {
  OwnFile own{};
  std::vector<std::string> recent{};  // opened and saved lately, newest first
  std::string opening{};              // being read
  Sure sure = Sure::Dropped;
  Background<OpenedFile> opened{};
  std::string replacing{};  // runs of this file take the place of all that are shown
};
inline constexpr size_t kMostRecent = 8;
void remember(std::vector<std::string>& recent, const std::string& path);

void begin_opening(AppState&, const std::string& path, Sure);
// Takes what was read; called at the beginning of a frame.
void finish_opening(AppState&, ui::Ui&);
// Ctrl+S: into the session's own file, or asks for a name.
void save(AppState&, ui::Ui&);
void save_as(AppState&, ui::Ui&);
void ask_open(AppState&, ui::Ui&, const std::string& path = "");
// The prompt, and what was chosen in it.
void draw_files(AppState&, ui::Ui&);
// Other runs stand there now: their file is the one that they were opened from, or none.
void runs_were_replaced(Files&);

// A folder that the window kept a session in; `chosen`: by the person, so it is left where it is.
void restore_session(AppState&, const std::string& folder, bool chosen);

}  // namespace normscope::shell
