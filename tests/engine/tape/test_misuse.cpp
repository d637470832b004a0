// Wrong programs, a row each: what somebody writes by mistake, and the line that says so at the call that is wrong. A
// user sees no other text than this line, so it is compared as a whole. The kinds were collected from outside; other
// tests hold the lines about shapes (test_tape.cpp) and about the compiler's refusals (test_seal.cpp).
#include <algorithm>

#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

/// A small tape, on which each row does something wrong.
struct Bench {
  std::shared_ptr<Backend> backend = make_cpu_backend(1);
  Store store{*backend};
  Tape t{store}, other{store};

  ValueId x() { return t.input("x", {4, 8}); }
  ValueId y() { return t.input("y", {4}, DType::I32); }
  /// A value of the tape `other`, whose index x has on this one.
  ValueId foreign() {
    x();
    return other.input("q", {3, 3});
  }
  ValueId net() { return softmax_xent(t, "loss", linear(t, "o", x(), 3), y()); }
  Program sealed(const SealOptions& options = {}) {
    const bool first = !store.materialized();
    if (first) store.materialize(1);
    return seal(t, options);
  }
  Program weighted() {
    const ValueId out = linear(t, "o", x(), 3);
    const ValueId loss = softmax_xent(t, "loss", out, y(), t.input("weights", {4}));
    return sealed({.loss = loss});
  }
  Program step(SealOptions options = {}) {
    options.loss = net();
    return sealed(options);
  }
};

struct Row {
  const char* mistake;
  void (*run)(Bench&);
  const char* line;
};

