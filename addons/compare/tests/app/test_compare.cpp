// These tests compare histories made by hand: the difference and its band, the place where runs part, maps, the table,
// the axes, and what is said of a run that lacks something.
#include "catch.hpp"

#include "addons/compare/app/comparison.h"
#include "addons/compare/app/figures.h"
#include "addons/compare/app/words.h"
#include "addons/compare/tests/app/compared_runs.h"
#include "addons/recorded/training/recorded_run.h"
#include "app/plot/plot.h"
#include "engine/support/helpers.h"
#include "training/files/placement_file.h"
#include "training/measure/verdict.h"
#include "training/spec/loss_window.h"

namespace normscope::compare {
using compared::history, compared::ours, compared::theirs;
using test::contains, test::error_of;

namespace {

compared::Change added(double nats) {
  return [nats](const std::string& stat, int32_t, double value) {
    return stat == "loss" ? value + nats : value;
  };
}

/// Multiplies one norm by a factor from a step on.
struct Parting {
  std::string stat;
  int32_t step;
  double factor;
};
compared::Change parting(std::vector<Parting> partings) {
  return [partings](const std::string& stat, int32_t step, double value) {
    for (const Parting& p : partings)
      if (stat == p.stat && step >= p.step) value *= p.factor;
    return value;
  };
}

const EndRow& row_of_run(const Comparison& all, size_t run) {
  return *std::ranges::find(all.rows, run, &EndRow::run);
}

}  // namespace

TEST_CASE("compare: runs part at the first step beyond the factor, in the matrix that differs most there") {
  // Not the largest ratio anywhere (step 9), not the first matrix of that step (L01), not any difference (step 3).
  const auto other = history(20, 1,
                             parting({{"L02.ffn.w2.grad_norm", 3, 1 / 3.0},
                                      {"L01.ffn.w2.grad_norm", 5, 1 / 5.0},
                                      {"L02.attn.wk.grad_norm", 5, 1 / 8.0},
                                      {"L02.ffn.w2.grad_norm", 5, 3 / 4.5},
                                      {"L01.attn.wq.grad_norm", 9, 0.01},
                                      {"total.grad_norm", 1, 100}}));
  Comparison all = compare({ours("base", {history(20)}), ours("other", {other})});
  const FirstPlace& place = all.places[1];
  REQUIRE(place.parts);
  CHECK(place.against == Against::SameSeed);
  CHECK(place.step == 5);
  CHECK(place.layer == 2);
  CHECK(place.matrix == "W_K");
  CHECK(place.stat == "L02.attn.wk.grad_norm");
  CHECK(place.ratio == Approx(1 / 8.0).epsilon(1e-6));
  CHECK(place.equal_until == 2);
  CHECK(
      place_sentence(all, 1) ==
      "B and A part at step 5 in layer 2, W_K: its gradient size is 8× smaller than A's; equal to the bit up to "
      "step 2.");
  CHECK(place_sentence(all, 0) == "");

  all = compare(all.runs, {.factor = 2});
  CHECK(all.places[1].step == 3);
  CHECK(all.places[1].matrix == "W₂");
  CHECK(all.places[1].layer == 2);

  // The other one as the baseline: the same place, seen from there.
  all = compare(all.runs, {.baseline = 1});
  CHECK(all.places[0].step == 5);
  CHECK(all.places[0].ratio == Approx(8).epsilon(1e-6));
  CHECK_FALSE(all.places[1].parts);
}

TEST_CASE("compare: norms that part nowhere, from the first step on, and that are zero") {
  const auto larger = history(20, 1, parting({{"L01.attn.wq.grad_norm", 7, 3.9}}));
  Comparison all = compare({ours("base", {history(20)}), ours("other", {larger})});
  CHECK_FALSE(all.places[1].parts);
  CHECK(all.places[1].most == Approx(3.9).epsilon(1e-6));
  CHECK(all.places[1].most_step == 7);
  CHECK(place_sentence(all, 1) == "B and A part nowhere by more than 4×: 3.9× at most, at step 7.");

  all = compare({ours("base", {history(20)}),
                 ours("other", {history(20, 1, parting({{"L01.attn.wq.grad_norm", 1, 5}}))})});
  CHECK(all.places[1].step == 1);
  CHECK(contains(place_sentence(all, 1), "5× larger than A's, from the first step on."));

  all = compare({ours("base", {history(20)}),
                 ours("other", {history(20, 1, parting({{"L01.attn.wq.grad_norm", 4, 0}}))})});
  CHECK(all.places[1].step == 4);
  CHECK(contains(place_sentence(all, 1), "is zero, unlike A's; equal to the bit up to step 3."));
}

TEST_CASE("compare: a run with other batches is held against the range of the baseline's seeds") {
  const auto scaled = [](uint64_t seed, double factor) {
    return history(20, seed, parting({{"L01.ffn.w2.grad_norm", 1, factor}}));
  };
  const Recording base = ours("base", {scaled(1, 1), scaled(2, 1.5), scaled(3, 2)});
  Comparison all = compare({base, theirs("port", scaled(1, 7.8))});
  CHECK(all.places[1].against == Against::Seeds);
  CHECK_FALSE(all.places[1].parts);  // 7.8 times the first seed, but 3.9 times the largest
  CHECK(all.places[1].most == Approx(3.9).epsilon(1e-6));
  CHECK(contains(place_sentence(all, 1), "it leaves the range of A's 3 seeds by 3.9× at most, at step 1."));
  all = compare({base, theirs("port", scaled(1, 0.2))});
  CHECK(all.places[1].parts);
  CHECK(all.places[1].ratio == Approx(0.2).epsilon(1e-6));  // under the lowest of them
  all = compare({base, theirs("port", scaled(1, 1.7))});
  CHECK(all.places[1].most == 1);
  CHECK(all.maps[1].at(1, 0) == Approx(std::log10(1.7 / std::cbrt(1 * 1.5 * 2))).epsilon(1e-4));
}

TEST_CASE("compare: same seed minus same seed, though the seeds lie far apart") {
  std::vector<std::shared_ptr<History>> base, other;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    base.push_back(history(60, seed));  // 3.1, 3.2, 3.3
    other.push_back(history(60, seed, added(-0.15)));
  }
  Comparison all = compare({ours("base", base), ours("other", other)});
  const Difference& d = all.differences[1];
  CHECK(d.against == Against::SameSeed);
  REQUIRE(d.smooth.steps.size() == 60);
  for (size_t i = 0; i < 60; ++i) {
    CHECK(d.smooth.mean[i] == Approx(-0.15).epsilon(1e-5));
    CHECK(d.smooth.high[i] - d.smooth.low[i] < 1e-5);  // the range of the losses is 0.2
  }
  CHECK(d.band_low == Approx(-0.1).epsilon(1e-5));
  CHECK(d.band_high == Approx(0.1).epsilon(1e-5));
  CHECK(d.luck == Luck::Outside);
  CHECK(d.words() == "better, 3 of 3");
  CHECK(difference_sentence(all) == "B ends 0.15 below A, in 3 of 3 seeds.");
  CHECK(all.differences[0].against == Against::Itself);
  CHECK(all.differences[0].smooth.low[0] == Approx(-0.1).epsilon(1e-5));
  REQUIRE(all.losses[1].seeds.low.size() == 60);
  CHECK(all.losses[1].seeds.high[5] - all.losses[1].seeds.low[5] == Approx(0.2).epsilon(1e-5));

