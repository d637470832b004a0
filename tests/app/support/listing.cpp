#include "app/support/listing.h"

#include <algorithm>

#include "answers.h"

namespace normscope::fixture {
namespace {

std::string one_line(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 3) text.replace(at, 1, " / ");
  return text;
}

std::string line_of(const ui::Control& control) {
  std::string line = control.name;
  if (!control.value.empty()) line += " = " + one_line(control.value);
  if (!control.enabled) line += " (off)";
  return line;
}

bool is_text(const std::string& line) { return line.starts_with("|"); }

/// The name of the control that a line is about.
std::string subject(const std::string& line) { return line.substr(0, line.find(" ")); }

/// The parts in lines that begin with a sign, as many in each as it holds.
std::string filled(const char* sign, const std::vector<std::string>& parts) {
  std::string text;
  size_t width = 0;
  for (const std::string& part : parts) {
    if (text.empty() || width + part.size() > 110) {
      text += (text.empty() ? "" : "\n") + std::string(sign);
      width = 1;
    }
    text += " " + part;
    width += part.size() + 1;
  }
  return text.empty() ? "" : text + "\n";
}

/// The texts that are seen, from top to bottom and from left to right: a line for each, or for each row of them.
std::vector<std::string> texts_of(const ui::Ui& ui, const ui::Rect& part, bool by_row) {
  std::vector<const ui::TextRecord*> texts;
  for (const ui::TextRecord& text : ui.texts())
    if (!text.rect.intersect(text.clip).empty() && part.contains(text.rect.centre())) texts.push_back(&text);
  const auto row = [](const ui::TextRecord* t) { return static_cast<int>(t->rect.centre().y / 6); };
  std::ranges::stable_sort(texts, [&](const auto* a, const auto* b) {
    return std::tuple(a->layer, row(a), a->rect.x) < std::tuple(b->layer, row(b), b->rect.x);
  });
  std::vector<std::string> rows;
  const ui::TextRecord* last = nullptr;
  for (const ui::TextRecord* text : texts) {
    const bool beside = last && last->layer == text->layer && row(last) == row(text);
    if (beside && text->rect.x < last->rect.right() + 6)
      rows.back() += (text->rect.x < last->rect.right() + 1 ? "" : " ") + text->text;
    else if (beside && by_row)
      rows.back() += " | " + text->text;
    else
      rows.push_back("| " + text->text);
    last = text;
  }
  return rows;
}

}  // namespace

std::vector<std::string> lines_of(const ui::Ui& ui, const std::vector<std::string>& of) {
  std::vector<std::string> lines;
  for (const ui::Control& control : ui.registry().all())
    if (std::ranges::any_of(of, [&](const std::string& begin) { return control.name.starts_with(begin); }))
      lines.push_back(line_of(control));
  if (std::ranges::find(of, "|") != of.end())
    for (std::string& text : texts_of(ui, {-1e4f, -1e4f, 2e4f, 2e4f}, false))
      lines.push_back(std::move(text));
  return lines;
}

std::string page_of(const ui::Ui& ui, const ui::Rect& part) {
  std::string page;
  for (const std::string& row : texts_of(ui, part, true)) page += row + "\n";
  return page;
}

std::string controls_with_help(const ui::Ui& ui, std::string_view prefix) {
  std::string text;
  for (const ui::Control& control : ui.registry().all())
    if (control.name.starts_with(prefix)) text += line_of(control) + "\n  " + one_line(control.help) + "\n";
  return text;
}

std::string changes(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::multiset<std::string> old(before.begin(), before.end());
  std::set<std::string> controls;
  std::vector<std::string> texts, gone;
  std::string added;
  for (const std::string& line : after) {
    if (!is_text(line)) controls.insert(subject(line));
    if (const auto found = old.find(line); found != old.end())
      old.erase(found);
    else if (is_text(line))
      texts.push_back(line);
    else
      added += "+ " + line + "\n";
  }
  for (const std::string& line : before)
    if (const auto found = old.find(line); found != old.end()) {
      old.erase(found);
      if (is_text(line))
        gone.push_back(line);
      else if (!controls.contains(subject(line)))
        gone.push_back(subject(line));
    }
  return filled("-", gone) + added + filled("+", texts);
}

void check_listing(const std::string& name, const std::string& text, std::source_location where) {
  test::check_file(test::beside(where, "screens/" + name), text);
}

}  // namespace normscope::fixture
