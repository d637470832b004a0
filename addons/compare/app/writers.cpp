// Writes a comparison for the terminal, as Markdown and as CSV.
#include "addons/compare/app/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "addons/recorded/training/log_reader.h"
#include "app/plot/plot.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/experiments/table.h"

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

/// Why a run has no line or no map: from Recording::missing, else from the comparison.
std::vector<std::string> lacks_of(const Comparison& all) {
  std::vector<std::string> sentences;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    std::vector<std::string> lacks;
    for (const Message& missing : all.runs[run].missing) lacks.push_back(words::spoken(missing));
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

/// The known members of the data; null without any.
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
          {"verdict", row.verdict()},
          {"leaves", row.leaves ? Json(*row.leaves) : Json(nullptr)},
          {"update_ratio", number(row.update_ratio)},
          {"tokens_per_second", number(row.tokens_per_second)},
          {"missing", row.missing}};
}

/// Counts norms that left their slot, came into one, or became another kind in it.
struct Norms {
  int32_t moved = 0, added = 0, removed = 0, changed = 0;

  void compare(const Wiring& before, const Wiring& after) {
    const auto was = norms_of(before), is = norms_of(after);
    int32_t lost = 0, gained = 0;
    for (size_t i = 0; i < was.size(); ++i) {
      lost += was[i] != NormKind::None && is[i] == NormKind::None;
      gained += was[i] == NormKind::None && is[i] != NormKind::None;
      changed += was[i] != NormKind::None && is[i] != NormKind::None && was[i] != is[i];
    }
    const int32_t both = std::min(lost, gained);
    moved += both;
    added += gained - both;
    removed += lost - both;
  }
  void compare(const StackWiring& before, const StackWiring& after, bool cross) {
    for (size_t i = 0; i < std::min(before.layers.size(), after.layers.size()); ++i) {
      compare(before.layers[i].attention, after.layers[i].attention);
      if (cross) compare(before.layers[i].cross, after.layers[i].cross);
      compare(before.layers[i].feed_forward, after.layers[i].feed_forward);
    }
  }
  std::vector<std::string> words() const {
    std::vector<std::string> all;
    const auto add = [&](int32_t count, const std::string& text) {
      if (count > 0) all.push_back(text);
    };
    add(moved, tr("{count} norm moved | {count} norms moved", {{"count", moved}}));
    add(added, tr("{count} norm added | {count} norms added", {{"count", added}}));
    add(removed, tr("{count} norm removed | {count} norms removed", {{"count", removed}}));
    add(changed, tr("{count} norm changed | {count} norms changed", {{"count", changed}}));
    return all;
  }
};

bool is_wiring(const std::string& key) {
  return key.starts_with("wiring.") || key == "model.placement" || key == "model.encoder_placement";
}

std::string setting_words(const Edit& edit) {
  const Field* field = find_field(edit.key);
  return fmt::format("{} {}", field ? words::spoken(field->label) : edit.key, edit.value);
}

/// Describes edits: norms by comparing both networks, if known; other settings by their key.
std::vector<std::string> step_words(const std::vector<Edit>& edits, const std::optional<RunSpec>& before,
                                    const std::optional<RunSpec>& after) {
  std::vector<std::string> words;
  bool wired = false;
  for (const Edit& edit : edits)
    if (is_wiring(edit.key))
      wired = true;
    else if (!edit.key.starts_with("run."))  // a fork has a name of its own, which its card says
      words.push_back(setting_words(edit));
  if (!wired) return words;
  Norms norms;
  if (before && after) {
    const bool both = before->model.architecture == Architecture::EncoderDecoder;
    norms.compare(before->model.stack(), after->model.stack(), both);
    if (both) norms.compare(before->model.encoder, after->model.encoder, false);
  }
  std::vector<std::string> moved = norms.words();
  if (moved.empty()) moved.push_back(tr("wiring changed"));
  words.insert(words.begin(), moved.begin(), moved.end());
  return words;
}

