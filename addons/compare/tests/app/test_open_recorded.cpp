// A log that is opened stands in Compare.
#include <algorithm>

#include "addons/compare/app/screen/compare_screen.h"
#include "app/files/small_window.h"
#include "app/support/made_screen.h"
#include "catch.hpp"

using namespace normscope;
using fixture::made_screen;
using fixture::SmallWindow;

namespace {

constexpr const char* kLog =
    "{\"run\":\"A\",\"seed\":1,\"step\":1,\"loss\":4.1,\"lr\":0.003}\n"
    "{\"run\":\"A\",\"seed\":1,\"step\":2,\"loss\":4.0,\"lr\":0.003}\n";

}  // namespace

TEST_CASE("a training log is no text: dropped or named it stands in Compare, and the runs stay") {
  for (const bool dropped : {false, true}) {
    INFO((dropped ? "dropped" : "typed"));
    SmallWindow window;
    const std::string log = window.folder.write("log.jsonl", kLog);
    const std::string text = window.view().runs[0].spec->data.text_path;
    if (dropped) {
      window.drop(log);
      window.settle();
      window.settle();
    } else {
      window.prompt("Ctrl+O", log);
    }
    window.settle();
    CHECK_FALSE(window.asks());
    CHECK(window.state.screens.shown == Screen::Compare);
    CHECK(window.state.notice.empty());  // Compare shows it, or still asks where it shall stand
    CHECK(window.view().runs[0].spec->data.text_path == text);
    const auto files =
        made_screen<compare_screen::CompareScreen>(window.state, Screen::Compare).kept_choice().files;
    CHECK(std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.path == log; }));
  }
}
