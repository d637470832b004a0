// The CPU backend: memory, lowering to tables of stage functions, and the replay loop. The loop is the whole engine at
// run time: for every instruction, for every stage, it hands the chunks to the pool.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/core/turn.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/denormals.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/pool.h"
#include "engine/cpu/tails.h"
#include "engine/tape/store.h"

namespace normscope {
namespace cpu {
namespace {

class CpuMemory final : public Memory {
 public:
  explicit CpuMemory(size_t floats) : block_(allocate_block(floats)), floats_(floats) {}
  size_t floats() const override { return floats_; }
  float* data() const override { return block_.get(); }

 private:
  Block block_;
  size_t floats_;
};

/// Below this many numbers read and written, a second thread does not pay: fetching them from the other core's cache
/// takes as long as computing with them here.
constexpr int64_t kOneThread = 48 * 1024;

int64_t numbers_of(const Call& call) {
  int64_t sum = call.out.shape.size() + call.dout.shape.size();
  for (const auto& tensors : {std::span<const Tensor>(call.in), std::span<const Tensor>(call.saved),
                              std::span<const Tensor>(call.din)})
    for (const Tensor& t : tensors) sum += t ? t.shape.size() : 0;
  for (int64_t i = 0; i < call.parameter_count; ++i) sum += 2 * call.parameters[i].size;
  return sum;
}

/// The threads and the memory that all programs of a backend use in turn.
struct Shared {
  explicit Shared(int threads) : pool(threads) {}
  Pool pool;
  Arena arena;
  std::atomic_flag taken;
  std::atomic<const Executable*> in_arena = nullptr;  ///< whose results it holds
};

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(ProgramData& program, std::shared_ptr<Shared> shared)
      : program_(program),
        all_(std::move(shared)),
        floats_(program.plan.activations + program.plan.gradients) {
    Arena& arena = all_->arena;
    const MemoryPlan& plan = program.plan;
    inputs_ = allocate_block(plan.inputs);
    shared_ = plan.shared && arena.fits(floats_);
    if (!shared_) own_ = allocate_block(floats_);
    activations_ = shared_ ? arena.base() : own_.get();
    gradients_ = activations_ + plan.activations;
    stats_.assign(program.stats.size(), 0.0);
    parameters_ = bind_parameters(program, *this);
    lower();
    if (shared_) arena.claim(floats_);
  }

  ~CpuExecutable() override {
    if (!shared_) return;
    const Executable* self = this;
    all_->in_arena.compare_exchange_strong(self, nullptr);
    all_->arena.release(floats_);
  }

  float* input(size_t offset) override { return inputs_.get() + offset; }
  std::span<const double> stats() const override { return stats_; }
  void read(const float* from, std::span<float> host) const override {
    std::memcpy(host.data(), from, host.size_bytes());
  }
  void write(float* to, std::span<const float> host) override {
    std::memcpy(to, host.data(), host.size_bytes());
  }

  float* value(ValueId id) const override {
    const size_t offset = id == kNone ? kNoOffset : program_.plan.value_offset[static_cast<size_t>(id)];
    if (offset == kNoOffset) return nullptr;
    const ValueInfo& info = program_.values[static_cast<size_t>(id)];
    if (info.role == Role::Parameter) return program_.store->block(Store::Block::Value).data() + offset;
    return (info.role == Role::Input ? inputs_.get() : activations_) + offset;
  }

  float* gradient(ValueId id) const override {
    const size_t offset = id == kNone ? kNoOffset : program_.plan.gradient_offset[static_cast<size_t>(id)];
    return offset == kNoOffset ? nullptr : gradients_ + offset;
  }

  bool keeps_results() const override { return !shared_ || all_->in_arena == this; }

  void replay(const StepInputs& inputs) noexcept override {
    const Turn turn(all_->taken);
    const FlushDenormals scope;
    begin();
    for (const Entry& entry : order_) run(lowered_[entry.instruction], entry.tails, inputs);
  }

  void drop_gradients() override { drop_pages(gradients_, program_.plan.gradients); }

  /// Runs instructions one by one: without the tails of replay(), but to the same bits.
  void run(size_t first, size_t end, const StepInputs& inputs) noexcept override {
    const Turn turn(all_->taken);
    const FlushDenormals scope;
    begin();
    for (size_t i = first; i < end; ++i) run(lowered_[i], {}, inputs);
  }

  std::vector<StageSeconds> time_chunks(const StepInputs& inputs) {
    using Clock = std::chrono::steady_clock;
    const Turn turn(all_->taken);
    const FlushDenormals scope;
    const Block scratch = allocate_block(kScratchFloats);
    std::vector<StageSeconds> times;
    begin();
    for (size_t i = 0; i < lowered_.size(); ++i) {
      const LoweredNode& instruction = lowered_[i];
      for (int s = 0; s < instruction.stages.count; ++s) {
        const Stage& stage = instruction.stages.stage[s];
        StageSeconds& seconds = times.emplace_back(StageSeconds{i, instruction.one_thread, {}});
        for (int64_t chunk = 0; chunk < stage.chunks; ++chunk) {
          const Clock::time_point start = Clock::now();
          stage.run(instruction.call, inputs, chunk, {scratch.get()});
          seconds.chunks.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        }
      }
    }
    return times;
  }

