// normscope compare trains the runs of the default comparison (or of a configuration) over their seeds as a study:
// table, JSON-lines log, pictures of the Lab. With files it compares these and trains nothing.
#include <fmt/format.h>

#include <algorithm>

#include "addons/compare/app/commands/compare_study.h"
#include "addons/compare/app/figures.h"
#include "addons/compare/app/writers.h"
#include "addons/recorded/training/run_files.h"
#include "app/commands/commands.h"
#include "app/commands/figure_options.h"
#include "app/commands/picture.h"
#include "app/panels/plot_cell.h"
#include "engine/core/machine.h"
#include "training/files/command_text.h"
#include "training/trainer/trainer.h"

namespace normscope::commands {
using namespace cli;
namespace {

/// Replaces a file's name.
constexpr const char* kStandardOutput = "-";

struct CompareOptions {
  std::vector<std::string> files;  ///< FILE or FILE:LETTER; empty: train
  std::string mapping;  ///< names of tensors in logs (addons/recorded/training/tensor_names.h); empty: none
  std::string baseline = "A";  ///< letter or number
  std::string metric = "gradient:ffn.w2";
  std::string align = "step";
  int32_t from = 0, to = 0;  ///< 0: from the first step, to the last
  double factor = 4;
  std::string json, markdown;         ///< kStandardOutput or a file; empty: not requested
  std::string svg, png, csv, figure;  ///< a folder, or for svg one file; empty: not requested
  FigureOptions style;
};

// ---- files side by side

namespace fs = std::filesystem;
using compare::Comparison, compare::Figure;

/// "runs.jsonl:B" as path and letter, unless there is a file of that name.
struct NamedRun {
  std::string path;
  char letter = 0;
};
NamedRun named(const std::string& word) {
  const size_t size = word.size();
  const bool letter = size > 2 && word[size - 2] == ':' && word[size - 1] >= 'A' && word[size - 1] <= 'Z';
  std::error_code unknown;
  if (!letter || fs::exists(word, unknown)) return {word};
  return {word.substr(0, size - 2), word.back()};
}

/// The letters of the runs of a file: as the file names them, else in their order.
std::vector<char> letters_of(const records::RecordedFile& file) {
  std::vector<char> letters;
  for (const records::Recording& run : file.runs)
    if (!run.log_letter.empty() && std::ranges::find(letters, run.log_letter[0]) == letters.end())
      letters.push_back(run.log_letter[0]);
  if (!letters.empty()) return letters;
  const size_t count = std::min<size_t>(compare::grouped(file.runs).size(), 26);
  for (size_t i = 0; i < count; ++i) letters.push_back(static_cast<char>('A' + i));
  return letters;
}

std::vector<records::Recording> picked(const records::RecordedFile& file, const NamedRun& name) {
  if (name.letter == 0) return compare::grouped(file.runs);
  const std::vector<char> letters = letters_of(file);
  const auto at = std::ranges::find(letters, name.letter);
  if (at == letters.end())
    throw CommandError(Exit::Usage, fmt::format("{} has no run {}: expected one of {}", name.path,
                                                name.letter, fmt::join(letters, ", ")));
  const bool lettered =
      std::ranges::any_of(file.runs, [](const records::Recording& run) { return !run.log_letter.empty(); });
  if (!lettered) return {compare::grouped(file.runs)[static_cast<size_t>(at - letters.begin())]};
  std::vector<records::Recording> runs;
  for (const records::Recording& run : file.runs)
    if (!run.log_letter.empty() && run.log_letter[0] == name.letter) runs.push_back(run);
  return compare::grouped(runs);
}

std::vector<records::Recording> read_runs(const CompareOptions& options) {
  std::vector<records::Recording> runs;
  std::string there;
  for (const std::string& word : records::joined_files(options.files)) {
    const NamedRun name = named(word);
    const records::RecordedFile file =
        with_exit(Exit::Input, [&] { return records::read_recorded(name.path, options.mapping); });
    if (const std::string fault = file.fault(); !fault.empty()) complain(Message("{}: {}", name.path, fault));
    for (records::Recording& run : picked(file, name)) runs.push_back(std::move(run));
    there +=
        fmt::format("{}{} has {}", there.empty() ? "" : "; ", name.path, fmt::join(letters_of(file), ", "));
  }
  if (runs.size() < compare::kMin || runs.size() > compare::kMax)
    throw CommandError(
        Exit::Usage,
        fmt::format("{} run{} to compare: expected {} to {}; FILE:LETTER picks one ({})", runs.size(),
                    runs.size() == 1 ? "" : "s", compare::kMin, compare::kMax, there));
  return runs;
}

compare::Choice choice_of(const CompareOptions& options, const std::vector<records::Recording>& runs) {
  compare::Choice choice;
  const char first = options.baseline.empty() ? '?' : options.baseline.front();
  choice.baseline =
      first >= '1' && first <= '9' ? first - '1' : std::toupper(static_cast<unsigned char>(first)) - 'A';
  if (options.baseline.size() != 1 || choice.baseline < 0 ||
      static_cast<size_t>(choice.baseline) >= runs.size())
    throw CommandError(Exit::Usage,
                       fmt::format("--baseline {}: expected A to {}, or 1 to {}", options.baseline,
                                   static_cast<char>('A' + static_cast<int>(runs.size()) - 1), runs.size()));
  choice.align = compare::alignment_from(options.align);
  choice.factor = options.factor;
  compare::set_metric(choice, options.metric);
  const int32_t last = runs[static_cast<size_t>(choice.baseline)].seeds.front().history->last_step();
  if (options.from > 0 || options.to > 0)
    choice.range = {std::max(options.from, 1), options.to > 0 ? options.to : last};
  return choice;
}

struct Output {
  std::string option, path;
  std::function<void()> write;
};

/// The command line that compares these files in the same way.
std::string command_again(const CompareOptions& options) {
  const CompareOptions standard;
  std::string line = "normscope compare";
  const auto add = [&](const char* option, const auto& value, const auto& usual) {
    if (value != usual) line += fmt::format(" {} {}", option, shell_quoted(fmt::format("{}", value)));
  };
  for (const std::string& file : options.files) line += " " + shell_quoted(file);
  add("--baseline", options.baseline, standard.baseline);
  add("--metric", options.metric, standard.metric);
  add("--align", options.align, standard.align);
  add("--mapping", options.mapping, standard.mapping);
  add("--from", options.from, standard.from);
  add("--to", options.to, standard.to);
  add("--factor", options.factor, standard.factor);
  add("--figure", options.figure, std::string());
  return line + figure_line(options.style, " ") + "\n";
}

/// Each figure as a paper needs it, with its data and what a caption needs.
void add_paper_figures(const CompareOptions& options, const Comparison& all,
                       const std::vector<Figure>& figures, std::vector<Output>& outputs) {
  const plot::FigureStyle style = style_of(options.style);
  for (const Figure& figure : figures) {
    const auto add = [&](const char* ending, auto content) {
      const std::string path = fmt::format("{}/{}.{}", options.figure, figure.name, ending);
      outputs.push_back({"--figure", path, [path, content] { write_file(path, content(), "compare"); }});
    };
    add("pdf", [&figure, style] { return plot::to_pdf(figure.plot, style); });
    add("svg", [&figure, style] { return plot::to_paper_svg(figure.plot, style); });
    add("csv", [&figure] { return figure.csv; });
    add("txt", [&figure, &options, &all] {
      return panels::figure_words(figure.plot, to_text(all) + "\n" + tr("This command makes the figure:") +
                                                   "\n" + command_again(options));
    });
  }
}

std::vector<Output> figure_outputs(const CompareOptions& options, const Comparison& all,
                                   const std::vector<Figure>& figures) {
  std::vector<Output> outputs;
  const auto each = [&](const char* option, const std::string& folder, view::PlotFormat format,
                        const char* ending) {
    if (folder.empty()) return;
    for (const Figure& figure : figures) {
      const std::string path = fmt::format("{}/{}.{}", folder, figure.name, ending);
      outputs.push_back({option, path, [&figure, format, path] { write_figure(figure, format, path); }});
    }
  };
  if (options.svg.ends_with(".svg"))
    outputs.push_back(
        {"--svg", options.svg, [&] { write_file(options.svg, compare::stacked_svg(figures), "compare"); }});
  else
    each("--svg", options.svg, view::PlotFormat::Svg, "svg");
  each("--png", options.png, view::PlotFormat::Png, "png");
  each("--csv", options.csv, view::PlotFormat::Csv, "csv");
  if (!options.figure.empty()) add_paper_figures(options, all, figures, outputs);
  if (!options.csv.empty()) {
    const std::string path = options.csv + "/settings.csv";
    outputs.push_back({"--csv", path, [&all, path] { write_file(path, settings_csv(all), "compare"); }});
  }
  return outputs;
}

std::string json_text(const Comparison& all) {
  return to_json(all).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// The Markdown page with links to the figures that are written, relative to the page.
std::string page_of(const CompareOptions& options, const Comparison& all,
                    const std::vector<Output>& figures) {
  const bool file = options.markdown != kStandardOutput;
  const fs::path folder = file ? fs::absolute(options.markdown).parent_path() : fs::current_path();
  std::vector<std::string> pictures;
  for (const Output& figure : figures)
    if (figure.option == "--svg")
      pictures.push_back(fs::absolute(figure.path).lexically_relative(folder).generic_string());
  return to_markdown(all, pictures);
}

void make_folders(const CompareOptions& options) {
  for (const std::string* folder : {&options.svg, &options.png, &options.csv, &options.figure})
    if (!folder->empty() && !folder->ends_with(".svg"))
      with_exit(Exit::Internal, [&] { make_folder(*folder, Access::Shared, "compare"); });
}

/// Runs before anything is read or trained. It throws CommandError for a run that follows an option which
/// takes a name, because the run would be overwritten.
void check_named(const CompareOptions& options) {
  for (const auto& [option, path] :
       {std::pair("--json", options.json), std::pair("--markdown", options.markdown),
        std::pair("--svg", options.svg), std::pair("--csv", options.csv)}) {
    const std::string ending = fs::path(path).extension().string();
    std::error_code unknown;
    if (fs::is_regular_file(path, unknown) && (ending == ".jsonl" || ending == ".safetensors"))
      throw CommandError(Exit::Usage,
                         fmt::format("{} {}: is there and is named as a run: expected the files to "
                                     "compare first, then the options",
                                     option, path));
  }
}

/// Throws CommandError: Exit::Input for a file that is neither a saved run nor a log, Exit::Usage for
/// runs that cannot be compared.
Exit compare_files(const CompareOptions& options) {
  check_named(options);
  if (options.json == kStandardOutput && options.markdown == kStandardOutput)
    throw CommandError(Exit::Usage, "--json and --markdown to standard output: expected one of them");
  std::vector<records::Recording> runs = read_runs(options);
  const Comparison all = with_exit(Exit::Usage, [&] {
    const compare::Choice choice = choice_of(options, runs);
    return compare::compare(std::move(runs), choice);
  });
  const bool drawn =
      !options.svg.empty() || !options.png.empty() || !options.csv.empty() || !options.figure.empty();
  const std::vector<Figure> figures = drawn ? figures_of(all) : std::vector<Figure>{};
  std::vector<Output> outputs = figure_outputs(options, all, figures);
  const std::string page = options.markdown.empty() ? "" : page_of(options, all, outputs);
  const auto text = [&](const char* option, const std::string& path, auto content) {
    if (!path.empty() && path != kStandardOutput)
      outputs.push_back({option, path, [path, content] { write_file(path, content(), "compare"); }});
  };
  text("--json", options.json, [&] { return json_text(all); });
  text("--markdown", options.markdown, [&] { return page; });
  make_folders(options);
  std::vector<NamedFile> written, read;
  for (const Output& output : outputs) written.push_back({output.option, output.path});
  for (const std::string& word : options.files) read.push_back({"compare", named(word).path});
  read.push_back({"--mapping", options.mapping});
  check_outputs(written, read);

  if (options.json == kStandardOutput)
    put(json_text(all));
  else
    put(options.markdown == kStandardOutput ? page : to_text(all));
  flush();
  const bool quiet = options.json == kStandardOutput || options.markdown == kStandardOutput;
  Closing closing;
  for (const Output& output : outputs)
    closing.attempt([&] {
      output.write();
      if (!quiet) say("wrote {}\n", output.path);
    });
  return closing.code(Exit::Ok);
}

/// Runs after parsing: a requested output without a name goes to standard output (json, markdown) or into `out`.
void name_outputs(const CLI::App& app, CompareOptions& options, const std::string& out) {
  const auto name = [&](const char* option, std::string& path, const std::string& standard) {
    if (app.count(option) > 0 && path.empty()) path = standard;
  };
  name("--json", options.json, kStandardOutput);
  name("--markdown", options.markdown, kStandardOutput);
  name("--svg", options.svg, out);
  name("--png", options.png, out);
  name("--csv", options.csv, out);
  name("--figure", options.figure, out);
}

/// Adds the files, which exclude the options of training, and the options that need files. --json,
/// --markdown and --csv also belong to training.
void add_compare_files(CLI::App& app, CompareOptions& options) {
  CLI::Option* files =
      add_value(app, "files", options.files, "FILE",
                "saved runs and logs to compare instead of training; FILE:B is run B of a log");
  for (const char* training :
       {"--text", "--config", "--run", "--set", "--edit", "--steps", "--seeds", "--stored", "--dry-run",
        "--print-command", "--tasks", "--store", "--shard", "--threads", "--backend", "--tf32"})
    files->excludes(app.get_option(training));
  std::vector<CLI::Option*> own = {
      add_value(app, "--baseline", options.baseline, "LETTER",
                "files: the run that the others are held against"),
      add_value(app, "--metric", options.metric, "NAME",
                "files: of the maps, as gradient:attn.wk or hidden-norm"),
      add_value(app, "--align", options.align, "NAME", "files: what the runs share",
                CLI::IsMember({"step", "tokens", "time"})),
      add_value(app, "--mapping", options.mapping, "FILE",
                "files: names of your own in logs, as TOML (docs/log-format.md)"),
      add_value(app, "--from", options.from, "STEP", "files: only from this step of the baseline on",
                whole(0, 1'000'000'000), "the first"),
      add_value(app, "--to", options.to, "STEP", "files: only up to this step", whole(0, 1'000'000'000),
                "the last"),
      add_value(app, "--factor", options.factor, "TIMES",
                "files: gradients part when their sizes differ by more", CLI::Range(1.0, 1e6)),
  };
  const auto output = [&](const char* option, std::string& path, const char* type, const char* help) {
    return app.add_option(option, path, help)->expected(0, 1)->type_name(type);
  };
  output("--json", options.json, "[FILE]",
         "the table as JSON (docs/log-format.md), no name: into --out; files: one object, no name: printed");
  output("--markdown,--page", options.markdown, "[FILE]",
         "a page, no name: into --out; files: no name: printed");
  output("--csv", options.csv, "[FILE]",
         "the table, one line a run; files: a folder for the numbers of every figure, and the tables; no "
         "name: into --out");
  own.push_back(output("--svg", options.svg, "[DIR]",
                       "files: every figure; NAME.svg: all in one; no name: into --out"));
  own.push_back(output("--png", options.png, "[DIR]", "files: every figure; no name: into --out"));
  own.push_back(
      output("--figure", options.figure, "[DIR]",
             "files: every figure for a paper, as PDF and SVG with letters as outlines, its data, and what a "
             "caption needs; no name: into --out"));
  std::ranges::copy(add_figure_options(app, options.style, own.back()), std::back_inserter(own));
  for (CLI::Option* option : own) option->needs(files);
}

// ---- runs that are trained

constexpr const char* kOutFolder = "out";

/// One of the two pictures that draw() makes.
std::string lab_picture_path(const std::string& folder, bool dark) {
  return fmt::format("{}/lab-{}.png", folder, dark ? "dark" : "light");
}

std::string out_folder(const std::string& out) { return out.empty() ? kOutFolder : out; }

std::string compare_command_of(const MainOptions& options, const BackendOptions& backend,
                               std::string_view between) {
  std::string line = "normscope compare";
  const auto add = [&](const char* option, const std::string& value) {
    add_option_text(line, between, option, value);
  };
  add("--text", options.text);
  add("--config", options.config);
  add("--link", options.link);
  for (const std::string& run : options.runs) add("--run", run);
  for (const std::string& set : options.set) add("--set", set);
  for (const std::string& edit : options.edits) add("--edit", edit);
  if (options.steps > 0) add("--steps", std::to_string(options.steps));
  if (options.seeds > 1) add("--seeds", std::to_string(options.seeds));
  return line + backend_line(backend, between);
}

nlohmann::json compared_json(const CompareStudy& study, int32_t seeds) {
  nlohmann::json out = results_json(study.results(), arms_of(study.results()));
  out.update({{"format", "normscope compare table 2"},
              {"seeds", seeds},
              {"complete", study.complete()},
              {"link", link::fragment_of_runs(study.letters(), false)}});
  return out;
}

std::string compared_page(const CompareStudy& study, const std::string& command) {
  std::string out =
      fmt::format("# Comparison\n\nMade by `{}`.\n\n{}", command, to_markdown(table(study.results(), false)));
  const char* before = "\n- ";
  for (const std::string& line : agreement_lines(arms_of(study.results()))) {
    out += before + line + "\n";
    before = "- ";
  }
  return out;
}

void show_compared(const CompareStudy& study, int32_t seeds) {
  say("{}", to_text(table(study.results()), terminal_width()));
  if (seeds == 1) say("One seed; --seeds 5 trains five and says how far they agree.\n");
  for (const std::string& line : agreement_lines(arms_of(study.results()))) say("{}\n", line);
  flush();
}

std::string log_path_in(const std::string& folder) { return folder + "/runs.jsonl"; }

/// Writes log and pictures into the folder, where one is given. Where the store lacks a run, an earlier log and its pictures stay.
Exit close_compared(const CompareStudy& study, const StudyOptions& options, const std::string& folder,
                    Closing& closing) {
  if (folder.empty()) {
    closing.attempt([&] { study.require_trained(); });
    return Exit::Ok;
  }
  if (options.stored && !study.complete()) {
    say("--stored: runs are missing, so log and pictures stay as they were\n");
  } else {
    closing.attempt([&] {
      study.log(log_path_in(folder));
      say("wrote {}\n", log_path_in(folder));
    });
    study.draw(options, folder, closing);
  }
  closing.attempt([&] { study.require_trained(); });
  return Exit::Ok;
}

/// Without a `folder` it writes the files of `study_options` alone, for a program that calls it.
Exit train_compared(const MainOptions& options, const StudyOptions& study_options,
                    const std::string& folder) {
  const bool trains = !study_options.dry_run && study_options.print_command.empty();
  auto [runs, link] = main_runs(options);
  if (link)  // the link says how far, and with which seed
    override_runs(runs, "", options.steps > 0 ? 0 : link->step, -1);
  if (study_options.print_command.empty()) backend_of(study_options.backend);
  CompareStudy study(std::move(runs), options.seeds, link.has_value());
  if (trains) with_exit(Exit::Internal, [&] { make_folder(folder, Access::Shared, "--out"); });
  StudyWork work{.name = "compare",
                 .file = "compare",
                 .extent = fmt::format("{} run{} with {} seed{}", study.letters().size(),
                                       study.letters().size() == 1 ? "" : "s", options.seeds,
                                       options.seeds == 1 ? "" : "s"),
                 .runs = study.runs(),
                 .inputs = {{"--config", options.config}},
                 .writes_partial = false};
  if (!folder.empty())
    work.outputs = {{"--out", log_path_in(folder)},
                    {"--out", lab_picture_path(folder, false)},
                    {"--out", lab_picture_path(folder, true)}};
  for (const ConfigRun& run : study.letters())
    for (NamedFile& file : files_of(run.spec)) work.inputs.push_back(std::move(file));
  work.command = [&](std::string_view between) {
    return compare_command_of(options, study_options.backend, between);
  };
  work.train = [&](auto& store, const auto& runner, const OnProgress& on_progress) {
    return study.train(store, runner, on_progress);
  };
  work.show = [&] {
    show_compared(study, options.seeds);
    return true;
  };
  work.json = [&] { return compared_json(study, options.seeds).dump(1) + "\n"; };
  work.csv = [&] { return to_csv(table(study.results())); };
  work.markdown = [&](const StudyFiles& files) {
    return compared_page(study, page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) { return close_compared(study, study_options, folder, closing); };
  return run_study(study_options, work);
}

/// Places requested outputs without a name (name_outputs()) in --out.
StudyFiles files_to_write(const CompareOptions& asked, const std::string& folder) {
  const auto place = [&](const std::string& path, std::string_view unnamed, const char* ending) {
    return path == unnamed ? folder + "/compare" + ending : path;
  };
  return {place(asked.json, kStandardOutput, ".json"), place(asked.csv, folder, ".csv"), "",
          place(asked.markdown, kStandardOutput, ".md")};
}

/// Whether files are named and no folder is: then log and pictures are not asked for.
bool asks_for_files_alone(const CompareOptions& asked, const std::string& out) {
  const bool unnamed =
      asked.json == kStandardOutput || asked.markdown == kStandardOutput || asked.csv == kOutFolder;
  return out.empty() && !unnamed && !(asked.json + asked.csv + asked.markdown).empty();
}

}  // namespace

Exit compare(const MainOptions& options) {
  StudyOptions study;
  study.out = options.out;
  study.threads = options.threads;
  study.backend = options.backend;
  return train_compared(options, study, out_folder(study.out));
}

void add_compare(CLI::App& app, Command& command) {
  const auto options = std::make_shared<MainOptions>();
  const auto study = std::make_shared<StudyOptions>();
  const auto files = std::make_shared<CompareOptions>();
  CLI::App& sub = *app.add_subcommand(
      "compare",
      "Put saved runs and logs side by side; without files train the three runs and print their table");
  add_main_runs(sub, *options);
  add_study(sub, *study, {});
  sub.get_option("--out")->default_str(kOutFolder);
  add_compare_files(sub, *files);
  sub.callback([&sub, options, study, files, &command] {
    name_outputs(sub, *files, out_folder(study->out));
    command = [options, study, files] {
      if (!files->files.empty()) return compare_files(*files);
      check_named(*files);
      study->files = files_to_write(*files, out_folder(study->out));
      const bool alone = asks_for_files_alone(*files, study->out);
      return train_compared(*options, *study, alone ? "" : out_folder(study->out));
    };
  });
}

CompareStudy::CompareStudy(std::vector<ConfigRun> runs, int32_t seeds, bool own_seed)
    : runs_(std::move(runs)) {
  const bool lettered = runs_.front().letter == 'A';
  for (size_t i = 0; i < runs_.size(); ++i) {
    ConfigRun& run = runs_[i];
    if (!lettered) run.letter = static_cast<char>('A' + i);
    run.spec.train.steps = runs_.front().spec.train.steps;
    std::ranges::stable_sort(run.edits, {}, &Edit::step);
    const auto same = std::find_if(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const ConfigRun& other) { return other.spec.data == run.spec.data; });
    const auto place = static_cast<size_t>(same - runs_.begin());
    tasks_.push_back(place < i ? tasks_[place] : task_of(run.spec));
  }
  const auto first = static_cast<int64_t>(own_seed ? runs_.front().spec.seed : 1);
  if (!own_seed) override_runs(runs_, "", 0, first);
  for (int32_t turn = 0; turn < seeds; ++turn) {
    std::vector<ConfigRun> now = runs_;
    if (turn > 0) override_runs(now, "", 0, first + turn);
    for (ConfigRun& run : now) study_.runs.push_back({std::move(run.spec), std::move(run.edits)});
  }
  study_.name = "compare";
  study_.on_run = [this](size_t place, Run& run) { keep(place, run); };
}

void CompareStudy::require_buildable(int32_t shards) const {
  const EndsAtOnce at_once("interrupted: nothing was trained");  // networks of any size are built
  with_exit(Exit::Usage, [&] {
    int64_t bytes = 0;
    for (const ConfigRun& run : runs_) bytes += estimated_bytes(run.spec);
    require_bytes("compare", bytes);
    require_bytes(fmt::format("compare with {} seeds", seeds()), bytes + history_bytes() / shards);
  });
}

int64_t CompareStudy::history_bytes() const {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  size_t bytes = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    Run run(runs_[i].spec, tasks_[i], *backend);
    run.schedule_edits(runs_[i].edits);
    const size_t frames = static_cast<size_t>(run.spec().train.steps) + 1;
    bytes += seeds() * std::min(kHistoryBudget, frames * run.history()->layout().size() * sizeof(float));
  }
  return static_cast<int64_t>(bytes);
}

void CompareStudy::keep(size_t place, Run& run) {
  // Removes the notes that a run was paused and resumed: its bits are the same.
  for (const RunEvent& event : run.history()->events())
    if (event.kind == RunEvent::Kind::Resumed) run.history()->take_back(event);
  // The loss is rounded as in the history of a stored run.
  const auto validation = static_cast<double>(static_cast<float>(run.last_validation_loss()));
  RunEnd ended{run.record(place < runs_.size()), run.state(), validation};
  ended.record.history = run.history();
  const Message notice = run.take_notice();
  const std::lock_guard lock(mutex_);
  ended_[place] = std::move(ended);
  if (!notice.empty()) notices_.push_back(fmt::format("run {}: {}", runs_[run_of(place)].letter, notice));
}

StudyResults CompareStudy::train(experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                                 const OnProgress& on_progress) {
  require_buildable(runner.shard.count);
  ended_.assign(study_.runs.size(), std::nullopt);
  StudyResults studied = experiments::train(study_, store, runner, on_progress);
  collect(studied);
  return studied;
}

/// Makes a result of each run; equal runs share one training.
void CompareStudy::collect(const experiments::StudyResults& studied) {
  for (size_t place = 0; place < study_.runs.size(); ++place) {
    const std::optional<experiments::RunNumbers>& taken = studied.runs[place];
    const size_t run = run_of(place), first = studied.first[place];
    const RunSpec& spec = study_.runs[place].spec;
    if (taken && taken->failed() && failed_.empty())
      failed_ = fmt::format("run {}, seed {}: {}", runs_[run].letter, spec.seed, taken->what());
    if (!taken || !ended_[first]) continue;
    const RunEnd& ended = *ended_[first];
    const RunRecord& record = ended.record;
    RunSpec now = record.edits.empty() ? spec : record.spec();  // a stored run may have another name
    now.name = spec.name;
    fit_to_data(now, *tasks_[run]);
    const double milliseconds = taken->seconds > 0 && taken->steps > 0
                                    ? taken->seconds * 1e3 / taken->steps
                                    : std::numeric_limits<double>::quiet_NaN();
    results_.push_back(result_of({runs_[run].letter, spec.seed}, now, record.edits, ended.state,
                                 *record.history, *tasks_[run], ended.validation, milliseconds));
    histories_.push_back(record.history);
    if (first != place) ended_[place] = ended_[first];
  }
  for (const std::string& notice : notices_) complain(notice);
}

void CompareStudy::log(const std::string& path) const {
  RunLog log(path, identity_of(runs_.front().spec.data, *tasks_.front()));
  for (size_t i = 0; i < results_.size(); ++i) {
    log.steps(results_[i].label, *histories_[i]);
    log.result(results_[i]);
  }
  log.check();
}

void CompareStudy::draw(const StudyOptions& options, const std::string& folder, Closing& closing) const {
  const auto finished = std::make_shared<RunCache>(std::numeric_limits<size_t>::max());
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (!ended_[i]) return;
    RunRecord run = ended_[i]->record;
    run.origin = runs_[i].spec;  // a stored run may have another name
    fit_to_data(run.origin, *tasks_[i]);
    finished->put(std::move(run));
  }
  closing.attempt([&] {
    Lab lab({.threads = options.threads,
             .backend = backend_of(options.backend),
             .trainer = std::make_shared<Trainer>(options.threads, finished),
             .live_text = false});
    begin(lab, runs_, true);
    for (const bool dark : {false, true})
      closing.attempt([&] { draw_pictures(lab, {.dark = dark}, lab_picture_path(folder, dark)); });
  });
}

void CompareStudy::require_trained() const {
  if (!failed_.empty()) throw CommandError(Exit::Internal, "compare: " + failed_);
}

}  // namespace normscope::commands
