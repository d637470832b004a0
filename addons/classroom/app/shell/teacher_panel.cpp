// Draws the panel in which a teacher prepares a lesson, and the menu of a control or a group. See teacher.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addons/classroom/app/shell/teacher.h"
#include "app/shell/palette.h"
#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"

namespace normscope::shell::classroom {
namespace {

using namespace ui;

constexpr const char* kMenuPopup = "teacher/menu";
constexpr std::string_view kCommandGroup = "command";
constexpr size_t kRulesShown = 6;
constexpr float kRow = 26, kPanelWidth = 312;

const std::vector<words::Label>& hold_words() {
  static const std::vector<words::Label> words{words::label("Shown"), words::label("Locked"),
                                               words::label("Hidden")};
  return words;
}

// What was pointed at with its groups, or every command that no control stands for.
std::vector<std::string> menu_rows(const std::string& picked) {
  if (picked != kCommandGroup) return control_and_groups(picked);
  std::vector<std::string> rows{picked};
  for (const view::Shortcut& s : view::shortcuts()) {
    const std::string name(s.control);
    if (is_for(kCommandGroup, name)) rows.push_back(name);
  }
  return rows;
}

// Makes "Shown" a rule only where it takes something out of a group's rule.
void choose(ControlPolicy& policy, const std::string& name, Hold hold) {
  policy.set(name, std::nullopt);
  if (policy.decides(name).value_or(Hold::Shown) != hold) policy.set(name, hold);
}

void draw_menu(Ui& ui, Teaching& teaching) {
  if (!ui.popup_open(kMenuPopup)) return;
  const std::vector<std::string> rows = menu_rows(teaching.picked);
  const Control* at = ui.registry().find(teaching.picked);
  const Vec size = ui.size();
  const TextStyle body{Face::Sans, type::body};
  const float choices = segmented_width(ui, hold_words());
  float width = 420;  // or more, where a title needs it
  for (const std::string& row : rows)
    width = std::max(width, ui.paint().text_width(body, held_title(ui, row)) + choices + 36);
  width = std::min(width, size.x - 8);
  const float height = 30 * static_cast<float>(rows.size()) + 20;
  Rect box{at ? at->rect.x : (size.x - width) / 2, at ? at->rect.bottom() + 6 : 80, width, height};
  box.x = std::clamp(box.x, 4.f, size.x - width - 4);
  box.y = std::clamp(box.y, 4.f, std::max(4.f, size.y - height - 4));
  if (!ui.begin_popup(kMenuPopup, box)) return;
  Rect rest = box.inset(12, 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    Rect row = rest.take_top(30);
    const Rect place = row.take_right(choices, 10).inset(0, 2);
    int now = static_cast<int>(teaching.kept.policy.decides(rows[i]).value_or(Hold::Shown));
    if (segmented(ui, fmt::format("teacher/menu/{}", i), place, hold_words(), now,
                  tr("In the lesson it is shown, locked (pale, and it does not answer) or hidden.")))
      choose(teaching.kept.policy, rows[i], static_cast<Hold>(now));
    const std::string title = ui.paint().fit(body, held_title(ui, rows[i]), row.w);
    ui.mark(fmt::format("teacher/menu/{}/title", i), row, title, tr("What the choice is for."));
    ui.paint().text_in(row, body, ui.theme().ink, title);
  }
  ui.end_popup();
}

void open_menu(Ui& ui, Teaching& teaching, std::string name) {
  teaching.picked = std::move(name);
  ui.open_popup(kMenuPopup);
}

// Outlines what is locked, and dashes the outline of what will be hidden.
void show_rules(Ui& ui, const ControlPolicy& policy) {
  for (const Control& control : ui.registry().all()) {
    const Hold hold = policy.decides(control.name).value_or(Hold::Shown);
    if (!control.interactive || control.rect.empty() || hold == Hold::Shown) continue;
    if (hold == Hold::Locked)
      ui.paint().outline(control.rect, ui.theme().ink, line::outline, radius::field);
    else
      ui.paint().dashed_outline(control.rect, ui.theme().ink, line::outline, {3, 3}, radius::field);
  }
}

// Lists six rules at a time.
void draw_rules(Ui& ui, Rect rest, Teaching& teaching, std::string& wanted) {
  ControlPolicy& policy = teaching.kept.policy;
  const size_t count = policy.rules().size();
  if (teaching.first_rule >= count) teaching.first_rule = 0;
  const TextStyle body{Face::Sans, type::body};
  if (count == 0)
    return void(ui.paint().text_in(rest.take_top(kRow), body, ui.theme().ink3,
                                   tr("Nothing is locked or hidden yet.")));
  std::string removed;
  auto rule = std::next(policy.rules().begin(), static_cast<std::ptrdiff_t>(teaching.first_rule));
  for (size_t i = 0; i < kRulesShown && rule != policy.rules().end(); ++i, ++rule) {
    Rect row = rest.take_top(kRow);
    const std::string name = fmt::format("teacher/rule/{}", i);
    ButtonOptions quiet;
    quiet.quiet = true;
    quiet.style = body;
    if (icon_button(ui, name + "/remove", row.take_right(24, 4), Icon::Close, tr("Takes this rule away."),
                    quiet))
      removed = rule->first;
    const std::string& word = hold_words()[static_cast<size_t>(rule->second)].shown;
    ui.paint().text_in(row.take_right(46, 6), body, ui.theme().ink3, word);
    quiet.left = true;
    const std::string title = ui.paint().fit(body, held_title(ui, rule->first), row.w - 18);
    if (button(ui, name, row, title, tr("Opens its menu."), quiet)) wanted = rule->first;
  }
  if (!removed.empty()) policy.set(removed, std::nullopt);
}

Rect panel_place(const Ui& ui, bool at_left) {
  const float height = 214 + kRow * static_cast<float>(kRulesShown);
  const Vec size = ui.size();
  return {at_left ? space::margin : size.x - space::margin - kPanelWidth,
          std::max(48.f, size.y - 84 - height), kPanelWidth, height};
}

void close_button(Ui& ui, const Rect& rect, Teaching& teaching) {
  ButtonOptions quiet;
  quiet.quiet = true;
  if (icon_button(ui, "teacher/close", rect, Icon::Close, tr("The rules stay; no lesson begins (Escape)."),
                  quiet))
    teaching.preparing = false;
}

// Draws the title alone on other screens than the panel's own, because rules can be set there too.
void draw_folded(Ui& ui, Teaching& teaching, Screen shown) {
  const Rect whole = panel_place(ui, teaching.at_left);
  const Rect place{whole.x, whole.bottom() - 34, whole.w, 34};
  ui.begin_layer("teacher", place);
  ui.paint().fill(place, ui.theme().raised, radius::panel);
  ui.paint().outline(place, ui.theme().border, line::border, radius::panel);
  Rect rest = place.inset(6, 4);
  close_button(ui, rest.take_right(26, 4), teaching);
  ButtonOptions left;
  left.quiet = left.left = true;
  if (button(ui, "teacher/unfold", rest, tr("Prepare a lesson …"), tr("Opens the panel on this screen."),
             left))
    teaching.open_on = shown;
  ui.end_layer();
}

void draw_head(Ui& ui, Rect& rest, Teaching& teaching) {
  Rect head = rest.take_top(28, 6);
  ButtonOptions quiet;
  quiet.quiet = true;
  quiet.style = {Face::Sans, type::body};
  close_button(ui, head.take_right(26, 4), teaching);
  if (button(ui, "teacher/side", head.take_right(84, 4),
             teaching.at_left ? tr("To the right") : tr("To the left"),
             tr("Moves this panel out of the way."), quiet))
    teaching.at_left = !teaching.at_left;
  ui.paint().text_in(head, {Face::Bold, type::title}, ui.theme().ink, tr("Prepare a lesson"));
  ButtonOptions point;
  point.selected = teaching.pointing;
  point.style = {Face::Sans, type::body};
  if (button(ui, "teacher/point", rest.take_top(28, 4),
             teaching.pointing ? tr("Click a control to lock or hide it") : tr("Point at controls"),
             tr("While pointing, controls do nothing; Tab and Enter point too, the number keys change "
                "the screen."),
             point))
    teaching.pointing = !teaching.pointing;
}

// The code and the two ways to begin; true: begin.
bool draw_foot(Ui& ui, Rect& rest, Teaching& teaching) {
  text_field(ui, "teacher/code", rest.take_top(28, 6), tr("A code to leave the lesson"), teaching.code,
             tr("Whoever has it ends the lesson. It keeps honest students honest; it is no security."));
  Rect row = rest.take_top(30, 4);
  ButtonOptions primary;
  primary.primary = true;
  const bool saves = button(ui, "teacher/save", row.take_right(140, 8), tr("Save for the class"),
                            tr("Begins, and saves the session as a folder that students open."));
  const bool begins =
      button(ui, "teacher/begin", row, tr("Begin the lesson"), tr("The rules hold from now on."), primary);
  ui.paint().text_in(rest.take_top(20), {Face::Sans, type::tick}, ui.theme().ink2, teaching.says);
  if (!saves && !begins) return false;
  teaching.says = teaching.code.empty() ? tr("Set a code first: nothing else ends the lesson.")
                  : teaching.code.size() > kLongestCode ? tr("The code is too long.")
                                                        : "";
  teaching.hand_out = saves && teaching.says.empty();
  return teaching.says.empty();
}

}  // namespace

std::string held_title(const Ui& ui, std::string_view name) {
  for (const view::Shortcut& s : view::shortcuts())
    if (is_for(kCommandGroup, name) && s.control == name) return std::string(s.title);
  const std::string* const group = words::of_window().find(fmt::format("shell.teach_group.{}", name));
  const std::string words = group ? *group : shell::control_title(name);
  const std::span<const Control> all = ui.registry().all();
  const auto count =
      std::ranges::count_if(all, [&](const Control& c) { return c.interactive && is_for(name, c.name); });
  return count > 1 ? tr("{what}, all {count}", {{"what", words}, {"count", count}}) : words;
}

bool draw_preparation(Ui& ui, Teaching& teaching, Screen shown) {
  std::string wanted = ui.take_picked();
  show_rules(ui, teaching.kept.policy);
  if (!teaching.open_on) teaching.open_on = shown;
  if (teaching.open_on != shown) {
    draw_folded(ui, teaching, shown);
    if (!wanted.empty()) open_menu(ui, teaching, std::move(wanted));
    draw_menu(ui, teaching);
    return false;
  }
  const Rect place = panel_place(ui, teaching.at_left);
  ui.begin_layer("teacher", place);
  PanelOptions options;
  options.raised = true;
  Rect rest = panel(ui, place, options);
  draw_head(ui, rest, teaching);
  draw_rules(ui, rest.take_top(kRow * kRulesShown, 6), teaching, wanted);
  const size_t count = teaching.kept.policy.rules().size();
  Rect row = rest.take_top(26, 8);
  ButtonOptions plain;
  plain.style = {Face::Sans, type::body};
  if (count > kRulesShown && button(ui, "teacher/more", row.take_right(90, 8),
                                    tr("Next of {all}", {{"all", count}}), tr("Further rules."), plain))
    teaching.first_rule += kRulesShown;
  if (button(ui, "teacher/commands", row, tr("Commands …"),
             tr("What keys and the palette do without a control."), plain))
    wanted = kCommandGroup;
  const bool begin = draw_foot(ui, rest, teaching);
  ui.end_layer();
  if (!wanted.empty()) open_menu(ui, teaching, std::move(wanted));
  draw_menu(ui, teaching);
  return begin;
}

}  // namespace normscope::shell::classroom