std::optional<RunSpec> edited(std::optional<RunSpec> spec, const std::vector<Edit>& edits) {
  try {
    for (const Edit& edit : edits)
      if (spec) set_field(*spec, edit.key, edit.value);
  } catch (const Error&) {  // a log may contain any value
    spec.reset();
  }
  return spec;
}

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
                     row.run == all.baseline() ? "baseline" : d.words(), row.verdict(),
                     row.leaves ? leaves_words(row) : "", plain(row.update_ratio),
                     plain(row.tokens_per_second)});
  }
  return to_csv(table_of(table));
}

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

std::string nats_words(double nats, int digits) {
  return std::isfinite(nats) ? ui::decimals(nats, digits) : "–";
}

std::string signed_decimals(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  return (value < 0 ? "−" : "+") + ui::decimals(std::fabs(value), digits);
}

std::string times(double factor) {
  if (!std::isfinite(factor) || factor <= 0) return tr("infinitely many times");
  const double unit = std::pow(10.0, std::floor(std::log10(factor)) - 1);  // two digits
  return ui::number(std::round(factor / unit) * unit, 2) + "×";
}

std::string ratio_words(double ratio) {
  if (ratio < 2 && ratio > 0.5) return tr("within 2×");
  return tr(ratio < 1 ? "{times} smaller" : "{times} larger",
            {{"times", times(ratio < 1 ? 1 / ratio : ratio)}});
}

std::string held_against(double ratio, const std::string& other) {
  if (ratio <= 0) return tr("zero, unlike {other}", {{"other", other}});
  if (!std::isfinite(ratio)) return tr("not zero, unlike {other}", {{"other", other}});
  return tr(ratio < 1 ? "{times} smaller than {other}" : "{times} larger than {other}",
            {{"times", times(ratio < 1 ? 1 / ratio : ratio)}, {"other", other}});
}

std::string layer_words(const std::string& stack, int32_t layer) {
  return tr(stack.empty()        ? "layer {layer}"
            : stack == "encoder" ? "encoder layer {layer}"
                                 : "decoder layer {layer}",
            {{"layer", layer}});
}

std::string owned_by(char letter) { return tr("{run}'s", {{"run", letter}}); }

std::string tensor_words(const FirstPlace& place) {
  return fmt::format("{}, {}", layer_words(place.stack, place.layer), place.matrix);
}

std::string metric_words(const Choice& choice) {
  const Number& metric = panels::info(choice.metric);
  const std::string what = choice.metric == &kGradNorm ? tr("gradient size") : metric.label;
  return metric.of_matrix() ? tr("{metric} of {matrix}",
                                 {{"metric", what}, {"matrix", view::kMatrices[choice.matrix].label}})
                            : what;
}

size_t measuring_seeds(const Recording& run) {
  return static_cast<size_t>(std::ranges::count_if(
      run.seeds, [](const SeedRecord& seed) { return !seed.history->layout().empty(); }));
}

std::string seeds_of_baseline(const Comparison& all) {
  const size_t seeds = measuring_seeds(all.runs[all.baseline()]);
  const char letter = all.letter(all.baseline());
  return seeds <= 1 ? tr("of {run}", {{"run", letter}})
                    : tr("of {run}'s {seeds} seeds", {{"run", letter}, {"seeds", seeds}});
}

std::string seed_words(const SeedRecord& seed) {
  return seed.origin.seed ? tr("seed {seed}", {{"seed", seed.origin.seed}}) : "";
}

std::string deviation_words(const EndRow& row) {
  return nats_words(row.deviation, row.deviation < 0.01 ? 3 : 2);
}

std::string loss_words(const EndRow& row) {
  const std::string loss = nats_words(row.loss);
  return std::isfinite(row.deviation) ? fmt::format("{} ± {}", loss, deviation_words(row)) : loss;
}

std::string update_words(const EndRow& row) {
  return std::isfinite(row.update_ratio) ? ui::number(row.update_ratio, 2) : "–";
}

std::string leaves_words(const EndRow& row) {
  if (!row.leaves) return "–";
  return *row.leaves > 0 ? std::to_string(*row.leaves) : tr("not yet");
}

