// The top of the Compare screen: a card for each run, with the settings in which it differs from the baseline, and a
// menu of the runs and files that may take its place.
#include <algorithm>

#include "addons/compare/app/screen/compare_screen.h"
#include "addons/compare/app/writers.h"
#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "training/io/text.h"

namespace normscope::compare_screen {
using namespace ui;
using namespace compare;
namespace {

constexpr float kRow = 19;         // height of a setting
constexpr size_t kMaxRows = 4;     // settings that a card has room for
constexpr float kNarrow = 240;     // a card without room for name and loss in one line
constexpr float kWithGlyph = 300;  // a card with room for its wiring next to the settings
constexpr float kOpener = 44;      // the empty place after four or more runs, where one more can be opened
constexpr TextStyle kBody{Face::Sans, type::body}, kMono{Face::Mono, type::body};

const EndRow* row_of(const Comparison& all, size_t run) {
  const auto at = std::ranges::find(all.rows, run, &EndRow::run);
  return at == all.rows.end() ? nullptr : &*at;
}

/// A word on a card: solid where the user has to act, otherwise an outline.
struct Badge {
  std::string text;
  BadgeKind kind = BadgeKind::Outline;
  Icon icon = Icon::None;
};

/// The run's own model, or for a run recorded elsewhere our stack with the placement that its log names.
std::optional<ModelConfig> model_of(const Recording& run) {
  if (run.spec) return run.spec->model;
  for (const auto& setting : run.settings) {
    RunSpec spec;
    if (setting.first == "model.placement" &&
        guarded("", [&] { set_field(spec, setting.first, setting.second); }).empty())
      return spec.model;
  }
  return std::nullopt;
}

/// How many lines of its log could not be read; empty: none.
std::string unread_words(const Recording& run) {
  return run.read.broken > 0 ? tr("{count} line unread | {count} lines unread", {{"count", run.read.broken}})
                             : "";
}

/// `step`: the cursor's, of the run. A verdict stands on the card from its own step on, as the loss there does.
std::vector<Badge> badges_of(const Comparison& all, size_t run, int32_t step) {
  std::vector<Badge> badges;
  if (run == all.baseline()) badges.push_back({tr("baseline"), BadgeKind::Solid});
  if (const std::string unread = unread_words(all.runs[run]); !unread.empty())
    badges.push_back({unread, BadgeKind::Error});
  if (all.runs[run].took_place)  // then it is a recorded run
    badges.push_back({tr("replaced"), BadgeKind::Solid, Icon::File});
  else if (!all.runs[run].path.empty())
    badges.push_back({tr("recorded"), BadgeKind::Outline, Icon::File});
  if (all.differences[run].data != SameData::Same)
    badges.push_back(all.differences[run].data == SameData::Other ? Badge{tr("other data"), BadgeKind::Solid}
                                                                  : Badge{tr("data not said")});
  const EndRow* row = row_of(all, run);
  if (!row) return badges;
  const Verdicts known = row->known(step);
  const auto seeds = [&](Verdict::Kind kind) {
    const auto count = static_cast<size_t>(known.count(kind)), of = row->seeds;
    const std::string& word = tr(word_of(kind));
    return count == of ? word : tr("{fate} {of} of {all}", {{"fate", word}, {"of", count}, {"all", of}});
  };
  if (known.count(Verdict::NotFinite) > 0)
    badges.push_back({seeds(Verdict::NotFinite), BadgeKind::Error});
  else if (known.count(Verdict::Diverges) > 0)
    badges.push_back({seeds(Verdict::Diverges), BadgeKind::Error});
  else if (known.count(Verdict::Stuck) > 0)
    badges.push_back({seeds(Verdict::Stuck), BadgeKind::Solid, Icon::Minus});
  else if (row->leaves && *row->leaves > 0 && *row->leaves <= step)
    badges.push_back(
        {tr("since {step}", {{"step", grouped(*row->leaves)}}), BadgeKind::Outline, Icon::Learning});
  return badges;
}

constexpr float kListRow = 28;  // height of a row in the popup
constexpr size_t kListed = 8;   // runs that need no search
constexpr TextStyle kEntry{Face::Sans, type::body};

bool entry(Ui& ui, Rect& left, const std::string& name, const std::string& label, const std::string& help) {
  const Rect at = left.take_top(kListRow).inset(0, 1);
  return button(ui, name, at, ui.paint().fit(kEntry, label, at.w - 24), help,
                {.quiet = true, .left = true, .style = kEntry});
}

}  // namespace

/// The filled places, and empty ones up to four in all. From four filled ones on, one empty place more, if there is
/// one.
std::vector<SideBySide::Place> CompareScreen::cards_of(const Frame& f) const {
  const auto used = [](const SideBySide::Place& place) {
    return place.live || place.recorded || !place.path.empty();
  };
  std::vector<SideBySide::Place> cards;
  const auto taken = static_cast<size_t>(std::ranges::count_if(f.places, used));
  const size_t most = std::max<size_t>(4, taken + 1);
  for (const SideBySide::Place& place : f.places)
    if (used(place)) cards.push_back(place);
  for (const SideBySide::Place& place : f.places)
    if (!used(place) && cards.size() < most) cards.push_back(place);
  if (taken < 4) std::ranges::sort(cards, {}, &SideBySide::Place::number);
  return cards;
}

void CompareScreen::draw_heads(Frame& f, Rect rest) {
  const float gap = f.compact() ? 6 : space::gap;
  if (!f.compact()) draw_labels(f, rest.take_left(116));
  const std::vector<SideBySide::Place> cards = cards_of(f);
  const bool opener = cards.size() > 4 && !cards.back().live && cards.back().path.empty();
  const float wide = static_cast<float>(cards.size() - opener), opens = opener ? kOpener + gap : 0;
  const float width = (rest.w - opens - gap * (wide - 1)) / wide;
  bool first = true;
  for (const SideBySide::Place& place : cards) {
    const Rect card = opener && &place == &cards.back() ? rest : rest.take_left(width, gap);
    if (place.live || place.recorded)
      draw_card(f, card, place);
    else
      draw_empty(f, card, place, std::exchange(first, false));
  }
  if (f.has()) draw_settings(f);
}

void CompareScreen::draw_remove(Frame& f, const Rect& place, const SideBySide::Place& now) {
  if (icon_button(f.ui, fmt::format("compare/run/{}/remove", now.letter), place, Icon::Close,
                  tr("This place then stays empty."), {.quiet = true}))
    side_.leave_out(now.number);
}

/// Draws the names of the settings that differ, level with their values on the cards.
void CompareScreen::draw_labels(Frame& f, Rect rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  p.text({rest.x + 2, rest.y + 20}, {Face::Bold, type::title}, t.ink, tr("What differs"));
  if (!f.has()) return;
  const Comparison& all = f.all();
  HitOptions some{.enabled = !all.settings.empty()};
  const Hit hit = f.ui.hit("compare/settings", rest, settings_sentence(all),
                           tr("Every setting in which the runs differ, side by side."), some);
  if (hit.hovered && some.enabled) p.outline(rest, t.ink, 1.2f, radius::field);
  if (hit.clicked) f.ui.open_popup(kSettings);
  const auto differing = static_cast<size_t>(
      std::ranges::count_if(all.settings, [](const Setting& setting) { return setting.differs(); }));
  const size_t unsaid = all.settings.size() - differing;
  const std::string count =
      all.same ? tr("nothing")
               : tr(unsaid == 0 ? "{count} setting | {count} settings"
                                : "{count} setting, {unsaid} unsaid | {count} settings, {unsaid} unsaid",
                    {{"count", differing}, {"unsaid", unsaid}});
  p.text({rest.x + 2, rest.y + 38}, {Face::Sans, type::tick}, t.ink3, count);
  if (all.shared > 0)
    p.text({rest.x + 2, rest.y + 53}, {Face::Sans, type::tick}, t.ink3,
           tr("{shared} are shared", {{"shared", all.shared}}));
  const size_t more = all.settings.size() > kMaxRows ? all.settings.size() - kMaxRows + 1 : 0;
  for (size_t i = 0; i < all.settings.size() && i < kMaxRows; ++i) {
    const bool rest_of_them = more > 0 && i + 1 == kMaxRows;
    const std::string label = rest_of_them ? tr("{more} more", {{"more", more}}) : all.settings[i].label;
    const std::string bare = label.substr(0, label.find(" ("));
    p.text({rest.x + 2, rest.y + 81 + kRow * static_cast<float>(i)}, kBody, t.ink2,
           fitting(p, kBody, rest.w - 6, {label, bare}));
  }
}

/// Lists all settings that differ: the cards show a few, and none in the compact layout.
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
      if (column > 0) whole += (column > 1 ? "; " : "") + text;
    }
    if (row > 0)
      ui.tell("compare/settings/" + f.all().settings[row - 1].key, whole_row, whole,
              fmt::format("{}: {}", table[row].front(), whole));
  }
  if (cut)
    p.text_in(rest, kBody, ui.theme().ink3,
              tr("{more} more: normscope compare prints all of them", {{"more", table.size() - rows}}));
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
  const std::string name = words::spoken(run ? f.all().runs[*run].name : place.name);
  const std::string number = nats_words(loss);
  HitOptions over{.overlap = true, .radius = radius::panel};
  const std::string value = !run ? name
                                 : tr(baseline ? "{name}, baseline, loss {loss}" : "{name}, loss {loss}",
                                      {{"name", name}, {"loss", number}});
  if (ui.hit(control, card, value,
             tr("Run {run}. Click, or press {run}, to make it the baseline.", {{"run", place.letter}}), over)
          .clicked)
    choose_baseline(place.letter);
  const bool ended = run && !point && !track.empty() && f.x() > track.x.back();
  const std::vector<Badge> badges = run ? badges_of(f.all(), *run,
                                                    point   ? track.steps[*point]
                                                    : ended ? track.steps.back()
                                                            : 0)
                                        : std::vector<Badge>{};
  const bool narrow = !compact && card.w < kNarrow;  // then the loss is below the name
  const float pad = compact ? 9 : space::pad - 2, size = compact || narrow ? 24 : 30;
  tile(ui, {card.x + pad, card.y + pad, size, size}, place.letter - 'A');
  const float below = card.bottom() - (compact ? 25.f : 26.f), menu_w = narrow || card.w < 200 ? 26.f : 90.f;
  const Rect menu{card.right() - 28 - menu_w, below, menu_w, 22};
  draw_remove(f, {card.right() - 28, below, 22, 22}, place);
  if (!run) {  // nothing to compare with yet
    const TextStyle bold{Face::Bold, compact || narrow ? type::title : type::run_name};
    const float left = card.x + pad + size + 10;
    p.text({left, card.y + 25}, bold, t.ink, fitting(p, bold, card.right() - pad - left, {name, "…"}));
    return draw_replace(f, menu, place);
  }
  const TextStyle big{Face::Mono, compact || narrow ? type::figure : type::run_loss};
  const float loss_w = narrow ? 0 : std::max(p.text_width(big, number), compact ? 0.f : 100.f);
  p.text({card.right() - pad, card.y + (compact  ? 26.f
                                        : narrow ? 52.f
                                                 : 30.f)},
         big, t.ink, number, Align::Right);
  const float left = card.x + pad + size + (compact || narrow ? 8 : 10);
  const TextStyle bold{Face::Bold, compact || narrow ? type::title : type::run_name};
  const float room = card.right() - pad - loss_w - (narrow ? 0.f : 8.f) - left;
  const std::string title = title_of(f, *run, bold, room);
  const bool untitled = compact && title == "…";  // then the name is below
  if (!untitled) p.text({left, card.y + 25}, bold, t.ink, title);
  if (narrow) {
    float x = card.x + pad;
    for (const Badge& b : badges) {
      if (x + badge_width(ui, b.text, b.icon, true) > card.right() - pad - p.text_width(big, number) - 6)
        continue;
      x += badge(ui, {x, card.y + 39}, b.text, b.kind, b.icon, true) + 4;
    }
  } else if (!compact) {
    const std::string at =
        ended            ? tr("ends at step {step}", {{"step", grouped(track.steps.back())}})
        : run && point   ? tr("step {step}, mean of {steps}",
                              {{"step", grouped(track.steps[*point])}, {"steps", f.window_at(*run, *point)}})
        : !track.empty() ? tr("begins at step {step}", {{"step", grouped(track.steps.front())}})
                         : tr("nats");
    float x = left;
    for (const Badge& b : badges) {
      if (x + badge_width(ui, b.text, b.icon) > card.right() - pad - 104) break;
      x += badge(ui, {x, card.y + 34}, b.text, b.kind, b.icon) + 6;
    }
    const TextStyle tick{Face::Sans, type::tick};
    p.text({card.right() - pad, card.y + 48}, tick, t.ink3,
           fitting(p, tick, card.right() - pad - x, {at, at.substr(0, at.find(','))}), Align::Right);
    const std::optional<ModelConfig> model = model_of(f.all().runs[*run]);
    if (model && card.w >= kWithGlyph)
      view::draw_wiring_glyph(ui, {card.right() - pad - 82, card.y + 66}, *model,
                              t.runs[static_cast<size_t>(place.letter - 'A')].line);
  } else {
    const std::string unread = unread_words(f.all().runs[*run]),
                      state = !unread.empty() ? unread
                              : untitled      ? name
                              : baseline      ? tr("baseline")
                                              : f.all().differences[*run].short_words();
    p.text({card.x + pad, card.bottom() - 10}, kBody, t.ink2,
           fitting(p, kBody, menu.x - card.x - pad - 4,
                   {state, state.substr(0, state.find(':')), state.substr(0, state.find(',')), "…"}));
  }
  if (!compact) {
    p.hairline({card.x + pad, card.y + 63}, {card.right() - pad, card.y + 63}, t.border);
    draw_card_settings(f, card, *run, narrow);
  }
  draw_replace(f, menu, place);
}

