// These tests film a kept session frame by frame, and by ffmpeg itself where it is installed. The rest of the command:
// answers/commands.txt.
#include "addons/classroom/app/commands/film.h"
#include "app/support/program.h"
#include "skip.h"
#include "training/files/config_file.h"
#include "training/session/session_file.h"
#include "training/support/lab_runs.h"

namespace normscope::test_film {
namespace {

using namespace normscope::test;
namespace fs = std::filesystem;

constexpr const char* kRuns = "[run.A]\n[run.B]\nmodel.placement = \"pre\"\n";
constexpr const char* kSmall = " --size 1024x600";

/// Two runs of twelve steps: as Ctrl+S saves them, and as a window keeps them.
struct Sessions {
  Folder folder;
  std::string config = folder.write("two.toml", std::string(kTiny) + kRuns);
  std::string kept = folder.file("kept");

  Sessions() {
    const std::vector<ConfigRun> runs = read_config(config);
    Lab lab({.threads = 1, .live_text = false});
    test::view_after(lab, replacing(runs, false));
    test::view_after(lab, session::PlayTo{12});
    test::view_after(lab, session::SaveSession{kept});
    REQUIRE(lab.view()->step == 12);
  }

  Outcome film(const std::string& session, const std::string& out, const std::string& options,
               const std::string& before = "") const {
    return run_program("film " + session + " --out " + folder.file(out) + kSmall + " " + options, before);
  }
  std::string bytes(const std::string& name) const { return read_all(folder.file(name)); }

  /// Counts the files in its own folder with `part` in their name.
  int count(const std::string& part) const {
    int found = 0;
    for (const auto& entry : fs::directory_iterator(folder.file("")))
      found += contains(entry.path().filename().string(), part);
    return found;
  }
};

}  // namespace

TEST_CASE("film: the frames of a kept session differ, and the last one is the screenshot of its last step") {
  const Sessions s;
  const Outcome outcome = s.film(s.kept, "f.png", "--seconds 3 --fps 1", "env PATH=/absent");
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "wrote " + s.folder.file("f-0001.png") + " to " + s.folder.file("f-0003.png")));
  CHECK(s.count("f-") == 3);
  CHECK(s.bytes("f-0001.png") != s.bytes("f-0002.png"));
  CHECK(s.bytes("f-0002.png") != s.bytes("f-0003.png"));
  REQUIRE(run_program("screenshot --config " + s.config + " --steps 12" + kSmall + " --out " +
                      s.folder.file("still.png"))
              .code == 0);
  CHECK(s.bytes("f-0003.png") == s.bytes("still.png"));
  // No card has room here for what a model wrote on the way, which a kept session does not hold.
  REQUIRE(s.film(s.config, "l.png", "--seconds 3 --fps 1").code == 0);
  for (const char* frame : {"2.png", "3.png"})
    CHECK(s.bytes(std::string("l-000") + frame) == s.bytes(std::string("f-000") + frame));
}

TEST_CASE("film: numbers of frames have four digits, and more where there are more") {
  using commands::frame_path;
  CHECK(frame_path({.path = "a/x.png", .frames = 1}, 1) == "a/x.png");
  CHECK(frame_path({.path = "a/x.png", .frames = 500}, 7) == "a/x-0007.png");
  CHECK(frame_path({.path = "x.PNG", .frames = 12345}, 7) == "x-00007.PNG");
}

TEST_CASE("film: an MP4 and a GIF by ffmpeg itself") {
  if (std::system("command -v ffmpeg >/dev/null 2>&1") != 0) SKIP_CASE("ffmpeg is not installed");
  const Sessions s;
  for (const char* name : {"f.mp4", "f.gif"}) {
    const Outcome outcome = s.film(s.kept, name, "--seconds 0.4 --fps 10");
    REQUIRE(outcome.code == 0);
  }
  CHECK(s.bytes("f.mp4").substr(4, 4) == "ftyp");
  CHECK(s.bytes("f.gif").substr(0, 4) == "GIF8");
}

}  // namespace normscope::test_film
