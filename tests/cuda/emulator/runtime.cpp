// Memory, streams, events and graphs of the emulated device.
//
// Device memory is an arena that the host can touch only through the runtime: outside of a kernel it is protected, so
// that a device address used on the host ends the program. Fresh memory is NaN, and a canary follows each block. Work
// is put into a graph of what must come before what and run at the next synchronisation, in a random order among those
// the graph allows. For tests of failure: NORMSCOPE_EMULATED_MEMORY bounds the memory in bytes,
// NORMSCOPE_EMULATED_LAUNCHES is the number of graph launches after which the device is lost.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace emulated {

struct Graph {
  struct Node {
    std::function<void()> work;
    std::vector<size_t> after;
    bool kernel;
  };
  std::vector<Node> nodes;
  Stream* origin = nullptr;
  std::vector<Stream*> streams;  ///< that take part in its capture

  size_t add(std::function<void()> work, std::vector<size_t> after, bool kernel) {
    nodes.push_back({std::move(work), std::move(after), kernel});
    return nodes.size() - 1;
  }
};

struct Stream {
  Graph* graph = nullptr;    ///< that it captures
  std::vector<size_t> tail;  ///< what its next work comes after: nodes of `graph`, or of what is pending
  uint64_t batch = 0;        ///< of pending work that `tail` refers to
};

struct Event {
  Graph* graph = nullptr;
  std::vector<size_t> at;
  uint64_t batch = 0;
};

namespace {

constexpr size_t kArena = size_t{8} << 30, kLine = 512, kGuard = 256;
constexpr unsigned char kFresh = 0xff, kGuardByte = 0xa5;

std::recursive_mutex mutex;  // streams of several backends may be used by several threads
Graph pending;
uint64_t batch = 1;
int capturing = 0;
cudaError_t sticky = cudaSuccess;

uint64_t number_from(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : fallback;
}

/// Mapped twice: addresses of the device, which are open while a kernel runs, and `own` ones for copies, as
/// to open and close the arena takes longer than most copies.
class Arena {
 public:
  Arena() {
    const int file = memfd_create("device memory", 0);
    const bool good = file >= 0 && ftruncate(file, kArena) == 0;
    for (unsigned char** p : {&base_, &own_}) {
      void* const at = mmap(nullptr, kArena, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
      if (!good || at == MAP_FAILED) stop("no address space for device memory", 0);
      *p = static_cast<unsigned char*>(at);
    }
    ::close(file);
  }
  template <class T>
  T* own(T* p) {
    return reinterpret_cast<T*>(own_ + (reinterpret_cast<const unsigned char*>(p) - base_));
  }
  size_t limit() const { return number_from("NORMSCOPE_EMULATED_MEMORY", size_t{4} << 30); }
  size_t used() const { return used_; }

  void* allocate(size_t bytes) {
    const size_t whole = (bytes + kGuard + kLine - 1) / kLine * kLine;
    if (used_ + whole > limit()) return nullptr;
    size_t at = 0;
    for (const auto& [begin, size] : blocks_) {
      if (begin - at >= whole) break;
      at = begin + size.first;
    }
    if (at + whole > kArena) return nullptr;
    blocks_[at] = {whole, bytes};
    used_ += whole;
    top_ = std::max(top_, at + whole);
    mprotect(own_, top_, PROT_READ | PROT_WRITE);
    std::memset(own_ + at, kFresh, bytes);
    std::memset(own_ + at + bytes, kGuardByte, whole - bytes);
    return base_ + at;
  }
  void release(void* p) {
    const auto it = blocks_.find(static_cast<size_t>(static_cast<unsigned char*>(p) - base_));
    if (it == blocks_.end()) stop("memory is released that was not allocated", 0);
    for (size_t i = it->second.second; i < it->second.first; ++i)
      if (own_[it->first + i] != kGuardByte) stop("a write beyond a block of device memory", 0);
    used_ -= it->second.first;
    blocks_.erase(it);
  }
  bool owns(const void* p) { return p >= base_ && p < base_ + kArena; }
  /// Counts its calls: a graph runs inside of what was pending.
  void open() {
    if (opened_++ == 0 && top_ > 0) mprotect(base_, top_, PROT_READ | PROT_WRITE);
  }
  void close() {
    if (--opened_ == 0 && top_ > 0) mprotect(base_, top_, PROT_NONE);
  }

 private:
  unsigned char *base_ = nullptr, *own_ = nullptr;
  std::map<size_t, std::pair<size_t, size_t>> blocks_;  ///< offset: with guard, without
  size_t used_ = 0, top_ = 0;
  int opened_ = 0;
};

Arena& arena() {
  static Arena one;
  return one;
}

/// Takes the nodes in a random order among those that the dependencies allow.
void run(const Graph& graph) {
  std::vector<size_t> open(graph.nodes.size(), 0), ready;
  std::vector<std::vector<size_t>> before(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    open[i] = graph.nodes[i].after.size();
    for (size_t a : graph.nodes[i].after) before[a].push_back(i);
    if (open[i] == 0) ready.push_back(i);
  }
  const bool opens = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const Graph::Node& node) { return node.kernel; });
  if (opens) arena().open();
  while (!ready.empty()) {
    const size_t pick = random_number() % ready.size(), node = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    graph.nodes[node].work();
    for (size_t next : before[node])
      if (--open[next] == 0) ready.push_back(next);
  }
  if (opens) arena().close();
}

void flush() {
  if (pending.nodes.empty()) return;
  const Graph work = std::move(pending);
  pending = Graph();
  ++batch;
  if (sticky == cudaSuccess) run(work);
}

std::vector<size_t>& tail_of(Stream& s) {
  if (!s.graph && s.batch != batch) {
    s.batch = batch;
    s.tail.clear();
  }
  return s.tail;
}

