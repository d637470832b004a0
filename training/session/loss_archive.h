// Losses of finished reruns that outlive the process: "Is it luck?" asks it before a run is trained again with
// another seed. The app keeps them among the results of experiments. Called from the trainer's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/tape/backend.h"
#include "training/spec/spec.h"

namespace normscope {

class LossArchive {
 public:
  virtual ~LossArchive() = default;
  /// The loss of every step of this run, in nats; empty where it is not known. Never throws.
  virtual std::vector<float> find(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash,
                                  Backend& backend) noexcept = 0;
  /// Keeps them; where that fails nothing is kept. Never throws.
  virtual void keep(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash, Backend& backend,
                    const std::vector<float>& losses) noexcept = 0;
};

}  // namespace normscope
