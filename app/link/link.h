// A session as the fragment of an address: opening the link trains the same runs to the same step and shows the same
// view. docs/links.md has the format.
//
//   1&run=A=post&run=B=pre&set=B:train.warmup=200&edit=A:214:train.lr=0.001&step=300&cursor=214&theme=dark&end
//
// Promises: read_link reads back what link_fragment writes. A text from outside gives a LinkedView whose every value
// was checked, runs and edits too, or one line of Error, in bounded time and memory. A link names no file that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/view/screen.h"
#include "engine/core/error.h"
#include "training/files/config_file.h"

namespace normscope::link {

struct LinkedView {
  std::vector<ConfigRun> runs;      ///< one to four, ascending from A
  int32_t step = 0;                 ///< to which all runs are trained, within their budget
  bool instant = false;             ///< see session::ReplaceRuns::instant
  std::optional<int32_t> cursor{};  ///< an earlier step to look at; none: the newest
  Screen screen = Screen::Lab;
  std::string lesson{};   ///< on the Lessons screen, with its step: "warm-up:compare"; empty: none is open
  std::string figure{};   ///< of that step, by its id; empty: the first one
  view::Answer answer{};  ///< the prediction in that lesson
  ScreenSettings settings{};  ///< of the screen, where an add-on brings it
  bool dark = false;
  char shown = 'A';              ///< the run whose wiring and settings are shown
  std::vector<int> bookmarks{};  ///< steps, ascending
  /// The user's own files from which the runs learn, which no link carries: field and name, {"data.text",
  /// "book.txt"}. In `runs` the field is empty.
  std::vector<std::pair<std::string, std::string>> needs{};
};

inline constexpr size_t kLongestFragment = 8000;  ///< characters that link_fragment writes at most
inline constexpr size_t kLongestRead = 8192;      ///< characters that read_link takes, also before the '#'

/// Writes the fragment without '#'. The files in `runs` become `needs`. For a session that does not
/// fit it throws Error, which says what takes most of the room.
std::string link_fragment(const LinkedView& view);
/// The fragment that trains these runs to the end, on the Lab screen; empty where they do not fit in a link.
std::string fragment_of_runs(std::vector<ConfigRun> runs, bool instant);
/// Takes a fragment or a whole address with one. It throws Error.
LinkedView read_link(std::string_view text);

/// Says "it needs your text book.txt, which it does not carry"; empty where it needs nothing.
std::string needed_words(const LinkedView& view);
/// Throws Error for a file in `needs` that no run of `runs` names, with the option that would name it.
void require_needed(const LinkedView& view, const std::vector<ConfigRun>& runs);

}  // namespace normscope::link

// The reader parses the settings of a screen, from a link or from a session. Its errors name a link; a session's
// errors are discarded.

namespace normscope::link {

/// The name of a link in a refusal.
inline constexpr const char* kPlace = "link";

/// Reads the value of a key. It throws Error for anything but a whole number from `low` to `high`.
int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high);
double real(std::string_view key, std::string_view text, double low, double high);

class ScreenSettingsReader {
 public:
  ScreenSettingsReader(Screen screen, const ScreenSettings& settings)
      : screen_(name_of(screen)), rest_(settings) {}

  /// The value of a key; nothing if it is missing. Throws Error for a repeated key.
  std::optional<std::string> text(std::string_view key);
  std::vector<std::string> all(std::string_view key);
  /// A whole number from `low` to `high`; `usual` if the key is missing. Throws Error.
  int32_t whole(std::string_view key, int32_t low, int32_t high, int32_t usual);
  double real(std::string_view key, double low, double high, double usual);
  /// Throws Error for a setting that was not read.
  void done() const;

  [[noreturn]] void refuse(std::string_view key, std::string_view value, const Message& expected) const;

 private:
  std::string name(std::string_view key) const;

  std::string_view screen_;
  ScreenSettings rest_;
};

}  // namespace normscope::link
