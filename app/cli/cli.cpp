// Options in, one command called, errors to one line. This file and arguments_*.cpp alone know CLI11.
#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <new>

#include "app/bench/stepper.h"
#include "app/cli/arguments.h"
#include "app/cli/description.h"
#include "app/commands/lesson_limits.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "engine/cpu/isa.h"
#include "engine/spec/spec.h"

namespace normscope::cli {
namespace {

void add_backend(CLI::App& app, BackendOptions& options) {
  app.add_option("--backend", options.backend,
                 "where runs train: cpu, or cuda on an NVIDIA GPU (the same numbers within rounding)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("NAME")
      ->default_str("cpu");
  app.add_flag("--tf32", options.tf32, "with --backend cuda: matrix products with 10-bit mantissas, faster");
}

void add_look(CLI::App& app, std::string& theme, double& scale, bool both = false) {
  app.add_option("--theme", theme, both ? "light, dark or both (two pictures)" : "light or dark")
      ->check(CLI::IsMember(both ? std::vector<std::string>{"light", "dark", "both"}
                                 : std::vector<std::string>{"light", "dark"}))
      ->type_name("NAME");
  CLI::Option* size = app.add_option("--scale", scale, "size of everything; at most what fits")
                          ->check(CLI::Range(0.75, 2.5))
                          ->type_name("FACTOR");
  if (scale == 0) size->default_str("as remembered");
}

void add_steps(CLI::App& app, int32_t& steps, const char* help) {
  CLI::Option* option =
      app.add_option("--steps", steps, help)->check(CLI::Range(1, 10'000'000))->type_name("N");
  if (steps == 0) option->default_str("as the runs have it");
}

void add_seed(CLI::App& app, int64_t& seed) {
  app.add_option("--seed", seed, "seed of weights, batches and dropout")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->default_str("as the runs have it");
}

// The three of the line that the window copies.
void add_runs(CLI::App& app, std::vector<std::string>& runs, std::vector<std::string>& sets,
              std::vector<std::string>& edits) {
  app.add_option("--run", runs, "a run from a preset, as A=post; can be repeated, in letter order")
      ->type_name("LETTER=PRESET")
      ->allow_extra_args(false);
  app.add_option("--set", sets, "a field of every run or of one, as B:train.rate=1e-3; can be repeated")
      ->type_name("[LETTER:]KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--edit", edits,
                 "change a field at a step, as 214:train.rate=1e-3 or A:214:lr=1e-3; can be repeated")
      ->type_name("[LETTER:]STEP:KEY=VALUE")
      ->allow_extra_args(false);
}

void add_main_options(CLI::App& app, MainOptions& options) {
  CLI::Option* text =
      app.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  app.add_option("--config", options.config, "the runs of a TOML file instead of the three built in")
      ->type_name("FILE")
      ->excludes(text);
  add_runs(app, options.runs, options.set, options.edits);
  add_steps(app, options.steps, "budget of steps");
  app.add_option("--seeds", options.seeds, "without a window: train with seeds 1 to N")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  app.add_option("--out", options.out, "without a window: folder of the log and the screenshots")
      ->type_name("DIR");
  add_threads(app, options.threads);
  add_backend(app, options.backend);
}

void add_train(CLI::App& app, TrainOptions& options, std::function<Exit()>& command) {
  CLI::App& sub =
      *app.add_subcommand("train", "Train without a window, one run or those of a configuration file");
  sub.footer(fmt::format("Presets: {}.\n{}", fmt::join(preset_names(), ", "), kFooter));
  CLI::Option* config =
      sub.add_option("--config", options.config, "runs from a TOML file")->type_name("FILE");
  CLI::Option* preset = sub.add_option("--preset", options.preset, "a run by name")
                            ->type_name("PRESET")
                            ->excludes(config)
                            ->default_str("pre with --text, --pairs or --labels");
  add_runs(sub, options.runs, options.set, options.edits);
  sub.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  sub.add_option("--pairs", options.pairs,
                 "sentences and their translations, source<TAB>target: an encoder-decoder")
      ->type_name("FILE");
  sub.add_option("--labels", options.labels, "labelled texts, label<TAB>text: an encoder that classifies")
      ->type_name("FILE");
  sub.add_option("--valid", options.valid, "pairs or labelled texts to validate on")->type_name("FILE");
  sub.add_option("--init-from", options.init_from, "a saved run whose weights are taken over: fine-tuning")
      ->type_name("FILE");
  sub.add_option("--tokens", options.tokens,
                 "tokens of a batch, padding included, instead of train.batch rows")
      ->check(CLI::Range(2, 10'000'000))
      ->type_name("N")
      ->default_str("train.batch rows");
  add_steps(sub, options.steps, "budget of steps");
  add_seed(sub, options.seed);
  sub.add_option("--validate-every", options.validate_every, "steps between validations")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N");
  sub.add_option("--save-every", options.save_every, "save every so many steps too (with --save)")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N")
      ->default_str("at the end only");
  sub.add_option("--keep", options.keep,
                 "keep the last so many of these states as FILE-STEP, to average them")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->default_str("none");
  sub.add_option("--log", options.log,
                 "one JSON object a line (docs/log-format.md); with --resume it goes on")
      ->type_name("FILE");
  sub.add_option("--save", options.save, "checkpoint at the end, and on Ctrl+C, SIGTERM or SIGHUP")
      ->type_name("FILE");
  sub.add_option("--resume", options.resume, "go on from a checkpoint")
      ->type_name("FILE")
      ->excludes(config)
      ->excludes(preset);
  sub.add_flag("--plan", options.plan, "print the memory that the runs need, and train nothing");
  sub.add_flag("--profile", options.profile,
               "time every node of a step, forward, backward, update, and train nothing");
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
  sub.callback([&] { command = [&] { return train(options); }; });
}

void add_bench(CLI::App& app, BenchOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand("bench", "Measure this machine, the kernels and whole training steps");
  sub.footer(kFooter);
  sub.add_flag("--gemm", options.gemm, "matrix products only, beside oneDNN and OpenBLAS where installed");
  sub.add_flag("--ops", options.ops, "every op, forward and backward, beside its roofline");
  sub.add_flag("--sweep", options.sweep, "time against layers, width, length, batch and threads");
  sub.add_flag("--crowded", options.crowded,
               "steps with a thread more than --threads, and beside a busy process, over steps alone");
  sub.add_option("--model", options.model, "training steps of one model, after its memory plan")
      ->check(CLI::IsMember(bench::model_names()))
      ->type_name("NAME")
      ->default_str("all five");
  sub.add_option("--budget", options.budget, "seconds a timing")
      ->check(CLI::Range(0.001, 60.0))
      ->type_name("SECONDS");
  sub.add_flag("--json", options.json, "one JSON object instead of tables");
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
  sub.callback([&] { command = [&] { return cli::bench(options); }; });
}

void add_screenshot(CLI::App& app, ScreenshotOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand("screenshot", "Draw a screen to a PNG, without display or OpenGL");
  sub.footer(kFooter);
  sub.add_option("--screen", options.screen,
                 "which screen: lab, or lesson:NAME:STEP as lesson:warm-up:compare")
      ->type_name("NAME");
  add_steps(sub, options.steps, "steps trained before");
  add_look(sub, options.theme, options.scale, true);
  sub.add_option("--size", options.size, "pixels, as 1600x1000")->type_name("WxH");
  add_seed(sub, options.seed);
  CLI::Option* text =
      sub.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  sub.add_option("--config", options.config, "the runs of a TOML file instead of the three built in")
      ->type_name("FILE")
      ->excludes(text);
  sub.add_option("--script", options.script, "hand movements to play first (docs/command-line.md)")
      ->type_name("FILE");
  sub.add_option("--out", options.out, "the PNG to write")->type_name("FILE")->required();
  add_threads(sub, options.threads);
  sub.callback([&] { command = [&] { return screenshot(options); }; });
}

void add_translate(CLI::App& app, TranslateOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand("translate", "Translate with a run that was trained on sentence pairs");
  sub.footer(kFooter);
  sub.add_option("runs", options.runs, "a saved run; of several the weights are averaged")
      ->type_name("FILE")
      ->required();
  CLI::Option* input =
      sub.add_option("--input", options.input, "sentences, one a line; without it the run's validation pairs")
          ->type_name("FILE");
  sub.add_option("--reference", options.reference, "their translations, to print BLEU")
      ->type_name("FILE")
      ->needs(input);
  sub.add_option("--out", options.out, "where the translations go; without it they are printed")
      ->type_name("FILE");
  sub.add_option("--beam", options.beam, "width of the beam; 1 is greedy")
      ->check(CLI::Range(1, 100))
      ->type_name("N");
  sub.add_option("--penalty", options.penalty, "a hypothesis scores log p / length^penalty")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("X");
  sub.add_option("--limit", options.limit, "only the first so many sentences")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N")
      ->default_str("all");
  add_threads(sub, options.threads);
  sub.callback([&] { command = [&] { return translate(options); }; });
}

void add_bleu(CLI::App& app, BleuOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand("bleu", "BLEU of translations, as sacreBLEU's 13a computes it");
  sub.footer(kFooter);
  sub.add_option("translations", options.translations, "one a line")->type_name("FILE")->required();
  sub.add_option("references", options.references, "one a line")->type_name("FILE")->required();
  sub.callback([&] { command = [&] { return bleu(options); }; });
}

void add_verify(CLI::App& app, VerifyOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand(
      "verify", "Compare the engine with a reference fixture: loss, gradients, ten steps");
  sub.footer(kFooter);
  sub.add_option("files", options.files, "fixtures (safetensors)")->type_name("FILE")->required();
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
  sub.callback([&] { command = [&] { return verify(options); }; });
}

void add_lesson(CLI::App& app, LessonOptions& options, LimitsOptions& limits_options,
                std::function<Exit()>& command) {
  CLI::App& group =
      *app.add_subcommand("lesson", "The course without a window: its claims, checked on the engine");
  group.footer(kFooter);
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* help) -> CLI::App& {
    CLI::App& sub = *group.add_subcommand(name, help);
    sub.add_option("--lessons", options.folder, "another folder of lessons")->type_name("DIR");
    sub.callback([&options, &command, name] {
      options.command = name;
      command = [&options] { return lesson(options); };
    });
    return sub;
  };
  add("list", "Number, name, title and claim of every lesson");
  add("show", "One lesson: claim, sources, runs, checks and measured numbers")
      .add_option("lesson", options.id, "its name or number")
      ->type_name("LESSON")
      ->required();
  CLI::App& check = add("check", "Measure the claims; 1 when one does not hold");
  CLI::Option* one = check.add_option("lesson", options.id, "its name or number")->type_name("LESSON");
  check.add_flag("--all", options.all, "all lessons (also without a name)")->excludes(one);
  check.add_flag("--full", options.full, "five seeds instead of one");
  check.add_flag("--write", options.write, "with --full: keep the numbers in each lesson's measured.json");
  add_threads(check, options.threads);
  CLI::App& limits = *group.add_subcommand("limits",
                                           "How far each lesson's effect reaches: other widths and depths, "
                                           "five times the steps, another text; can "
                                           "be resumed");
  CLI::Option* limited = limits.add_option("lesson", limits_options.id, "its name or number; all without it")
                             ->type_name("LESSON");
  limits.add_flag("--all", limits_options.all, "all lessons (also without a name)")->excludes(limited);
  limits.add_option("--lessons", limits_options.folder, "another folder of lessons")->type_name("DIR");
  limits.add_option("--results", limits_options.results, "the file that keeps what was measured")
      ->type_name("FILE");
  limits.add_option("--text", limits_options.text, "another text (the system's licences)")->type_name("FILE");
  limits.add_flag("--write", limits_options.write, "keep each table beside its lesson, as limits.md");
  add_threads(limits, limits_options.threads);
  limits.callback([&] { command = [&limits_options] { return lesson_limits(limits_options); }; });
  CLI::App& report = add("report", "A page of claims, settings and measured numbers, with figures");
  report.add_option("--out", options.out, "the folder to write")->type_name("DIR");
  report
      .add_option("--page,--readme", options.page,
                  "a page into which the claim table goes, between its markers")
      ->type_name("FILE");
}

void add_zoo(CLI::App& app, ZooOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand(
      "zoo", "Every placement, norm, initialisation and optimizer on one model, as a table; can be resumed");
  sub.footer(kFooter);
  sub.add_flag("--list", options.list, "name the entries and train nothing");
  sub.add_flag("--stored", options.stored, "the table of what was trained before; train nothing");
  sub.add_option("--only", options.only, "entries or groups (zoo --list), with commas")
      ->type_name("NAMES")
      ->default_str("all");
  sub.add_option("--depth", options.depths, "layers, with commas: 6 is the default model; 12, 18, 24")
      ->check(CLI::Range(1, 256))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N")
      ->default_str("6");
  sub.add_option("--seeds", options.seeds, "seeds 1 to N")->check(CLI::Range(1, 1000))->type_name("N");
  add_steps(sub, options.steps, "budget of steps of every run");
  sub.add_option("--warmup", options.warmup, "warm-up of the arm that has one")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->default_str("200");
  sub.add_option("--set", options.set, "a field of the model that the entries change; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sub.add_option("--json", options.json, "write the table as JSON (docs/log-format.md)")->type_name("FILE");
  sub.add_option("--csv", options.csv, "one line a run")->type_name("FILE");
  sub.add_option("--svg", options.svg, "a picture of the final losses")->type_name("FILE");
  sub.add_option("--markdown", options.markdown, "a page, with the picture where --svg is given too")
      ->type_name("FILE");
  sub.add_option("--out", options.out,
                 "a folder for all four and for the runs, which are otherwise kept in the user's cache")
      ->type_name("DIR");
  sub.add_option("--threads", options.threads,
                 "runs at a time, a thread each; 0: one per physical core (never changes a result)")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
  sub.callback([&] { command = [&] { return zoo(options); }; });
}

struct Arguments {
  LessonOptions lesson;
  LimitsOptions limits;
  MainOptions window, compare;
  TrainOptions train;
  BenchOptions bench;
  ScreenshotOptions screenshot;
  VerifyOptions verify;
  TranslateOptions translate;
  BleuOptions bleu;
  MeasureOptions measure;
  AverageOptions average;
  AdminFoldOptions admin_fold;
  ZooOptions zoo;
  std::string shell;
};

void add_described(CLI::App& app, std::string& shell, std::function<Exit()>& command) {
  CLI::App& complete =
      *app.add_subcommand("completion", "Print a completion script: source <(normscope completion bash)");
  complete.add_option("shell", shell, "the shell that it is for")
      ->check(CLI::IsMember(shell_names()))
      ->type_name("SHELL")
      ->required();
  complete.callback([&] {
    command = [&] {
      put(completion(describe(app), shell));
      return Exit::ok;
    };
  });
  app.add_subcommand("man", "Print the manual page: normscope man | man -l -")->callback([&] {
    command = [&] {
      put(man_page(describe(app)));
      return Exit::ok;
    };
  });
}

/// What holds for options of every command: '' names no file and is refused rather than taken for an option
/// that was not given; an empty list is no default to tell of.
void finish_options(CLI::App& app) {
  static const CLI::Validator named(
      [](std::string& name) { return name.empty() ? std::string("expected a name, not ''") : std::string(); },
      "", "named");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_default_str() == "[]") option->default_str("");
    const std::string type = option->get_type_name();
    if (type.starts_with("FILE") || type.starts_with("DIR")) option->check(named);
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) finish_options(*sub);
}

void add_all(CLI::App& app, Arguments& arguments, std::function<Exit()>& command) {
  app.name("normscope");
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", "normscope " NORMSCOPE_VERSION);
  add_main_options(app, arguments.window);
  add_look(app, arguments.window.theme, arguments.window.scale);
  app.add_flag("--safe-mode", arguments.window.safe_mode, "the window without settings and autosave");
  app.add_option("--frame-log", arguments.window.frame_log, "what every frame of the window costs, as CSV")
      ->type_name("FILE");
  app.add_flag("--window", arguments.window.window, "fail (4) instead of training without a window");
  add_train(app, arguments.train, command);
  add_bench(app, arguments.bench, command);
  CLI::App& sub = *app.add_subcommand("compare", "Train the three runs without a window, print their table");
  sub.footer(kFooter);
  add_main_options(sub, arguments.compare);
  sub.callback([&] { command = [&] { return compare(arguments.compare); }; });
  add_screenshot(app, arguments.screenshot, command);
  add_verify(app, arguments.verify, command);
  add_translate(app, arguments.translate, command);
  add_bleu(app, arguments.bleu, command);
  add_measure(app, arguments.measure, command);
  add_average(app, arguments.average, command);
  add_admin_fold(app, arguments.admin_fold, command);
  add_lesson(app, arguments.lesson, arguments.limits, command);
  add_zoo(app, arguments.zoo, command);
  add_described(app, arguments.shell, command);
  finish_options(app);
}

Exit parse_and_run(int argc, const char* const* argv) {
  Arguments arguments;
  std::function<Exit()> command = [&] { return open_window(arguments.window); };
  CLI::App app{
      "normscope: see why the place of layer normalization decides whether a transformer trains.\n"
      "Without a command it opens the window; without a display it does what compare does."};
  add_all(app, arguments, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error, std::cout, std::cerr);
      std::cout.flush();
      return Exit::ok;
    }
    throw CommandError(Exit::usage, fmt::format("{} (normscope --help shows the options)", error.what()));
  }
  // Said here and not by a thread that trains.
  if (std::getenv("NORMSCOPE_ISA")) with_exit(Exit::usage, [] { cpu::check_instruction_set(); });
  return command();
}

int refuse(Exit code, const char* message) noexcept {
  complain(message);
  return static_cast<int>(code);
}

/// A result that could not be printed is no result: a full disk behind standard output ends with 5; a reader that
/// went away ends it as an interruption does.
int finished(Exit code) noexcept {
  const std::string lost = print_error();
  if (lost.empty() || code == Exit::interrupted) return static_cast<int>(code);
  complain("standard output cannot be written: " + lost);
  if (code != Exit::ok) return static_cast<int>(code);
  return static_cast<int>(lost == std::strerror(EPIPE) ? Exit::interrupted : Exit::internal);
}

}  // namespace

int run(int argc, const char* const* argv) noexcept {
  try {
    prepare_streams();
    return finished(parse_and_run(argc, argv));
  } catch (const CommandError& error) {
    return refuse(error.code, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(Exit::internal, "out of memory");
  } catch (const std::exception& error) {
    return refuse(Exit::internal, error.what());
  } catch (...) {
    return refuse(Exit::internal, "an unknown error");
  }
}

}  // namespace normscope::cli
