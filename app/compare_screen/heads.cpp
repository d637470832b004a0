// The heads of Compare: for each run its card with what its settings have that the baseline's have not, and the places
// where another run can be put.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/compare/words.h"
#include "app/compare_screen/compare_frame.h"
#include "app/ui/widgets.h"
#include "app/view/wiring_glyph.h"
#include "engine/core/boundary.h"
#include "training/io/text_table.h"

namespace normscope::comparison {

using namespace ui;

namespace {

constexpr float kRow = 19;       // of a setting
constexpr size_t kMostRows = 4;  // that a card has room for
constexpr float kListRow = 28;   // of a popup
constexpr size_t kListed = 8;    // runs that need no search
constexpr const char* kSettings = "compare/settings/all";
constexpr TextStyle kBody{Face::Sans, type::body}, kMono{Face::Mono, type::body};

const EndRow* row_of(const Comparison& all, size_t run) {
  const auto at =
      std::find_if(all.rows.begin(), all.rows.end(), [run](const EndRow& row) { return row.run == run; });
  return at == all.rows.end() ? nullptr : &*at;
}

/// Solid needs somebody, outline is fine.
struct Badge {
  std::string text;
  BadgeKind kind = BadgeKind::Outline;
  Icon icon = Icon::None;
};

/// Its own; of a run recorded elsewhere as much as its log says: the placement in a stack like ours.
std::optional<ModelConfig> model_of(const Compared& run) {
  if (run.spec) return run.spec->model;
  for (const auto& [key, value] : run.settings) {
    RunSpec spec;
    if (key == "model.placement" && guarded("", [&] { set_field(spec, key, value); }).empty())
      return spec.model;
  }
  return std::nullopt;
}

std::vector<Badge> badges_of(const Comparison& all, size_t run) {
  std::vector<Badge> badges;
  if (run == all.baseline()) badges.push_back({"baseline", BadgeKind::Solid});
  if (was_replaced(all.runs[run]))  // so it is a recorded one
    badges.push_back({"replaced", BadgeKind::Solid, Icon::File});
  else if (!all.runs[run].source.empty())
    badges.push_back({"recorded", BadgeKind::Outline, Icon::File});
  if (all.differences[run].data != SameData::Same)
    badges.push_back(all.differences[run].data == SameData::Other ? Badge{"other data", BadgeKind::Solid}
                                                                  : Badge{"data not said"});
  const EndRow* row = row_of(all, run);
  if (!row) return badges;
  if (row->verdict.starts_with("stuck"))
    badges.push_back({"stuck", BadgeKind::Solid, Icon::Minus});
  else if (row->verdict.starts_with("not finite"))
    badges.push_back({"not finite", BadgeKind::Error});
  else if (row->leaves && *row->leaves > 0)
    badges.push_back({fmt::format("since {}", grouped(*row->leaves)), BadgeKind::Outline, Icon::Learning});
  return badges;
}

}  // namespace

void CompareScreen::draw_heads(Frame& f, Rect rest) {
  const float gap = f.compact() ? 6 : space::gap;
  if (!f.compact()) draw_labels(f, rest.take_left(116));
  const float width = (rest.w - gap * static_cast<float>(kMost - 1)) / static_cast<float>(kMost);
  bool first = true;
  for (const SideBySide::Place& place : f.places) {
    const Rect card = rest.take_left(width, gap);
    if (place.live || place.recorded)
      draw_card(f, card, place);
    else
      draw_empty(f, card, place, std::exchange(first, false));
  }
  if (f.has()) draw_settings(f);
}

/// What differs, a line a setting, level with the values on the cards.
void CompareScreen::draw_labels(Frame& f, Rect rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  p.text({rest.x + 2, rest.y + 20}, {Face::Bold, type::title}, t.ink, "What differs");
  if (!f.has()) return;
  const Comparison& all = f.all();
  HitOptions some;
  some.enabled = !all.settings.empty();
  const Hit hit = f.ui.hit("compare/settings", rest, settings_sentence(all),
                           "Every setting in which the runs differ, side by side.", some);
  if (hit.hovered && some.enabled) p.outline(rest, t.ink, 1.2f, radius::field);
  if (hit.clicked) f.ui.open_popup(kSettings);
  const auto differing = static_cast<size_t>(std::count_if(
      all.settings.begin(), all.settings.end(), [](const Setting& setting) { return setting.differs(); }));
  const size_t unsaid = all.settings.size() - differing;
  const std::string count = all.same ? "nothing"
                                     : fmt::format("{} setting{}{}", differing, differing == 1 ? "" : "s",
                                                   unsaid == 0 ? "" : fmt::format(", {} unsaid", unsaid));
  p.text({rest.x + 2, rest.y + 38}, {Face::Sans, type::tick}, t.ink3, count);
  if (all.shared > 0)
    p.text({rest.x + 2, rest.y + 53}, {Face::Sans, type::tick}, t.ink3,
           fmt::format("{} are shared", all.shared));
  const size_t more = all.settings.size() > kMostRows ? all.settings.size() - kMostRows + 1 : 0;
  for (size_t i = 0; i < all.settings.size() && i < kMostRows; ++i) {
    const bool rest_of_them = more > 0 && i + 1 == kMostRows;
    const std::string label = rest_of_them ? fmt::format("{} more", more) : all.settings[i].label;
    const std::string bare = label.substr(0, label.find(" ("));
    p.text({rest.x + 2, rest.y + 81 + kRow * static_cast<float>(i)}, kBody, t.ink2,
           fitting(p, kBody, rest.w - 6, {label, bare}));
  }
}

/// All of them: in the head there is room for a few, and for none in the compact layout.
void CompareScreen::draw_settings(Frame& f) {
  Ui& ui = f.ui;
  if (!ui.popup_open(kSettings)) return;
  const std::vector<std::vector<std::string>> table = settings_table(f.all(), "≠ ");
  const auto runs = static_cast<float>(f.all().runs.size());
  constexpr float kLabel = 200;
  const float each = std::min(240.f, (ui.size().x - kLabel - 2 * space::pad - 16) / runs);
  const auto room = static_cast<size_t>((ui.size().y - 100) / kRow);
  const bool cut = table.size() > room;
  const size_t rows = cut ? room - 1 : table.size();
  Rect list{8, 60, kLabel + each * runs + 2 * space::pad,
            kRow * static_cast<float>(rows + (cut ? 1 : 0)) + 16};
  if (!ui.begin_popup(kSettings, list)) return;
  Painter& p = ui.paint();
  Rect rest = list.inset(space::pad, 8);
  for (size_t row = 0; row < rows; ++row) {
    const Rect whole_row = rest.take_top(kRow);
    Rect line = whole_row;
    std::string whole;
    for (size_t column = 0; column < table[row].size(); ++column) {
      const std::string& text = table[row][column];
      const Rect cell = line.take_left(column == 0 ? kLabel : each);
      const TextStyle style = row == 0 ? TextStyle{Face::Bold, type::body} : column == 0 ? kBody : kMono;
      const Colour ink = column == 0 && row > 0 ? ui.theme().ink2 : ui.theme().ink;
      const std::string shown = fitting(p, style, cell.w - 8, {text, "…"});
      p.text_in(cell, style, ink, shown);
      if (shown != text && cell.contains(ui.mouse())) ui.tooltip(text);
      if (column > 0) whole += (column > 1 ? "; " : "") + text;
    }
    if (row > 0)
      ui.mark("compare/settings/" + f.all().settings[row - 1].key, whole_row, whole, table[row].front());
  }
  if (cut)
    p.text_in(rest, kBody, ui.theme().ink3,
              fmt::format("{} more: normscope compare prints all of them", table.size() - rows));
  ui.end_popup();
}

void CompareScreen::draw_card(Frame& f, const Rect& card, const SideBySide::Place& place) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<size_t> run = f.run_of(place.letter);
  const bool baseline = run && *run == f.all().baseline(), compact = f.compact();
  p.fill(card, t.panel, radius::panel);
  p.outline(card, baseline ? t.ink : t.border, baseline ? line::selected : line::border, radius::panel);
  const std::string control = fmt::format("compare/run/{}", place.letter);
  const Track none, &track = run ? f.all().losses[*run].shown : none;
  std::optional<size_t> point;
  if (run) point = f.point_of(*run, track.x);
  const double loss = run && point ? f.loss_at(*run, *point) : kUnknown;
  const std::string name = run ? f.all().runs[*run].name : "", number = fixed(loss, 2);
  HitOptions over;
  over.radius = radius::panel;
  over.overlap = true;
  const std::string value = fmt::format("{}{}, loss {}", name, baseline ? ", baseline" : "", number);
  if (ui.hit(control, card, value,
             fmt::format("Run {}. Click, or press {}, to make it the baseline.", place.letter, place.letter),
             over)
          .clicked)
    baseline_ = place.letter;
  const float pad = compact ? 9 : space::pad - 2, size = compact ? 24 : 30;
  tile(ui, {card.x + pad, card.y + pad, size, size}, place.letter - 'A');
  if (!run) return;
  const TextStyle big{Face::Mono, compact ? type::figure : type::run_loss};
  const float loss_w = std::max(p.text_width(big, number), compact ? 0.f : 100.f);
  p.text({card.right() - pad, card.y + (compact ? 26.f : 30.f)}, big, t.ink, number, Align::Right);
  const float left = card.x + pad + size + (compact ? 8 : 10);
  const TextStyle bold{Face::Bold, compact ? type::title : type::run_name};
  const float room = card.right() - pad - loss_w - 8 - left;
  p.text({left, card.y + 25}, bold, t.ink, title_of(f, *run, bold, room));
  const float menu_w = 90;
  const Rect menu{card.right() - menu_w - 6, card.bottom() - (compact ? 25.f : 26.f), menu_w, 22};
  if (!compact) {
    const bool ended = !point && !track.empty() && f.x() > track.x.back();
    const std::string at = ended          ? fmt::format("ends at step {}", grouped(track.steps.back()))
                           : run && point ? fmt::format("step {}, mean of {}", grouped(track.steps[*point]),
                                                        f.window_at(*run, *point))
                                          : "nats";
    p.text({card.right() - pad, card.y + 48}, {Face::Sans, type::tick}, t.ink3, at, Align::Right);
    float x = left;
    for (const Badge& b : badges_of(f.all(), *run)) {
      if (x + badge_width(ui, b.text, b.icon) > card.right() - pad - 104) break;
      x += badge(ui, {x, card.y + 34}, b.text, b.kind, b.icon) + 6;
    }
    p.hairline({card.x + pad, card.y + 63}, {card.right() - pad, card.y + 63}, t.border);
    if (const std::optional<ModelConfig> model = model_of(f.all().runs[*run]))
      lab::draw_wiring_glyph(ui, {card.right() - pad - 82, card.y + 66}, *model,
                             t.runs[static_cast<size_t>(place.letter - 'A')].line);
    draw_card_settings(f, card, *run);
  } else {
    const std::string state = baseline ? "baseline" : f.all().differences[*run].short_words();
    p.text({card.x + pad, card.bottom() - 10}, kBody, t.ink2,
           fitting(p, kBody, menu.x - card.x - pad - 4,
                   {state, state.substr(0, state.find(':')), state.substr(0, state.find(','))}));
  }
  draw_replace(f, menu, place);
}

