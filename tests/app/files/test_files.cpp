// These tests save and open files by hand: what is saved replaces nothing unasked, what is opened is known by its
// content, and a name that cannot be opened keeps the prompt open and says why.
#include <sys/stat.h>

#include <atomic>

#include "app/files/small_window.h"
#include "catch.hpp"
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

void press(SmallWindow& window, const char* key) {
  window.key(key);
  window.settle();
}

std::string a_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a small text of one's own, number " + std::to_string(i % 7) + ".\n";
  return text;
}

constexpr const char* kLog =
    "{\"run\":\"A\",\"seed\":1,\"step\":1,\"loss\":4.1,\"lr\":0.003}\n"
    "{\"run\":\"A\",\"seed\":1,\"step\":2,\"loss\":4.0,\"lr\":0.003}\n";

std::string one_run(const SmallWindow& window, const char* name = "one.toml") {
  return window.folder.write(name, std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
}

}  // namespace

TEST_CASE("a first save asks with a name that is free; the next goes into the same file") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  const std::string foreign = "# somebody else's\n";
  window.folder.write("normscope.toml", foreign);
  press(window, "Ctrl+S");
  REQUIRE(window.asks());
  CHECK(window.driver.value("app/file/path") == "normscope-2.toml");
  press(window, "Enter");
  CHECK_FALSE(window.asks());
  CHECK(window.message() == "saved normscope-2.toml");
  CHECK(read_config("normscope-2.toml").size() == 2);
  CHECK(test::read_all("normscope.toml") == foreign);

  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.002"});
  window.settle();
  press(window, "Ctrl+S");
  CHECK_FALSE(window.asks());
  CHECK(read_config("normscope-2.toml")[0].edits.size() == 1);
  CHECK(test::read_all("normscope.toml") == foreign);
}

TEST_CASE("a file that another program wrote to is replaced only when Enter says so") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  press(window, "Ctrl+S");
  press(window, "Enter");
  CHECK(window.message() == "saved normscope.toml");
  const std::string changed = "# changed meanwhile, by an editor\n";
  window.folder.write("normscope.toml", changed);
  press(window, "Ctrl+S");
  REQUIRE(window.asks());
  CHECK(test::contains(window.says(), "changed this file"));
  press(window, "Escape");
  CHECK(test::read_all("normscope.toml") == changed);
  press(window, "Ctrl+S");
  press(window, "Enter");
  CHECK_FALSE(window.asks());
  CHECK(read_config("normscope.toml").size() == 2);
}

TEST_CASE("saving as a name that is taken asks, and another name leaves it alone") {
  SmallWindow window;
  const std::string theirs = window.folder.write("theirs.toml", "# theirs\n");
  window.prompt("Ctrl+Shift+S", window.folder.file("theirs"));  // the ending is ours to give
  REQUIRE(window.asks());
  CHECK(test::contains(window.says(), "theirs.toml exists"));
  CHECK(test::read_all(theirs) == "# theirs\n");
  window.driver.key("Ctrl+A");
  window.driver.type(window.folder.file("mine"));
  press(window, "Enter");
  CHECK_FALSE(window.asks());
  CHECK(read_config(window.folder.file("mine.toml")).size() == 2);
  CHECK(test::read_all(theirs) == "# theirs\n");
  window.prompt("Ctrl+Shift+S", theirs);
  press(window, "Enter");
  CHECK(read_config(theirs).size() == 2);
}

TEST_CASE("other runs have another file: after a lesson's or a restored session's runs Ctrl+S asks anew") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  press(window, "Ctrl+S");
  press(window, "Enter");
  const std::string saved = test::read_all("normscope.toml");
  window.state.session.asked.emplace_back(
      session::ReplaceRuns{{fixture::tiny_runs()[0]}, {}, false, false, window.folder.file("aside")});
  window.settle();
  press(window, "Ctrl+S");
  REQUIRE(window.asks());
  CHECK(window.driver.value("app/file/path") == "normscope-2.toml");
  press(window, "Escape");
  CHECK(test::read_all("normscope.toml") == saved);
  // What was opened here is the session's own.
  window.prompt("Ctrl+O", "normscope.toml");
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.002"});
  window.settle();
  press(window, "Ctrl+S");
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
  folder.write("session.json", "{}");
  CHECK(test::contains(look_at(folder.file("")).words, "a session of before session.toml"));
  folder.write("session.toml", "");
  CHECK(look_at(folder.file("")).kind == FileKind::Session);
  // Not a pipe: opening one would wait for its other end.
  REQUIRE(mkfifo(folder.file("pipe.toml").c_str(), 0600) == 0);
  CHECK(test::contains(look_at(folder.file("pipe.toml")).words, "is a pipe"));
  CHECK(test::contains(look_at("/dev/null").words, "is a device"));
}

