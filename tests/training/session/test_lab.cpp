// These tests cover the Lab: lockstep, commands, forks and their undo, texts; and none of it changes what a run
// computes.
#include <fmt/format.h>

#include <algorithm>

#include "answers.h"
#include "isa_scope.h"
#include "skip.h"
#include "training/run/footprint.h"
#include "training/session/lab_trainer.h"
#include "training/session/played_step.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

/// A Lab that does what the lines of tests/answers/lab.txt say, and says how it stands.
class ToldLab {
 public:
  std::string obey(const std::string& line) {
    const auto [verb, rest_of] = verb_and_rest(line);
    if (verb == "new") {
      lab_ = std::make_unique<Lab>(quiet());
      return "";
    }
    if (verb == "same") return same();
    if (verb == "histories") return histories();
    if (verb == "field") return of_runs([&](const RunView& run) { return get_field(*run.spec, rest_of); });
    if (verb == "names") return of_runs([](const RunView& run) { return run.name; });
    if (verb == "badges") return of_runs([](const RunView& run) { return std::string(run.badge); });
    if (verb == "writes")
      return of_runs([](const RunView& run) { return fmt::format("{} symbols", run.writes.size()); });
    if (verb == "validated")
      return of_runs([](const RunView& run) {
        return fmt::format("{}", fmt::join(run.history->validation().steps, ", "));
      });
    if (verb == "losses")
      return of_runs([](const RunView& run) { return std::isnan(run.loss) ? "none" : "some"; });
    if (verb == "edited")
      return of_runs([](const RunView& run) {
        std::string text;
        for (const RunEvent& event : run.history->events())
          if (event.kind == RunEvent::Kind::Edited) text += (text.empty() ? "" : ", ") + event.text;
        return text;
      });
    // Commands that one breath posts are parted by semicolons.
    std::istringstream all(line);
    for (std::string one; std::getline(all >> std::ws, one, ';');) post(one);
    rest(*lab_);
    return state();
  }

 private:
  const LabView& view() const { return *(view_ = lab_->view()); }

  std::string of_runs(const std::function<std::string(const RunView&)>& of) const {
    std::string text;
    for (const RunView& run : view().runs)
      text += fmt::format("{}{}: {}", text.empty() ? "" : " | ", run.letter, of(run));
    return text;
  }

  std::string state() const {
    const LabView& now = view();
    std::string text = fmt::format("step {} of {}, {} more then{}{}\n", now.step, now.budget, now.portion,
                                   now.playing ? ", playing" : "", now.instant ? ", instant" : "");
    text += of_runs([&](const RunView& run) {
      std::string one = std::to_string(run.step);
      if (run.forked_from >= 0)
        one += fmt::format(" (of {} at {}{})", now.runs[static_cast<size_t>(run.forked_from)].letter,
                           run.fork_step, run.fork_note.empty() ? "" : ", " + run.fork_note);
      for (const Edit& edit : run.edits) one += fmt::format(" {}:{}={}", edit.step, edit.key, edit.value);
      return one;
    });
    return text + (now.message.empty() ? "" : "\n" + now.message);
  }

  /// Each run has the losses that it would have alone, to the bit, from the step on at which it became itself.
  std::string same() const {
    for (const RunView& run : view().runs) {
      const std::vector<float> whole = alone(run.origin ? *run.origin : *run.spec, run.step, run.edits);
      const std::vector<float> own(whole.begin() + (run.forked_from < 0 ? 0 : run.fork_step), whole.end());
      INFO(run.letter);
      CHECK(same_bits(losses(run), own));
    }
    return of_runs([](const RunView& run) { return fmt::format("{} losses as alone", losses(run).size()); });
  }

  /// Numbers each history by what it has, to the bit, as runs that come back have theirs.
  std::string histories() {
    return of_runs([&](const RunView& run) {
      const FrameBlock frames = run.history->frames(run.step, kHistoryBudget);
      std::string has = fmt::format("{} {} {:a} {:a}", run.letter, fmt::join(frames.steps, " "),
                                    fmt::join(losses(run), " "), fmt::join(frames.stats, " "));
      for (const RunEvent& event : run.history->events())
        has += fmt::format("\n{} {}", event.step, event.text);
      const auto at = std::ranges::find(seen_, has);
      const auto number = at - seen_.begin() + 1;
      if (at == seen_.end()) seen_.push_back(std::move(has));
      return std::to_string(number);
    });
  }

