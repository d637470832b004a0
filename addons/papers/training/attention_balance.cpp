#include "addons/papers/training/attention_balance.h"

#include <algorithm>

#include "training/experiments/probes.h"
#include "training/experiments/run_numbers.h"
#include "training/measure/look.h"

namespace normscope {

double balanced_mass(std::vector<float> probabilities) {
  std::ranges::sort(probabilities, std::greater{});
  double left = 0, right = 0;
  for (const float p : probabilities) (left <= right ? left : right) += static_cast<double>(p);
  const double all = left + right;
  return all > 0 ? 4 * left * right / (all * all) : 0;
}

namespace experiments {
namespace {

constexpr int32_t kBalanceSequences = 4;

/// The mean over sub-layers, heads and queries of validation sequences of a decoder. The first query is left out: it
/// sees a single key, whose probability is 1, whatever the logit.
double balance_of(Run& run) {
  if (run.spec().model.architecture != Architecture::Decoder) return kUnknown;
  Look look(run.store(), run.spec().model, validation_batch(run.task(), run.spec(), kBalanceSequences));
  look.replay();
  double sum = 0, rows = 0;
  for (const SublayerValues& s : look.values().sublayers) {
    if (s.probabilities == kNone) continue;
    const std::vector<float> all = look.read(s.probabilities);
    const auto keys = static_cast<size_t>(look.shape(s.probabilities)[3]);
    for (size_t at = 0; at < all.size(); at += keys) {
      if (at / keys % keys == 0) continue;
      const std::span row = std::span(all).subspan(at, keys);
      sum += balanced_mass({row.begin(), row.end()});
      rows += 1;
    }
  }
  return rows > 0 ? sum / rows : kUnknown;
}

}  // namespace

constinit const EndNumber kAttentionBalanceNumber{
    "attention_balance", "attention balance",
    "How evenly a query's attention splits into two halves: 1 where it can, 0 where one key has all.",
    balance_of};

}  // namespace experiments
}  // namespace normscope
