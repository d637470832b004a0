#include "app/view/shortcuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::view {
namespace {

constexpr Shortcut kRows[] = {
    {Act::Play, "play", "Space", "transport/play"},
    {Act::Step, "step", "Right", "transport/step"},
    {Act::Back, "back", "Left", "timeline", "", true},
    {Act::Newest, "newest", "End", "timeline", "", true},
    {Act::Bookmark, "bookmark", "B", "timeline", "", true},
    {Act::Instant, "instant", "N", "transport/speed/instant"},
    {Act::MeasureBatch, "measure_batch", "", "command/batch", "", true},
    {Act::Gesture, "drag_norm"},
    {Act::Gesture, "drag_with"},
    {Act::NormBefore, "norm_before", "I"},
    {Act::NormAfter, "norm_after", "O"},
    {Act::NormStream, "norm_stream", "P"},
    {Act::NormKind, "norm_kind", "T"},
    {Act::NormEmpty, "norm_empty", "Delete"},
    {Act::NormLock, "norm_lock", "L"},
    {Act::LayerOut, "layer_out", "X"},
    {Act::Gesture, "paint"},
    {Act::Gesture, "paint_next"},
    {Act::Gesture, "focus"},
    {Act::Gesture, "region"},
    {Act::Gesture, "ends"},
    {Act::Gesture, "press"},
    {Act::Gesture, "leave"},
    {Act::Gesture, "zoom"},
    {Act::Gesture, "drop"},
    {Act::Undo, "undo", "Ctrl+Z", "command/undo", "", true},
    {Act::Redo, "redo", "Ctrl+Shift+Z", "command/redo", "Ctrl+Y", true},
    {Act::Save, "save", "Ctrl+S", "command/save", "", true},
    {Act::SaveAs, "save_as", "Ctrl+Shift+S", "command/save-as", "", true},
    {Act::SavePlacement, "save_placement", "", "command/placement", "", true},
    {Act::OpenFile, "open_file", "Ctrl+O", "command/open", "", true},
    {Act::CopyCommand, "copy_command", "Ctrl+Shift+C", "command/copy", "", true},
    {Act::CopyLink, "copy_link", "Ctrl+Shift+L", "command/link", "", true},
    {Act::CopyPlot, "copy_plot", "Ctrl+T"},
    {Act::Gesture, "screens"},
    {Act::Palette, "palette", "Ctrl+K", "app/search"},
    {Act::Glossary, "glossary", "F1"},
    {Act::Bigger, "bigger", "Ctrl+=", "app/scale", "Ctrl+Shift+=", true},
    {Act::Smaller, "smaller", "Ctrl+-", "app/scale", "", true},
    {Act::NaturalSize, "natural_size", "Ctrl+0", "app/scale", "", true},
#define SHORTCUT(Name, id, chord, control) {Act::Name, id, chord, control, "", true},
#include "chosen/shortcuts.def"
#undef SHORTCUT
    {Act::Sheet, "sheet", "?", "app/help"},
    {Act::Theme, "theme", "", "app/theme", "", true},
    {Act::ReducedMotion, "reduced_motion", "", "command/motion", "", true},
    {Act::Measurements, "measurements", "", "command/measurements", "", true},
    {Act::Restore, "restore", "", "command/restore", "", true},
    {Act::FirstLesson, "first_lesson", "", "app/tab/lessons", "", true},
};

/// The rows above and the gestures of add-ons, which have an entry in shortcuts.toml only.
std::vector<Shortcut> rows() {
  std::vector<Shortcut> all(std::begin(kRows), std::end(kRows));
  for (const std::string_view id : words::language("en").below("shortcuts"))
    if (std::none_of(std::begin(kRows), std::end(kRows), [&](const Shortcut& s) { return s.id == id; }))
      all.push_back({Act::Gesture, id});
  return all;
}

std::vector<Shortcut> rows_in(const words::Language& language) {
  std::vector<Shortcut> all = rows();
  for (Shortcut& s : all)
    for (const auto& [what, text] : {std::pair("shown", &s.shown),
                                     {"title", &s.title},
                                     {"help", &s.help},
                                     {"words", &s.words},
                                     {"group", &s.group}})
      if (const std::string* found = language.find(fmt::format("shortcuts.{}.{}", s.id, what)))
        *text = *found;
  return all;
}

}  // namespace

