#include "engine/support/op_harness.h"

#include <algorithm>
#include <bit>

#include "engine/cpu/denormals.h"
#include "engine/cpu/isa.h"

namespace normscope::test {
namespace {

constexpr uint32_t kCanary = 0x7fa5c0deu;  // a NaN, so that reading it shows as well as writing it
constexpr size_t kCanaryFloats = 16;
// `kPoison`: of these bytes every float is a NaN, and they are written as fast as memory takes them.
constexpr int kPoison = 0xff;

}  // namespace

GuardedMemory::GuardedMemory(size_t capacity_floats)
    : memory_(std::make_unique_for_overwrite<float[]>(capacity_floats + 64)), size_(capacity_floats + 64) {
  std::memset(memory_.get(), kPoison, size_ * sizeof(float));
}

float* GuardedMemory::begin() {
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  return memory_.get() + (64 - address % 64) % 64 / sizeof(float);
}

float* GuardedMemory::floats(size_t n) {
  const size_t first = (next_ + kCanaryFloats + 15) / 16 * 16, end = first + n;
  const float canary = std::bit_cast<float>(kCanary);
  for (const size_t at : {first - kCanaryFloats, end}) {
    canaries_.push_back(at);
    for (size_t i = 0; i < kCanaryFloats; ++i) std::memcpy(begin() + at + i, &canary, sizeof canary);
  }
  next_ = end + kCanaryFloats;
  if (next_ + 16 > size_) std::abort();  // capacity of the test itself
  return begin() + first;
}

float* GuardedMemory::copy(const std::vector<float>& values) {
  float* p = floats(values.size());
  std::ranges::copy(values, p);
  return p;
}

float* GuardedMemory::copy(const std::vector<int32_t>& values) {
  float* p = floats(values.size());
  std::memcpy(p, values.data(), values.size() * sizeof(int32_t));
  return p;
}

bool GuardedMemory::intact() const {
  float* base = const_cast<GuardedMemory*>(this)->begin();
  for (size_t at : canaries_)
    for (size_t i = 0; i < kCanaryFloats; ++i) {
      uint32_t bits;
      std::memcpy(&bits, base + at + i, sizeof bits);
      if (bits != kCanary) return false;
    }
  return true;
}

#ifdef __SANITIZE_ADDRESS__
constexpr size_t kOrders = 2;
#else
constexpr size_t kOrders = 4;
#endif

const std::vector<Order>& orders() {
  static std::vector<std::unique_ptr<cpu::Pool>> pools;
  static const std::vector<Order> all = [] {
    std::vector<Order> list;
    for (int threads : {1, 2, 3}) {
      pools.push_back(std::make_unique<cpu::Pool>(threads));
      list.push_back({pools.back().get(), std::to_string(threads) + " threads"});
    }
    list.push_back({nullptr, "chunks in reverse"});
    list.resize(kOrders);
    return list;
  }();
  return all;
}

bool run_stages(const cpu::Stages& stages, Call call, const StepInputs& step, const Order& order) {
  const cpu::FlushDenormals scope;  // as the backend and the threads of its pool
  GuardedMemory workspace(stages.workspace_floats + 64);
  call.workspace = workspace.floats(stages.workspace_floats);
  call.extra = stages.plans;
  std::unique_ptr<GuardedMemory> scratch;
  float* private_floats = nullptr;
  if (!order.pool) {
    scratch = std::make_unique<GuardedMemory>(cpu::kScratchFloats + 64);
    private_floats = scratch->floats(cpu::kScratchFloats);
  }
  for (int s = 0; s < stages.count; ++s) {
    const cpu::Stage& stage = stages.stage[s];
    if (order.pool)
      order.pool->run(stage, call, step);
    else
      for (int64_t chunk = stage.chunks; chunk-- > 0;) stage.run(call, step, chunk, {private_floats});
  }
  return workspace.intact() && (!scratch || scratch->intact());
}

ReferenceCase prepare(const OpCase& c) {
  ReferenceCase p;
  p.in = inputs_of(c);
  p.dy = cotangent_of(c, p.in);
  p.forward = c.forward(p.in);
  p.gradients = gradients_of(c, p.in, p.dy);
  Random random(5);
  for (const Values& g : p.gradients) {
    // What is added to is of the gradient's own size, so that a wrong sum cannot hide behind it.
    const double size =
        g.empty() ? 0.0 : std::max(norm_of(g) / std::sqrt(static_cast<double>(g.size())), 1e-3);
    Values base;
    for (size_t i = 0; i < g.size(); ++i)
      base.push_back(static_cast<double>(static_cast<float>(size * (0.3 + random.normal()))));
    p.base.push_back(base);
  }
  return p;
}

Outcome run_case(const OpCase& c, const std::vector<Write>& write, const Inputs<double>& in, const Values& dy,
                 const std::vector<Values>& base, const Order& order) {
  size_t capacity = 1024 + 4 * static_cast<size_t>(c.out.size());
  for (const Operand& o : c.in) capacity += 2 * static_cast<size_t>(o.shape.size()) + 128;
  for (const Shape& s : c.saved) capacity += static_cast<size_t>(s.size()) + 64;
  GuardedMemory memory(capacity);
  const auto as_floats = [](const Values& v) { return std::vector<float>(v.begin(), v.end()); };

  Call call{};
  call.op = c.op;
  call.phase = Phase::Forward;
  call.attributes = c.attributes;
  Outcome outcome;
  outcome.stats.assign(4, std::numeric_limits<double>::quiet_NaN());
  call.stats = outcome.stats.data();
  for (size_t i = 0; i < c.in.size(); ++i)
    if (c.in[i].present)
      call.in[i] = {c.in[i].dtype == DType::I32 ? memory.copy(c.in[i].ints) : memory.copy(as_floats(in[i])),
                    c.in[i].shape};
  const size_t out_size = static_cast<size_t>(c.out.size());
  call.out = {memory.floats(out_size), c.out};
  for (size_t i = 0; i < c.saved.size(); ++i)
    call.saved[i] = {memory.floats(static_cast<size_t>(c.saved[i].size())), c.saved[i]};

  const cpu::Kernels kernels = kernels_of(c.op);
  const cpu::Stages forward = kernels.forward(call);
  GuardedMemory kept(forward.kept_floats + 64);
  if (forward.kept_floats > 0) call.kept = kept.floats(forward.kept_floats);
  outcome.intact = run_stages(forward, call, c.step, order);
  outcome.out.assign(call.out.p, call.out.p + out_size);
  for (size_t i = 0; i < c.saved.size(); ++i)
    outcome.saved.emplace_back(call.saved[i].p, call.saved[i].p + c.saved[i].size());

  call.phase = Phase::Backward;
  call.dout = {memory.copy(as_floats(dy)), c.out};
  bool any = false;
  for (size_t i = 0; i < c.in.size(); ++i) {
    call.write[i] = write[i];
    if (write[i] == Write::Skip) continue;
    any = true;
    const size_t n = static_cast<size_t>(c.in[i].shape.size());
    call.din[i] = {write[i] == Write::Add ? memory.copy(as_floats(base[i])) : memory.floats(n),
                   c.in[i].shape};
  }
  if (any) outcome.intact = run_stages(kernels.backward(call), call, c.step, order) && outcome.intact;
  outcome.intact = outcome.intact && memory.intact() && kept.intact();
  outcome.din.resize(c.in.size());
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (call.din[i].p) outcome.din[i].assign(call.din[i].p, call.din[i].p + c.in[i].shape.size());
    // Inputs are read only.
    if (c.in[i].present && c.in[i].dtype == DType::F32)
      outcome.intact = outcome.intact &&
                       std::memcmp(call.in[i].p, as_floats(in[i]).data(), in[i].size() * sizeof(float)) == 0;
  }
  outcome.intact = outcome.intact &&
                   std::memcmp(call.out.p, outcome.out.data(), out_size * sizeof(float)) == 0 &&
                   std::memcmp(call.dout.p, as_floats(dy).data(), out_size * sizeof(float)) == 0;
  return outcome;
}

