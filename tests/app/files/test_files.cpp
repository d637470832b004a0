// These tests save and open files: what is opened is known by its content, and other runs have another file. What the
// prompt says and does is tests/stories/files.txt.
#include <sys/stat.h>

#include <algorithm>

#include "app/files/small_window.h"
#include "app/shell/settings.h"
#include "app/support/english.h"
#include "engine/io/output_file.h"
#include "training/files/config_file.h"
#include "training/files/file_kind.h"

using namespace normscope;
using fixture::SmallWindow;
namespace fs = std::filesystem;

namespace {

// Makes the folder of the test the one where the program was started, as long as this lives.
struct StartedIn {
  explicit StartedIn(const std::string& folder) : before(fs::current_path()) { fs::current_path(folder); }
  ~StartedIn() { fs::current_path(before); }
  fs::path before;
};

std::string a_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a small text of one's own, number " + std::to_string(i % 7) + ".\n";
  return text;
}

}  // namespace

TEST_CASE("other runs have another file: after a lesson's or a restored session's runs Ctrl+S asks anew") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  window.key("Ctrl+S");
  window.key("Enter");
  const std::string saved = test::read_all("normscope.toml");
  window.state.session.asked.emplace_back(
      session::ReplaceRuns{{fixture::tiny_runs()[0]}, {}, false, false, window.folder.file("aside")});
  window.settle();
  window.key("Ctrl+S");
  REQUIRE(window.asks());
  CHECK(window.driver.value("app/file/path") == "normscope-2.toml");
  window.key("Escape");
  CHECK(test::read_all("normscope.toml") == saved);
  // What was opened here is the session's own.
  window.prompt("Ctrl+O", "normscope.toml");
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.002"});
  window.settle();
  window.key("Ctrl+S");
  CHECK_FALSE(window.asks());
  CHECK(read_config("normscope.toml")[0].edits.size() == 1);
}

TEST_CASE("a file is what stands in it, whatever it is called") {
  const test::Folder folder;
  const auto kind = [&](const char* name, const std::string& content) {
    return look_at(folder.write(name, content)).kind;
  };
  CHECK(kind("runs.toml", test::kTiny) == FileKind::Config);
  CHECK(kind("runs.txt", test::kTiny) == FileKind::Config);
  CHECK(kind("plain", a_text()) == FileKind::Text);
  CHECK(kind("brackets.txt", "[1] a reference in a text\n[2] another\n") == FileKind::Text);
  CHECK(kind("inner.json", "{\"a\":{\"step\":1},\"b\":\"step\"}\n") == FileKind::Numbers);
  CHECK(kind("table.json", "{\n  \"format\": \"a table\"\n}\n") == FileKind::Numbers);
  CHECK(kind("empty.txt", "") == FileKind::Unusable);
  CHECK(kind("zeros.txt", std::string("a\0b", 3)) == FileKind::Unusable);
  CHECK(kind("latin1.txt", "caf\xe9 au lait\n") == FileKind::Unusable);
  CHECK(kind("cut.txt", std::string(65535, 'a') + "\xc3\xa9 end") ==
        FileKind::Text);  // é over the end of the head
  std::string weights(8, '\0');
  weights[0] = 2;
  const FileLook saved = look_at(folder.write("saved.txt", weights + "{}"));
  CHECK(saved.kind == FileKind::Recorded);
  CHECK(test::contains(saved.words, "normscope train --resume"));
  CHECK(look_at(folder.file("")).kind == FileKind::Folder);
  CHECK(look_at(folder.file("absent")).kind == FileKind::Unusable);
  folder.write("session.toml", "");
  CHECK(look_at(folder.file("")).kind == FileKind::Session);
  // Not a pipe: opening one would wait for its other end.
  REQUIRE(mkfifo(folder.file("pipe.toml").c_str(), 0600) == 0);
  CHECK(test::contains(look_at(folder.file("pipe.toml")).words, "is a pipe"));
  CHECK(test::contains(look_at("/dev/null").words, "is a device"));
}

TEST_CASE("the newest files are remembered, each once") {
  std::vector<std::string> recent;
  for (int i = 0; i < 12; ++i) shell::remember(recent, "/tmp/" + std::to_string(i));
  shell::remember(recent, "/tmp/8");
  shell::remember(recent, "/tmp/\xff");  // no name that settings could keep
  REQUIRE(recent.size() == shell::kMaxRecent);
  CHECK(recent[0] == "/tmp/8");
  CHECK(recent[1] == "/tmp/11");
  CHECK(std::ranges::count(recent, "/tmp/8") == 1);
}

