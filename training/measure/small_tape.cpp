#include "training/measure/small_tape.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/recorder.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

using Op = SmallTape::Op;

const std::string kTarget = "the target of ";

ValueId record(Tape& tape, const SmallTape::Instruction& i) {
  std::vector<ValueId> in;
  for (const std::string& name : i.of) {
    in.push_back(tape.find(name));
    if (in.back() == kNone) fail(i.name, "'{}' is not there yet: expected a number or an earlier line", name);
  }
  if (in.size() != inputs_of(i.op))
    fail(i.name, "{} of {} names: expected {}", to_string(i.op), in.size(), inputs_of(i.op));
  switch (i.op) {
    case Op::Multiply:
      // The backward pass may write both gradients of one product at a time.
      if (in[0] == in[1]) fail(i.name, "'{}' times itself: expected two names", i.of[0]);
      return linear(tape, i.name, in[0], in[1], kNone);
    case Op::Add:
      return add(tape, i.name, in[0], in[1]);
    case Op::Relu:
      return relu(tape, i.name, in[0]);
    case Op::Norm:
      return layer_norm(tape, i.name, i.norm, in[0], kNone, kNone, 0.0f);
    case Op::CrossEntropy: {
      const Shape& x = tape.shape(in[0]);
      if (x.rows() != 1 || i.target < 1 || i.target > x.cols())
        fail(i.name, "target {} of {}: expected one row, and one of its numbers", i.target, to_string(x));
      return softmax_xent(tape, i.name, in[0], tape.input(kTarget + i.name, {1}, DType::I32), kNone);
    }
  }
  return kNone;
}

/// A backend of one thread. To make one takes much longer than to replay a small tape, which the window does in
/// a frame, so backends wait here for the next tape.
class PooledBackend {
 public:
  PooledBackend() {
    const std::lock_guard lock(idle().mutex);
    if (idle().free.empty()) {
      backend_ = make_cpu_backend(1);
    } else {
      backend_ = std::move(idle().free.back());
      idle().free.pop_back();
    }
  }
  ~PooledBackend() {
    const std::lock_guard lock(idle().mutex);
    idle().free.push_back(std::move(backend_));
  }
  PooledBackend(const PooledBackend&) = delete;
  PooledBackend& operator=(const PooledBackend&) = delete;

  Backend& operator*() { return *backend_; }

 private:
  struct IdleBackends {
    std::mutex mutex;
    std::vector<std::unique_ptr<Backend>> free;
  };
  static IdleBackends& idle() {
    static IdleBackends idle;
    return idle;
  }

  std::unique_ptr<Backend> backend_;
};

/// A tape sealed on one thread; every number has a gradient, or only the trained ones.
class SealedTape {
 public:
  SealedTape(const SmallTape& tape, bool train) : store_(*backend_), program_(seal_it(tape, train)) {
    for (const SmallTape::Instruction& i : tape.instructions)
      if (i.op == Op::CrossEntropy) program_.tokens(kTarget + i.name)[0] = i.target - 1;
  }

  Program& program() { return program_; }
  Store& store() { return store_; }

 private:
  Program seal_it(const SmallTape& small, bool train) {
    Tape tape(store_);
    if (small.instructions.empty()) fail("tape", "has no instruction: expected one at least");
    for (const SmallTape::Number& n : small.numbers) {
      const auto size = static_cast<int64_t>(n.values.size());
      if (n.rows < 1 || size < 1 || size % n.rows != 0)
        fail(n.name, "has {} values in {} rows: expected rows of one length", size, n.rows);
      if (tape.find(n.name) != kNone) fail(n.name, "stands twice: expected names of their own");
      store_.declare(n.name, {n.rows, size / n.rows}, {}, !train || n.trained);
      tape.parameter(n.name);
    }
    ValueId loss = kNone;
    for (const SmallTape::Instruction& i : small.instructions) loss = record(tape, i);
    if (tape.shape(loss).size() != 1)
      fail(small.instructions.back().name, "has {} numbers: expected one, the loss", tape.shape(loss).size());
    store_.materialize(1);
    for (const SmallTape::Number& n : small.numbers) store_.write(store_.find(n.name), n.values);
    return seal(tape, {.loss = loss, .update = train ? OpKind::Sgd : kNoOp});
  }

  PooledBackend backend_;
  Store store_;
  Program program_;
};

SmallValue read(const Program& program, const std::string& name, bool gradient) {
  for (const ValueInfo& info : program.data().values)
    if (info.name == name) {
      SmallValue value{program.read(name, gradient), info.shape.cols()};
      for (const float v : value.values)
        if (!std::isfinite(v))
          fail(name, "{} is not finite: expected numbers that the tape can carry",
               gradient ? "its gradient" : "its value");
      return value;
    }
  fail(name, "is no value of the tape");
}