const Row kRecording[] = {
    {"an input is none", [](Bench& b) { relu(b.t, "r", kNone); },
     "[relu r] input 1 is kNone: expected a value of this tape"},
    {"a norm with an epsilon below zero",
     [](Bench& b) { layer_norm(b.t, "n", NormKind::Simple, b.x(), kNone, kNone, -1); },
     "[layer_norm n] an epsilon of -1: expected a finite number from 0 on"},
    {"an input is none where the width is read", [](Bench& b) { linear(b.t, "l", kNone, 3); },
     "[linear l] input 1 is kNone: expected a value of this tape"},
    {"an index that no value has",
     [](Bench& b) {
       b.x();
       relu(b.t, "r", 77);
     },
     "[relu r] input 1 is value 77: expected one of the 1 of this tape"},
    {"a value of another tape", [](Bench& b) { relu(b.t, "r", b.foreign()); },
     "[relu r] input 1 is value 0 of another tape: expected a value of this one"},
    {"a second input of another tape",
     [](Bench& b) {
       const ValueId q = b.foreign();
       multiply(b.t, "m", b.t.find("x"), q);
     },
     "[multiply m] input 2 is value 0 of another tape: expected a value of this one"},
    {"a norm of another tape's value", [](Bench& b) { layer_norm(b.t, "n", b.foreign()); },
     "[layer_norm n] input 1 is value 0 of another tape: expected a value of this one"},
    {"a shape of another tape's value", [](Bench& b) { b.t.shape(b.foreign()); },
     "[tape] it is value 0 of another tape: expected a value of this one"},
    {"a product of integers",
     [](Bench& b) {
       linear(b.t, "l", b.t.input("x", {4, 8}, DType::I32), 3);
     },
     "[linear l] input 1, 'x' (4,8), holds integers: expected reals"},
    {"a sum with integers",
     [](Bench& b) {
       const ValueId x = b.x();
       add(b.t, "a", x, b.t.input("k", {4, 8}, DType::I32));
     },
     "[add a] input 2, 'k' (4,8), holds integers: expected reals"},
    {"real targets",
     [](Bench& b) {
       const ValueId x = b.x();
       softmax_xent(b.t, "ce", x, b.t.input("y", {4}));
     },
     "[softmax_xent ce] input 2, 'y' (4), holds reals: expected integers"},
    {"integer weights of a loss",
     [](Bench& b) {
       const ValueId x = b.x(), y = b.y();
       softmax_xent(b.t, "ce", x, y, y);
     },
     "[softmax_xent ce] input 3, 'y' (4), holds integers: expected reals"},
    {"a target of another shape",
     [](Bench& b) {
       const ValueId x = b.x();
       mean_squared_error(b.t, "e", x, b.t.input("t", {4, 7}));
     },
     "[squared_error e] prediction (4,8) and target (4,7) differ: expected the same shape"},
    {"weights of numbers instead of rows",
     [](Bench& b) {
       const ValueId x = b.x(), t = b.t.input("t", {4, 8});
       mean_squared_error(b.t, "e", x, t, t);
     },
     "[squared_error e] weights (4,8) must be 4 numbers, one a row"},
    {"a scope without a name", [](Bench& b) { const auto in = b.t.scope(""); },
     "[tape] a scope '': expected a name such as L01"},
    {"a layer recorded twice in a scope",
     [](Bench& b) {
       const auto in = b.t.scope("L01");
       relu(b.t, "r", b.x());
       relu(b.t, "r", b.t.find("L01.x"));
     },
     "[relu] the name L01.r is taken: expected a new one"},
    {"real tokens",
     [](Bench& b) {
       b.store.declare("table", {9, 8}, {});
       embedding(b.t, "e", b.t.input("tokens", {2, 3}), b.t.parameter("table"), kNone, 1);
     },
     "[embedding e] input 1, 'tokens' (2,3), holds reals: expected integers"},
    {"real lengths",
     [](Bench& b) {
       const ValueId x = b.t.input("x", {2, 3, 4});
       mean_pool(b.t, "m", x, b.t.input("lengths", {2}));
     },
     "[mean_pool m] input 2, 'lengths' (2), holds reals: expected integers"},
    {"an empty batch",
     [](Bench& b) {
       b.t.input("x", {0, 8});
     },
     "[tape] input 'x' (0,8): expected dimensions of at least 1"},
    {"a gradient of integers", [](Bench& b) { b.t.input("y", {4}, DType::I32, {.gradient = true}); },
     "[tape] input 'y' (4) holds integers and cannot have a gradient: expected reals"},
    {"a negative dimension",
     [](Bench& b) {
       b.t.input("x", {-4, 8});
     },
     "[tape] input 'x' (-4,8): expected dimensions of at least 1"},
    {"a negative number of outputs", [](Bench& b) { linear(b.t, "l", b.x(), -3); },
     "[store] parameter l.w (8,-3): expected dimensions of at least 1"},
    {"no outputs", [](Bench& b) { linear(b.t, "l", b.x(), 0); },
     "[store] parameter l.w (8,0): expected dimensions of at least 1"},
    {"negative dimensions whose product fits",
     [](Bench& b) {
       reshape(b.t, "r", b.x(), {-4, -8});
     },
     "[reshape r] the shape (-4,-8): expected dimensions of at least 1"},
    {"five dimensions",
     [](Bench& b) {
       b.t.input("x", {1, 2, 3, 4, 5});
     },
     "[shape] 5 dimensions: expected at most four"},
    {"no dimensions", [](Bench& b) { b.t.input("x", {}); },
     "[tape] input 'x' has no dimensions: expected one to four"},
    {"more numbers than any machine has",
     [](Bench& b) {
       b.t.input("x", {int64_t{1} << 40, 2});
     },
     "[tape] input 'x' (1099511627776,2): expected at most 2^40 numbers"},
    {"a product of dimensions that overflows",
     [](Bench& b) {
       b.store.declare("w", {int64_t{1} << 33, int64_t{1} << 33}, {});
     },
     "[store] parameter w (8589934592,8589934592): expected at most 2^40 numbers"},
    {"a parameter with the name of an input",
     [](Bench& b) {
       b.x();
       b.store.declare("x", {8, 3}, {});
       b.t.parameter("x");
     },
     "[tape] parameter 'x' has the name of another value (4,8): expected names of their own"},
    {"an input with the name of a parameter",
     [](Bench& b) {
       b.store.declare("x", {8, 3}, {});
       b.x();
     },
     "[tape] input 'x' has the name of a parameter: expected names of their own"},
    {"a layer with the name of an input",
     [](Bench& b) {
       const ValueId w = b.t.input("l.w", {4, 8});
       linear(b.t, "l", w, 3);
     },
     "[tape] parameter 'l.w' has the name of another value (4,8): expected names of their own"},
    {"a parameter that nobody declared", [](Bench& b) { b.t.parameter("w"); },
     "[tape] parameter 'w' is not declared: expected Store::declare before recording"},
    {"an op with the name of an input", [](Bench& b) { relu(b.t, "x", b.x()); },
     "[relu] the name x is taken: expected a new one"},
    {"a norm whose statistics have the name of an input",
     [](Bench& b) {
       b.t.input("n.mean", {4});
       layer_norm(b.t, "n", b.x());
     },
     "[layer_norm] the name n.mean is taken: expected a new one"},
    {"the constants of another op",
     [](Bench& b) {
       const ValueId x = b.x();
       b.t.add_node({.op = OpKind::Relu, .name = "r", .in = {x}, .attributes = SoftCapSpec{2}}, {4, 8});
     },
     "[relu] r has the constants of the op soft_cap: expected its own"},
    {"a node of too many inputs",
     [](Bench& b) {
       const ValueId x = b.x();
       b.t.add_node({.op = OpKind::Relu, .name = "r", .in = {x, x}}, {4, 8});
     },
     "[relu] r has 2 inputs: expected 1, those that are left out as kNone"},
    {"an instruction after the update that reads another tape's value",
     [](Bench& b) {
       const ValueId q = b.foreign();
       b.t.after_update({.op = OpKind::Relu, .name = "after", .in = {q}});
     },
     "[relu after] input 1 is value 0 of another tape: expected a value of this one"},
    {"a probe on another tape's value", [](Bench& b) { probe_mean_square(b.t, "p", b.foreign()); },
     "[probe p] it is value 0 of another tape: expected a value of this one"},
    {"a probe on nothing", [](Bench& b) { probe_mean_square(b.t, "p", kNone); },
     "[probe p] it is kNone: expected a value of this tape"},
    {"two probes of one name",
     [](Bench& b) {
       const ValueId x = b.x();
       probe_mean_square(b.t, "p", x);
       probe_mean_square(b.t, "p", relu(b.t, "r", x));
     },
     "[probe p] there is a probe of that name: expected names of their own"},
    {"a probe with real lengths",
     [](Bench& b) {
       const ValueId x = b.t.input("x", {2, 3, 4});
       b.t.probe({.name = "p", .value = x, .lengths = b.t.input("lengths", {2})});
     },
     "[probe p] lengths 'lengths' (2) of 'x' (2,3,4): expected integers (B) of a value (B,T,..)"},
    {"a tape that was moved away",
     [](Bench& b) {
       const Tape moved = std::move(b.t);
       b.x();  // NOLINT(bugprone-use-after-move)
     },
     "[tape] it was moved away: expected the Tape that has its nodes"},
};

