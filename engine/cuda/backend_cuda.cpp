// The CUDA backend: device memory from the same memory plan as the CPU's, lowering to calls with device addresses, and
// a step as one captured graph: batch and StepInputs up from pinned memory, every kernel, the stats block down. Nothing
// that varies between steps is a kernel argument; a test changes each field of StepInputs and demands a changed result.
#include "engine/cuda/backend_cuda.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/turn.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/schedule.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"
#include "engine/tape/backend.h"
#include "engine/tape/store.h"

namespace normscope::cuda {

// Owners of the CUDA backend's memory: device memory, page-locked host memory, and a Store's block.

inline constexpr size_t kLine = 256;  // bytes; every block starts on such a line
constexpr size_t padded(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Throws DeviceError with what is missing.
[[noreturn]] inline void out_of_memory(Driver& driver, size_t bytes, const char* kind) {
  const auto megabytes = [](size_t b) { return (b + (size_t{1} << 20) - 1) >> 20; };
  throw DeviceError("[{}] {}", "memory",
                    Message("{} has no {} MB of {} left, {} MB are free: expected a smaller model or batch",
                            driver.device().name, megabytes(bytes), kind, driver.free_memory() >> 20));
}

/// A zero-filled block of device memory.
class Block {
 public:
  Block() = default;
  Block(std::shared_ptr<Driver> driver, size_t bytes) : driver_(std::move(driver)) {
    p_ = driver_->allocate(std::max(bytes, kLine));
    if (p_ == nullptr) out_of_memory(*driver_, bytes, "device memory");
  }
  Block(Block&& o) noexcept : driver_(std::move(o.driver_)), p_(std::exchange(o.p_, nullptr)) {}
  Block& operator=(Block&& o) noexcept {
    std::swap(driver_, o.driver_);
    std::swap(p_, o.p_);
    return *this;
  }
  ~Block() {
    if (p_) driver_->release(p_);
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(p_);
  }

 private:
  std::shared_ptr<Driver> driver_;
  void* p_ = nullptr;
};

/// Page-locked host memory, from which copies run inside the graph.
class PinnedMemory {
 public:
  PinnedMemory(std::shared_ptr<Driver> driver, size_t bytes)
      : driver_(std::move(driver)), bytes_(std::max(bytes, kLine)) {
    p_ = driver_->allocate_pinned(bytes_);
    if (p_ == nullptr) out_of_memory(*driver_, bytes_, "page-locked memory");
    std::memset(p_, 0, bytes_);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { driver_->release_pinned(p_); }
  std::byte* data() const { return static_cast<std::byte*>(p_); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Driver> driver_;
  void* p_ = nullptr;
  size_t bytes_;
};

/// One block of a Store.
class CudaMemory final : public Memory {
 public:
  CudaMemory(std::shared_ptr<Driver> driver, size_t floats)
      : block_(std::move(driver), floats * sizeof(float)), floats_(floats) {}
  size_t floats() const override { return floats_; }
  float* data() const override { return block_.as<float>(); }

 private:
  Block block_;
  size_t floats_;
};
namespace {

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(ProgramData& program, std::shared_ptr<Driver> driver, bool graph,
                 std::shared_ptr<std::atomic_flag> taken)
      : program_(program),
        driver_(std::move(driver)),
        taken_(std::move(taken)),
        staged_host_(driver_, kStepBytes + program.plan.inputs * sizeof(float)),
        stats_host_(driver_, program.stats.size() * sizeof(double)) {
    check_sizes();
    staged_ = Block(driver_, staged_host_.bytes());
    stats_ = Block(driver_, stats_host_.bytes());
    activations_ = Block(driver_, program.plan.activations * sizeof(float));
    gradients_ = Block(driver_, program.plan.gradients * sizeof(float));
    seed_loss_gradient();
    build_update_table();
    build_calls();
    build_probes();
    steps_ = schedule(calls_, value_probes_, gradient_probes_);
    place_workspaces();
    if (graph) capture();
    raise_errors();
  }

  ~CudaExecutable() override {
    driver_->wait();
    if (graph_) driver_->release_graph(graph_);
  }

  float* input(size_t offset) override {
    return reinterpret_cast<float*>(staged_host_.data() + kStepBytes) + offset;
  }
  std::span<const double> stats() const override {
    return {reinterpret_cast<const double*>(stats_host_.data()), program_.stats.size()};
  }
  void read(const float* from, std::span<float> host) const override {
    driver_->download(host.data(), from, host.size_bytes());
  }
  void write(float* to, std::span<const float> host) override {
    driver_->upload(to, host.data(), host.size_bytes());
  }

  float* value(ValueId id) const override {
    if (id == kNone) return nullptr;
    const ValueInfo& info = program_.values[static_cast<size_t>(id)];
    const size_t offset = program_.plan.value_offset[static_cast<size_t>(id)];
    if (offset == kNoOffset) return nullptr;  // probabilities that nobody reads
    if (info.role == Role::Parameter) return program_.store->block(Store::Block::Value).data() + offset;
    if (info.role == Role::Input) return staged_.as<float>() + kStepBytes / sizeof(float) + offset;
    return activations_.as<float>() + offset;
  }

  float* gradient(ValueId id) const override {
    const size_t offset = id == kNone ? kNoOffset : program_.plan.gradient_offset[static_cast<size_t>(id)];
    return offset == kNoOffset ? nullptr : gradients_.as<float>() + offset;
  }

  void replay(const StepInputs& inputs) noexcept override {
    const Turn turn(*taken_);
    std::memcpy(staged_host_.data(), &inputs, sizeof inputs);
    if (graph_)
      driver_->launch_graph(graph_);
    else
      enqueue_step();
    finish();
  }

  void run(size_t first, size_t end, const StepInputs& inputs) noexcept override {
    const Turn turn(*taken_);
    std::memcpy(staged_host_.data(), &inputs, sizeof inputs);
    driver_->enqueue_upload(staged_.as<void>(), staged_host_.data(), staged_host_.bytes());
    for (size_t i = first; i < end; ++i) driver_->enqueue(calls_[i].call, Branch::Main);
    driver_->enqueue_download(stats_host_.data(), stats_.as<void>(), stats_host_.bytes());
    finish();
  }

 private:
  static constexpr size_t kStepBytes = padded(sizeof(StepInputs));

  /// Throws where kernels could not count: they have 32 bits for elements, and the 16 bits of a grid's
  /// second dimension for heads and probes.
  void check_sizes() const {
    for (size_t i = 0; i < program_.values.size(); ++i)
      if (const ValueInfo& v = program_.values[i];
          v.shape.size() >= int64_t{1} << 31 && program_.plan.value_offset[i] != kNoOffset)
        fail("cuda", "{} {} has more than 2^31 elements: expected a smaller batch", v.name,
             to_string(v.shape));
    for (const Node& n : program_.nodes)
      if (const auto too_large = rules_of(n.op).too_large)
        if (const Message what = too_large(program_.values, n); !what.empty()) fail("cuda", what);
  }

  double* stat(int32_t index) const { return index < 0 ? nullptr : stats_.as<double>() + index; }

  /// Sets the loss's gradient, which nothing ever writes, and the factor before a clip, to one.
  void seed_loss_gradient() {
    const float one = 1.0f;
    if (float* d = gradient(program_.loss)) driver_->upload(d, &one, sizeof one);
    const double factor = 1.0;
    if (program_.clip_stat >= 0) driver_->upload(stat(program_.clip_stat), &factor, sizeof factor);
  }

  /// Makes an array in device memory that lives as long as this executable.
  template <class T>
  T* table(const std::vector<T>& rows) {
    tables_.emplace_back(driver_, rows.size() * sizeof(T));
    if (!rows.empty())
      driver_->upload(tables_.back().template as<void>(), rows.data(), rows.size() * sizeof(T));
    return tables_.back().template as<T>();
  }
  template <class T>
  T* zeros(size_t count) {
    tables_.emplace_back(driver_, count * sizeof(T));
    return tables_.back().template as<T>();
  }

  void build_update_table() {
    parameters_ = bind_parameters(program_, *this);
    const std::vector<ParameterCall>& parameters = parameters_;
    std::vector<Chunk> chunks;
    std::vector<int32_t> first_chunk;
    for (size_t p = 0; p < parameters.size(); ++p) {
      first_chunk.push_back(static_cast<int32_t>(chunks.size()));
      for (int64_t c = 0; c < chunks_of(parameters[p].size); ++c)
        chunks.push_back({static_cast<int32_t>(p), static_cast<int32_t>(c * kChunk)});
    }
    first_chunk.push_back(static_cast<int32_t>(chunks.size()));
    update_.parameter_count = static_cast<int32_t>(parameters.size());
    update_.chunk_count = static_cast<int32_t>(chunks.size());
    update_.parameters = table(parameters);
    update_.on_host = parameters_.data();
    update_.chunks = table(chunks);
    update_.first_chunk = table(first_chunk);
    update_.partials = zeros<double>(2 * chunks.size());
    update_.sums = zeros<double>(2 * parameters.size());
    update_.counters = zeros<uint32_t>(parameters.size() + 1);
  }

  PlannedLaunch planned(const Instruction& i, uint32_t* counter) const {
    PlannedLaunch p;
    Call& call = p.call;
    static_cast<normscope::Call&>(call) = bind(program_, i, *this, stats_.as<double>());
    call.step = staged_.as<const StepInputs>();
    call.counter = counter;
    for (size_t k = 0; k < i.in.size(); ++k)
      p.of_parameter[k] =
          i.in[k] != kNone && program_.values[static_cast<size_t>(i.in[k])].role == Role::Parameter;
    p.reads_gradient = i.of_gradient;
    if (i.phase == Phase::Update) call.update = update_;
    return p;
  }

  void build_calls() {
    // Each instruction has one counter: of its parts that may run side by side, only the parameters' part uses it.
    uint32_t* counters = zeros<uint32_t>(program_.instructions.size());
    for (const Instruction& i : program_.instructions) calls_.push_back(planned(i, counters++));
  }

  /// Makes one table for all probes: a probe's own call has its one entry, a step's two calls all of a kind.
  void build_probes() {
    std::vector<ProbeEntry> entries;
    std::vector<size_t> of_call;
    ProbeTable* tables[2] = {&value_probes_, &gradient_probes_};
    size_t begin[2] = {0, 0};
    for (const bool of_gradient : {false, true}) {
      begin[of_gradient] = entries.size();
      for (size_t i = 0; i < calls_.size(); ++i) {
        const Call& call = calls_[i].call;
        if (traits_of(call.op).duty != Duty::Probe || calls_[i].reads_gradient != of_gradient) continue;
        const int64_t size = call.in[0].shape.size(), chunks = chunks_of(size);
        entries.push_back({call.in[0].p, size, call.stats, zeros<double>(static_cast<size_t>(2 * chunks)),
                           zeros<uint32_t>(1), call.attributes.as<ProbeSpec>().kind});
        const Shape& shape = call.in[0].shape;
        ProbeEntry& entry = entries.back();
        entry.width = static_cast<int32_t>(shape.cols());
        entry.part = call.attributes.as<ProbeSpec>().part;
        entry.parts = call.attributes.as<ProbeSpec>().parts;
        if (call.in[1]) {
          entry.lengths = call.in[1].i32();
          entry.batch = static_cast<int32_t>(shape[0]);
          entry.positions = static_cast<int32_t>(shape[1]);
        }
        of_call.push_back(i);
        tables[of_gradient]->count += 1;
        tables[of_gradient]->most_chunks =
            std::max(tables[of_gradient]->most_chunks, static_cast<int32_t>(chunks));
      }
      if (tables[of_gradient]->count > 65535) fail("cuda", "more than 65535 probes: expected fewer");
    }
    const ProbeEntry* rows = table(entries);
    for (int k = 0; k < 2; ++k) tables[k]->entries = rows + begin[k];
    for (size_t e = 0; e < entries.size(); ++e)
      calls_[of_call[e]].call.probes = {rows + e, 1, static_cast<int32_t>(chunks_of(entries[e].size))};
  }

  /// Gives each branch one workspace, shared by its calls, which run one after the other.
  void place_workspaces() {
    size_t floats[2] = {0, 0};
    for (const PlannedLaunch& p : calls_) floats[0] = std::max(floats[0], driver_->workspace_floats(p.call));
    for (const Step& s : steps_)
      if (s.kind == Step::Kind::Call && s.branch == Branch::Side)
        floats[1] = std::max(floats[1], driver_->workspace_floats(s.call));
    program_.plan.workspace = std::max(program_.plan.workspace, floats[0] + floats[1]);
    for (int b = 0; b < 2; ++b) workspace_[b] = Block(driver_, floats[b] * sizeof(float));
    for (PlannedLaunch& p : calls_) p.call.workspace = workspace_[0].as<float>();
    for (Step& s : steps_) s.call.workspace = workspace_[static_cast<size_t>(s.branch)].as<float>();
  }

  void enqueue_step() noexcept {
    driver_->enqueue_upload(staged_.as<void>(), staged_host_.data(), staged_host_.bytes());
    for (const Step& s : steps_) switch (s.kind) {
        case Step::Kind::Call:
          driver_->enqueue(s.call, s.branch);
          break;
        case Step::Kind::Fork:
          driver_->fork();
          break;
        case Step::Kind::Join:
          driver_->join();
          break;
      }
    driver_->enqueue_download(stats_host_.data(), stats_.as<void>(), stats_host_.bytes());
  }

  void capture() {
    driver_->begin_capture();
    enqueue_step();
    graph_ = driver_->end_capture();
  }

  /// Waits, so that the caller may read stats and fill the next batch when a replay returns. After an error no
  /// number can be trusted.
  void finish() noexcept {
    driver_->wait();
    if (driver_->error().empty()) return;
    double* stats = reinterpret_cast<double*>(stats_host_.data());
    std::fill_n(stats, program_.stats.size(), std::numeric_limits<double>::quiet_NaN());
  }

  void raise_errors() {
    driver_->wait();
    const std::string e = driver_->error();
    if (e.empty()) return;
    if (graph_) driver_->release_graph(std::exchange(graph_, nullptr));  // no destructor runs
    throw DeviceError("[{}] {}", "cuda", Message("{}: {}", driver_->device().name, e));
  }

  ProgramData& program_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<std::atomic_flag> taken_;  // by a replay of a program of this backend
  PinnedMemory staged_host_, stats_host_;    // StepInputs and the batch; the stats block
  Block staged_, stats_, activations_, gradients_, workspace_[2];
  std::vector<Block> tables_;
  std::vector<ParameterCall> parameters_;
  UpdateTable update_;
  ProbeTable value_probes_, gradient_probes_;
  std::vector<PlannedLaunch> calls_;  // one for each instruction
  std::vector<Step> steps_;           // of a replay
  void* graph_ = nullptr;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::shared_ptr<Driver> driver, const CudaOptions& options,
              std::shared_ptr<std::atomic_flag> taken)
      : driver_(std::move(driver)), options_(options), taken_(std::move(taken)) {}
  std::shared_ptr<Backend> share() override {
    return std::make_shared<CudaBackend>(driver_, options_, taken_);
  }
  std::string_view name() const override { return options_.tf32 ? "CUDA TF32" : "CUDA"; }
  bool in_order() const override { return false; }  // see cuda/schedule.h
  /// Every op of ops.def has kernels here, as it fails to link without an entry of each; one's own have none.
  bool supports(OpKind op) const override { return !is_own(op); }
  bool recomputes_probabilities() const override { return true; }
  std::unique_ptr<Memory> allocate(size_t floats) override {
    return std::make_unique<CudaMemory>(driver_, floats);
  }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    driver_->upload(to.data() + offset, from.data(), from.size_bytes());
  }
  void download(const Memory& from, size_t offset, std::span<float> to) override {
    driver_->download(to.data(), from.data() + offset, to.size_bytes());
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    return std::make_unique<CudaExecutable>(program, driver_, options_.graph, taken_);
  }
  void wait() override {
    driver_->wait();
    if (const std::string e = error(); !e.empty()) throw DeviceError("[{}] {}", "cuda", e);
  }
  std::string error() const override {
    const std::string e = driver_->error();
    return e.empty() ? e : driver_->device().name + ": " + e;
  }

 private:
  std::shared_ptr<Driver> driver_;
  CudaOptions options_;
  std::shared_ptr<std::atomic_flag> taken_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(std::shared_ptr<Driver> driver, const CudaOptions& options) {
  return std::make_unique<CudaBackend>(std::move(driver), options, std::make_shared<std::atomic_flag>());
}

}  // namespace normscope::cuda