  /// Of a letter that no run has, a number that no run has either.
  int32_t run_of(const std::string& letter) {
    const auto view = lab_->view();
    const std::vector<RunView>& runs = view->runs;
    const auto at = std::ranges::find(runs, letter[0], &RunView::letter);
    return letter == "all" ? -1
                           : static_cast<int32_t>(at == runs.end() ? letter[0] - 'A' : at - runs.begin());
  }

  /// "post", or "post,model.d_model=15" with settings.
  static RunSpec spec_of(const std::string& word) {
    std::istringstream parts(word);
    std::string preset;
    std::getline(parts, preset, ',');
    RunSpec spec = small_spec(preset);
    for (std::string set; std::getline(parts, set, ',');)
      set_field(spec, set.substr(0, set.find('=')), set.substr(set.find('=') + 1));
    return spec;
  }

  /// Sets what stands behind "with": KEY VALUE.
  static bool with(const std::string& word, std::istream& words, RunSpec& spec) {
    std::string key, value;
    if (word != "with" || !(words >> key >> value)) return false;
    set_field(spec, key, value);
    return true;
  }

  void post(const std::string& line) {
    std::istringstream words(line);
    std::string verb, word, key, value;
    words >> verb;
    if (verb == "runs" || verb == "train" || verb == "instant") {
      session::ReplaceRuns runs{{}, {}, verb != "runs"};
      runs.instant = verb == "instant";
      while (words >> word)
        if (word == "as")
          words >> runs.letters;
        else
          runs.runs.push_back(spec_of(word));
      lab_->post(runs);
    } else if (verb == "play") {
      int32_t to = 0;
      words >> to;
      lab_->post(to > 0 ? session::Command(session::PlayTo{to}) : session::Command(session::Play{}));
    } else if (verb == "step") {
      lab_->post(session::StepOnce{});
    } else if (verb == "budget") {
      words >> word;
      lab_->post(session::SetBudget{std::stoi(word)});
    } else if (verb == "reset") {
      lab_->post(session::Reset{static_cast<bool>(words >> word)});
    } else if (verb == "undo") {
      lab_->post(session::Undo{});
    } else if (verb == "redo") {
      lab_->post(session::Redo{});
    } else if (verb == "edit") {
      words >> word >> key >> value;
      lab_->post(session::EditField{run_of(word), key, value});
    } else if (verb == "text") {
      words >> word;
      lab_->post(session::LoadText{word});
    } else if (verb == "fork" ||
               verb == "drag") {  // "fork A pre [start] [at 30] [with KEY VALUE]"; a drag trains
      words >> word >> value;
      const int32_t source = run_of(word);
      const bool there = static_cast<size_t>(source) < lab_->view()->runs.size();
      session::ForkRequest fork = request(*lab_->view(), there ? source : 0, value);
      fork.source = source;
      fork.train = verb == "drag";
      while (words >> word)
        if (word == "start")
          fork.from_start = true;
        else if (word == "at")
          words >> fork.step;
        else
          with(word, words, fork.spec);
      lab_->post(fork);
    } else if (verb == "from") {  // "from A 34 [with KEY VALUE]"
      session::ForkFrom fork;
      words >> word >> fork.step;
      fork.run = run_of(word);
      if (words >> word) {
        fork.spec = *lab_->view()->runs[static_cast<size_t>(fork.run)].spec;
        with(word, words, *fork.spec);
      }
      lab_->post(fork);
    } else if (verb == "save") {
      lab_->post(session::SaveSession{folder_.path.string()});
    } else if (verb == "open") {  // in another Lab
      rest(*lab_);
      lab_ = std::make_unique<Lab>(quiet());
      lab_->post(session::RestoreSession{folder_.path.string(), static_cast<bool>(words >> word)});
    } else {
      throw Error("no line begins with " + verb);
    }
  }

  const Folder folder_;
  std::unique_ptr<Lab> lab_;
  mutable std::shared_ptr<const LabView> view_;
  std::vector<std::string> seen_;
};

TEST_CASE("what went to the budget was measured, knows its data, and took time") {
  Lab lab(quiet());
  const auto view = view_after(lab, session::ReplaceRuns{three(), {}, true});
  CHECK_FALSE(view->busy);
  for (const RunView& run : view->runs) {
    CHECK(run.skip_scales.size() == 4);
    CHECK(std::isfinite(run.validation_loss));
    CHECK(run.seconds_per_step > 0);
  }
  CHECK(view->unit == "letter");
  CHECK(view->unigram_entropy == Approx(small_task()->unigram_entropy()));
  CHECK(view->entropy_rate > 0.5);
  CHECK(view->seconds_per_step > 0);
}