  // The order of the seeds does not matter: pairs are found by their number.
  Recording turned = ours("other", other);
  std::ranges::reverse(turned.seeds);
  all = compare({ours("base", base), turned});
  CHECK(all.differences[1].smooth.low[0] == Approx(-0.15).epsilon(1e-5));
}

TEST_CASE("compare: what ends inside the baseline's own band may be luck") {
  std::vector<std::shared_ptr<History>> base;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    base.push_back(history(60, seed));  // 3.2 in the mean, 3.1 to 3.3
  Comparison all = compare({ours("base", base), theirs("port", history(60, 1, added(0.16)))});  // 3.26
  CHECK(all.differences[1].against == Against::Seeds);
  CHECK(all.differences[1].end == Approx(0.06).epsilon(1e-4));
  CHECK(all.differences[1].luck == Luck::Inside);
  CHECK(difference_sentence(all) == "B ends inside the band of A's own seeds: it may be luck.");
  all = compare({ours("base", base), theirs("port", history(60, 1, added(0.26)))});
  CHECK(all.differences[1].luck == Luck::Outside);
  CHECK(all.differences[1].words() == "worse, 1 seed");

  // Outside in the mean, with a seed on the other side: not "3 of 3".
  std::vector<std::shared_ptr<History>> mixed;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    mixed.push_back(history(60, seed, added(seed == 2 ? 0.02 : -0.4)));
  all = compare({ours("base", base), ours("other", mixed)});
  CHECK(all.differences[1].words() == "better, 2 of 3");
}

