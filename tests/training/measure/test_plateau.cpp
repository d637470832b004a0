// These tests give the plateau recogniser made-up loss curves.
#include <algorithm>

#include "answers.h"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/verdict.h"
#include "training/run/evaluate.h"
#include "training/run/run.h"
#include "training/support/tiny.h"

using namespace normscope;

namespace {

constexpr double kLevel = 2.95;
using Change = RunEvent::Kind;

struct PlateauEvent {
  int32_t step;
  Change change;
  bool operator==(const PlateauEvent&) const = default;
};

std::vector<PlateauEvent> follow(Plateau& plateau, const std::function<double(int32_t)>& loss, int32_t to,
                                 int32_t warmup = 0, int32_t from = 1) {
  std::vector<PlateauEvent> seen;
  for (int32_t step = from; step <= to; ++step)
    if (const auto change = plateau.update(step, loss(step), kLevel, warmup)) seen.push_back({step, *change});
  return seen;
}

// Falls from ln 29 down to the level within 30 steps, with noise of one batch.
double cold(int32_t step) { return kLevel + 0.42 * std::exp(-step / 10.0) + 0.03 * std::sin(step * 12.9898); }

/// The loss of a name in tests/answers/plateau.txt at a step; some have a number.
double loss_of(const std::string& name, double by, int32_t step) {
  const double noise = std::sin(step * 12.9898);
  if (name == "cold") return cold(step);
  if (name == "level") return kLevel + by;
  if (name == "is") return by;
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "line") return std::max(0.9, 3.4 - 0.02 * step);
  if (name == "leaves") return step <= by ? cold(step) : 1.5;
  if (name == "dips") return step > 60 && step <= 120 ? 2.0 : cold(step);
  if (name == "easy") return step == by ? 1.5 : kLevel;
  if (name == "begins") return step == 1 ? kLevel + 1 : kLevel - 0.3;
  if (name == "falls") return kLevel + by * (400 - std::min(step, 400)) + 0.03 * noise;  // to step 400
  // A masked language model's: slowly down, the losses of its small batches 0.09 nats apart.
  if (name == "wavers")
    return kLevel - std::min(0.12, 0.0008 * step) + 0.13 * noise + 0.02 * std::sin(step * 0.3);
  throw Error("no loss is called " + name);
}

std::string name_of(Change change) {
  return change == Change::Stuck      ? "stuck"
         : change == Change::Unstuck  ? "unstuck"
         : change == Change::Returned ? "returned"
                                      : "left";
}

}  // namespace

TEST_CASE("the plateau of made-up losses is recognised as told", "[listing]") {
  Plateau plateau;
  int32_t last = 0, warmup = 0;
  test::check_answers("plateau", [&](const std::string& line) -> std::string {
    std::istringstream words(line);
    std::string verb, name;
    words >> verb;
    if (verb == "new") {  // with a warm-up
      plateau = Plateau();
      last = warmup = 0;
      words >> warmup;
      return "";
    }
    if (verb == "anew") plateau.begin_anew();
    double by = 0;
    int32_t to = last;
    if (verb == "to") words >> to >> name >> by;  // "to 300 falls 0.001"
    std::string text;
    for (const PlateauEvent& seen : follow(
             plateau, [&](int32_t step) { return loss_of(name, by, step); }, to, warmup, last + 1))
      text += fmt::format("{} {}, ", seen.step, name_of(seen.change));
    last = to;
    return text + fmt::format("{}, learning since {}{}{}{}", plateau.stuck() ? "stuck" : "not stuck",
                              plateau.learning_since(), plateau.decided() ? ", decided" : "",
                              plateau.began_below(kLevel) ? ", began below" : "",
                              Plateau::at_level(plateau.mean(), kLevel) ? ", at the level" : "");
  });
  CHECK(std::isnan(Plateau{}.mean()));
  CHECK(Plateau::at_level(kLevel + 0.05, kLevel));
}

TEST_CASE("a restored recogniser goes on as the original") {
  Plateau straight, first, second;
  follow(straight, cold, 140);
  follow(first, cold, 140);
  second.restore(first.state());
  CHECK(second.state() == straight.state());
  CHECK(follow(second, cold, 300, 0, 141) == follow(straight, cold, 300, 0, 141));
  CHECK(second.state() == straight.state());
}

TEST_CASE("a recogniser that is restored in a fall knows of it") {
  const auto loss = [](int32_t step) { return kLevel + 0.3 - 0.0006 * step; };
  Plateau straight, restored;
  follow(straight, loss, 145);
  restored.restore(straight.state());
  CHECK(follow(restored, loss, 170, 0, 146).empty());
}

// These tests cover the one rule that turns a run's events into a word, and that word at any earlier step; the level of
// symbol frequencies under label smoothing; whether a translator uses what it reads.

using Event = RunEvent::Kind;
using Is = Verdict::Kind;