TEST_CASE("pause, one step, play to a step and on: the same bits") {
  Lab lab(quiet());
  CHECK(view_after(lab, session::ReplaceRuns{three(), {}, false})->step == 0);
  CHECK(lab.view()->runs[0].badge == "paused");
  CHECK(lab.view()->runs[0].writes.size() == 8);
  CHECK(view_after(lab, session::StepOnce{})->step == 1);
  lab.post(session::StepOnce{});
  CHECK(view_after(lab, session::StepOnce{})->step >= 2);  // two steps asked for in one breath may be one
  CHECK(view_after(lab, session::PlayTo{20})->step == 20);
  CHECK_FALSE(lab.view()->playing);
  const std::vector<float> so_far =
      losses(lab.view()->runs[0]);  // fewer than 25: all of them are shown as one
  CHECK(lab.view()->runs[0].loss == std::accumulate(so_far.begin(), so_far.end(), 0.0) / 20);
  lab.post(session::Play{});
  const int32_t paused = view_after(lab, session::Pause{})->step;
  CHECK(paused >= 20);
  const auto view = view_after(lab, session::Play{});
  CHECK(view->step == 60);
  for (size_t i = 0; i < 3; ++i) CHECK(same_bits(losses(view->runs[i]), alone(three()[i], 60)));
}

TEST_CASE("the Lab does what it is told", "[listing]") {
  ToldLab lab;
  check_answers("lab", [&](const std::string& line) { return lab.obey(line); });
}

TEST_CASE("what is shown at a step is a function of specification and step") {
  Lab first(quiet()), second(quiet());
  first.post(session::ReplaceRuns{three(), {}, true});
  first.post(session::Pause{});
  first.post(session::PlayTo{30});
  second.post(session::ReplaceRuns{three(), {}, false});
  view_after(second, session::PlayTo{17});
  second.post(session::PlayTo{30});
  const auto a = rest(first), b = rest(second);
  REQUIRE(a->step == 30);
  REQUIRE(b->step == 30);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(a->runs[i].writes == b->runs[i].writes);
    CHECK(a->runs[i].loss == b->runs[i].loss);
    CHECK(a->runs[i].badge == b->runs[i].badge);
    CHECK(a->runs[i].validation_loss == b->runs[i].validation_loss);
  }
}

TEST_CASE("a run that is not finite halts alone") {
  std::vector<RunSpec> specs = three();
  specs[0] = spec_with("none", {{"train.optimizer", "sgd"}, {"train.lr", "100"}});
  Lab lab(quiet());
  auto view = view_after(lab, session::ReplaceRuns{specs, {}, true});
  CHECK(view->step == 60);
  CHECK(view->runs[0].state == RunState::NonFinite);
  CHECK(view->runs[0].step < 60);
  CHECK_THAT(view->runs[0].badge, Catch::StartsWith("not finite at step "));
  CHECK_THAT(view->runs[0].note, Catch::StartsWith("first in "));
  CHECK(view->runs[2].step == 60);
  view = view_after(lab, request(*view, 0, "pre"));
  CHECK(view->runs.size() == 3);
  CHECK_THAT(view->message, Catch::Contains("not finite"));
  lab.post(session::ReplaceRuns{{specs[0]}, {}, true});  // nothing is left to do
  view = rest(lab);
  CHECK(view->step < 60);
  CHECK_FALSE(view->playing);
}

TEST_CASE("all runs together stay within memory; those kept for undo give way first") {
  const std::vector<RunSpec> two = {small_spec("post"), small_spec("pre")};
  const int64_t each = estimated_bytes(two[0]);
  LabOptions options = quiet();
  options.memory = 4 * each;
  Lab lab(options);
  lab.post(session::ReplaceRuns{two, {}, false});
  lab.post(session::PlayTo{5});
  lab.post(session::EditField{1, "model.activation", "gelu"});  // three: the former B is kept for undo
  lab.post(session::PlayTo{9});
  // It comes back and catches up, and the other one is kept.
  CHECK(view_after(lab, session::EditField{1, "model.activation", "relu"})->step == 9);
  lab.post(session::EditField{1, "model.norm", "rms"});
  lab.post(session::EditField{1, "model.norm", "simple"});  // a fifth: the oldest goes
  CHECK(rest(lab)->message == "");
  std::vector<RunSpec> four(4, small_spec("post"));
  for (size_t i = 0; i < four.size(); ++i) four[i].model.d_model *= 2;
  const auto refused = view_after(lab, session::ReplaceRuns{four, {}, false});
  CHECK_THAT(refused->message, Catch::Contains("of this size needs about") && Catch::Contains("beside"));
  CHECK(refused->runs.size() == 2);
  CHECK(refused->step == 9);
}

