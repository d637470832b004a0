// The CPU behind a backend of a test, which does what the CPU does but where the test says otherwise.
#pragma once

#include <memory>

#include "engine/cpu/backend_cpu.h"
#include "engine/tape/backend.h"

namespace normscope::test {

class WrappedBackend : public Backend {
 public:
  std::string_view name() const override { return cpu_->name(); }
  bool on_host() const override { return cpu_->on_host(); }
  bool supports(OpKind op) const override { return cpu_->supports(op); }
  bool recomputes_probabilities() const override { return cpu_->recomputes_probabilities(); }
  std::unique_ptr<Memory> allocate(size_t floats) override { return cpu_->allocate(floats); }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    cpu_->upload(to, offset, from);
  }
  void download(const Memory& from, size_t offset, std::span<float> to) override {
    cpu_->download(from, offset, to);
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override { return cpu_->lower(program); }
  void wait() override { cpu_->wait(); }

 protected:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(1);
};

}  // namespace normscope::test
