// The reruns of the Lab's "Is it luck?" among the results of experiments: what one window trained the next one,
// or another process, finds.
#pragma once

#include <memory>

#include "training/experiments/store/result_store.h"
#include "training/session/run_cache.h"

namespace normscope::experiments {

/// Over a store there; null where there can be none.
std::shared_ptr<LossArchive> open_loss_archive(StorePlace place) noexcept;

}  // namespace normscope::experiments
