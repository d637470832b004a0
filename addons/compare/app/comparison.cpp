// Puts the parts of a comparison together, and writes its table of settings and its sentences. See comparison.h.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "addons/compare/app/comparison.h"
#include "addons/compare/app/writers.h"
#include "app/words/words.h"
#include "training/spec/spec_text.h"

namespace normscope::compare {
namespace {

/// "1–5" or "1, 3, 7"; nothing where one of the seeds is not known.
std::optional<std::string> seeds_text(const Recording& run) {
  std::vector<uint64_t> seeds;
  for (const SeedRecord& one : run.seeds) {
    if (one.origin.seed == 0) return {};
    seeds.push_back(one.origin.seed);
  }
  std::ranges::sort(seeds);
  if (seeds.size() > 2 && seeds.back() - seeds.front() + 1 == seeds.size())
    return fmt::format("{}–{}", seeds.front(), seeds.back());
  return fmt::format("{}", fmt::join(seeds, ", "));
}

/// The row of data sets; a hash tells apart data of one name and different contents.
Setting data_setting(const Comparison& all) {
  Setting data{"data", tr("data"), {}};
  for (const Recording& run : all.runs) {
    const std::string own = to_words(run.data);
    std::string text = words::spoken(own);
    const auto is_other = [&](const Recording& other) {
      return to_words(other.data) == own && data_of(run, other) == SameData::Other;
    };
    if (!run.data.hash.empty() && std::ranges::any_of(all.runs, is_other))
      text += fmt::format(" ({})", run.data.hash.substr(0, 8));
    data.values.push_back(run.data.unknown() ? std::optional<std::string>{} : text);
  }
  return data;
}

/// Whether a key is not one of our settings, but a log's name for one of another program.
bool is_foreign(const std::string& key) { return !find_field(key) && !key.starts_with("wiring."); }

/// Joins the settings that only one log has in one row, "streams 2, width 64".
void add_own(Setting& own, const Setting& setting) {
  own.values.resize(setting.values.size());
  for (size_t run = 0; run < setting.values.size(); ++run)
    if (const auto& value = setting.values[run])
      own.values[run] = own.values[run].value_or("") + (own.values[run] ? ", " : "") +
                        fmt::format("{} {}", setting.key, *value);
}

std::string label_of(const std::string& key) {
  const Field* field = find_field(key);
  if (!field) return key;
  const std::string label = words::spoken(field->label);
  return field->unit.empty() ? label : fmt::format("{} ({})", label, words::spoken(field->unit));
}

bool equal(const Series& a, const Series& b) {
  return a.steps == b.steps && a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0);
}

/// Equal in loss and in every stat; false where one of the two lacks a stat.
bool equal(const History& a, const History& b) {
  if (a.layout().size() != b.layout().size() || !equal(a.loss(), b.loss())) return false;
  std::map<std::string_view, int32_t> places;
  for (const StatInfo& stat : b.layout()) places.emplace(stat.name, static_cast<int32_t>(places.size()));
  for (size_t i = 0; i < a.layout().size(); ++i) {
    const auto found = places.find(a.layout()[i].name);
    if (found == places.end() || !equal(a.series(static_cast<int32_t>(i)), b.series(found->second)))
      return false;
  }
  return true;
}

bool reads_other(const Recording& run, const Recording& base) {
  return data_of(run, base) == SameData::Other;
}

/// The unit of a symbol, from any run on the baseline's data that names it; empty where two disagree.
std::string unit_of(const std::vector<Recording>& runs, const Recording& base) {
  std::string unit;
  for (const Recording& run : runs) {
    if (reads_other(run, base) || run.data.unit.empty()) continue;
    if (!unit.empty() && unit != run.data.unit) return "";
    unit = run.data.unit;
  }
  return unit;
}

/// Restores the name of a placement of the user's own, because files keep only its wiring.
void name_placements(Recording& run) {
  if (!run.spec) return;
  bool named = true;
  for (auto& [key, value] : run.settings)
    if (key == "model.placement" || key == "model.encoder_placement") {
      value = get_field(*run.spec, key);
      named = named && value != to_string(Placement::Custom);
    }
  if (named) std::erase_if(run.settings, [](const auto& one) { return one.first.starts_with("wiring."); });
}

void name_apart(std::vector<Recording>& runs) {
  std::vector<NamedSettings> named;
  for (const Recording& run : runs) named.push_back({run.name, run.settings});
  const std::vector<std::string> told = told_apart(named);
  for (size_t i = 0; i < runs.size(); ++i) runs[i].name = told[i];
}

void check(const std::vector<Recording>& runs, const Choice& choice) {
  if (runs.size() < kMin || runs.size() > kMax)
    fail("compare", "{} runs: expected {} to {}", runs.size(), kMin, kMax);
  for (const Recording& run : runs)
    if (run.seeds.empty() ||
        !std::ranges::all_of(run.seeds, [](const SeedRecord& seed) { return seed.history != nullptr; }))
      fail("compare", "{} has no history: expected one a seed", run.name);
  if (choice.baseline < 0 || static_cast<size_t>(choice.baseline) >= runs.size())
    fail("compare", "baseline {}: expected 1 to {}", choice.baseline + 1, runs.size());
}

/// "B ends 0.20 above A"; where the two end at different steps, "B is 0.20 above A at step 60, mean of 20".
std::string side_words(const Difference& d, char run, char base) {
  const std::string when = d.when();
  const bool ends = when.empty(), below = d.end < 0;
  return tr(ends && below ? "{run} ends {nats} below {base}"
            : ends        ? "{run} ends {nats} above {base}"
            : below       ? "{run} is {nats} below {base} {when}"
                          : "{run} is {nats} above {base} {when}",
            {{"run", run}, {"nats", nats_words(std::fabs(d.end))}, {"base", base}, {"when", when}});
}

/// Adds the placement to the settings, and takes out the seed.
void complete_settings(Recording& run) {
  const auto is = [](const char* key) { return [key](const auto& setting) { return setting.first == key; }; };
  if (!run.placement.empty() && std::ranges::none_of(run.settings, is("model.placement")))
    run.settings.emplace_back("model.placement", run.placement);
  std::erase_if(run.settings, is("run.seed"));
}

bool is_seed_of(const Recording& run, const Recording& known) {
  const uint64_t seed = run.seeds.front().origin.seed;
  return run.path == known.path && run.log_letter == known.log_letter && run.name == known.name &&
         run.edits == known.edits && run.settings == known.settings && seed != 0 &&
         std::ranges::none_of(known.seeds, [&](const SeedRecord& other) {
           return other.origin.seed == seed || other.origin.seed == 0;
         });
}

constexpr size_t kMaxReruns = 128;  // kept histories; where one more is needed, all are dropped

const RunView* run_of(const LabView& view, char letter) {
  const int at = view::find_run(view, letter);
  if (at < 0) return nullptr;
  const RunView& run = view.runs[static_cast<size_t>(at)];
  return run.history && run.spec ? &run : nullptr;
}

/// A warm-up that follows the loss may last to the end.
int32_t warmup_of(const Recording& run) {
  constexpr int32_t kOpen = std::numeric_limits<int32_t>::max();
  if (run.spec) return run.spec->train.schedule.target > 0 ? kOpen : run.spec->train.schedule.warmup;
  int32_t steps = 0;
  for (const auto& [key, value] : run.settings) {
    if (key == "train.warmup") steps = static_cast<int32_t>(std::atoi(value.c_str()));
    if (key == "train.warmup_target" && std::atof(value.c_str()) > 0) return kOpen;
  }
  return steps;
}

/// The yardstick of a run with these losses. A log whose settings are not ours has ended.
Yardstick yardstick_of(const Recording& run, const SeedRecord& seed, const Series& loss) {
  Yardstick by{.level = seed.number(records::kUnigram)};
  if (run.spec)
    by.guessing = guessing_loss(run.spec->model);
  else if (run.data.symbols > 1)
    by.guessing = std::log(static_cast<double>(run.data.symbols));
  const int32_t last = loss.steps.empty() ? 0 : loss.steps.back();
  by.ended = last > warmup_of(run) && (!run.spec || last >= run.spec->train.steps);
  return by;
}

/// Reads what to_string(Verdict) writes; nothing for any other text.
std::optional<Verdict> verdict_from(std::string_view text) {
  for (size_t kind = 0; kind < static_cast<size_t>(Verdict::Failed); ++kind) {
    if (!text.starts_with(kVerdictWords[kind])) continue;
    Verdict verdict{static_cast<Verdict::Kind>(kind)};
    const std::string_view last = text.substr(text.rfind(' ') + 1);
    std::from_chars(last.data(), last.data() + last.size(), verdict.since);
    return verdict;
  }
  return std::nullopt;
}

/// From the run's own events, else the verdict in its file, else its losses; nothing where there is none.
std::optional<SeedVerdict> verdict_of(const Recording& run, const SeedRecord& seed) {
  const std::vector<RunEvent> events = seed.history->events();
  const Series loss = seed.history->loss();
  const Yardstick by = yardstick_of(run, seed, loss);
  const Verdict told = normscope::verdict_of(events);
  const Verdict verdict = events.empty() ? told : judge(told, loss.values, by);
  if (verdict.kind != Verdict::Kind::Undecided) return SeedVerdict{verdict};
  if (!seed.said.empty()) {
    const std::optional<Verdict> said = verdict_from(seed.said);
    return said ? SeedVerdict{*said} : SeedVerdict{{}, seed.said};
  }
  const Verdict found =
      judge(normscope::verdict_of(events_of(loss, by.level, warmup_of(run))), loss.values, by);
  const bool decided = found.kind != Verdict::Kind::Undecided || !events.empty();
  return decided || std::isfinite(seed.number(records::kUnigram)) ? std::optional(SeedVerdict{found})
                                                                  : std::nullopt;
}

/// Whether the seed was seen not to leave the plateau.
bool never_left(const SeedVerdict& seed) {
  return seed.own.empty() && (seed.verdict == Verdict::Stuck || seed.verdict == Verdict::TooSlow ||
                              seed.verdict == Verdict::Undecided);
}

std::string spoken_word(const SeedVerdict& seed) {
  return tr(seed.own.empty() ? word_of(seed.verdict.kind) : std::string_view(seed.own));
}

/// The verdicts in words, each with the number of its seeds: the most frequent first, then in the order of the kinds.
std::vector<std::pair<std::string, size_t>> counted(const std::vector<SeedVerdict>& verdicts) {
  std::map<std::pair<Verdict::Kind, std::string>, size_t> by_kind;
  for (const SeedVerdict& seed : verdicts) ++by_kind[{seed.verdict.kind, spoken_word(seed)}];
  std::vector<std::pair<std::string, size_t>> counts;
  for (const auto& [kind, count] : by_kind) counts.emplace_back(kind.second, count);
  std::ranges::stable_sort(counts, std::greater(), &std::pair<std::string, size_t>::second);
  return counts;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kUnknown;
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

/// Whether a stat is a norm of updates or of weights of these layers ("L01."; "": of any parameter).
bool is_norm_of(std::string_view stat, std::string_view layer, std::string_view norm) {
  return stat.starts_with(layer) && stat.ends_with(norm);
}
constexpr std::array<std::string_view, 2> kNorms{".update_norm", ".weight_norm"};

/// Norm of the last measured update over the norm of the weights, of all parameters of layer 1 together.
double update_ratio(const Ruler& ruler, const Recording& run, const SeedRecord& seed) {
  const History& history = *seed.history;
  const Track loss = ruler.track(history.loss(), ruler.per_step(run));
  const std::string layer = stack_of(history) + "L01.";
  const auto has = [&](const StatInfo& stat) { return is_norm_of(stat.name, layer, kNorms[0]); };
  if (loss.empty() || std::ranges::none_of(history.layout(), has)) return kUnknown;
  std::vector<float> stats;
  // A log need not have measured them at its last step.
  for (int32_t step = loss.steps.back(); history.frame(step, stats, step); --step) {
    std::array<double, 2> squares{};
    for (size_t i = 0; i < history.layout().size() && i < stats.size(); ++i)
      for (size_t k = 0; k < kNorms.size(); ++k)
        if (is_norm_of(history.layout()[i].name, layer, kNorms[k]))
          squares[k] += static_cast<double>(stats[i]) * stats[i];
    if (std::isfinite(squares[0]) && squares[1] > 0) return std::sqrt(squares[0] / squares[1]);
  }
  return kUnknown;
}

/// What a run lacks for the update of layer 1: the norms, or the layer of the parameters that have them.
std::string lacking_update(const Recording& run) {
  const auto has = [&](bool of_layer) {
    return std::ranges::any_of(run.seeds, [&](const SeedRecord& seed) {
      const std::string layer = of_layer ? stack_of(*seed.history) + "L01." : "";
      return std::ranges::any_of(seed.history->layout(), [&](const StatInfo& stat) {
        return is_norm_of(stat.name, layer, kNorms[0]);
      });
    });
  };
  return has(false) && !has(true) ? tr("update ÷ weight of a parameter named as layer 1's")
                                  : tr("update ÷ weight");
}

/// What a run lacks for its tokens per second.
std::string lacking_speed(const Recording& run) {
  const bool timed = std::ranges::all_of(
      run.seeds, [](const SeedRecord& seed) { return std::isfinite(seed.number(records::kSecondsPerStep)); });
  return timed ? tr("tokens a step, which tokens/s needs") : tr("tokens/s");
}

/// False where the run has no loss.
bool put_losses(EndRow& row, const Ruler& ruler, const Recording& run) {
  std::vector<double> ends;
  for (const SeedRecord& seed : run.seeds) {
    const Track loss = ruler.track(seed.history->loss(), ruler.per_step(run));
    if (loss.empty()) continue;
    row.last_step = std::max(row.last_step, loss.steps.back());
    ends.push_back(mean_at_end(loss, window_at(run, loss.steps.back())));
  }
  if (ends.empty()) return false;
  double sum = 0, squares = 0;
  for (const double end : ends) sum += end;
  row.loss = sum / static_cast<double>(ends.size());
  for (const double end : ends) squares += (end - row.loss) * (end - row.loss);
  if (ends.size() > 1) row.deviation = std::sqrt(squares / static_cast<double>(ends.size() - 1));
  return true;
}

EndRow make_row(const Comparison& all, const Ruler& ruler, size_t index) {
  const Recording& run = all.runs[index];
  EndRow row;
  row.run = index;
  row.seeds = run.seeds.size();
  const bool has_loss = put_losses(row, ruler, run);
  std::vector<double> updates, speeds;
  for (const SeedRecord& seed : run.seeds) {
    if (const std::optional<SeedVerdict> found = verdict_of(run, seed)) row.verdicts.push_back(*found);
    updates.push_back(update_ratio(ruler, run, seed));
    speeds.push_back(seed.number(records::kTokensPerStep) / seed.number(records::kSecondsPerStep));
  }
  const bool judged = row.verdicts.size() == row.seeds;
  if (const Verdicts known = row.known(); known.count(Verdict::Learns) > 0)
    row.leaves = known.since();
  else if (judged && std::ranges::all_of(row.verdicts, never_left))
    row.leaves = 0;
  row.update_ratio = median(updates);
  std::erase_if(speeds, [](double speed) { return !std::isfinite(speed); });
  double sum = 0;
  for (const double speed : speeds) sum += speed;
  if (!speeds.empty()) row.tokens_per_second = sum / static_cast<double>(speeds.size());
  if (!has_loss) row.missing.push_back(tr("loss"));
  if (!judged)
    row.missing.push_back(tr("the line of {frequencies}, which the verdict needs",
                             {{"frequencies", words::spoken(frequencies_of(all.level_unit))}}));
  if (!std::isfinite(row.update_ratio)) row.missing.push_back(lacking_update(run));
  if (!std::isfinite(row.tokens_per_second)) row.missing.push_back(lacking_speed(run));
  return row;
}

}  // namespace

Verdicts EndRow::known(int32_t step) const {
  Verdicts known;
  for (const SeedVerdict& seed : verdicts)
    if (seed.own.empty() && seed.verdict.since <= step) known.add(seed.verdict);
  return known;
}

std::string EndRow::verdict() const {
  if (seeds == 1 && !verdicts.empty()) {
    const Verdict& only = verdicts.front().verdict;
    const bool at = only == Verdict::NotFinite && only.since > 0;
    return tr(at ? "{fate} at step {step}, 1 seed" : "{fate}, 1 seed",
              {{"fate", spoken_word(verdicts.front())}, {"step", only.since}});
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counted(verdicts))
    parts.push_back(tr("{fate} {of} of {all}", {{"fate", word}, {"of", count}, {"all", seeds}}));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string EndRow::short_verdict() const {
  if (verdicts.empty()) return "";
  const auto [word, count] = counted(verdicts).front();
  if (count == seeds) return word;
  return tr("{fate} {of} of {all}", {{"fate", word}, {"of", count}, {"all", seeds}});
}

Alignment alignment_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kAlignments); ++i)
    if (name == kAlignments[i]) return static_cast<Alignment>(i);
  fail("compare", "'{}' is unknown: expected step, tokens or time", name);
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const panels::Metric metric : panels::metrics()) names.emplace_back(metric->id);
  return names;
}

