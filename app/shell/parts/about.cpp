#include "app/shell/parts/about.h"

#include <fmt/format.h>

#include <chrono>
#include <stop_token>
#include <utility>

#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/isa.h"
#include "training/experiments/first_steps.h"

namespace normscope::shell {

void About::ask(std::function<void()> wake) {
  if (thread_) return;
  std::promise<Checksum> promise;
  std::shared_future<Checksum> later = promise.get_future().share();
  auto look = [wake = std::move(wake), promise = std::move(promise)](const std::stop_token& stop) mutable {
    Checksum found;
    // One thread leaves the others to training, and the number of threads changes no bit.
    const Message error = guarded("checksum", [&] {
      const auto stopped = [&] { return stop.stop_requested(); };
      found.instructions = cpu::choose_isa();
      found.checksum =
          experiments::take_first_steps(*make_cpu_backend(1), experiments::kChecksumSteps, stopped).checksum;
    });
    if (!error.empty()) found.checksum = error;
    promise.set_value(std::move(found));
    if (wake) wake();
  };
  thread_ = std::make_shared<std::jthread>(start_thread("checksum", std::move(look)));
  found_ = std::move(later);
}

const About::Checksum* About::found() const {
  const bool there = found_.valid() && found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return there ? &found_.get() : nullptr;
}

std::string About::checksum() const { return found() ? found()->checksum : ""; }

std::string About::text() const {
  const Checksum* const known = found();
  const std::string checksum =
      known ? fmt::format("{} ({})", known->checksum, known->instructions) : tr("being computed");
  return tr("normscope {version}. Checksum of {steps} steps of the default comparison: {checksum}",
            {{"version", NORMSCOPE_VERSION}, {"steps", experiments::kChecksumSteps}, {"checksum", checksum}});
}

}  // namespace normscope::shell