/// As many words of a run's name as have room; the card's own value is the whole of it.
std::string CompareScreen::title_of(Frame& f, size_t run, TextStyle style, float room) {
  const std::string& name = f.all().runs[run].name;
  const Painter& p = f.ui.paint();
  std::string words = name;
  while (p.text_width(style, words) > room) {
    const size_t blank = words.rfind(' '), end = blank == words.npos ? words.rfind('-') : blank;
    if (end == words.npos || end < 4) break;
    words.resize(end);
  }
  return fitting(p, style, room,
                 {name, short_name(f.all(), run), name.substr(0, name.find(',')), words, "…"});
}

/// The values of what differs; what is not the baseline's stands on a chip behind a sign.
void CompareScreen::draw_card_settings(Frame& f, const Rect& card, size_t run) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const Comparison& all = f.all();
  const float left = card.x + 50;
  for (size_t i = 0; i < all.settings.size() && i < kMostRows; ++i) {
    if (all.settings.size() > kMostRows && i + 1 == kMostRows) break;
    const Setting& setting = all.settings[i];
    const float base = card.y + 81 + kRow * static_cast<float>(i);
    const bool said = setting.values[run].has_value(), differs = setting.differs(run, all.baseline());
    const float right = 104;  // beside the wiring and "replace"
    const TextStyle style = said ? kMono : kBody;
    const std::string whole = value_words(all, setting, run);
    // Of data their name alone says much.
    const std::string brief = setting.key == "data" && said ? whole.substr(0, whole.find(", ")) : "…";
    const std::string text = fitting(p, style, card.right() - right - left, {whole, brief, "…"});
    if (differs) {
      p.text({card.x + 24, base}, kMono, t.ink, "≠");
      p.fill({left - 6, base - 13, p.text_width(style, text) + 12, 17}, t.sunk, radius::field);
    }
    p.text({left, base}, style, differs || run == all.baseline() ? t.ink : t.ink3, text);
    const Rect chip{left - 6, base - 13, card.right() - right - left, 17};
    f.ui.mark(fmt::format("compare/setting/{}/{}", all.letter(run), setting.key), chip, whole, setting.label);
    if (text != whole && chip.contains(f.ui.mouse()))
      f.ui.tooltip(fmt::format("{}: {}", setting.label, whole));
  }
}

