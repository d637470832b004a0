// These tests cover the thread that plays the Tape screen's step: what it shows is what the StepPlayer, the memory map
// and the check say by themselves; a step that is taken anew, a change of the wiring, times.
#include <algorithm>

#include "addons/tape-screen/app/step_worker.h"

#include "addons/tape-screen/app/fold_rows.h"
#include "addons/tape-screen/tests/app/tape_fixture.h"
#include "addons/tape-screen/training/numeric_check.h"
#include "addons/tape-screen/training/tensor_summary.h"

using namespace normscope;
using namespace normscope::tape_screen;
using fixture::StepMaker;

namespace tape_worker {
namespace {

struct WorkerFixture {
  explicit WorkerFixture(bool times = false) : worker([this] { ++rings; }, times) {}
  std::shared_ptr<const TapeState> take(std::shared_ptr<PlayedStep> step) {
    worker.take(std::move(step));
    worker.wait();
    return worker.state();
  }
  std::atomic<int> rings = 0;
  StepWorker worker;
};

size_t instruction_of(const StepFacts& facts, const std::string& name, Phase phase) {
  const auto& all = facts.program.instructions;
  const auto at = std::ranges::find_if(
      all, [&](const Instruction& i) { return i.name == name && i.phase == phase && i.op != OpKind::Probe; });
  REQUIRE(at != all.end());
  return static_cast<size_t>(at - all.begin());
}

}  // namespace

TEST_CASE("tape worker: a step's facts are those of its player") {
  StepMaker maker;
  const auto step = maker.step_of(0, 3), again = maker.step_of(0);
  REQUIRE(step != again);
  WorkerFixture watched;
  const auto state = watched.take(step);
  REQUIRE(state->facts);
  CHECK(state->error.empty());
  CHECK(watched.rings > 0);
  CHECK_FALSE(watched.worker.busy());
  const StepFacts& facts = *state->facts;
  CHECK(facts.letter == 'A');
  CHECK(facts.step == 4);
  CHECK_FALSE(facts.timed);
  CHECK_FALSE(facts.broken);
  StepPlayer& player = *again->player;
  Fold expected = fold(player.data());
  measure_gradients(expected, player);
  CHECK(facts.loss == player.program().loss());
  REQUIRE(facts.fold.lines.size() == expected.lines.size());
  for (size_t i = 0; i < expected.lines.size(); ++i)
    CHECK(facts.fold.lines[i].gradient == expected.lines[i].gradient);
}

TEST_CASE("tape worker: values after an instruction are the StepPlayer's, whatever was played before") {
  StepMaker maker;
  const auto step = maker.step_of(0, 3), again = maker.step_of(0);
  WorkerFixture watched;
  const StepFacts& facts = *watched.take(step)->facts;
  const size_t back = instruction_of(facts, "L01.ffn.stream", Phase::Backward),
               down = instruction_of(facts, "L01.ffn.stream", Phase::Forward);
  for (const size_t instruction : {back, down, back}) {
    watched.worker.show(instruction);
    watched.worker.wait();
    const auto shown = watched.worker.state()->shown;
    REQUIRE(shown);
    CHECK(shown->instruction == instruction);
    again->player->seek(instruction + 1);
    REQUIRE_FALSE(shown->writes.empty());
    for (const ShownTensor& tensor : shown->writes) {
      INFO(tensor.name);
      REQUIRE(tensor.there);
      CHECK(tensor.summary.norm == summarise(again->player->read(tensor.id)).norm);
      CHECK(tensor.summary.mean == summarise(again->player->read(tensor.id)).mean);
    }
  }
  watched.worker.show(99'999'999);
  watched.worker.wait();
  CHECK(watched.worker.state()->shown->instruction == facts.program.instructions.size() - 1);
}

TEST_CASE("tape worker: a check is check_element's") {
  StepMaker maker;
  const auto step = maker.step_of(0, 3), again = maker.step_of(0);
  WorkerFixture watched;
  const StepFacts& facts = *watched.take(step)->facts;
  watched.worker.show(instruction_of(facts, "L01.ffn.1", Phase::Backward));
  watched.worker.check(std::nullopt);
  watched.worker.wait();
  const auto checked = watched.worker.state()->checked;
  REQUIRE(checked);
  REQUIRE(checked->fault.empty());
  const NumericCheck expected = check_element(*again->player, static_cast<size_t>(checked->node),
                                              static_cast<int>(checked->check.place), checked->check.element);
  CHECK(checked->check.analytic == expected.analytic);
  REQUIRE(checked->check.best_central());
  CHECK(checked->check.best_central()->numeric == expected.best_central()->numeric);
  CHECK(checked->check.best_central()->error < 0.01);
}

TEST_CASE("tape worker: both memory maps are those of the run's program") {
  StepMaker maker;
  const auto step = maker.step_of(0);
  WorkerFixture watched;
  const auto state = watched.take(step);
  const auto backend = make_cpu_backend(1);
  for (const bool reuse : {false, true}) {
    const StepProgram program(*step->spec, step->shape, reuse, *backend);
    const MemoryMap expected = memory_map(program.data());
    const MemoryMap& map = reuse ? *state->facts->shared : *state->facts->readable;
    CHECK(map.planned == expected.planned);
    CHECK(map.apart == expected.apart);
    CHECK(map.buffers.size() == expected.buffers.size());
  }
  CHECK(state->facts->shared->planned < state->facts->readable->planned);
  CHECK(state->facts->shared->apart == state->facts->readable->apart);
}

TEST_CASE("tape worker: a change of the wiring names what came and went, and stays until the next one") {
  StepMaker maker;
  WorkerFixture watched;
  const auto first = watched.take(maker.step_of(0));
  CHECK(first->facts->change_from.empty());
  maker.lab.post(session::EditField{0, "model.placement", "pre"});
  const auto changed = watched.take(maker.step_of(0));
  REQUIRE(changed->facts);
  const StepFacts& facts = *changed->facts;
  CHECK(facts.change_from == "run A before the change");
  CHECK(facts.change.came > 0);
  CHECK(facts.change.went > 0);
  CHECK(change_sentence(facts).find("Compared with run A before the change: ") == 0);
  const auto listed = std::ranges::count_if(
      facts.change.all, [](const InstructionChange& one) { return one.op != OpKind::Probe; });
  const ChangeCounts counts = change_counts(facts);
  CHECK(counts.came + counts.went + counts.rewired == static_cast<size_t>(listed));
  const std::vector<FoldRow> rows = fold_rows(facts, {});
  CHECK(std::ranges::any_of(rows, [](const FoldRow& row) { return row.mark == '+'; }));
  const auto later = watched.take(maker.step_of(0, 2));
  CHECK(later->facts->change.came == facts.change.came);
}

TEST_CASE("tape worker: runs in the place of all others are not compared with those") {
  StepMaker maker;
  WorkerFixture watched;
  watched.take(maker.step_of(0));
  std::vector<RunSpec> others = fixture::small_runs();
  for (RunSpec& spec : others) set_field(spec, "model.placement", "pre");
  maker.lab.post(session::ReplaceRuns{.runs = others, .play = false});
  const auto state = watched.take(maker.step_of(0));
  REQUIRE(state->facts);
  CHECK(state->facts->change_from.empty());
}

TEST_CASE("tape worker: a step that cannot be played leaves an error, and the next one is played") {
  StepMaker maker;
  WorkerFixture watched;
  watched.take(maker.step_of(0));
  const auto broken = maker.step_of(0, 1);
  RunSpec spec = *broken->spec;
  spec.model.heads = 1000;
  broken->spec = std::make_shared<const RunSpec>(spec);
  const auto state = watched.take(broken);
  CHECK_FALSE(state->error.empty());
  CHECK_FALSE(state->facts);
  CHECK_FALSE(state->shown);
  watched.worker.show(3);
  watched.worker.wait();
  const auto next = watched.take(maker.step_of(0, 2));
  CHECK(next->error.empty());
  CHECK(next->facts);
}

TEST_CASE("tape worker: with times every listed instruction has some, and the fold adds them up") {
  StepMaker maker;
  WorkerFixture watched(true);
  const auto state = watched.take(maker.step_of(0));
  REQUIRE(state->error.empty());
  const StepFacts& facts = *state->facts;
  REQUIRE(facts.timed);
  CHECK(facts.roof.flops > 0);
  CHECK(facts.roof.bytes > 0);
  double forward = 0;
  for (const FoldLine& line : facts.fold.lines) {
    INFO(line.name);
    CHECK(line.forward.seconds > 0);
    forward += line.forward.seconds;
  }
  CHECK(facts.fold.forward.seconds == Approx(forward));
  CHECK(fold_sentence(facts).find("Backward costs") == 0);
}

TEST_CASE(
    "fold rows: closed layers sum, the head is in the row that covers it, every other side comes back") {
  StepMaker maker;
  WorkerFixture watched;
  const StepFacts& facts = *watched.take(maker.step_of(0))->facts;
  OpenRows opened;
  const std::vector<FoldRow> rows = fold_rows(facts, opened);
  REQUIRE(rows.size() > 6);
  CHECK(rows[0].kind == RowKind::Update);
  const auto layer = std::ranges::find(rows, "L01", &FoldRow::name);
  REQUIRE(layer != rows.end());
  CHECK_FALSE(layer->open);
  const size_t inside = instruction_of(facts, "L01.ffn.1", Phase::Backward);
  CHECK(row_of(rows, facts, inside) == static_cast<size_t>(layer - rows.begin()));
  opened.by_hand["L01"] = true;
  const std::vector<FoldRow> more = fold_rows(facts, opened);
  CHECK(more.size() == rows.size() + layer->end - layer->first);
  REQUIRE(row_of(more, facts, inside));
  CHECK(more[*row_of(more, facts, inside)].name == "L01.ffn.1");
  CHECK(other_side(facts, other_side(facts, inside)) == inside);
  CHECK(is_forward(facts.program, other_side(facts, inside)));
  const std::vector<size_t> listed = listed_instructions(facts.program);
  CHECK(listed.size() + facts.fold.probes == facts.program.instructions.size());
  for (const size_t i : listed) CHECK(row_of(more, facts, i).has_value());
}

}  // namespace tape_worker
