// These tests give the plateau recogniser made-up loss curves.
#include "catch.hpp"

#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/verdict.h"
#include "training/run/evaluate.h"
#include "training/run/run.h"

using namespace normscope;

namespace {

constexpr double kLevel = 2.95;
using Change = RunEvent::Kind;

struct Seen {
  int32_t step;
  Change change;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> follow(Plateau& plateau, const std::function<double(int32_t)>& loss, int32_t to,
                         int32_t warmup = 0, int32_t from = 1) {
  std::vector<Seen> seen;
  for (int32_t step = from; step <= to; ++step)
    if (const auto change = plateau.update(step, loss(step), kLevel, warmup)) seen.push_back({step, *change});
  return seen;
}

// Falls from ln 29 down to the level within 30 steps, with noise of one batch.
double cold(int32_t step) { return kLevel + 0.42 * std::exp(-step / 10.0) + 0.03 * std::sin(step * 12.9898); }

}  // namespace

TEST_CASE("a run that stays at the level is called stuck after step 150", "[plateau]") {
  Plateau plateau;
  CHECK(std::isnan(plateau.mean()));
  CHECK(follow(plateau, cold, 300) == std::vector<Seen>{{151, Change::Stuck}});
  CHECK(plateau.stuck());
  CHECK(plateau.learning_since() == 0);
}

TEST_CASE("the verdict waits for the end of a longer warm-up", "[plateau]") {
  Plateau plateau;
  CHECK(follow(plateau, cold, 300, 200) == std::vector<Seen>{{201, Change::Stuck}});
  Plateau patient;
  CHECK(follow(patient, cold, 300, 400).empty());
}

TEST_CASE("passing through the level on the way down is learning from the crossing on", "[plateau]") {
  Plateau plateau;
  const auto loss = [](int32_t step) { return std::max(0.9, 3.4 - 0.02 * step); };
  const auto seen = follow(plateau, loss, 300);
  // mean of the last 20 at t is 3.4 - 0.02 (t - 9.5) < 2.85 first at t = 38
  CHECK(seen == std::vector<Seen>{{38, Change::LeftPlateau}});
  CHECK(plateau.learning_since() == 38);
  CHECK_FALSE(plateau.stuck());
}

TEST_CASE("stuck is taken back when it leaves", "[plateau]") {
  Plateau plateau;
  const auto loss = [](int32_t step) { return step <= 214 ? cold(step) : 1.5; };
  const auto seen = follow(plateau, loss, 300);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == Seen{151, Change::Stuck});
  CHECK(seen[1].change == Change::Unstuck);
  CHECK(seen[1].step > 214);
  CHECK(seen[1].step <= 218);
  CHECK(plateau.learning_since() == seen[1].step);
  CHECK_FALSE(plateau.stuck());
}

TEST_CASE("a run that falls back is stuck again", "[plateau]") {
  Plateau plateau;
  const auto loss = [](int32_t step) { return step > 60 && step <= 120 ? 2.0 : cold(step); };
  const auto seen = follow(plateau, loss, 300);
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].change == Change::LeftPlateau);
  CHECK(seen[1].change == Change::Returned);
  CHECK(seen[2] == Seen{151, Change::Stuck});
  CHECK(plateau.learning_since() == 0);
}

TEST_CASE("a mean that wavers at the line changes its mind once", "[plateau]") {
  // A masked language model's: slowly down, the losses of its small batches 0.09 nats apart.
  const auto loss = [](int32_t step) {
    return kLevel - std::min(0.12, 0.0008 * step) + 0.13 * std::sin(step * 12.9898) +
           0.02 * std::sin(step * 0.3);
  };
  Plateau plateau;
  const auto seen = follow(plateau, loss, 400);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].change == Change::LeftPlateau);
  CHECK_FALSE(plateau.stuck());
  // It does come back from there when it really rises again.
  const auto back = follow(
      plateau, [](int32_t) { return kLevel; }, 440, 0, 401);
  REQUIRE(back.size() == 1);
  CHECK(back[0].change == Change::Stuck);
}

