// The part of LiveMeasurements that looks at the heads of an attention: see step_metrics.h.
//
// The largest score of a query is that of its most probable key, as softmax and a cap keep the order. So the scores,
// which no program stores, need one product of a query with one key each, whatever is masked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/measure_rows.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/rules.h"
#include "training/measure/step_metrics.h"

namespace normscope {
namespace {

/// The larger of two, or the one that is not a number, so that a broken score shows.
double larger_number(double a, double b) { return b > a || b != b ? b : a; }

/// The first key of the largest probability, or one whose probability is not a number.
size_t most_probable(const float* p, size_t keys) {
  size_t best = 0;
  for (size_t k = 1; k < keys; ++k)
    if (p[k] > p[best] || p[k] != p[k]) best = k;
  return best;
}

/// NaN, as what is not measured, where no query sees a key.
double or_nothing(double largest) {
  return largest == -std::numeric_limits<double>::infinity() ? std::numeric_limits<double>::quiet_NaN()
                                                             : largest;
}

double product(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

LiveMeasurements::Scores LiveMeasurements::scores_of(const Node& attention) {
  const AttentionScores of = rules_of(attention.op).scores(attention);
  return {of.queries,
          of.keys,
          of.position,
          of.distances,
          static_cast<size_t>(of.heads),
          static_cast<double>(of.scale),
          static_cast<double>(of.cap)};
}

void LiveMeasurements::make_room_for_heads(int32_t sequences) {
  const auto shape = [&](ValueId v) { return program_->data().values[static_cast<size_t>(v)].shape; };
  const auto each = [&](ValueId v) { return static_cast<size_t>(sequences * shape(v)[1] * shape(v)[2]); };
  for (Sublayer& s : sublayers_) {
    if (s.probabilities == kNone) continue;
    Scores& x = s.scores;
    const Shape p = shape(s.probabilities);
    p_.reserve(static_cast<size_t>(sequences * p[1] * p[2] * p[3]));
    queries_.reserve(each(x.queries));
    keys_.reserve(each(x.keys));
    x.scale = AttentionSpec{.scale = static_cast<float>(x.scale)}.scale_of(shape(x.queries)[2] / p[1]);
    if (x.distances == kNone) continue;
    position_.reserve(each(x.position));
    distances_.reserve(static_cast<size_t>(shape(x.distances).size()));
  }
}

void LiveMeasurements::lay_out_heads(const Sublayer& s, int32_t layer) {
  for (const char* number : {".attention_entropy", ".largest_logit", ".first_mass"})
    layout_.push_back({s.name + number, layer});
  for (size_t h = 1; h <= s.scores.heads; ++h)
    for (const char* number : {"entropy", "logit", "first_mass"})
      layout_.push_back({fmt::format("{}.head.{}.{}", s.name, h, number), layer});
}

/// A query's score of a key as it goes into the softmax:
///   S  =  scale (q k + e r_d)                    // e r_d: only of relative positions, d how far back the key is
///   S  =  cap tanh(S / cap)                      // only with a cap
double LiveMeasurements::score(const Scores& x, size_t sequence, size_t head, size_t query,
                               size_t key) const {
  const auto shape = [&](ValueId v) { return program_->data().values[static_cast<size_t>(v)].shape; };
  const auto queries = static_cast<size_t>(shape(x.queries)[1]), keys = static_cast<size_t>(shape(x.keys)[1]);
  const auto all = static_cast<size_t>(shape(x.queries)[2]), shared = static_cast<size_t>(shape(x.keys)[2]);
  const size_t width = all / x.heads, from = head * width;
  const size_t q = (sequence * queries + query) * all + from,
               k = (sequence * keys + key) * shared + head / (all / shared) * width;
  double sum = product(&queries_[q], &keys_[k], width);
  if (x.distances != kNone)
    sum += product(&position_[q], &distances_[(query + keys - queries - key) * all + from], width);
  sum *= x.scale;
  return x.cap > 0 ? x.cap * std::tanh(sum / x.cap) : sum;
}

/// The largest of a head's first `counted` queries, minus infinity where they see no key.
double LiveMeasurements::largest_score(const Sublayer& s, size_t sequence, size_t head, const float* p,
                                       size_t counted) const {
  const auto keys =
      static_cast<size_t>(program_->data().values[static_cast<size_t>(s.probabilities)].shape[3]);
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < counted; ++t, p += keys) {
    const size_t key = most_probable(p, keys);
    if (p[key] == 0) continue;
    const double broken = p[key] != p[key] ? std::numeric_limits<double>::quiet_NaN() : 0;
    largest = larger_number(largest, score(s.scores, sequence, head, t, key) + broken);
  }
  return largest;
}

/// Writes the sub-layer's three numbers, then three of each head, and returns where the next goes.
double* LiveMeasurements::number_heads(const Sublayer& s, double* number) {
  const Shape& shape = program_->data().values[static_cast<size_t>(s.probabilities)].shape;
  const size_t sequences = rows_ / tokens_per_sequence_, heads = s.scores.heads;
  const auto queries = static_cast<size_t>(shape[2]), keys = static_cast<size_t>(shape[3]);
  const size_t counted = std::min(queries, tokens_per_sequence_);
  const auto width =
      static_cast<size_t>(program_->data().values[static_cast<size_t>(s.scores.queries)].shape[2]);
  load(s.probabilities, p_, sequences * heads * queries * keys);
  load(s.scores.queries, queries_, sequences * queries * width);
  load(s.scores.keys, keys_,
       sequences * keys *
           static_cast<size_t>(program_->data().values[static_cast<size_t>(s.scores.keys)].shape[2]));
  if (s.scores.distances != kNone) {
    load(s.scores.position, position_, sequences * queries * width);
    const Shape& distances = program_->data().values[static_cast<size_t>(s.scores.distances)].shape;
    load(s.scores.distances, distances_, static_cast<size_t>(distances.size()));
  }
  double *own = number + 3, total = 0, largest = -std::numeric_limits<double>::infinity(), mass = 0;
  std::fill(own, own + 3 * heads, 0.0);
  for (size_t h = 0; h < heads; ++h) own[3 * h + 1] = largest;
  const auto rows = static_cast<double>(sequences * counted);
  for (size_t i = 0; i < sequences * heads; ++i) {
    double* of_head = own + i % heads * 3;
    const float* p = &p_[i * queries * keys];
    const double entropy = cpu::entropy(p, static_cast<int64_t>(counted * keys));
    total += entropy;
    of_head[0] += entropy / rows;
    of_head[1] = larger_number(of_head[1], largest_score(s, i / heads, i % heads, p, counted));
    for (size_t t = 0; t < counted; ++t) of_head[2] += static_cast<double>(p[t * keys]) / rows;
  }
  for (size_t h = 0; h < heads; ++h) {
    largest = larger_number(largest, own[3 * h + 1]);
    mass += own[3 * h + 2] / static_cast<double>(heads);
    own[3 * h + 1] = or_nothing(own[3 * h + 1]);
  }
  number[0] = total / static_cast<double>(sequences * heads * counted);
  number[1] = or_nothing(largest);
  number[2] = mass;
  return own + 3 * heads;
}

}  // namespace normscope
