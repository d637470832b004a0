#include "app/ui/policy/control_policy.h"

#include <algorithm>
#include <iterator>

namespace normscope::ui {
namespace {

constexpr std::string_view kSigns = "/.";  // between the parts of a name
constexpr std::string_view kNeverHeld[] = {"app/palette", "app/message", "app/failure"};

}  // namespace

bool ControlPolicy::owns(std::string_view control) const {
  return owner_ &&
         std::ranges::any_of(owner_->controls, [&](std::string_view name) { return is_for(name, control); });
}

bool ControlPolicy::never_held(std::string_view control) const {
  return owns(control) || std::any_of(std::begin(kNeverHeld), std::end(kNeverHeld),
                                      [&](std::string_view name) { return is_for(name, control); });
}

const std::string& ControlPolicy::locked_help() const {
  static const std::string nothing;
  return owner_ ? owner_->locked() : nothing;
}

bool is_for(std::string_view rule, std::string_view control) {
  if (!control.starts_with(rule)) return false;
  return control.size() == rule.size() || kSigns.find(control[rule.size()]) != kSigns.npos;
}

void ControlPolicy::set(std::string_view name, std::optional<Hold> hold) {
  const auto at = rules_.find(name);
  if (!hold) {
    if (at != rules_.end()) rules_.erase(at);
    return;
  }
  if (at != rules_.end()) return void(at->second = *hold);
  if (name.empty() || name.size() > kLongestRule || never_held(name) || rules_.size() >= kMostRules) return;
  rules_.emplace(name, *hold);
}

std::optional<Hold> ControlPolicy::rule(std::string_view name) const {
  const auto at = rules_.find(name);
  return at == rules_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<Hold> ControlPolicy::decides(std::string_view control) const {
  if (rules_.empty() || never_held(control)) return {};
  for (std::string_view name = control;;) {
    if (const auto at = rules_.find(name); at != rules_.end()) return at->second;
    const size_t sign = name.find_last_of(kSigns);
    if (sign == name.npos) return {};
    name = name.substr(0, sign);
  }
}

std::vector<std::string> control_and_groups(std::string_view control) {
  std::vector<std::string> names;
  while (true) {
    names.emplace_back(control);
    const size_t sign = control.find_last_of(kSigns);
    if (sign == control.npos) return names;
    control = control.substr(0, sign);
  }
}

}  // namespace normscope::ui
