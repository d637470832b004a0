// normscope lesson is the course without a window. It has list, show, check (the claims on the real engine) and report;
// add-ons bring others (lesson_commands.def).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/reader.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/link/link.h"
#include "app/words/words.h"
#include "engine/io/output_file.h"
#include "training/files/command_text.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

using namespace course;
using namespace experiments;

struct LessonOptions {
  std::string command;  ///< list, show, check, report
  std::string id;       ///< of one lesson; empty: all
  std::string folder;   ///< of the lessons; empty: the course's
  std::string language{};
  std::string out = "out/lessons";
  std::string page{};  ///< report: a page into which the claim table goes, between its markers
  bool all = false, full = false, write = false;
  StudyOptions study{};  ///< of check
};

/// Exit::Input after a lesson that could not be read; course_of() has already printed which.
Exit exit_of(const Course& course, Exit otherwise = Exit::Ok) {
  return course.broken.empty() ? otherwise : Exit::Input;
}

Exit list(const Course& course) {
  for (const Lesson& lesson : course.lessons)
    say("{}  {:<14} {:<34} {:>2} min  {}\n", lesson.number, lesson.id, lesson.title, lesson.minutes,
        lesson.claim);
  return exit_of(course);
}

/// The case at the end: the question, the right answer with its band, the wrong ones with what is behind them.
void show_case(const Case& closing) {
  const Check& check = closing.experiment->checks.front();
  say("Case: {}\n", closing.ask);
  for (const LessonRun* run : closing.experiment->all_runs())
    say("      run {}: {}\n", run->id, run_label(*closing.experiment, run->id));
  say("      right: {} ({}: {}). {}\n", check.says, closing.experiment->measure(check.measure)->label,
      band_text(check), closing.why);
  for (size_t i = 0; i < check.excludes.size(); ++i)
    say("      wrong: {}. {}\n", check.excludes[i].what, closing.whys[i]);
}

Exit show(const Lesson& lesson) {
  say("{} {}\n\n{}\n\nClaim: {}\n", lesson.number, lesson.title, lesson.question, lesson.claim);
  for (const std::string& source : lesson.sources) say("Source: {}\n", source);
  for (const LessonRun* run : lesson.all_runs()) say("Run {}: {}\n", run->id, run_label(lesson, run->id));
  for (const LessonTape& tape : lesson.tapes) say("{}", definition_of(tape));
  const std::optional<Results> kept = load_results(lesson);
  for (const Check& check : lesson.checks) {
    const Measure& m = *lesson.measure(check.measure);
    say("Check: {} ({}): {}\n", m.label, band_text(check), check.says);
    for (const Neighbour& n : check.excludes) say("       excludes: {}\n", n.what);
    if (kept && kept->measures.contains(m.id)) {
      const Spread& s = kept->measures.at(m.id).spread;
      say("       {} of {} seeds: {}, from {} to {}\n", average_words(m.mean),
          kept->measures.at(m.id).values.size(), shown(s.mean, m), shown(s.low, m), shown(s.high, m));
    }
  }
  if (lesson.closing) show_case(*lesson.closing);
  return Exit::Ok;
}

/// Whether every claim holds, and every measured.json belongs to its lesson.
bool print_end(const std::vector<LessonReport>& reports, double seconds) {
  size_t held = 0, checks = 0;
  bool passed = true;
  for (const LessonReport& r : reports) {
    checks += r.outcomes.size();
    for (const course::CheckOutcome& v : r.outcomes) held += v.holds;
    passed = passed && r.passed() && r.stale.empty();
  }
  say("\n{} of {} claims hold; everything in {:.1f} s\n", held, checks, seconds);
  return passed;
}

/// The line that trains the same runs.
std::string check_command_of(const LessonOptions& options, std::string_view between) {
  std::string line = "normscope lesson check" + (options.id.empty() ? "" : " " + shell_quoted(options.id));
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  if (options.all) add("--all");
  if (options.full) add("--full");
  if (!options.folder.empty()) add("--lessons " + shell_quoted(options.folder));
  return line + backend_line(options.study.backend, between);
}

