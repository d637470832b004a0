// A computation small enough to follow by hand: a few named numbers and instructions over the engine's
// own ops. It is recorded, sealed and replayed as a model is, forward and backward, on one thread. Called by the
// tapes of lessons (app/course/tapes) and tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/ops/ops.h"
#include "engine/tape/backend.h"

namespace normscope {

inline constexpr size_t kMaxSmallNumbers = 64, kMaxSmallNames = 24;

struct SmallTape {
  /// A given value, row by row.
  struct Number {
    std::string name;
    std::vector<float> values;
    int32_t rows = 1;
    bool trained = false;  ///< a step changes it
    friend bool operator==(const Number&, const Number&) = default;
  };
  enum class Op : uint8_t { Multiply, Add, Relu, Norm, CrossEntropy };
  /// Multiply: x W, where x has as many columns as W has rows. Add: x + f. Norm: each row, without gain, bias and
  /// eps. CrossEntropy: of one row, minus the logarithm of the share that softmax gives to the number `target`, from 1.
  struct Instruction {
    std::string name;
    Op op = Op::Add;
    std::vector<std::string> of;
    NormKind norm = NormKind::Simple;
    int32_t target = 1;
    friend bool operator==(const Instruction&, const Instruction&) = default;
  };
  std::vector<Number> numbers;
  std::vector<Instruction> instructions;  ///< the last one gives a single number, the loss
  friend bool operator==(const SmallTape&, const SmallTape&) = default;
};

const char* to_string(SmallTape::Op op);  ///< "multiply"
size_t inputs_of(SmallTape::Op op);

/// A value row by row, as a SmallTape::Number.
struct SmallValue {
  std::vector<float> values;
  int64_t columns = 1;
};

/// The traces of one replay. `lines` are its instructions in the order in which they ran, forward, then
/// backward, each with the numbers that it wrote; a gradient that a later line adds to is shown as it was then.
struct SmallReplay {
  struct Write {
    std::string name;
    bool gradient = false;
    std::vector<float> values;
  };
  struct Line {
    std::string instruction;
    bool backward = false;
    std::vector<Write> writes;
  };
  std::vector<Line> lines;
  /// Of all numbers and instructions; the gradients are of the loss.
  std::map<std::string, SmallValue> values, gradients;
};

/// Throws Error naming the instruction whose inputs do not fit, or the value that is not finite.
SmallReplay replay_small_tape(const SmallTape& tape);

/// The tape with its trained numbers after `steps` of plain gradient descent.
SmallTape train_small_tape(SmallTape tape, float rate, int32_t steps);

// These measure one norm, or one activation, alone on Gaussian rows, to test what lemmas say of it. The op is recorded,
// sealed and replayed forward and backward. Called by the curves of lessons and claims (app/course/curves.h) and tests.

/// Rows x of `width` numbers, each Gaussian with standard deviation `scale` and mean `shift` times that.
struct GaussianRows {
  int32_t width = 64;
  double scale = 1, shift = 0;
  uint64_t seed = 1;
};

/// The mean of |phi(x)|^2 over the mean of |x|^2, for the config's activation phi and some 260,000
/// numbers. Xiong et al. 2020, Lemma 1: one half for ReLU.
double activation_share(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

/// The norm of the Jacobian dy/dx of the config's norm y = N(x), row by row from its backward pass, as
/// means over eight rows. Xiong et al. 2020, Lemma 3: |J|_2 = O(sqrt(width) / |x|). Throws Error where the config has
/// no norm.
struct JacobianNorm {
  double spectral = 0;  ///< |J|_2, the largest singular value
  double product = 0;   ///< |J|_2 |x| / sqrt(width), which the lemma bounds by a constant
};
JacobianNorm norm_jacobian(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

/// The change of a gradient g = dl/dy to dl/dx by the backward pass of the config's norm, over 256 rows (Xu et al.
/// 2019, Theorem 1). g is independent of x, with mean and deviation 1; sigma is the standard deviation of a row of x.
/// Throws as above.
struct NormGradient {
  /// Root mean square of sigma mean(dl/dx) over the root mean square of mean(g): 1 if kept, 0 if re-centred.
  double mean = 0;
  double variance = 0;  ///< mean of sigma^2 Var(dl/dx) over the mean of Var(g): 1 if kept, less if re-scaled
};
NormGradient norm_gradient(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

}  // namespace normscope