const Row kSealing[] = {
    {"an empty tape", [](Bench& b) { b.sealed(); }, "[seal] nothing is recorded: expected at least one op"},
    {"an input alone",
     [](Bench& b) {
       b.x();
       b.sealed();
     },
     "[seal] nothing is recorded: expected at least one op"},
    {"a loss that is no value",
     [](Bench& b) {
       b.net();
       b.sealed({.loss = 99});
     },
     "[seal] the loss is value 99: expected one of the 8 of this tape"},
    {"a loss of another tape",
     [](Bench& b) {
       const ValueId q = b.other.input("q", {1});
       b.net();
       b.sealed({.loss = q});
     },
     "[seal] the loss is value 0 of another tape: expected a value of this one"},
    {"a loss of many numbers",
     [](Bench& b) {
       const ValueId h = linear(b.t, "l", b.x(), 3);
       b.sealed({.loss = h});
     },
     "[seal] the loss l has 12 numbers: expected one"},
    {"a kept gradient of another tape",
     [](Bench& b) {
       const ValueId q = b.other.input("q", {1}), loss = b.net();
       b.sealed({.loss = loss, .reuse_bytes = true, .kept_gradients = {&q, 1}});
     },
     "[seal] a kept gradient is value 0 of another tape: expected a value of this one"},
    {"an update that updates nothing", [](Bench& b) { b.step({.update = OpKind::Relu}); },
     "[seal] relu does not update parameters: expected an op that does, or kNoOp"},
    {"nothing to train",
     [](Bench& b) {
       const ValueId x = b.x();
       const ValueId loss = softmax_xent(b.t, "loss", x, b.y());
       b.sealed({.loss = loss});
     },
     "[seal] the loss loss depends on no trainable parameter: expected one, or update = kNoOp"},
    {"nothing to train but an input's gradient",
     [](Bench& b) {
       const ValueId x = b.t.input("x", {4, 8}, DType::F32, {.gradient = true});
       const ValueId loss = softmax_xent(b.t, "loss", x, b.y());
       b.sealed({.loss = loss});
     },
     "[seal] the loss loss depends on no trainable parameter: expected one, or update = kNoOp"},
    {"a store without memory",
     [](Bench& b) {
       const ValueId loss = b.net();
       seal(b.t, {.loss = loss});
     },
     "[seal] the Store has no memory yet: expected Store::materialize() first"},
    {"an update without moments",
     [](Bench& b) {
       const ValueId loss = b.net();
       b.store.materialize_values();
       seal(b.t, {.loss = loss});
     },
     "[seal] the Store has values alone: expected Store::materialize() for a step that updates them"},
    {"a gradient's probe where none arrives",
     [](Bench& b) {
       const ValueId loss = b.net();
       b.t.probe({.name = "p", .value = b.t.find("x"), .of_gradient = true});
       b.sealed({.loss = loss});
     },
     "[probe p] x is never written: expected a value of this tape that has a gradient"},
};

