#include "addons/papers/app/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "addons/papers/app/input_kinds.h"
#include "app/words/words.h"
#include "training/experiments/table.h"
#include "training/files/places.h"
#include "training/io/text.h"
#include "training/io/toml.h"

namespace normscope::sweep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxStudies = 1000;
constexpr std::string_view kNumbers[] = {"beta2", "verdict", "loss", "score", "gradient"};

bool is_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == name.npos;
}

std::vector<Bundle> rows_of(Table& part) {
  std::vector<Bundle> rows;
  for (Table& table : part.tables("row")) {
    rows.push_back({table.text("name"), table.text("title"), table.text("source"), table.texts("set")});
    if (!is_name(rows.back().name))
      table.refuse("name",
                   Message("'{}': expected small letters, digits, hyphens and points", rows.back().name));
    try {
      for (const std::string& edit : table.texts("edits")) rows.back().edits.push_back(edit_from(edit));
    } catch (const Error& error) {
      table.refuse("edits", error.message);
    }
    table.done();
  }
  return rows;
}

/// A title or source of a value of a setting; "" where there is none.
std::string said(std::string_view key, std::string_view value, const char* what) {
  const std::string setting(key.substr(key.find('.') + 1));
  const std::string* text =
      words::of_window().find(setting == "norm" ? fmt::format("norms.{}.{}", value, what)
                                                : fmt::format("zoo.{}.{}.{}", setting, value, what));
  return text ? *text : "";
}

/// Rows for every value of a setting that no row of the study names, so that none is forgotten: each with every
/// placement of `on`, or alone without any.
std::vector<Bundle> every_row(Table& part, const std::vector<Bundle>& named) {
  const std::string key = part.text("every", ""), prefix = part.text("prefix", "");
  const std::vector<std::string> on = part.texts("on"), without = part.texts("without");
  const Field* field = key.empty() ? nullptr : find_field(key);
  if (!key.empty() && (!field || field->choices.empty()))
    part.refuse("every", Message("'{}': expected a setting with choices, such as model.norm", key));
  std::vector<Bundle> rows;
  for (const std::string_view choice : field ? field->choices : decltype(field->choices){}) {
    const std::string value(choice), set = key + "=" + value, title = said(key, value, "title");
    const std::string alone = prefix.empty() ? value : prefix + "-" + value;
    const bool known = std::ranges::any_of(named, [&](const Bundle& row) {
      return on.empty() ? row.name == alone : std::ranges::find(row.set, set) != row.set.end();
    });
    const bool plain = !on.empty() && (value == get_field(preset_run("post"), key) || value == "none");
    if (known || plain || value == "custom" || std::ranges::find(without, value) != without.end()) continue;
    for (const std::string& placement : on)
      rows.push_back({placement + "-" + value,
                      fmt::format("{}, {}", label(placement_from(placement)), title.empty() ? value : title),
                      said(key, value, "source"),
                      {"model.placement=" + placement, set}});
    const bool placed = key == "model.placement";
    if (on.empty())
      rows.push_back({alone,
                      placed ? label(placement_from(value)) : title,
                      placed ? row_of(placement_from(value)).source : said(key, value, "source"),
                      {set}});
  }
  return rows;
}

