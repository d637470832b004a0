#include "engine/cpu/gemm/gemm_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <mutex>

#include "engine/cpu/arena.h"
#include "engine/cpu/denormals.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/kernel.h"

namespace normscope::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWorthIt = 0.95, kNowhereSlower = 1.03, kOut = 1.25;
constexpr size_t kLeastRounds = 3;

/// `Part` is one of the products of a linear layer, x (r,k) and W (k,n).
enum class Part : uint8_t { Forward, InputGradient, WeightGradient };
struct Product {
  Part part;
  int64_t r, k, n;
};
// `kProducts` take some milliseconds at most, 34 to 235 MFLOP: gradients of weights, whose rows of A^T are 8 and 2 KiB
// apart, and two products that read A along its rows. Smaller ones would mislead: if A^T fits the L2 cache, or has
// fewer rows than a block of k, reading it in place looks as good as packing, and takes up to twice the time.
constexpr Product kProducts[] = {{Part::WeightGradient, 384, 2048, 96},
                                 {Part::WeightGradient, 1024, 512, 224},
                                 {Part::Forward, 64, 1024, 256},
                                 {Part::InputGradient, 128, 512, 256}};
constexpr size_t kFloatsOfA = size_t{1} << 20, kFloatsOfOthers = size_t{1} << 18;

constexpr bool fits(const Product& p) {
  const int64_t x = p.r * p.k, w = p.k * p.n, y = p.r * p.n;
  const bool input = p.part == Part::InputGradient, weight = p.part == Part::WeightGradient;
  const int64_t a = input ? y : x, b = weight ? y : w, c = input ? x : weight ? w : y;
  return a <= static_cast<int64_t>(kFloatsOfA) && std::max(b, c) <= static_cast<int64_t>(kFloatsOfOthers);
}
static_assert(std::all_of(std::begin(kProducts), std::end(kProducts), fits));

/// `Operands` are what a product is computed from and into.
struct Operands {
  float *a, *b, *c;
};

/// `Places` are operands in two places, used in turn: in training a product finds little of its own in the L2 cache.
/// They are written at the beginning, as all unwritten pages may be one.
class Places {
 public:
  Places() { std::fill_n(all_.get(), 2 * kPlace, 0.5f); }
  Operands next() {
    float* a = all_.get() + kPlace * (turn_++ % 2);
    return {a, a + kFloatsOfA, a + kFloatsOfA + kFloatsOfOthers};
  }
  float* scratch() const { return all_.get() + 2 * kPlace; }

 private:
  static constexpr size_t kPlace = kFloatsOfA + 2 * kFloatsOfOthers;
  Block all_ = allocate_block(2 * kPlace + kScratchFloats);
  size_t turn_ = 0;
};

/// `Trial` is a product with a choice, through the op's own stages, and how long it took each time.
class Trial {
 public:
  Trial(const Product& p, const GemmChoice& choice)
      : part_(p.part), packs_a_(p.part == Part::WeightGradient && p.k >= choice.far_apart) {
    call_.op = OpKind::Linear;
    call_.gemm = &choice;
    call_.in[0].shape = {p.r, p.k};
    call_.in[1].shape = {p.k, p.n};
    call_.out.shape = call_.dout.shape = {p.r, p.n};
    if (part_ == Part::InputGradient) call_.write[0] = Write::Assign;
    if (part_ == Part::WeightGradient) call_.write[1] = Write::Assign;
    const Kernels kernels = kernels_of(OpKind::Linear);
    stages_ = (part_ == Part::Forward ? kernels.forward : kernels.backward)(call_);
  }

  size_t workspace() const { return stages_.workspace_floats; }

  /// `does_as` says whether there is nothing to compare.
  bool does_as(const Trial& other) const {
    bool same = stages_.count == other.stages_.count && workspace() == other.workspace() &&
                (part_ == Part::WeightGradient || call_.gemm->copy_a == other.call_.gemm->copy_a) &&
                (packs_a_ || call_.gemm->panels_outer == other.call_.gemm->panels_outer);
    for (int s = 0; same && s < stages_.count; ++s)
      same = stages_.stage[s].chunks == other.stages_.stage[s].chunks;
    return same;
  }

  void time(Places& places, float* workspace) {
    place(places.next());
    call_.workspace = workspace;
    call_.plans = stages_.plans;  // a trial may have moved
    const Clock::time_point start = Clock::now();
    for (int s = 0; s < stages_.count; ++s)
      for (int64_t chunk = 0; chunk < stages_.stage[s].chunks; ++chunk)
        stages_.stage[s].run(call_, inputs_, chunk, {places.scratch()});
    seconds_.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }

  bool known() const { return seconds_.size() >= kLeastRounds; }
  /// `fastest` is 0 before the first time.
  double fastest() const {
    return seconds_.empty() ? 0 : *std::min_element(seconds_.begin(), seconds_.end());
  }
  /// `is_out` says whether it is too slow to be worth more time.
  bool is_out(const Trial& first) const { return seconds_.size() > 1 && fastest() > kOut * first.fastest(); }
  double median() const {
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
  }

 private:
  /// `place` sets the operands; only those that the part needs are read and written.
  void place(const Operands& at) {
    call_.in[0].p = at.a;
    call_.in[1].p = at.b;
    call_.out.p = at.c;
    call_.dout.p = part_ == Part::InputGradient ? at.a : at.b;
    call_.din[0].p = call_.din[1].p = at.c;
  }

  Part part_;
  bool packs_a_;  // the choice of the outer loop then makes no difference
  Call call_{};
  StepInputs inputs_;
  Stages stages_;
  std::vector<double> seconds_;
};

