// These tests run the host side of the CUDA backend on a recording fake: memory plan, upload, order of capture, what a
// replay does, and what happens when memory or the device gives out. Runs on every machine.
#include <algorithm>
#include <cstring>
#include <new>

#include "catch.hpp"
#include "cuda/fake_driver.h"
#include "engine/cuda/backend_cuda.h"
#include "engine/cuda/schedule.h"
#include "engine/own_op.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "training/spec/backend_choice.h"

namespace normscope::test {
namespace {

using Kind = FakeDriver::Event::Kind;

const TinyOptions kAdmin{.placement = Placement::Admin, .row_weights = true, .clip = true, .dropout = 0.1f};

struct FakeGpu {
  explicit FakeGpu(const TinyOptions& o = kAdmin, bool graph = true)
      : driver(std::make_shared<FakeDriver>()),
        tiny(std::make_unique<Tiny>(o, cuda::make_backend(driver, {.tf32 = false, .graph = graph}))) {}
  std::shared_ptr<FakeDriver> driver;
  std::unique_ptr<Tiny> tiny;

  /// The events of one step.
  std::vector<FakeDriver::Event> step(uint32_t number = 1) {
    tiny->fill(number);
    driver->events.clear();
    tiny->program->replay(tiny->inputs(number));
    return driver->events;
  }
};

std::vector<Kind> kinds(const std::vector<FakeDriver::Event>& events) {
  std::vector<Kind> all;
  for (const auto& e : events) all.push_back(e.kind);
  return all;
}

bool same_call(const cuda::Call& a, const cuda::Call& b) {
  const auto same = [](const Tensor& x, const Tensor& y) { return x.p == y.p && x.shape == y.shape; };
  bool equal = a.op == b.op && a.phase == b.phase && same(a.out, b.out) && same(a.dout, b.dout) &&
               a.step == b.step && a.workspace == b.workspace && a.stats == b.stats &&
               a.counter == b.counter && a.attributes == b.attributes && a.clip_follows == b.clip_follows &&
               a.update.parameters == b.update.parameters && a.probes.entries == b.probes.entries;
  for (int k = 0; k < kMaxInputs; ++k)
    equal = equal && same(a.in[k], b.in[k]) && same(a.din[k], b.din[k]) && a.write[k] == b.write[k];
  return equal;
}

void copy_numbers(const Call& c, const StepInputs&, Range r) noexcept {
  std::copy(c.in[0].p + r.first, c.in[0].p + r.end, c.out.p + r.first);
}

}  // namespace

TEST_CASE("cuda host: an op of one's own is refused by name when a program is sealed") {
  const OpKind op = add_op(elementwise_op<copy_numbers>("copied", {.inputs = 1}));
  const auto backend = cuda::make_backend(std::make_shared<FakeDriver>(), {});
  Store store(*backend);
  Tape t(store);
  t.add_node(t.node(op, "c", {t.input("x", {2, 3})}), {2, 3});
  store.materialize(1);
  CHECK(error_of([&] { seal(t, {}); }) == "[seal] the CUDA backend has no kernels for: copied");
}

TEST_CASE("cuda host: a program is captured once and a replay is one launch", "[cuda]") {
  FakeGpu f;
  int captures = 0;
  for (const auto& e : f.driver->events) captures += e.kind == Kind::BeginCapture;
  CHECK(captures == 1);
  CHECK(kinds(f.step(1)) == std::vector<Kind>{Kind::Launch, Kind::Wait});
  CHECK(kinds(f.step(2)) == std::vector<Kind>{Kind::Launch, Kind::Wait});
  CHECK(f.driver->graphs == 1);
  f.tiny.reset();
  CHECK(f.driver->graphs == 0);
  CHECK(f.driver->blocks.empty());  // everything was given back
}

TEST_CASE("cuda host: a capture is inputs then calls then stats and equals an uncaptured step", "[cuda]") {
  FakeGpu captured, plain(kAdmin, false);
  std::vector<FakeDriver::Event> inside;
  bool on = false;
  for (const auto& e : captured.driver->events) {
    if (e.kind == Kind::EndCapture) on = false;
    if (on) inside.push_back(e);
    if (e.kind == Kind::BeginCapture) on = true;
  }
  REQUIRE(inside.size() > 10);
  CHECK(inside.front().kind == Kind::Upload);
  CHECK(inside.back().kind == Kind::Download);
  std::vector<Kind> step = kinds(plain.step());
  REQUIRE(step.back() == Kind::Wait);
  step.pop_back();
  CHECK(step == kinds(inside));
}

TEST_CASE("cuda host: StepInputs and the batch reach the device with every launch", "[cuda]") {
  for (const bool graph : {true, false}) {
    FakeGpu f(kAdmin, graph);
    for (uint32_t number = 1; number <= 3; ++number) {
      f.step(number);
      const auto& executable = f.tiny->program->executable();
      std::vector<float> tokens(static_cast<size_t>(kAdmin.batch * kAdmin.sequence));
      executable.read(executable.value(f.tiny->model.tokens), tokens);
      CHECK(std::memcmp(tokens.data(), f.tiny->program->tokens("tokens").data(),
                        tokens.size() * sizeof(float)) == 0);
    }
  }
  FakeGpu f(kAdmin, false);
  const auto events = f.step(5);
  for (const auto& e : events)
    if (e.kind == Kind::Call && e.call.op != OpKind::Probe) {  // which reads nothing of a step
      REQUIRE(f.driver->owns(e.call.step, sizeof(StepInputs)));
      CHECK(e.call.step->step == 5);
      CHECK(e.call.step->lr == f.tiny->inputs(5).lr);
    }
}

TEST_CASE("cuda host: no kernel argument changes from step to step", "[cuda]") {
  FakeGpu f(kAdmin, false);
  const auto first = f.step(1), second = f.step(2);
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].kind == second[i].kind);
    CHECK(same_call(first[i].call, second[i].call));
  }
}

