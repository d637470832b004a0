#include "training/experiments/loss_archive.h"

#include <utility>

#include "training/spec/limits.h"

namespace normscope::experiments {
namespace {

constexpr const char* kMeasurement = "losses 1";

class StoredLosses final : public LossArchive {
 public:
  explicit StoredLosses(StorePlace place) : store_(std::move(place)) {}

  std::vector<float> find(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash,
                          Backend& backend) noexcept override {
    try {
      std::vector<float> losses;
      const auto known = store_.find(key_of({spec, edits}, data_hash, backend), kMeasurement);
      if (!known) return losses;
      for (const InputValue& loss :
           known->list(static_cast<size_t>(spec.train.steps), static_cast<size_t>(spec.train.steps)))
        losses.push_back(static_cast<float>(loss.number(-1e30, 1e30)));
      return losses;
    } catch (...) {
      return {};  // the run is then trained
    }
  }

  void keep(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash, Backend& backend,
            const std::vector<float>& losses) noexcept override {
    try {
      store_.put(key_of({spec, edits}, data_hash, backend), kMeasurement, losses);
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
