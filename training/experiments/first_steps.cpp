#include "training/experiments/first_steps.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/cpu/isa.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/data/text_source.h"
#include "training/measure/history.h"
#include "training/run/run.h"

namespace normscope::experiments {
namespace {

static_assert(std::endian::native == std::endian::little);  // the bytes that are hashed

uint64_t add(uint64_t hash, std::span<const float> values) {
  return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, hash);
}

}  // namespace

FirstSteps take_first_steps(Backend& backend, int32_t steps, const std::function<bool()>& stop) {
  using Clock = std::chrono::steady_clock;
  FirstSteps first;
  uint64_t hash = hash_bytes({});
  double tokens = 0;
  for (const RunSpec& spec : default_comparison()) {
    const std::shared_ptr<const Task> task = make_task(spec.data);
    Run run(spec, task, backend);
    const Clock::time_point begin = Clock::now();
    bool stopped = false;
    for (int32_t step = 0; step < steps && !stopped; ++step) {
      stopped = stop && stop();
      if (!stopped) run.step();
    }
    first.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    tokens += steps * units_of_step(spec);
    first.losses.push_back(run.history()->loss().values);
    if (stopped) return first;
    hash = add(hash, first.losses.back());
    const Store& store = run.store();
    for (size_t p = 0; p < store.parameters().size(); ++p)
      hash = add(hash, store.read(static_cast<int32_t>(p)));
  }
  first.checksum = fmt::format("{:016x}", hash);
  first.tokens_per_second = first.seconds > 0 ? tokens / first.seconds : 0;
  return first;
}

std::string report_of(const FirstSteps& first, int32_t threads, bool json) {
  if (!json)
    return fmt::format("{} steps of the default comparison, {}, threads {}: checksum {}, {:.0f} tokens/s\n",
                       kChecksumSteps, cpu::choose_isa(), threads, first.checksum, first.tokens_per_second);
  const nlohmann::json row = {{"checksum", first.checksum},
                              {"instruction_set", cpu::choose_isa()},
                              {"threads", threads},
                              {"steps", kChecksumSteps},
                              {"losses", first.losses},
                              {"seconds", first.seconds},
                              {"tokens_per_second", first.tokens_per_second}};
  return row.dump() + "\n";
}

}  // namespace normscope::experiments
