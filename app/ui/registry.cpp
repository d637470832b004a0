#include "app/ui/registry.h"

namespace normscope::ui {

void Registry::clear() {
  controls_.clear();
  index_.clear();
  duplicates_.clear();
}

void Registry::add(Control control) {
  if (!index_.emplace(control.name, controls_.size()).second) duplicates_.push_back(control.name);
  controls_.push_back(std::move(control));
}

const Control* Registry::find(std::string_view name) const {
  auto it = index_.find(std::string(name));
  return it == index_.end() ? nullptr : &controls_[it->second];
}

std::string Registry::to_text() const {
  std::string text;
  for (const Control& c : controls_) {
    text += c.name;
    if (!c.value.empty()) text += " = " + c.value;
    if (!c.enabled) text += " (disabled)";
    text += '\n';
  }
  return text;
}

}  // namespace normscope::ui