/// Measures the chosen lessons: their runs are trained, their claims judged.
class LessonCheck {
 public:
  LessonCheck(const Course& course, const LessonOptions& options)
      : options_(options), tier_(options.full ? Tier::Full : Tier::Fast) {
    if (options.write && tier_ == Tier::Fast)
      throw CommandError(Exit::Usage, "--write: expected --full with it (measured.json holds five seeds)");
    if (options.write && shard_of(options.study.store).count > 1)
      throw CommandError(Exit::Usage,
                         "--write: expected no --shard with it (a part of the runs judges nothing)");
    if (!options.id.empty())
      chosen_.push_back(&lesson_of(course, options.id));
    else
      for (const Lesson& lesson : course.lessons) chosen_.push_back(&lesson);
    runs_ = runs_of(chosen_, tier_);
  }
  size_t lessons() const { return chosen_.size(); }
  size_t runs() const { return runs_.size(); }
  const std::vector<LessonReport>& reports() const { return reports_; }
  /// Of a picture in --out; empty: none is drawn.
  std::string picture_path(const Lesson& lesson, const Figure& figure) const {
    if (options_.study.out.empty() || !figure.tape.empty()) return "";
    return fmt::format("{}/{}-{}.svg", options_.study.out, lesson.id, figure.id);
  }
  std::vector<NamedFile> outputs() const {
    std::vector<NamedFile> files;
    for (const Lesson* lesson : chosen_)
      for (const Figure& figure : lesson->figures) files.push_back({"--out", picture_path(*lesson, figure)});
    return files;
  }

  StudyResults train(experiments::ResultStore& kept, const experiments::RunnerOptions& runner,
                     const OnProgress& on_progress) {
    store_ = std::make_unique<RunStore>(kept, runner);
    store_->stop_when(&InterruptGuard::interrupted);
    StudyResults results = store_->train(runs_, {}, on_progress);
    lacks_ = runner.stored_only && !results.missing.empty();
    return results;
  }

  /// Prints each lesson as soon as it is judged. False: interrupted.
  bool judge() try {
    if (lacks_)
      throw CommandError(Exit::Input,
                         "lesson check: --stored: runs are missing: expected all of them to be there");
    say("{}", table_head());
    for (const Lesson* lesson : chosen_) {
      LessonReport report = check_lesson(*lesson, *store_, tier_,
                                         [](const RunProgress&) { return !InterruptGuard::interrupted(); });
      if (options_.write)
        closing_.attempt([&] {
          save_results(*lesson, report.results);
          report.stale.clear();
        });
      say("{}", to_text(report));
      flush();
      reports_.push_back(std::move(report));
    }
    return true;
  } catch (const Cancelled&) {
    return false;
  }
  Exit code(Exit otherwise) const { return closing_.code(otherwise); }

 private:
  const LessonOptions& options_;
  Tier tier_;
  std::vector<const Lesson*> chosen_;
  std::vector<experiments::StudyRun> runs_;
  std::unique_ptr<RunStore> store_;
  bool lacks_ = false;  ///< --stored: runs are missing from the store
  std::vector<LessonReport> reports_;
  Closing closing_;
};