TEST_CASE("compare: with one seed luck cannot be told") {
  const Comparison all = compare({ours("base", {history(40)}), ours("other", {history(40, 1, added(-0.5))})});
  CHECK(all.differences[1].luck == Luck::OneSeed);
  CHECK(std::isnan(all.differences[1].band_low));
  CHECK(all.differences[0].smooth.x.empty());
  CHECK(all.losses[0].seeds.x.empty());
  CHECK(all.differences[1].words() == "one seed: luck cannot be told");
  CHECK(std::isnan(row_of_run(all, 0).deviation));
}

TEST_CASE("compare: the difference is a mean over nine steps and ends with the shorter run") {
  const auto spike = [](const std::string& stat, int32_t step, double value) {
    return stat == "loss" && step == 20 ? value + 9 : value;
  };
  const Comparison all = compare({ours("base", {history(50)}), ours("other", {history(30, 1, spike)})});
  const Spread& d = all.differences[1].smooth;
  REQUIRE(d.steps.size() == 30);
  for (size_t i = 0; i < d.steps.size(); ++i) {
    INFO(d.steps[i]);
    // The last window that the spike is in has its nine steps; those at the end have fewer.
    CHECK(d.mean[i] == Approx(std::abs(d.steps[i] - 20) <= 4 ? 1.0 : 0.0).margin(1e-5));
  }
  CHECK(all.differences[1].end == Approx(9.0 / kLossWindow).epsilon(1e-5));  // steps 6 to 30
  CHECK(row_of_run(all, 0).last_step == 50);
  CHECK(row_of_run(all, 1).last_step == 30);
  CHECK(all.losses[0].shown.x.back() == 50);
}

TEST_CASE("compare: runs that are the same to the bit say so, and one bit is enough to differ") {
  Comparison all = compare({ours("base", {history(30)}), ours("copy", {history(30)})});
  CHECK(all.same);
  CHECK(all.differences[1].luck == Luck::Same);
  CHECK(settings_sentence(all) == "These runs are the same to the bit.");
  CHECK(place_sentence(all, 1) == "B and A: every gradient size is equal to the bit.");
  const auto bit = [](const std::string& stat, int32_t step, double value) {
    const auto single = static_cast<float>(value);
    return stat == "L02.attn.wq.grad_norm" && step == 3 ? static_cast<double>(std::nextafter(single, 1.f))
                                                        : value;
  };
  all = compare({ours("base", {history(30)}), ours("copy", {history(30, 1, bit)})});
  CHECK_FALSE(all.same);
  CHECK(all.places[1].equal_until == 2);
  CHECK_FALSE(all.places[1].equal);
  all = compare({ours("base", {history(30)}), ours("copy", {history(29)})});
  CHECK_FALSE(all.same);
}

TEST_CASE("compare: a log without gradients has a line and no map, and says what is missing") {
  const auto without = [] { return history(30, 1, compared::unchanged, false); };
  Comparison all = compare({ours("base", {history(30)}), theirs("port", without())});
  CHECK(all.maps[1].steps.empty());
  CHECK(all.maps[1].lacks == "gradient size of W₂: not in its log");
  CHECK(map_sentence(all, 1) == "gradient size of W₂: not in its log.");
  CHECK(all.places[1].lacks == "gradient sizes: not in its log");
  CHECK_FALSE(all.losses[1].shown.empty());
  CHECK(contains(settings_sentence(all), "B does not say its settings"));
  // Another metric is there.
  all = compare(all.runs, {.metric = panels::Metric::UpdateRatio});
  CHECK(all.maps[1].layers == 2);
  CHECK(all.maps[1].at(2, 29) == 0);
  // The baseline is the one that lacks it.
  all = compare(all.runs, {.baseline = 1});
  CHECK(all.maps[0].lacks == "gradient size of W₂: not in its log (the baseline's)");
}

TEST_CASE("compare: a map is the logarithm of the ratio, layer by layer and step by step") {
  const auto other =
      history(12, 1, parting({{"L01.ffn.w2.grad_norm", 4, 1e-3}, {"L02.ffn.w2.grad_norm", 8, 10}}));
  const Comparison all = compare({ours("base", {history(12)}), ours("other", {other})});
  const RatioMap& map = all.maps[1];
  REQUIRE(map.layers == 2);
  REQUIRE(map.steps.size() == 12);
  for (size_t i = 0; i < 12; ++i) {
    const int32_t step = map.steps[i];
    CHECK(map.at(1, i) == Approx(step >= 4 ? -3 : 0).margin(1e-5));
    CHECK(map.at(2, i) == Approx(step >= 8 ? 1 : 0).margin(1e-5));
  }
  CHECK(map_sentence(all, 1) == "Farthest apart at step 4, layer 1: B's is 1\u2009000× smaller than A's.");
}

