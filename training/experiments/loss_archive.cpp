#include "training/experiments/loss_archive.h"

#include <utility>

#include "training/spec/limits.h"

namespace normscope::experiments {
namespace {

constexpr const char* kMeasurement = "losses 1";

class StoredLosses final : public LossArchive {
 public:
  explicit StoredLosses(StorePlace place) : store_(std::move(place)) {}

  void find(RunRecord& run, uint64_t data_hash, Backend& backend) noexcept override {
    try {
      const auto known = store_.find(key_of({run.origin, run.all_edits()}, data_hash, backend), kMeasurement);
      if (!known) return;
      const auto steps = static_cast<size_t>(run.origin.train.steps);
      for (const InputValue& loss : known->list(steps, steps))
        run.losses.push_back(static_cast<float>(loss.number(-1e30, 1e30)));
    } catch (...) {
      run.losses.clear();  // the run is then trained
    }
  }

  void keep(const RunRecord& run, uint64_t data_hash, Backend& backend) noexcept override {
    try {
      store_.put(key_of({run.origin, run.all_edits()}, data_hash, backend), kMeasurement, run.losses);
    } catch (...) {
      // A full disk costs the window nothing but the archive.
    }
  }

 private:
  ResultStore store_;
};

}  // namespace

std::shared_ptr<LossArchive> open_loss_archive(StorePlace place) noexcept {
  try {
    return place.folder.empty() ? nullptr : std::make_shared<StoredLosses>(std::move(place));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace normscope::experiments
