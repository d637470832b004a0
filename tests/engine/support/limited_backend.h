// The limited backend is the CPU as a device of little memory that may be lost: the first upload beyond what a test
// allows is the last call that succeeds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/error.h"
#include "engine/support/wrapped_backend.h"

namespace normscope::test {

class LimitedBackend final : public WrappedBackend {
 public:
  std::function<void()> refuse_memory;    ///< throws where there is none for a Store; empty: there is
  std::function<void()> refuse_programs;  ///< the same of a program
  int uploads_left = 1 << 30;
  size_t taken() const { return *taken_; }  ///< floats of Stores, now

  std::unique_ptr<Memory> allocate(size_t floats) override {
    if (refuse_memory) refuse_memory();
    return std::make_unique<Counted>(cpu_->allocate(floats), taken_);
  }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    if (uploads_left-- <= 0) lost_ = true;
    cpu_->upload(to, offset, from);
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    if (refuse_programs) refuse_programs();
    return cpu_->lower(program);
  }
  void wait() override {
    if (lost_) throw DeviceError("[cuda] " + error());
  }
  std::string error() const override { return lost_ ? "the device fell off" : ""; }

 private:
  class Counted final : public Memory {
   public:
    Counted(std::unique_ptr<Memory> memory, std::shared_ptr<size_t> taken)
        : memory_(std::move(memory)), taken_(std::move(taken)) {
      *taken_ += floats();
    }
    ~Counted() override { *taken_ -= floats(); }
    size_t floats() const override { return memory_->floats(); }
    float* data() const override { return memory_->data(); }

   private:
    std::unique_ptr<Memory> memory_;
    std::shared_ptr<size_t> taken_;
  };

  std::shared_ptr<size_t> taken_ = std::make_shared<size_t>(0);
  bool lost_ = false;
};

}  // namespace normscope::test