void CompareScreen::draw_empty(Frame& f, const Rect& card, const SideBySide::Place& place, bool first) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.dashed_outline(card, t.strong, 1.6f, {4, 3}, radius::panel);
  const float pad = f.compact() ? 9 : space::pad - 2, size = f.compact() ? 24 : 30;
  tile(ui, {card.x + pad, card.y + pad, size, size}, place.letter - 'A', true);
  Rect words{card.x + pad + size + 10, card.y + pad, card.w - 2 * pad - size - 10, size};
  if (!place.path.empty()) {
    const std::string text = place.fault.empty() ? "reading …" : place.fault;
    ui.mark(fmt::format("compare/fault/{}", place.letter), card, text, "A file that is open here.");
    if (p.wrapped_height(words.w, {Face::Sans, type::tick}, text, 14) <=
        card.h - 2 * pad - (f.compact() ? 0 : 26))
      p.text_wrapped({words.x, words.y, words.w, card.h - 2 * pad}, {Face::Sans, type::tick},
                     place.fault.empty() ? t.ink3 : t.error, text, 14);
    else if (card.contains(ui.mouse()))
      ui.tooltip(text);
    return draw_replace(f, {card.right() - 96, card.bottom() - 25, 90, 22}, place);
  }
  if (first && !f.compact())
    p.text_in(words, kBody, t.ink2, fitting(p, kBody, words.w, {"Open a run to compare with", "Open a run"}));
  draw_replace(f, {card.right() - 96, card.bottom() - 25, 90, 22}, place);
}