TEST_CASE("a text of one's own restarts all on it; a bad one leaves all as it is") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{5});
  const Folder folder;
  const auto before = view_after(lab, session::LoadText{folder.write("empty.txt", "")});
  CHECK(before->message != "");
  CHECK(before->step == 5);
  CHECK(before->data_name == "built-in sentences");
  std::string text;
  for (int i = 0; i < 400; ++i) text += "to be or not to be, that is the question. ";
  const auto view = view_after(lab, session::LoadText{folder.write("good.txt", text)});
  CHECK(view->message == "");
  CHECK(view->step == 0);
  CHECK(view->data_name == "good.txt");
  CHECK(view->unit == "character");
  CHECK(view->entropy_rate == 0);
  CHECK(view_after(lab, session::PlayTo{3})->runs[0].step == 3);
}

TEST_CASE("a run that stays above the level is not stuck at it, and a fork of it is not stuck at all") {
  RunSpec spec = spec_with("post", {{"train.lr", "0.000001"}});
  const auto run = make_run(spec, 170);
  REQUIRE(run->state() == RunState::Stuck);
  const auto stuck = [](const Run& of) {
    std::string text;
    for (const RunEvent& event : of.history()->events())
      if (event.kind == RunEvent::Kind::Stuck) text = event.text;
    return text;
  };
  CHECK_THAT(stuck(*run), Catch::Contains("stuck above"));
  const auto fork = run->fork(with_fields(run->spec(), {{"model.placement", "pre"}}));
  CHECK(fork->state() != RunState::Stuck);
  steps(*fork, 100);
  CHECK(fork->state() != RunState::Stuck);
  CHECK(stuck(*fork) == "");
  steps(*fork, 60);
  CHECK(fork->state() == RunState::Stuck);
}

TEST_CASE("what a run wrote is kept with its step") {
  LabOf lab(three());
  for (int32_t step : {10, 20}) {
    view_after(lab, session::PlayTo{step});
  }
  const auto view = rest(lab);
  REQUIRE(view->runs[0].samples);
  const auto& samples = *view->runs[0].samples;
  REQUIRE(samples.size() >= 2);
  CHECK(samples[samples.size() - 2].step == 10);
  CHECK(samples.back().step == 20);
  CHECK(samples.back().text == view->runs[0].writes);
}

#ifdef __linux__
TEST_CASE("a restored session reads each of its checkpoints once") {
  const auto read_so_far = [] {
    std::ifstream io("/proc/self/io");
    std::string name;
    uint64_t bytes = 0;
    io >> name >> bytes;
    return name == "rchar:" ? bytes : 0;
  };
  if (read_so_far() == 0) SKIP_CASE("this system does not tell how much a program reads");
  const Folder folder;
  LabOf lab(three());
  view_after(lab, session::PlayTo{3});
  view_after(lab, session::SaveSession{folder.path.string()});
  uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path)) size += file.file_size();
  LabTrainer trainer({.threads = 1, .sample_text = false});
  const uint64_t before = read_so_far();
  trainer.carry_out(session::RestoreSession{folder.path.string(), false});
  CHECK_FALSE(trainer.empty());
  CHECK(read_so_far() - before < size * 3 / 2);
}
#endif

// These tests play a step of a Lab's run on a copy: the run does not notice, and then takes the same step.

LabOptions one_thread() {
  LabOptions options = quiet();
  options.threads = 1;
  options.sample_text = false;
  options.validation_every = 0;
  return options;
}

}  // namespace

TEST_CASE(
    "lab: a run whose steps are copied and played has the losses of one that is left alone, to the bit") {
  LabOf lab({small_spec("post"), small_spec("pre")}, one_thread());
  for (const int32_t step : {2, 5, 9}) {
    lab.post(session::PlayStep{1});
    const auto view = view_after(lab, session::PlayTo{step});
    REQUIRE(view->played);
    view->played->player->seek(view->played->player->size());
  }
  const auto view = lab.view();
  CHECK(view->message.empty());
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("post"), 9)));
  CHECK(same_bits(losses(view->runs[1]), alone(small_spec("pre"), 9)));
}

