// See arguments.h.
#include "app/cli/arguments.h"

#include <CLI/CLI.hpp>

namespace normscope::cli {

void add_threads(CLI::App& app, int32_t& threads) {
  app.add_option("--threads", threads,
                 "threads that train; 0: one per physical core (never changes a result)")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
}

void add_measure(CLI::App& app, MeasureOptions& options, std::function<Exit()>& command) {
  CLI::App& sub =
      *app.add_subcommand("measure", "Look into a saved run: what its layers, norms and gradients do");
  sub.footer(kFooter);
  sub.add_option("run", options.file, "a saved run")->type_name("FILE")->required();
  sub.add_option("--what", options.what, "what is measured")
      ->check(CLI::IsMember(measurement_names()))
      ->type_name("NAME");
  sub.add_option("--without", options.without,
                 "ablation, loss: leave these out together, as L11,L12 or L03.attn")
      ->delimiter(',')
      ->type_name("NAMES");
  sub.add_option("--batches", options.batches, "gradients: mini-batches")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  sub.add_option("--epsilon", options.epsilon, "concentration: how far above the mean")
      ->check(CLI::Range(0.0, 1000.0))
      ->type_name("X");
  sub.add_option("--delta", options.delta, "concentration: which share may lie beyond")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("X");
  sub.add_flag("--json", options.json, "one JSON object instead of a table");
  add_threads(sub, options.threads);
  sub.callback([&] { command = [&] { return measure(options); }; });
}

void add_average(CLI::App& app, AverageOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand("average", "The mean weights of saved states, as a run that goes on");
  sub.footer(kFooter);
  sub.add_option("runs", options.files, "saved states of one model")->type_name("FILE")->required();
  sub.add_option("--out", options.out, "the run to write")->type_name("FILE")->required();
  sub.callback([&] { command = [&] { return average(options); }; });
}

void add_admin_fold(CLI::App& app, AdminFoldOptions& options, std::function<Exit()>& command) {
  CLI::App& sub = *app.add_subcommand(
      "admin-fold", "Write a saved Admin run as a plain Post-LN run that computes the same");
  sub.footer(kFooter);
  sub.add_option("in", options.in, "a saved run (safetensors) of placement admin or admin-paper")
      ->type_name("FILE")
      ->required();
  sub.add_option("out", options.out, "the run to write")->type_name("FILE")->required();
  sub.callback([&] { command = [&] { return admin_fold(options); }; });
}

}  // namespace normscope::cli
