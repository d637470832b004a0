// These tests run each pass of seal() alone, on the tape of five_nodes.h, with a backend that computes nothing.
#include <algorithm>

#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/support/wrapped_backend.h"
#include "engine/tape/seal.h"

namespace normscope::test {
namespace {

/// Knows every op but those in `missing`; nothing runs on it.
class SilentBackend : public WrappedBackend {
 public:
  std::vector<OpKind> missing;
  bool lowered = false;

  std::string_view name() const override { return "silent"; }
  bool supports(OpKind op) const override { return std::ranges::find(missing, op) == missing.end(); }
  std::unique_ptr<Executable> lower(ProgramData&) override {
    lowered = true;
    return nullptr;
  }
};

/// A block of memory that remembers of each float whose it is.
class Shelf {
 public:
  Shelf(const Tape& tape, const std::vector<size_t>& offsets, size_t floats)
      : tape_(tape), offsets_(offsets), owner_(floats, kNone) {}
  void write(ValueId v) {
    const auto [first, last] = place(v);
    std::fill(first, last, v);
  }
  void read(ValueId v) {
    const auto [first, last] = place(v);
    INFO(tape_.value(v).name);
    CHECK(std::all_of(first, last, [&](ValueId owner) { return owner == v; }));
  }

 private:
  std::pair<std::vector<ValueId>::iterator, std::vector<ValueId>::iterator> place(ValueId v) {
    const size_t offset = offsets_[static_cast<size_t>(v)],
                 floats = static_cast<size_t>(tape_.shape(v).size());
    REQUIRE(offset + floats <= owner_.size());
    const auto first = owner_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(floats)};
  }

  const Tape& tape_;
  const std::vector<size_t>& offsets_;
  std::vector<ValueId> owner_;
};

std::vector<Instruction> forward_and_backward(const FiveNodes& f) {
  const auto needs = passes::mark_gradients(f.tape, f.loss);
  auto all = passes::emit_forward(f.tape);
  for (Instruction& i : passes::emit_backward(f.tape, needs, f.loss)) all.push_back(std::move(i));
  return all;
}

struct SilentNodes {
  SilentBackend backend;
  Store store{backend};
  FiveNodes f{store};
};

}  // namespace

TEST_CASE_METHOD(SilentNodes,
                 "seal: mark_gradients takes what lies between a trainable parameter and the loss",
                 "[seal]") {
  const auto needs = passes::mark_gradients(f.tape, f.loss);
  REQUIRE(needs.size() == f.tape.values().size());
  for (ValueId v : {f.table, f.x, f.branch, f.sum, f.logits, f.loss}) CHECK(needs[static_cast<size_t>(v)]);
  for (ValueId v : {f.tokens, f.targets, f.positions}) CHECK_FALSE(needs[static_cast<size_t>(v)]);
  for (ValueId v : f.tape.nodes()[4].saved) CHECK_FALSE(needs[static_cast<size_t>(v)]);

  // Nothing after the loss, nothing beside it.
  const auto inner = passes::mark_gradients(f.tape, f.sum);
  CHECK(inner[static_cast<size_t>(f.sum)]);
  CHECK_FALSE(inner[static_cast<size_t>(f.logits)]);
  for (bool b : passes::mark_gradients(f.tape, kNone)) CHECK_FALSE(b);
}

TEST_CASE("seal: a node without trainable parameters behind it gets no gradient") {
  SilentBackend backend;
  Store store(backend);
  store.declare("frozen", {3, 4}, {Init::Kind::Normal, 1.0}, false);
  store.declare("head", {4, 2}, {Init::Kind::Normal, 1.0});
  Tape tape(store);
  const ValueId x = tape.input("x", {2, 3}, DType::F32), targets = tape.input("targets", {2}, DType::I32);
  const ValueId hidden = linear(tape, "hidden", x, tape.parameter("frozen"), kNone);
  const ValueId act = relu(tape, "act", hidden);
  const ValueId logits = linear(tape, "logits", act, tape.parameter("head"), kNone);
  const ValueId loss = softmax_xent(tape, "loss", logits, targets, kNone);
  const auto needs = passes::mark_gradients(tape, loss);
  CHECK_FALSE(needs[static_cast<size_t>(hidden)]);
  CHECK_FALSE(needs[static_cast<size_t>(act)]);
  CHECK(needs[static_cast<size_t>(logits)]);
  const auto backward = passes::emit_backward(tape, needs, loss);
  REQUIRE(backward.size() == 2);
  CHECK(backward[0].name == "loss");
  CHECK(backward[1].name == "logits");
  CHECK(backward[1].write[0] == Write::Skip);
  CHECK(backward[1].write[1] == Write::Assign);
}