void set_metric(Choice& choice, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto found = std::ranges::find(panels::metrics(), name, &Number::id);
  if (found == panels::metrics().end())
    fail("compare", "metric '{}' is unknown: {}", name, expected(name, metric_names()));
  choice.metric = *found;
  choice.matrix = 0;
  if (colon == text.npos) return;
  const std::string_view path = text.substr(colon + 1);
  if (!choice.metric->of_matrix()) fail("compare", "metric '{}' is of no matrix: expected {}", text, name);
  std::vector<std::string_view> paths;
  for (const view::Matrix& matrix : view::kMatrices) paths.push_back(matrix.path);
  const auto at = std::ranges::find(paths, path);
  if (at == paths.end()) fail("compare", "matrix '{}' is unknown: {}", path, expected(path, paths));
  choice.matrix = static_cast<int32_t>(at - paths.begin());
}

bool Setting::differs(size_t run, size_t baseline) const {
  return values[run] && values[baseline] && *values[run] != *values[baseline];
}

bool Setting::differs() const {
  const std::optional<std::string>* said = nullptr;
  for (const auto& value : values) {
    if (said && value && *value != **said) return true;
    if (!said && value) said = &value;
  }
  return false;
}

bool same_bits(const Recording& a, const Recording& b) {
  if (a.seeds.size() != b.seeds.size()) return false;
  for (size_t i = 0; i < a.seeds.size(); ++i)
    if (!equal(*a.seeds[i].history, *b.seeds[i].history)) return false;
  return true;
}

