// The failing driver gives out: its calls go to another one until it has little memory or is lost, as a device on a bus
// that fell away: every call fails from then on, what comes down is rubbish, and the first error stays.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "engine/cuda/driver.h"

namespace normscope::test {

class FailingDriver final : public cuda::Driver {
 public:
  explicit FailingDriver(std::shared_ptr<cuda::Driver> inner) : inner_(std::move(inner)) {}
  int launches_left = 1 << 30;           ///< steps (captured or not) until the device is lost
  size_t memory_left = ~size_t{0} >> 1;  ///< for allocate()

  const cuda::DeviceInfo& device() const override { return inner_->device(); }
  void* allocate(size_t bytes) override {
    if (lost_ || bytes > memory_left) return nullptr;
    memory_left -= bytes;
    return inner_->allocate(bytes);
  }
  void release(void* p) override { inner_->release(p); }
  void* allocate_pinned(size_t bytes) override { return inner_->allocate_pinned(bytes); }
  void release_pinned(void* p) override { inner_->release_pinned(p); }
  size_t free_memory() override { return std::min(memory_left, inner_->free_memory()); }
  void upload(void* to, const void* from, size_t bytes) override {
    if (!lost_) inner_->upload(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    if (lost_)
      std::memset(to, 0x5a, bytes);
    else
      inner_->download(to, from, bytes);
  }
  void enqueue_upload(void* to, const void* from, size_t bytes) override {
    if (!lost_) inner_->enqueue_upload(to, from, bytes);
  }
  void enqueue_download(void* to, const void* from, size_t bytes) override {
    if (!lost_) inner_->enqueue_download(to, from, bytes);
  }
  size_t workspace_floats(const cuda::Call& call) override { return inner_->workspace_floats(call); }
  void enqueue(const cuda::Call& call, cuda::Branch branch) override {
    if (!lost_) inner_->enqueue(call, branch);
  }
  void fork() override {
    if (!lost_) inner_->fork();
  }
  void join() override {
    if (!lost_) inner_->join();
  }
  void begin_capture() override {
    if (!lost_) inner_->begin_capture();
  }
  void* end_capture() override { return lost_ ? nullptr : inner_->end_capture(); }
  void launch_graph(void* graph) override {
    if (launches_left-- <= 0) lost_ = true;
    if (!lost_) inner_->launch_graph(graph);
  }
  void release_graph(void* graph) override { inner_->release_graph(graph); }
  void wait() override {
    if (!lost_) inner_->wait();
  }
  std::string error() const override { return lost_ ? "step: unspecified launch failure" : inner_->error(); }

 private:
  std::shared_ptr<cuda::Driver> inner_;
  bool lost_ = false;
};

}  // namespace normscope::test
