// See beam.h.
#include "addons/translation/training/beam.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"

namespace normscope {
namespace {

struct Candidate {
  double log_probability;
  int32_t from;  // index of the hypothesis
  int32_t symbol;
  bool operator<(const Candidate& o) const {  // better first
    if (log_probability != o.log_probability) return log_probability > o.log_probability;
    return from != o.from ? from < o.from : symbol < o.symbol;
  }
};

struct Sentence {
  std::vector<Hypothesis> live = {Hypothesis{}};
  std::vector<Hypothesis> finished;
  bool done = false;
};

// Adds the `count` best continuations of one hypothesis to the candidates. A probability that is not a
// number is skipped.
void add_best(const Hypothesis& from, int32_t index, std::span<const float> next, size_t count,
              std::vector<Candidate>& candidates, std::vector<int32_t>& order) {
  order.clear();
  for (size_t v = 0; v < next.size(); ++v)
    if (!std::isnan(next[v])) order.push_back(static_cast<int32_t>(v));
  const size_t kept = std::min(count, order.size());
  const auto better = [&](int32_t a, int32_t b) {
    const float x = next[static_cast<size_t>(a)], y = next[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), better);
  for (size_t i = 0; i < kept; ++i)
    candidates.push_back(
        {from.log_probability + static_cast<double>(next[static_cast<size_t>(order[i])]), index, order[i]});
}

void advance(Sentence& s, std::vector<Candidate>& candidates, int32_t end, size_t beam, bool last) {
  std::sort(candidates.begin(), candidates.end());
  std::vector<Hypothesis> live;
  for (size_t rank = 0; rank < candidates.size() && live.size() < beam; ++rank) {
    const Candidate& c = candidates[rank];
    const bool ended = c.symbol == end;
    if (ended && rank >= beam)
      continue;  // an end that is no better than the beam's other continuations waits
    Hypothesis h = s.live[static_cast<size_t>(c.from)];
    h.symbols.push_back(c.symbol);
    h.log_probability = c.log_probability;
    (ended ? s.finished : live).push_back(std::move(h));
  }
  s.live = std::move(live);
  s.done = s.live.empty() || s.finished.size() >= beam || last;
  if (last || (s.live.empty() && s.finished.empty()))
    s.finished.insert(s.finished.end(), s.live.begin(), s.live.end());
}

}  // namespace

double Hypothesis::score(double length_penalty) const {
  return log_probability / std::pow(static_cast<double>(std::max<size_t>(symbols.size(), 1)), length_penalty);
}

std::vector<Hypothesis> beam_search(std::span<const int32_t> longest, int32_t vocabulary, int32_t end,
                                    const BeamOptions& options, const NextSymbols& next) {
  if (options.beam < 1) fail("beam", "the beam is {}: expected at least 1", options.beam);
  const auto beam = static_cast<size_t>(options.beam), V = static_cast<size_t>(vocabulary);
  std::vector<Sentence> sentences(longest.size());
  std::vector<int32_t> order;
  for (int32_t length = 1;; ++length) {
    std::vector<BeamRow> rows;
    for (size_t s = 0; s < sentences.size(); ++s)
      for (size_t k = 0; !sentences[s].done && k < sentences[s].live.size(); ++k)
        rows.push_back({static_cast<int32_t>(s), static_cast<int32_t>(k), &sentences[s].live[k].symbols});
    if (rows.empty()) break;
    const std::span<const float> probabilities = next(rows);
    size_t row = 0;
    for (size_t s = 0; s < sentences.size(); ++s) {
      if (sentences[s].done) continue;
      std::vector<Candidate> candidates;
      for (size_t k = 0; k < sentences[s].live.size(); ++k, ++row)
        add_best(sentences[s].live[k], static_cast<int32_t>(k), probabilities.subspan(row * V, V), 2 * beam,
                 candidates, order);
      advance(sentences[s], candidates, end, beam, length >= longest[s]);
    }
  }
  std::vector<Hypothesis> best;
  for (Sentence& s : sentences) {
    const auto at = std::ranges::max_element(s.finished, [&](const Hypothesis& a, const Hypothesis& b) {
      return a.score(options.length_penalty) < b.score(options.length_penalty);
    });
    best.push_back(at == s.finished.end() ? Hypothesis{} : std::move(*at));
  }
  return best;
}

}  // namespace normscope
