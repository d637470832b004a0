#include "app/lab/lab_screen.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lab {

using namespace ui;

namespace {

// The heights and gaps of the layouts.
struct Bars {
  float margin, gap, cards, transport;
};

Bars bars_of(Size size, float window_height) {
  if (size != Size::Compact) return {space::margin, space::gap, 96, 76};
  return {8, 6, window_height < 640 ? 52.f : 74.f, 50};
}

float limited(float v, float lo, float hi) { return std::clamp(v, lo, hi); }

diagram::DiagramInput diagram_input(const LabView& view, view::LabData& data, int step, bool compact,
                                    std::optional<int> layer) {
  return {view, data, step, compact, layer};
}

/// Whether a run of these settings, which trains for as long as all do, is the one that was asked for.
bool answers(const RunSpec& spec, const session::Suppose& asked) {
  if (asked.specs.size() != 1) return false;
  RunSpec wanted = asked.specs.front();
  wanted.train.steps = spec.train.steps;
  return wanted == spec;
}

}  // namespace

ScreenRequests LabScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock) {
  ScreenRequests requests;
  std::vector<session::Command>& commands = requests.commands;
  data_.begin_frame();
  stay_at_measured(view);
  // The cursor cannot stay at a step that restarted runs have not reached yet.
  if (transport_.pinned_step.value_or(0) > view.step) transport_.pinned_step.reset();
  plot_.step = cursor_step(transport_, view);
  const bool pinned = transport_.pinned_step.has_value();
  const LabView then = pinned ? view::view_at(data_, view, plot_.step) : LabView{};
  Frame f{ui, view, pinned ? then : view, commands, layout_ = layout_for(ui.size()), clock};
  const std::optional<LabView> held = with_held(view);
  const LabView held_then = held && pinned ? view::view_at(data_, *held, plot_.step) : LabView{};
  Frame measured{ui,   held ? *held : view, !held ? f.shown : pinned ? held_then : *held, commands, f.size,
                 clock};
  plot_.compact = f.compact();
  pending_.settle(view);
  // The layer and the step under the mouse in the last frame light up everywhere in this one.
  plot_.hover_layer = hover_layer_ ? hover_layer_ : diagram_.hovered_layer;
  plot_.hover_step = hover_step_;
  hover_layer_.reset();
  hover_step_.reset();

  const Bars bars = bars_of(f.size, ui.size().y);
  Rect rest = area;
  const Rect transport = rest.take_bottom(bars.transport);
  rest = {rest.x + bars.margin, rest.y + bars.gap, rest.w - 2 * bars.margin, rest.h - 2 * bars.gap};
  if (f.compact()) {
    rest.y += 1;
    rest.h -= 1;
  }
  const Rect cards = rest.take_top(bars.cards, bars.gap);
  CardOptions card_options{f.size, !f.compact() || bars.cards > 60, {}, held_ && diagram_.dragging};
  for (const RunView& run : view.runs)
    if (pending_.building(run.letter)) card_options.building += run.letter;
  if (view.runs.empty() && without_runs_)
    draw_start(f, joined(cards, rest));
  else
    draw_run_cards(ui, diagram_, measured.shown, cards, card_options);
  if (!view.runs.empty()) draw_panels(f, measured, rest, bars.gap);
  transport_.fork_source = diagram::shown_run(diagram_, view);
  draw_transport(ui, transport_, view, transport, f.size, clock, commands);
  if (!commands.empty() &&
      std::holds_alternative<session::ForkFrom>(commands.back())) {  // the next touch is for D
    diagram_.source = view.runs[static_cast<size_t>(transport_.fork_source)].letter;
    diagram_.selected = 'D';
  }
  transport_keys(ui, transport_, view, commands);
  suppose(f);
  pending_.note(view, commands);
  // A person who starts a fork wants to see it train.
  for (const session::Command& command : commands)
    if (std::holds_alternative<session::ForkRequest>(command)) transport_.pinned_step.reset();
  cells_.hand_over(requests);
  return requests;
}

// Asks for the run that is in question, held or under the mouse, else for those along the number under the mouse; and for
// those beside the setting that was changed last; once for each.
void LabScreen::suppose(const Frame& f) {
  session::Suppose asked;
  std::vector<session::EditField> edits;
  for (const session::Command& command : f.commands)
    if (const auto* edit = std::get_if<session::EditField>(&command)) edits.push_back(*edit);
  if (!edits.empty()) edited_ = std::move(edits);
  if (f.view.instant) {
    auto question =
        diagram::spec_in_question(diagram_, diagram_input(f.view, data_, plot_.step, f.compact(), {}));
    if (!question)
      question = settings::spec_in_question(settings_, f.view, diagram::shown_run(diagram_, f.view));
    if (question)
      asked.specs.push_back(*question);
    else
      for (settings::DialRun& along : settings::dial_runs(settings_, f.view))
        asked.specs.push_back(std::move(along.spec));
    for (size_t i = 0; i < edited_.size() && !ImGui::IsMouseDown(ImGuiMouseButton_Left); ++i)
      for (RunSpec& beside : settings::runs_beside(edited_[i], f.view))
        asked.ahead.push_back(std::move(beside));
  }
  if (asked == supposed_) return;
  supposed_ = asked;
  f.commands.emplace_back(std::move(asked));
}

