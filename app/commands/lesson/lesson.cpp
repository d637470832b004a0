// normscope lesson: the course without a window. list, show, check (the claims on the real engine) and report;
// limits and worksheet have files of their own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/options.h"
#include "app/cli/products.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson/named.h"
#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/labels.h"
#include "app/course/language/language.h"
#include "app/course/reader.h"
#include "app/course/report.h"
#include "app/course/tapes/tape_tables.h"
#include "app/link/link.h"
#include "engine/io/atomic_file.h"

namespace normscope::cli {
namespace {

using namespace lessons;

struct LessonOptions {
  std::string command;  ///< list, show, check, report
  std::string id;       ///< of one lesson; empty: all
  std::string folder;   ///< of the lessons; empty: the course's
  std::string language{};
  std::string out = "out/lessons";
  std::string page{};  ///< report: a page into which the claim table goes, between its markers
  bool all = false, full = false, write = false;
  StoreOptions store{};
  int32_t threads = 0;
};

/// A lesson that cannot be read was said already.
Exit exit_of(const Course& course, Exit otherwise = Exit::Ok) {
  return course.broken.empty() ? otherwise : Exit::Input;
}

Exit list(const Course& course) {
  for (const Lesson& lesson : course.lessons)
    say("{}  {:<14} {:<34} {:>2} min  {}\n", lesson.number, lesson.id, lesson.title, lesson.minutes,
        lesson.claim);
  return exit_of(course);
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
      say("       {} of {} seeds: {}, from {} to {}\n", to_string(m.mean) + std::string(" mean"),
          kept->measures.at(m.id).values.size(), shown(s.mean, m), shown(s.low, m), shown(s.high, m));
    }
  }
  return Exit::Ok;
}

int print_end(const std::vector<LessonReport>& reports, int32_t trained, double training, double all) {
  size_t held = 0, checks = 0;
  int failed = 0;
  for (const LessonReport& r : reports) {
    checks += r.verdicts.size();
    for (const Verdict& v : r.verdicts) held += v.holds;
    failed += !r.passed() || !r.stale.empty();
  }
  say("\n{} of {} claims hold; {} runs trained, each once, in {:.1f} s; everything in {:.1f} s\n", held,
      checks, trained, training, all);
  return failed;
}

Exit check(const Course& course, const LessonOptions& options) {
  std::vector<const Lesson*> chosen;
  if (!options.id.empty())
    chosen.push_back(&lesson_of(course, options.id));
  else
    for (const Lesson& lesson : course.lessons) chosen.push_back(&lesson);
  const Tier tier = options.full ? Tier::Full : Tier::Fast;
  if (options.write && tier == Tier::Fast)
    throw CommandError(Exit::Usage, "--write: expected --full with it (measured.json holds five seeds)");
  const InterruptGuard guard;
  const experiments::Shard shard = shard_of(options.store);
  if (options.write && shard.count > 1)
    throw CommandError(Exit::Usage,
                       "--write: expected no --shard with it (a part of the runs judges nothing)");
  use_fastest_products();
  RunStore store(options.threads, nullptr, results_folder(options.store.folder));
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const OnStep on_step = [](const RunProgress&) { return !InterruptGuard::interrupted(); };
  store.stop_when(&InterruptGuard::interrupted);
  Bars bars;
  store.train_ahead(runs_of(chosen, tier), {}, std::ref(bars), shard);
  bars.clear();
  const double training = seconds();
  if (shard.count > 1) {
    bars.finish(store.on_disk());
    say("{} runs trained in {:.1f} s; the claims are judged without --shard, from the merged stores\n",
        store.trained(), training);
    require_kept(store.on_disk());
    return exit_of(course);
  }
  std::vector<LessonReport> reports;
  Closing closing;
  say("{}", table_head());
  for (const Lesson* lesson : chosen) {
    LessonReport report = check_lesson(*lesson, store, tier, on_step);
    if (options.write)
      closing.attempt([&] {
        save_results(*lesson, report.results);
        report.stale.clear();
      });
    say("{}", to_text(report));
    flush();
    reports.push_back(std::move(report));
  }
  bars.finish(store.on_disk());
  const int failed = print_end(reports, store.trained(), training, seconds());
  closing.attempt([&] { require_kept(store.on_disk()); });
  return closing.code(exit_of(course, failed == 0 ? Exit::Ok : Exit::CheckFailed));
}

