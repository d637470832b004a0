// These tests film a session frame by frame. The last frame is the screenshot of its last step; what goes to ffmpeg is
// read by a stand-in, and by ffmpeg itself where it is installed.

#include "addons/classroom/app/commands/film.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "skip.h"
#include "training/files/config_file.h"
#include "training/session/lab.h"
#include "training/session/session_file.h"
#include "training/support/lab_runs.h"

namespace normscope::test_film {
namespace {

using namespace normscope::test;
namespace fs = std::filesystem;

constexpr const char* kRuns = "[run.A]\n[run.B]\nmodel.placement = \"pre\"\n";
constexpr const char* kSmall = " --size 1024x600";
constexpr size_t kFrameBytes = size_t{1024} * 600 * 4;

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

  /// Puts a program that does what the lines say first on PATH; its last argument is in $made.
  std::string instead_of_ffmpeg(const std::string& lines) const {
    fs::create_directories(folder.file("bin"));
    folder.write("bin/ffmpeg", "#!/bin/sh\nfor made; do :; done\n" + lines + "\n");
    fs::permissions(folder.file("bin/ffmpeg"), fs::perms::owner_all);
    return "env PATH=" + folder.file("bin") + ":/usr/bin:/bin";
  }
};

const std::string kNoPath = "env PATH=/absent";

}  // namespace

TEST_CASE("film: the frames of a kept session differ, and the last one is the screenshot of its last step") {
  const Sessions s;
  const Outcome outcome = s.film(s.kept, "f.png", "--seconds 3 --fps 1", kNoPath);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "wrote " + s.folder.file("f-0001.png") + " to " + s.folder.file("f-0003.png")));
  CHECK(s.count("f-") == 3);
  CHECK(s.bytes("f-0001.png") != s.bytes("f-0002.png"));
  CHECK(s.bytes("f-0002.png") != s.bytes("f-0003.png"));
  REQUIRE(run_program("screenshot --config " + s.config + " --steps 12" + kSmall + " --out " +
                      s.folder.file("still.png"))
              .code == 0);
  CHECK(s.bytes("f-0003.png") == s.bytes("still.png"));

  // Frames of --from and --to that show the same step are equal; a single frame has no number.
  REQUIRE(s.film(s.kept, "to.png", "--to 6 --seconds 1 --fps 1").code == 0);
  CHECK(s.bytes("to.png") == s.bytes("f-0002.png"));
  REQUIRE(s.film(s.kept, "dark.png", "--from 12 --theme dark --seconds 1 --fps 1").code == 0);
  CHECK(s.bytes("dark.png") != s.bytes("f-0003.png"));
}

TEST_CASE("film: its folder is made, as the manual's own line asks for") {
  const Sessions s;
  REQUIRE(s.film(s.config, "frames/lab.png", "--seconds 1 --fps 1").code == 0);
  CHECK(fs::exists(s.folder.file("frames/lab.png")));
}

TEST_CASE("film: runs that were saved as TOML are trained first, and Compare can be filmed") {
  const Sessions s;
  const Outcome outcome = s.film(s.config, "t.png", "--screen compare --seconds 2 --fps 1");
  REQUIRE(outcome.code == 0);
  CHECK(s.bytes("t-0001.png") != s.bytes("t-0002.png"));
  REQUIRE(run_program("screenshot --config " + s.config + " --screen compare --steps 12" + kSmall +
                      " --out " + s.folder.file("still.png"))
              .code == 0);
  CHECK(s.bytes("t-0002.png") == s.bytes("still.png"));

  REQUIRE(s.film(s.config, "d.png", "--screen compare --seconds 1 --fps 1 --language de").code == 0);
  REQUIRE(run_program("screenshot --config " + s.config + " --screen compare --steps 12 --language de" +
                      kSmall + " --out " + s.folder.file("de.png"))
              .code == 0);
  CHECK(s.bytes("d.png") == s.bytes("de.png"));
  CHECK(s.bytes("d.png") != s.bytes("still.png"));

  // In this layout no card has room for what a model wrote on the way, which a kept session does not hold.
  REQUIRE(s.film(s.config, "l.png", "--seconds 3 --fps 1").code == 0);
  REQUIRE(s.film(s.kept, "k.png", "--seconds 3 --fps 1").code == 0);
  CHECK(s.bytes("l-0002.png") == s.bytes("k-0002.png"));
  CHECK(s.bytes("l-0003.png") == s.bytes("k-0003.png"));
}

