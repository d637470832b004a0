// This file chooses the run of a place: the list that "replace" opens, and a file's place when all are taken.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "addons/compare/app/screen/compare_frame.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::compare_screen {

using namespace ui;

namespace {

constexpr float kListRow = 28;  // height of a row in the popup
constexpr size_t kListed = 8;   // runs that need no search
constexpr TextStyle kEntry{Face::Sans, type::body};

}  // namespace

void CompareScreen::draw_replace(Frame& f, const Rect& place, const SideBySide::Place& now) {
  Ui& ui = f.ui;
  const std::string name = fmt::format("compare/run/{}/replace", now.letter);
  const bool anybody = now.live || now.recorded || !now.path.empty();
  ButtonOptions quiet;
  quiet.quiet = true;
  quiet.style = {Face::Sans, type::tick};
  quiet.icon = Icon::ChevronDown;
  const std::string& label = tr(anybody ? "replace" : "open");
  const bool pressed =
      place.w < 60 ? icon_button(ui, name, place, Icon::ChevronDown,
                                 tr("Puts another run in this place, from the Lab or from a file."), quiet)
                   : button(ui, name, place, label,
                            tr("Puts another run in this place, from the Lab or from a file."), quiet);
  if (pressed) {
    search_.clear();
    ui.open_popup(name);
  }
  if (ui.popup_open(name)) draw_list(f, name, place, now);
}

/// Asks where a file shall stand when all places are taken, so that no run leaves unasked.
void CompareScreen::ask_where(Frame& f) {
  constexpr const char* kWhere = "compare/where";
  if (unplaced_.empty()) return;
  Ui& ui = f.ui;
  if (!std::exchange(asking_, true)) ui.open_popup(kWhere);
  const Rect box = centred({ui.size().x / 2, ui.size().y / 2}, 420, 72 + kListRow * (compare::kMost + 1));
  bool answered = false;
  if (ui.begin_popup(kWhere, box)) {
    Rect left = box.inset(space::pad, 10);
    const std::string path = unplaced_.front(), file = path.substr(path.find_last_of("/\\") + 1);
    Painter& p = ui.paint();
    const TextStyle bold{Face::Bold, type::title};
    p.text_in(
        left.take_top(26), bold, ui.theme().ink,
        fitting(p, bold, left.w,
                {tr("Where shall {file} stand?", {{"file", file}}), tr("Where shall the file stand?")}));
    p.text_in(left.take_top(24), kEntry, ui.theme().ink2,
              tr("Four runs stand side by side; one makes room for it."));
    ButtonOptions row;
    row.quiet = row.left = true;
    row.style = kEntry;
    const auto entry = [&](const std::string& name, const std::string& label, const std::string& help) {
      const Rect at = left.take_top(kListRow).inset(0, 1);
      return button(ui, name, at, p.fit(kEntry, label, at.w - 24), help, row);
    };
    for (const SideBySide::Place& place : f.places) {
      const std::optional<size_t> run = f.run_of(place.letter);
      const std::string who = run ? words::spoken(f.all().runs[*run].name) : place.path;
      if (entry(fmt::format("{}/{}", kWhere, place.number + 1),
                tr("Instead of {letter}, {name}", {{"letter", place.letter}, {"name", who}}),
                place.live ? tr("The run stays in the Lab and can come back here.")
                           : tr("That file is then closed."))) {
        side_.open(path, f.view, place.number);
        answered = true;
      }
    }
    if (entry(fmt::format("{}/none", kWhere), tr("Nowhere: do not open it"),
              tr("Everything stays as it is.")))
      answered = true;
    if (answered) ui.close_popup();
    ui.end_popup();
  } else {
    answered = true;  // it was closed
  }
  if (!answered) return;
  unplaced_.erase(unplaced_.begin());
  asking_ = false;
}

/// Lists the runs that can stand here; a long list can be narrowed by typed letters.
void CompareScreen::draw_list(Frame& f, const std::string& name, const Rect& place,
                              const SideBySide::Place& now) {
  Ui& ui = f.ui;
  const size_t slot = now.number;
  const std::vector<SideBySide::Choice> others = side_.choices();
  const bool anybody = now.live || now.recorded || !now.path.empty();
  const char own = static_cast<char>('A' + now.number);  // letter of the live run that belongs here
  const bool back = !now.live && !compare::live_key(f.view, own).empty(), many = others.size() > kListed;
  const bool settings = f.compact() && f.has() && !f.all().settings.empty();
  const size_t fixed_rows = 1u + back + anybody + settings + many;
  const float top = place.bottom() + 2;
  const auto room = static_cast<size_t>(std::max(0.f, (ui.size().y - top - 20) / kListRow));
  const size_t rows = std::min(fixed_rows + others.size(), std::max(room, fixed_rows));
  const Rect list{std::max(4.f, place.right() - 240), top, 240, kListRow * static_cast<float>(rows) + 12};
  if (!ui.begin_popup(name, list)) return;
  Rect left = list.inset(6);
  ButtonOptions row;
  row.quiet = row.left = true;
  row.style = kEntry;
  const auto entry = [&](const std::string& id, const std::string& label, const std::string& help) {
    const Rect at = left.take_top(kListRow).inset(0, 1);
    const bool pressed = button(ui, name + "/" + id, at, ui.paint().fit(kEntry, label, at.w - 24), help, row);
    if (pressed) ui.close_popup();
    return pressed;
  };
  if (entry("file", tr("Open a log or a saved run …"), tr("By its path; a file can be dropped too."))) {
    open_into_ = slot;
    f.desk.opens_file = true;
  }
  if (back && entry("live", tr("Run {run} of the Lab", {{"run", own}}), tr("The run that trains here.")))
    side_.bring_back(slot);
  if (anybody && entry("none", tr("Leave it out"), tr("This place then stays empty."))) side_.leave_out(slot);
  if (settings && entry("settings", tr("What differs"), tr("Every setting in which the runs differ.")))
    ui.open_popup(kSettings);
  if (many)
    text_field(ui, name + "/search", left.take_top(kListRow).inset(0, 2), tr("search"), search_,
               tr("Letters of the run's name."));
  for (size_t i = 0; i < others.size() && left.h >= kListRow; ++i)
    if (others[i].name.find(search_) != std::string::npos &&
        entry(fmt::format("{}", i + 1), others[i].name, tr("A run of a file that is open.")))
      side_.put(slot, others[i].path, others[i].run);
  ui.end_popup();
}

}  // namespace normscope::compare_screen
