// The CPU backend: memory, lowering to tables of stage functions, and the replay loop. The loop is the whole
// engine at run time: for every instruction, for every stage, hand its chunks to the pool.
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "engine/core/error.h"
#include "engine/cpu/denormals.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/pool.h"
#include "engine/tape/store.h"

namespace normscope {
namespace cpu {
namespace {

struct FreeAligned {
  void operator()(float* p) const { std::free(p); }
};
using Block = std::unique_ptr<float[], FreeAligned>;

/// Zero-filled, on 64-byte lines; large blocks on huge pages, where the system has them (4 % of a step).
Block allocate_block(size_t floats) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t least = floats * sizeof(float), alignment = least >= 2 * kHugePage ? kHugePage : 64;
  const size_t bytes = (least + alignment - 1) / alignment * alignment;
  float* p = static_cast<float*>(std::aligned_alloc(alignment, bytes == 0 ? 64 : bytes));
  if (p == nullptr) fail("memory", "{} MB are not to be had: expected a smaller model or batch", bytes >> 20);
#ifdef __linux__
  if (alignment == kHugePage) madvise(p, bytes, MADV_HUGEPAGE);  // advice only: nothing depends on it
#endif
  std::memset(p, 0, bytes);
  return Block(p);
}

class CpuMemory final : public Memory {
 public:
  explicit CpuMemory(size_t floats) : block_(allocate_block(floats)), floats_(floats) {}
  size_t floats() const override { return floats_; }
  float* data() const override { return block_.get(); }