// As it would be if the norm that is held were dropped where it is, so that all cards and plots answer the mouse. Between
// two slots, and until the next one's run is trained, the one before it stays, pale. No answer to an earlier question is
// left. Nothing where the Lab's own view says all this.
std::optional<LabView> LabScreen::with_held(const LabView& view) {
  if (!diagram_.dragging && !diagram_.pending) held_.reset();
  const bool one = view.supposed.size() == 1;
  const bool answered = one && answers(*view.supposed.front().spec, supposed_);
  const bool trained = diagram_.dragging && answered && view.supposed.front().seen;
  if (trained) {
    held_ = *view.supposed.front().seen;
    held_->name = diagram::fork_title(diagram_, view);
    if (diagram_.preview) held_->fork_note = diagram_.preview->note;
  }
  if (!held_ && one == answered) return {};
  LabView all = view;
  all.supposed.clear();
  if (!held_) return all;
  held_->stale = !trained;
  const int fork = view::find_run(view, held_->letter);
  if (fork < 0)
    all.runs.push_back(*held_);
  else
    all.runs[static_cast<size_t>(fork)] = *held_;
  return all;
}

// Draws the panels between the run cards and the timeline.
void LabScreen::draw_panels(Frame& f, Frame& measured, Rect rest, float gap) {
  const float width = rest.w;
  if (f.compact()) {
    draw_left(f, rest.take_left(330, gap));
    draw_compact(measured, rest);
  } else {
    constexpr float kLeast = 420, kMost = 520, kTime = 480, kDepth = 402;
    const SplitRange left{std::round(limited(0.294f * width, kLeast, kMost)), kLeast,
                          std::min(kMost, width - kTime - kDepth - 2 * gap)};
    draw_left(f, rest.take_left(split(f.ui, splits_, Gap::Left, rest, left), gap));
    const SplitRange middle{std::round(std::max(0.391f * width, kTime)), kTime, rest.w - gap - kDepth};
    const Rect time = rest.take_left(split(f.ui, splits_, Gap::Time, rest, middle), gap);
    if (few_) draw_more(f, rest.take_bottom(40, gap));
    draw_column(measured, time, panels::PanelColumn::Time);
    draw_column(measured, rest, panels::PanelColumn::Depth);
  }
}

// Draws the way to all plots, below the few of a first start.
void LabScreen::draw_more(Frame& f, const Rect& rect) {
  if (button(f.ui, "lab/more", rect, tr("More measurements"),
             tr("Shows the other plots too: learning rate, gradients over time, hidden states, residual "
                "dependency. \"fewer\" beside the learning rate hides them again."),
             {.icon = Icon::ChevronDown}))
    few_ = false;
}

// Stands in an empty Lab.
void LabScreen::draw_start(Frame& f, const Rect& rect) {
  const Rect inner = panel(f.ui, rect, {});
  const Rect middle = centred(inner.centre(), std::min(460.f, inner.w), 90);
  f.ui.paint().text_wrapped(
      {middle.x, middle.y, middle.w, 40}, {Face::Sans, type::title}, f.ui.theme().ink2,
      tr("No run trains here: the window was opened with recorded runs, which stand side by side "
         "in Compare (3)."),
      19);
  if (button(f.ui, "lab/start", {middle.x, middle.bottom() - 34, 240, 34},
             tr("Start the three teaching runs"),
             tr("Trains three copies of one model that differ in placement and warm-up."), {.primary = true}))
    f.commands.emplace_back(session::ReplaceRuns{.runs = default_comparison()});
}

void LabScreen::posted(session::Ticket ticket) {
  pending_.posted(ticket);
  if (diagram_.pending && diagram_.pending->ticket == 0) diagram_.pending->ticket = ticket;
}

// Keeps the cursor at a step whose whole batch was measured, as the picture is of that step.
void LabScreen::stay_at_measured(const LabView& view) {
  int measured = -1;
  for (const RunView& run : view.runs)
    if (run.batch) measured = std::max(measured, run.batch->step);
  if (measured == measured_step_) return;
  measured_step_ = measured;
  if (measured >= 0 && view.playing) transport_.pinned_step = std::min(measured, view.step);
}

// Draws the left column: diagram and settings of the runs.

