// Whole runs under Muon.
#include <algorithm>

#include "engine/support/named_placements.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("optimizers: Muon's momentum is no moment of Adam's, and its first step has the size of Adam's") {
  CHECK_FALSE(shares_moments(Optimizer::Muon, Optimizer::AdamW));
  CHECK_FALSE(shares_moments(Optimizer::Muon, Optimizer::Momentum));
  RunSpec spec = spec_with("pre", {{"train.optimizer", "muon"}, {"train.weight_decay", "0"}});
  const auto run = make_run(spec);
  const int32_t matrix = run->store().find("L01.ffn.w1"), table = run->store().find("emb.tokens");
  const std::vector<float> before = run->store().read(matrix);
  run->step();
  const std::vector<float> after = run->store().read(matrix);
  double squares = 0;
  for (size_t i = 0; i < before.size(); ++i)
    squares += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
  const double rate = learning_rate(spec.train.schedule, 1);
  const double size = std::sqrt(squares / static_cast<double>(before.size())) / rate;
  CHECK(size > 0.1);  // 0.2 where all singular values were one; those of no gradient stay small
  CHECK(size < 0.24);
  const auto all_zero = [&](int32_t parameter, Store::Block block) {
    const std::vector<float> numbers = run->store().read(parameter, block);
    return std::all_of(numbers.begin(), numbers.end(), [](float v) { return v == 0; });
  };
  CHECK(all_zero(matrix, Store::Block::V));
  CHECK_FALSE(all_zero(matrix, Store::Block::M));
  CHECK_FALSE(all_zero(table, Store::Block::V));  // whatever is not a matrix of a layer has both of Adam's
}

TEST_CASE("examine: the spectrum of Muon's next update is even") {
  const auto run = make_run(spec_with("pre", {{"train.optimizer", "muon"}}), 6);
  for (const MatrixSpectra& m : next_spectra(*run)) {
    if (m.layer == 0) continue;
    INFO(m.name);
    const auto full = static_cast<double>(m.update.values.size());
    CHECK(m.update.share_at(0.5) > 0.6);
    CHECK(m.update.effective_rank() > 0.75 * full);
    CHECK(m.weights.effective_rank() < 0.8 * full);
  }
}

TEST_CASE("decayed gains: those before a matrix decay, those behind one and on the stream do not") {
  const auto decay_of = [](const char* placement, const char* gains, const char* name) {
    const auto run = make_run(spec_with(
        placement,
        {{"train.optimizer", "adamw"}, {"train.weight_decay", "0.1"}, {"train.decayed_gains", gains}}));
    const int32_t gain = run->store().find(name);
    REQUIRE(gain >= 0);
    return run->store().parameters()[static_cast<size_t>(gain)].steps.decay;
  };
  for (const char* name : {"L01.attn.before.gain", "L01.ffn.before.gain", "final.gain"}) {
    INFO(name);
    CHECK(decay_of("sandwich", "before", name) == 1);
    CHECK(decay_of("sandwich", "none", name) == 0);
  }
  CHECK(decay_of("sandwich", "before", "L01.attn.after.gain") == 0);
  CHECK(decay_of("sandwich", "every", "L01.attn.after.gain") == 1);
  CHECK(decay_of("post", "before", "L01.attn.stream.gain") ==
        0);  // the skip path reads it beside the matrices
}

TEST_CASE("decayed gains: without decay a gain moves as in a run that decays nothing, a matrix does not") {
  const auto after_one = [](const char* decay, std::vector<std::pair<const char*, const char*>> more) {
    RunSpec spec = spec_with("sandwich", {{"train.optimizer", "adamw"}, {"train.weight_decay", decay}});
    for (const auto& [key, value] : more) set_field(spec, key, value);
    return make_run(spec, 1);
  };
  const auto plain = after_one("0", {}), all = after_one("0.3", {}),
             none = after_one("0.3", {{"train.decayed_gains", "none"}});
  const auto numbers = [](Run& run, const char* name) { return run.store().read(run.store().find(name)); };
  CHECK(numbers(*none, "L01.attn.after.gain") == numbers(*plain, "L01.attn.after.gain"));
  CHECK(numbers(*all, "L01.attn.after.gain") != numbers(*plain, "L01.attn.after.gain"));
  CHECK(numbers(*none, "L01.attn.wq") == numbers(*all, "L01.attn.wq"));
  CHECK(numbers(*none, "L01.attn.wq") != numbers(*plain, "L01.attn.wq"));
}

// This test runs QK-clip in whole runs.

TEST_CASE("qk-clip: a run keeps every largest logit, clips behind its steps and goes on bitwise") {
  RunSpec spec = spec_with("pre", {{"train.lr", "0.03"}, {"train.qk_clip", "0.5"}});
  const auto clipped = make_run(spec, 6);
  set_field(spec, "train.qk_clip", "1e6");
  const auto measured = make_run(spec, 6);
  set_field(spec, "train.qk_clip", "0");
  const auto plain = make_run(spec, 6);
  CHECK(first_difference(plain->store(), measured->store()) == "");
  CHECK(first_difference(plain->store(), clipped->store()) != "");
  CHECK(plain->history()->find("L01.attn.batch_logit") < 0);
  const auto largest = [](Run& run) { return run.program().stat("L01.attn.batch_logit"); };
  CHECK(largest(*clipped) < largest(*measured));
  const auto resumed = reloaded(*clipped);
  steps(*clipped, 3);
  steps(*resumed, 3);
  CHECK(first_difference(clipped->store(), resumed->store()) == "");
}

TEST_CASE("qk-clip: other scores and unit vectors, which it does not know, leave it unread") {
  RunSpec relative = small_spec("pre");
  relative.model.positions = positions_or("relative", relative.model.positions);
  if (row_of(relative.model.positions).own_scores)
    CHECK(contains(unused_reason(relative, "train.qk_clip"), "model.positions is relative"));
  for (const Placement ngpt : known({"ngpt"}))
    CHECK(contains(unused_reason(small_spec(to_string(ngpt)), "train.qk_clip"), "model.placement is ngpt"));
}

}  // namespace normscope::test
