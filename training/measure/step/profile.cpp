#include "training/measure/step/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "engine/cpu/isa.h"
#include "engine/cpu/pool.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {

Timing time_call(const std::function<void()>& call, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  call();
  auto start = Clock::now();
  call();
  const double once = std::max(seconds(Clock::now() - start), 1e-7);
  const int batch = std::max(1, static_cast<int>(1e-4 / once));
  const size_t least = budget < kTrial ? 1 : 5;
  std::vector<double> samples;
  const auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int i = 0; i < batch; ++i) call();
    samples.push_back(seconds(Clock::now() - start) / batch);
  } while (seconds(Clock::now() - begin) < budget || samples.size() < least);
  std::ranges::sort(samples);
  return {samples.front(), samples[samples.size() / 2]};
}

namespace {

constexpr int64_t kRounds = 200'000;
constexpr size_t kTriadFloats = size_t{24} << 20;  // three arrays of 96 MiB

struct Triad {
  std::vector<float> a, b, c;
};

// Stages of the pool carry no data of their own, so their data stand in the call's workspace and inputs.
void fma_stage(const Call& call, const StepInputs&, int64_t chunk, cpu::Scratch) noexcept {
  cpu::spin_fma(kRounds, call.workspace + 16 * chunk);
}

void triad_stage(const Call& call, const StepInputs&, int64_t chunk, cpu::Scratch) noexcept {
  const size_t share = kTriadFloats / 16, begin = share * static_cast<size_t>(chunk);
  float* __restrict out = call.out.p + begin;
  const float* __restrict x = call.in[0].p + begin;
  const float* __restrict y = call.in[1].p + begin;
  for (size_t i = 0; i < share; ++i) out[i] = x[i] + 0.5f * y[i];
}

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

struct NodeLine {
  std::string name, op;
  double seconds[2] = {0, 0}, share = 0;
  Cost cost[2];
};

/// Keeps the order of execution and makes the probes one line, as each alone is too short for a clock.
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
    line.cost[side] += r.cost;
  }
  return lines;
}

}  // namespace

MachinePeak measure_machine_peak(int threads, double budget) {
  MachinePeak machine;
  machine.processor = cpu::processor_name();
  machine.isa = cpu::choose_isa();
  machine.threads = threads;
  cpu::Pool pool(threads);
  std::vector<float> sinks(static_cast<size_t>(16 * threads));
  Call call{};
  call.workspace = sinks.data();
  const double flop = static_cast<double>(cpu::spin_fma(kRounds, sinks.data())) * threads;
  const StepInputs inputs;
  const auto seconds = [&](cpu::StageFn stage, int64_t chunks) {
    return time_call([&] { pool.run({stage, chunks}, call, inputs); }, budget).minimum;
  };
  machine.gflops = 1e-9 * flop / seconds(fma_stage, threads);
  Triad t{std::vector<float>(kTriadFloats), std::vector<float>(kTriadFloats, 1),
          std::vector<float>(kTriadFloats, 2)};
  call.out.p = t.a.data();
  call.in[0].p = t.b.data();
  call.in[1].p = t.c.data();
  const double bytes = 3.0 * 4 * kTriadFloats;
  machine.bandwidth_gbs = 1e-9 * bytes / seconds(triad_stage, 16);
  return machine;
}

Cost cost_of(const ProgramData& program, const Instruction& instruction) {
  const auto flop = rules_of(instruction.op).flop;
  return {flop ? flop(program, instruction) : 0, 4 * floats_moved(program, instruction)};
}

std::string rate_text(const Cost& cost, double seconds) {
  if (seconds <= 0 || (cost.flop <= 0 && cost.bytes <= 0)) return "";
  if (cost.flop > 0) return fmt::format("{:.0f} GFLOP/s", 1e-9 * cost.flop / seconds);
  return fmt::format("{:.1f} GB/s", 1e-9 * cost.bytes / seconds);
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
    std::ranges::sort(samples[i]);
    const double median = samples[i][samples[i].size() / 2];
    rows.push_back({it.name, it.op, it.phase, median, 0, cost_of(program.data(), it)});
    sum += median;
  }
  for (InstructionProfile& row : rows) row.share = sum > 0 ? row.seconds / sum : 0;
  return rows;
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
      cost += r.cost;
    }
    text += fmt::format("{:40} {:>10} {:>14} {:>25} {:6.2f}%\n", std::string("sum ") + to_string(phase),
                        ms(seconds), rate_text(cost, seconds), "", 100 * share);
  }
  return text;
}

}  // namespace normscope