 private:
  Block block_;
  size_t floats_;
};

const Kernels& kernels_of(OpKind op) {
  static const Kernels table[] = {
#define OP(Kind, name, inputs) name##_kernels(),
#include "engine/ops/ops.def"
#undef OP
  };
  return table[static_cast<size_t>(op)];
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(ProgramData& program, Pool& pool) : program_(program), pool_(pool) {
    inputs_ = allocate_block(program.plan.inputs);
    activations_ = allocate_block(program.plan.activations);
    gradients_ = allocate_block(program.plan.gradients);
    stats_.assign(program.stats.size(), 0.0);
    seed_loss_gradient();
    collect_parameters();
    lower();
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
    if (id == kNone) return nullptr;
    const ValueInfo& info = program_.values[static_cast<size_t>(id)];
    const size_t offset = program_.plan.value_offset[static_cast<size_t>(id)];
    if (info.role == Role::Parameter) return program_.store->block(Store::Block::Value).data() + offset;
    return (info.role == Role::Input ? inputs_ : activations_).get() + offset;
  }

  float* gradient(ValueId id) const override {
    const size_t offset = id == kNone ? kNoOffset : program_.plan.gradient_offset[static_cast<size_t>(id)];
    return offset == kNoOffset ? nullptr : gradients_.get() + offset;
  }

  void replay(const StepInputs& inputs) noexcept override { run(0, lowered_.size(), inputs); }

  void run(size_t first, size_t end, const StepInputs& inputs) noexcept override {
    const FlushDenormals scope;
    for (size_t i = first; i < end; ++i) {
      const Lowered& instruction = lowered_[i];
      for (int s = 0; s < instruction.stages.count; ++s)
        pool_.run(instruction.stages.stage[s], instruction.call, inputs);
    }
  }

 private:
  struct Lowered {
    Call call;
    Stages stages;
  };

  /// The gradient of the loss is one; nothing ever writes it.
  void seed_loss_gradient() {
    for (const Instruction& i : program_.instructions)
      if (i.op == OpKind::SoftmaxXent && i.phase == Phase::Backward) *gradient(i.out) = 1.0f;
  }

  void collect_parameters() {
    const Store& store = *program_.store;
    for (int32_t p : program_.parameter_order) {
      const ParameterInfo& info = store.parameters()[static_cast<size_t>(p)];
      float* d = nullptr;
      for (size_t v = 0; v < program_.values.size(); ++v)
        if (program_.values[v].parameter == p) d = gradient(static_cast<ValueId>(v));
      parameters_.push_back({store.block(Store::Block::Value).data() + info.offset, d,
                             store.block(Store::Block::M).data() + info.offset,
                             store.block(Store::Block::V).data() + info.offset, info.shape.size()});
    }
  }

  Tensor tensor(ValueId id, bool of_gradient = false) const {
    if (id == kNone) return {};
    float* p = of_gradient ? gradient(id) : value(id);
    return {p, program_.values[static_cast<size_t>(id)].shape};
  }

  Call call_of(const Instruction& i) {
    Call call{};
    call.op = i.op;
    call.phase = i.phase;
    call.attributes = i.attributes;
    for (size_t k = 0; k < i.in.size(); ++k) {
      call.in[k] = tensor(i.in[k], i.of_gradient && k == 0);
      if (i.phase == Phase::Backward && k < i.write.size() && i.write[k] != Write::Skip) {
        call.din[k] = tensor(i.in[k], true);
        call.write[k] = i.write[k];
      }
    }
    call.out = tensor(i.out);
    if (i.phase == Phase::Backward) call.dout = tensor(i.out, true);
    for (size_t k = 0; k < i.saved.size(); ++k) call.saved[k] = tensor(i.saved[k]);
    if (i.stat >= 0) call.stats = &stats_[static_cast<size_t>(i.stat)];
    if (i.phase == Phase::Update) {
      call.parameters = parameters_.data();
      call.parameter_count = static_cast<int64_t>(parameters_.size());
      call.grad_norm = &stats_[static_cast<size_t>(program_.grad_norm_stat)];
      call.update_norm = &stats_[static_cast<size_t>(program_.update_norm_stat)];
      call.weight_norm = &stats_[static_cast<size_t>(program_.weight_norm_stat)];
      call.total_norm = &stats_[static_cast<size_t>(program_.total_grad_norm_stat)];
      call.clip_factor = &stats_[static_cast<size_t>(program_.clip_stat)];
    }
    return call;
  }

  void lower() {
    if (program_.clip_stat >= 0)
      stats_[static_cast<size_t>(program_.clip_stat)] = 1.0;  // until a clip op writes it
    for (const Instruction& i : program_.instructions) {
      const Kernels& kernels = kernels_of(i.op);
      const bool backward = i.phase == Phase::Backward && i.op != OpKind::Probe;
      const Call call = call_of(i);
      const Stages stages = (backward ? kernels.backward : kernels.forward)(call);
      program_.plan.workspace = std::max(program_.plan.workspace, stages.workspace_floats);
      lowered_.push_back({call, stages});
    }
    workspace_ = allocate_block(program_.plan.workspace);
    for (Lowered& instruction : lowered_) instruction.call.workspace = workspace_.get();
  }

  ProgramData& program_;
  Pool& pool_;
  Block inputs_, activations_, gradients_, workspace_;
  std::vector<double> stats_;
  std::vector<ParameterCall> parameters_;
  std::vector<Lowered> lowered_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads) : pool_(threads) {}
  std::string_view name() const override { return "CPU"; }
  bool supports(OpKind op) const override { return kernels_of(op).forward != nullptr; }
  std::unique_ptr<Memory> allocate(size_t floats) override { return std::make_unique<CpuMemory>(floats); }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    std::memcpy(to.data() + offset, from.data(), from.size_bytes());
  }
  void download(const Memory& from, size_t offset, std::span<float> to) override {
    std::memcpy(to.data(), from.data() + offset, to.size_bytes());
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    return std::make_unique<CpuExecutable>(program, pool_);
  }
  void wait() override {}

 private:
  Pool pool_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(int threads) {
  cpu::check_instruction_set();
  return std::make_unique<cpu::CpuBackend>(threads > 0 ? threads : cpu::physical_cores());
}

}  // namespace normscope