TEST_CASE("lab: the copy is the step that the run takes next") {
  LabOf lab({small_spec("post"), small_spec("pre")}, one_thread());
  view_after(lab, session::PlayTo{4});
  const session::Ticket asked = lab.post(session::PlayStep{1});
  auto view = rest(lab);
  REQUIRE(view->played);
  PlayedStep& played = *view->played;
  CHECK(played.letter == 'B');
  CHECK(played.step == 5);
  CHECK(played.ticket == asked);
  CHECK(*played.spec == *view->runs[1].spec);
  CHECK_FALSE(played.source_spec);
  played.player->seek(played.player->size());
  view = view_after(lab, session::StepOnce{});
  CHECK(losses(view->runs[1]).at(4) == static_cast<float>(played.player->program().loss()));
  CHECK_FALSE(view_after(lab, session::PlayStep{7})->message.empty());
}

TEST_CASE("lab: a copy of a step clears no message, and who asked for it is answered") {
  LabOf lab({small_spec("post")}, one_thread());
  auto view = view_after(lab, session::EditField{.run = 0, .key = "no.such", .value = "1"});
  const std::string message = view->message;
  REQUIRE_FALSE(message.empty());
  const session::Ticket first = lab.post(session::PlayStep{0});
  view = rest(lab);
  CHECK(view->message == message);
  CHECK(view->played->ticket == first);
  const session::Ticket refused = lab.post(session::PlayStep{7});
  view = rest(lab);
  CHECK(view->answered == refused);
  CHECK(session::refusal(view->answers, refused) == view->message);
  CHECK(view->message != message);
  const session::Ticket last = lab.post(session::PlayStep{0});
  view = rest(lab);
  CHECK(view->played->ticket == last);
  CHECK(session::refusal(view->answers, last).empty());
  CHECK(view->message.empty());  // it was of the refused one
}

TEST_CASE("lab: what a copy of a step takes is said of one that keeps every gradient") {
  const auto run = make_run(small_spec("post"));
  const RunSpec& spec = run->spec();
  const BatchShape shape =
      run->task().shape(spec.seed, 1, Split::Train, spec.train.batch, spec.model.sequence);
  const Footprint whole = footprint_of(spec.model, shape, shared_backend(), false),
                  reused = footprint_of(spec.model, shape, shared_backend(), true);
  REQUIRE(reused.gradients < whole.gradients);
  CHECK(played_bytes(spec, run->task(), shared_backend()) ==
        3 * (whole.parameters + whole.optimizer) +
            2 * (whole.activations + whole.gradients + whole.workspace));
}

TEST_CASE("lab: a copy that cannot be held is refused in one line") {
  LabOptions options = one_thread();
  options.memory = estimated_bytes(small_spec("post")) + 1;
  Lab lab(options);
  REQUIRE(
      view_after(lab, session::ReplaceRuns{.runs = {small_spec("post")}, .play = false})->message.empty());
  const session::Ticket asked = lab.post(session::PlayStep{0});
  const auto view = rest(lab);
  CHECK_FALSE(view->played);
  CHECK(session::refusal(view->answers, asked) == view->message);
  CHECK(test::contains(view->message, "copying a step"));
  CHECK_FALSE(test::contains(view->message, "\n"));
}

// On SSE4 every number of the broken step is finite, and only squares overflow, which a run's measurements are of.
TEST_CASE("lab: of a broken run the step is handed out at which it broke, as often as it is asked for") {
  const std::string isa = GENERATE(from_range(cpu::available_isas()));
  INFO(isa);
  const test::IsaScope scope(isa);
  Lab lab(one_thread());
  auto view = view_after(
      lab, session::ReplaceRuns{
               .runs = {spec_with("none", {{"train.optimizer", "sgd"}, {"train.lr", "100"}})}, .play = true});
  REQUIRE(view->runs[0].state == RunState::NonFinite);
  for (int time = 0; time < 2; ++time) {
    const session::Ticket asked = lab.post(session::PlayStep{0});
    view = rest(lab);
    REQUIRE(view->played);
    CHECK(view->played->ticket == asked);
    CHECK(view->played->player->seek_not_finite());
  }
}

TEST_CASE("lab: a fork's copy says what it was forked from") {
  LabOf lab({small_spec("post")}, one_thread());
  const auto before = view_after(lab, session::PlayTo{3});
  view_after(lab, request(*before, 0, "pre"));
  const auto view = view_after(lab, session::PlayStep{1});
  REQUIRE(view->played);
  CHECK(view->played->letter == 'D');
  CHECK(view->played->source == 'A');
  REQUIRE(view->played->source_spec);
  CHECK(*view->played->source_spec == *view->runs[0].spec);
}