std::vector<Setting> settings_of(const Comparison& all, int32_t& shared) {
  std::vector<Setting> settings;
  std::map<std::string, size_t> places;
  const size_t count = all.runs.size();
  for (size_t run = 0; run < count; ++run)
    for (const auto& [key, value] : all.runs[run].settings) {
      if (key == "run.name" || key == "run.seed") continue;  // the name and the row of seeds have them
      const auto [place, fresh] = places.try_emplace(key, settings.size());
      if (fresh) settings.push_back({key, label_of(key), std::vector<std::optional<std::string>>(count)});
      settings[place->second].values[run] = value;
    }
  Setting maker{"maker", tr("trained by"), {}}, seeds{"seeds", tr("seeds"), {}},
      edits{"edits", tr("edits"), {}};
  const Recording& base = all.runs[all.baseline()];
  for (const Recording& run : all.runs) {
    maker.values.push_back(run.maker.empty() ? std::optional<std::string>{} : run.maker);
    seeds.values.push_back(seeds_text(run));
    if (seeds.values.back() && &run != &base && !same_batches(run, base))
      seeds.values.back() = tr("{seeds}, own batches", {{"seeds", *seeds.values.back()}});
    edits.values.push_back(run.settings.empty() ? std::optional<std::string>{} : edits_words(run));
  }
  for (Setting& setting : {std::ref(edits), std::ref(maker), std::ref(seeds)}) settings.push_back(setting);
  shared = 0;
  Setting own{"own", tr("own settings"), {}};
  std::erase_if(settings, [&](const Setting& setting) {
    const bool all_said =
        std::ranges::all_of(setting.values, [](const auto& value) { return value.has_value(); });
    const bool ours = places.contains(setting.key);
    shared += all_said && !setting.differs() && ours;
    if (!setting.differs() && !all_said && ours && is_foreign(setting.key)) add_own(own, setting);
    return !setting.differs();
  });
  if (!own.values.empty()) settings.insert(settings.begin(), own);
  const bool one_data = std::ranges::all_of(
      all.runs, [&](const Recording& run) { return data_of(run, base) == SameData::Same; });
  if (one_data) return settings;
  std::erase_if(settings, [](const Setting& setting) { return setting.key == "data.name"; });
  settings.insert(settings.begin(), data_setting(all));
  return settings;
}

