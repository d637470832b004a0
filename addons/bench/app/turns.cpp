// Times steps on request, so that other programs can be timed in turn while the machine's speed varies.
#include <algorithm>
#include <istream>
#include <map>
#include <memory>
#include <string>

#include "addons/bench/app/bench.h"
#include "addons/bench/app/stepper.h"
#include "training/measure/step/profile.h"

namespace normscope::bench {
namespace {

/// Keeps models ready between their turns, because the other programs keep theirs.
class Ready {
 public:
  explicit Ready(const Settings& settings) : settings_(settings) {}

  nlohmann::json measure(const std::string& name) {
    if (name == kSgemmTurn)
      return {{"name", name}, {"gflops", best_sgemm(settings_, nlohmann::json::array())}};
    std::unique_ptr<Stepper>& stepper = steppers_[name];
    const Model& model = model_of(name);
    if (!stepper) stepper = std::make_unique<Stepper>(model, settings_.threads);
    const Timing t = time_call([&] { stepper->step(); }, 4 * settings_.budget);
    nlohmann::json row = step_row(model, t);
    row["loss"] = stepper->program->loss();
    return row;
  }

 private:
  const Settings& settings_;
  std::map<std::string, std::unique_ptr<Stepper>> steppers_;
};

}  // namespace

std::string bench_turns(const Settings& settings, std::istream& names,
                        const std::function<void(const nlohmann::json&)>& answer) {
  const std::vector<std::string> known = model_names();
  Ready ready(settings);
  for (std::string name; std::getline(names, name);) {
    if (name != kSgemmTurn && std::ranges::find(known, name) == known.end()) return name;
    answer(ready.measure(name));
  }
  return {};
}

}  // namespace normscope::bench