TEST_CASE("one easy batch is not learning, nor is a short history", "[plateau]") {
  Plateau plateau;
  CHECK(follow(
            plateau, [](int32_t step) { return step == 40 ? 1.5 : kLevel; }, 100)
            .empty());
  Plateau fresh;
  CHECK(follow(
            fresh, [](int32_t) { return 1.0; }, 19)
            .empty());
  CHECK(follow(
            fresh, [](int32_t) { return 1.0; }, 20, 0, 20) == std::vector<Seen>{{20, Change::LeftPlateau}});
}

TEST_CASE("a run whose first losses are all below the line began there, one that fell below it did not",
          "[plateau]") {
  Plateau trained, fresh;
  follow(
      trained, [](int32_t) { return kLevel - 0.2; }, 20);
  CHECK(trained.learning_since() == 20);
  CHECK(trained.began_below(kLevel));
  follow(
      fresh, [](int32_t step) { return step == 1 ? kLevel + 1 : kLevel - 0.3; }, 20);
  CHECK(fresh.learning_since() == 20);
  CHECK_FALSE(fresh.began_below(kLevel));
}

TEST_CASE("NaN is not learning", "[plateau]") {
  Plateau plateau;
  follow(
      plateau, [](int32_t) { return std::numeric_limits<double>::quiet_NaN(); }, 200);
  CHECK(plateau.learning_since() == 0);
}

TEST_CASE("a restored recogniser goes on as the original", "[plateau]") {
  Plateau straight, first, second;
  follow(straight, cold, 140);
  follow(first, cold, 140);
  second.restore(first.state());
  CHECK(second.state() == straight.state());
  CHECK(follow(second, cold, 300, 0, 141) == follow(straight, cold, 300, 0, 141));
  CHECK(second.state() == straight.state());
}

TEST_CASE("a run on its way down is not stuck, however late; once it stays it is", "[plateau]") {
  const auto falls = [](double slope) {  // to step 400
    return [slope](int32_t step) {
      return kLevel + slope * (400 - std::min(step, 400)) + 0.03 * std::sin(step * 12.9898);
    };
  };
  Plateau slow;  // as plain SGD
  CHECK(follow(slow, falls(0.0006), 400).empty());
  Plateau plateau;
  CHECK(follow(plateau, falls(0.001), 400).empty());
  const auto seen = follow(plateau, falls(0.001), 600, 0, 401);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].change == Change::Stuck);
  CHECK(seen[0].step > 430);  // the fall is still among the steps that it remembers
  // A run that stays above the level is stuck too, but not at it.
  Plateau above;
  const auto high = [](int32_t) { return kLevel + 0.3; };
  CHECK(follow(above, high, 300) == std::vector<Seen>{{151, Change::Stuck}});
  CHECK_FALSE(Plateau::at_level(above.mean(), kLevel));
  CHECK(Plateau::at_level(kLevel + 0.05, kLevel));
}

TEST_CASE("a fork has no verdict before losses of its own say so", "[plateau]") {
  Plateau stuck;
  follow(stuck, cold, 200);
  REQUIRE(stuck.stuck());
  stuck.begin_anew();
  CHECK_FALSE(stuck.stuck());
  CHECK_FALSE(stuck.decided());
  CHECK(follow(stuck, cold, 500, 0, 201) == std::vector<Seen>{{351, Change::Stuck}});

  const auto low = [](int32_t) { return 1.5; };
  Plateau learned;
  follow(learned, low, 100);
  learned.begin_anew();
  CHECK(follow(learned, low, 119, 0, 101).empty());
  CHECK_FALSE(learned.decided());
  CHECK(follow(learned, low, 300, 0, 120).empty());  // nothing new: it goes on as it was
  CHECK(learned.learning_since() == 20);
  Plateau lost;
  follow(lost, low, 100);
  lost.begin_anew();
  CHECK(follow(
            lost, [](int32_t) { return kLevel; }, 120, 0, 101) == std::vector<Seen>{{120, Change::Returned}});
}

TEST_CASE("a recogniser that is restored in a fall knows of it", "[plateau]") {
  const auto loss = [](int32_t step) { return kLevel + 0.3 - 0.0006 * step; };
  Plateau straight, restored;
  follow(straight, loss, 145);
  restored.restore(straight.state());
  CHECK(follow(restored, loss, 170, 0, 146).empty());
}

