// Writes a comparison for the terminal, as Markdown and as CSV. See writers.h.
#include "addons/compare/app/writers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "addons/compare/app/words.h"
#include "app/plot/plot.h"
#include "training/experiments/table.h"
#include "training/io/text.h"

namespace normscope::compare {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// Puts run, name and words to the left, numbers to the right.
constexpr const char* kEndAlignment = "llrrrrllrrr";

/// Says "port.jsonl, PyTorch 1.13, 1 seed".
std::string origin_words(const Recording& run) {
  std::string text = run.source().empty() ? "live" : run.source();
  if (!run.maker.empty()) text += ", " + run.maker;
  return text + fmt::format(", {} seed{}", run.seeds.size(), run.seeds.size() == 1 ? "" : "s");
}

Table runs_table(const Comparison& all) {
  Table table;
  for (size_t run = 0; run < all.runs.size(); ++run)
    table.push_back({std::string(1, all.letter(run)), all.runs[run].name, origin_words(all.runs[run]),
                     run == all.baseline() ? "baseline" : ""});
  return table;
}

std::vector<std::string> place_sentences(const Comparison& all) {
  std::vector<std::string> sentences;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (run != all.baseline()) sentences.push_back(place_sentence(all, run));
  return sentences;
}

/// Why a run has no line or no map: in its reader's words, else as the comparison found it.
std::vector<std::string> lacks_of(const Comparison& all) {
  std::vector<std::string> sentences;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    std::vector<std::string> lacks = all.runs[run].missing;
    if (lacks.empty() && !all.maps[run].lacks.empty()) lacks.push_back(all.maps[run].lacks);
    if (!all.losses[run].lacks.empty()) lacks.push_back(all.losses[run].lacks);
    for (const std::string& lack : lacks) sentences.push_back(fmt::format("{}: {}.", all.letter(run), lack));
  }
  if (const std::string missing = missing_sentence(all); !missing.empty()) sentences.push_back(missing);
  return sentences;
}

/// A table whose first row is its head, in CSV and in Markdown; `alignment` has a letter for each column.
experiments::Table table_of(const Table& rows, std::string_view alignment = {}) {
  experiments::Table table;
  for (size_t c = 0; c < rows.front().size(); ++c)
    table.columns.push_back(
        {rows.front()[c], rows.front()[c],
         c < alignment.size() && alignment[c] == 'r' ? experiments::Kind::Number : experiments::Kind::Word});
  for (size_t row = 1; row < rows.size(); ++row) table.rows.emplace_back(rows[row].begin(), rows[row].end());
  return table;
}

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

}  // namespace

std::string to_text(const Comparison& all) {
  std::string out = text_table(runs_table(all), "llll");
  out += "\n" + settings_sentence(all) + "\n";
  if (!all.settings.empty())
    out += text_table(settings_table(all, "≠ "), std::string(all.runs.size() + 1, 'l'));
  out += "\n";
  for (const std::string& sentence : {data_sentence(all), loss_sentence(all), difference_sentence(all)})
    if (!sentence.empty() && sentence != settings_sentence(all)) out += sentence + "\n";
  for (const std::string& sentence : place_sentences(all)) out += sentence + "\n";
  out += fmt::format("\nAt the end: {}\n", window_words(all));
  out += text_table(end_table(all), kEndAlignment);
  for (const std::string& sentence : lacks_of(all)) out += sentence + "\n";
  return out;
}

std::string to_markdown(const Comparison& all, const std::vector<std::string>& pictures) {
  std::string out = fmt::format("# Comparison\n\nBaseline: {}. Aligned by {}.", all.letter(all.baseline()),
                                to_string(all.choice.align));
  if (all.choice.range)
    out += fmt::format(" Steps {} to {} of it.", all.choice.range->first, all.choice.range->second);
  out += "\n\n";
  for (const auto& row : runs_table(all))
    out += fmt::format("- **{}** {} ({}){}\n", row[0], row[1], row[2], row[3].empty() ? "" : ", baseline");
  out += "\n## What differs\n\n" + settings_sentence(all) + "\n";
  if (!all.settings.empty()) out += "\n" + to_markdown(table_of(settings_table(all, "≠ ")));
  out += "\n## Loss\n";
  for (const std::string& sentence : {data_sentence(all), loss_sentence(all), difference_sentence(all)})
    if (!sentence.empty()) out += "\n" + sentence + "\n";
  for (const std::string& picture : pictures) out += fmt::format("\n![]({})\n", picture);
  out += "\n## First place they part\n\n";
  for (const std::string& sentence : place_sentences(all)) out += "- " + sentence + "\n";
  out += fmt::format(
      "\n## At the end\n\nLoss: {}. Plateau: median of the seeds. Update ÷ weight: layer 1, last step.\n\n",
      window_words(all));
  out += to_markdown(table_of(end_table(all), kEndAlignment));
  for (const std::string& sentence : lacks_of(all)) out += "\n" + sentence + "\n";
  return out;
}

