// This part of LabTrainer chooses the function that carries a command out, and finds the commands that take it back.
#include "training/session/command.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "training/session/lab_trainer.h"

namespace normscope {
namespace session {
namespace {

bool of_one_setting(const Command& a, const Command& b) {
  if (a.index() != b.index()) return false;
  if (const auto* spec = std::get_if<SetSpec>(&a)) return spec->run == std::get<SetSpec>(b).run;
  if (const auto* edit = std::get_if<EditField>(&a))
    return edit->run == std::get<EditField>(b).run && edit->key == std::get<EditField>(b).key;
  return std::holds_alternative<SetBudget>(a);
}

bool has_setting_of(const std::vector<Command>& commands, const Command& command) {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& one) { return of_one_setting(one, command); });
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

bool can_be_taken_back(const Command& c) {
  return std::holds_alternative<ForkRequest>(c) || std::holds_alternative<ForkFrom>(c) ||
         std::holds_alternative<EditField>(c) || std::holds_alternative<LoadText>(c) ||
         std::holds_alternative<SetBudget>(c) || std::holds_alternative<Reset>(c);
}

std::string refusal(const Answers& answers, Ticket ticket) {
  const auto at = from_ticket(answers, ticket);
  return at != answers.end() && (*at)->ticket == ticket ? (*at)->refused : "";
}

void add_changes(Change& sum, const Answers& answers, Ticket first, Ticket last) {
  for (auto at = from_ticket(answers, first); at != answers.end() && (*at)->ticket <= last; ++at) {
    std::vector<Command> undo;  // the last change is taken back first
    for (const Command& one : (*at)->change.undo)
      if (!has_setting_of(sum.undo, one)) undo.push_back(one);
    sum.undo.insert(sum.undo.begin(), undo.begin(), undo.end());
    for (const Command& one : (*at)->change.redo) {
      std::erase_if(sum.redo, [&](const Command& before) { return of_one_setting(before, one); });
      sum.redo.push_back(one);
    }
  }
}

}  // namespace session

struct LabTrainer::Carrier {
  LabTrainer& trainer;
  session::Ticket ticket;
  void operator()(const session::Play&) const { trainer.play_to(std::numeric_limits<int32_t>::max()); }
  void operator()(const session::PlayTo& c) const { trainer.play_to(c.step); }
  void operator()(const session::Pause&) const { trainer.pause(); }
  void operator()(const session::StepOnce&) const { trainer.step_once(); }
  void operator()(const session::Reset& c) const { trainer.reset(c.new_seed); }
  void operator()(const session::ExchangeReset& c) const { trainer.exchange_reset(c.back); }
  void operator()(const session::SetBudget& c) const { trainer.set_budget(c.steps); }
  void operator()(const session::SetSpeed& c) const { trainer.set_steps_per_second(c.steps_per_second); }
  void operator()(const session::SetBackend& c) const { trainer.set_backend(c.choice); }
  void operator()(const session::EditField& c) const { trainer.edit(c.run, c.key, c.value); }
  void operator()(const session::LoadText& c) const { trainer.load_text(c.path); }
  void operator()(const session::SetSpec& c) const { trainer.set_spec(c.run, *c.spec, c.edits); }
  void operator()(const session::ForkRequest& c) const { trainer.fork(c); }
  void operator()(const session::ForkFrom& c) const { trainer.fork_from(c.run, c.step, c.spec); }
  void operator()(const session::RemoveFork&) const { trainer.remove_fork(); }
  void operator()(const session::RestoreFork&) const { trainer.restore_fork(); }
  void operator()(const session::CheckSeeds& c) const {
    c.on ? trainer.check_seeds() : trainer.cancel_seeds();
  }
  void operator()(const session::MeasureBatch&) const { trainer.measure_batch(); }
  void operator()(const session::Ablate& c) const { trainer.ablate(c.run, c.left_out); }
  void operator()(const session::Inquire& c) const { trainer.inquire(c); }
  void operator()(const session::PlayStep& c) const { trainer.play_step(c.run, ticket); }
  void operator()(const session::ReplaceRuns& c) const {
    c.known ? trainer.open(c.runs, c.edits, c.letters) : trainer.start(c.runs, c.play, c.edits, c.letters);
  }
  void operator()(const session::TakeBack& c) const { trainer.take_back(c); }
  void operator()(const session::SaveSession& c) const { trainer.save(c.folder); }
  void operator()(const session::RestoreSession& c) const { trainer.restore(c.folder, c.play, ticket); }
  void operator()(const session::SwapSession&) const {}  // Lab::post turns it into two commands
};

void LabTrainer::carry_out(const session::Command& command, session::Ticket ticket) {
  const Found before = found();
  std::visit(Carrier{*this, ticket}, command);
  if (ticket == 0 || !can_be_taken_back(command)) return;
  session::Change change = change_by(command, before);
  if (!change.undo.empty()) keep_answer({ticket, {}, std::move(change)});
}

void LabTrainer::refuse(session::Ticket ticket, const std::string& why) { keep_answer({ticket, why, {}}); }

/// `keep_answer` sorts: a step that is trained again for its copy may be refused after later commands were answered.
void LabTrainer::keep_answer(session::Answer answer) {
  constexpr size_t kMost = 1000;
  const auto later = [](session::Ticket ticket, const auto& one) { return ticket < one->ticket; };
  answers_.insert(std::upper_bound(answers_.begin(), answers_.end(), answer.ticket, later),
                  std::make_shared<const session::Answer>(answer));
  if (answers_.size() > kMost) answers_.erase(answers_.begin());
}

LabTrainer::Found LabTrainer::found() const {
  Found now{letters(), {}, {}, budget_, playing_};
  for (LabEntry* entry : entries()) {
    now.specs.push_back(published_spec(*entry));
    now.edits.push_back(static_cast<int32_t>(entry->run->edits().size()));
  }
  return now;
}

/// Takes specifications back run by run. Runs that restarted with the same specifications are exchanged for
/// the former runs.
session::Change LabTrainer::change_by(const session::Command& command, const Found& before) const {
  if (std::holds_alternative<session::ForkRequest>(command) ||
      std::holds_alternative<session::ForkFrom>(command)) {
    session::Change change{{session::RemoveFork{}}, {session::RestoreFork{}}};
    const auto* fork = std::get_if<session::ForkRequest>(&command);
    if (fork && fork->train && !before.playing)  // the fork started the training
      change.undo.insert(change.undo.begin(), session::Pause{});
    return change;
  }
  const Found now = found();
  if (now.letters != before.letters || before.specs.empty()) return {};
  session::Change change;
  for (size_t i = 0; i < now.specs.size(); ++i) {
    RunSpec then = *before.specs[i];
    then.train.steps = now.specs[i]->train.steps;  // the budget belongs to the Lab
    if (!(then == *now.specs[i]))
      change.undo.emplace_back(session::SetSpec{static_cast<int32_t>(i), before.specs[i], before.edits[i]});
  }
  const auto* reset = std::get_if<session::Reset>(&command);
  if (change.undo.empty() && (reset || std::holds_alternative<session::LoadText>(command)))
    return {{session::ExchangeReset{true}}, {session::ExchangeReset{false}}};
  if (now.budget != before.budget) change.undo.emplace_back(session::SetBudget{before.budget});
  if (change.undo.empty()) return {};
  const auto* edit = std::get_if<session::EditField>(&command);
  if (edit && now.budget == before.budget && is_live(edit->key))
    for (const session::Command& one : change.undo) {
      const auto run = static_cast<size_t>(std::get<session::SetSpec>(one).run);
      change.redo.emplace_back(session::SetSpec{static_cast<int32_t>(run), now.specs[run], now.edits[run]});
    }
  else
    change.redo.push_back(
        reset ? session::Command(session::EditField{-1, "run.seed", std::to_string(now.specs[0]->seed)})
              : command);
  return change;
}

void LabTrainer::take_back(const session::TakeBack& command) {
  session::Change change;
  add_changes(change, answers_, command.first, command.last);
  for (const session::Command& one : command.again ? change.redo : change.undo) carry_out(one);
}

}  // namespace normscope