TEST_CASE("a run that was stuck and then left the plateau learns from that step on") {
  const std::vector<RunEvent> events{{1, Event::Started, ""},
                                     {150, Event::Stuck, "stuck at letter frequencies"},
                                     {232, Event::Unstuck, ""},
                                     {260, Event::Returned, ""},
                                     {280, Event::LeftPlateau, ""}};
  CHECK(verdict_of(events).kind == Is::Learns);
  CHECK(verdict_of(events).since == 280);
  CHECK(to_string(verdict_of(events, 149)) == "not decided");
  CHECK(to_string(verdict_of(events, 150)) == "stuck");
  CHECK(verdict_of(events, 231).where == "stuck at letter frequencies");
  CHECK(to_string(verdict_of(events, 232)) == "learns since step 232");
  CHECK(to_string(verdict_of(events, 270)) == "returned at step 260");
  std::vector<RunEvent> broken = events;
  broken.push_back({290, Event::NonFinite, "not finite: L02"});
  broken.push_back({290, Event::LeftPlateau, ""});
  CHECK(to_string(verdict_of(broken)) == "not finite at step 290");
  CHECK(to_string(verdict_of({})) == "not decided");
}

namespace {

/// The losses of a curve, each batch with a noise of its own.
std::vector<float> curve(int32_t steps, const std::function<double(int32_t)>& loss) {
  std::vector<float> losses;
  for (int32_t step = 1; step <= steps; ++step)
    losses.push_back(static_cast<float>(loss(step) + 0.05 * std::sin(step * 12.9898)));
  return losses;
}

}  // namespace

TEST_CASE("a run that has not come as far as the level, and still falls, is slow and not stuck") {
  const auto slow = [](int32_t step) { return kLevel + 0.9 * std::exp(-step / 150.0); };  // +0.12 at step 300
  const auto above = [](int32_t step) { return kLevel + 0.3 + 0.4 * std::exp(-step / 10.0); };
  const auto arrives = [](int32_t step) {
    return kLevel + 0.9 * std::exp(-step / 50.0);
  };  // +0.04 at step 150
  CHECK(is_slow(curve(300, slow), kLevel));
  CHECK(is_slow(curve(160, slow), kLevel));
  CHECK_FALSE(is_slow(curve(300, above), kLevel));    // it does not fall
  CHECK_FALSE(is_slow(curve(300, arrives), kLevel));  // it has come
  CHECK_FALSE(is_slow(curve(300, cold), kLevel));
  CHECK_FALSE(is_slow(curve(60, slow), kLevel));  // a quarter of it tells nothing
  CHECK_FALSE(is_slow(curve(300, slow), std::numeric_limits<double>::quiet_NaN()));
  // A fall that its batches explain is none.
  CHECK_FALSE(is_slow(
      curve(300, [](int32_t step) { return kLevel + 0.4 + 0.6 * std::sin(step * 1.7) - 1e-4 * step; }),
      kLevel));

  // The recogniser, which calls a run stuck where a mean of twenty wavers, calls neither of two curves so while they are.
  const auto follows = [](const std::function<double(int32_t)>& loss) {
    const std::vector<float> losses = curve(300, loss);
    Plateau plateau;
    for (int32_t step = 1; step <= 300; ++step)
      plateau.update(step, static_cast<double>(losses[static_cast<size_t>(step) - 1]), kLevel, 0,
                     std::span(losses).first(static_cast<size_t>(step)));
    return plateau.stuck();
  };
  const auto slower = [](int32_t step) { return kLevel + 0.5 * std::exp(-step / 350.0); };
  CHECK_FALSE(follows(slower));
  CHECK(follows(above));
  CHECK(follows(cold));
}

TEST_CASE("one function has the last word on a run") {
  const auto slow = curve(300, [](int32_t step) { return kLevel + 0.9 * std::exp(-step / 150.0); });
  const auto stays = curve(300, cold), worse = curve(300, [](int32_t step) { return step < 9 ? 3.6 : 63.0; }),
             begins = curve(300, [](int32_t) { return 3.6; });  // at a rate of 0
  const Yardstick under_way{kLevel, std::log(29.0), false}, end{kLevel, std::log(29.0), true};
  const Verdict stuck{Is::Stuck, 151, "stuck at letter frequencies"};
  CHECK(judge({}, stays, under_way) == Is::Undecided);
  CHECK(judge({}, stays, end) == Is::Stuck);
  CHECK(judge({Is::Returned, 140}, stays, end) == Is::Stuck);
  CHECK(judge({}, std::span(stays).first(150), end) == Is::Undecided);  // patience
  CHECK(judge(stuck, stays, under_way).where == stuck.where);
  CHECK(judge({}, worse, end) == Is::Diverges);
  CHECK(judge(stuck, worse, under_way) == Is::Diverges);
  CHECK(judge({}, worse, under_way) == Is::Undecided);
  CHECK(judge({}, begins, end) == Is::Stuck);
  // Above guessing still, and on its way: it is not worse than where it began.
  CHECK(judge({}, curve(300, [](int32_t step) { return 4.4 - 0.003 * step; }), end) == Is::TooSlow);
  CHECK(judge({}, slow, end) == Is::TooSlow);
  CHECK(judge(stuck, slow, end) == Is::TooSlow);
  CHECK(judge({Is::Learns, 46}, slow, end).since == 46);
  CHECK(judge({Is::NotFinite, 7}, worse, end).since == 7);
  CHECK(judge({}, std::vector<float>{1, NAN}, under_way) == Is::NotFinite);
  CHECK(judge({}, stays, {.ended = true}) == Is::Undecided);  // without a level nobody knows
}