/// `Contest` is the candidates at one product, one trial for all that do the same. `by_candidate`: the trial of each.
struct Contest {
  std::vector<Trial> trials;
  std::vector<size_t> by_candidate;
};

std::vector<Contest> contests_of(const std::vector<GemmChoice>& candidates) {
  std::vector<Contest> contests;
  for (const Product& product : kProducts) {
    Contest& contest = contests.emplace_back();
    for (const GemmChoice& candidate : candidates) {
      Trial trial(product, candidate);
      const auto same = std::find_if(contest.trials.begin(), contest.trials.end(),
                                     [&](const Trial& other) { return other.does_as(trial); });
      contest.by_candidate.push_back(static_cast<size_t>(same - contest.trials.begin()));
      if (same == contest.trials.end()) contest.trials.push_back(std::move(trial));
    }
  }
  return contests;
}

/// `time_until` times them in turn, so that a disturbance meets all; each round begins with another.
void time_until(Clock::time_point end, std::vector<Contest>& contests) {
  size_t floats = 0;
  for (const Contest& contest : contests)
    for (const Trial& trial : contest.trials) floats = std::max(floats, trial.workspace());
  const Block workspace = allocate_block(floats);
  Places places;
  const FlushDenormals scope;
  double longest = 0;
  for (size_t round = 0;; ++round)
    for (Contest& contest : contests)
      for (size_t i = 0; i < contest.trials.size(); ++i) {
        Trial& trial = contest.trials[(round + i) % contest.trials.size()];
        if (trial.is_out(contest.trials[0])) continue;
        const double left = std::chrono::duration<double>(end - Clock::now()).count();
        if (left <= (trial.fastest() > 0 ? trial.fastest() : longest)) return;
        trial.time(places, workspace.get());
        longest = std::max(longest, trial.fastest());
      }
}

/// `score_of` is a candidate's time over the first's, summed over all products; nothing where it may not win.
std::optional<double> score_of(size_t candidate, const std::vector<Contest>& contests) {
  double sum = 0;
  for (const Contest& contest : contests) {
    const Trial &first = contest.trials[0], &own = contest.trials[contest.by_candidate[candidate]];
    if (!first.known() || !own.known()) return std::nullopt;
    // A disturbance makes a time longer, never shorter: neither the median nor the shortest may owe the win to it.
    const double ratio = std::max(own.median() / first.median(), own.fastest() / first.fastest());
    if (ratio > kNowhereSlower) return std::nullopt;
    sum += ratio / static_cast<double>(contests.size());
  }
  return sum;
}

struct Chosen {
  std::mutex mutex;
  std::optional<GemmChoice> choice;
};
Chosen& chosen() {
  static Chosen all;
  return all;
}

/// `number_behind` reads the number behind `word` at the beginning of `text`, and removes both and a blank behind them.
std::optional<int64_t> number_behind(std::string_view word, std::string_view& text) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

}  // namespace

std::vector<GemmChoice> gemm_candidates(int64_t l2_bytes) {
  GemmChoice first;
  first.panel_floats = std::clamp<int64_t>(l2_bytes / 2 / static_cast<int64_t>(sizeof(float)), 1,
                                           static_cast<int64_t>(kScratchFloats));
  // Packed, A and B pass through memory once more: measured, that is not worth it with a small L2 cache.
  const bool small = l2_bytes < int64_t{2} << 20;
  first.far_apart = small ? kNever : 512;
  std::vector<GemmChoice> all(5, first);
  all[1].far_apart = small ? 512 : kNever;
  all[2].far_apart = 1024;
  all[3].panels_outer = true;
  all[4].copy_a = false;
  return all;
}

std::string to_string(const GemmChoice& choice) {
  return fmt::format("far={} panels={} outer={}",
                     choice.far_apart == kNever ? "never" : std::to_string(choice.far_apart),
                     choice.panel_floats,
                     choice.panels_outer ? "panels"
                     : choice.copy_a     ? "tiles"
                                         : "tiles-in-place");
}

std::optional<GemmChoice> gemm_choice_from(std::string_view text) {
  constexpr std::string_view kFarNever = "far=never ";
  GemmChoice choice;
  if (text.starts_with(kFarNever)) {
    text.remove_prefix(kFarNever.size());
    choice.far_apart = kNever;
  } else {
    choice.far_apart = number_behind("far=", text).value_or(0);
  }
  choice.panel_floats = number_behind("panels=", text).value_or(0);
  choice.panels_outer = text == "outer=panels";
  choice.copy_a = text != "outer=tiles-in-place";
  const bool right = choice.far_apart >= 2 && choice.panel_floats >= 1 &&
                     (choice.panels_outer || !choice.copy_a || text == "outer=tiles");
  return right ? std::optional(choice) : std::nullopt;
}

GemmChoice fastest_choice(double seconds) {
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  check_instruction_set();
  const std::vector<GemmChoice> candidates = gemm_candidates(l2_bytes());
  std::vector<Contest> contests = contests_of(candidates);
  time_until(end, contests);
  size_t fastest = 0;
  double least = kWorthIt;
  for (size_t i = 1; i < candidates.size(); ++i) {
    const std::optional<double> score = score_of(i, contests);
    if (!score || *score > least) continue;
    least = *score;
    fastest = i;
  }
  return candidates[fastest];
}

void use_gemm_choice(const GemmChoice& choice) {
  const std::lock_guard lock(chosen().mutex);
  chosen().choice = choice;
}

GemmChoice gemm_choice() {
  const std::lock_guard lock(chosen().mutex);
  if (!chosen().choice) chosen().choice = gemm_candidates(l2_bytes()).front();
  return *chosen().choice;
}

}  // namespace normscope::cpu
