// These tests run normscope --link and screenshot --link: without a display the program trains to the link's step, the
// picture shows the session it was copied from, and anything but a link exits with 2.
#include "addons.h"
#include "app/link/link.h"

#include "app/support/refused.h"
#include "catch.hpp"

using namespace normscope::link;
using namespace normscope;
using namespace normscope::test;

namespace {

constexpr const char* kNoDisplay = "env -u DISPLAY -u WAYLAND_DISPLAY";

LinkedView tiny_view() {
  LinkedView view;
  view.runs =
      parse_config(std::string(kTiny) + "[run]\nseed = 7\n[run.A]\n[run.B]\ntrain.warmup = 8\n", "tiny");
  view.step = 10;
  return view;
}

std::string option_of(const LinkedView& view) { return " --link '" + link_fragment(view) + "'"; }

std::vector<double> losses_in(const std::string& log) {
  std::vector<double> losses;
  for (const nlohmann::json& line : read_log(log))
    if (line.contains("loss") && line.contains("step")) losses.push_back(line["loss"].get<double>());
  return losses;
}

}  // namespace

TEST_CASE("without a display a link is trained to its step, with its own seed") {
  if (!has_command("compare")) return;  // which trains it
  const Folder folder;
  const Outcome outcome =
      run_program("--out '" + folder.file("out") + "'" + option_of(tiny_view()), kNoDisplay);
  CHECK(outcome.code == 0);
  const std::string config =
      folder.write("tiny.toml", std::string(kTiny) + "[run]\nseed = 7\n[run.A]\n[run.B]\ntrain.warmup = 8\n");
  const std::string log = folder.file("train.jsonl");
  CHECK(run_program("train --config '" + config + "' --steps 10 --log '" + log + "'").code == 0);
  std::vector<double> linked = losses_in(folder.file("out/runs.jsonl")), trained = losses_in(log);
  std::ranges::sort(linked);  // train writes the runs side by side
  std::ranges::sort(trained);
  CHECK(linked.size() >= 20);
  CHECK(linked == trained);
}

TEST_CASE("a picture of a link is the picture of its session") {
  const Folder folder;
  LinkedView view = tiny_view();
  view.dark = true;
  const std::string config = folder.write(
                        "tiny.toml",
                        std::string(kTiny) + "[run]\nseed = 7\n[run.A]\n[run.B]\ntrain.warmup = 8\n"),
                    session = folder.file("session.png"), linked = folder.file("linked.png"),
                    earlier = folder.file("earlier.png");
  CHECK(run_program("screenshot --config '" + config + "' --steps 10 --theme dark --out '" + session + "'")
            .code == 0);
  CHECK(run_program("screenshot --out '" + linked + "'" + option_of(view)).code == 0);
  CHECK(read_all(session) == read_all(linked));
  view.cursor = 3;
  CHECK(run_program("screenshot --out '" + earlier + "'" + option_of(view)).code == 0);
  CHECK(read_all(linked) != read_all(earlier));
}

TEST_CASE("a link of a text of one's own has to be given the text") {
  const Folder folder;
  LinkedView own = tiny_view();
  for (ConfigRun& run : own.runs) set_field(run.spec, "data.text", "book.txt");
  refuses("--link '" + link_fragment(own) + "'", 2, "it does not carry: expected --text FILE", kNoDisplay);
  std::string book;
  for (int i = 0; i < 400; ++i) book += "to be or not to be, that is the question.\n";
  const std::string text = folder.write("book.txt", book);
  const Outcome outcome =
      run_program("--text '" + text + "' --out '" + folder.file("out") + "'" + option_of(own), kNoDisplay);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}