/// Shortens a run's name to the words that fit; the value of the card is the whole name.
std::string CompareScreen::title_of(Frame& f, size_t run, TextStyle style, float room) {
  const std::string name = words::spoken(f.all().runs[run].name);
  const Painter& p = f.ui.paint();
  std::string words = name;
  while (p.text_width(style, words) > room) {
    const size_t blank = words.rfind(' '), end = blank == words.npos ? words.rfind('-') : blank;
    if (end == words.npos || end < 4) break;
    words.resize(end);
  }
  return fitting(p, style, room,
                 {name, words::spoken(short_name(f.all(), run)), name.substr(0, name.find(',')), words, "…"});
}

/// Draws the values of the settings; values that differ from the baseline's are on a chip.
void CompareScreen::draw_card_settings(Frame& f, const Rect& card, size_t run, bool narrow) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const Comparison& all = f.all();
  const float left = card.x + (narrow ? 36.f : 50.f);
  for (size_t i = 0; i < all.settings.size() && i < kMaxRows; ++i) {
    if (all.settings.size() > kMaxRows && i + 1 == kMaxRows) break;
    const Setting& setting = all.settings[i];
    const float base = card.y + 81 + kRow * static_cast<float>(i);
    const bool said = setting.values[run].has_value(), differs = setting.differs(run, all.baseline());
    // Right of the rows are the wiring, and at the last row "replace" and "remove".
    const float right = i == kMaxRows - 1               ? (narrow ? 60.f : 124.f)
                        : i < 2 && card.w >= kWithGlyph ? 108.f
                                                        : 8.f;
    const TextStyle style = said ? kMono : kBody;
    const std::string whole = value_words(all, setting, run);
    // Data and seeds can be shortened to their first part, the most important one.
    const bool list = setting.key == "data" || setting.key == "seeds";
    const std::string brief = list && said ? whole.substr(0, whole.find(", ")) : "…";
    const std::string text = fitting(p, style, card.right() - right - left, {whole, brief, "…"});
    if (differs) {
      p.text({left - 26, base}, kMono, t.ink, "≠");
      p.fill({left - 6, base - 13, p.text_width(style, text) + 12, 17}, t.sunk, radius::field);
    }
    p.text({left, base}, style, differs || run == all.baseline() ? t.ink : t.ink3, text);
    const Rect chip{left - 6, base - 13, card.right() - right - left, 17};
    f.ui.tell(fmt::format("compare/setting/{}/{}", all.letter(run), setting.key), chip, whole,
              fmt::format("{}: {}", setting.label, whole));
  }
}