TEST_CASE("compare: aligned by tokens, a run of larger batches is held against the same number of tokens") {
  // Both follow 5 - tokens / 1000; 20 tokens a step and 40.
  const auto falling = [](double tokens) {
    return [tokens](const std::string& stat, int32_t step, double value) {
      return stat == "loss" ? 5 - step * tokens / 1000 : value;
    };
  };
  Recording slow = ours("20", {history(100, 1, falling(20))}),
            fast = ours("40", {history(100, 1, falling(40))});
  slow.seeds[0].measured[records::kTokensPerStep] = 20;
  fast.seeds[0].measured[records::kTokensPerStep] = 40;
  fast.spec->train.batch *= 2;
  Comparison all = compare({slow, fast}, {.align = Alignment::Tokens});
  const Difference& d = all.differences[1];
  REQUIRE(d.smooth.steps.size() == 50);  // up to 2000 tokens
  CHECK(d.smooth.x.back() == 2000);
  for (const double mean : d.smooth.mean) CHECK(mean == Approx(0).margin(1e-5));
  all = compare({slow, fast});
  CHECK(all.differences[1].against == Against::Seeds);  // other batches
  CHECK(all.differences[1].smooth.mean[49] == Approx(-1).epsilon(1e-5));

  fast.seeds[0].measured[records::kTokensPerStep] = kUnknown;
  all = compare({slow, fast}, {.align = Alignment::Tokens});
  CHECK(all.losses[1].lacks == "tokens a step: not in its log");
  CHECK(all.differences[1].luck == Luck::Unknown);
  CHECK(contains(error_of([&] {
                   compare({slow, fast}, {.baseline = 1, .align = Alignment::Tokens});
                 }),
                 "40, does not say how many tokens a step has"));
  CHECK(contains(error_of([&] {
                   compare({slow, fast}, {.align = Alignment::Time});
                 }),
                 "how long a step takes"));
}

TEST_CASE("compare: only the steps of a range count") {
  const auto other =
      history(40, 1, parting({{"L01.attn.wq.grad_norm", 5, 8}, {"L02.attn.wk.grad_norm", 12, 6}}));
  const Comparison all =
      compare({ours("base", {history(40)}), ours("other", {other})}, {.range = {{10, 20}}});
  CHECK(all.losses[0].shown.steps.size() == 11);
  CHECK(all.maps[1].steps.front() == 10);
  CHECK(all.maps[1].steps.back() == 20);
  CHECK(all.places[1].step == 10);  // by then it is far apart already
  CHECK(all.places[1].stat == "L01.attn.wq.grad_norm");
  CHECK(contains(place_sentence(all, 1), "at the first step that was compared."));
  CHECK(row_of_run(all, 1).last_step == 20);
  CHECK(error_of([&] {
          compare(all.runs, {.range = {{20, 10}}});
        }) == "[compare] steps 20 to 10: expected the lower one first");
}

TEST_CASE(
    "compare: the table has losses over the seeds, the plateau's verdict, and says why a cell is empty") {
  const auto falling = [](int32_t from) {
    return [from](const std::string& stat, int32_t step, double value) {
      return stat == "loss" ? (step < from ? 3.0 : 1.0) : value;
    };
  };
  Recording learns = ours("learns", {history(200, 1, falling(50)), history(200, 2, falling(70))}),
            stuck = ours("stuck", {history(200, 1, falling(1000))}), silent = theirs("port", history(200));
  for (SeedRecord& seed : learns.seeds) {
    seed.measured[records::kUnigram] = 2.95;
    seed.measured[records::kTokensPerStep] = 1000;
    seed.measured[records::kSecondsPerStep] = 0.5;
  }
  stuck.seeds[0].measured[records::kUnigram] = 2.95;
  const Comparison all = compare({stuck, learns, silent});
  CHECK(all.rows[0].run == 1);  // the lowest loss first
  const EndRow& row = row_of_run(all, 1);
  CHECK(row.loss == Approx(1).epsilon(1e-6));
  CHECK(row.deviation == Approx(0).margin(1e-6));
  CHECK(row.verdict == "learns 2 of 2");
  // m(t), the mean of 20 losses, falls below 2.85 with its second loss of 1: (19 * 3 + 1) / 20 is 2.9, 2.8 is below.
  REQUIRE(row.leaves);
  CHECK(*row.leaves == 51);  // the lower median of 51 and 71
  CHECK(row.update_ratio == Approx(0.02 / 4).epsilon(1e-5));
  CHECK(row.tokens_per_second == 2000);
  CHECK(row.missing.empty());
  CHECK(row_of_run(all, 0).verdict == "stuck, 1 seed");
  CHECK(*row_of_run(all, 0).leaves == 0);
  CHECK_FALSE(row_of_run(all, 2).leaves);
  CHECK(contains(missing_sentence(all),
                 "C: not in its log: the line of letter frequencies, which the verdict needs and tokens/s."));
  CHECK(loss_sentence(all) ==
        "A has not left the line of letter frequencies by step 200. B leaves it at step 51.");
  CHECK(all.unigram == 2.95);
}

