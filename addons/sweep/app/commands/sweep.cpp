// normscope sweep trains one or two settings over their values, every cell over its seeds, and finds the border of
// learning. It can be resumed and shared out over machines: finished runs are kept.
#include <fmt/format.h>

#include "addons/sweep/app/sweep_writers.h"
#include "app/cli/study.h"
#include "app/commands/commands.h"
#include "app/commands/figure_options.h"
#include "app/words/words.h"
#include "training/files/command_text.h"

namespace normscope::commands {

using namespace cli;
namespace {

struct SweepOptions {
  std::string preset;  ///< a sweep that is ready to start
  std::vector<std::string> axes, set, more_seeds;
  int32_t steps = 0, seeds = 1;  ///< steps 0: as the run has it
  std::string metric = "loss";
  std::string figure;  ///< a folder; empty: none is written
  FigureOptions style{};
  StudyOptions study{};
};

std::string preset_names_text() {
  std::vector<std::string> names;
  for (const sweep::Preset& preset : sweep::presets())
    names.push_back(fmt::format("{} ({})", preset.name, words::language("en").tr(preset.title)));
  return fmt::format("{}", fmt::join(names, ", "));
}

sweep::Plan sweep_plan_of(const SweepOptions& options) {
  if (options.preset.empty() == options.axes.empty())
    throw CommandError(
        Exit::Usage,
        fmt::format("sweep: expected {}: --axis KEY=VALUES, or one of {}",
                    options.axes.empty() ? "something to sweep" : "axes or a sweep that is ready, not both",
                    preset_names_text()));
  return with_exit(Exit::Usage, [&] {
    sweep::Plan plan{.set = options.set, .steps = options.steps, .seeds = options.seeds};
    if (!options.preset.empty()) plan.axes = sweep::preset_plan(options.preset).axes;
    return sweep::plan_from(std::move(plan), options.axes, options.more_seeds);
  });
}

std::string figure_path(const SweepOptions& options, const char* ending) {
  return options.figure + "/sweep." + ending;
}

/// " --figure DIR" with its options, or nothing.
std::string figure_text(const SweepOptions& options) {
  std::string line;
  add_option_text(line, " ", "--figure", options.figure);
  return line + figure_line(options.style, " ");
}

/// The grid as a paper needs it, with its data and what a caption needs.
void write_figure(const SweepOptions& options, const sweep::Grid& grid, sweep::Metric metric,
                  const std::string& command, Closing& closing) {
  if (options.figure.empty()) return;
  const plot::FigureStyle style = style_of(options.style);
  const std::string title = title_of(grid, metric);
  const plot::FigurePicture picture = figure_of(grid, metric);
  const auto save = [&](const char* ending, auto content) {
    closing.save(figure_path(options, ending), "sweep", content);
  };
  save("pdf", [&] { return plot::to_pdf(title, picture, style); });
  save("svg", [&] { return plot::to_paper_svg(title, picture, style); });
  save("csv", [&] { return sweep::to_csv(grid); });
  save("txt", [&] {
    return sweep::to_text(grid, metric) + "\n" + tr("This command makes the figure:") + "\n" + command +
           figure_text(options) + "\n";
  });
}

Exit sweep_command(const SweepOptions& options) {
  style_of(options.style);  // refused before anything is trained
  const sweep::Plan plan = sweep_plan_of(options);
  const sweep::Metric metric = with_exit(Exit::Usage, [&] { return sweep::metric_from(options.metric); });
  const experiments::Study study{.name = "sweep",
                                 .runs = with_exit(Exit::Usage, [&] { return sweep::runs_of(plan); })};
  const RunSpec& first =
      std::ranges::find_if(
          study.runs, [](const std::string& text) { return text.empty(); }, &experiments::StudyRun::refused)
          ->spec;
  // The progress bar's note: how many runs are known already, and their verdicts.
  std::atomic<int64_t> known{0}, learn{0};
  const auto take = [&](size_t, const experiments::RunNumbers& taken) {
    ++known;
    learn += taken.verdict == Verdict::Learns;
  };
  const auto tell = [&](experiments::Progress at, const OnProgress& on_progress) {
    if (!at.looking)
      at.note = fmt::format("{} of {} runs, {} learn", known.load(), plan.runs(), learn.load());
    return on_progress(at);
  };
  if (!options.figure.empty() && !options.study.dry_run && options.study.print_command.empty())
    with_exit(Exit::Internal, [&] { make_folder(options.figure, Access::Shared, "--figure"); });
  sweep::Grid grid;
  StudyWork work{.name = "sweep",
                 .file = "sweep",
                 .extent = fmt::format("{} cells", plan.columns() * plan.rows()),
                 .runs = plan.runs(),
                 .inputs = files_of(first)};
  if (!options.figure.empty())
    for (const char* ending : {"pdf", "svg", "csv", "txt"})
      work.outputs.push_back({"--figure", figure_path(options, ending)});
  work.command = [&](std::string_view between) {
    return sweep::command_text(plan, metric == sweep::Metric::Loss ? "" : options.metric, between) +
           backend_line(options.study.backend, between);
  };
  work.train = [&](auto& store, const auto& runner, const OnProgress& on_progress) {
    task_of(first);  // data that cannot be used is said before anything is trained
    StudyResults results = experiments::train(
        study, store, runner, [&](const experiments::Progress& at) { return tell(at, on_progress); }, take);
    grid = sweep::grid_of(plan, study.runs, results.runs, sweep::predictions_of(plan, study.runs));
    return results;
  };
  work.show = [&] {
    say("{}\n", sweep::to_text(grid, metric));
    return true;
  };
  work.json = [&] { return sweep::to_json(grid).dump(1) + "\n"; };
  work.csv = [&] { return sweep::to_csv(grid); };
  work.svg = [&] { return sweep::to_svg(grid, metric); };
  work.markdown = [&](const StudyFiles& files) {
    return sweep::to_markdown(grid, metric, picture_beside(files), page_command(work.command(" "), files));
  };
  work.last = figure_text(options);
  work.close = [&](Closing& closing) {
    write_figure(options, grid, metric, work.command(" "), closing);
    return Exit::Ok;
  };
  return run_study(options.study, work);
}

void add_swept(CLI::App& sub, SweepOptions& options) {
  std::vector<std::string> names;
  for (const sweep::Preset& preset : sweep::presets()) names.emplace_back(preset.name);
  add_value(sub, "preset", options.preset, "NAME", "a sweep that is ready to start, in the place of --axis",
            CLI::IsMember(names));
  add_value(
      sub, "--axis", options.axes, "KEY=VALUE",
      "a setting and its values, as train.warmup=0,50,200 or train.lr=1e-4:1e-2:log7; once across, twice "
      "for a grid");
  add_value(sub, "--set", options.set, "KEY=VALUE",
            "a field of every run, which are Post-LN otherwise; can be repeated");
  add_steps(sub, options.steps, "budget of steps of every run");
  add_value(sub, "--seeds", options.seeds, "N", "seeds 1 to N in every cell", whole(1, 1000));
  add_value(sub, "--more-seeds", options.more_seeds, "N@REGION",
            "N seeds more in a region of the grid, as 2@train.lr=1e-3:1e-2; can be repeated");
}

void add_shown(CLI::App& sub, SweepOptions& options) {
  const std::vector<std::string_view> metrics = sweep::metric_names();
  add_value(sub, "--metric", options.metric, "NAME", "what table and colours show",
            CLI::IsMember(std::vector<std::string>(metrics.begin(), metrics.end())));
}

}  // namespace

void add_sweep(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "sweep",
      "One or two settings over their values: where it learns, as a table and a picture; can be resumed",
      sweep_command);
  add_swept(sub, options);
  add_shown(sub, options);
  add_study(sub, options.study,
            {"write the cells as JSON (docs/log-format.md)", "one line a run",
             "a picture of the grid with the border where it begins to learn",
             "a page, with the picture where --svg is given too"});
  CLI::Option* figure = add_value(
      sub, "--figure", options.figure, "DIR",
      "the grid for a paper, as PDF and SVG with letters as outlines, its data, and what a caption needs");
  add_figure_options(sub, options.style, figure);
}

}  // namespace normscope::commands
