// Numbers of a trained run with several streams, for studies: how much its streams exchange, and whether one of them
// has most of the signal (both after the abstract of Alimaskina et al. 2026, arXiv 2606.03483).
#include <algorithm>

#include "training/experiments/probes.h"
#include "training/experiments/run_numbers.h"
#include "training/measure/look.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kStreamSequences = 4;

/// The mean of a number of each sub-layer that carries several streams on, over validation sequences.
template <typename Number>
double mean_over_sublayers(Run& run, const Number& number) {
  if (!is_transformer(run.spec().model.architecture)) return kUnknown;
  Look look(run.store(), run.spec().model, validation_batch(run.task(), run.spec(), kStreamSequences));
  look.replay();
  double sum = 0, count = 0;
  for (const SublayerValues& s : look.values().sublayers) {
    if (s.carry == kNone) continue;
    sum += number(look, s);
    count += 1;
  }
  return count > 0 ? sum / count : kUnknown;
}

/// The share of a sub-layer's mixing weights, by size, off the diagonal: 0 where no streams mix, (n - 1) / n where n
/// streams are mixed evenly.
double mixing_of(Run& run) {
  return mean_over_sublayers(run, [](const Look& look, const SublayerValues& s) {
    const std::vector<float> weights = look.read(s.carry);
    const auto n = static_cast<size_t>(look.shape(s.streams)[2]);
    double beside = 0, all = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double size = std::abs(static_cast<double>(weights[i]));
      all += size;
      if (i / n % n != i % n) beside += size;
    }
    return all > 0 ? beside / all : 0;
  });
}

/// The share of the strongest stream in the squared lengths of all, summed over positions: 1/n if all are equal.
double share_of(Run& run) {
  return mean_over_sublayers(run, [](const Look& look, const SublayerValues& s) {
    const std::vector<float> states = look.read(s.streams);
    const auto n = static_cast<size_t>(look.shape(s.streams)[2]),
               width = static_cast<size_t>(look.shape(s.streams)[3]);
    std::vector<double> squares(n, 0.0);
    for (size_t i = 0; i < states.size(); ++i)
      squares[i / width % n] += static_cast<double>(states[i]) * static_cast<double>(states[i]);
    double all = 0;
    for (const double square : squares) all += square;
    return all > 0 ? *std::ranges::max_element(squares) / all : 0;
  });
}

}  // namespace

constinit const EndNumber kStreamMixingNumber{
    "stream_mixing", "mixing of the streams",
    "The share of the mixing weights that lies between different streams.", mixing_of};
constinit const EndNumber kStreamShareNumber{
    "stream_share", "share of the strongest stream",
    "The share of the strongest stream in the squared lengths of all.", share_of};

}  // namespace normscope::experiments
