// The commands of LabTrainer build what they need first and change the Lab last, so that an Error leaves everything as
// it was. lab_edits.cpp has the commands that change a run, and the commands of D.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/run/run_record.h"
#include "training/session/analysis.h"
#include "training/session/command.h"
#include "training/session/lab_trainer.h"
#include "training/spec/backend_choice.h"
#include "training/spec/spec.h"

namespace normscope {

void LabTrainer::carry_out(const session::Command& command, session::Ticket ticket,
                           const session::Hand& hand) {
  std::optional<session::Session> before;
  if (can_be_taken_back(command)) before = shown_session();
  began_anew_ = false;
  std::visit(
      [&](const auto& asked) {
        if constexpr (requires { serve(asked, ticket); })
          serve(asked, ticket);
        else
          serve(asked);
      },
      command);
  if (!now_.instant && (wisher_.busy() || !asked_.empty())) want_anew();
  share_cores();
  if (before) note_change(std::move(*before), hand);
}

void LabTrainer::refuse(session::Ticket ticket, const Message& why) { keep_answer({ticket, why}); }

/// Sorts the answers: a step that is trained again for its copy may be refused after later commands were answered.
void LabTrainer::keep_answer(session::Answer answer) {
  constexpr size_t kMax = 1000;
  const auto later = [](session::Ticket ticket, const auto& one) { return ticket < one->ticket; };
  answers_.insert(std::upper_bound(answers_.begin(), answers_.end(), answer.ticket, later),
                  std::make_shared<const session::Answer>(answer));
  if (answers_.size() > kMax) answers_.erase(answers_.begin());
}

LabEntry& LabTrainer::entry(int32_t index) const {
  const auto all = now_.entries();
  if (index < 0 || static_cast<size_t>(index) >= all.size())
    fail("lab", "there is no run {}: expected 0 to {}", index, static_cast<int64_t>(all.size()) - 1);
  return *all[static_cast<size_t>(index)];
}

std::unique_ptr<LabEntry> LabTrainer::make_entry(RunSpec spec, char letter, int32_t budget) {
  spec.train.steps = budget;
  validate(spec);  // refuses the specification before reading its data
  auto made = std::make_unique<LabEntry>();
  const auto task = task_for(spec.data);
  made->run = std::make_unique<Run>(std::move(spec), task, *backend_);
  made->letter = letter;
  made->from_start = true;
  made->take = ++made_;
  return made;
}

std::vector<RunSpec> LabTrainer::specs() const {
  std::vector<RunSpec> specs;
  for (const LabEntry* entry : now_.entries()) specs.push_back(entry->spec());
  return specs;
}

// Makes `all` the Lab's runs; a D among them becomes the fork.
void LabTrainer::show(std::vector<std::unique_ptr<LabEntry>> all) {
  now_.fork.reset();
  now_.runs = std::move(all);
  if (now_.runs.size() > 1 && now_.runs.back()->letter == 'D') {
    now_.fork = std::move(now_.runs.back());
    now_.runs.pop_back();
  }
  begin_round();
}

// Forgets times and texts under way of the runs that were shown before.
void LabTrainer::begin_round() {
  passed_.clear();
  writing_ = 0;
  text_credit_ = 0;
  next_step_ = {};
  seconds_per_step_ = tokens_per_second_ = 0;
}

void LabTrainer::start(session::ReplaceRuns command) {
  auto& [specs, edits, play, known, letters, instant] = command;
  if (specs.empty()) fail("lab", "no runs are given: expected 1 to {}", kMaxRuns);
  if (specs.size() > kMaxRuns) fail("lab", "{} runs: expected 1 to {}", specs.size(), kMaxRuns);
  constexpr std::string_view kLetters = "ABCD";
  if (letters.empty()) letters = kLetters.substr(0, specs.size());
  const bool ascending = std::ranges::adjacent_find(letters, std::greater_equal<>()) == letters.end();
  if (letters.size() != specs.size() || !ascending || letters.find_first_not_of(kLetters) != letters.npos)
    fail("lab", "letters '{}' of {} runs: expected as many of A to D, ascending", letters, specs.size());
  const int32_t budget = specs.front().train.steps;
  make_room(specs);
  std::vector<std::unique_ptr<LabEntry>> all;
  for (size_t i = 0; i < specs.size(); ++i) {
    all.push_back(make_entry(std::move(specs[i]), letters[i], budget));
    if (i < edits.size()) all.back()->run->schedule_edits(std::move(edits[i]));
  }
  begin_lineage();
  now_.budget = now_.portion = budget;
  now_.instant = instant;
  now_.playing = play && !now_.instant;
  show(std::move(all));
  ++generation_;
  earlier_.reset();
  target_ = now_.playing ? std::numeric_limits<int32_t>::max() : 0;
  if (!now_.instant) return;
  now_.step = target_ = budget;
  for (LabEntry* entry : now_.entries()) entry->wanted = std::make_shared<const RunSpec>(entry->run->spec());
  want_anew();
}

void LabTrainer::open(session::ReplaceRuns command) {
  command.play = true;
  start(std::move(command));
  bool any = false;
  for (LabEntry* entry : now_.entries()) {
    const auto known = trainer_->finished()->find({entry->run->identity(), numbers()});
    if (!known) continue;
    entry->run = Run::resume(*known, task_for(known->origin.data), *backend_);
    entry->unscored = true;
    any = true;
  }
  if (!any) return;
  now_.step = now_.budget;
  pause();
}

void LabTrainer::play_to(int32_t step) {
  if (now_.runs.empty()) return;
  if (now_.instant) fail("lab", "every run is whole: expected a change, or the same runs in full");
  const bool released = release_holds();
  if (released && (now_.step >= now_.budget || step <= now_.step))
    return;  // D catches up, and no other run has to
  if (all_broken()) fail("lab", "no run is finite any more: reset or edit one");
  if (step <= now_.step) return;
  if (now_.step >= now_.budget) change_budget(portion_after(now_.step));
  start_playing();
  target_ = step;
}

void LabTrainer::start_playing() {
  now_.playing = true;
  target_ = std::numeric_limits<int32_t>::max();
  writing_ = 0;
  next_step_ = {};
}

void LabTrainer::pause() {
  now_.playing = false;
  target_ = now_.step;
}

void LabTrainer::serve(const session::StepOnce&) {
  if (release_holds()) return;
  play_to(now_.step + 1);
  now_.playing = false;
}

void LabTrainer::serve(const session::Reset& asked) {
  std::vector<RunSpec> all = specs();
  if (all.empty()) return;
  const uint64_t seed = all.front().seed + (asked.new_seed ? 1 : 0);
  if (now_.instant) return want_edited(now_.entries(), "run.seed", std::to_string(seed));
  for (RunSpec& spec : all) spec.seed = seed;
  restart(all, true);
}

/// Keeps the runs that are shown for undo, and makes room for others in their place.
void LabTrainer::begin_lineage() {
  Kept leave;
  for (LabEntry* entry : now_.entries()) leave.push_back(as_left(*entry));
  const std::shared_ptr<const std::string> window = now_.window;
  now_ = {};
  now_.lineage = ++lineages_;
  now_.window = window;
  for (auto& run : leave) keep(std::move(run));
}

void LabTrainer::come_back(bool by_undo) {
  ++restored_;
  by_undo_ = by_undo;
  window_ = now_.window;
  ++generation_;
  earlier_.reset();
  begin_round();
  if (now_.playing) release_holds();
  target_ = now_.playing ? std::numeric_limits<int32_t>::max() : now_.step;
}

void LabTrainer::set_budget(int32_t steps) {
  if (steps < 1 || steps > kMaxSteps)
    fail("train.steps", "{} is out of range: expected 1 to {}", steps, kMaxSteps);
  now_.portion = steps;
  if (now_.instant) {
    now_.budget = now_.step = target_ = steps;
    return want_edited(now_.entries(), "train.steps", std::to_string(steps));
  }
  change_budget(steps);
}

int32_t LabTrainer::portion_after(int32_t step) const {
  return std::min(step + now_.portion, kMaxSteps);  // both are at most kMaxSteps
}

void LabTrainer::change_budget(int32_t steps) {
  now_.budget = steps;
  for (LabEntry* entry : now_.entries()) entry->run->set_budget(steps);
  if (now_.step >= now_.budget) pause();
}

void LabTrainer::serve(const session::SetSpeed& asked) {
  const double limit = asked.steps_per_second;
  limit_ = std::isfinite(limit) && limit > 0 ? limit : 0;
  next_step_ = {};
}

void LabTrainer::serve(const session::MeasureBatch&) {
  if (now_.runs.empty()) fail("lab", "there is no run to measure");
  std::vector<LabEntry*> measured = now_.entries();
  std::erase_if(measured,
                [](const LabEntry* entry) { return !is_transformer(entry->run->spec().model.architecture); });
  if (measured.empty()) fail("lab", "no run has sub-layers to measure: expected a transformer");
  for (LabEntry* entry : measured)
    if (!entry->broken()) entry->batch = entry->run->measure_batch();
}

void LabTrainer::serve(const session::Ablate& asked) {
  LabEntry& measured = entry(asked.run);
  if (measured.broken()) fail("ablation", "the weights are not finite: expected a run that is");
  measured.ablation = std::make_shared<const Ablation>(layer_ablation(*measured.run, asked.left_out));
}

void LabTrainer::serve(const session::LoadText& asked) {
  std::vector<RunSpec> all = specs();
  if (all.empty()) fail("lab", "there is no run to read a text");
  // The file may have changed since it was last read.
  std::erase_if(tasks_, [&](const auto& known) { return known.first.text_path == asked.path; });
  if (now_.instant) return want_edited(now_.entries(), "data.text", asked.path);
  for (RunSpec& spec : all) set_field(spec, "data.text", asked.path);
  restart(all, true);
}

// ---- backend and memory: all runs are on one backend

std::unique_ptr<Backend> LabTrainer::make_device(BackendChoice choice) const {
  return options_.open_backend ? options_.open_backend(choice) : make_backend(choice, options_.threads);
}

void LabTrainer::serve(const session::SetBackend& asked) {
  BackendChoice choice = asked.choice;
  choice.tf32 = choice.tf32 && choice.cuda;
  backend_note_.clear();
  if (choice == choice_) return;
  if (now_.instant) fail("backend", "whole runs train on the CPU: expected cpu");
  if (!choice.cuda && !backend_->error().empty()) {
    fall_back(backend_->error());
    return;
  }
  std::vector<LabEntry*> moved;
  std::unique_ptr<Backend> device;
  try {
    if (choice.cuda) device = make_device(choice);
    for (LabEntry* entry : now_.entries()) {
      entry->run->move_to(device ? *device : *cpu_);
      moved.push_back(entry);
    }
  } catch (...) {  // all stay; no other error may pass for a DeviceError of a run
    const Message why = describe_exception("moving the runs");
    for (LabEntry* entry : moved) entry->run->move_to(*backend_);
    fail("backend", "{}", why);
  }
  for (LabEntry* entry : moved) {
    entry->scoring.reset();
    entry->looking.reset();
  }
  wisher_.want({});
  earlier_.reset();
  backend_ = device ? device.get() : cpu_.get();
  device_ = std::move(device);
  choice_ = choice;
}

bool LabTrainer::fall_back(const Message& why) {
  if (backend_ == cpu_.get()) return false;
  for (LabEntry* entry : now_.entries()) {
    Run& run = *entry->run;
    run.recover_on(*cpu_, why);
    while (run.catching_up()) run.step();                 // a snapshot is never old
    entry->unscored = entry->unscored || entry->scoring;  // if the device failed during it
    entry->scoring.reset();                               // a half from another backend would not fit
    entry->looking.reset();
  }
  wisher_.want({});
  earlier_.reset();
  backend_ = cpu_.get();
  device_.reset();
  choice_ = {};
  want_anew();
  backend_note_ = message = Message("CUDA stopped, the runs go on on the CPU: {}", why);
  return true;
}

size_t LabTrainer::kept_bytes() const {
  size_t sum = 0;
  for (const auto& run : kept_) sum += run->record->bytes();
  return sum;
}

int64_t LabTrainer::memory() const {  // 0: the size is unknown
  return options_.memory > 0 ? options_.memory : static_cast<int64_t>(machine_memory());
}

int64_t LabTrainer::held_bytes() const {
  auto bytes = static_cast<int64_t>(kept_bytes());
  for (const LabEntry* entry : now_.entries()) bytes += estimated_bytes(entry->run->spec());
  return bytes;
}

// Refuses runs that memory cannot hold: requests have no cap, but such a run would end the whole session.
// It drops what is kept for undo, the oldest first.
void LabTrainer::make_room(const std::vector<RunSpec>& more) {
  int64_t wanted = 0;
  for (const RunSpec& spec : more) {
    validate(spec);
    wanted += estimated_bytes(spec);
  }
  while (!has_room(wanted) && drop_kept()) continue;
  if (memory() > 0) require_bytes("lab", wanted, held_bytes(), memory());
}

namespace session {
namespace {

template <typename... Kinds>
bool is_any(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

Answers::const_iterator from_ticket(const Answers& answers, Ticket ticket) {
  return std::lower_bound(answers.begin(), answers.end(), ticket,
                          [](const auto& answer, Ticket wanted) { return answer->ticket < wanted; });
}

}  // namespace

Command::Command(const Command&) = default;
Command::Command(Command&&) noexcept = default;
Command& Command::operator=(const Command&) = default;
Command& Command::operator=(Command&&) noexcept = default;
Command::~Command() = default;

bool replaces_runs(const Command& c) { return is_any<ReplaceRuns, RestoreSession>(c); }

bool can_be_taken_back(const Command& c) {
  return is_any<ForkRequest, ForkFrom, EditField, LoadText, SetBudget, Reset, ReplaceRuns, RestoreSession>(c);
}

Message refusal(const Answers& answers, Ticket ticket) {
  const auto at = from_ticket(answers, ticket);
  return at != answers.end() && (*at)->ticket == ticket ? (*at)->refused : Message();
}

}  // namespace session
}  // namespace normscope