const Row kReplaying[] = {
    {"a step without a rate", [](Bench& b) { b.step().replay({}); },
     "[program] the step updates 2 parameters and has no rate: expected StepInputs::lr"},
    {"a rate that is none", [](Bench& b) { b.step().replay(Adam{.lr = std::nanf("")}.step(1)); },
     "[adam] a rate of nan: expected a finite number"},
    {"Adam's means that grow", [](Bench& b) { b.step().replay(Adam{.beta1 = 2}); },
     "[adam] beta1 2 and beta2 0.98: expected both from 0 to below 1"},
    {"a decay that is none", [](Bench& b) { b.step().replay(Adam{.weight_decay = std::nanf("")}); },
     "[adam] eps 1e-09 and a weight decay of nan: expected at least 0, and a finite number"},
    {"a clip below zero",
     [](Bench& b) {
       StepInputs in = Adam{}.step(1);
       in.clip = -1;
       b.step({.clip = true}).replay(in);
     },
     "[program] a clip of -1: expected a norm, or 0 for none"},
    {"the loss of a program without one",
     [](Bench& b) {
       relu(b.t, "r", b.x());
       b.sealed().loss();
     },
     "[program] it has no loss: expected SealOptions::loss"},
    {"a rule for a program that updates nothing", [](Bench& b) { b.step({.update = kNoOp}).replay(Adam{}); },
     "[program] it updates nothing: expected replay({}), or a program with an update"},
    {"Adam's step 0", [](Bench& b) { b.step().replay(Adam{}.step(0)); }, "[adam] step 0: expected 1, 2, ..."},
    {"a clip that was not sealed",
     [](Bench& b) {
       StepInputs in = Adam{}.step(1);
       in.clip = 0.25f;
       b.step().replay(in);
     },
     "[program] a clip of 0.25 for a program sealed without one: expected SealOptions::clip"},
    {"dropout without scale",
     [](Bench& b) {
       StepInputs in = Adam{}.step(1);
       in.dropout[0].threshold = 1u << 31;
       b.step().replay(in);
     },
     "[program] dropout of 0.5 with a scale of 1: expected DropoutInputs::of"},
    {"dropout of everything", [](Bench&) { DropoutInputs::of(1); },
     "[dropout] a probability of 1: expected one from 0 to below 1"},
    {"an input of another name", [](Bench& b) { b.step().floats("X"); },
     "[program] there is no value named 'X' on this tape"},
    {"integers as reals", [](Bench& b) { b.step().floats("y"); },
     "[program] 'y' is not a batch input of real numbers"},
    {"a parameter as an input", [](Bench& b) { b.step().floats("o.w"); },
     "[program] 'o.w' is not a batch input of real numbers"},
    {"a stat of another name", [](Bench& b) { b.step().stat("o.w.gradnorm"); },
     "[program] there is no stat named 'o.w.gradnorm'"},
    {"the gradient of an unused parameter",
     [](Bench& b) {
       b.store.declare("w", {8, 3}, {});
       b.t.parameter("w");
       b.step().read("w", true);
     },
     "[program] 'w' has no gradient: expected a value on the way to the loss, from a trainable parameter or "
     "an input with InputOptions::gradient"},
    {"the gradient of an input that did not ask for one", [](Bench& b) { b.step().read("x", true); },
     "[program] 'x' has no gradient: expected a value on the way to the loss, from a trainable parameter or "
     "an input with InputOptions::gradient"},
    {"the gradient of an input that the loss does not use",
     [](Bench& b) {
       b.t.input("beside", {2}, DType::F32, {.gradient = true});
       b.step().read("beside", true);
     },
     "[program] 'beside' has no gradient: expected a value on the way to the loss, from a trainable parameter "
     "or an input with InputOptions::gradient"},
    {"the gradient of a loss's weights",
     [](Bench& b) {
       const ValueId x = b.x(), w = b.t.input("w", {4}, DType::F32, {.gradient = true});
       const ValueId loss = softmax_xent(b.t, "loss", linear(b.t, "o", x, 3), b.y(), w);
       b.sealed({.loss = loss}).read("w", true);
     },
     "[program] 'w' has no gradient: expected a value on the way to the loss, from a trainable parameter or "
     "an input with InputOptions::gradient"},
    {"probabilities that are not stored",
     [](Bench& b) {
       const ValueId x = b.t.input("q", {2, 3, 4});
       attention(b.t, "a", x, x, x, kNone, {});
       b.sealed({.keep_probabilities = false}).read("a.probabilities");
     },
     "[program] 'a.probabilities' is not stored: expected SealOptions::keep_probabilities"},
    {"a value that another program overwrote",
     [](Bench& b) {
       linear(b.t, "l", b.x(), 3);
       relu(b.other, "r", b.other.input("z", {4, 8}));
       Program first = b.sealed({.reuse_bytes = true}), second = seal(b.other, {.reuse_bytes = true});
       first.replay({});
       second.replay({});
       first.read("l");
     },
     "[program] 'l' gave its memory to another program: expected reading before that one's replay"},
    {"a part beyond the end",
     [](Bench& b) {
       std::vector<float> numbers(8);
       b.step().read_part(b.t.find("o"), numbers, 5);
     },
     "[program] 'o' holds 12 numbers and is read from 5 to 13: expected within"},
    {"a part of another tape's value",
     [](Bench& b) {
       const ValueId q = b.other.input("q", {1});
       std::vector<float> numbers(1);
       b.step().read_part(q, numbers);
     },
     "[program] value 0 is none of its tape: expected one of 8"},
    {"the rows of a loss that has none",
     [](Bench& b) {
       linear(b.t, "l", b.x(), 1);
       b.sealed().counted_rows();
     },
     "[program] the loss does not count rows: expected one of softmax_xent or mean_squared_error"},
    {"a short batch for a loss without weights", [](Bench& b) { b.step().fill_rows(3); },
     "[program] the loss loss has no input of weights: expected one for each row"},
    {"a short batch for a loss that has no rows",
     [](Bench& b) {
       linear(b.t, "l", b.x(), 1);
       b.sealed().fill_rows(3);
     },
     "[program] the loss does not count rows: expected one of softmax_xent or mean_squared_error"},
    {"more rows than were sealed", [](Bench& b) { b.weighted().fill_rows(5); },
     "[program] a batch of 5 rows: expected 0 to 4"},
    {"fewer rows than none", [](Bench& b) { b.weighted().fill_rows(-1); },
     "[program] a batch of -1 rows: expected 0 to 4"},
    {"a program that was moved away",
     [](Bench& b) {
       Program program = b.step();
       const Program moved = std::move(program);
       program.replay(Adam{}.step(1));  // NOLINT(bugprone-use-after-move)
     },
     "[program] it was moved away: expected the Program that has its memory"},
};

