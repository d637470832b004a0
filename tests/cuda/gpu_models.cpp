// These tests run whole models on the device: the fixtures, losses and state against the CPU, every promise of replay
// bit for bit, and the first instruction that differs, by name.
#include <algorithm>

#include "cuda/device.h"
#include "cuda/shadow.h"
#include "engine/cuda/backend_cuda.h"
#include "engine/engine.h"
#include "engine/support/model_fixture.h"
#include "engine/support/named_placements.h"
#include "engine/support/op_harness.h"
#include "engine/support/step_input_changes.h"
#include "test_paths.h"
#include "training/spec/backend_choice.h"
#include "verify/verify.h"

namespace normscope::test {
namespace {

const TinyOptions kFull{.placement = Placement::Post, .row_weights = true, .clip = true, .dropout = 0.1f};

/// Gives a model all that transformers have learned since, at once.
void since_2017(ModelConfig& c) {
  c.positions = positions_or("rotary", c.positions);
  c.heads = 4;
  c.attention = {.head_width = 8, .kv_heads = 2, .window = 4, .pattern = "wf", .scale = 0.5f, .cap = 2.0f};
  c.gated = c.gain_offset = true;
  c.activation = Activation::Silu;
  c.biases = Biases::Qkv;
  c.embedding_scale = 3;
  c.embedding_width = 12;
  c.token_types = 2;
  c.logit_cap = 3;
  for (LayerWiring& layer : c.decoder.layers) layer.feed_forward.parallel = true;
}

std::vector<TinyOptions> variants() {
  std::vector<TinyOptions> all;
  for (const Placement p :
       {Placement::Post, Placement::Pre, Placement::Sandwich, Placement::DeepNorm, Placement::Admin,
        Placement::ReZero, Placement::NormFormer, Placement::HybridNorm, Placement::FixUp}) {
    TinyOptions o = kFull;
    o.placement = p;
    all.push_back(o);
  }
  all.push_back({.placement = Placement::Pre,
                 .norm = NormKind::Rms,
                 .tied = false,
                 .activation = Activation::Gelu,
                 .optimizer = Optimizer::Sgd});
  all.push_back(
      {.placement = Placement::Post, .norm = NormKind::Simple, .width = 33, .heads = 1, .sequence = 70});
  all.push_back({.placement = Placement::Pre, .classes = 5});
  all.push_back(
      {.placement = Placement::Pre, .classes = 5, .change = [](ModelConfig& c) { c.attention.window = 4; }});
  all.push_back({.placement = Placement::Pre,
                 .change = [](ModelConfig& c) { c.positions = positions_or("alibi", c.positions); }});
  for (const Placement p : known({"ngpt"}))
    all.push_back({.placement = p, .width = 36, .feed_forward = 70, .tied = false});
  all.push_back({.placement = Placement::QkNorm, .norm = NormKind::Rms, .change = since_2017});
  return all;
}

std::vector<float> state_after(const TinyOptions& o, uint32_t steps, bool graph = true) {
  Tiny tiny(o, device_backend(graph));
  tiny.steps(1, steps);
  CHECK(tiny.backend->error() == "");
  return tiny.state();
}

/// Finds the gradient of a key's bias. A softmax does not see what the bias adds to all scores of a row,
/// so the gradient is rounding, which Adam makes a step of full size.
bool is_rounding(const std::string& stat) {
  return (stat.find(".bk.") != std::string::npos || stat.find(".k_norm.bias.") != std::string::npos) &&
         !stat.ends_with("grad_norm");
}

std::string fixtures_folder() {
  const char* given = std::getenv("NORMSCOPE_FIXTURES");
  return given ? given : NORMSCOPE_FIXTURES;
}

}  // namespace

TEST_CASE("gpu models: every fixture is reproduced on the device", "[gpu]") {
  NEEDS_DEVICE();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures_folder())) {
    if (entry.path().extension() != ".safetensors") continue;
    ++files;
    const VerifyReport report = verify_fixture(entry.path().string(), *device_backend());
    INFO(to_string(report));
    CHECK(report.passed());
  }
  CHECK(files >= 14);
}