void LabScreen::draw_left(Frame& f, Rect column) {
  if (f.size == Size::Full) {
    constexpr float kDiagram = 500, kSettings = 240, kFewSettings = 156;
    const SplitRange range{column.h - kSettings - space::gap, kDiagram, column.h - kFewSettings - space::gap};
    const Rect diagram = column.take_top(split(f.ui, splits_, Gap::Settings, column, range), space::gap);
    draw_architecture(f, diagram, false);
    draw_settings_panel(f, column, false);
  } else if (left_tab_ == 0) {
    draw_architecture(f, column, true);
    if (left_tab_ != 0) remember_diagram(f.ui.registry());
  } else {
    draw_settings_panel(f, column, true);
  }
}

void LabScreen::draw_switch(Frame& f, const Rect& head) {
  Rect place = head;
  segmented(f.ui, "lab/left", place.take_left(f.compact() ? 118.f : 126.f),
            labels_of({"Diagram", "Settings"}), left_tab_,
            tr("Shows the architecture or the settings of the runs."));
}

void LabScreen::draw_architecture(Frame& f, const Rect& rect, bool switched) {
  PanelOptions options;
  if (!switched) {
    options.title = tr("Architecture");
    options.note =
        view::any_stream(f.view) ? tr("drag a norm: identical layers follow") : tr("all norms stand alike");
    options.right = 28.f * static_cast<float>(f.view.runs.size()) + 8;
  }
  panel(f.ui, rect, options);
  const diagram::DiagramInput input =
      diagram_input(f.shown, data_, plot_.step, f.compact(), plot_.hover_layer);
  const float pad = f.compact() ? 14.f : space::pad;
  Rect inner = rect.inset(pad, 0);
  Rect head = inner.take_top(switched ? (f.compact() ? 36.f : 34.f) : space::title_row);
  diagram::draw_run_tiles(f.ui, diagram_, input, {head.right() - 4, head.centre().y});
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    controls.take_left(f.compact() ? 124.f : 138.f);
    const bool crowded = f.compact() && f.view.runs.size() > 3;
    diagram::draw_presets(f.ui, diagram_, input,
                          controls.take_left(crowded       ? 72.f
                                             : f.compact() ? 92.f
                                                           : 112.f),
                          true, f.commands);
  } else {
    Rect presets = inner.take_top(28, 8);
    presets.y += 4;
    presets.h = 26;
    diagram::draw_presets(f.ui, diagram_, input, presets, false, f.commands);
  }
  const float footer_h = f.compact() ? 28 : 34;
  const Rect footer{rect.x, rect.bottom() - footer_h, rect.w, footer_h};
  const float top = inner.y + (f.compact() ? 1.f : switched ? 3.f : 7.f);
  const Rect area{inner.x, top, inner.w, footer.y - (f.compact() ? 8.f : 12.f) - top};
  diagram::draw_diagram(f.ui, diagram_, input, area, footer, f.commands);
}

void LabScreen::draw_settings_panel(Frame& f, const Rect& rect, bool switched) {
  PanelOptions options;
  // A hint of a change's cost takes the room of "Is it luck?".
  const bool luck = switched || settings_.restart_hint.empty();
  if (!switched) {
    options.title = tr("Settings");
    options.note = settings::settings_note(settings_, f.view);
    options.right = 20.f * static_cast<float>(f.view.runs.size()) + 50 + (luck ? 84.f : 0.f);
  }
  panel(f.ui, rect, options);
  Rect inner = rect.inset(space::pad, 0);
  Rect head = inner.take_top(space::title_row);
  const float tiles = settings::draw_edit_tiles(f.ui, settings_, f.view, {head.right() - 2, head.centre().y});
  if (luck) {
    const bool narrow = f.compact();
    const float width = narrow ? 52.f : 74.f;
    settings::draw_seeds_button(f.ui, f.view,
                                centred({head.right() - 12 - tiles - width / 2, head.centre().y}, width, 20),
                                narrow, f.clock, f.commands);
  }
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    inner.take_top(6);
  }
  inner.h -= 8;
  if (switched) {  // the title row has no room for a change's cost
    const Rect foot = inner.take_bottom(22);
    f.ui.paint().text_in(
        foot, {Face::Sans, type::body}, f.ui.theme().ink3,
        f.ui.paint().fit({Face::Sans, type::body}, settings::settings_note(settings_, f.view), foot.w));
    f.ui.mark("settings/note", foot, settings::settings_note(settings_, f.view),
              tr("What a change would do and cost."));
  }
  const int columns = inner.w < 400 ? 1 : 2;
  if (pending_.empty())
    return settings::draw_settings(f.ui, settings_, f.view, pending_, inner, columns, f.commands);
  settings::draw_settings(f.ui, settings_, pending_.applied(f.view), pending_, inner, columns, f.commands);
}