Plan part_of(Table& table, const std::vector<Bundle>& own, const std::vector<Bundle>& named) {
  Plan part{.name = table.text("name")};
  if (!is_name(part.name))
    table.refuse("name", Message("'{}': expected small letters, digits and hyphens", part.name));
  part.title = table.text("title");
  const std::string metric = table.text("metric", "loss");
  part.measure = table.text("measure", "");
  if (!part.measure.empty() && !experiments::end_number(part.measure) &&
      experiments::measured_for(part.measure).empty())
    table.refuse(
        "measure",
        Message("'{}': expected critical_rate, largest_logit or the name of a number by layer, such as "
                "L*.attn.out.mean_square; or of the whole run, {}",
                part.measure, experiments::expected_at_end(part.measure)));
  part.score = table.text("score", "");
  part.numbers = table.texts("numbers");
  for (const std::string& number : part.numbers)
    if (std::ranges::find(kNumbers, number) == std::end(kNumbers))
      table.refuse("numbers", Message("'{}' is unknown: expected {}", number, fmt::join(kNumbers, ", ")));
  part.bundles = every_row(table, named);
  part.bundles.insert(part.bundles.end(), own.begin(), own.end());
  const std::vector<std::string> axes = table.texts("axes");
  if (!part.bundles.empty() && axes.size() != 1)
    table.refuse("axes", "expected one beside the rows, which stand on the second");
  part.set = table.texts("set");
  part.preset = table.text("preset", "post");
  part.seeds = table.whole("seeds", 1, 1000);
  part.steps = table.whole("steps", 0, 1'000'000, 0);
  try {
    part.metric = metric_from(metric);
    part = plan_from(std::move(part), axes);
    part.take_bundles();
    runs_of(part);
  } catch (const Error& error) {
    table.refuse("", error.message);
  }
  table.done();
  return part;
}

std::string number_text(const Cell& cell, std::string_view number, bool page) {
  if (number == "loss") return loss_text(cell);
  if (number == "score") return score_text(cell);
  if (number == "gradient") return power(cell.gradient);
  const std::string verdict = verdict_text(cell);
  if (!page || cell.count(Verdict::Learns) == 0) return verdict;
  const size_t word = word_of(Verdict::Learns).size() + 1;  // which comes first, and the page says it once
  return "**" + (verdict.size() > word ? verdict.substr(word) : verdict) + "**";
}

/// The mean over the cells of a row, which differ only in training: beta2 is measured before it.
double beta2_of(const Grid& grid, size_t row) {
  double sum = 0;
  int32_t count = 0;
  for (size_t column = 0; column < grid.plan.columns(); ++column)
    if (const double beta2 = grid.at(column, row).beta2; std::isfinite(beta2)) {
      sum += beta2;
      ++count;
    }
  return count > 0 ? sum / count : kUnknown;
}

