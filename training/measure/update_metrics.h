// Measures the optimizer's update in a step: it compares the gradient with the optimizer's memory of earlier gradients,
// and the change of the weights with the gradient. All of it is read on the host around a replay, so that no bit of the
// run changes. Called by Run where the other measurements of a step are taken.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/store.h"

namespace normscope {

/// Measures two numbers of every layer, each with its name in layout(), over all parameters that
/// train in it together: "L01.spike_ratio", "dec.L02.update_cosine". Parameters outside the layers are grouped by their
/// name without its last word: "emb.spike_ratio" is over emb.tokens and emb.positions.
///
/// "spike_ratio" is the size of a gradient compared with the gradients that Adam remembers (RMS_t in Wortsman et al.
/// 2023, arXiv 2304.13013, there of one tensor): the root of the mean over all numbers of
///   g^2 / max(v / c2, eps^2)
/// g is the gradient as the optimizer reads it: clipped, with the coupled decay. v is the second moment that divides
/// this very step, so it holds g^2 already, and c2 = 1 - b2^t corrects its bias. So the first step gives one,
/// gradients as usual give about one, and no gradient gives more than the root of c2 / (1 - b2). Parameters without a v
/// do not count; NaN where none has one, as under SGD.
///
/// "update_cosine" is the cosine between the step that the weights made and the negative gradient of the loss:
///   sum g (w_before - w_after) / (|g| |w_before - w_after|)
/// One is straight down, as plain SGD goes without decay. The step is all that changed the weights: momentum, the
/// division by the root of v, decay, QK-clip, and the division of unit vectors by their lengths. NaN where nothing
/// moved or no gradient came.
class UpdateMeasurements {
 public:
  /// `program` is a step's, with its update.
  explicit UpdateMeasurements(const ProgramData& program);
  const std::vector<StatInfo>& layout() const { return layout_; }
  /// Keeps the weights that the update of the next replay starts from.
  void before();
  /// Fills one number for each entry of the layout. `step` was just replayed with these inputs; it trains the
  /// same Store as the program of the constructor.
  void after(Program& step, const StepInputs& inputs, std::span<double> out);

 private:
  /// The sums over a layer's parameters.
  struct Group {
    std::string name;
    double ratio = 0, counted = 0;  ///< over the numbers that have a v
    double gradient = 0, product = 0, step = 0;
  };
  static constexpr int32_t kUntrained = -1;

  bool keeps_second_moment(const ParameterInfo& parameter) const;
  void add(Program& step, const StepInputs& inputs, ValueId value);

  Store* store_;
  bool clips_;
  SecondMoments second_moments_ = SecondMoments::None;
  std::vector<StatInfo> layout_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;                 ///< by parameter of the Store
  std::vector<float> weights_;                    ///< all values, before the update
  std::vector<float> gradient_, after_, second_;  ///< of one parameter on a device
};

}  // namespace normscope