TEST_CASE("cuda host: every address of every call lies in memory of the plan", "[cuda]") {
  for (const Placement p : {Placement::Post, Placement::Admin, Placement::ReZero, Placement::Sandwich}) {
    TinyOptions o = kAdmin;
    o.placement = p;
    FakeGpu f(o, false);
    const auto inside = [&](const Tensor& t) {
      return !t || f.driver->owns(t.p, static_cast<size_t>(t.shape.size()) * sizeof(float));
    };
    for (const auto& e : f.step()) {
      if (e.kind != Kind::Call) continue;
      INFO(to_string(e.call.op));
      for (const Tensor& t : e.call.in) CHECK(inside(t));
      for (const Tensor& t : e.call.din) CHECK(inside(t));
      for (const Tensor& t : e.call.saved) CHECK(inside(t));
      CHECK(inside(e.call.out));
      CHECK(inside(e.call.dout));
      CHECK(f.driver->owns(e.call.workspace, (10 + static_cast<size_t>(e.call.op)) * sizeof(float)));
      for (double* stat :
           {e.call.stats, e.call.grad_norm, e.call.update_norm, e.call.weight_norm, e.call.clip_factor})
        CHECK((stat == nullptr || f.driver->owns(stat, sizeof(double))));
      for (int k = 0; k < e.call.probes.count; ++k) {
        const cuda::ProbeEntry& entry = e.call.probes.entries[k];
        CHECK(f.driver->owns(entry.p, static_cast<size_t>(entry.size) * sizeof(float)));
        CHECK(f.driver->owns(entry.stat, sizeof(double)));
      }
      const cuda::UpdateTable& u = e.call.update;
      for (int32_t k = 0; k < u.parameter_count; ++k)
        for (const float* block :
             {u.parameters[k].value, u.parameters[k].gradient, u.parameters[k].m, u.parameters[k].v})
          CHECK(f.driver->owns(block, static_cast<size_t>(u.parameters[k].size) * sizeof(float)));
    }
  }
}

TEST_CASE("cuda host: a call that nobody fills in has its defaults and not what the memory held", "[cuda]") {
  alignas(cuda::Call) unsigned char memory[sizeof(cuda::Call)];
  std::memset(memory, 0xff, sizeof memory);
  const cuda::Call* call = new (memory) cuda::Call;
  CHECK(call->op == OpKind{});
  CHECK(call->phase == Phase::Forward);  // a probe's launch fills in nothing else
  CHECK(call->extra == nullptr);
}