/// The results of an instruction: its output, or the gradients of its inputs.
std::vector<SmallReplay::Write> writes_of(const Program& program, const Instruction& i) {
  const auto name = [&](ValueId v) { return program.data().values[static_cast<size_t>(v)].name; };
  std::vector<SmallReplay::Write> writes;
  const auto add = [&](ValueId v, bool gradient) {
    writes.push_back({name(v), gradient, program.read(name(v), gradient)});
  };
  if (i.phase == Phase::Forward) add(i.out, false);
  if (i.phase == Phase::Backward)
    for (size_t k = 0; k < i.in.size(); ++k)
      if (i.write[k] != Write::Skip) add(i.in[k], true);
  return writes;
}

}  // namespace

const char* to_string(SmallTape::Op op) {
  constexpr const char* kNames[] = {"multiply", "add", "relu", "norm", "cross-entropy"};
  return kNames[static_cast<size_t>(op)];
}

size_t inputs_of(SmallTape::Op op) { return op == Op::Multiply || op == Op::Add ? 2 : 1; }

SmallReplay replay_small_tape(const SmallTape& tape) {
  SealedTape sealed(tape, false);
  Program& program = sealed.program();
  program.replay({});
  SmallReplay out;
  const auto keep = [&](const std::string& name) {
    out.values[name] = read(program, name, false);
    out.gradients[name] = read(program, name, true);
  };
  for (const SmallTape::Number& n : tape.numbers) keep(n.name);
  for (const SmallTape::Instruction& i : tape.instructions) keep(i.name);
  // The replay is repeated one instruction at a time, to the same bits.
  const std::vector<Instruction>& instructions = program.data().instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    program.executable().run(i, i + 1, {});
    if (instructions[i].node < 0 || instructions[i].phase == Phase::Update) continue;  // a measurement
    out.lines.push_back({instructions[i].name, instructions[i].phase == Phase::Backward,
                         writes_of(program, instructions[i])});
  }
  return out;
}

SmallTape train_small_tape(SmallTape tape, float rate, int32_t steps) {
  if (steps == 0) return tape;
  SealedTape sealed(tape, true);
  StepInputs inputs;
  inputs.lr = rate;
  for (int32_t step = 0; step < steps; ++step) {
    inputs.step = static_cast<uint32_t>(step + 1);
    sealed.program().replay(inputs);
  }
  for (SmallTape::Number& n : tape.numbers) n.values = sealed.store().read(sealed.store().find(n.name));
  return tape;
}

namespace {

constexpr int64_t kNumbers = int64_t{1} << 18;  // of activation_share
constexpr int32_t kGradientRows = 256, kJacobianRows = 8, kIterations = 100;
constexpr int32_t kWidestJacobian = 1024;

std::vector<float> numbers(const char* name, int64_t count, double deviation, double mean, uint64_t seed) {
  std::vector<float> x = initial_values(name, {count}, {Init::Kind::Normal, deviation}, seed);
  for (float& v : x) v += static_cast<float>(mean);
  return x;
}

/// Records `rows` rows through the norm and a loss whose gradient at the output is the parameter g: the sum
/// of g y. The rows are the heads of one row, so that a single product with g gives the loss.
class NormAlone {
 public:
  NormAlone(Backend& backend, const ModelConfig& config, int64_t rows, int64_t width)
      : store_(backend), program_(record(config, rows, width)) {}

  /// Dl/dx of l = sum of g y at x, row by row.
  std::vector<float> back(const std::vector<float>& x, const std::vector<float>& g) {
    store_.write(store_.find("x"), x);
    store_.write(store_.find("g"), g);
    program_.replay({});
    return program_.read("x", true);
  }

 private:
  Program record(const ModelConfig& config, int64_t rows, int64_t width) {
    if (config.norm == NormKind::None) fail("measure", "a model without a norm has none to measure");
    const RecordOptions options;
    Tape tape(store_);
    Recorder parts(tape, config, options);
    store_.declare("x", {1, rows * width}, {});
    store_.declare("g", {rows * width, 1}, {}, false);
    const ValueId y = parts.norm("norm", config.norm, tape.parameter("x"), static_cast<int32_t>(rows));
    const ValueId loss = linear(tape, "loss", y, tape.parameter("g"), kNone);
    store_.materialize(1);
    return seal(tape, {.loss = loss, .update = kNoOp});
  }