TEST_CASE_METHOD(SilentNodes, "seal: forward keeps the recording order, backward reverses it", "[seal]") {
  const auto all = forward_and_backward(f);
  REQUIRE(all.size() == 10);
  for (int i = 0; i < 5; ++i) {
    CHECK(all[static_cast<size_t>(i)].phase == Phase::Forward);
    CHECK(all[static_cast<size_t>(i)].node == i);
    CHECK(all[static_cast<size_t>(9 - i)].phase == Phase::Backward);
    CHECK(all[static_cast<size_t>(9 - i)].node == i);
    CHECK(all[static_cast<size_t>(i)].op == f.tape.nodes()[static_cast<size_t>(i)].op);
    CHECK(all[static_cast<size_t>(i)].out == f.tape.nodes()[static_cast<size_t>(i)].out);
    CHECK(all[static_cast<size_t>(i)].saved == f.tape.nodes()[static_cast<size_t>(i)].saved);
  }
}

TEST_CASE_METHOD(SilentNodes, "seal: the first writer of a gradient assigns, later writers add", "[seal]") {
  const auto all = forward_and_backward(f);
  const auto &loss = all[5], &logits = all[6], &sum = all[7], &branch = all[8], &x = all[9];
  CHECK(loss.write == std::vector<Write>{Write::Assign, Write::Skip, Write::Skip});
  CHECK(logits.write == std::vector<Write>{Write::Assign, Write::Assign, Write::Skip});  // sum, table
  CHECK(sum.write ==
        std::vector<Write>{Write::Assign, Write::Assign, Write::Skip, Write::Skip});  // x, branch
  CHECK(branch.write == std::vector<Write>{Write::Add});                              // x again
  CHECK(x.write ==
        std::vector<Write>{Write::Skip, Write::Add, Write::Skip});  // table again; positions frozen

  // In general: every gradient is assigned exactly once, by its first writer.
  std::vector<int> writers(f.tape.values().size(), 0);
  for (const Instruction& i : all) {
    if (i.phase != Phase::Backward) continue;
    for (size_t k = 0; k < i.in.size(); ++k) {
      if (i.write[k] == Write::Skip) continue;
      CHECK((i.write[k] == Write::Assign) == (writers[static_cast<size_t>(i.in[k])]++ == 0));
    }
  }
  CHECK(writers[static_cast<size_t>(f.table)] == 2);
  CHECK(writers[static_cast<size_t>(f.x)] == 2);
}

TEST_CASE("seal: the update is appended as asked") {
  const auto ops = [](SealOptions options) {
    std::vector<OpKind> kinds;
    for (const Instruction& i : passes::update_instructions(options)) {
      CHECK(i.phase == Phase::Update);
      CHECK(i.node == -1);
      kinds.push_back(i.op);
    }
    return kinds;
  };
  CHECK(ops({0, true, kNoOp, false}) == std::vector<OpKind>{OpKind::GradNorm});
  CHECK(ops({0, true, kNoOp, true}) == std::vector<OpKind>{OpKind::GradNorm, OpKind::Clip});
  CHECK(ops({0, true, OpKind::Adam, true}) ==
        std::vector<OpKind>{OpKind::GradNorm, OpKind::Clip, OpKind::Adam});
  CHECK(ops({0, true, OpKind::Sgd, false}) == std::vector<OpKind>{OpKind::GradNorm, OpKind::Sgd});
}