void CompareScreen::draw_empty(Frame& f, const Rect& card, const SideBySide::Place& place, bool first) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.dashed_outline(card, t.strong, 1.6f, {4, 3}, radius::panel);
  const bool opener = card.w < 2 * kOpener;
  const float pad = f.compact() || opener ? 9 : space::pad - 2, size = f.compact() || opener ? 24 : 30;
  tile(ui, {card.x + pad, card.y + pad, size, size}, place.letter - 'A', true);
  Rect words{card.x + pad + size + 10, card.y + pad, card.w - 2 * pad - size - 10, size};
  if (!place.path.empty()) {
    const std::string text = !place.fault.empty() ? place.fault
                             : place.reading      ? tr("reading …")
                                                  : tr("no step in it so far");
    ui.tell(fmt::format("compare/fault/{}", place.letter), card, text, text);
    if (p.wrapped_height(words.w, {Face::Sans, type::tick}, text, 14) <=
        card.h - 2 * pad - (f.compact() ? 0 : 26))
      p.text_wrapped({words.x, words.y, words.w, card.h - 2 * pad}, {Face::Sans, type::tick},
                     place.fault.empty() ? t.ink3 : t.error, text, 14);
    draw_remove(f, {card.right() - 28, card.bottom() - 25, 22, 22}, place);
    return draw_replace(f, {card.right() - 118, card.bottom() - 25, 90, 22}, place);
  }
  if (first && !f.compact())
    p.text_in(words, kBody, t.ink2,
              fitting(p, kBody, words.w, {tr("Open a run to compare with"), tr("Open a run")}));
  const float w = opener ? 26.f : 90.f;
  draw_replace(f, {card.right() - w - (opener ? 9.f : 6.f), card.bottom() - 25, w, 22}, place);
}

