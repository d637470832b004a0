// These tests ask the same of every file that the program writes: is the mode of a replaced file kept, does a link stay
// a link, is one to nothing refused, does a full disk say so, is nothing else in the folder touched?
#include <sys/stat.h>

#include "app/commands/run_log.h"
#include "app/course/check.h"
#include "app/course/reader.h"
#include "app/course/report.h"
#include "app/headless/raster.h"
#include "app/lesson-player/progress.h"
#include "app/panels/plot_cell.h"
#include "app/shell/settings.h"
#include "app/support/lab_plots.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/window/main_window.h"
#include "training/experiments/result_store.h"
#include "training/files/config_file.h"
#include "training/session/session_file.h"

using namespace normscope;
namespace fs = std::filesystem;

namespace {

struct Output {
  const char* name;
  std::string file;  // as the output calls it in its folder
  bool own;          // holds the person's own text
  std::function<void(const std::string& folder)> write;
};

const Run& small_run() {
  static const auto backend = make_cpu_backend(1);
  static const std::vector<RunSpec> specs = fixture::small_runs();
  static const auto run = [] {
    auto made = std::make_unique<Run>(specs[0], make_task(specs[0].data), *backend);
    for (int i = 0; i < 3; ++i) made->step();
    return made;
  }();
  return *run;
}

void say_notice(const std::string& notice) {
  if (!notice.empty()) throw Error(notice);
}

// The course's progress in a folder, begun when it is asked for first.
lesson_player::Progress& progress_in(const std::string& folder) {
  static std::map<std::string, std::unique_ptr<lesson_player::Progress>> all;
  std::unique_ptr<lesson_player::Progress>& one = all[folder];
  if (!one) one = std::make_unique<lesson_player::Progress>(folder + "/lessons.json");
  return *one;
}

// A lesson without runs, whose folder measured.json goes to.
course::Lesson lesson_in(const std::string& folder) {
  course::Lesson lesson;
  lesson.id = "one";
  lesson.title = "One";
  lesson.folder = folder;
  lesson.number = 1;
  return lesson;
}

std::string result_name() {
  const test::Folder folder;
  experiments::ResultStore(folder.file("results")).put("key", "one 1", {});
  return fs::directory_iterator(folder.file("results"))->path().filename().string();
}

std::vector<Output> outputs() {
  const ConfigRun run{'A', fixture::small_runs()[0], {}};
  return {
      {"checkpoint", "x.safetensors", true, [](auto& f) { small_run().save(f + "/x.safetensors"); }},
      {"configuration", "x.toml", false, [run](auto& f) { save_config(f + "/x.toml", std::span(&run, 1)); }},
      {"picture", "x.png", false,
       [](auto& f) {
         headless::write_png(f + "/x.png", {2, 1, {0xFF0000FFu, 0xFFFFFFFFu}});
       }},
      {"settings", "settings.toml", true, [](auto& f) { shell::write_settings(f + "/settings.toml", {}); }},
      {"progress", "lessons.json", true,
       [](auto& f) {  // read once, before there is what the test puts there
         lesson_player::Progress& progress = progress_in(f);
         progress.save();
         say_notice(progress.notice());
       }},
      {"measured numbers", "measured.json", false, [](auto& f) { course::save_results(lesson_in(f), {}); }},
      {"report", "report.md", false,
       [](auto& f) {
         course::Course course;
         course.lessons.push_back(lesson_in(f + "/none"));
         course::write_report(course, f);
       }},
      {"result store", result_name(), false,
       [](auto& f) { experiments::ResultStore(f).put("key", "one 1", {}); }},
      {"session", "session.toml", true, [](auto& f) { SessionWriter(f).write({}); }},
      {"training log", "x.jsonl", false,
       [](auto& f) {
         commands::RunLog log(f + "/x.jsonl", {});
         log.step({'A', 1}, 1, 2.0, 1e-3, {}, {}, {});
         log.check();
       }},
      {"frame log", "x.csv", false,
       [](auto& f) {
         window::FrameLog log(f + "/x.csv");
         say_notice(log.error());
       }},
  };
}

// Everything below a folder with its content: a file that an output has no business with must stay.
std::map<std::string, std::string> tree(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = entry.is_symlink() ? "-> " + fs::read_symlink(entry).string()
                                              : entry.is_regular_file()
                                                  ? test::read_all(entry.path().string())
                                                  : "";
  return files;
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

std::string failure_of(const Output& output, const std::string& folder) {
  try {
    output.write(folder);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every output: new files, replaced ones and links to files") {
  const mode_t before = umask(022);
  for (const Output& output : outputs()) {
    INFO(output.name);
    const test::Folder home;
    const std::string fresh = home.file("fresh"), kept = home.file("kept"), linked = home.file("linked");
    for (const std::string& folder : {fresh, kept, linked}) {
      fs::create_directories(folder);
      progress_in(folder);
    }
    CHECK(failure_of(output, fresh) == "");
    CHECK(mode_of(fresh + "/" + output.file) == (output.own ? 0600 : 0644));

    // What stands around it under names that a writer might want.
    for (const char* neighbour : {".part", ".tmp", "~"})
      home.write("kept/" + output.file + neighbour, "mine");
    home.write("kept/" + output.file, "");
    chmod((kept + "/" + output.file).c_str(), 0640);
    CHECK(failure_of(output, kept) == "");
    CHECK(mode_of(kept + "/" + output.file) == 0640);
    CHECK(test::read_all(kept + "/" + output.file) == test::read_all(fresh + "/" + output.file));
    for (const char* neighbour : {".part", ".tmp", "~"})
      CHECK(test::read_all(kept + "/" + output.file + neighbour) == "mine");

    const std::string target = home.write("target", "");
    fs::create_symlink(target, linked + "/" + output.file);
    CHECK(failure_of(output, linked) == "");
    CHECK(fs::is_symlink(linked + "/" + output.file));
    CHECK(test::read_all(target) == test::read_all(fresh + "/" + output.file));
    for (const std::string& folder : {fresh, kept, linked})
      for (const auto& [name, text] : tree(folder)) CHECK_FALSE(name.starts_with(".normscope-"));
  }
  umask(before);
}

TEST_CASE("every output: links to nothing, full disks and folders without access are said and harm nothing") {
  for (const Output& output : outputs()) {
    INFO(output.name);
    const test::Folder home;
    const std::string dangling = home.file("dangling"), full = home.file("full");
    for (const std::string& folder : {dangling, full}) {
      fs::create_directories(folder);
      progress_in(folder);
    }
    fs::create_symlink(home.file("nowhere"), dangling + "/" + output.file);
    CHECK(test::contains(failure_of(output, dangling), "is not there"));
    CHECK_FALSE(fs::exists(home.file("nowhere")));
    CHECK(fs::is_symlink(dangling + "/" + output.file));
    fs::create_symlink("/dev/full", full + "/" + output.file);
    CHECK(test::contains(failure_of(output, full), "No space left"));
    CHECK(fs::is_symlink(full + "/" + output.file));
    CHECK_FALSE(failure_of(output, "/proc/self").empty());  // where not even root may make a file
    CHECK_FALSE(failure_of(output, "/proc/self/none").empty());
  }
}

TEST_CASE("a saved figure has neither the window's question nor its sentence; its text has both") {
  const test::Folder folder;
  plot::PlotSpec plot = fixture::lab_plot("plot/loss");
  REQUIRE_FALSE(plot.sentence.empty());
  REQUIRE_FALSE(plot.question.empty());
  const view::SavePlot save{
      std::make_shared<const std::vector<plot::PlotSpec>>(1, plot), {}, view::PlotFormat::Svg};
  const std::string svg = test::read_all(panels::save_plot(save, folder.file("."), false).front());
  CHECK(test::contains(svg, ">Loss</text>"));
  CHECK(test::contains(svg, "nats per letter"));
  for (const std::string& words : {plot.sentence, plot.question}) {
    CHECK_FALSE(test::contains(svg, words));
    CHECK(test::contains(plot::to_text(plot), words));
  }
}

TEST_CASE("a saved plot never overwrites and follows no link to nothing") {
  const test::Folder folder;
  plot::PlotSpec plot;
  plot.id = "loss";
  plot::Series line;
  line.id = "A";
  line.y = plot::Column::of({1, 2});
  plot.series.push_back(line);
  const view::SavePlot save{
      std::make_shared<const std::vector<plot::PlotSpec>>(1, plot), {}, view::PlotFormat::Csv};
  fs::create_symlink(folder.file("nowhere"), folder.file("normscope-loss.csv"));
  CHECK(panels::save_plot(save, folder.file("."), false).front().ends_with("normscope-loss-2.csv"));
  CHECK_FALSE(fs::exists(folder.file("nowhere")));
  CHECK_THROWS_AS(panels::save_plot(save, "/proc/self/none", false), Error);
}

TEST_CASE("autosaves are the person's alone") {
  const test::Folder home;
  const shell::AutosaveFolder autosave(home.file("state"));
  CHECK(mode_of(home.file("state")) == 0700);
  CHECK(mode_of(autosave.path()) == 0700);
  CHECK(mode_of(autosave.path() + "/lock") == 0600);
}