TEST_CASE("compare: events and the file's word come before the losses") {
  const auto of_events = history(60);
  of_events->add_event({33, RunEvent::Kind::LeftPlateau, "leaves"});
  Recording live = ours("live", {of_events}), word = ours("log", {history(60)});
  live.seeds[0].measured[records::kUnigram] = word.seeds[0].measured[records::kUnigram] = 9;
  word.seeds[0].said = "learns since step 46";
  Comparison all = compare({live, word});
  CHECK(*row_of_run(all, 0).leaves == 33);
  CHECK(*row_of_run(all, 1).leaves == 46);
  CHECK(row_of_run(all, 1).verdict == "learns, 1 seed");
  word.seeds[0].said = "not finite at step 23";
  all = compare({live, word});
  CHECK(row_of_run(all, 1).verdict == "not finite at step 23, 1 seed");
  CHECK_FALSE(row_of_run(all, 1).leaves);
}

TEST_CASE("compare: a loss that is not finite needs no line of frequencies, and is no loss that is missing") {
  const auto from = [](int32_t first) {
    return [first](const std::string& stat, int32_t step, double value) {
      return stat == "loss" && step >= first ? std::numeric_limits<double>::quiet_NaN() : value;
    };
  };
  const Comparison all = compare({theirs("whole", history(60)), theirs("broken", history(60, 1, from(41))),
                                  ours("two", {history(60, 1, from(30)), history(60, 2, from(50))})});
  CHECK(row_of_run(all, 0).verdict.empty());
  CHECK(row_of_run(all, 1).verdict == "not finite at step 41, 1 seed");
  CHECK(row_of_run(all, 2).verdict == "not finite 2 of 2");
  CHECK_FALSE(contains(missing_sentence(all), "loss"));
  CHECK_FALSE(contains(missing_sentence(all), "B and C: not in its log: the line"));
}

TEST_CASE("compare: steps whose loss was not measured have no point, and take nothing from the verdict") {
  const auto sparse = std::make_shared<History>(std::vector<StatInfo>{});
  for (int32_t step = 1; step <= 400; ++step)
    sparse->append(step, step % 10 == 0 ? std::optional(step < 100 ? 3.0 : 1.0) : std::nullopt, 1e-3, {});
  sparse->append_validation(395, 1.5);
  Recording run = theirs("sparse", sparse);
  run.seeds[0].measured[records::kUnigram] = 2.9;
  const Comparison all = compare({run, theirs("other", history(400))});
  const EndRow& row = row_of_run(all, 0);
  CHECK(row.verdict == "learns, 1 seed");
  CHECK(row.loss == 1);
  CHECK(row.last_step == 400);
  CHECK(all.losses[0].shown.steps.size() == 40);
}

TEST_CASE("compare: what of a log could not be read is said first") {
  Recording torn = theirs("torn", history(20)), odd = theirs("odd", history(20));
  torn.read = {30, 10, {"line 21: has no step, no result and no format"}};
  odd.read = {21, 0, {"line 1: 1 of 3 names left out: \"out.z\" expected a name of ours"}};
  const Comparison all = compare({torn, theirs("whole", history(20)), odd});
  CHECK(missing_sentence(all).starts_with(
      "A: 10 of 30 lines of its log cannot be read and are left out; line 21: has no step, no result and no format. "
      "C: its log is read in part; line 1: 1 of 3 names left out: \"out.z\" expected a name of ours. "));
  CHECK(contains(unread_sentence(all), "expected a name of ours."));
  CHECK_FALSE(contains(unread_sentence(all), "B"));
}