const Row kStore[] = {
    {"a parameter beyond the last",
     [](Bench& b) {
       b.step();
       b.store.read(5);
     },
     "[store] there is no parameter 5: expected one of 2, from 0"},
    {"a parameter before the first",
     [](Bench& b) {
       b.step();
       b.store.write(-1, std::vector<float>(1));
     },
     "[store] there is no parameter -1: expected one of 2, from 0"},
    {"a part beyond a parameter's end",
     [](Bench& b) {
       std::vector<float> numbers(3);
       b.step();
       b.store.read_part(b.store.find("o.w"), 22, numbers);
     },
     "[store] o.w holds 24 numbers and is read from 22 to 25: expected within"},
    {"too few numbers",
     [](Bench& b) {
       b.step();
       b.store.write(0, std::vector<float>(5));
     },
     "[store] o.w holds 24 numbers and is written with 5: expected as many"},
    {"an initial value that is none",
     [](Bench& b) {
       b.store.declare("w", {2}, {Init::Kind::Normal, std::nan("")});
     },
     "[store] parameter w has an Init of nan: expected a finite number"},
    {"threads below zero", [](Bench&) { make_cpu_store(1, -5); },
     "[cpu] -5 threads: expected 0, which is one a core, to 1024"},
    {"more threads than any machine has", [](Bench&) { make_cpu_backend(100000); },
     "[cpu] 100000 threads: expected 0, which is one a core, to 1024"},
    {"reading without memory",
     [](Bench& b) {
       b.net();
       b.store.read(0);
     },
     "[store] the parameters have no memory yet: expected materialize() or the first seal() before"},
    {"moments that were never made",
     [](Bench& b) {
       b.net();
       b.store.materialize_values();
       b.store.read(0, Store::Block::M);
     },
     "[store] the parameters have no memory yet: expected materialize() or the first seal() before"},
    {"memory made twice",
     [](Bench& b) {
       b.store.materialize(1);
       b.store.materialize(2);
     },
     "[store] materialize() was called twice: expected once"},
    {"a declaration that comes too late",
     [](Bench& b) {
       b.store.materialize(1);
       linear(b.t, "l", b.x(), 3);
     },
     "[store] parameter l.w is declared after materialize() or the first seal(): expected before"},
    {"the same name with another shape",
     [](Bench& b) {
       b.store.declare("w", {8, 3}, {});
       b.store.declare("w", {3, 8}, {});
     },
     "[store] parameter w has shape (8,3) and is declared again as (3,8): expected the same shape"},
    {"a rate's scale of an unknown parameter", [](Bench& b) { b.store.scale_steps("w", {}); },
     "[store] w was not declared: expected a parameter"},
    {"a store that was moved away",
     [](Bench& b) {
       const Store moved = std::move(b.store);
       b.store.read(0);  // NOLINT(bugprone-use-after-move)
     },
     "[store] it was moved away: expected the Store that has its parameters"},
};