// These tests cover the one rule that turns a run's events into a word, and that word at any earlier step; the level of
// symbol frequencies under label smoothing; whether a translator uses what it reads.

using Event = RunEvent::Kind;
using Kind = Verdict::Kind;

TEST_CASE("a run that was stuck and then left the plateau learns from that step on", "[verdict]") {
  const std::vector<RunEvent> events{{1, Event::Started, ""},
                                     {150, Event::Stuck, "stuck at letter frequencies"},
                                     {232, Event::Unstuck, ""},
                                     {260, Event::Returned, ""},
                                     {280, Event::LeftPlateau, ""}};
  CHECK(verdict_of(events).kind == Kind::Learns);
  CHECK(verdict_of(events).since == 280);
  CHECK(to_string(verdict_of(events, 149)) == "not decided");
  CHECK(to_string(verdict_of(events, 150)) == "stuck");
  CHECK(verdict_of(events, 231).where == "stuck at letter frequencies");
  CHECK(to_string(verdict_of(events, 232)) == "learns since step 232");
  CHECK(to_string(verdict_of(events, 270)) == "not decided");
  std::vector<RunEvent> broken = events;
  broken.push_back({290, Event::NonFinite, "not finite: L02"});
  broken.push_back({290, Event::LeftPlateau, ""});
  CHECK(to_string(verdict_of(broken)) == "not finite at step 290");
  CHECK(to_string(verdict_of({})) == "not decided");
}

TEST_CASE("a run of trained weights began below the plateau, and its verdict knows it at each later step",
          "[verdict]") {
  const std::vector<RunEvent> events{{1, Event::Started, ""}, {20, Event::LeftPlateau, kBeganBelow}};
  CHECK(began_below(events));
  CHECK_FALSE(began_below(events, 19));
  CHECK_FALSE(began_below(std::vector<RunEvent>{{20, Event::LeftPlateau, "leaves the plateau"}}));
}

TEST_CASE("the level of frequencies is smoothed as the loss is", "[verdict]") {
  DataSpec data;
  data.context = 32;
  const auto task = make_task(data);
  const double V = task->vocabulary();
  // Over many batches it is the entropy of the smoothed frequencies: the level that a run is judged by.
  for (const double smoothing : {0.0, 0.4}) {
    double entropy = 0;
    for (double p : task->unigram()) {
      const double q = (1 - smoothing) * p + smoothing / V;
      entropy -= q * std::log(q);
    }
    CHECK(unigram_cross_entropy(*task, 1, 0, 400, 16, 32, smoothing) == Approx(entropy).margin(0.015));
  }
  CHECK(unigram_cross_entropy(*task, 1, 1, 40, 8, 32, 0.4) >
        unigram_cross_entropy(*task, 1, 1, 40, 8, 32) + 0.2);
}

TEST_CASE("sources exchanged between rows cost a translator what they are worth to it", "[verdict]") {
  RunSpec spec = preset_run("pre");
  spec.model.architecture = Architecture::EncoderDecoder;
  set_field(spec, "data.name", "translation");
  set_field(spec, "model.layers", "1");
  set_field(spec, "model.sequence", "8");
  set_field(spec, "model.d_model", "32");
  set_field(spec, "model.feed_forward", "32");
  set_field(spec, "train.batch", "16");
  set_field(spec, "train.lr", "5e-3");
  spec.data.context = spec.model.sequence;
  complete(spec);
  const auto backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  const auto use = [&] {
    return source_use(run.store(), run.spec().model, run.task(), run.spec().seed, run.spec().train.batch);
  };
  CHECK(std::abs(use()) < 0.05);  // a fresh model reads nothing out of them
  for (int step = 0; step < 250; ++step) run.step();
  CHECK(use() > 0.5);
  RunSpec alone = preset_run("pre");
  set_field(alone, "train.steps", "1");
  Run decoder(alone, make_task(alone.data), *backend);
  CHECK(std::isnan(source_use(decoder.store(), decoder.spec().model, decoder.task(), 1, 16)));
}