TEST_CASE("compare: losses that are not finite are gaps, and never luck") {
  const auto broken = [](const std::string& stat, int32_t step, double value) {
    return stat == "loss" && step >= 30 ? std::numeric_limits<double>::infinity() : value;
  };
  const Comparison all = compare({ours("base", {history(60)}), ours("other", {history(60, 1, broken)})});
  CHECK(all.differences[1].luck == Luck::Unknown);
  CHECK(std::isfinite(all.differences[1].smooth.mean[24]));
  CHECK(std::isnan(all.differences[1].smooth.mean[40]));
  CHECK(all.rows.back().run == 1);
  CHECK(std::isnan(all.rows.back().loss));
}

TEST_CASE("compare: the settings that differ stand first, what a log does not say differs from nothing") {
  Recording base = ours("base", {history(5)}), other = ours("other", {history(5), history(5, 2)});
  set_field(*other.spec, "model.placement", "pre");
  set_field(*other.spec, "train.warmup", "200");
  other.settings = field_values(*other.spec);
  other.spec->name = "another name";
  Comparison all = compare({base, other, theirs("port", history(5))});
  std::vector<std::string> keys;
  for (const Setting& setting : all.settings) keys.push_back(setting.key);
  CHECK(keys == std::vector<std::string>{"model.placement", "train.warmup", "maker", "seeds"});
  const Setting& warmup = all.settings[1];
  CHECK(warmup.label == "warm-up (steps)");
  CHECK(warmup.values[0] == "0");
  CHECK(warmup.values[1] == "200");
  CHECK_FALSE(warmup.values[2]);
  CHECK(warmup.differs(1, 0));
  CHECK_FALSE(warmup.differs(2, 0));
  CHECK(all.settings[3].values == std::vector<std::optional<std::string>>{"1", "1, 2", "11, own batches"});
  CHECK(all.shared == 0);  // the third says none
  all = compare({base, other});
  CHECK(all.shared > 30);
}

TEST_CASE("compare: a run with edits has the settings that train now, and says what was changed when") {
  const Recording base = ours("base", {history(40)});
  Recording fork = ours("fork", {history(40)});
  fork.origin = fork.spec;
  RunSpec target = *fork.spec;
  for (LayerWiring& layer : target.model.stack().layers)
    for (Wiring* wiring : {&layer.attention, &layer.feed_forward}) std::swap(wiring->before, wiring->stream);
  fork.edits = edits_between(*fork.origin, target, 31);
  fork.edits.push_back({36, "train.lr", "0.001"});
  for (const Edit& edit : fork.edits) set_field(*fork.spec, edit.key, edit.value);
  fork.settings = field_values(*fork.spec);
  const Comparison all = compare({base, fork});
  const auto setting = [&](const std::string& key) {
    return *std::ranges::find(all.settings, key, &Setting::key);
  };
  CHECK(setting("model.placement").values[1] == "custom");
  CHECK(setting("model.placement").differs(1, 0));
  CHECK(setting("edits").label == "edits");
  CHECK(setting("edits").values[0] == "none");
  CHECK(setting("edits").values[1] == "12 norms moved at 30; learning rate 0.001 at 35");
  CHECK(all.rows[1].loss == Approx(3.1).epsilon(1e-5));
  fork.origin.reset();  // a log does not say what was there before
  CHECK(compare({base, fork}).settings.back().values.size() == 2);
}

TEST_CASE("compare: runs of one name are told apart by what they differ in, in tables and plots") {
  Recording one = ours("Post-LN, no warm-up", {history(40)}), other = one;
  set_field(*other.spec, "train.lr", "0.001");
  other.settings = field_values(*other.spec);
  const Comparison all = compare({one, other});
  CHECK(all.runs[0].name == "Post-LN, learning rate 0.003, no warm-up");
  CHECK(all.runs[1].name == "Post-LN, learning rate 0.001, no warm-up");
  CHECK(end_table(all)[1][1] != end_table(all)[2][1]);
  CHECK(contains(plot::to_text(loss_plot(all)), "learning rate 0.001"));
}

TEST_CASE("compare: a placement of a file has its name, and its wiring is no row") {
  struct Forgetting {
    ~Forgetting() { forget_added_placements(); }
  } forgetting;
  offer(parse_placement("name = \"mine\"\nlabel = \"My own\"\nsublayer = \"before=ln after=ln stream=ln\"\n",
                        "mine.toml"));
  Recording own = ours("own", {history(40)});
  set_field(*own.spec, "model.placement", "mine");
  own.settings = field_values(*own.spec);
  const Comparison all = compare({ours("post", {history(40)}), own});
  bool named = false;
  for (size_t row = 0; row < all.settings.size(); ++row) {
    CHECK_FALSE(all.settings[row].key.starts_with("wiring."));
    named = named || value_words(all, all.settings[row], 1) == "My own";
  }
  CHECK(named);
}

