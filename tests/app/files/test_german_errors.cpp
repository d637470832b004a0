// These tests hold of what a German window says about files: no sentence of an error stays English, whichever reader
// wrote it.
#include <sys/stat.h>

#include "app/files/small_window.h"
#include "app/shell/settings.h"
#include "app/support/english.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/files/config_file.h"
#include "training/io/output_file.h"

namespace normscope::test_german_errors {
namespace {

using fixture::english_in;
using fixture::german_error;
using fixture::SmallWindow;
using test::error_of;
namespace fs = std::filesystem;

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
  // What is German already, and what nobody knows, stays.
  CHECK(german_error("gespeichert: /tmp/pre, or post.toml") == "gespeichert: /tmp/pre, or post.toml");
  CHECK(german_error("CUDA error 7 or 8, text") == "CUDA error 7 or 8, text");
  CHECK(words::spoken({"{}: {}", "/tmp/x", "no such file: check the path"}) ==
        "/tmp/x: no such file: check the path");
}

TEST_CASE("german errors: a German window says in German why a file was not opened, saved or restored") {
  const fixture::Spoken german("de");
  SmallWindow window;
  const auto check = [&](const std::string& said) {
    INFO(said);
    CHECK_FALSE(said.empty());
    CHECK(english_in(said) == "");
  };
  const auto dropped = [&](const std::string& path) {
    INFO(path);
    window.drop(path);
    window.settle();
    window.settle();
    check(window.message());
  };
  const test::Folder& folder = window.folder;
  dropped(folder.file("absent.toml"));
  dropped(folder.write("empty.txt", ""));
  dropped(folder.write("binary.bin", std::string("ab\0cd", 5)));
  dropped(folder.write("speed.toml", "[train]\nlr = \"fast\"\n"));
  dropped(folder.write("heads.toml", "[model]\nheads = 3\n"));
  dropped(folder.write("broken.toml", "[train\n"));
  dropped(folder.write("short.txt", "a short text"));
  mkfifo(folder.file("pipe").c_str(), 0600);
  dropped(folder.file("pipe"));
  fs::create_directory(folder.file("session"));
  folder.write("session/session.toml", "[window");
  dropped(folder.file("session"));
  folder.write("log.jsonl", "{\"format\":\"normscope log 9\"}\n");
  window.drop(folder.file("log.jsonl"));
  for (int i = 0; i < 5; ++i) window.settle();
  if (const ui::Control* card = window.ui.registry().find("compare/fault/B")) check(card->value);

  window.prompt("Ctrl+Shift+S", folder.file("no/such/folder.toml"));
  check(window.says());
  Message complaint;
  shell::parse_settings("scale = 9\n", "settings.toml", complaint);
  check(german_error(complaint));
}

}  // namespace normscope::test_german_errors
