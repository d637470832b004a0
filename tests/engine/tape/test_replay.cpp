// These tests cover the bitwise promises of replay on a tiny decoder with dropout, clipping and probes: the same run
// twice, any number of threads, replay against a fresh recording, probes on and off, continuing from saved state, a
// program beside it. And what replay promises besides: no allocation, no frozen value, denormals flushed only inside.
#include <algorithm>

#include "engine/cpu/denormals.h"
#include "engine/support/allocation_count.h"
#include "engine/support/step_input_changes.h"

namespace normscope::test {
namespace {

const TinyOptions kFull{.placement = Placement::Post, .row_weights = true, .clip = true, .dropout = 0.1f};

TinyOptions with(TinyOptions o, const std::function<void(TinyOptions&)>& change) {
  change(o);
  return o;
}

std::vector<float> state_after(const TinyOptions& o, uint32_t steps) {
  Tiny tiny(o);
  tiny.steps(1, steps);
  return tiny.state();
}

bool finite(const std::vector<float>& v) {
  for (float e : v)
    if (!std::isfinite(e)) return false;
  return true;
}

}  // namespace

TEST_CASE("replay: the same run twice is the same bits") {
  const auto first = state_after(kFull, 20);
  CHECK(finite(first));
  CHECK(same_bits(first, state_after(kFull, 20)));
  CHECK_FALSE(same_bits(first, state_after(kFull, 19)));
  CHECK_FALSE(same_bits(first, state_after(with(kFull, [](TinyOptions& o) { o.seed = 8; }), 20)));
}

TEST_CASE("replay: 1, 2, 3 and 5 threads give the same bits") {
  for (const Placement p : {Placement::Post, Placement::Pre, Placement::Admin, Placement::ReZero}) {
    INFO(to_string(p));
    TinyOptions o = kFull;
    o.placement = p;
    o.sequence = 33;
    const auto one = state_after(o, 8);
    for (int threads : {2, 3, 5}) {
      INFO(threads << " threads");
      CHECK(same_bits(one, state_after(with(o, [&](TinyOptions& t) { t.threads = threads; }), 8)));
    }
  }
}

TEST_CASE("replay: every number of the stats block and every gradient is the same on any number of threads") {
  TinyOptions o = kFull;
  o.sequence = 31;
  Tiny one(o), three(with(o, [](TinyOptions&t) { t.threads = 3; }));
  one.steps(1, 5);
  three.steps(1, 5);
  const auto a = one.program->stats(), b = three.program->stats();
  REQUIRE(a.size() == b.size());
  CHECK(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
  for (const ParameterInfo& p : one.store->parameters())
    CHECK(same_bits(one.program->read(p.name, true), three.program->read(p.name, true)));
}

TEST_CASE("replay: gradients that give their memory away change no bit, and cannot be read") {
  for (const Placement p : {Placement::Post, Placement::Pre, Placement::Admin, Placement::ReZero}) {
    INFO(to_string(p));
    TinyOptions keep = kFull;
    keep.placement = p;
    keep.layers = 4;
    keep.threads = 2;
    TinyOptions reuse = keep;
    reuse.reuse_bytes = true;
    Tiny a(keep), b(reuse);
    a.steps(1, 8);
    b.steps(1, 8);
    CHECK(same_bits(a.state(), b.state()));
    const auto x = a.program->stats(), y = b.program->stats();
    CHECK(std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    for (const ParameterInfo& info : a.store->parameters())
      CHECK(same_bits(a.program->read(info.name, true), b.program->read(info.name, true)));
    CHECK(b.program->data().plan.gradients < a.program->data().plan.gradients / 2);
    CHECK_NOTHROW(a.program->read("L02.attn.heads", true));
    CHECK_THROWS_AS(b.program->read("L02.attn.heads", true), Error);
  }
}

TEST_CASE("replay: programs that share their memory train as they would alone") {
  TinyOptions small = kFull, large = kFull;
  large.layers = 3;
  large.width = 48;
  large.placement = Placement::Pre;
  Tiny a(small), b(large);
  a.steps(1, 6);
  b.steps(1, 6);
  small.reuse_bytes = large.reuse_bytes = true;
  const std::shared_ptr<Backend> shared = make_cpu_backend(2);
  Tiny c(small, shared), d(large, shared);
  const Executable &first = c.program->executable(), &second = d.program->executable();
  CHECK(first.value(c.model.loss) != nullptr);
  const auto poison = [](Tiny& tiny) {
    const ProgramData& data = tiny.program->data();
    Executable& executable = tiny.program->executable();
    for (size_t v = 0; v < data.values.size(); ++v) {
      const std::vector<float> nan(static_cast<size_t>(data.values[v].shape.size()), std::nanf(""));
      const auto id = static_cast<ValueId>(v);
      if (data.values[v].role == Role::Activation || data.values[v].role == Role::Saved)
        executable.write(executable.value(id), nan);
      if (float* gradient = executable.gradient(id)) executable.write(gradient, nan);
    }
  };
  bool overlap = false;
  for (const ValueInfo& value : c.program->data().values)
    if (value.role == Role::Activation)
      overlap = overlap || first.value(static_cast<ValueId>(&value - c.program->data().values.data())) ==
                               second.value(d.program->data().nodes.front().out);
  CHECK(overlap);
  for (uint32_t step = 1; step <= 6; ++step) {
    c.step(step);
    poison(c);
    d.step(step);
    poison(d);
  }
  CHECK(same_bits(a.state(), c.state()));
  CHECK(same_bits(b.state(), d.state()));
  const auto x = b.program->stats(), y = d.program->stats();
  CHECK(std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
}

TEST_CASE("replay: a forward program whose values give their memory away says the same") {
  for (const int32_t classes : {0, 3}) {
    TinyOptions options = kFull;
    options.row_weights = false;
    options.classes = classes;
    options.threads = 2;
    Tiny tiny(options);
    tiny.steps(1, 3);
    Tape tape(*tiny.store);
    const ModelValues values = tiny.record(tape);
    const auto forward = [&](bool reuse, bool probabilities = true) {
      return seal(tape, {.loss = values.loss,
                         .backward = false,
                         .reuse_bytes = reuse,
                         .keep_probabilities = probabilities});
    };
    Program keep = forward(false), reuse = forward(true), without = forward(false, false);
    for (const char* input : {"tokens", "targets"})
      for (Program* program : {&keep, &reuse, &without})
        std::ranges::copy(tiny.program->tokens(input), program->tokens(input).begin());
    for (int i = 0; i < 2; ++i) {
      keep.replay({});
      reuse.replay({});  // the second finds the first's remains
      without.replay({});
    }
    CHECK(same_bits(keep.read("logits"), without.read("logits")));
    CHECK(keep.loss() == without.loss());
    CHECK(without.data().plan.activations < keep.data().plan.activations);
    CHECK(same_bits(keep.read("logits"), reuse.read("logits")));
    CHECK(keep.loss() == reuse.loss());
    CHECK(reuse.data().plan.activations < keep.data().plan.activations / 2);
    CHECK_NOTHROW(keep.read("L01.attn.heads"));
    CHECK_THROWS_AS(reuse.read("L01.attn.heads"), Error);
  }
}

TEST_CASE("replay: one instruction after the other gives the same bits as region by region") {
  struct Case {
    Placement placement;
    Activation activation;
    int32_t width;
    float dropout;
  };
  for (const Case& c :
       {Case{Placement::Pre, Activation::Relu, 32, 0.1f}, Case{Placement::Post, Activation::Gelu, 32, 0.0f},
        Case{Placement::Admin, Activation::Relu, 24, 0.1f},
        Case{Placement::ReZero, Activation::Gelu, 24, 0.0f}}) {
    TinyOptions o = kFull;
    o.placement = c.placement;
    o.activation = c.activation;
    o.width = c.width;
    o.heads = 2;
    o.feed_forward = 80;
    o.dropout = c.dropout;
    o.sequence = 33;
    o.threads = 3;
    for (const bool reuse : {false, true}) {
      o.reuse_bytes = reuse;
      INFO(to_string(c.placement) << " reuse " << reuse);
      Tiny whole(o), single(o);
      for (uint32_t step = 1; step <= 4; ++step) {
        whole.step(step);
        single.fill(step);
        for (size_t i = 0; i < single.program->data().instructions.size(); ++i)
          single.program->executable().run(i, i + 1, single.inputs(step));
      }
      CHECK(same_bits(whole.state(), single.state()));
      const auto x = whole.program->stats(), y = single.program->stats();
      CHECK(std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    }
  }
}

TEST_CASE("replay: recording afresh before every step changes nothing") {
  Tiny replayed(kFull), fresh(kFull);
  for (uint32_t step = 1; step <= 10; ++step) {
    replayed.step(step);
    fresh.record_again();
    fresh.step(step);
  }
  CHECK(same_bits(replayed.state(), fresh.state()));
}

TEST_CASE("replay: probes change no bit") {
  for (const Placement p : {Placement::Post, Placement::Sandwich})
    for (int threads : {1, 3}) {
      TinyOptions o = kFull;
      o.placement = p;
      o.threads = threads;
      Tiny on(o), off(with(o, [](TinyOptions&t) { t.probes = false; }));
      CHECK(on.program->stats().size() > off.program->stats().size());
      on.steps(1, 10);
      off.steps(1, 10);
      CHECK(same_bits(on.state(), off.state()));
    }
}

TEST_CASE("replay: continuing from saved weights and moments equals the straight run") {
  Tiny straight(kFull), first(kFull);
  straight.steps(1, 20);
  first.steps(1, 9);
  Tiny second(
      with(kFull, [](TinyOptions& o) { o.seed = 99; }));  // other initial weights: all must be replaced
  for (const auto block : {Store::Block::Value, Store::Block::M, Store::Block::V})
    for (int32_t p = 0; p < static_cast<int32_t>(first.store->parameters().size()); ++p)
      second.store->write(p, first.store->read(p, block), block);
  second.o.seed = kFull.seed;
  second.steps(10, 20);
  CHECK(same_bits(straight.state(), second.state()));
}

TEST_CASE("replay: an evaluation program between the steps changes no bit of the run") {
  Tiny alone(kFull), watched(kFull);
  ModelConfig config = tiny_config(kFull);
  Tape tape(*watched.store);
  const ModelValues eval =
      record_transformer(tape, config, {.batch = 3, .sequence = 5, .training = false, .probes = true});
  Program program = seal(tape, {.loss = eval.loss, .backward = false});
  double loss = 0;
  for (uint32_t step = 1; step <= 10; ++step) {
    alone.step(step);
    for (int32_t& t : program.tokens("tokens")) t = static_cast<int32_t>(step) % 17;
    for (int32_t& t : program.tokens("targets")) t = 3;
    program.replay(watched.inputs(step));
    CHECK(program.loss() != loss);  // it sees the weights of now
    loss = program.loss();
    program.replay({});
    CHECK(program.loss() == loss);  // and no dropout, whatever the step says of it
    watched.step(step);
  }
  CHECK(same_bits(alone.state(), watched.state()));
}

TEST_CASE("replay: a clone of the Store is its own") {
  Tiny tiny(kFull);
  tiny.steps(1, 3);
  const Store copy = tiny.store->clone();
  const auto before = copy.read(0);
  CHECK(same_bits(before, tiny.store->read(0)));
  tiny.step(4);
  CHECK(same_bits(before, copy.read(0)));
  CHECK_FALSE(same_bits(before, tiny.store->read(0)));
}

TEST_CASE("replay: the Store counts the steps of a rule, over all of its programs") {
  struct Net {
    std::shared_ptr<Backend> backend = make_cpu_backend(1);
    Store store{*backend};
    Program first = program(4), second = program(2);
    Program program(int64_t rows) {
      Tape tape(store);
      const ValueId y = linear(tape, "fc", tape.input("x", {rows, 3}), 2);
      const ValueId loss = mean_squared_error(tape, "loss", y, tape.input("target", {rows, 2}));
      if (!store.materialized()) store.materialize(1);
      Program sealed = seal(tape, {.loss = loss});
      std::ranges::fill(sealed.floats("x"), 0.5f);
      return sealed;
    }
  };
  Net counted, told;
  const Adam adam{.lr = 0.01f};
  CHECK(counted.store.steps() == 0);
  for (uint32_t t = 1; t <= 6; ++t) {
    (t % 3 ? counted.first : counted.second).replay(adam);
    (t % 3 ? told.first : told.second).replay(adam.step(t));
    CHECK(counted.store.steps() == t);
  }
  CHECK(told.store.steps() == 0);
  CHECK(same_bits(counted.store.read(0), told.store.read(0)));
  CHECK(counted.store.clone().steps() == 6);
  CHECK_THROWS_AS(counted.first.replay(Adam{.lr = std::nanf("")}), Error);
  CHECK(counted.store.steps() == 6);  // a step that was refused is none
  told.store.set_steps(6);
  counted.first.replay(adam);
  told.first.replay(adam);
  CHECK(same_bits(counted.store.read(0), told.store.read(0)));
}

TEST_CASE("replay: 100 steps allocate nothing") {
  for (int threads : {1, 3}) {
    Tiny tiny(with(kFull, [&](TinyOptions& o) { o.threads = threads; }));
    tiny.steps(1, 2);
    const StepInputs inputs = tiny.inputs(3);
    const uint64_t before = allocations();
    for (int i = 0; i < 100; ++i) tiny.program->replay(inputs);
    CHECK(allocations() == before);
  }
  const uint64_t before = allocations();
  const auto one = std::make_unique<int>(1);
  CHECK(allocations() == before + 1);  // the counter counts
}

TEST_CASE("replay: changing any field of StepInputs changes the result") {
  check_every_step_input_counts(kFull, [] { return make_cpu_backend(1); });
}

TEST_CASE("replay: denormals are flushed inside and kept outside") {
  volatile float tiny_number = 1.2e-38f;
  const auto denormal = [&] { return tiny_number * 0.5f; };
  CHECK(denormal() != 0.0f);
  {
    const cpu::FlushDenormals guard;
    CHECK(denormal() == 0.0f);
  }
  CHECK(denormal() != 0.0f);
  // An embedding row that no token uses has no gradient (untied output): its first moment only decays, and is
  // never left as a denormal.
  for (int threads : {1, 3}) {
    TinyOptions o;
    o.tied = false;
    o.threads = threads;
    o.vocabulary = 29;
    Tiny tiny(o);
    const int32_t table = tiny.store->find("emb.tokens");
    std::vector<float> m(tiny.store->read(table).size(), 1.2e-38f);
    tiny.store->write(table, m, Store::Block::M);
    for (int32_t& t : tiny.program->tokens("tokens")) t = 1;
    for (int32_t& t : tiny.program->tokens("targets")) t = 2;
    tiny.program->replay(tiny.inputs(1));
    m = tiny.store->read(table, Store::Block::M);
    CHECK(std::fpclassify(m[2 * 24 + 5]) != FP_SUBNORMAL);
    CHECK(std::fpclassify(m[1 * 24 + 5]) == FP_NORMAL);
    CHECK(denormal() != 0.0f);
  }
}

TEST_CASE("replay: a non-finite weight is data and not a crash") {
  Tiny tiny(kFull);
  change(*tiny.store, "L01.attn.wq", [](auto& w) { w[3] = NAN; });
  tiny.step(1);
  CHECK(std::isnan(tiny.program->loss()));
  CHECK(std::isnan(tiny.program->stat("total.grad_norm")));
  CHECK(std::isnan(tiny.program->stat("L01.attn.out.mean_square")));
}

}  // namespace normscope::test
