// What one run came to: verdict, losses, gradients. It is the head of a Taken (taken.h), and tables of
// many runs show nothing else.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"
#include "training/spec/loss_window.h"

namespace normscope::experiments {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Diverges where the loss is finite, but at the end worse than guessing every symbol alike. It is
/// Undecided where there were too few steps for a verdict (measure/plateau.h).
enum class Verdict : uint8_t { Learns, Stuck, Diverges, NotFinite, Undecided, Failed };
inline constexpr std::string_view kVerdicts[] = {"learns",     "stuck",     "diverges",
                                                 "not finite", "undecided", "failed"};
inline const char* to_string(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)].data(); }

struct Record {
  Verdict verdict = Verdict::Undecided;
  int32_t steps = 0;         ///< trained
  int32_t since = 0;         ///< Learns: first step off the plateau
  std::string what;          ///< NotFinite: "L02.attn output at step 23"; Failed: why it could not be trained
  double loss = kUnknown;    ///< mean training loss of the last kWindow steps, nats a symbol
  double level = kUnknown;   ///< unigram entropy: the loss of a model that knows letter frequencies only
  double beta2 = kUnknown;   ///< sum over sub-layers of beta^2_ii at initialisation (Liu et al. 2020)
  std::string beta2_reason;  ///< why there is none
  /// `gradient_first` and `gradient_last` are norms of dL/dW2 in layer 1 and in the last layer at step kGradientStep.
  double gradient_first = kUnknown, gradient_last = kUnknown;
  /// Comes from the validation at the end: a classifier's accuracy or a parser's UAS, in percent; bits per
  /// character of a model with a memory. It is unknown for other models.
  double score = kUnknown;
  double measured =
      kUnknown;  ///< the number that a part of a study shows; not stored, as it is taken from a Taken
  /// Has the losses for a small plot, in nats to four digits. Each is the mean of the next `stride` steps, and
  /// the last one the mean of what is left. There are at most kCurve of them.
  std::vector<double> curve;
  int32_t stride = 1;

  static constexpr int32_t kWindow = kLossWindow, kGradientStep = 20, kCurve = 400;
  static_assert(kWindow == 25, "results are stored under kTaking: another window needs another name");
};

template <class Io>
void io(Io& io, codec::Of<Io, Record>& r) {
  constexpr codec::Text kText{4096};
  io("verdict", r.verdict, codec::Words{kVerdicts});
  io("steps", r.steps, codec::Whole{0, kMostSteps});
  io("since", r.since, codec::Whole{-1, kMostSteps});
  io("loss", r.loss);
  io("unigram", r.level);
  io("beta2", r.beta2);
  io("gradient_first", r.gradient_first);
  io("gradient_last", r.gradient_last);
  io.optional("score", r.score, {}, kUnknown);
  io.optional("what", r.what, kText);
  io.optional("beta2_reason", r.beta2_reason, kText);
  io("stride", r.stride, codec::Whole{1, kMostSteps});
  io("curve", r.curve, codec::List{0, Record::kCurve, codec::AnyNumber{}});
}

inline nlohmann::json to_json(const Record& record) { return codec::write(record); }
/// Throws Error unless `json` is a record.
inline Record record_from(const InputValue& json) { return codec::read<Record>(json); }

}  // namespace normscope::experiments
