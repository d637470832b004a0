// The fake driver has no device: memory is host memory, kernels compute nothing, every call is written down. A graph
// replays its copies, so that what reaches "the device" in a step can be looked at.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "engine/cuda/driver.h"

namespace normscope::test {

class FakeDriver final : public cuda::Driver {
 public:
  struct Event {
    enum class Kind : uint8_t {
      Upload,
      Download,
      Call,
      Fork,
      Join,
      BeginCapture,
      EndCapture,
      Launch,
      Wait
    } kind;
    cuda::Call call = {};
    cuda::Branch branch = cuda::Branch::Main;
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
  };
  std::vector<Event> events;  ///< what ran, or was captured, in order
  size_t memory_left = size_t{1} << 30;
  std::string broken;                         ///< what error() answers
  std::map<const std::byte*, size_t> blocks;  ///< device memory that is allocated
  int graphs = 0;                             ///< alive

  ~FakeDriver() override {
    for (auto& [p, bytes] : blocks) std::free(const_cast<std::byte*>(p));
  }

  const cuda::DeviceInfo& device() const override { return info_; }
  void* allocate(size_t bytes) override {
    if (bytes > memory_left) return nullptr;
    memory_left -= bytes;
    auto* p = static_cast<std::byte*>(std::calloc(1, bytes));
    blocks[p] = bytes;
    return p;
  }
  void release(void* p) override {
    auto it = blocks.find(static_cast<std::byte*>(p));
    memory_left += it->second;
    blocks.erase(it);
    std::free(p);
  }
  void* allocate_pinned(size_t bytes) override { return std::malloc(bytes); }
  void release_pinned(void* p) override { std::free(p); }
  size_t free_memory() override { return memory_left; }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }

  void enqueue_upload(void* to, const void* from, size_t bytes) override {
    copy(Event::Kind::Upload, to, from, bytes);
  }
  void enqueue_download(void* to, const void* from, size_t bytes) override {
    copy(Event::Kind::Download, to, from, bytes);
  }
  size_t workspace_floats(const cuda::Call& call) override { return 10 + static_cast<size_t>(call.op); }
  void enqueue(const cuda::Call& call, cuda::Branch branch) override {
    add({.kind = Event::Kind::Call, .call = call, .branch = branch});
  }
  void fork() override { add({.kind = Event::Kind::Fork}); }
  void join() override { add({.kind = Event::Kind::Join}); }
  void begin_capture() override {
    add({.kind = Event::Kind::BeginCapture});
    capturing_ = true;
    captured_.clear();
  }
  void* end_capture() override {
    capturing_ = false;
    add({.kind = Event::Kind::EndCapture});
    ++graphs;
    return new std::vector<Event>(captured_);
  }
  void launch_graph(void* graph) override {
    add({.kind = Event::Kind::Launch});
    for (const Event& e : *static_cast<std::vector<Event>*>(graph)) run(e);
  }
  void release_graph(void* graph) override {
    --graphs;
    delete static_cast<std::vector<Event>*>(graph);
  }
  void wait() override { add({.kind = Event::Kind::Wait}); }
  std::string error() const override { return broken; }

  /// Whether [p, p + bytes) is in one allocated block.
  bool owns(const void* p, size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(p);
    auto it = blocks.upper_bound(at);
    if (it == blocks.begin()) return false;
    --it;
    return at + bytes <= it->first + it->second;
  }

 private:
  void add(Event e) {
    if (capturing_) captured_.push_back(e);
    events.push_back(std::move(e));
  }
  void copy(Event::Kind kind, void* to, const void* from, size_t bytes) {
    const Event e{.kind = kind, .to = to, .from = from, .bytes = bytes};
    add(e);
    if (!capturing_) run(e);
  }
  static void run(const Event& e) {
    if (e.kind == Event::Kind::Upload || e.kind == Event::Kind::Download) std::memcpy(e.to, e.from, e.bytes);
  }

  cuda::DeviceInfo info_{
      .name = "a fake GPU", .major = 9, .minor = 0, .multiprocessors = 132, .memory = size_t{1} << 30};
  std::vector<Event> captured_;
  bool capturing_ = false;
};

}  // namespace normscope::test