TEST_CASE("gpu models: ten steps have the losses and gradients of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  for (const TinyOptions& o : variants()) {
    INFO(to_string(o.placement));
    Tiny cpu(o), device(o, device_backend());
    for (uint32_t step = 1; step <= 10; ++step) {
      INFO("step " << step);
      cpu.step(step);
      device.step(step);
      CHECK(device.program->loss() == Approx(cpu.program->loss()).epsilon(1e-4));
      const auto a = cpu.program->stats(), b = device.program->stats();
      REQUIRE(a.size() == b.size());
      if (step == 1)
        for (size_t i = 0; i < a.size(); ++i) {
          const std::string& name = cpu.program->data().stats[i].name;
          if (is_rounding(name)) continue;
          INFO(name);
          CHECK(b[i] == Approx(a[i]).epsilon(1e-3).margin(1e-5));
        }
    }
    CHECK(device.backend->error() == "");
  }
}

TEST_CASE("gpu models: the gradient of an input is that of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  const auto gradients = [](std::shared_ptr<Backend> backend, bool trains) {
    Store store(*backend);
    Tape tape(store);
    const ValueId x = tape.input("x", {37, 24}, DType::F32, {.gradient = true});
    const ValueId h = trains ? multiply(tape, "gated", silu(tape, "silu", linear(tape, "fc", x, 24)), x) : x;
    const ValueId loss =
        mean_squared_error(tape, "loss", h, tape.input("target", {37, 24}), tape.input("weights", {37}));
    store.materialize(3);
    Program program = seal(tape, {.loss = loss, .update = kNoOp});
    const std::span<float> numbers = program.floats("x");
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 37 % 61) / 30 - 1;
    std::ranges::fill(program.floats("target"), 0.25f);
    program.fill_rows(30);
    program.replay({});
    CHECK(program.counted_rows() == 30);
    std::vector<float> all = program.read("x", true);
    if (trains) std::ranges::copy(program.read("fc.w", true), std::back_inserter(all));
    return all;
  };
  for (const bool trains : {true, false})
    for (const bool graph : {true, false}) {
      const std::vector<float> cpu = gradients(make_cpu_backend(2), trains);
      CHECK(norm_of(Values(cpu.begin(), cpu.end())) > 0.01);
      CHECK(relative_error(gradients(device_backend(graph), trains), Values(cpu.begin(), cpu.end())) < 1e-5);
    }
}

TEST_CASE("gpu models: captured and uncaptured steps are the same bits", "[gpu]") {
  NEEDS_DEVICE();
  for (const TinyOptions& o : variants()) {
    INFO(to_string(o.placement));
    CHECK(same_bits(state_after(o, 3, true), state_after(o, 3, false)));
  }
}

namespace {
void check_repeats(const TinyOptions& o) {
  const auto first = state_after(o, 12);
  for (float v : first) REQUIRE(std::isfinite(v));
  CHECK(same_bits(first, state_after(o, 12)));
  CHECK_FALSE(same_bits(first, state_after(o, 11)));
}
}  // namespace

TEST_CASE("gpu models: two runs are the same bits", "[gpu]") {
  NEEDS_DEVICE();
  check_repeats(kFull);
}

TEST_CASE("gpu models: two runs of a larger model are the same bits", "[gpu][large]") {
  NEEDS_DEVICE();
  TinyOptions wide{.placement = Placement::Pre,
                   .layers = 2,
                   .width = 256,
                   .heads = 4,
                   .feed_forward = 1024,
                   .vocabulary = 300,
                   .batch = 8,
                   .sequence = 128,
                   .clip = true,
                   .dropout = 0.1f};
  check_repeats(wide);
}

TEST_CASE("gpu models: probes and a fresh recording change nothing", "[gpu]") {
  NEEDS_DEVICE();
  TinyOptions quiet = kFull;
  quiet.probes = false;
  CHECK(same_bits(state_after(kFull, 6), state_after(quiet, 6)));
  Tiny fresh(kFull, device_backend());
  for (uint32_t step = 1; step <= 6; ++step) {
    fresh.record_again();
    fresh.step(step);
  }
  CHECK(same_bits(state_after(kFull, 6), fresh.state()));
}