// Before anything is trained or written: a damaged measured.json is at fault itself.
void check_measured(const Course& course) {
  with_exit(Exit::Input, [&] {
    for (const Lesson& lesson : course.lessons) load_results(lesson);
  });
}

std::string links_path(const LessonOptions& options) { return options.out + "/links.json"; }

/// {"warm-up": "1&run=..."}: the runs of each lesson as a link that opens them at step 0. A lesson of tapes has none.
std::string links_text(const Course& course) {
  nlohmann::json links = nlohmann::json::object();
  for (const Lesson& lesson : course.lessons) {
    LinkedView view;
    for (const LessonRun& run : lesson.runs)
      view.runs.push_back({run.id[0], spec_of(lesson, run.id, 1, {}), run.edits});
    if (!view.runs.empty()) links[lesson.id] = link_fragment(view);
  }
  return links.dump(2) + "\n";
}

/// A page may be in a lesson's folder, in the place of one of its files never.
void check_report(const Course& course, const LessonOptions& options) {
  std::vector<NamedFile> outputs, inputs;
  for (const std::string& path : report_files(course, options.out)) outputs.push_back({"--out", path});
  outputs.push_back({"--out", links_path(options)});
  outputs.push_back({"--page", options.page});
  for (const std::string& path : lesson_files(course)) inputs.push_back({"a lesson", path});
  refuse_clashes(outputs, inputs);
}

/// A language whose texts do not match the lesson's is told as a broken lesson is.
void check_languages(Course& course) {
  for (const Lesson& lesson : course.lessons)
    for (const std::string& fault : language_faults(lesson)) {
      complain(fault);
      course.broken.push_back({lesson.folder, fault});
    }
}

Exit lesson(const LessonOptions& options) {
  // What is written for others is English, whoever writes it.
  const bool shows = options.command == "list" || options.command == "show";
  Course course = course_of(options.folder, options.language, shows ? course_language() : "");
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

}  // namespace

void add_lesson(CLI::App& app, Command& command) {
  const auto options = std::make_shared<LessonOptions>();
  CLI::App& group =
      *app.add_subcommand("lesson", "The course without a window: its claims, checked on the engine");
  group.footer(kFooter);
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* help) -> CLI::App& {
    CLI::App& sub = *group.add_subcommand(name, help);
    sub.add_option("--lessons", options->folder, "another folder of lessons")->type_name("DIR");
    sub.callback([options, &command, name] {
      options->command = name;
      command = [options] { return lesson(*options); };
    });
    return sub;
  };
  add_language(add("list", "Number, name, title and claim of every lesson"), options->language);
  CLI::App& one_lesson = add("show", "One lesson: claim, sources, runs, checks and measured numbers");
  one_lesson.add_option("lesson", options->id, "its name or number")->type_name("LESSON")->required();
  add_language(one_lesson, options->language);
  CLI::App& check = add("check", "Measure the claims; 1 when one does not hold");
  CLI::Option* one = check.add_option("lesson", options->id, "its name or number")->type_name("LESSON");
  check.add_flag("--all", options->all, "all lessons (also without a name)")->excludes(one);
  check.add_flag("--full", options->full, "five seeds instead of one");
  check.add_flag("--write", options->write, "with --full: keep the numbers in each lesson's measured.json");
  add_store(check, options->store);
  add_threads(check, options->threads);
  add_lesson_limits(group, command);
  CLI::App& report = add("report", "A page of claims, settings and measured numbers, with figures");
  report.add_option("--out", options->out, "the folder to write")->type_name("DIR");
  report
      .add_option("--page,--readme", options->page,
                  "a page into which the claim table goes, between its markers")
      ->type_name("FILE");
  add_lesson_worksheet(group, command);
}

}  // namespace normscope::cli