/// A line for each row that has a run, its numbers side by side, value after value of the first axis.
experiments::Table numbers_table(const Grid& grid, bool page) {
  using experiments::Kind;
  const Plan& part = grid.plan;
  const Axis& across = part.axes[0];
  experiments::Table table{{{"", ""}}};
  const bool titled = page && !part.bundles.empty();
  if (titled) table.columns.push_back({"", ""});
  for (const std::string& number : part.numbers)
    if (number == "beta2") table.columns.push_back({"", "Σβ²", Kind::Number});
  for (size_t column = 0; column < part.columns(); ++column) {
    std::string said = fmt::format("{} {}", across.label(), across.said(column));  // over its first number
    for (const std::string& number : part.numbers) {
      if (number == "beta2") continue;
      std::string words = std::exchange(said, {});
      if (number != "verdict")
        words += (words.empty() ? "" : ", ") + (number == "score" ? part.score : number);
      table.columns.push_back({"", words, number == "verdict" ? Kind::Word : Kind::Number});
    }
  }
  for (size_t row = 0; row < part.rows(); ++row) {
    int32_t known = 0;
    for (size_t column = 0; column < part.columns(); ++column) known += grid.at(column, row).known;
    if (known == 0) continue;
    const std::string name = part.axes.size() > 1 ? part.axes[1].values[row] : "";
    experiments::TableRow cells{page ? "`" + name + "`" : name};
    if (titled) cells.emplace_back(part.bundles[row].title);
    for (const std::string& number : part.numbers)
      if (number == "beta2") cells.emplace_back(fixed(beta2_of(grid, row), 2));
    for (size_t column = 0; column < part.columns(); ++column)
      for (const std::string& number : part.numbers)
        if (number != "beta2") cells.emplace_back(number_text(grid.at(column, row), number, page));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Rows of one source stand together, in the order in which the file first names it.
std::string sources_of_rows(const StudyFile& study) {
  std::vector<std::pair<std::string, std::string>> sources;
  std::set<std::string> named;  // a row may be in a part for each depth
  for (const Plan& part : study.parts)
    for (const Bundle& row : part.bundles) {
      if (!named.insert(row.name).second) continue;
      const auto at = std::ranges::find(sources, row.source, [](const auto& one) { return one.first; });
      if (at == sources.end())
        sources.emplace_back(row.source, "`" + row.name + "`");
      else
        at->second += " `" + row.name + "`";
    }
  if (sources.empty()) return "";
  std::string out = fmt::format(
      "\n## What each row is\n\n`studies/{}.toml` says what each row sets.\n\n| source | rows |\n|--|--|\n",
      study.name);
  for (const auto& [source, rows] : sources) out += fmt::format("| {} | {} |\n", source, rows);
  return out;
}

}  // namespace

std::string studies_folder() { return shipped_folder("studies", "NORMSCOPE_STUDIES"); }

std::vector<std::string> study_names(const std::string& folder) {
  std::vector<std::string> names;
  std::string error;
  for (const std::string& path : files_in(folder, kMaxStudies, error))
    if (fs::path(path).extension() == ".toml") names.push_back(fs::path(path).stem().string());
  std::ranges::sort(names);
  return names;
}

StudyFile parse_study(std::string_view text, const std::string& file) {
  const toml::table root = parse_toml(text, file);
  Table table(root, file, "");
  StudyFile study;
  study.file = file;
  study.name = fs::path(file).stem().string();
  study.title = table.text("title");
  study.question = table.text("question");
  study.sources = table.texts("sources");
  study.found = table.texts("found");
  std::vector<Table> parts = table.tables("part");
  std::vector<std::vector<Bundle>> rows;
  std::vector<Bundle> named;
  for (Table& part : parts) {
    rows.push_back(rows_of(part));
    named.insert(named.end(), rows.back().begin(), rows.back().end());
  }
  for (size_t i = 0; i < parts.size(); ++i) study.parts.push_back(part_of(parts[i], rows[i], named));
  table.done();
  if (study.parts.empty()) table.refuse("part", "is missing: expected one grid at least, [[part]]");
  return study;
}

void require_study(const std::string& folder, std::string_view name) {
  const std::vector<std::string> names = study_names(folder);
  if (std::ranges::find(names, name) == names.end())
    fail("study", "{} is no study: {}", shown_text(name),
         expected(name, std::vector<std::string_view>(names.begin(), names.end())));
}

StudyFile read_study(const std::string& folder, std::string_view name) {
  require_study(folder, name);
  const std::string path = (fs::path(folder) / (std::string(name) + ".toml")).string();
  return parse_study(read_input_file(path, input::kStudy), path);
}

StudyFile quick(StudyFile study) {
  for (Plan& part : study.parts) part.seeds = 1;
  return study;
}

experiments::Study study_of(const StudyFile& study) {
  experiments::Study runs{.name = "sweep"};
  for (const Plan& part : study.parts) {
    std::ranges::move(runs_of(part), std::back_inserter(runs.runs));
    if (const std::string asked = experiments::measured_for(part.measure); !asked.empty())
      runs.numbers.insert(asked);
  }
  return runs;
}

std::string picture_name(const StudyFile& study, const Plan& part, Metric metric) {
  return fmt::format("{}-{}{}.svg", study.name, part.name, metric == Metric::Measured ? "-measured" : "");
}

std::vector<Grid> grids_of(const StudyFile& study, const experiments::StudyResults& results) {
  std::vector<Grid> grids;
  auto next = results.runs.begin();
  for (const Plan& part : study.parts) {
    std::vector<std::optional<RunNumbers>> numbers(next, next + part.runs());
    next += part.runs();
    for (auto& run : numbers) {
      if (!run || part.measure.empty()) continue;
      run->asked = experiments::number_at_end(*run, part.measure);
      run->last = {};
    }
    const std::vector<StudyRun> runs = runs_of(part);
    grids.push_back(
        grid_of(part, runs, numbers,
                is_predicted(part.metric) ? predictions_of(part, runs) : std::vector<theory::AtStart>{}));
  }
  return grids;
}

std::string to_text(const StudyFile& study, const std::vector<Grid>& grids) {
  std::string out = fmt::format("{}\n{}\n", study.title, study.question);
  for (const Grid& grid : grids)
    if (!grid.plan.numbers.empty())
      out += fmt::format("\n{}\n{}\n\n{}\n{}", grid.plan.title, setting_text(grid),
                         experiments::to_text(numbers_table(grid, false)), level_text(grid));
    else
      for (const Metric metric : grid.plan.metrics())
        out += fmt::format("\n{}\n{}", grid.plan.title, to_text(grid, metric));
  return out;
}

nlohmann::json to_json(const StudyFile& study, const std::vector<Grid>& grids) {
  nlohmann::json parts = nlohmann::json::array();
  bool complete = true;
  for (const Grid& grid : grids) {
    complete = complete && grid.complete;
    parts.push_back({{"name", grid.plan.name}, {"title", grid.plan.title}, {"sweep", to_json(grid)}});
    for (const Bundle& row : grid.plan.bundles) {
      nlohmann::json& out = parts.back()["rows"].emplace_back();
      out = {{"name", row.name}, {"title", row.title}, {"source", row.source}, {"set", row.set}};
      for (const Edit& edit : row.edits) out["edits"].push_back(to_string(edit));
    }
  }
  return {{"format", "normscope study 1"},
          {"study", study.name},
          {"title", study.title},
          {"complete", complete},
          {"parts", parts}};
}

std::string to_csv(const std::vector<Grid>& grids) {
  std::vector<std::pair<std::string, const Grid*>> parts;
  for (const Grid& grid : grids) parts.emplace_back(grid.plan.name, &grid);
  return to_csv(parts);
}

std::string to_markdown(const StudyFile& study, const std::vector<Grid>& grids, bool with_pictures,
                        const std::string& command) {
  std::string out = fmt::format("# {}\n\n{}\n\nMade by `{}`", study.title, study.question, command);
  if (with_pictures)
    out += fmt::format(
        ", whose numbers stand in the pictures and, seed by seed, in `{}.json` beside this page", study.name);
  out += ".\n";
  const auto tells_verdicts = [](const Plan& part) {
    return std::ranges::find(part.numbers, "verdict") != part.numbers.end();
  };
  if (std::ranges::any_of(study.parts, tells_verdicts))
    out += "\nIn bold: from which step on it learns, and of how many seeds where not of all.\n";
  if (!study.found.empty()) out += "\n## What the full run has shown\n\n";
  for (const std::string& sentence : study.found) out += fmt::format("- {}\n", sentence);
  for (const Grid& grid : grids) {
    const Plan& part = grid.plan;
    out += fmt::format("\n## {}\n\n{}.\n", part.title, setting_text(grid));
    if (!part.numbers.empty())
      out += fmt::format("\n{}\n{}", experiments::to_markdown(numbers_table(grid, true)), level_text(grid));
    for (const Metric metric : part.metrics()) {
      if (metric == Metric::Measured) out += fmt::format("\n{}.\n", title_of(grid, metric));
      if (!with_pictures && !part.numbers.empty()) continue;
      out += with_pictures ? picture_text(grid, metric, picture_name(study, part, metric))
                           : section_text(grid, metric, "");
    }
  }
  out += sources_of_rows(study);
  if (!study.sources.empty()) out += "\n## Sources\n\n";
  for (const std::string& source : study.sources) out += fmt::format("- {}\n", source);
  return out;
}

}  // namespace normscope::sweep

