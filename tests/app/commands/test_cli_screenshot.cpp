// These tests run normscope screenshot: the same pixels every time, of the size asked for, with the runs in it.
#include <unistd.h>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#include <iterator>

#include "app/support/program.h"
#include "app/ui/theme.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::test;

namespace {

struct Pixels {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;

  int count(ui::Colour c) const {
    int found = 0;
    for (size_t i = 0; i + 2 < rgb.size(); i += 3)
      found += rgb[i] == c.r && rgb[i + 1] == c.g && rgb[i + 2] == c.b;
    return found;
  }
  size_t colours() const {
    std::set<int> all;
    for (size_t i = 0; i + 2 < rgb.size(); i += 3) all.insert(rgb[i] << 16 | rgb[i + 1] << 8 | rgb[i + 2]);
    return all.size();
  }
};

Pixels read_png(const std::string& path) {
  Pixels out;
  unsigned char* data = stbi_load(path.c_str(), &out.width, &out.height, nullptr, 3);
  REQUIRE(data);
  out.rgb.assign(data, data + size_t(out.width) * size_t(out.height) * 3);
  stbi_image_free(data);
  return out;
}

// Three runs as the default comparison's, but tiny.
constexpr const char* kThree = R"(
[run.A]
[run.B]
train.warmup = 8
[run.C]
model.placement = "pre"
)";

struct Session {
  Folder folder;
  std::string config = folder.write("three.toml", std::string(kTiny) + kThree);

  Outcome draw(const std::string& name, const std::string& arguments) const {
    return run_program("screenshot --config " + config + " --steps 10 --out " + folder.file(name) + " " +
                       arguments);
  }
  Pixels picture(const std::string& name, const std::string& arguments) const {
    const Outcome outcome = draw(name, arguments);
    INFO(arguments << " gave " << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    return read_png(folder.file(name));
  }
};

void check_shows_runs(const Pixels& pixels, bool dark) {
  const ui::Theme& theme = ui::theme(dark);
  CHECK(pixels.colours() > 100);
  CHECK(pixels.count(theme.panel) > 10000);
  for (int run = 0; run < 3; ++run) {
    INFO("run " << theme.runs[run].letter);
    CHECK(pixels.count(theme.runs[run].tile) > 50);
    CHECK(pixels.count(theme.runs[run].line) > 50);
  }
}

}  // namespace

TEST_CASE("a screenshot shows the runs and comes out the same twice") {
  const Session session;
  const Pixels light = session.picture("a.png", "");
  CHECK(light.width == 1600);
  CHECK(light.height == 1000);
  check_shows_runs(light, false);
  session.picture("b.png", "--threads 1");
  CHECK(read_all(session.folder.file("a.png")) == read_all(session.folder.file("b.png")));

  check_shows_runs(session.picture("dark.png", "--theme dark"), true);
}

TEST_CASE("a screenshot has the size asked for, at every layout") {
  const Session session;
  for (const char* size : {"1024x600", "1440x900", "2400x1500"}) {
    const Pixels pixels = session.picture("s.png", std::string("--size ") + size);
    CHECK(std::to_string(pixels.width) + "x" + std::to_string(pixels.height) == size);
    check_shows_runs(pixels, false);
  }
  const Pixels scaled = session.picture("scaled.png", "--scale 1.5");
  CHECK(scaled.width == 1600);
  check_shows_runs(scaled, false);
  CHECK(read_all(session.folder.file("s.png")) != read_all(session.folder.file("scaled.png")));
}