std::string settings_csv(const Comparison& all) {
  Table table(1, {"key", "setting"});
  for (size_t run = 0; run < all.runs.size(); ++run) table.front().push_back(std::string(1, all.letter(run)));
  for (const Setting& setting : all.settings) {
    table.push_back({setting.key, setting.label});
    for (const auto& value : setting.values) table.back().push_back(value.value_or(""));
  }
  return to_csv(table_of(table));
}

std::string map_csv(const Comparison& all, size_t run) {
  const RatioMap& map = all.maps[run];
  const std::string data = data_words(all, run);
  std::string out = fmt::format("layer,step,{},{}\n",
                                all.choice.align == Alignment::Step ? "x" : to_string(all.choice.align),
                                plot::csv_field("log10 of the ratio" + (data.empty() ? "" : "; " + data)));
  for (int32_t layer = 1; layer <= map.layers; ++layer)
    for (size_t i = 0; i < map.steps.size(); ++i)
      if (const float cell = map.at(layer, i); std::isfinite(cell))
        fmt::format_to(std::back_inserter(out), "{},{},{:.9g},{:.9g}\n", layer, map.steps[i], map.x[i], cell);
  return out;
}

std::string end_csv(const Comparison& all) {
  Table table = {{"run", "name", "source", "seeds", "steps", "loss", "deviation", "difference", "band low",
                  "band high", "data", "against", "verdict", "leaves plateau", "update ratio",
                  "tokens per second"}};
  for (const EndRow& row : all.rows) {
    const Recording& run = all.runs[row.run];
    const Difference& d = all.differences[row.run];
    table.push_back({std::string(1, all.letter(row.run)), run.name, run.source(),
                     std::to_string(run.seeds.size()), std::to_string(row.last_step), plain(row.loss),
                     plain(row.deviation), plain(d.end), plain(d.band_low), plain(d.band_high), d.data_words,
                     row.run == all.baseline() ? "baseline" : d.words(), row.verdict,
                     row.leaves ? leaves_words(row) : "", plain(row.update_ratio),
                     plain(row.tokens_per_second)});
  }
  return to_csv(table_of(table));
}

namespace {

using Json = nlohmann::json;

/// Keeps six digits, so that 0.1f reads 0.1; null for what is not finite.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

template <typename Values>
Json numbers(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) list.push_back(number(static_cast<double>(value)));
  return list;
}

constexpr const char* kSameData[] = {"same", "other", "unknown"};

std::string letter_of(const Comparison& all, size_t run) { return std::string(1, all.letter(run)); }

/// What is known of the data; null where nothing is.
Json data_json(const DataIdentity& data) {
  if (data.unknown()) return nullptr;
  Json json = Json::object();
  if (!data.name.empty()) json["name"] = data.name;
  if (!data.hash.empty()) json["hash"] = data.hash;
  if (data.symbols > 0) json["symbols"] = data.symbols;
  if (!data.unit.empty()) json["unit"] = data.unit;
  return json;
}

Json run_json(const Comparison& all, size_t index) {
  const Recording& run = all.runs[index];
  Json json = {{"run", letter_of(all, index)}, {"name", run.name},       {"source", run.source()},
               {"maker", run.maker},           {"seeds", Json::array()}, {"settings", Json::object()},
               {"edits", Json::array()},       {"missing", run.missing}};
  json["data"] = data_json(run.data);
  json["unread"] = run.read.broken;
  json["faults"] = run.read.faults;
  for (const SeedRecord& seed : run.seeds) json["seeds"].push_back(seed.origin.seed);
  for (const auto& [key, value] : run.settings) json["settings"][key] = value;
  for (const Edit& edit : run.edits)
    json["edits"].push_back({{"step", edit.step}, {"key", edit.key}, {"value", edit.value}});
  return json;
}

Json setting_json(const Setting& setting) {
  Json json = {{"key", setting.key}, {"label", setting.label}, {"values", Json::array()}};
  for (const auto& value : setting.values) json["values"].push_back(value ? Json(*value) : Json(nullptr));
  return json;
}

Json spread_json(const Spread& spread) {
  return {{"step", spread.steps},
          {"x", numbers(spread.x)},
          {"mean", numbers(spread.mean)},
          {"low", numbers(spread.low)},
          {"high", numbers(spread.high)}};
}

