#include "app/bench/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "engine/tape/store.h"

namespace normscope::bench {
namespace {

double floats_of(const ProgramData& program, ValueId id) {
  return id == kNone ? 0 : static_cast<double>(program.values[static_cast<size_t>(id)].shape.size());
}

/// Numbers of all parameters that the update goes through.
double parameter_floats(const ProgramData& program) {
  double sum = 0;
  for (int32_t p : program.parameter_order)
    sum += static_cast<double>(program.store->parameters()[static_cast<size_t>(p)].shape.size());
  return sum;
}

/// Times that the update op reads or writes a parameter-sized array.
double update_passes(OpKind op) {
  if (op == OpKind::Adam) return 7;  // reads value, gradient and both moments, writes all but the gradient
  if (op == OpKind::Sgd) return 5;
  return op == OpKind::GradNorm ? 1 : 0;
}

double flop_of(const ProgramData& program, const Instruction& i) {
  const bool backward = i.phase == Phase::Backward;
  if (i.op == OpKind::Linear) {
    const Shape& x = program.values[static_cast<size_t>(i.in[0])].shape;
    const double product = 2 * floats_of(program, i.out) * static_cast<double>(x.cols());
    if (!backward) return product;
    return product * ((i.write[0] != Write::Skip) + (i.write[1] != Write::Skip));
  }
  if (i.op == OpKind::Attention) {
    const Shape& keys = program.values[static_cast<size_t>(i.in[1])].shape;  // (B,T,D)
    return (backward ? 8 : 4) * floats_of(program, i.out) * static_cast<double>(keys[1]);
  }
  return 0;
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
    else if (i.op != OpKind::Embedding && i.op != OpKind::Add)
      sum += size;
    else if (i.phase == Phase::Forward)
      sum += size;
    if (i.phase == Phase::Backward && k < i.write.size() && i.write[k] != Write::Skip)
      sum += i.write[k] == Write::Add ? 2 * size : size;
  }
  return sum;
}

struct NodeLine {
  std::string name, op;
  double seconds[2] = {0, 0}, share = 0;
  Cost cost[2];
};

/// Nodes in order of execution. Probes are one line: each alone is too short for a clock.
std::vector<NodeLine> node_lines(const std::vector<InstructionProfile>& rows) {
  std::vector<NodeLine> lines;
  std::map<std::string, size_t> index;
  for (const InstructionProfile& r : rows) {
    if (r.phase == Phase::Update) continue;
    const bool probe = r.op == OpKind::Probe;
    const std::string name = probe ? "probes" : r.name;
    const auto [at, fresh] = index.emplace(name + (probe ? "" : to_string(r.op)), lines.size());
    if (fresh) lines.push_back({name, to_string(r.op), {}, 0, {}});
    NodeLine& line = lines[at->second];
    const int side = r.phase == Phase::Backward;
    line.seconds[side] += r.seconds;
    line.share += r.share;
    line.cost[side].flop += r.cost.flop;
    line.cost[side].bytes += r.cost.bytes;
  }
  return lines;
}

}  // namespace

Cost cost_of(const ProgramData& program, const Instruction& instruction) {
  return {flop_of(program, instruction), 4 * floats_moved(program, instruction)};
}

std::vector<InstructionProfile> profile(Program& program, const StepInputs& inputs, int repeats) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Instruction>& instructions = program.data().instructions;
  std::vector<std::vector<double>> samples(instructions.size());
  program.replay(inputs);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t i = 0; i < instructions.size(); ++i) {
      const auto start = Clock::now();
      program.executable().run(i, i + 1, inputs);
      samples[i].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  std::vector<InstructionProfile> rows;
  double sum = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& it = instructions[i];
    std::sort(samples[i].begin(), samples[i].end());
    const double median = samples[i][samples[i].size() / 2];
    rows.push_back({it.name, it.op, it.phase, median, 0, cost_of(program.data(), it)});
    sum += median;
  }
  for (InstructionProfile& row : rows) row.share = sum > 0 ? row.seconds / sum : 0;
  return rows;
}

std::string rate_text(const Cost& cost, double seconds) {
  if (seconds <= 0 || (cost.flop <= 0 && cost.bytes <= 0)) return "";
  if (cost.flop > 0) return fmt::format("{:.0f} GFLOP/s", 1e-9 * cost.flop / seconds);
  return fmt::format("{:.1f} GB/s", 1e-9 * cost.bytes / seconds);
}

const char* phase_name(Phase phase) {
  constexpr const char* kNames[] = {"forward", "backward", "update"};
  return kNames[static_cast<int>(phase)];
}

std::string profile_table(const std::vector<InstructionProfile>& rows) {
  std::string text = fmt::format("{:26} {:13} {:>10} {:>14} {:>10} {:>14} {:>7}\n", "node", "op", "forward",
                                 "", "backward", "", "share");
  const auto ms = [](double s) { return s > 0 ? fmt::format("{:.3f} ms", 1e3 * s) : std::string(); };
  for (const NodeLine& l : node_lines(rows))
    text += fmt::format("{:26} {:13} {:>10} {:>14} {:>10} {:>14} {:6.2f}%\n", l.name, l.op, ms(l.seconds[0]),
                        rate_text(l.cost[0], l.seconds[0]), ms(l.seconds[1]),
                        rate_text(l.cost[1], l.seconds[1]), 100 * l.share);
  for (const InstructionProfile& r : rows)
    if (r.phase == Phase::Update)
      text += fmt::format("{:26} {:13} {:>10} {:>14} {:>25} {:6.2f}%\n", "all parameters", r.name,
                          ms(r.seconds), rate_text(r.cost, r.seconds), "", 100 * r.share);
  for (Phase phase : {Phase::Forward, Phase::Backward, Phase::Update}) {
    double seconds = 0, share = 0;
    Cost cost;
    for (const InstructionProfile& r : rows) {
      if (r.phase != phase) continue;
      seconds += r.seconds;
      share += r.share;
      cost.flop += r.cost.flop;
      cost.bytes += r.cost.bytes;
    }
    text += fmt::format("{:40} {:>10} {:>14} {:>25} {:6.2f}%\n", std::string("sum ") + phase_name(phase),
                        ms(seconds), rate_text(cost, seconds), "", 100 * share);
  }
  return text;
}

}  // namespace normscope::bench