TEST_CASE("compare: norms that were moved in an encoder are told of") {
  const Recording base = ours("base", {history(40)});
  Recording fork = base;
  fork.origin = preset_run("post");
  set_field(*fork.origin, "model.architecture", "encoder-decoder");
  set_field(*fork.origin, "model.layers", "2");
  RunSpec target = *fork.origin;
  Wiring& first = target.model.encoder.layers[0].attention;
  std::swap(first.before, first.stream);
  fork.edits = edits_between(*fork.origin, target, 31);
  CHECK(edits_words(fork) == "1 norm moved at 30");
}

TEST_CASE("compare: losses on other data, or on data that nobody names, never stand without a word") {
  Recording base = ours("base", {history(40)}), same = theirs("same", history(40, 2)),
            other = theirs("other", history(40, 3)), silent = theirs("silent", history(40, 4));
  base.data = {"built-in sentences", "00000000000000aa", 29, "letter"};
  same.data = {"renamed", "00000000000000aa", 29, ""};
  other.data = {"web text", "", 138, ""};
  silent.data = {};
  const Comparison all = compare({base, same, other, silent});
  CHECK(all.differences[1].words() == "one seed: luck cannot be told");
  CHECK(all.differences[2].words() == "other data: web text, 138 symbols");
  CHECK(all.differences[3].words() == "data: not in its log; one seed: luck cannot be told");
  CHECK(data_sentence(all) == "C: other data: web text, 138 symbols. D: data: not in its log.");
  CHECK(contains(
      difference_sentence(all),
      "C ends 0.20 above A, but on other data: web text, 138 symbols: the two losses do not compare."));
  CHECK(contains(difference_sentence(all),
                 "D ends 0.30 above A: one seed, luck cannot be told (data: not in its log)."));
  CHECK(contains(map_sentence(all, 2), "within 2"));
  for (const size_t run : {size_t{2}, size_t{3}}) CHECK(!data_words(all, run).empty());
  CHECK(all.settings.front().key == "data");
  // One log of before, whose runs have one specification of data: these are the same.
  Recording one = ours("one", {history(9)}), two = ours("two", {history(9)});
  one.data = two.data = {};
  CHECK(compare({one, two}).differences[1].data == SameData::Same);
  // Two texts of one name: the path of one session says nothing of another's.
  Recording text = ours("text", {history(9)}), elsewhere = ours("elsewhere", {history(9)});
  text.data = elsewhere.data = {};
  text.spec->data.name = elsewhere.spec->data.name = "text";
  text.spec->data.text_path = elsewhere.spec->data.text_path = "input.txt";
  elsewhere.path = "other.jsonl";
  CHECK(compare({text, elsewhere}).differences[1].data == SameData::Unknown);
  text.data = {"input.txt", "aa00000000000000", 29, ""};
  elsewhere.data = {"input.txt", "ab00000000000000", 29, ""};
  const Comparison named = compare({text, elsewhere});
  CHECK(named.differences[1].data == SameData::Other);
  CHECK(named.settings.front().values[0] == "input.txt, 29 symbols (aa000000)");
}

TEST_CASE("compare: what cannot be compared is refused in a line") {
  const Recording run = ours("run", {history(3)});
  CHECK(error_of([&] { compare({run}); }) == "[compare] 1 runs: expected 2 to 8");
  CHECK(error_of([&] { compare(std::vector<Recording>(9, run)); }) == "[compare] 9 runs: expected 2 to 8");
  CHECK(error_of([&] { compare({run, run}, {.baseline = 2}); }) == "[compare] baseline 3: expected 1 to 2");
  CHECK(error_of([&] {
          compare({run, ours("none", {})});
        }) == "[compare] none has no history: expected one a seed");
  Choice choice;
  set_metric(choice, "update-ratio:attn.wk");
  CHECK(choice.metric == panels::Metric::UpdateRatio);
  CHECK(view::kMatrices[choice.matrix].path == std::string("attn.wk"));
  CHECK(contains(error_of([&] { set_metric(choice, "gradeint"); }), "did you mean gradient?"));
  CHECK(contains(error_of([&] { set_metric(choice, "hidden-norm:ffn.w2"); }), "is of no matrix"));
  CHECK(contains(error_of([&] { set_metric(choice, "gradient:ffn.w3"); }), "matrix 'ffn.w3' is unknown"));
}