TEST_CASE_METHOD(SilentNodes, "seal: a probe stands right after the instruction that completes its tensor",
                 "[seal]") {
  f.tape.probe({"branch.mean_square", ProbeSpec{ProbeKind::MeanSquare}, f.branch, false, 3});
  f.tape.probe({"x.variance", ProbeSpec{ProbeKind::Variance}, f.x, false, 0});
  f.tape.probe({"x.gradient", ProbeSpec{ProbeKind::MeanSquare}, f.x, true, 0});
  f.tape.probe({"table.gradient", ProbeSpec{ProbeKind::MeanSquare}, f.table, true, 0});
  const auto placed = passes::place_probes(f.tape, forward_and_backward(f));
  REQUIRE(placed.size() == 14);
  const auto before = [&](const std::string& name) -> const Instruction& {
    const auto it = std::ranges::find(placed, name, &Instruction::name);
    REQUIRE(it != placed.end());
    REQUIRE(it != placed.begin());
    CHECK(it->op == OpKind::Probe);
    return *(it - 1);
  };
  CHECK(before("branch.mean_square").name == "branch");
  CHECK(before("branch.mean_square").phase == Phase::Forward);
  CHECK(before("x.variance").name == "x");
  CHECK(before("x.variance").phase == Phase::Forward);
  // x is read by add and relu: its gradient is whole after relu's backward, not after add's.
  CHECK(before("x.gradient").name == "branch");
  CHECK(before("x.gradient").phase == Phase::Backward);
  CHECK(before("table.gradient").name == "x");
  CHECK(before("table.gradient").phase == Phase::Backward);
  for (const Instruction& i : placed)
    if (i.name == "branch.mean_square") {
      CHECK(i.layer == 3);
      CHECK(i.in == std::vector<ValueId>{f.branch});
      CHECK(i.attributes.as<ProbeSpec>().kind == ProbeKind::MeanSquare);
      CHECK_FALSE(i.of_gradient);
    }
}

TEST_CASE(
    "seal: a probe of a gradient is left out of a program without backward, and refused where it can never "
    "be",
    "[seal]") {
  SilentBackend backend;
  Store store(backend);
  FiveNodes f(store);
  f.tape.probe({"x.gradient", ProbeSpec{ProbeKind::MeanSquare}, f.x, true, 0});
  CHECK(passes::place_probes(f.tape, passes::emit_forward(f.tape)).size() == 5);
  f.tape.probe({"positions.gradient", ProbeSpec{ProbeKind::MeanSquare}, f.positions, true, 0});
  const std::string text = error_of([&] { passes::place_probes(f.tape, forward_and_backward(f)); });
  CHECK(test::contains(text, "positions.gradient"));
}

TEST_CASE_METHOD(SilentNodes, "seal: memory is aligned and nothing overlaps", "[seal]") {
  const auto needs = passes::mark_gradients(f.tape, f.loss);
  const MemoryPlan plan = passes::plan_memory(f.tape, needs);
  struct Span {
    int block;
    size_t first, last;
  };
  std::vector<Span> spans;
  const auto add = [&](int block, size_t offset, size_t floats, size_t limit) {
    REQUIRE(offset != kNoOffset);
    CHECK(offset % 16 == 0);  // 64 bytes
    CHECK(offset + floats <= limit);
    spans.push_back({block, offset, offset + floats});
  };
  for (size_t v = 0; v < f.tape.values().size(); ++v) {
    const ValueInfo& info = f.tape.values()[v];
    const size_t floats = static_cast<size_t>(info.shape.size());
    if (info.role == Role::Parameter)
      add(0, plan.value_offset[v], floats, store.size());
    else if (info.role == Role::Input)
      add(1, plan.value_offset[v], floats, plan.inputs);
    else
      add(2, plan.value_offset[v], floats, plan.activations);
    if (needs[v])
      add(3, plan.gradient_offset[v], floats, plan.gradients);
    else
      CHECK(plan.gradient_offset[v] == kNoOffset);
  }
  for (const Span& a : spans)
    for (const Span& b : spans)
      if (&a != &b && a.block == b.block) CHECK((a.last <= b.first || b.last <= a.first));
}