TEST_CASE("cuda host: gradients of parameters run beside the chain and arrive before the update", "[cuda]") {
  FakeGpu f(kAdmin, false);
  bool forked = false, joined = false, updated = false;
  std::set<const float*> side, main;
  int probes = 0, norms = 0, clips = 0;
  for (const auto& e : f.step()) {
    if (e.kind == Kind::Fork) forked = true;
    if (e.kind == Kind::Join) {
      joined = true;
      forked = false;
    }
    if (e.kind != Kind::Call) continue;
    INFO(to_string(e.call.op));
    if (e.branch == cuda::Branch::Side) {
      CHECK(forked);  // never without waiting for what it reads
      CHECK_FALSE(joined);
      forked = false;
    }
    for (int k = 0; k < kMaxInputs; ++k)
      if (e.call.din[k]) (e.branch == cuda::Branch::Side ? side : main).insert(e.call.din[k].p);
    probes += e.call.op == OpKind::Probe;
    norms += e.call.op == OpKind::GradNorm;
    clips += e.call.op == OpKind::Clip;
    if (e.call.phase == Phase::Update) {
      CHECK(joined);
      updated = true;
    }
    if (e.call.op == OpKind::GradNorm) CHECK(e.call.clip_follows);
  }
  CHECK(updated);
  CHECK(probes == 1);
  CHECK(norms == 1);
  CHECK(clips == 0);  // grad_norm computes the factor in passing
  // Every trained parameter's gradient, and nothing else, is written on the side.
  const ProgramData& data = f.tiny->program->data();
  for (size_t v = 0; v < data.values.size(); ++v) {
    const float* gradient = f.tiny->program->executable().gradient(static_cast<ValueId>(v));
    if (gradient == nullptr || data.values[v].name == "loss") continue;
    INFO(data.values[v].name);
    const bool parameter = data.values[v].role == Role::Parameter;
    CHECK(side.count(gradient) == (parameter ? 1u : 0u));
    CHECK(main.count(gradient) == (parameter ? 0u : 1u));
  }
}

TEST_CASE("cuda host: single instructions run as recorded", "[cuda]") {
  FakeGpu f(kAdmin, false);
  f.step();
  const auto& instructions = f.tiny->program->data().instructions;
  f.driver->events.clear();
  f.tiny->program->executable().run(0, instructions.size(), f.tiny->inputs(1));
  size_t calls = 0;
  for (const auto& e : f.driver->events)
    if (e.kind == Kind::Call) {
      CHECK(e.call.op == instructions[calls].op);
      CHECK(e.branch == cuda::Branch::Main);
      ++calls;
    }
  CHECK(calls == instructions.size());
}

TEST_CASE("cuda host: too little memory is said in one line and gives everything back", "[cuda]") {
  auto driver = std::make_shared<FakeDriver>();
  driver->memory_left = 200 << 10;
  const std::string message = error_of([&] { Tiny(kAdmin, cuda::make_backend(driver, {})); });
  INFO(message);
  CHECK(message.find("[memory] a fake GPU has no") == 0);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(driver->blocks.empty());
}

TEST_CASE("cuda host: a lost device makes every stat NaN and wait() says why", "[cuda]") {
  FakeGpu f;
  f.step(1);
  CHECK_NOTHROW(f.tiny->backend->wait());
  CHECK(f.tiny->backend->error() == "");
  f.driver->broken = "step: an illegal memory access was encountered";
  f.step(2);
  for (double s : f.tiny->program->stats()) CHECK(std::isnan(s));
  CHECK(error_of([&] { f.tiny->backend->wait(); }) ==
        "[cuda] a fake GPU: step: an illegal memory access was encountered");
}

TEST_CASE("cuda host: without the library or a device there is a reason", "[cuda]") {
  const std::string reason = cuda_unavailable();
  if (reason.empty()) {
    CHECK(make_cuda_backend() != nullptr);
  } else {
    CHECK(error_of([] { make_cuda_backend(); }) == "[cuda] " + reason);
    CHECK(reason.find('\n') == std::string::npos);
  }
}

}  // namespace normscope::test