namespace normscope::zoo {
namespace {

using sweep::StudyFile, sweep::Plan, sweep::Bundle;

constexpr int32_t kShallow = 8, kDeepSteps = 400;
constexpr std::string_view kDeepRows[] = {"post", "pre", "admin", "deepnorm"};

/// Keeps only the rows that are named, or whose part is.
void keep_named(StudyFile& study, std::string_view only) {
  std::vector<std::string_view> wanted = split(only, ',');
  std::erase(wanted, std::string_view());
  if (wanted.empty()) return;
  std::set<std::string_view> missing(wanted.begin(), wanted.end());
  std::vector<std::string> known;
  for (const Plan& part : study.parts) {
    known.push_back(part.name);
    missing.erase(part.name);
    for (const Bundle& row : part.bundles) {
      known.push_back(row.name);
      missing.erase(row.name);
    }
  }
  if (!missing.empty())
    fail("zoo", "'{}' is not in the zoo: expected names among {}", *missing.begin(), fmt::join(known, ", "));
  for (Plan& part : study.parts)
    if (std::ranges::find(wanted, part.name) == wanted.end())
      std::erase_if(part.bundles,
                    [&](const Bundle& row) { return std::ranges::find(wanted, row.name) == wanted.end(); });
}

/// Sets a part's depth and rate. Beyond kShallow layers also its steps and, unless `all`, keeps only kDeepRows.
void deepen(Plan& part, int32_t layers, bool all) {
  std::string rate = "3e-3";
  if (layers > kShallow) {
    rate = "1e-3";
    part.steps = kDeepSteps;
    if (!all)
      std::erase_if(part.bundles, [](const Bundle& row) {
        return std::ranges::find(kDeepRows, row.name) == std::end(kDeepRows);
      });
  }
  part.set = {fmt::format("model.layers={}", layers), "train.lr=" + rate};
}

}  // namespace

StudyFile study_of(const Choice& choice, const std::vector<Bundle>& own) {
  StudyFile study = sweep::read_study(sweep::studies_folder(), "zoo");
  Plan& mine = study.parts.emplace_back(study.parts.front());
  mine.name = "own";
  mine.title = "Your own";
  mine.bundles = own;
  keep_named(study, choice.only);
  std::vector<Plan> parts;
  for (const int32_t layers : choice.depths)
    for (Plan part : study.parts) {
      if (part.preset == "post") {
        deepen(part, layers, !choice.only.empty());
        if (choice.depths.size() > 1) {
          part.name += fmt::format("-{}", layers);
          part.title += fmt::format(", {} layers", layers);
        }
      } else if (layers != choice.depths.front()) {
        continue;
      }
      if (part.bundles.empty()) continue;
      part.seeds = choice.seeds;
      if (choice.steps > 0) part.steps = choice.steps;
      if (choice.warmup > 0) part.axes[0].values = {"0", std::to_string(choice.warmup)};
      std::erase_if(part.set, [](const std::string& set) { return set.starts_with("train.decay_end="); });
      const int32_t warmup = std::stoi(part.axes[0].values.back());
      part.set.push_back(fmt::format("train.decay_end={}", std::max(part.steps, warmup + 1)));
      part.set.insert(part.set.end(), choice.set.begin(), choice.set.end());
      part.take_bundles();
      parts.push_back(std::move(part));
    }
  study.parts = std::move(parts);
  return study;
}

std::vector<sweep::Bundle> own_placements() {
  std::vector<sweep::Bundle> all;
  for (const Placement placement : added_placements()) {
    const PlacementRow& row = row_of(placement);
    all.push_back({row.name,
                   row.label,
                   *row.source ? row.source : row.formula,
                   {std::string("model.placement=") + row.name}});
  }
  return all;
}

}  // namespace normscope::zoo