TEST_CASE("gpu models: initial weights are the bits of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  CHECK(same_bits(Tiny(kFull).state(), Tiny(kFull, device_backend()).state()));
}

TEST_CASE("gpu models: dropout masks are the bits of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  TinyOptions o = kFull;
  o.dropout = 0.3f;
  Tiny cpu(o), device(o, device_backend());
  cpu.step(1);
  device.step(1);
  int masks = 0;
  for (const Node& n : cpu.program->data().nodes) {
    if (n.op != OpKind::Dropout) continue;
    ++masks;
    const std::string& name = cpu.program->data().values[static_cast<size_t>(n.out)].name;
    const auto a = cpu.program->read(name), b = device.program->read(name);
    size_t different = 0, dropped = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      different += (a[i] == 0.0f) != (b[i] == 0.0f);
      dropped += a[i] == 0.0f;
    }
    INFO(name);
    // Behind relu an element may also be zero by itself, on either side of a rounding.
    CHECK(different <= (name.find("hidden") == std::string::npos ? 0 : a.size() / 100));
    CHECK(dropped > 0);
  }
  CHECK(masks > 3);
}

TEST_CASE("gpu models: changing any field of StepInputs changes the result", "[gpu]") {
  NEEDS_DEVICE();
  check_every_step_input_counts(kFull, [] { return device_backend(); });
}

TEST_CASE("gpu models: TF32 rounds and is off unless asked for", "[gpu]") {
  NEEDS_DEVICE();
  std::string reason;
  const auto rounding = cuda::open_driver({.tf32 = true}, reason);
  REQUIRE(rounding != nullptr);
  const TinyOptions o{.placement = Placement::Pre, .width = 64, .heads = 4, .feed_forward = 64};
  Tiny cpu(o), exact(o, device_backend()), rounded(o, cuda::make_backend(rounding, {.tf32 = true}));
  for (Tiny* t : {&cpu, &exact, &rounded}) t->step(1);
  const auto distance = [&](Tiny& t) { return std::abs(t.program->loss() - cpu.program->loss()); };
  CHECK(distance(exact) <= 1e-6 * cpu.program->loss());
  CHECK(distance(rounded) <= 1e-2 * cpu.program->loss());
  // Whether such small products are rounded on a real device is for cuBLASLt to decide.
  if (rounding->device().name == "emulated device") CHECK(distance(rounded) > 1e-6 * cpu.program->loss());
}

TEST_CASE("gpu models: every update rule leaves the state of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  std::vector<TinyOptions> all;
  for (const Optimizer rule : kOptimizers)
    all.push_back({.placement = Placement::Pre, .clip = true, .optimizer = rule});
  for (const Optimizer rule :
       {Optimizer::Adam, Optimizer::AdamW})  // with rates, decay and epsilon by parameter
    all.push_back({.placement = Placement::Pre, .optimizer = rule, .change = [](ModelConfig& c) {
                     c.transfer = Transfer::CompleteP;
                     c.base_width = 8;
                     c.base_layers = 1;
                   }});
  for (const TinyOptions& o : all)
    for (const bool adapted : {true, false}) {
      Tiny cpu(o), device(o, device_backend());
      for (uint32_t step = 1; step <= 3; ++step)
        for (Tiny* t : {&cpu, &device}) {
          t->fill(step);
          StepInputs inputs = t->inputs(step);
          inputs.weight_decay = 0.1f;
          inputs.l2 = 0.05f;  // makes even gradients that would be rounding alone count
          inputs.rectification = 0.7f;
          inputs.adapted = adapted;
          t->program->replay(inputs);
        }
      const std::vector<float> a = cpu.state(), b = device.state();
      REQUIRE(a.size() == b.size());
      double difference = 0, size = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        size += std::pow(static_cast<double>(a[i]), 2);
      }
      INFO(to_string(o.optimizer) << (o.change ? ", CompleteP" : "") << (adapted ? "" : ", not adapted"));
      CHECK(difference <= 1e-9 * size);
    }
}

