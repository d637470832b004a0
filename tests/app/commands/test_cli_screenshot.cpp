// These tests run normscope screenshot: the same pixels every time, of the size asked for, with the runs in it.
#include <unistd.h>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#include "app/support/program.h"
#include "app/ui/theme.h"

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
}
