// normscope lesson limits measures how far the effect of each lesson reaches (app/course/check/limits.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/machine.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson/named.h"
#include "app/course/check/limits.h"
#include "app/course/reader.h"
#include "app/course/report.h"
#include "training/experiments/table.h"
#include "training/files/places.h"
#include "training/io/atomic_file.h"

namespace normscope::commands {
using namespace cli;
namespace {

using namespace course;
using namespace experiments;
namespace fs = std::filesystem;

struct LimitsOptions {
  std::string id;         ///< of one lesson; empty: all
  std::string folder;     ///< of the lessons; empty: the course's
  std::string results{};  ///< keeps what was measured; empty: limits_file()
  std::string text;       ///< another text; empty: the system's licences, where there are any
  bool all = false, write = false;
  StudyOptions study{};
};

constexpr const char *kLimitsFolder = "out/limits", *kLimitsFile = "results.jsonl";

std::string limits_file(const LimitsOptions& options) {
  if (!options.results.empty()) return options.results;
  return fmt::format("{}/{}", options.study.out.empty() ? kLimitsFolder : options.study.out, kLimitsFile);
}

std::string licences_path(const std::string& results) {
  return (fs::path(results).parent_path() / "licences.txt").string();
}

/// `write_licences` writes the system's licence texts as one file; false where there are none.
bool write_licences(const std::string& path) {
  const std::string text = licence_text("/usr/share/common-licenses");
  if (!text.empty()) write_file(path, text, "limits");
  return !text.empty();
}

std::string table_path(const Lesson& lesson) { return (fs::path(lesson.folder) / "limits.md").string(); }

/// `Reached` is a lesson and what was measured of it.
struct Reached {
  const Lesson* lesson;
  std::vector<LimitLine> lines;
};

/// `limits_values` has a row for each measure, seed and setting.
experiments::Table limits_values(const std::vector<Reached>& reached) {
  using experiments::Cell, experiments::Kind;
  experiments::Table table{{{"lesson", "lesson"},
                            {"setting", "setting"},
                            {"seed", "seed", Kind::Number},
                            {"measure", "measure"},
                            {"unit", "", Kind::Data},
                            {"value", "value", Kind::Number},
                            {"holds", "holds"}}};
  for (const auto& [lesson, lines] : reached)
    for (const LimitLine& line : lines)
      for (const auto& [id, value] : line.values) {
        const Measure& measure = *lesson->measure(id);
        const bool in_band = effect_holds(*lesson, id, value);
        table.rows.push_back({lesson->id, line.setting, line.seed, id, measure.unit,
                              Cell(value, shown(value, measure)),
                              Cell(nlohmann::json(in_band), in_band ? "yes" : "no")});
      }
  return table;
}

std::string limits_title(const Lesson& lesson) {
  return fmt::format("{}: how far the effect reaches", lesson.title);
}

/// `limits_command_of` is the line that trains the same runs.
std::string limits_command_of(const LimitsOptions& options, std::string_view between) {
  std::string line = "normscope lesson limits" + (options.id.empty() ? "" : " " + options.id);
  add_option_text(line, between, "--lessons", options.folder);
  add_option_text(line, between, "--text", options.text);
  return line + backend_line(options.study.backend, between);
}

/// `text_of` is another text; empty: there is none. Runs that are only printed need no file, and those that are only
/// counted have theirs in a temporary folder, as neither leaves anything behind.
std::string text_of(const LimitsOptions& options, std::optional<TemporaryFolder>& counting) {
  const std::string results = limits_file(options);
  const bool prints = !options.study.print_command.empty(), counts = options.study.dry_run;
  if (!prints && !counts) make_folder(fs::path(results).parent_path().string(), Access::Shared, "limits");
  if (!options.text.empty()) return options.text;
  std::string text = licences_path(results);
  if (prints || (counts && fs::exists(text))) return text;
  if (counts) {
    const std::string folder = counting.emplace().path();
    text = folder.empty() ? "" : licences_path(folder + "/" + kLimitsFile);
  }
  if (!text.empty() && write_licences(text)) return text;
  complain("no licence texts here: give another text with --text FILE");
  return {};
}

/// `LimitsStudy` finds the limits of the chosen lessons: one seed of each setting, then more where a verdict differs.
class LimitsStudy {
 public:
  LimitsStudy(const Course& course, const LimitsOptions& options) : options_(options) {
    if (options.write && shard_of(options.study.store).count > 1)
      throw CommandError(Exit::Usage,
                         "--write: expected no --shard with it (a part of the runs measures nothing)");
    const Lesson* one = options.id.empty() ? nullptr : &lesson_of(course, options.id);
    for (const Lesson& lesson : course.lessons)
      if (!lesson.effect.empty() && (!one || one == &lesson)) chosen_.push_back(&lesson);
    const BackendChoice backend = backend_of(options.study.backend);
    to_ = {limits_file(options), text_of(options, counting_), kFullSeeds, backend};
  }
  size_t lessons() const { return chosen_.size(); }
  const std::vector<Reached>& reached() const { return reached_; }