  Store store_;
  Program program_;
};

struct Spread {
  double mean = 0, variance = 0;
};
Spread spread_of(const float* x, int64_t width) {
  Spread s;
  for (int64_t i = 0; i < width; ++i) s.mean += static_cast<double>(x[i]) / static_cast<double>(width);
  for (int64_t i = 0; i < width; ++i)
    s.variance += std::pow(static_cast<double>(x[i]) - s.mean, 2) / static_cast<double>(width);
  return s;
}

double square_of(const std::vector<float>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [](double sum, float v) { return sum + static_cast<double>(v) * v; });
}

/// The largest singular value of a matrix (n,n), by power iteration on J^T J. `start` must not be orthogonal to
/// its vector.
double largest_singular_value(const std::vector<float>& j, std::vector<double> start) {
  const size_t n = start.size();
  std::vector<double> image(n);
  double value = 0;
  for (int32_t k = 0; k < kIterations; ++k) {
    double length = 0, square = 0;
    for (const double v : start) length += v * v;
    if (length == 0) return 0;
    for (size_t row = 0; row < n; ++row) {
      image[row] = 0;
      for (size_t c = 0; c < n; ++c) image[row] += static_cast<double>(j[row * n + c]) * start[c];
      square += image[row] * image[row];
    }
    value = std::sqrt(square / length);
    std::ranges::fill(start, 0.0);
    for (size_t row = 0; row < n; ++row)
      for (size_t c = 0; c < n; ++c)
        start[c] += static_cast<double>(j[row * n + c]) * image[row] / std::sqrt(std::max(square, 1e-300));
  }
  return value;
}

}  // namespace

double activation_share(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t count = std::max<int64_t>(1, kNumbers / rows.width);
  const RecordOptions options;
  Store store(backend);
  Tape tape(store);
  Recorder parts(tape, config, options);
  store.declare("x", {count, rows.width}, {});
  parts.activated("y", tape.parameter("x"));
  store.materialize(rows.seed);
  const std::vector<float> x =
      numbers("x", count * rows.width, rows.scale, rows.shift * rows.scale, rows.seed);
  store.write(store.find("x"), x);
  Program program = seal(tape, {});
  program.replay({});
  return square_of(program.read("y")) / square_of(x);
}

JacobianNorm norm_jacobian(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t width = rows.width;
  if (width > kWidestJacobian)
    fail("measure", "a Jacobian of {0} by {0} numbers: expected rows of at most {1}", width, kWidestJacobian);
  const auto n = static_cast<size_t>(width);
  NormAlone norm(backend, config, width, width);
  // Row i is the same x, with the gradient of the norm's number i.
  std::vector<float> same(n * n), unit(n * n, 0.0f);
  for (size_t i = 0; i < n; ++i) unit[i * n + i] = 1;
  const std::vector<float> drawn =
      numbers("x", kJacobianRows * width, rows.scale, rows.shift * rows.scale, rows.seed);
  const std::vector<float> direction = numbers("direction", width, 1, 0, rows.seed);
  JacobianNorm out;
  for (size_t row = 0; row < kJacobianRows; ++row) {
    const std::vector<float> x(drawn.begin() + static_cast<std::ptrdiff_t>(row * n),
                               drawn.begin() + static_cast<std::ptrdiff_t>((row + 1) * n));
    for (size_t i = 0; i < n; ++i)
      std::copy(x.begin(), x.end(), same.begin() + static_cast<std::ptrdiff_t>(i * n));
    const double value = largest_singular_value(norm.back(same, unit), {direction.begin(), direction.end()});
    out.spectral += value / kJacobianRows;
    out.product += value * std::sqrt(square_of(x) / static_cast<double>(width)) / kJacobianRows;
  }
  return out;
}

NormGradient norm_gradient(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t width = rows.width, count = kGradientRows * width;
  NormAlone norm(backend, config, kGradientRows, width);
  const std::vector<float> x = numbers("x", count, rows.scale, rows.shift * rows.scale, rows.seed),
                           g = numbers("g", count, 1, 1, rows.seed);
  const std::vector<float> dx = norm.back(x, g);
  double mean = 0, mean_before = 0, variance = 0, variance_before = 0;
  for (int64_t at = 0; at < count; at += width) {
    const double square = spread_of(x.data() + at, width).variance;  // sigma^2
    const Spread before = spread_of(g.data() + at, width), after = spread_of(dx.data() + at, width);
    mean_before += before.mean * before.mean;
    mean += square * after.mean * after.mean;
    variance_before += before.variance;
    variance += square * after.variance;
  }
  return {std::sqrt(mean / mean_before), variance / variance_before};
}

}  // namespace normscope
