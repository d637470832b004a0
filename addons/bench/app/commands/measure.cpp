// normscope measure: questions about a saved run that train nothing.
#include <fmt/format.h>

#include "addons/bench/training/measurements.h"
#include "app/commands/commands.h"
#include "training/io/codec.h"
#include "training/run/critical_rate.h"
#include "training/session/analysis.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct MeasureOptions {
  std::string file, what = "ablation";
  std::vector<std::string> without;     ///< ablation, loss: layers and sub-layers left out together
  int32_t batches = 8;                  ///< gradients
  double epsilon = 0.1, delta = 0.125;  ///< concentration
  bool json = false;
  int32_t threads = 0;
};

using nlohmann::json;

/// A table to print, the first column text and the others numbers; as JSON an object per row.
struct Table {
  std::vector<std::string> columns;  ///< names as in JSON
  std::vector<std::pair<std::string, std::vector<double>>> rows;
  json extra = json::object();   ///< further members of the JSON
  json objects = json::array();  ///< the rows as JSON, where they have more members

  void print() const {
    size_t width = 20;
    for (const auto& [name, numbers] : rows) width = std::max(width, name.size());
    say("{:<{}}", columns.front(), width);
    for (size_t c = 1; c < columns.size(); ++c) say(" {:>16}", columns[c]);
    say("\n");
    for (const auto& [name, numbers] : rows) {
      say("{:<{}}", name, width);
      for (double value : numbers) say(" {:>16.6g}", value);
      say("\n");
    }
  }
  json to_json() const {
    json result = extra;
    result["rows"] = objects;
    if (!objects.empty()) return result;
    for (const auto& [name, numbers] : rows) {
      json row = {{columns.front(), name}};
      for (size_t c = 0; c < numbers.size(); ++c) row[columns[c + 1]] = number_json(numbers[c]);
      result["rows"].push_back(row);
    }
    return result;
  }
};

Table ablation(Run& run, const MeasureOptions& options) {
  const Ablation a = layer_ablation(run, options.without);
  Table table{{"left_out", "loss", "change"}, {}};
  const auto add = [&](const std::string& name, double loss) {
    table.rows.push_back({name, {loss, loss - a.whole}});
  };
  add("nothing", a.whole);
  for (const auto* group : {&a.layers, &a.sublayers, &a.from_top})
    for (const Ablation::LeftOut& one : *group)
      if (group != &a.from_top || one.count > 1) add(one.name, one.loss);  // a single layer has a row already
  if (!a.chosen.empty()) add(fmt::format("{}", fmt::join(a.chosen, ",")), a.chosen_loss);
  return table;
}

Table jacobian(Run& run, const MeasureOptions&) {
  Table table{{"norm", "mean", "largest"}, {}};
  for (const NormJacobian& n : jacobian_norms(run)) table.rows.push_back({n.name, {n.mean, n.largest}});
  return table;
}

Table concentration(Run& run, const MeasureOptions& options) {
  Table table{{"sublayer", "mean_square_norm", "share_above", "epsilon"}, {}};
  table.extra = {{"asked_epsilon", options.epsilon}, {"asked_delta", options.delta}};
  for (const Concentration& c : concentrations(run, options.epsilon, options.delta))
    table.rows.push_back({c.name, {c.mean, c.delta, c.epsilon}});
  return table;
}

Table gradients(Run& run, const MeasureOptions& options) {
  Table table{{"parameter", "norm_of_mean", "mean_of_norms"}, {}};
  table.extra = {{"batches", options.batches}};
  for (const MeanGradient& g : mean_gradients(run, options.batches))
    table.rows.push_back({g.name, {g.norm_of_mean, g.mean_of_norms}});
  return table;
}

Table logits(Run& run, const MeasureOptions&) {
  Table table{{"sublayer", "largest", "root_mean_square"}, {}};
  for (const LogitSize& l : logit_sizes(run)) table.rows.push_back({l.name, {l.largest, l.root_mean_square}});
  return table;
}

Table update_ratio(Run& run, const MeasureOptions&) {
  Table table{{"layer", "update_rms", "weight_rms", "ratio"}, {}};
  for (const UpdateRatio& f : update_ratios(run))
    table.rows.push_back({f.name.empty() ? "(outside)" : f.name, {f.update, f.weight, f.ratio()}});
  return table;
}

