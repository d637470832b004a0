// Scopes: a layer is a function that is called twice, and its names are its own each time.
#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

struct ScopedTape {
  std::shared_ptr<Backend> backend = make_cpu_backend(1);
  Store store{*backend};
  Tape tape{store};
  ValueId x = tape.input("x", {4, 8});

  ValueId layer(ValueId h) {
    const ValueId inner = relu(tape, "relu", linear(tape, "fc", layer_norm(tape, "norm", h), 8));
    return add(tape, "sum", h, dropout(tape, "drop", inner, DropoutKind::Residual));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const ValueInfo& value : tape.values()) all.push_back(value.name);
    return all;
  }
};

}  // namespace

TEST_CASE("scope: inputs, parameters, nodes, what they save, sites and probes are named in it") {
  ScopedTape scoped, plain;
  {
    const auto in = scoped.tape.scope("L01");
    const ValueId out = scoped.layer(scoped.x);
    probe_mean_square(scoped.tape, "out", out);
    scoped.tape.after_update({.op = OpKind::Relu, .name = "after", .in = {out}});
    scoped.tape.input("lengths", {4}, DType::I32);
    const auto inner = scoped.tape.scope("ffn");
    linear(scoped.tape, "w1", out, 3);
  }
  linear(scoped.tape, "head", scoped.x, 3);

  Tape& t = plain.tape;
  const ValueId norm = layer_norm(t, "L01.norm", plain.x);
  const ValueId fc = relu(t, "L01.relu", linear(t, "L01.fc", norm, 8));
  const ValueId out = add(t, "L01.sum", plain.x, dropout(t, "L01.drop", fc, DropoutKind::Residual));
  probe_mean_square(t, "L01.out", out);
  t.input("L01.lengths", {4}, DType::I32);
  linear(t, "L01.ffn.w1", out, 3);
  linear(t, "head", plain.x, 3);

  CHECK(scoped.names() == plain.names());
  REQUIRE(scoped.tape.nodes().size() == t.nodes().size());
  for (size_t i = 0; i < t.nodes().size(); ++i) {
    CHECK(scoped.tape.nodes()[i].name == t.nodes()[i].name);
    CHECK(scoped.tape.nodes()[i].site == t.nodes()[i].site);
    CHECK(scoped.tape.nodes()[i].attributes == t.nodes()[i].attributes);
  }
  CHECK(scoped.tape.probes()[0].name == t.probes()[0].name);
  CHECK(scoped.tape.after_update()[0].name == "L01.after");
  REQUIRE(scoped.store.parameters().size() == plain.store.parameters().size());
  for (size_t p = 0; p < plain.store.parameters().size(); ++p)
    CHECK(scoped.store.parameters()[p].name == plain.store.parameters()[p].name);
}

TEST_CASE("scope: a name from the root is the same parameter in every scope") {
  ScopedTape r;
  r.store.declare("table", {8, 8}, {});
  ValueId tables[2], h = r.x;
  for (const int l : {0, 1}) {
    const auto in = r.tape.scope("L0" + std::to_string(l + 1));
    h = linear(r.tape, "tied", h, tables[l] = r.tape.parameter("/table"), kNone);
    const auto absolute = r.tape.scope("/root");
    relu(r.tape, "of" + std::to_string(l), h);
  }
  CHECK(tables[0] == tables[1]);
  CHECK(r.names() == std::vector<std::string>{"x", "table", "L01.tied", "root.of0", "L02.tied", "root.of1"});
  CHECK(r.tape.named("after") == "after");
}

TEST_CASE("scope: an Error ends it, and a tape that is moved takes it along") {
  ScopedTape r;
  const auto refused = error_of([&] {
    const auto in = r.tape.scope("L01");
    linear(r.tape, "fc", r.x, r.x, kNone);
  });
  CHECK(refused ==
        "[linear L01.fc] input (4,8) does not match weight (4,8): expected input.cols == weight.rows");
  CHECK(r.tape.named("x") == "x");
  const auto in = r.tape.scope("L02");
  Tape moved = std::move(r.tape);
  relu(moved, "r", r.x);
  CHECK(moved.values().back().name == "L02.r");
}

}  // namespace normscope::test
