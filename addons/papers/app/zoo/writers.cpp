// The writers write the zoo as a table for a terminal, as JSON and as CSV (summary.h).
#include <fmt/format.h>

#include "addons/papers/app/zoo/summary.h"
#include "training/data/data_identity.h"
#include "training/io/number_json.h"
#include "training/io/text_table.h"

namespace normscope::zoo {
namespace {

using Json = nlohmann::json;
using experiments::Column, experiments::Kind, experiments::Table, experiments::TableRow;

TableRow cells_of(const Row& row) {
  const bool system = row.layers == 0;
  TableRow cells = {row.entry.name};
  if (!system) cells.emplace_back(fixed(row.beta2, 2));
  for (const Arm& arm : row.arms) {
    cells.emplace_back(verdict_text(arm));
    cells.emplace_back(loss_text(arm));
    if (system) cells.emplace_back(score_text(arm));
    cells.emplace_back(power(arm.gradient));
  }
  return cells;
}

/// Has the entry, Σβ², then verdict, loss and gradient of each arm. Another system has no Σβ², but a score
/// for each arm.
std::vector<Column> head_of(const Row& row, const System* system) {
  std::vector<Column> columns = {{"", ""}};
  if (!system) columns.push_back({"", "Σβ²", Kind::Number});
  for (const Arm& arm : row.arms) {
    columns.push_back({"", fmt::format("warm-up {}", arm.warmup)});
    columns.push_back({"", "loss", Kind::Number});
    if (system) columns.push_back({"", system->score, Kind::Number});
    columns.push_back({"", "grad L1", Kind::Number});
  }
  return columns;
}

std::string system_tables(const Summary& summary) {
  std::string out;
  for (const System& system : systems()) {
    Table table;
    for (const Row& row : summary.rows) {
      if (row.entry.group != system.group) continue;
      if (table.rows.empty()) table = {head_of(row, &system), {{title(system.group)}}};
      table.rows.push_back(cells_of(row));
    }
    if (!table.rows.empty())
      out += fmt::format("\n{}\n\n{}", setting_text(summary.plan, system), experiments::to_text(table));
  }
  return out;
}

Json arm_json(const Arm& arm) {
  Json json = experiments::to_json(arm);
  json["warmup"] = arm.warmup;
  return json;
}

}  // namespace

std::string to_text(const Summary& summary) {
  std::string out;
  for (const int32_t layers : summary.plan.depths) {
    Table table;
    const Group* group = nullptr;
    for (const Row& row : summary.rows) {
      if (row.layers != layers) continue;
      if (table.rows.empty()) table.columns = head_of(row, nullptr);
      if (!group || *group != row.entry.group) table.rows.push_back({title(row.entry.group)});
      group = &row.entry.group;
      table.rows.push_back(cells_of(row));
    }
    if (table.rows.empty()) continue;
    out += fmt::format("{}{}\n\n{}", out.empty() ? "" : "\n", setting_text(summary.plan, layers),
                       experiments::to_text(table));
  }
  out += system_tables(summary);
  if (out.empty()) return "nothing was trained yet\n";
  if (out.starts_with('\n')) out.erase(0, 1);
  out += fmt::format(
      "\nThe line of {}: {} {}. loss: mean of the last {} steps, ± over the seeds. Σβ²: sum of the\n"
      "sub-layers' own shares at initialisation. grad L1: norm of ∂L/∂W2 in layer 1 at step {}.\n",
      frequencies_of(summary.unit), fixed(summary.level), nats_per(summary.unit), Record::kWindow,
      Record::kGradientStep);
  return out;
}

Json to_json(const Summary& summary) {
  Json json = {{"format", "normscope zoo table 1"}, {"unigram", number_json(summary.level)},
               {"seeds", summary.plan.seeds},       {"complete", summary.complete},
               {"base", summary.plan.base},         {"settings", Json::array()},
               {"entries", Json::array()},          {"study", Json::array()}};
  for (const int32_t layers : summary.plan.depths)
    json["settings"].push_back({{"layers", layers}, {"text", setting_text(summary.plan, layers)}});
  for (const System& system : systems())
    json["settings"].push_back(
        {{"group", to_string(system.group)}, {"text", setting_text(summary.plan, system)}});
  for (const Row& row : summary.rows) {
    Json entry = {{"name", row.entry.name},
                  {"title", row.entry.title},
                  {"group", to_string(row.entry.group)},
                  {"source", row.entry.source},
                  {"set", row.entry.set},
                  {"layers", row.layers},
                  {"beta2", number_json(row.beta2)},
                  {"arms", {arm_json(row.arms[0]), arm_json(row.arms[1])}}};
    if (!row.beta2_reason.empty()) entry["beta2_reason"] = row.beta2_reason;
    json["entries"].push_back(std::move(entry));
  }
  constexpr const char* results[] = {"agrees", "differs", "partly", "unknown"};
  for (const Judged& judged : judge(summary))
    json["study"].push_back({{"entry", judged.claim.entry},
                             {"layers", judged.claim.layers},
                             {"warmup", judged.claim.warmup},
                             {"study", judged.claim.study},
                             {"here", judged.here},
                             {"result", results[static_cast<size_t>(judged.result)]}});
  return json;
}

std::string to_csv(const Summary& summary) {
  using namespace experiments;
  experiments::Table table{joined(data_columns({"entry", "group", "layers", "warmup"}), run_columns())};
  for (const Row& row : summary.rows)
    for (const Arm& arm : row.arms)
      for (size_t i = 0; i < arm.runs.size(); ++i)
        if (arm.runs[i])
          table.rows.push_back(
              joined(TableRow{row.entry.name, to_string(row.entry.group), row.layers, arm.warmup},
                     run_row(i + 1, *arm.runs[i])));
  return experiments::to_csv(table);
}

}  // namespace normscope::zoo