TEST_CASE("film: ffmpeg gets every frame, raw, and its film appears whole") {
  const Sessions s;
  const std::string before =
      s.instead_of_ffmpeg("echo \"$@\" >" + s.folder.file("words") + "\ncat >\"$made\"");
  const Outcome outcome = s.film(s.kept, "f.mp4", "--seconds 0.3 --fps 10", before);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "wrote " + s.folder.file("f.mp4")));
  const std::string raw = s.bytes("f.mp4"), words = s.bytes("words");
  REQUIRE(raw.size() == 3 * kFrameBytes);
  CHECK(raw.substr(0, kFrameBytes) != raw.substr(2 * kFrameBytes));
  CHECK(raw[3] == '\xff');  // opaque
  CHECK(contains(words, "-pixel_format rgba -video_size 1024x600 -framerate 10 -i pipe:0"));
  CHECK(contains(words, "yuv420p"));
  CHECK(s.count(".normscope-") == 0);

  REQUIRE(s.film(s.kept, "f.gif", "--seconds 0.1 --fps 10", before).code == 0);
  CHECK(s.bytes("f.gif").size() == kFrameBytes);
  CHECK(contains(s.bytes("words"), "palettegen"));
}

TEST_CASE("film: an ffmpeg that is missing or fails is one line, and leaves nothing") {
  const Sessions s;
  s.folder.write("old.mp4", "the film of before");
  check_refused(s.film(s.kept, "old.mp4", "", kNoPath), 5, "install the package ffmpeg");
  check_refused(s.film(s.kept, "old.gif", "", "env PATH="), 5, "ends in .png");
  const std::string fails =
      s.instead_of_ffmpeg("cat >/dev/null\necho first >&2\necho 'no such encoder' >&2\nexit 3");
  check_refused(s.film(s.kept, "old.mp4", "--seconds 0.1", fails), 5, "exit code 3: no such encoder");
  const std::string early = s.instead_of_ffmpeg("head -c 100 >/dev/null");
  check_refused(s.film(s.kept, "old.mp4", "--seconds 0.1", early), 5, "took no more frames");
  const std::string nothing = s.instead_of_ffmpeg("cat >/dev/null");
  check_refused(s.film(s.kept, "old.mp4", "--seconds 0.1", nothing), 5, "made nothing");
  CHECK(s.bytes("old.mp4") == "the film of before");
  CHECK(s.count(".normscope-") == 0);
}

TEST_CASE("film: interrupted it writes no film and exits with 130") {
  const Sessions s;
  // As Ctrl+C does: it comes while frames are drawn.
  const std::string before = s.instead_of_ffmpeg("head -c 100 >/dev/null\nkill -INT $PPID\ncat >/dev/null");
  const Outcome outcome = s.film(s.kept, "long.mp4", "--seconds 3600 --fps 120", before);
  check_refused(outcome, 130, "interrupted");
  CHECK(s.count("long") == 0);
  CHECK(s.count(".normscope-") == 0);
}

TEST_CASE("film: what is no session, and a bad name, size or range of steps, is one line") {
  const Sessions s;
  check_refused(s.film(s.folder.file("absent"), "x.png", ""), 3, "There is no file");
  check_refused(s.film(s.folder.file(""), "x.png", ""), 3, "Expected the folder of a kept session");
  check_refused(s.film(s.folder.write("text", "to be or not to be\n"), "x.png", ""), 3,
                "Expected the folder");
  check_refused(s.film(s.folder.write("bad.toml", "[run.A]\nmodel.layers = \"many\"\n"), "x.png", ""), 2,
                "layers");
  check_refused(s.film(s.kept, "x.avi", ""), 2, "expected a name that ends in .mp4, .gif or .png");
  check_refused(s.film(s.kept, "x.png", "--to 13"), 2, "from 0 to 12");
  check_refused(s.film(s.kept, "x.png", "--from 5 --to 4"), 2, "--from 5 --to 4");
  check_refused(s.film(s.kept, "x.png", "--screen kitchen"), 2, "kitchen");
  check_refused(s.film(s.kept, "text/x.png", ""), 5, "text");  // a file, and no folder
  fs::create_directories(s.folder.file("damaged"));
  s.folder.write("damaged/session.toml", "[window]\nstep = 3\n");
  check_refused(s.film(s.folder.file("damaged"), "x.png", ""), 3, "session");
  CHECK(s.count("x") == 1);  // "text"
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
