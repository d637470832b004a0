#include "app/shell/parts/about.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "app/experiments/first_steps.h"
#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/isa.h"

namespace normscope::shell {

void About::ask(std::function<void()> wake) {
  if (found_.valid()) return;
  found_ = start_task("checksum", [wake = std::move(wake)] {
             Found found;
             // One thread beside those that train; their number changes no bit.
             const std::string error = guarded("checksum", [&] {
               found.instructions = cpu::choose_isa();
               found.checksum = experiments::take_first_steps(*make_cpu_backend(1)).checksum;
             });
             if (!error.empty()) found.checksum = error;
             if (wake) wake();
             return found;
           }).share();
}

const About::Found* About::found() const {
  const bool there = found_.valid() && found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return there ? &found_.get() : nullptr;
}

std::string About::checksum() const { return found() ? found()->checksum : ""; }

std::string About::text() const {
  const Found* const known = found();
  const std::string checksum = known ? fmt::format("{} ({})", known->checksum, known->instructions) : "being computed";
  return fmt::format("normscope {}. Checksum of {} steps of the default comparison: {}", NORMSCOPE_VERSION,
                     experiments::kChecksumSteps, checksum);
}

}  // namespace normscope::shell