TEST_CASE("seal: whatever is read is still there, when gradients or values share memory") {
  SilentBackend backend;
  ModelConfig config;
  config.layers = 3;
  config.d_model = 8;
  config.heads = 2;
  config.feed_forward = 24;
  config.vocabulary = 11;
  const Placement placement = GENERATE(Placement::Post, Placement::Pre);
  set_placement(config, placement);
  Store store(backend);
  Tape tape(store);
  const ModelValues model = record_transformer(tape, config, {.batch = 2, .sequence = 6, .probes = false});
  const auto probed = static_cast<size_t>(model.sublayers[3].branch);

  SECTION("gradients") {
    const bool keep_parameters = GENERATE(true, false);
    const ValueId table = tape.find("emb.tokens");
    tape.probe({"probed", ProbeSpec{ProbeKind::MeanSquare}, model.sublayers[3].branch, true, 0});
    tape.probe({"table", ProbeSpec{ProbeKind::MeanSquare}, table, true, 0});
    const auto needs = passes::mark_gradients(tape, model.loss);
    const std::vector<Instruction> all =
        passes::place_probes(tape, passes::emit_backward(tape, needs, model.loss));
    MemoryPlan plan = passes::plan_memory(tape, needs);
    const size_t before = plan.gradients;
    const ValueId kept = model.sublayers[1].output;
    MemoryPlan least = plan;
    passes::share_gradient_memory(tape, all, least);
    CHECK(least.gradients < before / 2);
    passes::share_gradient_memory(tape, all, plan, {&kept, 1}, keep_parameters);
    CHECK(plan.gradients <= (keep_parameters ? least.gradients : before / 4) + tape.shape(kept).padded());
    CHECK(plan.gradient_reused[probed]);
    CHECK(plan.gradient_reused[static_cast<size_t>(table)] != keep_parameters);
    CHECK_FALSE(plan.gradient_reused[static_cast<size_t>(kept)]);
    Shelf shelf(tape, plan.gradient_offset, plan.gradients);
    shelf.write(model.loss);
    for (const Instruction& it : all) {
      shelf.read(it.op == OpKind::Probe ? it.in[0] : it.out);
      if (it.op == OpKind::Probe) continue;
      for (size_t k = 0; k < it.in.size(); ++k) {
        if (it.write[k] == Write::Add) shelf.read(it.in[k]);
        if (it.write[k] == Write::Assign) shelf.write(it.in[k]);
      }
    }
    shelf.read(model.loss);
    shelf.read(kept);
    for (size_t v = 0; v < needs.size(); ++v)  // the update reads those of parameters
      if (keep_parameters && needs[v] && tape.values()[v].role == Role::Parameter)
        shelf.read(static_cast<ValueId>(v));
  }

  SECTION("values") {
    tape.probe({"probed", ProbeSpec{ProbeKind::MeanSquare}, model.sublayers[3].branch, false, 0});
    const std::vector<Instruction> all = passes::place_probes(tape, passes::emit_forward(tape));
    MemoryPlan plan = passes::plan_memory(tape, std::vector<bool>(tape.values().size(), false));
    const size_t before = plan.activations;
    passes::share_value_memory(tape, all, plan);
    CHECK(plan.activations < before / 3);
    CHECK(plan.value_reused[probed]);
    CHECK_FALSE(plan.value_reused[static_cast<size_t>(tape.find("logits"))]);
    Shelf shelf(tape, plan.value_offset, plan.activations);
    const auto computed = [&](ValueId v) {
      return v != kNone && tape.value(v).role != Role::Parameter && tape.value(v).role != Role::Input;
    };
    for (const Instruction& it : all) {
      for (ValueId v : it.in)
        if (computed(v)) shelf.read(v);
      if (it.op == OpKind::Probe) continue;
      shelf.write(it.out);
      for (ValueId v : it.saved) shelf.write(v);
      for (ValueId v : it.in)  // nor may an op write over what it reads
        if (computed(v)) shelf.read(v);
    }
    for (ValueId v : {tape.find("logits"), model.loss}) shelf.read(v);
  }
}

