#include "training/measure/step/cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/attention/attention.h"
#include "engine/ops/update/muon.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

double floats_of(const ProgramData& program, ValueId id) {
  return id == kNone ? 0 : static_cast<double>(program.values[static_cast<size_t>(id)].shape.size());
}

/// Counts the numbers of all parameters that the update goes through.
double parameter_floats(const ProgramData& program) {
  double sum = 0;
  for (int32_t p : program.parameter_order)
    sum += static_cast<double>(program.store->parameters()[static_cast<size_t>(p)].shape.size());
  return sum;
}

/// Counts how often the update op reads or writes an array of the parameters' size.
double update_passes(OpKind op) {
  if (op == OpKind::Adam) return 7;  // reads value, gradient and both moments, writes all but the gradient
  if (op == OpKind::Sgd) return 5;
  if (op == OpKind::Muon)
    return 9;  // of a matrix: without the second moment, but the direction twice and back
  return op == OpKind::GradNorm ? 1 : 0;
}

/// Counts the three products of each of the five iterations of each matrix.
double muon_flop(const ProgramData& program) {
  double sum = 0;
  for (int32_t p : program.parameter_order) {
    const ParameterInfo& info = program.store->parameters()[static_cast<size_t>(p)];
    if (!info.hidden) continue;
    const double side = static_cast<double>(std::min(info.shape[0], info.shape[1]));
    sum += kMuonIterations * (4 * side * static_cast<double>(info.shape.size()) + 2 * side * side * side);
  }
  return sum;
}

double flop_of(const ProgramData& program, const Instruction& i) {
  if (i.op == OpKind::Muon) return muon_flop(program);
  const bool backward = i.phase == Phase::Backward;
  if (i.op == OpKind::Linear) {
    const Shape& x = program.values[static_cast<size_t>(i.in[0])].shape;
    const double product = 2 * floats_of(program, i.out) * static_cast<double>(x.cols());
    if (!backward) return product;
    return product * ((i.write[0] != Write::Skip) + (i.write[1] != Write::Skip));
  }
  if (i.op == OpKind::Conv2d) {  // a product over patches of as many numbers as the weight has rows
    const Shape& weight = program.values[static_cast<size_t>(i.in[1])].shape;
    const double product = 2 * floats_of(program, i.out) * static_cast<double>(weight.rows());
    if (!backward) return product;
    return product * ((i.write[0] != Write::Skip) + (i.write[1] != Write::Skip));
  }
  if (i.op == OpKind::LargestLogit)
    return 2 * floats_of(program, i.in[0]) *
           static_cast<double>(program.values[static_cast<size_t>(i.in[1])].shape[1]);
  if (i.op == OpKind::Attention) {
    const auto spec = i.attributes.as<AttentionSpec>();
    int64_t keys = program.values[static_cast<size_t>(i.in[1])].shape[1];  // (B,T,D)
    if (spec.window > 0) keys = std::min<int64_t>(keys, spec.window);
    const int backward_products = spec.cap > 0 ? 5 : 4;  // a cap has the scores computed again
    return 2 * (backward ? backward_products : 2) * floats_of(program, i.out) * static_cast<double>(keys);
  }
  if (i.op == OpKind::RelativeAttention) {  // scores are sums of two products
    const Shape& keys = program.values[static_cast<size_t>(i.in[1])].shape;
    return (backward ? 12 : 6) * floats_of(program, i.out) * static_cast<double>(keys[1]);
  }
  return 0;
}

/// Whether the backward pass of an op looks at what its forward pass read.
bool reads_inputs_back(OpKind op) {
  return op != OpKind::Embedding && op != OpKind::Add && op != OpKind::Rotary && op != OpKind::RepeatHeads;
}

double floats_moved(const ProgramData& program, const Instruction& i) {
  if (i.phase == Phase::Update) return update_passes(i.op) * parameter_floats(program);
  if (i.op == OpKind::Probe) return floats_of(program, i.in[0]);
  double sum = floats_of(program, i.out);  // forward writes it, backward reads its gradient
  for (ValueId v : i.saved) sum += floats_of(program, v);
  for (size_t k = 0; k < i.in.size(); ++k) {
    const double size = floats_of(program, i.in[k]);
    if (i.op == OpKind::Embedding && i.phase == Phase::Forward)
      sum += std::min(size, floats_of(program, i.out));  // gathers rows, does not read the table
    else if (i.phase == Phase::Forward || reads_inputs_back(i.op))
      sum += size;
    if (i.phase == Phase::Backward && k < i.write.size() && i.write[k] != Write::Skip)
      sum += i.write[k] == Write::Add ? 2 * size : size;
  }
  return sum;
}

}  // namespace

Cost cost_of(const ProgramData& program, const Instruction& instruction) {
  return {flop_of(program, instruction), 4 * floats_moved(program, instruction)};
}

double least_seconds(const Cost& cost, const Roof& roof) {
  const double arithmetic = roof.flops > 0 ? cost.flop / roof.flops : 0;
  const double memory = roof.bytes > 0 ? cost.bytes / roof.bytes : 0;
  return std::max(arithmetic, memory);
}

std::string rate_text(const Cost& cost, double seconds) {
  if (seconds <= 0 || (cost.flop <= 0 && cost.bytes <= 0)) return "";
  if (cost.flop > 0) return fmt::format("{:.0f} GFLOP/s", 1e-9 * cost.flop / seconds);
  return fmt::format("{:.1f} GB/s", 1e-9 * cost.bytes / seconds);
}

}  // namespace normscope
