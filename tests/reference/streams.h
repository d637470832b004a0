// The streams of the double reference model, straight from the papers: hyper-connections (Zhu et al. 2024, equations 1
// and 10 to 13), their manifold (Xie et al. 2025, equations 7 to 9), its permutations (Yang and Gao 2026), attention over depth (Chen et al. 2026) and
// weighted sums over depth (after Pagliardini et al. 2024). One position at a time; they know nothing of the engine's
// `Streams`.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/wiring.h"
#include "engine/support/named_placements.h"
#include "reference/var.h"

namespace normscope::reference {

class StreamReference {
 public:
  using Rows = Array<Var>;
  /// Finds a parameter, `Norm` normalises rows of a width by the parameters of a name; None: by the model's norm.
  using Leaf = std::function<const Rows&(const std::string&)>;
  using Norm = std::function<Rows(const std::string&, NormKind, const Rows&, int64_t)>;

  StreamReference(Placement placement, int64_t width, Leaf leaf, Norm norm)
      : placement_(placement), D_(width), leaf_(std::move(leaf)), norm_(std::move(norm)) {}

  static bool knows(Placement p) { return test::is(p, "hyper") || positive(p) || of_depth(p); }

  void start(const Rows& x) { streams_.assign(of_depth(placement_) ? 1 : kStreams, x); }

  /// Takes in the branch of sub-layer n and returns what is read next; last: the mean of all streams.
  Rows pass(const std::string& n, const std::string& seen_at, const Rows& branch, bool last) {
    const size_t positions = branch.size() / at(D_);
    if (of_depth(placement_)) {
      streams_.push_back(branch);
    } else {
      std::vector<Rows> next(kStreams, Rows(branch.size(), Var(0.0)));
      const Rows seen = row_norm(seen_at);
      for (size_t p = 0; p < positions; ++p) {
        const Rows write = weights(n + ".write", seen, p, 1, kStreams),
                   carry = weights(n + ".carry", seen, p, kStreams, kStreams);
        for (int64_t k = 0; k < D_; ++k)
          for (size_t j = 0; j < kStreams; ++j) {
            Var sum = write[j] * branch[p * at(D_) + at(k)];
            for (size_t i = 0; i < kStreams; ++i)
              sum += carry[i * kStreams + j] * streams_[i][p * at(D_) + at(k)];
            next[j][p * at(D_) + at(k)] = sum;
          }
      }
      streams_ = next;
    }
    return read(n, positions, last);
  }

 private:
  static constexpr size_t kStreams = 4;
  static bool positive(Placement p) { return test::is(p, "mhc") || test::is(p, "mhc-lite"); }
  static bool of_depth(Placement p) { return test::is(p, "attn-res") || test::is(p, "depth-average"); }

  Rows read(const std::string& n, size_t positions, bool last) {
    const size_t count = streams_.size();
    const bool fixed = test::is(placement_, "depth-average") || (last && !of_depth(placement_));
    const Rows seen = fixed ? Rows{} : row_norm(n);
    Rows x(positions * at(D_), Var(0.0));
    for (size_t p = 0; p < positions; ++p) {
      Rows a(count, Var(last && !of_depth(placement_) ? 1.0 / kStreams : 1.0));
      if (test::is(placement_, "depth-average"))
        a = leaf_(n + ".read");
      else if (test::is(placement_, "attn-res"))
        a = attended(n + ".read.query", seen, p);
      else if (!last)
        a = weights(n + ".read", seen, p, count, 1);
      for (size_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < D_; ++k) x[p * at(D_) + at(k)] += a[i] * streams_[i][p * at(D_) + at(k)];
    }
    return x;
  }

