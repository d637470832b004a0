#include "app/cli/options.h"

#include <CLI/CLI.hpp>

#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope::cli {

CLI::Validator whole(int64_t low, int64_t high) {
  const auto read = [low, high](std::string& text) {
    int64_t value = 0;
    if (!parse_integer(text, value))
      return fmt::format("'{}' is not a whole number: expected {} to {}", text, low, high);
    if (value < low || value > high)
      return fmt::format("{} is out of range: expected {} to {}", text, low, high);
    text = std::to_string(value);  // which is the same number in any base that the option might guess
    return std::string();
  };
  return {read, fmt::format("INT in [{} - {}]", low, high), ""};
}

void add_backend(CLI::App& app, BackendOptions& options, const char* standard) {
  app.add_option("--backend", options.backend,
                 "where runs train: cpu, or cuda on an NVIDIA GPU (the same numbers within rounding)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("NAME")
      ->default_str(standard);
  app.add_flag("--tf32", options.tf32, "with --backend cuda: matrix products with 10-bit mantissas, faster");
}

void add_look(CLI::App& app, std::string& theme, double& scale, bool both) {
  app.add_option("--theme", theme, both ? "light, dark or both (two pictures)" : "light or dark")
      ->check(CLI::IsMember(both ? std::vector<std::string>{"light", "dark", "both"}
                                 : std::vector<std::string>{"light", "dark"}))
      ->type_name("NAME");
  CLI::Option* size = app.add_option("--scale", scale, "size of everything")
                          ->check(CLI::Range(0.75, 2.5))
                          ->type_name("FACTOR");
  if (scale == 0) size->default_str("as remembered");
}

void add_steps(CLI::App& app, int32_t& steps, const char* help) {
  CLI::Option* option =
      app.add_option("--steps", steps, help)->transform(whole(1, 10'000'000))->type_name("N");
  if (steps == 0) option->default_str("as the runs have it");
}

void add_seed(CLI::App& app, int64_t& seed) {
  app.add_option("--seed", seed, "seed of weights, batches and dropout")
      ->transform(whole(0, static_cast<int64_t>(find_field("run.seed")->high)))
      ->type_name("N")
      ->default_str("as the runs have it");
}

void add_runs(CLI::App& app, std::vector<std::string>& runs, std::vector<std::string>& sets,
              std::vector<std::string>& edits) {
  app.add_option("--run", runs, "a run from a preset, as A=post; can be repeated, in letter order")
      ->type_name("LETTER=PRESET")
      ->allow_extra_args(false);
  app.add_option("--set", sets, "a field of every run or of one, as B:train.lr=1e-3; can be repeated")
      ->type_name("[LETTER:]KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--edit", edits,
                 "change a field at a step, as 214:train.lr=1e-3 or A:214:lr=1e-3; can be repeated")
      ->type_name("[LETTER:]STEP:KEY=VALUE")
      ->allow_extra_args(false);
}

CLI::Option* add_link(CLI::App& app, std::string& link) {
  return app
      .add_option("--link", link,
                  "the runs, step and view of a link, as the window copies it (docs/links.md)")
      ->type_name("LINK");
}

void add_threads(CLI::App& app, int32_t& threads) {
  app.add_option("--threads", threads,
                 "threads that train; 0: one per core it may use (never changes a result)")
      ->transform(whole(0, 256))
      ->type_name("N");
}

void add_store(CLI::App& app, StoreOptions& options) {
  app.add_option("--store", options.folder, "the folder that keeps each run's result; none: nothing is kept")
      ->type_name("DIR")
      ->default_str("in the user's cache");
  app.add_option(
         "--shard", options.shard,
         "train only part I of N, counted from 0, and judge nothing, so that machines can share the runs")
      ->type_name("I/N");
}

void add_main_runs(CLI::App& app, MainOptions& options) {
  CLI::Option* text =
      app.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  CLI::Option* config =
      app.add_option("--config", options.config, "the runs of a TOML file instead of the three built in")
          ->type_name("FILE")
          ->excludes(text);
  add_runs(app, options.runs, options.set, options.edits);
  app.get_option("--run")->excludes(config);  // --run would silently replace the runs of the file
  add_link(app, options.link)->excludes(config)->excludes(app.get_option("--run"));
  add_steps(app, options.steps, "budget of steps");
  app.add_option("--seeds", options.seeds, "without a window: train with seeds 1 to N")
      ->transform(whole(1, 1000))
      ->type_name("N");
}

void add_main_options(CLI::App& app, MainOptions& options, const char* standard_backend) {
  add_main_runs(app, options);
  app.add_option("--out", options.out, "without a window: folder of the log and the screenshots")
      ->type_name("DIR")
      ->default_str("out");
  add_threads(app, options.threads);
  add_backend(app, options.backend, standard_backend);
}

}  // namespace normscope::cli