Exit check(const Course& course, const LessonOptions& options) {
  LessonCheck checks(course, options);
  const auto start = std::chrono::steady_clock::now();
  StudyWork work{.name = "lessons",
                 .file = "lessons",
                 .extent = fmt::format("{} lesson{}", checks.lessons(), checks.lessons() == 1 ? "" : "s"),
                 .runs = static_cast<int64_t>(checks.runs()),
                 .outputs = checks.outputs(),
                 .writes_partial = false};
  for (const std::string& path : lesson_files(course)) work.inputs.push_back({"a lesson", path});
  work.command = [&](std::string_view between) { return check_command_of(options, between); };
  if (options.write) work.last = " --write";
  work.train = [&](auto& store, const auto& runner, const OnProgress& on_progress) {
    return checks.train(store, runner, on_progress);
  };
  work.show = [&] { return checks.judge(); };
  work.json = [&] { return to_json(checks.reports()).dump(1) + "\n"; };
  work.csv = [&] { return to_csv(checks.reports()); };
  work.markdown = [&](const StudyFiles& files) {
    return to_markdown(checks.reports(), page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) {
    if (checks.reports().empty()) return exit_of(course);  // a shard judges nothing
    for (const LessonReport& report : checks.reports())
      for (const Figure& figure : report.lesson->figures)
        closing.save(checks.picture_path(*report.lesson, figure), "lessons",
                     [&] { return to_svg(report, figure); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool passed = print_end(checks.reports(), seconds);
    return checks.code(exit_of(course, passed ? Exit::Ok : Exit::CheckFailed));
  };
  return run_study(options.study, work);
}

// Comes before anything is trained or written, as a damaged measured.json is at fault itself.
void check_measured(const Course& course) {
  with_exit(Exit::Input, [&] {
    for (const Lesson& lesson : course.lessons) load_results(lesson);
  });
}

std::string links_path(const LessonOptions& options) { return options.out + "/links.json"; }

/// Adds {"warm-up:run:losses": "1&screen=..."}: each figure of a lesson as a link that opens it there.
void add_figures(const Lesson& lesson, nlohmann::json& links) {
  link::LinkedView view;
  for (const RunSpec& spec : default_comparison())
    view.runs.push_back({static_cast<char>('A' + view.runs.size()), spec, {}});
  view.screen = Screen::Lessons;
  for (const StepKind step : kSteps) {
    view.lesson = fmt::format("{}:{}", lesson.id, to_string(step));
    for (const std::string& figure : lesson.step(step).figures) {
      view.figure = figure;
      links[fmt::format("{}:{}", view.lesson, figure)] = link::link_fragment(view);
    }
  }
}

/// {"warm-up": "1&run=..."}: the runs of each lesson, if any, as a link that opens them at step 0; and its figures.
std::string links_text(const Course& course) {
  nlohmann::json links = nlohmann::json::object();
  for (const Lesson& lesson : course.lessons) {
    link::LinkedView view;
    for (const LessonRun& run : lesson.runs)
      view.runs.push_back({run.id[0], spec_of(lesson, run.id, 1, {}), run.edits});
    if (!view.runs.empty()) links[lesson.id] = link::link_fragment(view);
    add_figures(lesson, links);
  }
  return links.dump(2) + "\n";
}

/// Lets a page be in a lesson's folder, but never in the place of one of its files.
void check_report(const Course& course, const LessonOptions& options) {
  std::vector<NamedFile> outputs, inputs;
  for (const std::string& path : report_files(course, options.out)) outputs.push_back({"--out", path});
  outputs.push_back({"--out", links_path(options)});
  outputs.push_back({"--page", options.page});
  for (const std::string& path : lesson_files(course)) inputs.push_back({"a lesson", path});
  refuse_clashes(outputs, inputs);
}

/// Reports a language whose texts do not match the lesson's as it does a broken lesson.
void check_languages(Course& course) {
  for (const Lesson& lesson : course.lessons)
    for (const std::string& fault : language_faults(lesson)) {
      complain(fault);
      course.broken.push_back({lesson.folder, fault});
    }
}

Exit lesson(const LessonOptions& options) {
  // What is written for others is English, whoever writes it, unless they ask for another language.
  const bool shows = options.command == "list" || options.command == "show";
  Course course = course_of(options.folder, options.language, shows ? course_language() : "");
  words::use(course.words->name());  // its numbers are written as its texts
  if (options.command == "check") check_languages(course);
  try {
    if (options.command == "list") return list(course);
    check_measured(course);
    if (options.command == "show") return show(lesson_of(course, options.id));
    if (options.command == "report") {
      check_report(course, options);
      Closing closing;
      closing.attempt([&] {
        for (const std::string& path : write_report(course, options.out)) say("wrote {}\n", path);
      });
      closing.attempt([&] {
        write_file(links_path(options), links_text(course), "report");
        say("wrote {}\n", links_path(options));
      });
      closing.attempt([&] {
        if (options.page.empty()) return;
        insert_claims(course, options.page);
        say("wrote {}\n", options.page);
      });
      return closing.code(exit_of(course));
    }
    return check(course, options);
  } catch (const Cancelled&) {
    complain("interrupted");
    return Exit::Interrupted;
  }
}

std::string folder_or(const std::string& folder) { return folder.empty() ? lessons_folder() : folder; }

}  // namespace

void add_lesson(CLI::App& app, Command& command) {
  const auto options = std::make_shared<LessonOptions>();
  CLI::App& group =
      *app.add_subcommand("lesson", "The course without a window: its claims, checked on the engine");
  group.require_subcommand(0, 1);
  group.callback([options, &command] {  // runs after those of the commands below
    if (command) return;
    options->command = "list";
    command = [options] {
      const Exit code = lesson(*options);
      say("\nnormscope lesson show 0 shows one of them; normscope lesson --help says what else there is.\n");
      return code;
    };
  });
  const auto add = [&](const char* name, const char* help) -> CLI::App& {
    CLI::App& sub = *group.add_subcommand(name, help);
    add_value(sub, "--lessons", options->folder, "DIR", "another folder of lessons");
    sub.callback([options, &command, name] {
      options->command = name;
      command = [options] { return lesson(*options); };
    });
    return sub;
  };
  add_language(add("list", "Number, name, title and claim of every lesson"), options->language);
  CLI::App& one_lesson = add("show", "One lesson: claim, sources, runs, checks and measured numbers");
  add_value(one_lesson, "lesson", options->id, "LESSON", "its name or number");
  add_language(one_lesson, options->language);
  CLI::App& check = add("check", "Measure the claims; 1 when one does not hold");
  CLI::Option* one = add_value(check, "lesson", options->id, "LESSON", "its name or number");
  check.add_flag("--all", options->all, "all lessons (also without a name)")->excludes(one);
  check.add_flag("--full", options->full, "five seeds instead of one");
  check.add_flag("--write", options->write, "with --full: keep the numbers in each lesson's measured.json");
  add_study(check, options->study,
            {"write measures and verdicts as JSON (docs/log-format.md)", "one line a measure and seed", "",
             "a page of all of them"});
  CLI::App& report = add("report", "A page of claims, settings and measured numbers, with figures");
  add_language(report, options->language);
  add_value(report, "--out", options->out, "DIR", "the folder to write");
  add_value(report, "--page,--readme", options->page, "FILE",
            "a page into which the claim table goes, between its markers");
#define LESSON_COMMAND(add) add(group, command);
#include "chosen/lesson_commands.def"
#undef LESSON_COMMAND
}

std::vector<std::string> lesson_names() {
  std::vector<std::string> names;
  for (const Lesson& lesson : read_course(lessons_folder()).lessons) names.push_back(lesson.id);
  return names;
}

void add_language(CLI::App& app, std::string& language) {
  add_value(app, "--language", language, "NAME",
            "of the lessons' texts, as de; what is missing in it stays English");
}

void check_language(const std::string& language, const std::string& folder) {
  if (language.empty() || language == "en") return;  // as they are written
  const std::vector<std::string> has = course_languages(folder_or(folder));
  const std::vector<std::string_view> known(has.begin(), has.end());
  if (std::ranges::find(known, language) == known.end())
    throw CommandError(Exit::Usage,
                       fmt::format("--language '{}': no lesson has it: {}", language,
                                   known.empty() ? Message("expected en") : expected(language, known)));
}

Course course_of(const std::string& folder, const std::string& language, const std::string& wish) {
  check_language(language, folder);
  Course course = read_course(folder_or(folder), language.empty() ? wish : language);
  for (const LessonError& broken : course.broken) complain(broken.error);
  return course;
}

const Lesson& lesson_of(const Course& course, const std::string& id) {
  if (const Lesson* lesson = course.find(id)) return *lesson;
  // It may be a lesson that cannot be read, whose error was already printed.
  if (!course.broken.empty())
    throw CommandError(Exit::Input, fmt::format("there is no lesson '{}' that can be read", id));
  std::vector<std::string_view> known;
  for (const Lesson& lesson : course.lessons) known.push_back(lesson.id);
  if (id.empty())
    throw CommandError(Exit::Usage, fmt::format("which lesson? expected {}", fmt::join(known, ", ")));
  throw CommandError(Exit::Usage, fmt::format("lesson '{}' is not known: {}", id, expected(id, known)));
}

}  // namespace normscope::commands