void CompareScreen::draw_replace(Frame& f, const Rect& place, const SideBySide::Place& now) {
  Ui& ui = f.ui;
  const std::string name = fmt::format("compare/run/{}/replace", now.letter);
  const bool anybody = now.live || now.recorded || !now.path.empty();
  ButtonOptions quiet{.quiet = true, .icon = Icon::ChevronDown, .style = {Face::Sans, type::tick}};
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

/// Asks which place to clear for a file when none is free: no run is removed unasked.
void CompareScreen::ask_where(Frame& f) {
  constexpr const char* kWhere = "compare/where";
  if (unplaced_.empty()) return;
  Ui& ui = f.ui;
  if (!std::exchange(asking_, true)) ui.open_popup(kWhere);
  const Rect box = centred({ui.size().x / 2, ui.size().y / 2}, 420, 72 + kListRow * (compare::kMax + 1));
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
    for (const SideBySide::Place& place : f.places) {
      const std::optional<size_t> run = f.run_of(place.letter);
      const std::string who = run ? words::spoken(f.all().runs[*run].name) : place.path;
      if (entry(ui, left, fmt::format("{}/{}", kWhere, place.number + 1),
                tr("Instead of {letter}, {name}", {{"letter", place.letter}, {"name", who}}),
                place.live ? tr("The run stays in the Lab and can come back here.")
                           : tr("That file is then closed."))) {
        side_.open(path, f.view, place.number);
        answered = true;
      }
    }
    if (entry(ui, left, fmt::format("{}/none", kWhere), tr("Nowhere: do not open it"),
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

/// Lists the runs that a place can show; typing filters a long list.
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
  const auto choice = [&](const std::string& id, const std::string& label, const std::string& help) {
    const bool pressed = entry(ui, left, name + "/" + id, label, help);
    if (pressed) ui.close_popup();
    return pressed;
  };
  if (choice("file", tr("Open a log or a saved run …"), tr("By its path; a file can be dropped too."))) {
    open_into_ = slot;
    f.desk.opens_file = true;
  }
  if (back && choice("live", tr("Run {run} of the Lab", {{"run", own}}), tr("The run that trains here.")))
    side_.bring_back(slot);
  if (anybody && choice("none", tr("Leave it out"), tr("This place then stays empty.")))
    side_.leave_out(slot);
  if (settings && choice("settings", tr("What differs"), tr("Every setting in which the runs differ.")))
    ui.open_popup(kSettings);
  if (many)
    text_field(ui, name + "/search", left.take_top(kListRow).inset(0, 2), tr("search"), search_,
               tr("Letters of the run's name."));
  for (size_t i = 0; i < others.size() && left.h >= kListRow; ++i)
    if (others[i].name.find(search_) != std::string::npos &&
        choice(fmt::format("{}", i + 1), others[i].name, tr("A run of a file that is open.")))
      side_.put(slot, others[i].path, others[i].run);
  ui.end_popup();
}

}  // namespace normscope::compare_screen
