// This archive keeps the reruns of the Lab's "Is it luck?" among the results of experiments, so that another window
// or process finds what one window has trained.
#pragma once

#include <memory>

#include "training/experiments/store/result_store.h"
#include "training/session/run_cache.h"

namespace normscope::experiments {

/// Opens the archive over the store at that place; null where there can be no store.
std::shared_ptr<LossArchive> open_loss_archive(StorePlace place) noexcept;

}  // namespace normscope::experiments