bool same_bits(const Outcome& a, const Outcome& b) {
  bool same = same_bits(a.out, b.out) && a.saved.size() == b.saved.size() && a.din.size() == b.din.size() &&
              std::memcmp(a.stats.data(), b.stats.data(), a.stats.size() * sizeof(double)) == 0;
  for (size_t i = 0; same && i < a.saved.size(); ++i) same = same_bits(a.saved[i], b.saved[i]);
  for (size_t i = 0; same && i < a.din.size(); ++i) same = same_bits(a.din[i], b.din[i]);
  return same;
}

double norm_of(const Values& v) {
  double sum = 0;
  for (double e : v) sum += e * e;
  return std::sqrt(sum);
}

double relative_error(const std::vector<float>& a, const Values& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return sum == 0 ? 0.0 : std::sqrt(sum) / norm_of(b);
}

std::vector<std::vector<Write>> write_patterns(const OpCase& c) {
  std::vector<std::vector<Write>> patterns;
  for (const Write mode : {Write::Assign, Write::Add}) {
    std::vector<Write> all(c.in.size(), Write::Skip);
    for (size_t i = 0; i < c.in.size(); ++i)
      if (c.in[i].present && c.in[i].differentiable) all[i] = mode;
    patterns.push_back(all);
    for (size_t i = 0; i < c.in.size(); ++i) {
      std::vector<Write> only(c.in.size(), Write::Skip);
      if ((only[i] = all[i]) != Write::Skip && only != all) patterns.push_back(only);
    }
  }
  return patterns;
}