void check_rows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    INFO(row.mistake);
    Bench bench;
    CHECK(error_of([&] { row.run(bench); }) == std::string(row.line));
  }
}

}  // namespace

TEST_CASE("misuse: a wrong call on a tape is refused where it stands", "[misuse]") { check_rows(kRecording); }
TEST_CASE("misuse: what cannot be sealed is refused", "[misuse]") { check_rows(kSealing); }
TEST_CASE("misuse: a wrong step and a wrong question to a program are refused", "[misuse]") {
  check_rows(kReplaying);
}
TEST_CASE("misuse: a wrong use of a store is refused", "[misuse]") { check_rows(kStore); }

TEST_CASE("misuse: an op that reads the constants of another is told so", "[misuse]") {
  const Attributes constants = DropoutSpec{};
  CHECK_THROWS_WITH(constants.as<NormSpec>(),
                    "an op read the constants of another: expected a kOp of its own");
}

TEST_CASE("misuse: a probe measures inputs and parameters as well", "[misuse]") {
  Bench b;
  const ValueId loss = b.net();
  probe_mean_square(b.t, "of.x", b.t.find("x"));
  probe_mean_square(b.t, "of.w", b.t.find("o.w"));
  Program program = b.sealed({.loss = loss});
  std::ranges::fill(program.floats("x"), 3.0f);
  double square = 0;
  for (const float w : b.store.read(b.store.find("o.w"))) square += static_cast<double>(w) * w / 24;
  program.replay(Adam{.lr = 0.5f}.step(1));
  CHECK(program.stat("of.x") == 9.0);
  CHECK(program.stat("of.w") == Approx(square));  // as the step found it
}

