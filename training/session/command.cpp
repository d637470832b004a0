#include "training/session/command.h"

#include <algorithm>

namespace normscope::session {
namespace {

bool of_one_setting(const Command& a, const Command& b) {
  if (a.index() != b.index()) return false;
  if (const auto* spec = std::get_if<SetSpec>(&a)) return spec->run == std::get<SetSpec>(b).run;
  if (const auto* edit = std::get_if<EditField>(&a))
    return edit->run == std::get<EditField>(b).run && edit->key == std::get<EditField>(b).key;
  return std::holds_alternative<SetBudget>(a);
}

bool has_setting_of(const std::vector<Command>& commands, const Command& command) {
  return std::ranges::any_of(commands, [&](const Command& one) { return of_one_setting(one, command); });
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

bool replaces_runs(const Command& c) {
  return std::holds_alternative<ReplaceRuns>(c) || std::holds_alternative<RestoreSession>(c) ||
         std::holds_alternative<ExchangeSession>(c);
}

bool can_be_taken_back(const Command& c) {
  return std::holds_alternative<ForkRequest>(c) || std::holds_alternative<ForkFrom>(c) ||
         std::holds_alternative<EditField>(c) || std::holds_alternative<LoadText>(c) ||
         std::holds_alternative<SetBudget>(c) || std::holds_alternative<Reset>(c) ||
         std::holds_alternative<ReplaceRuns>(c) || std::holds_alternative<RestoreSession>(c);
}

Message refusal(const Answers& answers, Ticket ticket) {
  const auto at = from_ticket(answers, ticket);
  return at != answers.end() && (*at)->ticket == ticket ? (*at)->refused : Message();
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

}  // namespace normscope::session
