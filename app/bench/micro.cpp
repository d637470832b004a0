// The shape of the single-file GPTs that people write by hand: one layer, 256 tokens, where what surrounds the
// arithmetic decides. The rival is app/bench/plain.h, on one core.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/bench/bench.h"
#include "app/bench/plain.h"
#include "app/bench/stepper.h"
#include "app/bench/timing.h"
#include "engine/train/network.h"

namespace normscope::bench {
namespace {

constexpr double kLargestDifference = 1e-5;  // of the losses and gradients of two steps, relative

/// Of all parameters together.
double gradient_norm(const Program& program) {
  const ProgramData& data = program.data();
  double squares = 0;
  for (const double norm :
       program.stats().subspan(static_cast<size_t>(data.grad_norm_stat), data.parameter_order.size()))
    squares += norm * norm;
  return std::sqrt(squares);
}

/// Two steps of both from the same values: how far their losses and gradient norms lie apart, relative. The second one
/// shows the update.
double difference(Stepper& stepper, PlainDecoder& plain, const BatchView& batch) {
  double worst = 0;
  for (int i = 0; i < 2; ++i) {
    stepper.step();
    const double loss = plain.step(batch.tokens.data(), batch.targets.data(), stepper.inputs);
    worst = std::max({worst, std::abs(loss / stepper.program->loss() - 1),
                      std::abs(plain.gradient_norm() / gradient_norm(*stepper.program) - 1)});
  }
  return worst;
}

nlohmann::json measure(const Model& m, const Settings& settings, const Machine& machine) {
  nlohmann::json row = {{"name", m.name}};
  const double gflop = gflop_of(m), core = machine.peak_gflops / machine.threads;
  const auto put = [&](const std::string& who, const Timing& t) {
    row[who + "_us"] = 1e6 * t.median;
    row[who + "_share_of_core"] = gflop / t.median / core;
  };
  {
    Stepper stepper(m, settings.threads);
    put("ours_all", time_call([&] { stepper.step(); }, settings.budget));
  }
  Stepper stepper(m, 1);
  row["instructions"] = stepper.program->data().instructions.size();
  const auto plain = make_plain_decoder(m, stepper);
  const BatchView batch = inputs_of(*stepper.program, shape_of(m));
  row["difference"] = difference(stepper, *plain, batch);
  put("ours", time_call([&] { stepper.step(); }, settings.budget));
  put("plain", time_call([&] { plain->step(batch.tokens.data(), batch.targets.data(), stepper.inputs); },
                         settings.budget));
  row["ratio"] = row["plain_us"].get<double>() / row["ours_us"].get<double>();
  return row;
}

}  // namespace

Part bench_micro(const Settings& settings, const Machine& machine) {
  Part part;
  const double stage = 1e6 * stage_seconds(settings.threads, settings.budget);
  if (!settings.quiet)
    fmt::print(
        "\nSmall models, microseconds a step (share of one core's FMA peak); a stage on {} threads costs {:.2f} beyond its chunks\n"
        "{:9} {:>12} {:>15} {:>15} {:>15} {:>6} {:>8}\n",
        settings.threads, stage, "model", "instructions", "one thread",
        fmt::format("{} threads", settings.threads), "plain loops", "ratio", "apart");
  for (const Model& m : models()) {
    if (!std::string_view(m.name).starts_with("micro")) continue;
    nlohmann::json row = measure(m, settings, machine);
    row["stage_us"] = stage;
    part.right = part.right && row["difference"].get<double>() < kLargestDifference;
    const auto cell = [&](const std::string& who) {
      return fmt::format("{:.0f} ({:.0f}%)", row[who + "_us"].get<double>(),
                         100 * row[who + "_share_of_core"].get<double>());
    };
    if (!settings.quiet)
      fmt::print("{:9} {:12} {:>15} {:>15} {:>15} {:6.2f} {:8.1e}\n", m.name,
                 row["instructions"].get<size_t>(), cell("ours"), cell("ours_all"), cell("plain"),
                 row["ratio"].get<double>(), row["difference"].get<double>());
    part.rows.push_back(std::move(row));
  }
  return part;
}

}  // namespace normscope::bench