  /// What weights are computed from: [position][stream][number], normalised by stream, or all of a position
  /// together for the manifold.
  Rows row_norm(const std::string& n) {
    Rows all;
    const size_t positions = streams_[0].size() / at(D_);
    for (size_t p = 0; p < positions; ++p)
      for (const Rows& s : streams_) all.insert(all.end(), s.begin() + at_row(p), s.begin() + at_row(p + 1));
    if (positive(placement_))
      return norm_(n + ".seen", NormKind::Rms, all, D_ * static_cast<int64_t>(streams_.size()));
    const bool attends = test::is(placement_, "attn-res");
    return norm_(n + ".seen", attends ? NormKind::Rms : NormKind::None, all, D_);
  }
  std::ptrdiff_t at_row(size_t p) const { return static_cast<std::ptrdiff_t>(p * at(D_)); }

  Rows attended(const std::string& query, const Rows& seen, size_t p) {
    const Rows& w = leaf_(query);
    Rows a;
    Var sum(0.0);
    for (size_t i = 0; i < streams_.size(); ++i) {
      Var score(0.0);
      for (size_t k = 0; k < at(D_); ++k) score += w[k] * seen[(p * streams_.size() + i) * at(D_) + k];
      a.push_back(exp(score));
      sum += a.back();
    }
    for (Var& e : a) e = e / sum;
    return a;
  }

  static Var sigmoid(const Var& z) { return Var(1.0) / (Var(1.0) + exp(Var(0.0) - z)); }

  /// The weights of position p, (from, to).
  Rows weights(const std::string& n, const Rows& seen, size_t p, size_t from, size_t to) {
    const Rows &fixed = leaf_(n), &w = leaf_(n + ".w"), &gate = leaf_(n + ".gate");
    const bool manifold = positive(placement_), permuted = test::is(placement_, "mhc-lite") && from == to;
    const size_t row = kStreams * at(D_), columns = manifold ? fixed.size() : w.size() / at(D_);
    Rows out(fixed.size());
    for (size_t e = 0; e < out.size(); ++e) {
      Var asked(0.0);
      if (manifold) {
        for (size_t k = 0; k < row; ++k) asked += seen[p * row + k] * w[k * columns + e];
      } else {
        const size_t stream = e / columns;  // that the weight is of
        for (size_t k = 0; k < at(D_); ++k)
          asked += seen[p * row + stream * at(D_) + k] * w[k * columns + e % columns];
        asked = tanh(asked);
      }
      out[e] = gate[0] * asked + fixed[e];
    }
    if (permuted) return mean_of_permutations(out);
    if (manifold) bend(out, from, to);
    return out;
  }

  /// The mean of all orders of the streams, each with its share of a softmax.
  static Rows mean_of_permutations(const Rows& logits) {
    Rows mean(kStreams * kStreams, Var(0.0));
    Var all(0.0);
    for (const Var& e : logits) all += exp(e);
    size_t number = 0;
    std::vector<size_t> places;
    const std::function<void()> place_next = [&] {
      if (places.size() == kStreams) {
        for (size_t i = 0; i < kStreams; ++i) mean[i * kStreams + places[i]] += exp(logits.at(number)) / all;
        ++number;
      }
      for (size_t place = 0; place < kStreams; ++place) {
        if (std::ranges::count(places, place) > 0) continue;
        places.push_back(place);
        place_next();
        places.pop_back();
      }
    };
    place_next();
    return mean;
  }

  static void bend(Rows& w, size_t from, size_t to) {
    if (to == 1 || from == 1) {
      for (Var& e : w) e = Var(from == 1 ? 2.0 : 1.0) * sigmoid(e);
      return;
    }
    for (Var& e : w) e = exp(e);
    for (int round = 0; round < 20; ++round) {
      for (size_t i = 0; i < from; ++i) divide(w, i * to, 1, to);
      for (size_t j = 0; j < to; ++j) divide(w, j, to, from);
    }
  }
  static void divide(Rows& w, size_t first, size_t step, size_t count) {
    Var sum(0.0);
    for (size_t i = 0; i < count; ++i) sum += w[first + i * step];
    for (size_t i = 0; i < count; ++i) w[first + i * step] = w[first + i * step] / sum;
  }

  Placement placement_;
  int64_t D_;
  Leaf leaf_;
  Norm norm_;
  std::vector<Rows> streams_;
};

}  // namespace normscope::reference