 private:
  void begin() noexcept {
    if (shared_) all_->in_arena.store(this, std::memory_order_relaxed);
    if (float* d = gradient(program_.loss)) *d = 1.0f;  // no instruction writes it
  }

  struct LoweredNode {
    Call call;
    Stages stages;
    bool one_thread;
  };

  /// An instruction of the replay, with the instructions that run on each region of its last stage.
  struct Entry {
    size_t instruction;
    std::vector<Tail> tails;
  };

  void run(const LoweredNode& instruction, const std::vector<Tail>& tails,
           const StepInputs& inputs) noexcept {
    for (int s = 0; s < instruction.stages.count; ++s) {
      Stage stage = instruction.stages.stage[s];
      if (s + 1 == instruction.stages.count) stage.tails = tails;
      all_->pool.run(stage, instruction.call, inputs, instruction.one_thread);
    }
  }

  void lower() {
    if (program_.clip_stat >= 0)
      stats_[static_cast<size_t>(program_.clip_stat)] = 1.0;  // until a clip op writes it
    for (const Instruction& i : program_.instructions) {
      const Kernels kernels = kernels_of(i.op);
      const bool backward = i.phase == Phase::Backward && traits_of(i.op).duty != Duty::Probe;
      Call call = bind(program_, i, *this, stats_.data());
      if (i.phase == Phase::Update) {
        call.parameters = parameters_.data();
        call.parameter_count = static_cast<int64_t>(parameters_.size());
      }
      const Stages stages = (backward ? kernels.backward : kernels.forward)(call);
      lowered_.push_back({call, stages, numbers_of(call) <= kOneThread});
    }
    std::vector<Stages> stages;
    for (const LoweredNode& instruction : lowered_) stages.push_back(instruction.stages);
    const WorkspacePlan plan = plan_workspace(program_.instructions, stages);
    program_.plan.workspace = plan.floats;
    workspace_ = allocate_block(plan.floats);
    for (size_t i = 0; i < lowered_.size(); ++i) {
      lowered_[i].call.extra = lowered_[i].stages.plans;
      lowered_[i].call.workspace = workspace_.get();
      if (plan.kept[i] > 0) lowered_[i].call.kept = workspace_.get() + plan.kept[i];
    }
    put_in_order();
  }

  /// Makes instructions tails of an earlier instruction, where they can be. A probe in between reads a tensor that is
  /// complete only after the tails, so it runs after them.
  void put_in_order() {
    for (size_t i = 0; i < lowered_.size();) {
      Entry entry{i, {}};
      std::vector<size_t> probes;
      TailFinder finder(lowered_[i].call, lowered_[i].stages);
      for (++i; i < lowered_.size(); ++i) {
        const bool probe = traits_of(lowered_[i].call.op).duty == Duty::Probe;
        if (!(probe ? finder.lets(lowered_[i].call) : finder.takes(lowered_[i].call, lowered_[i].stages)))
          break;
        if (probe)
          probes.push_back(i);
        else
          entry.tails.push_back({lowered_[i].stages.region, &lowered_[i].call});
      }
      order_.push_back(std::move(entry));
      for (const size_t probe : probes) order_.push_back({probe, {}});
    }
  }

  ProgramData& program_;
  std::shared_ptr<Shared> all_;
  size_t floats_;        // of activations and gradients, which are adjacent
  bool shared_ = false;  // they are in the arena
  Block inputs_, own_, workspace_;
  float *activations_ = nullptr, *gradients_ = nullptr;
  std::vector<double> stats_;
  std::vector<ParameterCall> parameters_;
  std::vector<LoweredNode> lowered_;
  std::vector<Entry> order_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Backend> share() override { return std::make_shared<CpuBackend>(shared_); }
  std::string_view name() const override { return "CPU"; }
  bool on_host() const override { return true; }
  bool supports(OpKind op) const override { return kernels_of(op).forward != nullptr; }
  std::unique_ptr<Memory> allocate(size_t floats) override { return std::make_unique<CpuMemory>(floats); }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    std::memcpy(to.data() + offset, from.data(), from.size_bytes());
  }
  void download(const Memory& from, size_t offset, std::span<float> to) override {
    std::memcpy(to.data(), from.data() + offset, to.size_bytes());
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    return std::make_unique<CpuExecutable>(program, shared_);
  }
  void wait() override {}

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace
}  // namespace cpu

std::vector<StageSeconds> time_chunks(Executable& executable, const StepInputs& inputs) {
  auto* program = dynamic_cast<cpu::CpuExecutable*>(&executable);
  if (!program) fail("time_chunks", "a program of another backend: expected one of the CPU's");
  return program->time_chunks(inputs);
}

std::unique_ptr<Backend> make_cpu_backend(int threads) {
  constexpr int kMost = 1024;
  if (threads < 0 || threads > kMost)
    fail("cpu", "{} threads: expected 0, which is one a core, to {}", threads, kMost);
  cpu::check_instruction_set();
  return std::make_unique<cpu::CpuBackend>(
      std::make_shared<cpu::Shared>(threads > 0 ? threads : usable_cores()));
}

Store make_cpu_store(uint64_t seed, int threads) {
  Store store(*make_cpu_backend(threads));  // which the Store keeps
  store.materialize_at_seal(seed);
  return store;
}

}  // namespace normscope