  /// `runs` counts those of the first seed, without reading a file.
  int64_t runs() const {
    size_t count = 0;
    for (const Lesson* lesson : chosen_)
      for (const LimitSetting& setting : limit_settings(*lesson, to_.text))
        count += runs_of_seed(in_setting(*lesson, setting), 1).size();
    return static_cast<int64_t>(count);
  }

  StudyCount train(experiments::ResultStore& kept, const experiments::RunnerOptions& runner,
                   const OnProgress& on_progress) {
    StudyCount count;
    try {
      train_into(count, kept, runner, on_progress);
    } catch (const Cancelled&) {
      count.complete = false;
    }
    return count;
  }

  /// `show` prints each lesson as soon as it is measured. False: interrupted.
  bool show() try {
    if (lacks_)
      throw CommandError(Exit::Input,
                         "lesson limits: --stored: runs are missing: expected all of them to be there");
    reached_.clear();
    measure(to_, [&](const Reached& one) {
      const std::string table = limits_table(*one.lesson, one.lines);
      say("{} {}\n\n{}\n", one.lesson->number, one.lesson->title, table);
      flush();
      if (options_.write)
        write_file(table_path(*one.lesson), fmt::format("# {}\n\n{}", limits_title(*one.lesson), table),
                   "limits");
    });
    return true;
  } catch (const Cancelled&) {
    return false;
  }

 private:
  void train_into(StudyCount& count, experiments::ResultStore& kept, const experiments::RunnerOptions& runner,
                  const OnProgress& on_progress) {
    store_ = std::make_unique<RunStore>(kept, runner);
    store_->stop_when(&InterruptGuard::interrupted);
    const bool part = runner.shard.count > 1, looks = runner.stored_only;
    if (kept.folder().empty() && !looks) {  // what is trained is there as long as it is measured
      measure(to_, {});
      count.trained = store_->trained();
      return;
    }
    add_runs(part, kept, runner, on_progress, count);
    lacks_ = options_.study.stored && !count.missing.empty();
    if (part || options_.study.dry_run || lacks_ || !count.complete) return;
    measure({to_.results, to_.text, 1, to_.backend}, {});
    add_runs(false, kept, runner, on_progress, count);
    lacks_ = options_.study.stored && !count.missing.empty();
  }

  /// `add_runs` trains the runs that the file of lines lacks into the store, where measuring finds them. Of a shard's
  /// plan all count, so that every machine has the same plan.
  void add_runs(bool part, experiments::ResultStore& kept, const experiments::RunnerOptions& runner,
                const OnProgress& on_progress, StudyCount& sum) {
    experiments::Study study{.name = "limits", .parts = experiments::kAlways};
    study.on_run = [](size_t, Run&) {};  // their states are kept
    LimitOptions lacking = to_;
    if (part) lacking.results.clear();
    for (const Lesson* lesson : chosen_)
      for (experiments::Experiment& run : limit_runs(*lesson, *store_, lacking))
        study.runs.push_back({std::move(run)});
    StudyCount count = count_of(study, experiments::train(study, kept, runner, on_progress));
    sum.missing.insert(sum.missing.end(), std::make_move_iterator(count.missing.begin()),
                       std::make_move_iterator(count.missing.end()));
    sum.trained += count.trained;
    sum.stored += count.stored;
    sum.complete = sum.complete && count.complete;
  }

  void measure(const LimitOptions& to, const std::function<void(const Reached&)>& told) {
    for (const Lesson* lesson : chosen_) {
      const auto line_told = [&](const LimitLine& line) {
        if (told)
          fmt::print(stderr, "{}, {}, seed {}: measured\n", for_terminal(line.lesson),
                     for_terminal(line.setting), line.seed);
      };
      Reached one{lesson, measure_limits(*lesson, *store_, to, line_told,
                                         [](const RunProgress&) { return !InterruptGuard::interrupted(); })};
      if (!told) continue;
      told(one);
      reached_.push_back(std::move(one));
    }
  }