TEST_CASE("other JSON is no text: the prompt says what it is and what to do, Enter again insists") {
  SmallWindow window;
  const std::string table = window.folder.write("table.json", "{\"format\": \"a table\"}\n" + a_text());
  window.prompt("Ctrl+O", table);
  REQUIRE(window.asks());
  CHECK(test::contains(window.says(), "JSON"));
  CHECK(test::contains(window.says(), "Enter again"));
  press(window, "Enter");
  window.settle();
  CHECK_FALSE(window.asks());
  CHECK(window.view().runs[0].spec->data.text_path == table);
}

TEST_CASE("what cannot be opened keeps the prompt open with the reason, and typing on mends it") {
  SmallWindow window;
  const std::string one = one_run(window), missing = one.substr(0, one.size() - 5);
  window.prompt("Ctrl+O", missing);
  REQUIRE(window.asks());
  CHECK(test::contains(window.says(), "There is no file " + missing));
  window.driver.type(".toml");  // the caret stands at the end
  press(window, "Enter");
  CHECK_FALSE(window.asks());
  CHECK(window.view().runs.size() == 1);
  window.prompt("Ctrl+O", window.folder.write("bad.toml", "[train]\nwarmup = \"soon\"\n"));
  REQUIRE(window.asks());
  CHECK(test::contains(window.says(), "bad.toml:2: [train.warmup]"));
}

TEST_CASE("Tab completes a path, arrows and Enter walk through folders, and nothing submits by itself") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  fs::create_directories("texts/deeper");
  window.folder.write("texts/alpha-one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
  window.folder.write("texts/alpha-two.txt", a_text());
  press(window, "Ctrl+O");
  const auto typed = [&] { return window.driver.value("app/file/path"); };
  window.driver.type("te");
  press(window, "Tab");
  CHECK(typed() == "texts/");
  window.driver.type("a");
  press(window, "Tab");
  CHECK(typed() == "texts/alpha-");
  CHECK(window.asks());
  CHECK(window.view().runs.size() == 2);
  window.driver.type("o");
  press(window, "Tab");
  CHECK(typed() == "texts/alpha-one.toml");
  CHECK(test::contains(window.says(), "A configuration"));
  press(window, "Escape");
  CHECK_FALSE(window.asks());

  press(window, "Ctrl+O");
  window.type("texts/");
  CHECK(window.driver.value("app/file/row/0") == "");  // the folder above, where the program was started
  CHECK(window.driver.value("app/file/row/1") == "texts/deeper/");
  press(window, "Down");
  press(window, "Down");
  press(window, "Enter");
  CHECK(typed() == "texts/deeper/");
  press(window, "Down");
  press(window, "Enter");  // and up again
  CHECK(typed() == "texts/");
  press(window, "Down");
  press(window, "Down");
  press(window, "Down");
  press(window, "Enter");
  CHECK_FALSE(window.asks());
  CHECK(window.view().runs.size() == 1);
}

TEST_CASE("the mouse enters folders and opens files, and what was open lately stands first") {
  SmallWindow window;
  const StartedIn here(window.folder.file(""));
  fs::create_directories("runs");
  window.folder.write("runs/one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
  const std::string whole = fs::canonical("runs/one.toml").string();
  press(window, "Ctrl+O");
  window.driver.double_click("app/file/row/1");  // out of habit: the second click is not for what came there
  window.driver.frames(30);
  CHECK(window.driver.value("app/file/path") == "runs/");
  CHECK(window.says().empty());
  window.driver.click("app/file/row/1");
  window.driver.frames(30);
  CHECK(test::contains(window.says(), "A configuration"));
  CHECK(window.view().runs.size() == 2);
  window.driver.double_click("app/file/row/1");
  window.driver.frames(2);
  window.settle();
  CHECK_FALSE(window.asks());
  REQUIRE(window.view().runs.size() == 1);
  REQUIRE(window.state.files.recent == std::vector<std::string>{whole});

  window.ask(session::ReplaceRuns{fixture::tiny_runs(), {}, false});
  press(window, "Ctrl+O");
  CHECK(window.driver.value("app/file/row/0") == whole);
  window.click("app/file/row/0");
  window.click("app/file/go");
  window.settle();
  CHECK_FALSE(window.asks());
  CHECK(window.view().runs.size() == 1);
}

TEST_CASE("the newest files are remembered, each once") {
  std::vector<std::string> recent;
  for (int i = 0; i < 12; ++i) shell::remember(recent, "/tmp/" + std::to_string(i));
  shell::remember(recent, "/tmp/8");
  shell::remember(recent, "/tmp/\xff");  // no name that settings could keep
  REQUIRE(recent.size() == shell::kMostRecent);
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
