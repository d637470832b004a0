#include "addons/tape-screen/training/memory_map.h"

#include <algorithm>

#include "engine/ops/rules.h"
#include "engine/tape/store.h"
#include "training/io/text.h"

namespace normscope {
namespace {

/// Which instructions touch a tensor, in order of execution.
struct Uses {
  std::vector<int32_t> writers, readers;
};

/// All uses of values and of their gradients, both by ValueId.
struct AllUses {
  explicit AllUses(const ProgramData& program)
      : values(program.values.size()), gradients(program.values.size()) {
    for (size_t i = 0; i < program.instructions.size(); ++i)
      note(program, program.instructions[i], static_cast<int32_t>(i));
  }
  std::vector<Uses> values, gradients;

 private:
  static void add(std::vector<int32_t>& list, int32_t i) {
    if (list.empty() || list.back() != i) list.push_back(i);
  }
  void read(std::vector<Uses>& of, ValueId v, int32_t i) {
    if (v != kNone) add(of[static_cast<size_t>(v)].readers, i);
  }
  void write(std::vector<Uses>& of, ValueId v, int32_t i) {
    if (v != kNone) add(of[static_cast<size_t>(v)].writers, i);
  }

  void note(const ProgramData& program, const Instruction& it, int32_t i) {
    if (it.op == OpKind::Probe) {
      read(it.of_gradient ? gradients : values, it.in[0], i);
      if (it.in.size() > 1) read(values, it.in[1], i);
    } else if (it.phase == Phase::Forward) {
      for (ValueId v : it.in) read(values, v, i);
      write(values, it.out, i);
      for (ValueId v : it.saved) write(values, v, i);
    } else if (it.phase == Phase::Backward) {
      note_backward(it, i);
    } else if (it.op != OpKind::Clip) {
      note_update(program, it, i);
    }
  }

  void note_backward(const Instruction& it, int32_t i) {
    const BackwardReads reads = backward_reads(it);
    read(gradients, it.out, i);
    for (size_t k = 0; k < it.in.size(); ++k) {
      if (reads.inputs[k]) read(values, it.in[k], i);
      if (it.write[k] != Write::Skip) write(gradients, it.in[k], i);
    }
    if (reads.saved)
      for (ValueId v : it.saved) read(values, v, i);
  }

  void note_update(const ProgramData& program, const Instruction& it, int32_t i) {
    for (size_t v = 0; v < program.values.size(); ++v) {
      if (program.values[v].role != Role::Parameter || program.plan.gradient_offset[v] == kNoOffset) continue;
      const auto id = static_cast<ValueId>(v);
      read(gradients, id, i);
      if (it.op == OpKind::GradNorm) continue;
      read(values, id, i);
      write(values, id, i);
    }
  }
};

class Builder {
 public:
  explicit Builder(const ProgramData& program) : program_(program), uses_(program) {
    map_.instructions = static_cast<int32_t>(program.instructions.size());
    last_ = std::max(map_.instructions - 1, 0);
  }

  MemoryMap build() {
    const MemoryPlan& plan = program_.plan;
    const size_t store = program_.store->size();
    add_segment("weights", store);
    add_values(Role::Parameter, BufferKind::Weight);
    add_segment("moments", 2 * store);
    add_block(BufferKind::Moments, "first moments", 0, store);
    add_block(BufferKind::Moments, "second moments", store, store);
    add_segment("batch", plan.inputs);
    add_values(Role::Input, BufferKind::Batch);
    add_segment("workspace", plan.workspace);
    add_block(BufferKind::Workspace, "workspace", 0, plan.workspace);
    add_segment("activations", plan.activations);
    add_values(Role::Activation, BufferKind::Activation);
    add_values(Role::Saved, BufferKind::Saved);
    count_apart({BufferKind::Activation, BufferKind::Saved});
    add_segment("gradients", plan.gradients);
    add_gradients();
    count_apart({BufferKind::Gradient});
    for (const MemorySegment& s : map_.segments) {
      map_.planned += s.bytes;
      map_.apart += s.apart;
    }
    find_most();
    std::ranges::stable_sort(map_.buffers, [](const Buffer& a, const Buffer& b) {
      return a.address != b.address ? a.address < b.address : a.first < b.first;
    });
    return std::move(map_);
  }

 private:
  void add_segment(const char* name, size_t floats) {
    map_.segments.push_back({name, end_, 4 * floats, 4 * floats});
    end_ += 4 * floats;
  }

  size_t base() const { return map_.segments.back().address; }