std::span<const Shortcut> shortcuts() {
  static words::Table<std::vector<Shortcut>> all(rows_in);
  return all.in();
}

const Shortcut& shortcut_of(Act act) {
  const auto all = shortcuts();
  return *std::ranges::find(all, act, &Shortcut::act);
}

bool pressed(ui::Ui& ui, Act act) {
  const Shortcut& s = shortcut_of(act);
  return (!s.chord.empty() && ui.shortcut(s.chord, s.control)) ||
         (!s.second.empty() && ui.shortcut(s.second, s.control));
}

std::string keys_text(const Shortcut& s) {
  return s.shown.empty() ? ui::shown_keys(s.chord) : std::string(s.shown);
}

void draw_sheet(ui::Ui& ui, ui::Vec top_right, const std::string& foot) {
  using namespace ui;
  constexpr float kLine = 19, column = 404;
  const float head = foot.empty() ? 52.f : 52.f + 2 * kLine;
  struct Line {
    const Shortcut* row;  // of a group its first, where `title` is its title
    bool title;
  };
  std::vector<Line> lines;
  for (const Shortcut& s : shortcuts()) {
    if (keys_text(s).empty()) continue;
    if (!s.group.empty()) lines.push_back({&s, true});
    lines.push_back({&s, false});
  }
  const auto count = static_cast<int>(lines.size());
  // In a low window the rows stand in two columns.
  const float below = ui.size().y - top_right.y - head - 8;
  const int columns = kLine * static_cast<float>(count) > below ? 2 : 1;
  int each = count;  // the second column begins with the group nearest the middle
  for (int n = 1; n < count && columns > 1; ++n)
    if (lines[static_cast<size_t>(n)].title && std::abs(2 * n - count) < std::abs(2 * each - count)) each = n;
  const int rows = std::max(each, count - each);
  const float line = std::min(kLine, below / static_cast<float>(rows));  // closer together in the lowest
  const float width = column * static_cast<float>(columns) + 16;
  const Rect sheet{top_right.x - width, top_right.y, width, line * static_cast<float>(rows) + head};
  if (!ui.begin_popup("app/help", sheet)) return;
  Painter& p = ui.paint();
  Rect rest = sheet.inset(16, 12);
  p.text_in(rest.take_top(24, 4), {Face::Bold, type::title}, ui.theme().ink, tr("Hands and keys"));
  for (int n = 0; n < count; ++n) {
    const auto& [s, title] = lines[static_cast<size_t>(n)];
    const bool second = columns > 1 && n >= each;
    Rect row{rest.x + (second ? column : 0), rest.y + static_cast<float>(second ? n - each : n) * line,
             column - 24, line};
    if (title) {
      p.text_in(row.moved(0, 2), {Face::Bold, type::tick}, ui.theme().ink3, s->group);
      continue;
    }
    ui.tell("sheet/" + words::language("en").say(fmt::format("shortcuts.{}.title", s->id)), row,
            keys_text(*s), s->help);
    p.text_in(row.take_left(116), {Face::Mono, type::body}, ui.theme().ink, keys_text(*s));
    p.text_in(row, {Face::Sans, type::body}, ui.theme().ink2, s->title);
  }
  if (!foot.empty()) {
    const Rect room{rest.x, rest.bottom() - 2 * kLine, rest.w, 2 * kLine};
    ui.mark("sheet/about", room, foot,
            tr("This checksum is the same wherever the same instructions compute the same bits."));
    p.text_wrapped(room, {Face::Sans, type::tick}, ui.theme().ink3, foot, kLine);
  }
  ui.end_popup();
}

}  // namespace normscope::view