TEST_CASE("seal: ops that the backend lacks are reported all together, before anything is lowered") {
  SilentBackend backend;
  Store store(backend);
  FiveNodes f(store);
  store.materialize(1);
  backend.missing = {OpKind::Relu, OpKind::SoftmaxXent, OpKind::Adam};
  const std::string text = error_of([&] { seal(f.tape, {f.loss}); });
  for (const char* word : {"relu", "softmax_xent", "adam", "silent"}) CHECK(test::contains(text, word));
  CHECK_FALSE(test::contains(text, "linear"));
  CHECK_FALSE(test::contains(text, "\n"));
  CHECK_FALSE(backend.lowered);
  backend.missing.clear();
  seal(f.tape, {f.loss});
  CHECK(backend.lowered);
}

TEST_CASE_METHOD(SilentNodes, "seal: a Store without memory is refused", "[seal]") {
  CHECK(test::contains(error_of([&] { seal(f.tape, {f.loss}); }), "materialize"));
}

TEST_CASE("seal: the first program gives a Store of make_cpu_store its memory and the values of its seed") {
  const auto record = [](Tape& tape) {
    return mean_squared_error(tape, "loss", linear(tape, "l", tape.input("x", {4, 3}), 2),
                              tape.input("y", {4, 2}));
  };
  Store given = make_cpu_store(7, 1), usual = make_cpu_store(8, 1);
  Tape tape(given), same(usual);
  const ValueId loss = record(tape);
  CHECK(error_of([&] { seal(tape, {.loss = tape.find("l")}); }) != "");
  CHECK_FALSE(given.materialized());  // a tape that is refused leaves the Store as it was
  const Program first = seal(tape, {.loss = loss}), second = seal(tape, {});
  CHECK(given.has_moments());

  record(same);
  usual.materialize(7);
  CHECK(same_bits(given.read(given.find("l.w")), usual.read(usual.find("l.w"))));
}

TEST_CASE("seal: two dropout sites that hash alike are refused") {
  // A pair with equal FNV-1a hashes, found by search.
  const std::string first = "costarring", second = "liquid";
  REQUIRE(site_of(first) == site_of(second));
  SilentBackend backend;
  Store store(backend);
  Tape tape(store);
  const ValueId x = tape.input("x", {2, 3}, DType::F32);
  dropout(tape, first, x, DropoutKind::Residual);
  passes::check_sites(tape);
  dropout(tape, second, x, DropoutKind::Residual);
  const std::string text = error_of([&] { passes::check_sites(tape); });
  CHECK(test::contains(text, first));
  CHECK(test::contains(text, second));
  // Parameters are drawn by name, so they may not share a hash either.
  store.declare(first, {2}, {});
  CHECK(test::contains(error_of([&] { store.declare(second, {2}, {}); }), first));
}

TEST_CASE_METHOD(SilentNodes, "seal: the stats block names loss, norms and probes once each", "[seal]") {
  store.materialize(1);
  f.tape.probe({"sum.mean_square", ProbeSpec{ProbeKind::MeanSquare}, f.sum, false, 0});
  const Program program = seal(f.tape, {f.loss});
  const ProgramData& data = program.data();
  std::vector<std::string> names;
  for (const StatInfo& s : data.stats) names.push_back(s.name);
  for (const char* name :
       {"loss", "table.grad_norm", "table.update_norm", "table.weight_norm", "sum.mean_square"})
    CHECK(std::ranges::count(names, name) == 1);
  for (const std::string& name : names) CHECK_FALSE(test::contains(name, "positions"));  // frozen
  CHECK(data.parameter_order == std::vector<int32_t>{store.find("table")});
  for (const Instruction& i : data.instructions)
    if (i.op == OpKind::Probe) CHECK(names[static_cast<size_t>(i.stat)] == "sum.mean_square");
}

}  // namespace normscope::test
