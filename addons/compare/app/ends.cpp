// `rows_of` makes the table at the end, which says what the runs came to. See comparison.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "addons/compare/app/tracks.h"
#include "app/words/words.h"
#include "training/measure/plateau.h"
#include "training/measure/verdict.h"

namespace normscope::compare {
namespace {

int32_t warmup_of(const Recording& run) {
  if (run.spec) return run.spec->train.schedule.warmup;
  for (const auto& [key, value] : run.settings)
    if (key == "train.warmup") return static_cast<int32_t>(std::atoi(value.c_str()));
  return 0;
}

/// Applies the rule of training/measure/plateau.h to the losses of a log that names no events. Without a
/// level, which the plateau needs, it finds only losses that are not finite.
std::vector<RunEvent> events_from(const Series& loss, double level, int32_t warmup) {
  std::vector<RunEvent> events;
  Plateau plateau;
  for (size_t i = 0; i < loss.steps.size(); ++i) {
    const int32_t step = loss.steps[i];
    if (!std::isfinite(loss.values[i])) {
      events.push_back({step, RunEvent::Kind::NonFinite, {}});
      break;
    }
    if (!std::isfinite(level)) continue;
    if (const auto kind = plateau.update(step, static_cast<double>(loss.values[i]), level, warmup))
      events.push_back({step, *kind, {}});
  }
  return events;
}

/// Asks the run's own events, else its file's word, else its losses. A word of a file's own, "ignores the source", stays
/// as it is; nothing where it is not known.
std::optional<Verdict> verdict_of(const Recording& run, const SeedRecord& seed) {
  const std::vector<RunEvent> events = seed.history->events();
  const Verdict verdict = normscope::verdict_of(events);
  if (verdict.kind != Verdict::Kind::Undecided) return verdict;
  if (!seed.said.empty()) {
    const std::optional<Verdict> said = verdict_from(seed.said);
    return said ? *said : Verdict{Verdict::Kind::Undecided, 0, seed.said};
  }
  const Verdict found = normscope::verdict_of(
      events_from(seed.history->loss(), seed.number(records::kUnigram), warmup_of(run)));
  const bool decided = found.kind != Verdict::Kind::Undecided || !events.empty();
  return decided || std::isfinite(seed.number(records::kUnigram)) ? std::optional(found) : std::nullopt;
}

/// "learns", "stuck", "not finite", "not decided", or a word of the file's own.
std::string word_of(const Verdict& verdict) {
  const bool own = verdict.kind == Verdict::Kind::Undecided && !verdict.where.empty();
  return own ? verdict.where : std::string(normscope::word_of(verdict.kind));
}

const std::string& spoken_word(const std::string& word) { return tr(word); }

/// Says "learns 3 of 5, stuck 2 of 5", "stuck, 1 seed" or "not finite at step 101, 1 seed".
std::string verdict_text(const std::vector<Verdict>& verdicts) {
  if (verdicts.size() == 1) {
    const Verdict& only = verdicts.front();
    const bool at = only.kind == Verdict::Kind::NotFinite && only.since > 0;
    return tr(at ? "{fate} at step {step}, 1 seed" : "{fate}, 1 seed",
              {{"fate", spoken_word(word_of(only))}, {"step", only.since}});
  }
  std::vector<std::pair<std::string, int>> counts;  // in the order of their first seed
  for (const Verdict& verdict : verdicts) {
    const std::string word = word_of(verdict);
    const auto known = std::ranges::find(counts, word, &std::pair<std::string, int>::first);
    if (known == counts.end())
      counts.emplace_back(word, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [word, count] : counts)
    text +=
        (text.empty() ? "" : ", ") +
        tr("{fate} {of} of {all}", {{"fate", spoken_word(word)}, {"of", count}, {"all", verdicts.size()}});
  return text;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kUnknown;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

/// The last step's norm over the weights' norm, of all parameters of layer 1 together.
double update_ratio(const Ruler& ruler, const Recording& run, const SeedRecord& seed) {
  const History& history = *seed.history;
  const Track loss = ruler.track(history.loss(), ruler.per_step(run));
  std::vector<float> stats;
  int32_t step = 0;
  if (loss.empty() || !history.frame(loss.steps.back(), stats, step)) return kUnknown;
  const std::string layer = stack_of(history) + "L01.";
  std::array<double, 2> squares{};
  constexpr std::array<std::string_view, 2> kinds{".update_norm", ".weight_norm"};
  for (size_t i = 0; i < history.layout().size() && i < stats.size(); ++i) {
    const std::string& name = history.layout()[i].name;
    if (!name.starts_with(layer)) continue;
    for (size_t k = 0; k < kinds.size(); ++k)
      if (name.ends_with(kinds[k])) squares[k] += static_cast<double>(stats[i]) * stats[i];
  }
  return squares[1] > 0 ? std::sqrt(squares[0] / squares[1]) : kUnknown;
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
  const bool has_loss = put_losses(row, ruler, run);
  std::vector<Verdict> verdicts;
  std::vector<double> since, updates, speeds;
  bool never_left = true;
  for (const SeedRecord& seed : run.seeds) {
    const std::optional<Verdict> verdict = verdict_of(run, seed);
    if (verdict) verdicts.push_back(*verdict);
    if (verdict && verdict->kind == Verdict::Kind::Learns) since.push_back(verdict->since);
    never_left = never_left && verdict && verdict->where != word_of(*verdict) &&
                 (verdict->kind == Verdict::Kind::Stuck || verdict->kind == Verdict::Kind::Undecided);
    updates.push_back(update_ratio(ruler, run, seed));
    speeds.push_back(seed.number(records::kTokensPerStep) / seed.number(records::kSecondsPerStep));
  }
  if (verdicts.size() == run.seeds.size()) {
    row.verdict = verdict_text(verdicts);
    row.fate = word_of(verdicts.front());
  }
  if (!since.empty())
    row.leaves = static_cast<int32_t>(median(since));
  else if (never_left)
    row.leaves = 0;
  row.update_ratio = median(updates);
  std::erase_if(speeds, [](double speed) { return !std::isfinite(speed); });
  double sum = 0;
  for (const double speed : speeds) sum += speed;
  if (!speeds.empty()) row.tokens_per_second = sum / static_cast<double>(speeds.size());
  if (!has_loss) row.missing.push_back(tr("loss"));
  if (row.verdict.empty())
    row.missing.push_back(tr("the line of {frequencies}, which the verdict needs",
                             {{"frequencies", words::spoken(frequencies_of(all.level_unit))}}));
  if (!std::isfinite(row.update_ratio)) row.missing.push_back(tr("update ÷ weight"));
  if (!std::isfinite(row.tokens_per_second)) row.missing.push_back(tr("tokens/s"));
  return row;
}

}  // namespace

std::vector<EndRow> rows_of(const Comparison& all, const Ruler& ruler) {
  std::vector<EndRow> rows;
  for (size_t run = 0; run < all.runs.size(); ++run) rows.push_back(make_row(all, ruler, run));
  // Where one run went further, its own end does not compare with the others: all are held against the baseline.
  const bool early = std::any_of(all.differences.begin(), all.differences.end(),
                                 [](const Difference& d) { return d.early; });
  const auto height = [&](const EndRow& row) {
    if (!early || !std::isfinite(row.loss)) return row.loss;
    return row.run == all.baseline() ? 0 : all.differences[row.run].end;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const EndRow& a, const EndRow& b) {
    return std::isfinite(height(a)) && (!std::isfinite(height(b)) || height(a) < height(b));
  });
  return rows;
}

}  // namespace normscope::compare
