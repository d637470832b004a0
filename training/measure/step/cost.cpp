#include "training/measure/step/cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/rules.h"
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

double floats_moved(const ProgramData& program, const Instruction& i) {
  const OpRules op = rules_of(i.op);
  if (i.phase == Phase::Update) return op.passes * parameter_floats(program);
  if (i.node < 0) return floats_of(program, i.in[0]);  // a probe
  const BackwardReads read = i.phase == Phase::Backward ? backward_reads(i) : BackwardReads{};
  double sum = floats_of(program, i.out);  // forward writes it, backward reads its gradient
  for (ValueId v : i.saved) sum += floats_of(program, v);
  for (size_t k = 0; k < i.in.size(); ++k) {
    const double size = floats_of(program, i.in[k]);
    if (i.phase == Phase::Forward)
      sum += op.gathers ? std::min(size, floats_of(program, i.out)) : size;
    else if (read.inputs[k])
      sum += size;
    if (i.phase == Phase::Backward && k < i.write.size() && i.write[k] != Write::Skip)
      sum += i.write[k] == Write::Add ? 2 * size : size;
  }
  return sum;
}

}  // namespace

Cost cost_of(const ProgramData& program, const Instruction& instruction) {
  const auto flop = rules_of(instruction.op).flop;
  return {flop ? flop(program, instruction) : 0, 4 * floats_moved(program, instruction)};
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
