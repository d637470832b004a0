// `bench_micro` runs whole steps beside plain loops (app/bench/plain.h), both on one thread. Small models are like the
// single-file GPTs that people write by hand, one layer and 256 tokens, where what surrounds the arithmetic decides. In
// the benchmark's decoders the products decide. Called by commands/bench.cpp.
#include <fmt/format.h>

#include <string>

#include "app/bench/bench.h"
#include "app/bench/plain.h"
#include "app/bench/stepper.h"
#include "app/bench/timing.h"
#include "training/measure/look.h"

namespace normscope::bench {
namespace {

constexpr double kLargestDifference = 1e-5;  // of two losses and a gradient norm, relative

nlohmann::json measure(const Model& m, const Settings& settings, const Machine& machine) {
  nlohmann::json row = {{"name", m.name},
                        {"layers", m.layers},
                        {"width", m.width},
                        {"heads", m.heads},
                        {"feed_forward", m.feed_forward},
                        {"sequence", m.sequence},
                        {"batch", m.batch},
                        {"vocabulary", m.vocabulary},
                        {"threads", settings.threads}};
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
  row["difference"] = plain_difference(stepper, *plain, shape_of(m), 2);
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
        "\nBeside plain loops, microseconds a step (share of one core's FMA peak); ratio: plain loops over ours, both "
        "on one thread\n"
        "A stage of the pool on {} threads costs {:.2f} beyond its chunks\n"
        "{:9} {:>12} {:>15} {:>15} {:>15} {:>6} {:>8}\n",
        settings.threads, stage, "model", "instructions", "one thread",
        fmt::format("{} threads", settings.threads), "plain, 1 thread", "ratio", "apart");
  for (const Model& m : plain_models()) {
    if (!settings.model.empty() && settings.model != m.name) continue;
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