void CompareScreen::draw_replace(Frame& f, const Rect& place, const SideBySide::Place& now) {
  Ui& ui = f.ui;
  const std::string name = fmt::format("compare/run/{}/replace", now.letter);
  const bool anybody = now.live || now.recorded || !now.path.empty();
  ButtonOptions quiet;
  quiet.quiet = true;
  quiet.style = {Face::Sans, type::tick};
  quiet.icon = Icon::ChevronDown;
  if (button(ui, name, place, anybody ? "replace" : "open",
             "Another run in this place: live, or from a file.", quiet)) {
    search_.clear();
    ui.open_popup(name);
  }
  if (ui.popup_open(name)) draw_list(f, name, place, now);
}

/// Where a file shall stand when all four places are taken: nobody leaves unasked.
void CompareScreen::ask_where(Frame& f) {
  constexpr const char* kWhere = "compare/where";
  if (unplaced_.empty()) return;
  Ui& ui = f.ui;
  if (!std::exchange(asking_, true)) ui.open_popup(kWhere);
  const Rect box = centred({ui.size().x / 2, ui.size().y / 2}, 420, 72 + kListRow * (kMost + 1));
  bool answered = false;
  if (ui.begin_popup(kWhere, box)) {
    Rect left = box.inset(space::pad, 10);
    const std::string path = unplaced_.front(), file = path.substr(path.find_last_of("/\\") + 1);
    Painter& p = ui.paint();
    const TextStyle bold{Face::Bold, type::title};
    p.text_in(left.take_top(26), bold, ui.theme().ink,
              fitting(p, bold, left.w,
                      {fmt::format("Where shall {} stand?", file), "Where shall the file stand?"}));
    p.text_in(left.take_top(24), kBody, ui.theme().ink2,
              "Four runs stand side by side; one makes room for it.");
    ButtonOptions row;
    row.quiet = row.left = true;
    row.style = kBody;
    const auto entry = [&](const std::string& name, const std::string& label, const char* help) {
      const Rect at = left.take_top(kListRow).inset(0, 1);
      return button(ui, name, at, p.fit(kBody, label, at.w - 24), help, row);
    };
    for (const SideBySide::Place& place : f.places) {
      const std::optional<size_t> run = f.run_of(place.letter);
      const std::string who = run ? f.all().runs[*run].name : place.path;
      if (entry(fmt::format("{}/{}", kWhere, place.number + 1),
                fmt::format("Instead of {}, {}", place.letter, who),
                place.live ? "The run stays in the Lab and can come back here." : "That file is closed.")) {
        side_.open(path, f.view, place.number);
        answered = true;
      }
    }
    if (entry(fmt::format("{}/none", kWhere), "Nowhere: do not open it", "Everything stays as it is."))
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

/// The list of runs that can stand here; of many those whose names have the letters that are typed.
void CompareScreen::draw_list(Frame& f, const std::string& name, const Rect& place,
                              const SideBySide::Place& now) {
  Ui& ui = f.ui;
  const size_t slot = now.number;
  const std::vector<SideBySide::Choice> others = side_.choices();
  const bool anybody = now.live || now.recorded || !now.path.empty();
  const char own = static_cast<char>('A' + now.number);  // of the live run that belongs here
  const bool back = !now.live && !live_key(f.view, own).empty(), many = others.size() > kListed;
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
  row.style = kBody;
  const auto entry = [&](const std::string& id, const std::string& label, const char* help) {
    const Rect at = left.take_top(kListRow).inset(0, 1);
    const bool pressed = button(ui, name + "/" + id, at, ui.paint().fit(kBody, label, at.w - 24), help, row);
    if (pressed) ui.close_popup();
    return pressed;
  };
  if (entry("file", "Open a log or a saved run …", "By its path; a file can be dropped too.")) {
    open_into_ = slot;
    f.desk.opens_file = true;
  }
  if (back && entry("live", fmt::format("Run {} of the Lab", own), "The run that trains here."))
    side_.bring_back(slot);
  if (anybody && entry("none", "Leave it out", "Nobody stands here then.")) side_.leave_out(slot);
  if (settings && entry("settings", "What differs", "Every setting in which the runs differ."))
    ui.open_popup(kSettings);
  if (many)
    text_field(ui, name + "/search", left.take_top(kListRow).inset(0, 2), "search", search_,
               "Letters of the run's name.");
  for (size_t i = 0; i < others.size() && left.h >= kListRow; ++i)
    if (others[i].name.find(search_) != std::string::npos &&
        entry(fmt::format("{}", i + 1), others[i].name, "A run of a file that is open."))
      side_.put(slot, others[i].path, others[i].run);
  ui.end_popup();
}

}  // namespace normscope::comparison
