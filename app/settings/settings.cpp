#include "app/settings/settings.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/settings/settings_rows.h"
#include "app/ui/numbers.h"
#include "app/words/words.h"
#include "training/io/text.h"

namespace normscope::settings {

using namespace ui;

std::vector<const Field*> differing_fields(const LabView& view) {
  std::vector<const Field*> fields;
  for (const Field& field : spec_fields())
    if ((has_row(field, view) || field.key == "model.placement") && field.key != "run.name" &&
        differs(field, view))
      fields.push_back(&field);
  std::stable_partition(fields.begin(), fields.end(),
                        [](const Field* f) { return f->key == "model.placement"; });
  return fields;
}

std::string cost_text(double seconds_now, double flop_now, double flop_then, int64_t bytes,
                      int64_t machine_bytes) {
  const double megabytes = static_cast<double>(bytes) / 1e6;
  const std::string memory =
      megabytes < 1000 ? fmt::format("{:.0f} MB", megabytes) : ui::decimals(megabytes / 1000, 1) + " GB";
  if (machine_bytes > 0 && bytes > machine_bytes)
    return tr(
        "too large: {memory} of {machine}",
        {{"memory", memory}, {"machine", ui::decimals(static_cast<double>(machine_bytes) / 1e9, 1) + " GB"}});
  if (!(seconds_now > 0) || !(flop_now > 0)) return tr("restarts: about {memory}", {{"memory", memory}});
  const double seconds = seconds_now * flop_then / flop_now;
  const std::string time =
      seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : ui::decimals(seconds, 1) + " s";
  const bool heavy = seconds > 0.5 || bytes > int64_t{2} << 30;
  return tr("{how}about {time} a step, {memory}",
            {{"how", heavy ? tr("heavy: ") : tr("restarts: ")}, {"time", time}, {"memory", memory}});
}

std::string live_cost_text(const Field& field, const std::string& value) {
  const int every = std::atoi(value.c_str());
  return field.key == "train.critical_every" && every > 0 ? critical_cost_text(every) : "";
}

std::string settings_note(const SettingsState& state, const LabView& view) {
  if (!state.restart_hint.empty()) return state.restart_hint;
  return view.runs.size() > 1 ? tr("seed, batches and weights are shared") : "";
}

float draw_edit_tiles(Ui& ui, SettingsState& state, const LabView& view, Vec right_centre) {
  const float size = 16, pitch = 20;
  const float w = pitch * static_cast<float>(view.runs.size()) - (pitch - size);
  float x = right_centre.x - w;
  const float word = ui.paint().text({x - 8, right_centre.y + 4}, {Face::Sans, type::body}, ui.theme().ink3,
                                     tr("edits##settings"), Align::Right);
  ui.tell("settings/edits", {x - 8 - word, right_centre.y - size / 2, word, size}, "",
          tr("Which runs a change to a shared setting applies to: a click on a letter takes that run "
             "out or in."));
  for (const RunView& run : view.runs) {
    const unsigned bit = 1u << (run.letter - 'A');
    const bool on = state.edits & bit;
    const Rect box{x, right_centre.y - size / 2, size, size};
    if (ui.hit(fmt::format("settings/edits/{}", run.letter), box, on ? "on" : "off",
               tr("Whether a change to a shared setting applies to run {run} too.", {{"run", run.letter}}))
            .clicked)
      state.edits ^= bit;
    tile(ui, box, run.letter - 'A', !on);
    x += pitch;
  }
  return w + 8 + word;
}

void draw_seeds_button(Ui& ui, const LabView& view, const Rect& rect, bool narrow, bool clock,
                       std::vector<session::Command>& commands) {
  const bool running = view.seed_check_steps > 0;
  constexpr double kBeside = 0.25;  // of the time, while the runs train
  const double seconds = static_cast<double>(view.seed_check_steps - view.seed_check_done) *
                         view.seconds_per_step / static_cast<double>(std::max<size_t>(1, view.runs.size())) /
                         (view.playing ? kBeside : 1);
  const bool timed = running && clock && seconds > 0;
  const words::Place left{"time", duration_words(seconds)};
  const std::string text = timed     ? (narrow ? left.text : tr("{time} left", {left}))
                           : running ? fmt::format("{} %", 100 * view.seed_check_done / view.seed_check_steps)
                                     : tr(narrow ? "Luck?" : "Is it luck?");
  if (button(
          ui, "lab/luck", rect, text,
          running
              ? tr("Runs with other seeds go on in the background. Click to stop them; what is complete "
                   "stays.")
              : tr("Seed variability: trains every run again with four other seeds, in the background, and "
                   "shows how far their losses lie apart as a band."),
          {.selected = running, .style = {Face::Sans, type::body}}))
    commands.emplace_back(session::CheckSeeds{!running});
}

namespace {

// Scrolls the rows by the wheel, and by a scroll bar at their right for mouse and arrow keys.
void scroll_rows(Ui& ui, SettingsState& state, const Rect& area, float overflow, float pitch) {
  if (area.contains(ui.mouse())) state.scroll -= ImGui::GetIO().MouseWheel * pitch;
  const Rect place{area.right() + 1, area.y, 13, area.h};
  const Hit hit = ui.hit("settings/scroll", place, fmt::format("{:.0f}", state.scroll / pitch),
                         tr("More settings stand below: wheel, drag, or arrow keys."),
                         {.arrows = Arrows::Either, .radius = 5});
  const float share = area.h / (area.h + overflow), thumb = std::max(24.f, share * area.h);
  if (hit.held) state.scroll = (ui.mouse().y - area.y - thumb / 2) / std::max(1.f, area.h - thumb) * overflow;
  state.scroll -= static_cast<float>(hit.arrow_y + hit.arrow_x) * pitch;
  state.scroll = std::clamp(state.scroll, 0.f, std::ceil(overflow / pitch) * pitch);
  const float at = area.y + std::min(1.f, state.scroll / overflow) * (area.h - thumb);
  ui.paint().fill({place.centre().x - 2, at, 4, thumb},
                  hit.hovered || hit.held ? ui.theme().ink3 : ui.theme().control, 2);
}

}  // namespace

void draw_settings(Ui& ui, SettingsState& state, const LabView& view, const view::PendingEdits& pending,
                   const Rect& area, int columns, std::vector<session::Command>& commands) {
  state.restart_hint.clear();
  state.dial.reset();
  state.choice_hovered.reset();
  if (view.runs.empty()) return;
  const std::vector<const Field*> first = differing_fields(view);
  std::vector<const Field*> rest;
  auto add = [&](const Field* field) {
    if (field && has_row(*field, view) && !std::ranges::count(first, field) &&
        !std::ranges::count(rest, field))
      rest.push_back(field);
  };
  for (const Field* field : first_fields()) add(field);
  for (const Field& field : spec_fields()) add(&field);

  const float pitch = space::field_pitch, h = space::field_h;
  const float lines = std::ceil(static_cast<float>(rest.size()) / static_cast<float>(columns));
  const float needed = pitch * static_cast<float>(first.size()) + 4 + pitch * lines - (pitch - h);
  const float overflow = std::max(0.f, needed - area.h);
  if (!state.reveal.empty()) {
    const auto is_it = [&](const Field* field) { return field->key == state.reveal; };
    const auto a = std::ranges::find_if(first, is_it);
    const auto b = std::ranges::find_if(rest, is_it);
    const float row =
        a != first.end() ? static_cast<float>(a - first.begin())
                         : static_cast<float>(first.size()) +
                               std::floor(static_cast<float>(b - rest.begin()) / static_cast<float>(columns));
    const float top = std::floor((area.h - h - 4) / pitch) * pitch;  // of the last row that is seen
    state.scroll = std::clamp(state.scroll, std::max(0.f, row * pitch - top), row * pitch);
    state.reveal.clear();
  }
  if (overflow > 0) scroll_rows(ui, state, area, overflow, pitch);
  // The rows scroll by whole rows, so that no row is half seen.
  state.scroll =
      std::clamp(std::round(state.scroll / pitch) * pitch, 0.f, std::ceil(overflow / pitch) * pitch);

  ui.mark("settings", area, tr("{number} differ", {{"number", first.size()}}),
          tr("What the runs are made of. What differs stands first; the rest is shared. The wheel "
             "shows more."));
  const Ui::Group group(ui, "rows");
  Rows rows{ui, state, view, pending, area.inset(-1, -1), commands};
  float y = area.y - state.scroll;
  for (const Field* field : first) {
    rows.differing(*field, {area.x, y, area.w, h});
    y += pitch;
  }
  if (!first.empty()) y += 4;
  const float gap = 8, w = (area.w - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  for (size_t i = 0; i < rest.size(); ++i) {
    const float column = static_cast<float>(i % static_cast<size_t>(columns));
    rows.shared(*rest[i], {area.x + column * (w + gap), y, w, h});
    if (i % static_cast<size_t>(columns) == static_cast<size_t>(columns) - 1) y += pitch;
  }
  draw_dial(ui, state, view);
}

namespace {

std::string help_of(const BackendSwitch& s) {
  std::string help =
      tr("Where the runs train. The same steps on an NVIDIA GPU, equal within rounding; runs move "
         "there with their weights.");
  if (!s.reason.empty()) help += " " + not_here(s.reason);
  if (!s.note.empty()) help += " " + s.note + ".";
  return help;
}

// The two segments, in the style of segmented(). Without CUDA, its half is grey and arrow keys do nothing.
void draw_segments(Ui& ui, const BackendSwitch& s, const Rect& box, std::optional<BackendChoice>& choice) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  const std::string help = help_of(s);
  const Hit arrows =
      ui.hit("app/backend", box, s.now.cuda ? "CUDA" : "CPU", help,
             {.enabled = s.reason.empty(), .arrows = Arrows::Either, .overlap = true, .tooltip = false});
  p.fill(box, t.field, 6);
  p.outline(box, t.control, 1, 6);
  Rect rest = box.inset(2);
  const float half = rest.w / 2;
  bool wants_cuda = s.now.cuda;
  for (const bool cuda : {false, true}) {
    const Rect segment = rest.take_left(half);
    const bool on = cuda == s.now.cuda, possible = !cuda || s.reason.empty();
    const Hit hit = ui.hit(cuda ? "app/backend/CUDA" : "app/backend/CPU", segment,
                           on         ? "on"
                           : possible ? ""
                                      : tr("not here"),
                           help, {.enabled = possible, .focusable = false});
    if (hit.clicked && possible) wants_cuda = cuda;
    if (on)
      p.fill(segment, t.inverse, 5);
    else if (hit.hovered && possible)
      p.fill(segment, t.trough, 5);
    p.text_in(segment, {on ? Face::Bold : Face::Sans, type::body},
              on         ? t.on_inverse
              : possible ? t.ink2
                         : t.control,
              cuda ? "CUDA" : "CPU", Align::Centre);
  }
  if (const int move = arrows.arrow_x - arrows.arrow_y; move != 0 && s.reason.empty()) wants_cuda = move > 0;
  if (wants_cuda != s.now.cuda) choice = BackendChoice{wants_cuda, false};
}

}  // namespace

std::string not_here(const std::string& reason) { return tr("Not here: {reason}.", {{"reason", reason}}); }

float draw_backend_switch(Ui& ui, const BackendSwitch& s, const Rect& room, float words,
                          std::optional<BackendChoice>& choice) {
  constexpr float h = 28, gap = 6;
  float x = room.right();
  const float y = room.y + (room.h - h) / 2;
  if (s.now.cuda) {
    x -= kTf32Width;
    if (button(ui, "app/tf32", {x, y, kTf32Width, h}, "TF32",
               tr("Matrix products with 10 bits of mantissa instead of 23: faster, and no longer the CPU's "
                  "numbers. Off at first."),
               {.selected = s.now.tf32, .style = {Face::Sans, type::body}}))
      choice = BackendChoice{true, !s.now.tf32};
    x -= gap;
  }
  x -= kBackendWidth;
  draw_segments(ui, s, {x, y, kBackendWidth, h}, choice);
  // The segment's help says why there is no CUDA; this line reports only a device that was lost while runs were on it.
  if (s.note.empty() || words < 40) return x;
  const Rect place{x - 10 - words, room.y, words, room.h};
  const TextStyle style{Face::Sans, type::body};
  // Half a reason says nothing, so a long one is left to the help.
  const std::string shown = ui.paint().text_width(style, s.note) <= words ? s.note : tr("on the CPU now");
  ui.paint().text_in(place, style, ui.theme().ink3, shown, Align::Right);
  ui.mark("app/backend/reason", place, s.note, help_of(s));
  return x - 10 - ui.paint().text_width(style, shown);
}

}  // namespace normscope::settings