Comparison compare(std::vector<Recording> runs, const Choice& choice) {
  check(runs, choice);
  Comparison all;
  all.runs = std::move(runs);
  for (Recording& run : all.runs) name_placements(run);
  name_apart(all.runs);
  all.choice = choice;
  const Recording& base = all.runs[all.baseline()];
  all.level_unit = unit_of(all.runs, base);
  if (std::ranges::none_of(all.runs, [&](const Recording& run) { return reads_other(run, base); }))
    all.unit = all.level_unit;
  const Ruler ruler = ruler_of(all.runs, choice);
  all.settings = settings_of(all, all.shared);
  all.unigram = base.seeds.front().number(records::kUnigram);
  for (const Recording& run : all.runs)
    if (!std::isfinite(all.unigram) && !reads_other(run, base))
      all.unigram = run.seeds.front().number(records::kUnigram);
  all.same = true;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    all.same = all.same && same_bits(all.runs[run], all.runs[all.baseline()]);
    all.losses.push_back(loss_of(all, ruler, run));
    all.differences.push_back(difference_of(all, ruler, run));
    all.maps.push_back(map_of(all, ruler, run));
    all.places.push_back(place_of(all, ruler, run));
  }
  all.rows = rows_of(all, ruler);
  return all;
}

bool ends_apart(const Comparison& all) { return std::ranges::any_of(all.differences, &Difference::early); }

