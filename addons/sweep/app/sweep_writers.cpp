#include "addons/sweep/app/sweep_writers.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/words/words.h"
#include "training/experiments/table.h"
#include "training/io/codec.h"
#include "training/io/text.h"

namespace normscope::sweep {
namespace {

using Json = nlohmann::json;
using experiments::Column, experiments::Table, experiments::TableRow;

constexpr size_t kMaxColumns = 10;  ///< the most columns that a table for a terminal has

/// Writes "↘ 1.86", or with several seeds "↘ 1.86 3/3".
std::string cell_text(const Cell& cell, Metric metric) {
  std::string text = cell.mark();
  if (cell.failed() || (cell.known == 0 && !is_predicted(metric))) return text;
  text += " " + value_text(cell, metric);
  if (cell.known > 1) text += fmt::format(" {}/{}", cell.count(Verdict::Learns), cell.known);
  return text;
}

/// Makes a row for every value of the second axis, the last at the top as in the picture, and a foot.
Table upright(const Grid& grid, Metric metric) {
  const Plan& plan = grid.plan;
  Table table{std::vector<Column>(plan.columns() + 1)};
  for (size_t row = plan.rows(); row-- > 0;) {
    TableRow cells{plan.axes.size() > 1 ? plan.axes[1].values[row] : ""};
    for (size_t column = 0; column < plan.columns(); ++column)
      cells.emplace_back(cell_text(grid.at(column, row), metric));
    table.rows.push_back(std::move(cells));
  }
  TableRow foot{""};
  foot.insert(foot.end(), plan.axes[0].values.begin(), plan.axes[0].values.end());
  table.rows.push_back(std::move(foot));
  return table;
}

Table lying(const Grid& grid, Metric metric) {
  const Plan& plan = grid.plan;
  Table table{{Column{}}};
  if (plan.axes.size() > 1)
    for (const std::string& value : plan.axes[1].values) table.columns.push_back({"", value});
  else
    table.columns.push_back({"", info(metric).name});
  for (size_t column = 0; column < plan.columns(); ++column) {
    TableRow cells{plan.axes[0].values[column]};
    for (size_t row = 0; row < plan.rows(); ++row)
      cells.emplace_back(cell_text(grid.at(column, row), metric));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string axes_text(const Plan& plan, bool lies) {
  const std::string first = fmt::format("{}: {}", lies ? "down" : "across", plan.axes[0].title());
  if (plan.axes.size() == 1) return first;
  return fmt::format("{}; {}: {}", first, lies ? "across" : "up", plan.axes[1].title());
}

/// The columns of a run in CSV and JSON.
std::vector<Column> run_columns() {
  std::vector<Column> columns =
      experiments::data_columns({"seed", "verdict", "steps", "since", "loss", "unigram", "beta2",
                                 "gradient_first", "gradient_last", "score"});
  for (const char* key : {"what", "beta2_reason"}) columns.push_back({key, "", experiments::Kind::Note});
  return columns;
}

TableRow run_row(size_t seed, const RunNumbers& r) {
  const auto words = [](const std::string& text) {
    return text.empty() ? experiments::Cell() : experiments::Cell(text);
  };
  return {seed,
          std::string(word_of(r.verdict.kind)),
          r.steps,
          r.verdict == Verdict::Learns ? r.verdict.since : 0,
          r.loss,
          r.level,
          r.beta2,
          r.gradient_first,
          r.gradient_last,
          std::isnan(r.score) ? experiments::Cell() : experiments::Cell(r.score),
          words(r.what()),
          words(r.beta2_reason)};
}

/// Concatenates the columns or cells of two tables.
template <typename List>
List joined(List first, const List& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Json cell_json(const Grid& grid, const Cell& cell) {
  Table runs{run_columns()};
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) runs.rows.push_back(run_row(i + 1, *cell.runs[i]));
  Json json = {{"verdict", cell.tally()},
               {"learns", cell.count(Verdict::Learns)},
               {"known", cell.known},
               {"since", cell.since()},
               {"loss", number_json(cell.mean)},
               {"loss_low", number_json(cell.low)},
               {"loss_high", number_json(cell.high)},
               {"loss_deviation", number_json(cell.deviation)},
               {"gradient_first", number_json(cell.gradient)},
               {"gradient_ratio", number_json(cell.ratio)},
               {"beta2", number_json(cell.beta2)},
               {"runs", to_json(runs)},
               {"column", cell.column},
               {"row", cell.row},
               {"sign", cell.sign()},
               {"learned", number_json(share_learned(grid, cell))},
               {"values", Json::object()}};
  if (std::isfinite(cell.score)) json["score"] = number_json(cell.score);
  for (size_t i = 0; i < grid.plan.axes.size(); ++i)
    json["values"][grid.plan.axes[i].key] = grid.plan.axes[i].values[i == 0 ? cell.column : cell.row];
  if (!cell.refused.empty()) json["refused"] = cell.refused;
  json["predicted"] = {{"cosine", number_json(cell.predicted.cosine)},
                       {"gradient", number_json(cell.predicted.gradient)}};
  if (!cell.predicted.objection.empty()) json["predicted"]["objection"] = cell.predicted.objection;
  if (!grid.plan.measure.empty()) json["measured"] = number_json(cell.measured);
  for (Json& run : json["runs"]) {
    const RunNumbers& one = *cell.runs[run["seed"].get<size_t>() - 1];
    run["learned"] = number_json(share_learned(grid, one));
    if (!grid.plan.measure.empty()) run["measured"] = number_json(one.asked);
  }
  return json;
}

/// Gives the level of letter frequencies and the best cell, unless the cells read different data.
std::string ends_text(const Grid& grid) {
  if (!grid.one_data())
    return "These are " + tr("cells of different data: their losses do not compare") + ".";
  return fmt::format("The line of {}: {} {}; best cell: {}.", words::spoken(frequencies_of(grid.unit())),
                     words::with_decimal(fixed(grid.level)), words::spoken(nats_per(grid.unit())),
                     words::with_decimal(fixed(grid.best)));
}

bool steps_vary(const Plan& plan) {
  return std::ranges::any_of(plan.axes, [](const Axis& axis) { return axis.key == "train.steps"; });
}

/// Explains the signs, the ends of the losses, and which steps a loss is the mean of.
std::string key_text(const Grid& grid) {
  const Plan& plan = grid.plan;
  return fmt::format(
      "↘ learns, — stuck, ~ too slow to tell, ↗ diverges, × not finite, ? seeds disagree, … not decided, ! cannot be trained, "
      "· not yet{}.\n{}",
      plan.seeds > 1 || !plan.more.empty() ? "; 2/3: two of three seeds learn" : "", level_text(grid));
}

/// Why cells cannot be trained or, for a predicted number, have none; cells with one reason share a line.
std::string refusals_text(const Grid& grid, Metric metric) {
  std::vector<std::pair<std::string, std::string>> cells_of;  // by the reason
  for (const Cell& cell : grid.cells) {
    std::string why = cell.refused;
    if (why.empty() && is_predicted(metric) && !cell.predicted.objection.empty())
      why = tr("no prediction: {why}", {{"why", words::spoken(cell.predicted.objection)}});
    if (why.empty()) continue;
    const auto at = std::ranges::find(cells_of, why, [](const auto& one) { return one.first; });
    if (at == cells_of.end())
      cells_of.emplace_back(why, grid.text_of(cell));
    else
      at->second += "; " + grid.text_of(cell);
  }
  std::string out;
  for (const auto& [why, cells] : cells_of) out += fmt::format("{}: {}\n", cells, why);
  return out;
}

std::string cells_words(int64_t count) { return tr("{count} cell | {count} cells", {{"count", count}}); }
std::string runs_words(int64_t count) { return tr("{count} run | {count} runs", {{"count", count}}); }

std::string seeds_words(const std::vector<size_t>& seeds) {
  std::vector<std::string> names;
  for (const size_t seed : seeds) names.push_back(std::to_string(seed));
  return tr("seed {names} | seeds {names}", {{"count", seeds.size()}, {"names", in_words(names, tr("and"))}});
}

/// Says "The largest learning rate that learns: 0.0014 at warm-up 0, 0.014 at warm-up 200.", for
/// the lowest row and the highest. It is empty unless learning begins at the left in every row and ends within one.
std::string largest_that_learns(const Grid& grid) {
  const Plan& plan = grid.plan;
  if (plan.axes.size() < 2 || !is_numeric(plan.axes[0]) || plan.rows() < 2) return "";
  std::vector<size_t> counts;
  for (size_t row = 0; row < plan.rows(); ++row) {
    size_t learn = 0;
    for (size_t column = 0; column < plan.columns(); ++column) {
      const grid::Side side = side_of(grid.at(column, row));
      if (side == grid::Side::None || (side == grid::Side::Learns && column > learn)) return "";
      learn += side == grid::Side::Learns;
    }
    counts.push_back(learn);
  }
  if (counts.front() == counts.back() || std::min(counts.front(), counts.back()) == 0) return "";
  const auto part = [&](size_t row) {
    return tr("{value} at {axis} {where}", {{"value", plan.axes[0].said(counts[row] - 1)},
                                            {"axis", plan.axes[1].label()},
                                            {"where", plan.axes[1].said(row)}});
  };
  return tr(" The largest {axis} that learns: {first}, {last}.",
            {{"axis", plan.axes[0].label()}, {"first", part(0)}, {"last", part(plan.rows() - 1)}});
}

}  // namespace

std::string loss_window_text(const Grid& grid) {
  const int32_t steps = base_of(grid.plan).train.steps;
  if (steps_vary(grid.plan))
    return tr("the last {steps} steps, or of all where there are fewer", {{"steps", RunNumbers::kWindow}});
  return steps < RunNumbers::kWindow ? tr("all {steps} steps", {{"steps", steps}})
                                     : tr("the last {steps} steps", {{"steps", RunNumbers::kWindow}});
}

std::string level_text(const Grid& grid) {
  return fmt::format("{} Losses: mean of {}.\n", ends_text(grid), loss_window_text(grid));
}

std::string loss_note(const Grid& grid) {
  return tr("{unit}, mean of {window}",
            {{"unit", words::spoken(nats_per(grid.unit()))}, {"window", loss_window_text(grid)}});
}

std::string setting_text(const Grid& grid) {
  const Plan& plan = grid.plan;
  const RunSpec base = base_of(plan);
  std::string text =
      tr(plan.more.empty() ? "{count} seed a cell | {count} seeds a cell"
                           : "{count} seed a cell, more in regions | {count} seeds a cell, more in regions",
         {{"count", plan.seeds}});
  if (!steps_vary(plan)) text = tr("{steps} steps, {seeds}", {{"steps", base.train.steps}, {"seeds", text}});
  if (!plan.set.empty()) text += fmt::format("; {}", fmt::join(plan.set, " "));
  return text;
}

std::string to_text(const Grid& grid, Metric metric) {
  const Plan& plan = grid.plan;
  const bool lies = plan.columns() > kMaxColumns && plan.rows() < plan.columns();
  std::string out =
      fmt::format("{}; {}\n{}\n\n", title_of(grid, metric), setting_text(grid), axes_text(plan, lies));
  out += experiments::to_text(lies ? lying(grid, metric) : upright(grid, metric));
  return out + "\n" + key_text(grid) + refusals_text(grid, metric);
}

Json to_json(const Grid& grid) {
  const Plan& plan = grid.plan;
  Json json = {{"format", "normscope sweep 1"},
               {"set", plan.set},
               {"steps", base_of(plan).train.steps},
               {"seeds", plan.seeds},
               {"more_seeds", Json::array()},
               {"axes", Json::array()},
               {"unigram", number_json(grid.level)},
               {"best", number_json(grid.best)},
               {"losses_compare", grid.one_data()},
               {"complete", grid.complete},
               {"cells", Json::array()},
               {"border", Json::array()}};
  for (const MoreSeeds& more : plan.more) json["more_seeds"].push_back(to_text(more, plan));
  if (!grid.plan.measure.empty()) json["measure"] = grid.plan.measure;
  for (const Axis& axis : plan.axes)
    json["axes"].push_back(
        {{"key", axis.key}, {"title", axis.title()}, {"text", to_text(axis)}, {"values", axis.values}});
  for (const Cell& cell : grid.cells) json["cells"].push_back(cell_json(grid, cell));
  for (const grid::Segment& s : border_of(grid)) json["border"].push_back({s.x0, s.y0, s.x1, s.y1});
  return json;
}

std::string to_csv(const Grid& grid) { return to_csv({{"", &grid}}); }

std::string to_csv(const std::vector<std::pair<std::string, const Grid*>>& parts) {
  using experiments::data_columns;
  std::vector<std::string> keys;  // of the axes of all parts
  bool measured = false;
  for (const auto& [name, grid] : parts) {
    measured = measured || !grid->plan.measure.empty();
    for (const Axis& axis : grid->plan.axes)
      if (std::ranges::find(keys, axis.key) == keys.end()) keys.push_back(axis.key);
  }
  const bool named = !parts.empty() && !parts.front().first.empty();
  Table table;
  if (named) table.columns = data_columns({"part"});
  for (const std::string& key : keys) table.columns.push_back({key, "", experiments::Kind::Data});
  table.columns = joined(joined(table.columns, run_columns()), data_columns({"learned"}));
  if (measured) table.columns = joined(table.columns, data_columns({"measured"}));
  for (const auto& [name, grid] : parts)
    for (const Cell& cell : grid->cells)
      for (size_t i = 0; i < cell.runs.size(); ++i) {
        if (!cell.runs[i]) continue;
        TableRow row;
        if (named) row.emplace_back(name);
        for (const std::string& key : keys) {
          const std::vector<Axis>& axes = grid->plan.axes;
          const auto axis = std::ranges::find(axes, key, &Axis::key);
          row.push_back(axis == axes.end() ? experiments::Cell()
                                           : axis->values[axis == axes.begin() ? cell.column : cell.row]);
        }
        row = joined(std::move(row), run_row(i + 1, *cell.runs[i]));
        row.emplace_back(share_learned(*grid, *cell.runs[i]));
        if (measured) row.emplace_back(cell.runs[i]->asked);
        table.rows.push_back(std::move(row));
      }
  return experiments::to_csv(table);
}

std::string picture_text(const Grid& grid, Metric metric, const std::string& picture) {
  const std::string refused = metric == Metric::Measured ? "" : refusals_text(grid, metric);
  return fmt::format("\n![{}]({})\n{}{}", title_of(grid, metric), picture, refused.empty() ? "" : "\n",
                     refused);
}

std::string section_text(const Grid& grid, Metric metric, const std::string& picture) {
  std::string out;
  if (!picture.empty()) out += fmt::format("\n![{}]({})\n", title_of(grid, metric), picture);
  out +=
      fmt::format("\n{}.\n\n{}", axes_text(grid.plan, true), experiments::to_markdown(lying(grid, metric)));
  if (metric == Metric::Measured) return out;  // the losses are above it, with the key
  return out + "\n" + key_text(grid) + refusals_text(grid, metric);
}

std::string to_markdown(const Grid& grid, Metric metric, const std::string& picture,
                        const std::string& command) {
  return fmt::format("# Sweep: {}\n\nMade by `{}`: {}.\n", info(metric).title(), command,
                     setting_text(grid)) +
         section_text(grid, metric, picture);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string why_not(const Message& error) {
  const std::string why = words::spoken(without_where(error));
  const Field* field = find_field(where_of(error));
  return field ? words::spoken(field->label) + ": " + why : why;
}

std::string grid_sentence(const Grid& grid) {
  int64_t known = 0, learn = 0, disagree = 0;
  bool several = false;
  for (const Cell& cell : grid.cells) {
    if (side_of(cell) == grid::Side::None) continue;
    ++known;
    learn += side_of(cell) == grid::Side::Learns;
    disagree += cell.differs();
    several = several || cell.known > 1;
  }
  if (known == 0) return "";
  std::string text =
      grid.one_data() ? "" : capitalised(tr("cells of different data: their losses do not compare")) + ". ";
  text += several ? tr("At least half of the seeds learn in {learn} of {cells}",
                       {{"learn", learn}, {"cells", cells_words(known)}})
                  : tr("{learn} of {cells} learn", {{"learn", learn}, {"cells", cells_words(known)}});
  if (disagree > 0) text += tr("; seeds disagree in {cells}", {{"cells", disagree}});
  return text + "." + largest_that_learns(grid);
}

std::string cell_badge(const Cell& cell) {
  if (cell.failed()) return tr("cannot be trained");
  if (cell.known > 1)
    return tr("learns in {learn} of {all} seeds",
              {{"learn", cell.count(Verdict::Learns)}, {"all", cell.known}});
  return cell.words();
}

std::string cell_sentence(const Cell& cell) {
  if (!cell.refused.empty()) return why_not(cell.refused);
  if (cell.known == 0) return tr("Not trained yet.");
  std::vector<size_t> learn, others;
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) (cell.runs[i]->verdict == Verdict::Learns ? learn : others).push_back(i + 1);
  if (cell.known == 1) {
    const RunNumbers& run = **std::ranges::find_if(cell.runs, [](const auto& r) { return r.has_value(); });
    if (cell.verdict == Verdict::Learns)
      return tr("It leaves the plateau at step {step}.", {{"step", cell.since()}});
    if (cell.verdict == Verdict::NotFinite) return tr("Not finite: {what}.", {{"what", run.what()}});
    if (cell.verdict == Verdict::Stuck) return tr("It never leaves the plateau.");
    if (cell.verdict == Verdict::TooSlow)
      return tr("Its loss still falls, and has not come as far as the plateau: too slow to tell.");
    if (cell.verdict == Verdict::Diverges) return tr("At the end it is worse than guessing.");
    return tr("Too few steps for a verdict.");
  }
  if (!learn.empty() && !others.empty()) {
    const std::string rest =
        tr("{seeds} does not | {seeds} do not", {{"count", others.size()}, {"seeds", seeds_words(others)}});
    if (learn.size() > 1)
      return tr("Luck decides: {seeds} learn, {others}.", {{"seeds", seeds_words(learn)}, {"others", rest}});
    return tr(
        "Luck decides: seed {seed} learns from step {step}, {others}.",
        {{"seed", learn.front()}, {"step", cell.runs[learn.front() - 1]->verdict.since}, {"others", rest}});
  }
  if (others.empty())
    return tr("Every seed learns, from step {step} in the median.", {{"step", cell.since()}});
  return tr("No seed learns.");
}

std::string predicted_sentence(const Cell& cell) {
  const theory::AtStart& at = cell.predicted;
  if (!at.objection.empty())
    return capitalised(tr("no prediction: {why}", {{"why", words::spoken(at.objection)}}));
  if (!std::isfinite(at.cosine)) return tr("Not trained yet.");
  return tr(
      "Before training, theory expects a cosine of {cosine} between two tokens, and at the "
      "bottom of the stack {gradient} times the gradient at its top.",
      {{"cosine", value_text(cell, Metric::PredictedCosine)},
       {"gradient", value_text(cell, Metric::PredictedGradient)}});
}

std::string region_sentence(const Grid& grid, const Brush& brush) {
  int64_t disagree = 0;
  int32_t fewest = 0;
  bool any = false;
  for (const Cell& cell : grid.cells) {
    if (!brush.holds(cell.column, cell.row)) continue;
    disagree += cell.differs();
    fewest = any ? std::min(fewest, cell.known) : cell.known;
    any = true;
  }
  if (fewest < 2) return tr("One seed cannot tell luck: ask for more.");
  return tr("The seeds disagree in {cells} of {all}.",
            {{"cells", disagree}, {"all", cells_words(static_cast<int64_t>(brush.cells()))}});
}

std::string extent_words(const Plan& plan) {
  return fmt::format("{}, {}", cells_words(static_cast<int64_t>(plan.columns() * plan.rows())),
                     runs_words(plan.runs()));
}

std::string progress_words(const SweepState& state, bool clock, double seconds) {
  const auto running = static_cast<int64_t>(state.under_way.size());
  if (!state.error.empty()) return words::spoken(state.error);
  switch (state.phase) {
    case Phase::Looking:
      return tr("looking for finished runs");
    case Phase::Training: {
      std::string text =
          tr("{running} running, {waiting} waiting",
             {{"running", running}, {"waiting", std::max<int64_t>(0, state.left() - running)}});
      if (clock && std::isfinite(state.seconds_left))
        text += tr(", {time} left", {{"time", duration_words(state.seconds_left)}});
      return text;
    }
    case Phase::Paused:
      return tr("paused, {runs} left", {{"runs", runs_words(state.left())}});
    case Phase::Stopped:
      return tr("stopped, {runs} left; what ran is kept", {{"runs", state.left()}});
    case Phase::Done:
      return tr("done");
    case Phase::Ready:
      break;
  }
  if (state.left() == 0) return tr("done");
  std::string text = tr("{runs} to train", {{"runs", runs_words(state.left())}});
  if (clock && std::isfinite(seconds)) text += tr(", about {time}", {{"time", duration_words(seconds)}});
  return text;
}

}  // namespace normscope::sweep