  const LimitsOptions& options_;
  std::optional<TemporaryFolder> counting_;
  LimitOptions to_;
  std::vector<const Lesson*> chosen_;
  std::unique_ptr<RunStore> store_;
  bool lacks_ = false;  ///< runs, of which none is trained
  std::vector<Reached> reached_;
};

/// `written_files` are the lines that were measured and the licences; the tables of --write are a lesson's own files.
std::vector<NamedFile> written_files(const LimitsOptions& options) {
  const std::string results = limits_file(options);
  return {{"--results", results}, {"the licences' text", options.text.empty() ? licences_path(results) : ""}};
}

/// `check_limits` refuses results among the files of a lesson, and what would replace the text that is read.
void check_limits(const Course& course, const LimitsOptions& options) {
  const std::string results = limits_file(options);
  // A lesson that cannot be read has files too: its folder is known by them.
  if (fs::exists(fs::path(results).parent_path() / "lesson.toml"))
    throw CommandError(
        Exit::Usage,
        fmt::format("--results {}: lies among the files of a lesson: expected another folder", results));
  refuse_clashes(written_files(options), {{"--text", options.text}});
  for (const Lesson& lesson : course.lessons)
    if (options.write) refuse_clashes({{"--write", table_path(lesson)}}, {{"--text", options.text}});
}

std::string limits_page(const std::vector<Reached>& reached, const std::string& command) {
  std::string out = fmt::format("# How far the lessons' effects reach\n\nMade by `{}`.\n", command);
  for (const auto& [lesson, lines] : reached)
    out += fmt::format("\n## {}. {}\n\n{}", lesson->number, lesson->title, limits_table(*lesson, lines));
  return out;
}

Exit lesson_limits(const LimitsOptions& options) {
  const Course course = course_of(options.folder);
  check_limits(course, options);
  LimitsStudy limits(course, options);
  StudyWork work{.name = "limits",
                 .file = "limits",
                 .of = fmt::format("{} lesson{}, one seed a setting", limits.lessons(),
                                   limits.lessons() == 1 ? "" : "s"),
                 .runs = limits.runs(),
                 .inputs = {{"--text", options.text}},
                 .outputs = written_files(options),
                 .files_of_a_part = false};
  for (const std::string& path : lesson_files(course)) work.inputs.push_back({"a lesson", path});
  work.command = [&](std::string_view between) { return limits_command_of(options, between); };
  work.train = [&](experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                   const OnProgress& on_progress) { return limits.train(store, runner, on_progress); };
  work.show = [&] { return limits.show(); };
  work.json = [&] {
    const nlohmann::json json = {{"format", "normscope lesson limits 1"},
                                 {"values", to_json(limits_values(limits.reached()))}};
    return json.dump(1) + "\n";
  };
  work.csv = [&] { return to_csv(limits_values(limits.reached())); };
  work.markdown = [&](const StudyFiles& files) {
    return limits_page(limits.reached(), page_command(work.command(" "), files));
  };
  work.close = [&](Closing&) { return course.broken.empty() ? Exit::Ok : Exit::Input; };
  return run_study(options.study, work);
}

}  // namespace

void add_lesson_limits(CLI::App& group, Command& command) {
  const auto [limits, options] = add_command(group, command, "limits",
                                             "How far each lesson's effect reaches: other widths and depths, "
                                             "five times the steps, another text; can "
                                             "be resumed",
                                             lesson_limits);
  CLI::Option* limited =
      limits.add_option("lesson", options.id, "its name or number; all without it")->type_name("LESSON");
  limits.add_flag("--all", options.all, "all lessons (also without a name)")->excludes(limited);
  limits.add_option("--lessons", options.folder, "another folder of lessons")->type_name("DIR");
  limits.add_option("--results", options.results, "the file that keeps what was measured")
      ->type_name("FILE")
      ->default_str(fmt::format("{}/{}", kLimitsFolder, kLimitsFile));
  limits.add_option("--text", options.text, "another text (the system's licences)")->type_name("FILE");
  limits.add_flag("--write", options.write, "keep each table beside its lesson, as limits.md");
  add_study(limits, options.study,
            {"write every value as JSON (docs/log-format.md)", "one line a setting, seed and measure",
             nullptr, "a page of all tables"});
}

}  // namespace normscope::commands
