// The reruns of the Lab's "Is it luck?" among the results of experiments: what one window trained the next one,
// or another process, finds.
#pragma once

#include <memory>
#include <string>

#include "engine/lab/loss_archive.h"

namespace normscope::experiments {

/// Over a store in `folder`; null where there can be none.
std::shared_ptr<LossArchive> open_loss_archive(const std::string& folder) noexcept;

}  // namespace normscope::experiments
