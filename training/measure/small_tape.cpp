#include "training/measure/small_tape.h"

#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
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

}  // namespace normscope