/// What a device refuses while a stream captures.
cudaError_t outside_capture() { return capturing > 0 ? cudaErrorStreamCaptureUnsupported : sticky; }

std::map<const void*, size_t>& shared_allowed() {
  static std::map<const void*, size_t> allowed;
  return allowed;
}

cudaError_t lose_when_due() {
  static const uint64_t most = number_from("NORMSCOPE_EMULATED_LAUNCHES", ~uint64_t{0});
  static uint64_t launches = 0;
  if (sticky == cudaSuccess && launches++ >= most) sticky = cudaErrorIllegalAddress;
  return sticky;
}

}  // namespace

cudaError_t submit(Stream* stream, std::function<void()> work, bool kernel) {
  const std::lock_guard lock(mutex);
  if (sticky != cudaSuccess) return sticky;
  std::vector<size_t>& tail = tail_of(*stream);
  Graph& graph = stream->graph ? *stream->graph : pending;
  const size_t node = graph.add(std::move(work), tail, kernel);
  tail = {node};
  return cudaSuccess;
}

void allow_shared(const void* kernel, size_t bytes) { shared_allowed()[kernel] = bytes; }

/// The limits of compute capability 7.5, the least of those that are built.
cudaError_t check_launch(const cudaLaunchConfig_t& c, const void* kernel) {
  const auto asked = shared_allowed().find(kernel);
  const size_t most =
      asked == shared_allowed().end() ? size_t{48} << 10 : std::min(asked->second, size_t{64} << 10);
  const uint64_t threads = uint64_t{c.blockDim.x} * c.blockDim.y * c.blockDim.z;
  const bool good = threads >= 1 && threads <= 1024 && c.blockDim.z == 1 && c.gridDim.x >= 1 &&
                    c.gridDim.x <= 2147483647u && c.gridDim.y >= 1 && c.gridDim.y <= 65535 &&
                    c.gridDim.z == 1 && c.dynamicSmemBytes <= most;
  return good ? cudaSuccess : cudaErrorInvalidConfiguration;
}

}  // namespace emulated

using namespace emulated;

const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    default:
      return "invalid argument";
  }
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = {"emulated device", 7, 5, 1, arena().limit(), size_t{64} << 10};
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = outside_capture(); e != cudaSuccess) return e;
  *p = arena().allocate(bytes);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* p) {
  const std::lock_guard lock(mutex);
  if (capturing > 0) return cudaErrorStreamCaptureUnsupported;
  flush();
  if (p) arena().release(p);
  return sticky;
}
cudaError_t cudaMallocHost(void** p, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = outside_capture(); e != cudaSuccess) return e;
  *p = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const std::lock_guard lock(mutex);
  *total = arena().limit();
  *free = *total - std::min(*total, arena().used());
  return cudaSuccess;
}
cudaError_t cudaMemset(void* p, int value, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = outside_capture(); e != cudaSuccess) return e;
  flush();
  std::memset(arena().own(p), value, bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = outside_capture(); e != cudaSuccess) return e;
  flush();
  return sticky;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const bool up = kind == cudaMemcpyHostToDevice;
  if (arena().owns(to) != up || arena().owns(from) == up) return cudaErrorInvalidValue;
  void* const target = up ? arena().own(to) : to;
  const void* const source = up ? from : arena().own(from);
  return submit(
      stream, [=] { std::memcpy(target, source, bytes); }, false);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) {
  *s = new Stream;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  const std::lock_guard lock(mutex);
  flush();
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  const std::lock_guard lock(mutex);
  if (s->graph) return cudaErrorStreamCaptureUnsupported;
  flush();
  return sticky;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  *e = new Event;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  const std::lock_guard lock(mutex);
  *e = {s->graph, tail_of(*s), batch};
  return sticky;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  const std::lock_guard lock(mutex);
  if (e->graph) {  // the stream joins the capture
    if (!s->graph) {
      s->graph = e->graph;
      s->tail.clear();
      e->graph->streams.push_back(s);
    }
    if (s->graph != e->graph) return cudaErrorInvalidValue;
  } else if (s->graph) {
    return cudaErrorInvalidValue;  // a capture cannot wait for what lies outside it
  } else if (e->batch != batch) {
    return sticky;  // has run
  }
  std::vector<size_t>& tail = tail_of(*s);
  tail.insert(tail.end(), e->at.begin(), e->at.end());
  return sticky;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  const std::lock_guard lock(mutex);
  if (s->graph) return cudaErrorInvalidValue;
  flush();
  s->graph = new Graph;
  s->graph->origin = s;
  s->graph->streams = {s};
  s->tail.clear();
  ++capturing;
  return sticky;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* out) {
  const std::lock_guard lock(mutex);
  *out = nullptr;
  if (!s->graph || s->graph->origin != s) return cudaErrorInvalidValue;
  Graph* graph = s->graph;
  std::set<size_t> reached(s->tail.begin(), s->tail.end());
  for (size_t i = graph->nodes.size(); i-- > 0;)
    if (reached.count(i)) reached.insert(graph->nodes[i].after.begin(), graph->nodes[i].after.end());
  for (Stream* stream : graph->streams) {
    stream->graph = nullptr;
    stream->tail.clear();
  }
  --capturing;
  if (reached.size() != graph->nodes.size()) {
    delete graph;
    return cudaErrorStreamCaptureUnjoined;
  }
  *out = graph;
  return sticky;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long) {
  *out = new Graph(*graph);
  return sticky;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return sticky; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t s) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = lose_when_due(); e != cudaSuccess) return e;
  flush();
  return submit(
      s, [graph] { run(*graph); }, false);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  const std::lock_guard lock(mutex);
  flush();
  delete graph;
  return cudaSuccess;
}