std::string same_sentence(const Comparison& all) {
  const bool measured = std::ranges::any_of(
      all.runs, [](const Recording& run) { return !run.seeds.front().history->layout().empty(); });
  return measured ? tr("These runs are the same to the bit.")
                  : tr("The losses of these runs are equal; their logs have nothing else to compare.");
}

std::string settings_sentence(const Comparison& all) {
  if (all.same) return same_sentence(all);
  std::vector<std::string> silent;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (all.runs[run].settings.empty()) silent.push_back(fmt::format("{}", all.letter(run)));
  const auto count =
      std::ranges::count_if(all.settings, [](const Setting& setting) { return setting.differs(); });
  std::string text = count == 0 ? tr("No setting differs")
                                : tr("{count} setting differs | {count} settings differ", {{"count", count}});
  if (all.shared > 0) text += tr("; {shared} are shared", {{"shared", all.shared}});
  if (!silent.empty())
    text += tr("; {runs} does not say its settings | ; {runs} do not say their settings",
               {{"count", silent.size()}, {"runs", in_words(silent, tr("and"))}});
  return text + ".";
}

std::string data_sentence(const Comparison& all) {
  std::vector<std::pair<size_t, std::string>> data;
  for (size_t run = 0; run < all.runs.size(); ++run) data.emplace_back(run, data_words(all, run));
  std::string text;
  for (const std::string& words : together(all, data)) text += (text.empty() ? "" : " ") + words + ".";
  return text;
}