std::string value_words(const Comparison& all, const Setting& setting, size_t run) {
  // A setting of another program is not among ours.
  if (!setting.values[run])
    return all.runs[run].spec ? "–" : tr("not in {where}", {{"where", where_missing(all.runs[run])}});
  const std::string& value = *setting.values[run];
  if (setting.key != "model.placement") {
    const Field* field = find_field(setting.key);
    return field && field->type == FieldType::Real ? words::with_decimal(value) : value;
  }
  try {
    return words::spoken(label(placement_from(value)));
  } catch (const Error&) {  // a log may contain any value
    return value;
  }
}

std::string data_words(const Comparison& all, size_t run) {
  const Recording &mine = all.runs[run], &base = all.runs[all.baseline()];
  if (run == all.baseline()) return "";
  switch (data_of(mine, base)) {
    case SameData::Same:
      return "";
    case SameData::Other:
      return mine.data.unknown() ? tr("other data")
                                 : tr("other data: {data}", {{"data", words::spoken(to_words(mine.data))}});
    case SameData::Unknown:
      break;
  }
  if (mine.data.unknown()) return tr("data: not in {where}", {{"where", where_missing(mine)}});
  return tr("data: {data}, and {run} does not say its own",
            {{"data", words::spoken(to_words(mine.data))}, {"run", all.letter(all.baseline())}});
}

std::string window_words(const Comparison& all) {
  size_t least = all.runs.front().seeds.size(), most = least;
  for (const Recording& run : all.runs) {
    least = std::min(least, run.seeds.size());
    most = std::max(most, run.seeds.size());
  }
  const std::string seeds = least == most ? tr("{count} seed each | {count} seeds each", {{"count", most}})
                                          : tr("{least} to {most} seeds", {{"least", least}, {"most", most}});
  const std::string window =
      tr("mean of up to the last {steps} steps, {seeds}", {{"steps", kLossWindow}, {"seeds", seeds}});
  return ends_apart(all) ? tr("{window}; in the order of “minus {run}”",
                              {{"window", window}, {"run", all.letter(all.baseline())}})
                         : window;
}

std::string against_words(const Difference& difference) {
  const std::string when = difference.when();
  return when.empty() ? difference.words() : fmt::format("{}; {}", when, difference.words());
}

std::vector<std::vector<std::string>> end_table(const Comparison& all) {
  const char base = all.letter(all.baseline());
  std::vector<std::vector<std::string>> table = {
      {"run", "name", "seeds", "steps", "loss", fmt::format("minus {}", base),
       fmt::format("against {}'s seeds", base), "verdict", "leaves plateau", "update ÷ weight", "tokens/s"}};
  for (const EndRow& row : all.rows) {
    const Recording& run = all.runs[row.run];
    const Difference& difference = all.differences[row.run];
    const bool baseline = row.run == all.baseline();
    table.push_back(
        {std::string(1, all.letter(row.run)), run.name, std::to_string(run.seeds.size()),
         std::to_string(row.last_step), loss_words(row), baseline ? "–" : signed_decimals(difference.end),
         baseline ? "baseline" : against_words(difference), row.verdicts.empty() ? "–" : row.verdict(),
         leaves_words(row), update_words(row), fixed(row.tokens_per_second, 0)});
  }
  return table;
}

std::vector<std::vector<std::string>> settings_table(const Comparison& all, const std::string& mark) {
  std::vector<std::vector<std::string>> table(1, {tr("setting")});
  for (size_t run = 0; run < all.runs.size(); ++run)
    table.front().push_back(run == all.baseline() ? tr("{run} (baseline)", {{"run", all.letter(run)}})
                                                  : std::string(1, all.letter(run)));
  for (const Setting& setting : all.settings) {
    table.push_back({setting.label});
    for (size_t run = 0; run < all.runs.size(); ++run)
      table.back().push_back((setting.differs(run, all.baseline()) ? mark : "") +
                             value_words(all, setting, run));
  }
  return table;
}