TEST_CASE("gpu models: the batch is not frozen", "[gpu]") {
  NEEDS_DEVICE();
  Tiny changed(kFull, device_backend()), same(kFull, device_backend());
  for (Tiny* t : {&changed, &same}) {
    t->steps(1, 2);
    t->fill(3);
  }
  changed.program->floats("weights")[0] += 1.0f;
  for (Tiny* t : {&changed, &same}) t->program->replay(t->inputs(3));
  CHECK_FALSE(same_bits(changed.state(), same.state()));
}

TEST_CASE("gpu models: shadow finds no difference in any instruction of any placement and norm", "[gpu]") {
  NEEDS_DEVICE();
  std::set<OpKind> seen;
  std::vector<TinyOptions> all = variants();
  const TinyOptions small{
      .layers = 2, .width = 12, .heads = 2, .feed_forward = 16, .batch = 2, .sequence = 5};
  for (const Placement p : kPresets) {
    all.push_back(small);
    all.back().placement = p;
  }
  for (const NormKind n : kNormKinds)
    if (n != NormKind::None) {
      all.push_back(small);
      all.back().norm = n;
    }
  for (const Optimizer o : kOptimizers) {
    all.push_back(small);
    all.back().optimizer = o;
  }
  all.push_back(small);
  all.back().classes = 3;
  all.back().tied = false;
  for (const TinyOptions& o : all) {
    INFO(to_string(o.placement) << ", " << to_string(o.norm));
    Tiny cpu(o), device(o, device_backend());
    for (uint32_t step = 1; step <= 2; ++step) {
      cpu.fill(step);
      const cuda::ShadowReport report = cuda::shadow(*cpu.program, *device.program, cpu.inputs(step));
      INFO(to_string(o.placement) << ": " << cuda::to_string(report));
      CHECK(report.equal);
      CHECK(report.instructions == cpu.program->data().instructions.size());
    }
    for (const Instruction& i : cpu.program->data().instructions) seen.insert(i.op);
  }
  // What no model here has must at least have a case of its own (gpu_ops.cpp runs all that the backend has).
  for (const OpCase& c : op_cases()) seen.insert(c.op);
  for (int kind = 0; kind < static_cast<int>(OpKind::Count); ++kind) {
    const auto op = static_cast<OpKind>(kind);
    INFO(to_string(op));
    // An op without a derivative and a duty has neither model nor case here: its add-on shadows it.
    CHECK((seen.contains(op) || (!traits_of(op).differentiable && traits_of(op).duty == Duty::None)));
  }
}

TEST_CASE("gpu models: shadow names the first instruction that differs", "[gpu]") {
  NEEDS_DEVICE();
  // The other program sums with half the branch: its first wrong instruction is that sum.
  TinyOptions o{.placement = Placement::Pre};
  Tiny cpu(o);
  const auto backend = device_backend();
  Store store(*backend);
  ModelConfig config = tiny_config(o);
  config.stack().layers[1].attention.branch = {Scale::Kind::Constant, 0.5f};
  Tape tape(store);
  record_transformer(tape, config, {.batch = o.batch, .sequence = o.sequence});
  store.materialize(o.seed);
  Program device = seal(tape, {.loss = tape.find("loss"), .update = update_op(o.optimizer), .clip = o.clip});
  cpu.fill(1);
  const cuda::ShadowReport report = cuda::shadow(*cpu.program, device, cpu.inputs(1));
  CHECK_FALSE(report.equal);
  CHECK(report.first.instruction == "forward L02.attn.sum");
}

TEST_CASE("gpu models: evaluation between two steps changes no bit of them", "[gpu]") {
  NEEDS_DEVICE();
  Tiny tiny(kFull, device_backend());
  Tape tape(*tiny.store);
  record_transformer(tape, tiny_config(kFull), {.batch = 1, .sequence = 5, .training = false});
  Program evaluation = seal(tape, {.loss = tape.find("loss"), .backward = false});
  for (uint32_t step = 1; step <= 6; ++step) {
    tiny.step(step);
    evaluation.replay(tiny.inputs(step));
  }
  CHECK(same_bits(tiny.state(), state_after(kFull, 6)));
}

}  // namespace normscope::test