TEST_CASE("misuse: a loss tells how many rows count", "[misuse]") {
  Bench b;
  Program program = b.step();
  const auto rows_with = [&](std::vector<int32_t> classes) {
    std::ranges::copy(classes, program.tokens("y").begin());
    program.replay(Adam{.lr = 0}.step(1));
    return program.counted_rows();
  };
  CHECK(rows_with({0, 2, -1, 1}) == 3);
  CHECK(rows_with({3, 99, -1, 7}) == 0);
  CHECK(program.loss() == 0);
}

TEST_CASE("misuse: a squared error tells how many rows count") {
  Bench b;
  const ValueId x = b.x(), w = b.t.input("w", {4});
  const ValueId loss = mean_squared_error(b.t, "loss", linear(b.t, "o", x, 2), b.t.input("t", {4, 2}), w);
  Program program = b.sealed({.loss = loss});
  std::ranges::copy(std::vector<float>{0.5f, 0, 2, 0}, program.floats("w").begin());
  program.replay(Adam{.lr = 0}.step(1));
  CHECK(program.counted_rows() == 2);
}

TEST_CASE("misuse: an Error while recording leaves tape and store as they were", "[misuse]") {
  Bench b;
  const ValueId x = b.x();
  linear(b.t, "h", x, 32);
  const size_t values = b.t.values().size(), floats = b.store.size();
  const auto recorded_nothing = [&](void (*record)(Tape&, ValueId)) {
    CHECK_THROWS_AS(record(b.t, x), Error);
    return b.t.values().size() == values && b.store.size() == floats && b.store.parameters().size() == 2 &&
           b.t.nodes().size() == 1;
  };
  CHECK(recorded_nothing([](Tape& t, ValueId v) { linear(t, "h", v, 32); }));  // known parameters
  CHECK(
      recorded_nothing([](Tape& t, ValueId v) { linear(t, "x", v, 16); }));  // new ones, a name that is taken
  CHECK(recorded_nothing([](Tape& t, ValueId v) { layer_norm(t, "x", v); }));
  CHECK(b.store.find("x.w") == -1);
  linear(b.t, "g", x, 16);  // what was taken back is free
}

TEST_CASE("misuse: a tape that an Error ends takes back what it declared", "[misuse]") {
  Bench b;
  linear(b.other, "kept", b.other.input("x", {4, 8}), 3);
  const auto record = [&](int64_t width, bool twice) {
    Tape t(b.store);
    const ValueId x = t.input("x", {4, 8});
    linear(t, "kept", x, 3);
    linear(t, "h", x, width);
    if (twice) linear(t, "h", x, width);
  };
  CHECK_THROWS_AS(record(32, true), Error);
  CHECK(b.store.parameters().size() == 2);  // those of the other tape
  record(64, false);                        // another width is none of the Store's business
  CHECK(b.store.at(b.store.find("h.w")).shape == Shape{8, 64});
  CHECK_THROWS_AS(record(64, true), Error);  // a tape that ended well named them: they stay
  CHECK(b.store.parameters().size() == 4);
}

}  // namespace normscope::test
