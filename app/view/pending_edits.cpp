#include "app/view/pending_edits.h"

#include <algorithm>

#include "engine/core/error.h"

namespace normscope::view {
namespace {

// The value as the field would print it; nothing where the trainer will refuse it.
std::optional<std::string> taken(const RunSpec& spec, const std::string& key, const std::string& value) {
  RunSpec trial = spec;
  try {
    set_field(trial, key, value);
    return get_field(trial, key);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void PendingEdits::ask(const RunView& run, const std::string& key, const std::string& value) {
  const size_t before =
      std::erase_if(asked_, [&](const Request& a) { return a.letter == run.letter && a.key == key; });
  const auto wanted = taken(*run.spec, key, value);
  if (wanted && (before > 0 || *wanted != get_field(*run.spec, key)))
    asked_.push_back({run.letter, key, *wanted, 0});
}

void PendingEdits::note(const LabView& view, std::span<const session::Command> made) {
  for (const session::Command& command : made) {
    if (const auto* edit = std::get_if<session::EditField>(&command)) {
      const bool all = edit->run < 0 || edit->key.starts_with("data.") || edit->key == "run.seed";
      for (size_t i = 0; i < view.runs.size(); ++i)
        if (view.runs[i].spec && (all || edit->run == static_cast<int>(i)))
          ask(view.runs[i], edit->key, edit->value);
    }
  }
}

void PendingEdits::posted(session::Ticket ticket) {
  for (Request& a : asked_)
    if (a.ticket == 0) a.ticket = ticket;
}

void PendingEdits::settle(const LabView& view) {
  std::erase_if(asked_, [&](const Request& a) { return a.ticket != 0 && a.ticket <= view.answered; });
}

LabView PendingEdits::applied(const LabView& view) const {
  LabView then = view;
  for (RunView& run : then.runs) {
    std::shared_ptr<RunSpec> spec;
    for (const Request& a : asked_) {
      if (a.letter != run.letter) continue;
      if (!spec) spec = std::make_shared<RunSpec>(*run.spec);
      set_field(*spec, a.key, a.value);
    }
    if (spec) run.spec = std::move(spec);
  }
  return then;
}

bool PendingEdits::has(char letter, std::string_view key) const {
  return std::ranges::any_of(asked_, [&](const Request& a) { return a.letter == letter && a.key == key; });
}

bool PendingEdits::building(char letter) const {
  return std::ranges::any_of(asked_, [&](const Request& a) { return a.letter == letter && !is_live(a.key); });
}

}  // namespace normscope::view
