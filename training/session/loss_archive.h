// `LossArchive` keeps losses of finished reruns beyond the process. "Is it luck?" asks it before training a run again
// with another seed. training/experiments implements it over the store of results. Called from the trainer's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/tape/backend.h"
#include "training/spec/spec.h"

namespace normscope {

class LossArchive {
 public:
  virtual ~LossArchive() = default;
  /// `find` returns the loss of every step of this run, in nats; empty where they are not known. Never throws.
  virtual std::vector<float> find(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash,
                                  Backend& backend) noexcept = 0;
  /// `keep` keeps the losses, or nothing where that fails. Never throws.
  virtual void keep(const RunSpec& spec, const std::vector<Edit>& edits, uint64_t data_hash, Backend& backend,
                    const std::vector<float>& losses) noexcept = 0;
};

}  // namespace normscope
