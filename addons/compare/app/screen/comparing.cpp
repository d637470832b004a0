#include "addons/compare/app/screen/comparing.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "addons/compare/app/tracks.h"
#include "engine/core/boundary.h"

namespace normscope::compare_screen {
using namespace compare;
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kRest = 15;  // times what a comparison took, between two of a run that trains
constexpr double kLeastRest = 0.1, kMostRest = 2;  // seconds

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

/// The rest before a comparison, which a user cuts short.
struct Comparing::Pause {
  std::mutex mutex;
  std::condition_variable changed;
  bool hurry = false;

  void rest(double seconds) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return hurry; });
    hurry = false;
  }
  void end() {
    {
      const std::lock_guard lock(mutex);
      hurry = true;
    }
    changed.notify_all();
  }
};

ComparisonView show(std::vector<Recording> runs, const Choice& choice) noexcept {
  ComparisonView shown;
  shown.error = guarded("comparing", [&] {
    shown.all = compare::compare(std::move(runs), choice);
    const Comparison& all = shown.all;
    shown.loss = loss_plot(all);
    shown.difference = difference_plot(all);
    shown.end = end_plot(all);
    shown.per_step = ruler_of(all.runs, all.choice).per_step(all.runs[all.baseline()]);
    for (size_t run = 0; run < all.runs.size(); ++run) {
      const bool map = run != all.baseline() && all.maps[run].lacks.empty();
      shown.maps.push_back(map ? ratio_plot(all, run) : plot::PlotSpec{});
      shown.loupes.push_back(loupe_of(all, run));
      shown.grids.push_back(loupe_plot(all, run, shown.loupes.back()));
    }
  });
  return shown;
}

Comparing::Comparing(std::function<void()> wake)
    : wake_(std::move(wake)), pause_(std::make_shared<Pause>()) {}

Comparing::~Comparing() { pause_->end(); }

std::shared_ptr<const ComparisonView> Comparing::newest(const std::string& data, const std::string& chosen,
                                                        const Choice& choice,
                                                        const std::function<std::vector<Recording>()>& runs) {
  const auto take = [this] {
    const Made* made = asked_.empty() ? nullptr : background_.find(asked_);
    if (!made) return;
    made_ = *made;
    made_key_ = std::exchange(asked_, {});
    made_choice_ = asked_choice_;
  };
  take();
  const std::string key = data + "\n" + chosen;
  if (!asked_.empty() && asked_choice_ != chosen) pause_->end();
  if (asked_.empty() && made_key_ != key) {
    const bool by_hand = !made_.shown || made_choice_ != chosen || !wake_;
    const double rest = by_hand ? 0 : std::clamp(kRest * made_.seconds, kLeastRest, kMostRest);
    background_.ask(
        key,
        [pause = pause_, rest, choice, what = runs()]() mutable {
          if (rest > 0) pause->rest(rest);
          const Clock::time_point begin = Clock::now();
          Made made;
          made.shown = std::make_shared<const ComparisonView>(show(std::move(what), choice));
          made.seconds = seconds_since(begin);
          return made;
        },
        wake_);
    asked_ = key;
    asked_choice_ = chosen;
    take();
  }
  return made_.shown;
}

}  // namespace normscope::compare_screen