std::string unread_sentence(const Comparison& all) {
  std::string text;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    const records::LinesRead& read = all.runs[run].read;
    if (read.fault().empty()) continue;
    text += (text.empty() ? "" : " ") +
            tr(read.broken > 0
                   ? "{run}: {count} of {lines} lines of its log cannot be read and is left out; {why}. | "
                     "{run}: {count} of {lines} lines of its log cannot be read and are left out; {why}."
                   : "{run}: its log is read in part; {why}.",
               {{"run", all.letter(run)},
                {"count", read.broken},
                {"lines", read.lines},
                {"why", read.faults.empty() ? "" : words::spoken(read.faults.front())}});
  }
  return text;
}

std::vector<std::string> together(const Comparison& all,
                                  const std::vector<std::pair<size_t, std::string>>& by_run) {
  std::vector<std::pair<std::string, std::vector<std::string>>> parts;
  for (const auto& [run, text] : by_run) {
    if (text.empty()) continue;
    auto at = std::ranges::find_if(parts, [&, &text = text](const auto& part) { return part.first == text; });
    if (at == parts.end()) at = parts.insert(at, {text, {}});
    at->second.emplace_back(1, all.letter(run));
  }
  std::vector<std::string> sentences;
  for (auto& [text, letters] : parts) {
    std::ranges::sort(letters);
    sentences.push_back(fmt::format("{}: {}", in_words(letters, tr("and")), text));
  }
  return sentences;
}

std::string counting_sentence(const Comparison& all) {
  std::vector<std::string> from_zero, from_one;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    const Series loss = all.runs[run].seeds.front().history->loss();
    if (loss.steps.empty() || loss.steps.front() > 1) continue;
    (loss.steps.front() == 1 ? from_one : from_zero).emplace_back(1, all.letter(run));
  }
  if (from_zero.empty() || from_one.empty() || all.choice.align != Alignment::Step) return "";
  return tr(
      "{runs} counts its steps from 0, {others} from 1: equal numbers are compared, which are a step apart. | "
      "{runs} count their steps from 0, {others} from 1: equal numbers are compared, which are a step apart.",
      {{"count", from_zero.size()},
       {"runs", in_words(from_zero, tr("and"))},
       {"others", in_words(from_one, tr("and"))}});
}

std::string missing_sentence(const Comparison& all) {
  std::string text = unread_sentence(all);
  if (const std::string counting = counting_sentence(all); !counting.empty())
    text += (text.empty() ? "" : " ") + counting;
  std::vector<std::pair<size_t, std::string>> lacking;
  for (const EndRow& row : all.rows)
    if (!row.missing.empty())
      lacking.emplace_back(row.run,
                           tr("not in {where}: {what}.", {{"where", where_missing(all.runs[row.run])},
                                                          {"what", in_words(row.missing, tr("and"))}}));
  for (const std::string& sentence : together(all, lacking)) text += (text.empty() ? "" : " ") + sentence;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (all.runs[run].took_place)
      text +=
          (text.empty() ? "" : " ") +
          tr("{run}: another run took the place of the one before in this file.", {{"run", all.letter(run)}});
  return text;
}

std::string edits_words(const Recording& run) {
  std::string text;
  std::optional<RunSpec> spec = run.origin;
  for (size_t i = 0; i < run.edits.size();) {
    const int32_t step = run.edits[i].step;
    std::vector<Edit> together;
    for (; i < run.edits.size() && run.edits[i].step == step; ++i) together.push_back(run.edits[i]);
    std::optional<RunSpec> after = edited(spec, together);
    const std::vector<std::string> words = step_words(together, spec, after);
    // An edit of step 301 is shown at step 300, which the run had done by then and where the timeline has it.
    if (!words.empty())
      text += (text.empty() ? "" : "; ") +
              tr("{edits} at {step}",
                 {{"edits", fmt::format("{}", fmt::join(words, ", "))}, {"step", std::max(step - 1, 0)}});
    spec = std::move(after);
  }
  return text.empty() ? tr("none") : text;
}

}  // namespace normscope::compare