// ---- The palette shows controls that exist and are not drawn now beside those on screen, and brings them forth.

namespace {

constexpr std::string_view kSettings = "settings/", kDiagram = "diagram/", kMenu = "/menu/";

/// Controls of the pace with their help.
constexpr std::pair<const char*, const char*> kPace[] = {
    {"transport/budget", "How many steps the runs take: more continues, fewer stops early."},
    {"transport/speed", "How fast training goes."},
    {"transport/speed/slow", "Four steps a second."},
    {"transport/speed/1×", "Twenty steps a second."},
    {"transport/speed/max", "As fast as training can go."},
    {"transport/speed/instant",
     "A small model, of which every change trains all steps anew within moments: whatever you move, the plots show how "
     "the training would have ended (N)."}};

// True for the first of runs with one schedule, because such runs share its handle. A warm-up that
// is over has none.
bool has_warmup_handle(const LabView& view, size_t index) {
  const Schedule& schedule = view.runs[index].spec->train.schedule;
  if (schedule.target > 0 || (!view.instant && schedule.warmup <= view.runs[index].step) ||
      schedule.warmup > std::max(view.budget, view.step))
    return false;
  return std::none_of(view.runs.begin(), view.runs.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const RunView& run) { return run.spec->train.schedule == schedule; });
}

}  // namespace

void LabScreen::remember_diagram(const ui::Registry& registry) {
  diagram_controls_.clear();
  for (const ui::Control& c : registry.all())
    if (c.interactive && c.enabled && c.name.starts_with(kDiagram))
      diagram_controls_.push_back({c.name, c.help});
}

std::vector<Elsewhere> LabScreen::elsewhere(const ui::Registry& registry, const LabView& view) {
  std::vector<Elsewhere> list;
  if (view.runs.empty()) return list;
  const auto add = [&](std::string name, std::string_view help) {
    if (!registry.find(name)) list.push_back({std::move(name), std::string(help)});
  };
  for (const auto& [control, help] : kPace) add(control, tr(help));
  add("lab/luck", tr("Seed variability: trains every run again with four other seeds and shows how far their "
                     "losses lie apart."));
  for (const Field* field : settings::differing_fields(view))
    for (const RunView& run : view.runs)
      add(fmt::format("{}{}/{}", kSettings, field->key, run.letter), settings::spoken_help(*field));
  for (size_t i = 0; i < view.runs.size(); ++i)
    if (has_warmup_handle(view, i))
      add(fmt::format("plot/rate/warmup/{}", view.runs[i].letter),
          tr("The end of its warm-up, on the plot."));
  for (const RunView& run : view.runs)
    add(fmt::format("settings/edits/{}", run.letter),
        tr("Whether a change to a shared setting applies to run {run} too.", {{"run", run.letter}}));
  for (const panels::Panel& panel : panels::panels()) {
    if (!panels::stands_in(panel, layout_)) continue;
    const std::string name = panel.id;
    add(name + "/menu", tr("Save or copy this plot, change its axis."));
    const bool map = panel.form == panels::Form::Strips && plot_.map && panels::of_map(metric_of(panel));
    for (const panels::MenuEntry& entry : panels::menu_entries(map || panel.form == panels::Form::Triangles))
      add(fmt::format("{}/menu/{}", name, entry.id), entry.help);
    if (panel.metric) add(name + "/quantity", tr("What this plot shows."));
    for (const panels::PanelControl& own : panel.controls) add(name + std::string(own.name), own.help);
  }
  if (layout_ != ui::Size::Full && left_tab_ != 0)
    for (const Elsewhere& control : diagram_controls_) add(control.name, control.help);
  return list;
}

void LabScreen::reveal(std::string_view control, const ui::Registry& registry) {
  if (control.starts_with(kSettings) || control == "lab/luck") {
    if (left_tab_ == 0) remember_diagram(registry);
    left_tab_ = 1;
    if (control.starts_with(kSettings) && !control.starts_with("settings/edits/"))
      settings_.reveal =
          control.substr(kSettings.size(), control.find('/', kSettings.size()) - kSettings.size());
  }
  if (control.starts_with(kDiagram)) left_tab_ = 0;
  if (const panels::Panel* panel = panels::panel_of(control); panel && !panel->place.at_first) few_ = false;
  if (control.starts_with("transport/")) transport_.open_pace = true;
  const std::vector<const panels::Panel*> tabs = panels::tab_panels();
  for (size_t i = 0; i < tabs.size(); ++i)
    if (tabs[i] == panels::panel_of(control)) plot_tab_ = static_cast<int>(i);
  if (const size_t menu = control.find(kMenu); menu != control.npos)
    cells_.open_menu = control.substr(0, menu);
}

}  // namespace normscope::lab