TEST_CASE("a run whose symbols are not known is not called worse than guessing") {
  CHECK(std::isnan(guessing_loss(ModelConfig{})));
  const std::vector<float> falls = [] {
    std::vector<float> losses(200, 2.95f);
    std::fill_n(losses.begin(), 20, 4.f);
    return losses;
  }();
  const Verdict stuck{Verdict::Stuck, 151};
  CHECK(judge(stuck, falls, {.guessing = guessing_loss(ModelConfig{})}) == Verdict::Stuck);
  CHECK(judge(stuck, falls, {.guessing = 2}) == Verdict::Diverges);
}

TEST_CASE("verdicts of several seeds are counted, and those that learn have a median step") {
  const auto of = [](std::initializer_list<Verdict> seeds) {
    Verdicts all;
    for (const Verdict& one : seeds) all.add(one);
    return all;
  };
  CHECK(to_string(of({})) == "");
  CHECK(to_string(of({{Is::Learns, 46}})) == "learns since step 46");
  CHECK(to_string(of({{Is::TooSlow}})) == "too slow to tell");
  // The order of the seeds counts for nothing.
  for (const Verdicts& mixed : {of({{Is::Stuck}, {Is::Learns, 130}, {Is::Learns, 96}, {Is::Learns, 113}}),
                                of({{Is::Learns, 113}, {Is::Learns, 96}, {Is::Stuck}, {Is::Learns, 130}})}) {
    CHECK(to_string(mixed) == "learns in 3 of 4 seeds, at step 113 (median)");
    CHECK(mixed.since() == 113);
    CHECK(mixed.count(Is::Stuck) == 1);
    CHECK_FALSE(mixed.shared());
  }
  CHECK(of({{Is::Stuck}, {Is::Stuck}}).shared() == Is::Stuck);
  CHECK(to_string(of({{Is::Stuck}, {Is::Stuck}})) == "stuck in 2 of 2 seeds");
  CHECK(of({{Is::Diverges}, {Is::NotFinite, 9}}).shared() == Is::Diverges);
  CHECK(of({{Is::NotFinite, 7}, {Is::NotFinite, 9}}).shared() == Is::NotFinite);
  CHECK_FALSE(of({{Is::Diverges}, {Is::Stuck}}).shared());
  CHECK_FALSE(of({}).shared());
}

TEST_CASE("a run of trained weights began below the plateau, and its verdict knows it at each later step") {
  const std::vector<RunEvent> events{{1, Event::Started, ""},
                                     {20, Event::BeganBelow, "began below the plateau"}};
  CHECK(began_below(events));
  CHECK_FALSE(began_below(events, 19));
  CHECK_FALSE(began_below(std::vector<RunEvent>{{20, Event::LeftPlateau, "leaves the plateau"}}));
}

TEST_CASE("the level of frequencies is smoothed as the loss is") {
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

TEST_CASE("sources exchanged between rows cost a translator what they are worth to it") {
  const RunSpec spec = test::with_fields(preset_run("pre"), {{"model.architecture", "encoder-decoder"},
                                                             {"data.name", "translation"},
                                                             {"model.layers", "1"},
                                                             {"model.sequence", "8"},
                                                             {"model.d_model", "32"},
                                                             {"model.feed_forward", "32"},
                                                             {"train.batch", "16"},
                                                             {"train.lr", "5e-3"}});
  const auto backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  const auto use = [&] {
    return source_use(run.store(), run.spec().model, run.task(), run.spec().seed, run.spec().train.batch);
  };
  CHECK(std::abs(use()) < 0.05);  // a fresh model reads nothing out of them
  for (int step = 0; step < 250; ++step) run.step();
  CHECK(use() > 0.5);
  RunSpec alone = test::with_fields(preset_run("pre"), {{"train.steps", "1"}});
  Run decoder(alone, make_task(alone.data), *backend);
  CHECK(std::isnan(source_use(decoder.store(), decoder.spec().model, decoder.task(), 1, 16)));
}