void check_outcome(const OpCase& c, const ReferenceCase& p, const std::vector<Write>& write,
                   const Outcome& outcome, double slack) {
  CHECK(outcome.intact);
  CHECK(relative_error(outcome.out, p.forward[0]) <= slack * bound(c.terms));
  for (size_t i = 0; i < outcome.saved.size(); ++i) {
    INFO("saved " << i);
    CHECK(relative_error(outcome.saved[i], p.forward[i + 1]) <= slack * bound(c.terms));
  }
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (write[i] == Write::Skip) continue;
    INFO("gradient of input " << i << (write[i] == Write::Add ? ", added" : ", assigned"));
    Values expected = p.gradients[i];
    if (write[i] == Write::Add)
      for (size_t e = 0; e < expected.size(); ++e) expected[e] += p.base[i][e];
    if (!c.in[i].zero_gradient) {
      CHECK(norm_of(p.gradients[i]) >= 1e-3 * norm_of(p.dy));  // not vacuous
      CHECK(relative_error(outcome.din[i], expected) <= slack * bound(c.in[i].terms));
    } else {
      Values difference;
      for (size_t e = 0; e < expected.size(); ++e)
        difference.push_back(static_cast<double>(outcome.din[i][e]) - expected[e]);
      CHECK(norm_of(difference) <= 1e-4 * norm_of(p.dy));
    }
  }
}

void check_nan_case(const OpCase& c, const std::vector<OpRunner>& runners, bool nowhere_else) {
  INFO(c.name);
  const auto check = [&](const Values& reference, const std::vector<float>& got) {
    size_t missing = 0, extra = 0;
    for (size_t i = 0; i < reference.size(); ++i) {
      missing += std::isnan(reference[i]) && !std::isnan(got[i]);
      extra += !std::isnan(reference[i]) && std::isnan(got[i]);
    }
    CHECK(missing == 0);
    if (nowhere_else && !traits_of(c.op).saves_for_inspection) CHECK(extra == 0);
  };
  const Inputs<double> plain = inputs_of(c);
  const Values plain_dy = cotangent_of(c, plain);
  const std::vector<Values> base(c.in.size());
  const std::vector<Write> write = write_patterns(c).front();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (write[i] == Write::Skip) continue;
    INFO("NaN in input " << i);
    Inputs<double> in = plain;
    in[i][in[i].size() / 2] = nan;
    const Values expected = c.forward(in)[0];
    for (const OpRunner& runner : runners) {
      INFO(runner.name);
      check(expected, runner.run(write, in, plain_dy, base).out);
    }
  }
  INFO("NaN in the gradient of the output");
  Values dy = plain_dy;
  dy[dy.size() / 2] = nan;
  const auto gradients = gradients_of(c, plain, dy);
  for (const OpRunner& runner : runners) {
    INFO(runner.name);
    const Outcome outcome = runner.run(write, plain, dy, base);
    for (size_t i = 0; i < c.in.size(); ++i)
      if (write[i] != Write::Skip) check(gradients[i], outcome.din[i]);
  }
}

double bound(double terms) { return 4 * std::ldexp(1.0, -24) * std::sqrt(std::max(terms, 1.0)); }

std::vector<std::string> instruction_sets() {
  if (std::getenv("NORMSCOPE_ISA")) return {cpu::choose_isa("")};
  return cpu::available_isas();
}

void use_instruction_set(const std::string& name) { cpu::choose_isa(name); }

}  // namespace normscope::test