std::string loss_sentence(const Comparison& all) {
  std::vector<std::string> stuck;
  int32_t until = std::numeric_limits<int32_t>::max();
  std::vector<const EndRow*> left, partly;  // all seeds of a run left the line, or some of them
  for (const EndRow& row : all.rows) {
    const Verdicts known = row.known();
    if (row.leaves && *row.leaves > 0) {
      (static_cast<size_t>(known.count(Verdict::Learns)) == row.seeds ? left : partly).push_back(&row);
    } else if (known.count(Verdict::Stuck) > 0) {
      stuck.push_back(fmt::format("{}", all.letter(row.run)));
      until = std::min(until, row.last_step);
    }
  }
  const auto at = [&](const EndRow* row) { return std::pair(*row->leaves, row->run); };
  for (std::vector<const EndRow*>* runs : {&left, &partly}) std::ranges::sort(*runs, {}, at);
  const std::string line =
      tr("the line of {frequencies}", {{"frequencies", words::spoken(frequencies_of(all.level_unit))}});
  std::vector<std::string> sentences;
  if (!stuck.empty())
    sentences.push_back(
        tr("{runs} has not left {line} by step {step}. | {runs} have not left {line} by step {step}.",
           {{"count", stuck.size()}, {"runs", in_words(stuck, tr("and"))}, {"line", line}, {"step", until}}));
  std::string one_by_one;
  for (const EndRow* row : left)
    one_by_one += tr(!one_by_one.empty() ? ", {run} at {step}"
                     : sentences.empty() ? "{run} leaves {line} at step {step}"
                                         : "{run} leaves it at step {step}",
                     {{"run", all.letter(row->run)}, {"line", line}, {"step", *row->leaves}});
  if (!one_by_one.empty()) sentences.push_back(one_by_one + ".");
  for (const EndRow* row : partly)
    sentences.push_back(tr(sentences.empty()
                               ? "{run} leaves {line} in {part} of {all} seeds, at step {step} (median)."
                               : "{run} leaves it in {part} of {all} seeds, at step {step} (median).",
                           {{"run", all.letter(row->run)},
                            {"line", line},
                            {"part", row->known().count(Verdict::Learns)},
                            {"all", row->seeds},
                            {"step", *row->leaves}}));
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string difference_sentence(const Comparison& all) {
  if (all.same) return same_sentence(all);
  std::string text;
  const char base = all.letter(all.baseline());
  for (size_t run = 0; run < all.runs.size(); ++run) {
    const Difference& d = all.differences[run];
    if (run == all.baseline() || d.luck == Luck::Unknown) continue;
    const char letter = all.letter(run);
    if (!text.empty()) text += ' ';
    if (d.data == SameData::Other && d.luck != Luck::Same) {
      text += tr("{difference}, but on {data}: the two losses do not compare.",
                 {{"difference", side_words(d, letter, base)}, {"data", d.data_words}});
      continue;
    }
    if (d.luck == Luck::Same) {
      text += tr("{run} is the same as {base} to the bit.", {{"run", letter}, {"base", base}});
    } else if (d.luck == Luck::Inside) {
      text += tr(d.early ? "{run} is inside the band of {base}'s own seeds {when}: it may be luck."
                         : "{run} ends inside the band of {base}'s own seeds: it may be luck.",
                 {{"run", letter}, {"base", base}, {"when", d.when()}});
    } else {
      text +=
          tr(d.luck == Luck::OneSeed
                 ? "{difference}: one seed, luck cannot be told."
                 : "{difference}, in {agree} of {count} seed. | {difference}, in {agree} of {count} seeds.",
             {{"difference", side_words(d, letter, base)}, {"agree", d.agree}, {"count", d.at_end.size()}});
    }
    if (d.data == SameData::Unknown && d.luck != Luck::Same) {
      text.pop_back();
      text += fmt::format(" ({}).", d.data_words);
    }
  }
  return text;
}

std::vector<Recording> grouped(std::span<const Recording> runs) {
  std::vector<Recording> result;
  for (Recording run : runs) {
    complete_settings(run);
    // A run with settings of ours was trained by us. A log says with which version, a saved run does not.
    if (run.spec) run.maker = "normscope";
    const auto known =
        std::ranges::find_if(result, [&](const Recording& other) { return is_seed_of(run, other); });
    if (known == result.end())
      result.push_back(std::move(run));
    else
      known->seeds.push_back(std::move(run.seeds.front()));
  }
  return result;
}

std::shared_ptr<const History> LiveRuns::history_of(const std::shared_ptr<const std::vector<float>>& losses) {
  if (const auto known = reruns_.find(losses); known != reruns_.end()) return known->second;
  if (reruns_.size() >= kMaxReruns) reruns_.clear();
  std::vector<int32_t> steps(losses->size());
  std::iota(steps.begin(), steps.end(), 1);
  auto history = std::make_shared<History>(std::vector<StatInfo>{});
  history->append_dense(steps, *losses, std::vector<float>(losses->size()));
  return reruns_.emplace(losses, std::move(history)).first->second;
}

std::optional<Recording> LiveRuns::take(const LabView& view, char letter, bool clock) {
  const RunView* run = run_of(view, letter);
  if (!run) return {};
  const RunSpec& spec = *run->spec;  // as it trains now, after its edits
  Recording result;
  result.name = run->name;
  result.maker = "normscope";
  result.settings = field_values(spec);
  result.spec = spec;
  if (run->origin) result.origin = *run->origin;
  if (run->data) result.data = *run->data;
  result.edits = run->edits;
  result.letter = letter;
  const auto add = [&](uint64_t number, std::shared_ptr<const History> history) {
    SeedRecord& seed = result.seeds.emplace_back();
    seed.origin.seed = number;
    seed.history = std::move(history);
    seed.measured[records::kTokensPerStep] = units_of_step(spec);
    if (view.unigram_entropy > 0) seed.measured[records::kUnigram] = view.unigram_entropy;
  };
  add(spec.seed, run->history);
  if (clock && run->seconds_per_step > 0)
    result.seeds.front().measured[records::kSecondsPerStep] = run->seconds_per_step;
  if (run->spread)
    for (const RunSpread::Seed& rerun : run->spread->each)
      if (rerun.seed != spec.seed && rerun.losses && !rerun.losses->empty())
        add(rerun.seed, history_of(rerun.losses));
  return result;
}

std::string live_key(const LabView& view, char letter) {
  const RunView* run = run_of(view, letter);
  if (!run) return {};
  return fmt::format("{} {} {} {} {} {} {}", letter, static_cast<const void*>(run->history.get()),
                     run->history->version(), static_cast<const void*>(run->spread.get()),
                     static_cast<const void*>(run->spec.get()), run->edits.size(), run->name);
}

std::vector<EndRow> rows_of(const Comparison& all, const Ruler& ruler) {
  std::vector<EndRow> rows;
  for (size_t run = 0; run < all.runs.size(); ++run) rows.push_back(make_row(all, ruler, run));
  // If one run went further, ends do not compare: runs are ordered by their difference to the baseline.
  const bool early = ends_apart(all);
  const auto height = [&](const EndRow& row) {
    if (!early || !std::isfinite(row.loss)) return row.loss;
    return row.run == all.baseline() ? 0 : all.differences[row.run].end;
  };
  std::ranges::stable_sort(rows, [&](const EndRow& a, const EndRow& b) {
    return std::isfinite(height(a)) && (!std::isfinite(height(b)) || height(a) < height(b));
  });
  return rows;
}

}  // namespace normscope::compare