TEST_CASE("compare: seeds of one log are one run, runs of two logs are two") {
  const auto recorded = [](const char* path, const char* letter, uint64_t seed) {
    records::Recording run;
    run.name = std::string("run ") + letter;
    run.path = path;
    run.maker = "normscope";
    run.log_letter = letter;
    run.seeds.emplace_back().origin.seed = seed;
    run.settings = {{"train.lr", "0.003"}, {"run.seed", std::to_string(seed)}};
    run.seeds[0].history = history(3, seed);
    return run;
  };
  std::vector<records::Recording> runs{recorded("/a/x.jsonl", "A", 1), recorded("/a/x.jsonl", "B", 1),
                                       recorded("/a/x.jsonl", "A", 2), recorded("/b/x.jsonl", "A", 3)};
  std::vector<Recording> all = grouped(runs);
  REQUIRE(all.size() == 3);
  CHECK(all[0].seeds.size() == 2);
  CHECK(all[0].seeds[1].origin.seed == 2);
  CHECK(all[0].source() == "x.jsonl");
  CHECK(all[1].name == "run B");
  CHECK(all[2].seeds.size() == 1);
  runs[2].settings[0].second = "0.001";  // no seed of it then
  CHECK(grouped(runs).size() == 4);
}

}  // namespace normscope::compare

// These tests compare runs that end at other steps or read other data: numbers name their step, window and data.

namespace normscope::compare {
using test::contains;

TEST_CASE("compare: a difference that is not of the two ends says its step and its window") {
  const auto to = [](double from, double slope) {
    return [=](const std::string& stat, int32_t step, double value) {
      return stat == "loss" ? from + slope * step : value;
    };
  };
  const Comparison all =
      compare({ours("long", {history(60, 1, to(3.6, -0.012))}), ours("short", {history(40, 1, to(3.1, 0))})});
  const Difference& d = all.differences[1];
  CHECK(d.early);
  CHECK(d.when() == "at step 40, mean of 25");
  CHECK(contains(difference_sentence(all), "A at step 40, mean of 25: one seed"));
  CHECK(contains(end_table(all)[1][6] + end_table(all)[2][6], "at step 40, mean of 25; "));
  // By its own end, 3.02, the baseline would be first: the shared steps decide the order.
  CHECK(d.end < 0);
  CHECK(all.rows[0].run == 1);
  CHECK(all.rows[1].loss < all.rows[0].loss);
  const plot::PlotSpec plot = difference_plot(all, false);
  CHECK(plot.series[1].value == signed_decimals(d.smooth.mean.back()));
  // Runs of one length end together.
  const Comparison even = compare({ours("one", {history(40)}), ours("two", {history(40, 3)})});
  CHECK_FALSE(even.differences[1].early);
  CHECK(even.differences[1].when().empty());
  CHECK(contains(difference_sentence(even), "B ends "));
}

TEST_CASE("compare: the line of frequencies is named by the data of the baseline") {
  Recording base = ours("base", {history(60)}), other = theirs("other", history(60, 3));
  base.data = {"built-in sentences", "00000000000000aa", 29, "letter"};
  other.data = {"web text", "", 138, ""};
  base.seeds[0].measured[records::kUnigram] = 2.9;
  const Comparison all = compare({base, other});
  CHECK(all.unit.empty());
  CHECK(contains(loss_plot(all).lines[0].label, "letter frequencies of A"));
  // One row says what the data are.
  for (const Setting& setting : all.settings) CHECK(setting.key != "data.name");
}

TEST_CASE("compare: a map shows nothing where one of the two was not measured") {
  Comparison all = compare({ours("long", {history(60)}), ours("short", {history(60, 3)})});
  RatioMap& map = all.maps[1];
  REQUIRE(map.lacks.empty());
  const size_t columns = map.steps.size();
  for (int32_t layer = 0; layer < map.layers; ++layer)
    for (size_t i = columns / 2; i < columns; ++i)
      map.cells[static_cast<size_t>(layer) * columns + i] = std::numeric_limits<float>::quiet_NaN();
  const plot::PlotSpec plot = ratio_plot(all, 1);
  REQUIRE(plot.heat);
  const int width = plot.heat->columns;
  const auto& cells = plot.heat->cells.values;
  CHECK(std::isfinite(cells[0]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) - 1]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) * 3 / 4]));
}

}  // namespace normscope::compare