Json loss_json(const Comparison& all, size_t run) {
  const Loss& loss = all.losses[run];
  return {{"run", letter_of(all, run)},    {"step", loss.shown.steps},         {"x", numbers(loss.shown.x)},
          {"loss", numbers(loss.shown.y)}, {"seeds", spread_json(loss.seeds)}, {"lacks", loss.lacks}};
}

Json difference_json(const Comparison& all, size_t run) {
  const Difference& d = all.differences[run];
  return {{"run", letter_of(all, run)},
          {"against", kAgainst[static_cast<size_t>(d.against)]},
          {"smooth", spread_json(d.smooth)},
          {"at_end", numbers(d.at_end)},
          {"end", number(d.end)},
          {"step", d.step},
          {"window", d.window},
          {"early", d.early},
          {"band_low", number(d.band_low)},
          {"band_high", number(d.band_high)},
          {"agree", d.agree},
          {"luck", kLuck[static_cast<size_t>(d.luck)]},
          {"data", kSameData[static_cast<size_t>(d.data)]},
          {"words", run == all.baseline() ? "baseline" : d.words()}};
}

Json map_json(const Comparison& all, size_t run) {
  const RatioMap& map = all.maps[run];
  Json json = {{"run", letter_of(all, run)}, {"against", kAgainst[static_cast<size_t>(map.against)]},
               {"layers", map.layers},       {"step", map.steps},
               {"x", numbers(map.x)},        {"log10_ratio", Json::array()},
               {"lacks", map.lacks}};
  for (int32_t layer = 1; layer <= map.layers; ++layer) {
    Json row = Json::array();
    for (size_t i = 0; i < map.steps.size(); ++i)
      row.push_back(number(static_cast<double>(map.at(layer, i))));
    json["log10_ratio"].push_back(std::move(row));
  }
  return json;
}

Json place_json(const Comparison& all, size_t run) {
  const FirstPlace& place = all.places[run];
  Json json = {{"run", letter_of(all, run)}, {"against", kAgainst[static_cast<size_t>(place.against)]},
               {"parts", place.parts},       {"first_step", place.first_step},
               {"equal", place.equal},       {"equal_until", place.equal_until},
               {"most", number(place.most)}, {"most_step", place.most_step},
               {"lacks", place.lacks},       {"sentence", place_sentence(all, run)}};
  if (!place.parts) return json;
  json["step"] = place.step;
  json["layer"] = place.layer;
  json["stack"] = place.stack;
  json["matrix"] = place.matrix;
  json["stat"] = place.stat;
  json["ratio"] = number(place.ratio);
  return json;
}

Json row_json(const Comparison& all, const EndRow& row) {
  return {{"run", letter_of(all, row.run)},
          {"steps", row.last_step},
          {"loss", number(row.loss)},
          {"deviation", number(row.deviation)},
          {"verdict", row.verdict},
          {"leaves", row.leaves ? Json(*row.leaves) : Json(nullptr)},
          {"update_ratio", number(row.update_ratio)},
          {"tokens_per_second", number(row.tokens_per_second)},
          {"missing", row.missing}};
}

}  // namespace

Json to_json(const Comparison& all) {
  Json json = {{"format", "normscope comparison 1"},
               {"baseline", letter_of(all, all.baseline())},
               {"align", to_string(all.choice.align)},
               {"range", nullptr},
               {"metric", panels::info(all.choice.metric).id},
               {"matrix", view::kMatrices[all.choice.matrix].path},
               {"factor", number(all.choice.factor)},
               {"unigram", number(all.unigram)},
               {"same", all.same},
               {"shared", all.shared},
               {"settings_sentence", settings_sentence(all)},
               {"data_sentence", data_sentence(all)},
               {"loss_sentence", loss_sentence(all)},
               {"difference_sentence", difference_sentence(all)}};
  if (all.choice.range) json["range"] = {all.choice.range->first, all.choice.range->second};
  for (const char* list : {"runs", "settings", "losses", "differences", "maps", "places", "end"})
    json[list] = Json::array();
  for (const Setting& setting : all.settings) json["settings"].push_back(setting_json(setting));
  for (size_t run = 0; run < all.runs.size(); ++run) {
    json["runs"].push_back(run_json(all, run));
    json["losses"].push_back(loss_json(all, run));
    json["differences"].push_back(difference_json(all, run));
    if (run == all.baseline()) continue;
    json["maps"].push_back(map_json(all, run));
    json["places"].push_back(place_json(all, run));
  }
  for (const EndRow& row : all.rows) json["end"].push_back(row_json(all, row));
  return json;
}

}  // namespace normscope::compare
