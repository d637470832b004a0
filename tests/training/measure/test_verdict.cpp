// These tests cover the one rule that turns a run's events into a word, and that word at any earlier step; the level of
// symbol frequencies under label smoothing; whether a translator uses what it reads.
#include <cmath>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/verdict.h"
#include "training/run/evaluate.h"
#include "training/run/run.h"

using namespace normscope;
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