TEST_CASE("a saved session is opened from its folder, and stays there") {
  SmallWindow window;
  const std::string session = window.folder.file("session");
  window.ask(session::PlayTo{4});
  window.ask(session::SaveSession{session});
  window.ask(session::ReplaceRuns{{fixture::tiny_runs()[0]}, {}, false});
  window.prompt("Ctrl+O", session);
  window.settle();
  CHECK_FALSE(window.asks());
  REQUIRE(window.view().runs.size() == 2);
  CHECK(window.view().step == 4);
  CHECK(fs::exists(session + "/session.toml"));
}

TEST_CASE("the thread that draws waits for no disk: the newest question is answered, an older one dropped") {
  std::atomic<bool> let_go{false};
  std::atomic<int> rung{0};
  const std::function<void()> wake = [&] { ++rung; };
  Background<int> background;
  const auto begin = std::chrono::steady_clock::now();
  background.ask(
      "slow",
      [&] {
        while (!let_go) std::this_thread::yield();
        return 1;
      },
      wake);
  background.ask(
      "skipped", [] { return 2; }, wake);
  background.ask(
      "newest", [] { return 3; }, wake);
  CHECK_FALSE(background.find("newest"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  let_go = true;
  const int* answer = nullptr;
  for (int i = 0; i < 10000 && !answer; ++i) {
    answer = background.find("newest");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  REQUIRE(answer);
  CHECK(*answer == 3);
  CHECK_FALSE(background.find("slow"));
  CHECK(rung == 2);
}

TEST_CASE("a name that is free ends in the next number") {
  const test::Folder folder;
  CHECK(free_name(folder.file("a.toml")) == folder.file("a.toml"));
  folder.write("a.toml", "");
  CHECK(free_name(folder.file("a.toml")) == folder.file("a-2.toml"));
  folder.write("a-2.toml", "");
  CHECK(free_name(folder.file("a.toml")) == folder.file("a-3.toml"));
}

// Of what a German window says about files: no sentence of an error stays English, whichever reader wrote it.

namespace normscope::test_german_errors {
namespace {

using fixture::german_error, test::error_of;

}  // namespace

TEST_CASE("german errors: a sentence keeps the place, the path and the key that stand before it") {
  const auto said = [](const std::string& config) {
    return german_error(error_of([&] { parse_config(config, "/tmp/my own/a.toml"); }));
  };
  CHECK(said("[train]\nlr = \"fast\"\n") ==
        "/tmp/my own/a.toml:2: [train.lr] „fast“ ist Text: erwartet wird eine Zahl von 0 bis 100");
  CHECK(
      said("[run.A.data]\nname = \"text\"\n") ==
      "/tmp/my own/a.toml:2: Lauf A: [data.text] Keine Datei ist genannt: erwartet wird ein Pfad, weil data.name text "
      "ist");
  CHECK(german_error(error_of([] { write_file("/no/folder", "", "placement"); })) ==
        "[Platzierung /no/folder] lässt sich nicht schreiben: diese Datei oder diesen Ordner gibt es nicht");
  CHECK(german_error({"{}; kept as {}, and the course begins anew",
                      Message("{} {}", "/tmp/l.json", Message("is damaged: no JSON at byte {}", 7)),
                      "/tmp/l.json.bad"}) ==
        "/tmp/l.json ist beschädigt: kein JSON bei Byte 7; aufbewahrt als /tmp/l.json.bad, und der Kurs "
        "beginnt von vorn");
  Message complaint;
  shell::parse_settings("scale = 9\n", "settings.toml", complaint);
  CHECK(fixture::english_in(german_error(complaint)) == "");
  // What is German already, and what nobody knows, stays.
  CHECK(german_error("gespeichert: /tmp/pre, or post.toml") == "gespeichert: /tmp/pre, or post.toml");
  CHECK(german_error("CUDA error 7 or 8, text") == "CUDA error 7 or 8, text");
  CHECK(words::spoken({"{}: {}", "/tmp/x", "no such file: check the path"}) ==
        "/tmp/x: no such file: check the path");
}

}  // namespace normscope::test_german_errors