Table update(Run& run, const MeasureOptions&) {
  Table table{{"layer", "spike_ratio", "update_cosine"}, {}};
  for (const UpdateNumbers& u : next_update(run))
    table.rows.push_back({u.name, {u.spike_ratio, u.update_cosine}});
  return table;
}

Table curvature(Run& run, const MeasureOptions&) {
  const NextCurvature next = next_curvature(run);
  return {{"along", "critical_rate", "curvature"},
          {{"update", {next.update.critical_rate, next.update.curvature}},
           {"gradient", {next.gradient.critical_rate, next.gradient.curvature}}}};
}

/// Two rows of each matrix: the update's and the weights'. As JSON they are one, with all values.
Table spectrum(Run& run, const MeasureOptions&) {
  Table table{
      {"matrix", "norm", "over_weights", "stable_rank", "effective_rank", "at_90%", "median", "at_10%"}, {}};
  for (const MatrixSpectra& m : next_spectra(run)) {
    json object = {{"matrix", m.name}, {"ratio", number_json(m.ratio())}};
    const auto add = [&](const char* what, const Spectrum& s) {
      table.rows.push_back({fmt::format("{} {}", m.name, what),
                            {s.norm(), s.norm() / m.weights.norm(), s.stable_rank(), s.effective_rank(),
                             s.share_at(0.9), s.share_at(0.5), s.share_at(0.1)}});
      object[what] = {{"norm", number_json(s.norm())},
                      {"stable_rank", number_json(s.stable_rank())},
                      {"effective_rank", number_json(s.effective_rank())},
                      {"singular_values", list_json(s.values)}};
    };
    add("update", m.update);
    add("weights", m.weights);
    table.objects.push_back(std::move(object));
  }
  return table;
}

Table loss(Run& run, const MeasureOptions& options) {
  Table table{{"left_out", "loss"}, {}};
  const std::string name =
      options.without.empty() ? "nothing" : fmt::format("{}", fmt::join(options.without, ","));
  table.rows.push_back({name, {loss_without(run, options.without)}});
  return table;
}

using Measurement = Table (*)(Run&, const MeasureOptions&);
const std::vector<std::pair<std::string, Measurement>>& measurements() {
  static const std::vector<std::pair<std::string, Measurement>> all = {{"ablation", ablation},
                                                                       {"jacobian", jacobian},
                                                                       {"concentration", concentration},
                                                                       {"gradients", gradients},
                                                                       {"logits", logits},
                                                                       {"update-ratio", update_ratio},
                                                                       {"update", update},
                                                                       {"spectrum", spectrum},
                                                                       {"curvature", curvature},
                                                                       {"loss", loss}};
  return all;
}

std::vector<std::string> measurement_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : measurements()) names.push_back(name);
  return names;
}

Exit measure(const MeasureOptions& options) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.file); });
  const std::shared_ptr<const Task> task = task_of(spec);
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.file, task, *backend); });
  for (const auto& [name, function] : measurements()) {
    if (name != options.what) continue;
    const Table table = with_exit(options.without.empty() ? Exit::Input : Exit::Usage,
                                  [&, measured = function] { return measured(*run, options); });
    if (options.json) {
      json result = table.to_json();
      result["what"] = name;
      result["step"] = run->steps_done();
      result["run"] = run->spec().name.empty() ? default_name(run->spec()) : run->spec().name;
      say("{}\n", result.dump(2));
    } else {
      table.print();
    }
    return Exit::Ok;
  }
  throw CommandError(Exit::Usage, fmt::format("'{}' cannot be measured: expected one of {}", options.what,
                                              fmt::join(measurement_names(), ", ")));
}

}  // namespace

void add_measure(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "measure", "Look into a saved run: what its layers, norms and gradients do", measure);
  add_value(sub, "run", options.file, "FILE", "a saved run")->required();
  add_value(sub, "--what", options.what, "NAME", "what is measured", CLI::IsMember(measurement_names()));
  sub.add_option("--without", options.without,
                 "ablation, loss: leave these out together, as L11,L12 or L03.attn")
      ->delimiter(',')
      ->type_name("NAMES");
  add_value(sub, "--batches", options.batches, "N", "gradients: mini-batches", whole(1, 100'000));
  add_value(sub, "--epsilon", options.epsilon, "X", "concentration: how far above the mean",
            CLI::Range(0.0, 1000.0));
  add_value(sub, "--delta", options.delta, "X", "concentration: which share may lie beyond",
            CLI::Range(0.0, 1.0));
  sub.add_flag("--json", options.json, "one JSON object instead of a table");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