  void add_block(BufferKind kind, const char* name, size_t offset, size_t floats) {
    if (floats > 0)
      map_.buffers.push_back({kind, name, kNone, 0, base() + 4 * offset, 4 * floats, 0, last_, {}, {}});
  }

  void add_buffer(BufferKind kind, ValueId v, size_t offset, const Uses& uses) {
    const ValueInfo& info = program_.values[static_cast<size_t>(v)];
    Buffer b{
        kind,  info.name,    v,           layer_of(info), base() + 4 * offset, 4 * info.shape.padded(), 0,
        last_, uses.writers, uses.readers};
    if (kind != BufferKind::Weight) {
      if (!b.readers.empty() || !b.writers.empty()) b.last = 0;
      for (const std::vector<int32_t>& list : {b.writers, b.readers})
        if (!list.empty()) b.last = std::max(b.last, list.back());
      if (kind != BufferKind::Batch && !b.writers.empty()) b.first = b.writers.front();
      // The gradient of the loss itself has no writer: it is set to one before the backward pass.
      if (kind == BufferKind::Gradient && b.writers.empty() && !b.readers.empty())
        b.first = b.readers.front();
    }
    map_.buffers.push_back(std::move(b));
  }

  int32_t layer_of(const ValueInfo& info) const {
    if (info.role == Role::Parameter)
      return program_.store->parameters()[static_cast<size_t>(info.parameter)].layer;
    return info.node < 0 ? 0 : program_.nodes[static_cast<size_t>(info.node)].layer;
  }

  void add_values(Role role, BufferKind kind) {
    for (size_t v = 0; v < program_.values.size(); ++v)
      if (program_.values[v].role == role && program_.plan.value_offset[v] != kNoOffset)
        add_buffer(kind, static_cast<ValueId>(v), program_.plan.value_offset[v], uses_.values[v]);
  }

  void add_gradients() {
    for (size_t v = 0; v < program_.values.size(); ++v)
      if (program_.plan.gradient_offset[v] != kNoOffset)
        add_buffer(BufferKind::Gradient, static_cast<ValueId>(v), program_.plan.gradient_offset[v],
                   uses_.gradients[v]);
  }

  /// For the newest segment: the sum over its tensors.
  void count_apart(std::initializer_list<BufferKind> kinds) {
    size_t& apart = map_.segments.back().apart;
    apart = 0;
    for (const Buffer& b : map_.buffers)
      if (std::ranges::find(kinds, b.kind) != kinds.end()) apart += b.bytes;
  }

  void find_most() {
    std::vector<size_t> born(static_cast<size_t>(last_) + 2, 0), gone(born);
    for (const Buffer& b : map_.buffers) {
      born[static_cast<size_t>(b.first)] += b.bytes;
      gone[static_cast<size_t>(b.last) + 1] += b.bytes;
    }
    size_t alive = 0;
    for (int32_t i = 0; i <= last_; ++i) {
      alive += born[static_cast<size_t>(i)];
      alive -= gone[static_cast<size_t>(i)];
      if (alive <= map_.most) continue;
      map_.most = alive;
      map_.most_at = i;
    }
  }

  const ProgramData& program_;
  const AllUses uses_;
  MemoryMap map_;
  int32_t last_ = 0;
  size_t end_ = 0;
};

std::string mebibytes(size_t bytes) {
  return fmt::format("{:.3f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

}  // namespace

const char* to_string(BufferKind kind) {
  constexpr const char* kNames[] = {"weight",     "moments", "batch",   "workspace",
                                    "activation", "saved",   "gradient"};
  return kNames[static_cast<int>(kind)];
}

MemoryMap memory_map(const ProgramData& program) { return Builder(program).build(); }

std::string to_string(const MemoryMap& map) {
  std::vector<std::vector<std::string>> rows{{"address", "bytes", "from", "to", "what", "holds"}};
  for (const Buffer& b : map.buffers)
    rows.push_back({std::to_string(b.address), std::to_string(b.bytes), std::to_string(b.first),
                    std::to_string(b.last), to_string(b.kind), b.name});
  std::string text = text_table(rows, "rrrrll") + "\n";
  rows = {{"segment", "as planned", "every tensor in its own place"}};
  for (const MemorySegment& s : map.segments)
    rows.push_back({s.name, mebibytes(s.bytes), mebibytes(s.apart)});
  rows.push_back({"sum", mebibytes(map.planned), mebibytes(map.apart)});
  text += text_table(rows, "lrr");
  return text + fmt::format("most is alive at instruction {} of {}: {}\n", map.most_at, map.instructions,
                            mebibytes(map.most));
}

}  // namespace normscope