TEST_CASE("a script moves the hand first") {
  const Session session;
  session.picture("still.png", "");
  const std::string script =
      session.folder.write("hover", "# a comment\n\nhover transport/play\nframes 40\n");
  session.picture("hover.png", "--script " + script);
  CHECK(read_all(session.folder.file("still.png")) != read_all(session.folder.file("hover.png")));
  const std::string wait = session.folder.write("wait", "wait 12\n");
  session.picture("wait.png", "--script " + wait);
  CHECK(read_all(session.folder.file("still.png")) != read_all(session.folder.file("wait.png")));

  const std::string shots = session.folder.write(
      "shots", "shoot one\nsize 1024x600\nscale 0.75\nat plot/loss 0.5 0.5\nshoot two\nfresh\nshoot three\n");
  REQUIRE(session.draw("s.png", "--theme both --script " + shots).code == 0);
  CHECK_FALSE(std::filesystem::exists(session.folder.file("s.png")));
  check_shows_runs(read_png(session.folder.file("s-one-light.png")), false);
  check_shows_runs(read_png(session.folder.file("s-one-dark.png")), true);
  CHECK(read_png(session.folder.file("s-two-dark.png")).width == 1024);
  for (const char* theme : {"light", "dark"})  // a new window is as the first one was
    CHECK(read_all(session.folder.file(std::string("s-one-") + theme + ".png")) ==
          read_all(session.folder.file(std::string("s-three-") + theme + ".png")));

  for (const char* bad : {"\nshoot\n", "\nsize 5\n", "\nscale 9\n", "\noffer tea\n", "\ndance slowly\n",
                          "\nclick no/such/control\n", "\nwait long\n", "\nwait\n"}) {
    const Outcome outcome = session.draw("x.png", "--script " + session.folder.write("bad", bad));
    INFO(bad << " gave " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(is_one_error_line(outcome));
    CHECK(contains(outcome.err, "line 2"));
  }
}

TEST_CASE("a script that presses what is greyed out is told so, and why") {
  const Session session;
  const std::string script = session.folder.write("grey", "click lesson/next\n");
  const Outcome outcome = session.draw("x.png", "--screen lesson:warm-up:predict --script " + script);
  CHECK(outcome.code == 2);
  CHECK(is_one_error_line(outcome));
  CHECK(contains(outcome.err, "script line 1: 'lesson/next' is greyed out here: "));
}

TEST_CASE("a number in a script is one, and in its range: file, line, field and range are said") {
  const Session session;
  for (const auto& [bad, range] : {std::pair{"at plot/loss 0.5 low", "'at' takes a number from 0 to 1"},
                                   {"at plot/loss 5 0", "'at' takes a number from 0 to 1"},
                                   {"wheel 1e30", "'wheel' takes a number from -1000 to 1000"},
                                   {"frames many", "'frames' takes a number from 1 to 100000"},
                                   {"wait 99999999999", "from 0 to 10000000"},
                                   {"wait -1", "from 0 to 10000000"},
                                   {"scale nan", "a number from 0.75 to 2.5"},
                                   {"size 1x1", "from 64 to 16384"}}) {
    const std::string script = session.folder.write("numbers", fmt::format("# a comment\n{}\n", bad));
    const Outcome outcome = session.draw("x.png", "--script " + script);
    INFO(bad << " gave " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(is_one_error_line(outcome));
    CHECK(contains(outcome.err, script + ": script line 2: "));
    CHECK(contains(outcome.err, range));
  }
}

TEST_CASE("a picture is a PNG, and what was written is said") {
  const Session session;
  const Outcome other = session.draw("x.jpg", "");
  CHECK(other.code == 2);
  CHECK(is_one_error_line(other));
  CHECK(contains(other.err, "expected a name that ends in .png"));
  const Outcome drawn = session.draw("x.PNG", "");
  CHECK(contains(drawn.out, "wrote " + session.folder.file("x.PNG")));
}

TEST_CASE("a picture that cannot be written exits with 5") {
  const Session session;
  const Outcome outcome = session.draw("absent/folder/x.png", "");
  CHECK(outcome.code == 5);
  CHECK(is_one_error_line(outcome));
}

TEST_CASE("an interrupt ends a large picture in its middle and leaves nothing of it") {
  const Session session;
  const Outcome outcome = run_program("screenshot --steps 1 --size 12000x12000 --config " + session.config +
                                          " --out " + session.folder.file("x.png"),
                                      "timeout --foreground --preserve-status -s INT 4");
  CHECK(outcome.code == 130);
  CHECK(is_one_error_line(outcome));
  const std::filesystem::directory_iterator left(session.folder.file(""));
  CHECK(std::distance(left, std::filesystem::directory_iterator()) == 1);  // the configuration
}

TEST_CASE("a scale is drawn as asked for, and where it has no room a line says so") {
  const Session session;
  const Outcome whole = session.draw("x.png", "--size 1600x1000 --scale 1.5");
  CHECK(whole.code == 0);
  CHECK_FALSE(contains(whole.err, "--scale"));
  const Outcome small = session.draw("x.png", "--size 1280x720 --scale 1.5");
  CHECK(small.code == 0);
  CHECK(contains(
      small.err,
      "--scale 1.5: everything at 150 % takes 1536 x 900 pixels; the window shows 1280 x 720 of them"));
  const size_t at = small.err.find("--scale");
  REQUIRE(at != std::string::npos);
  CHECK(small.err.find("--scale", at + 1) == std::string::npos);  // once
  const Outcome tiny = session.draw("x.png", "--size 768x450");
  CHECK(contains(tiny.err, "100 % was asked for; a window of this size has room for 75 %\n"));
}
