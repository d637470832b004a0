// See gallery.h. The numbers are invented: they test drawing, not training.
#include "app/support/gallery.h"

#include <cmath>
#include <limits>

using namespace normscope;
using plot::Column;
using plot::Ink;
using ui::Rect;

namespace gallery {
namespace {

// A repeatable number in -1..1.
float jitter(int i, int run) {
  unsigned h = unsigned(i) * 2654435761u + unsigned(run) * 40503u;
  h ^= h >> 13;
  h *= 0x5bd1e995u;
  h ^= h >> 15;
  return float(h & 0xFFFF) / 32768.f - 1;
}

std::vector<float> loss_curve(int run, int steps) {
  std::vector<float> y;
  for (int i = 1; i <= steps; ++i) {
    float start = 1.2f * std::exp(-float(i) / 6) + 2.95f;
    float leave = run == 0 ? 1e9f : run == 1 ? 131.f : 46.f;
    if (run == 1) start = 1.3f * std::exp(-float(i) / 16) + 2.95f;
    float fall = float(i) > leave ? 1 - std::exp(-(float(i) - leave) / (run == 1 ? 45 : 60)) : 0;
    y.push_back(start - fall * 2.05f + 0.07f * jitter(i, run));
  }
  return y;
}

plot::Series run_series(int run, std::vector<float> y, std::string value, std::string name) {
  plot::Series s;
  s.id = s.letter = std::string(1, "ABCD"[run]);
  s.value = std::move(value);
  s.name = std::move(name);
  s.y = Column::of(std::move(y));
  s.ink = Ink::run(run);
  return s;
}

// Draws a panel with the plot's title, note and sentence, and the plot inside. The plot's own padding
// reaches into the panel's, so that ticks stand under the title.
plot::PlotHit draw_in_panel(ui::Ui& u, std::string_view name, const Rect& rect, const plot::PlotSpec& plot,
                            plot::View& view, std::string_view help) {
  const Rect content =
      ui::panel(u, rect, {plot.title, plot.note, plot.sentence, 0, false, plot.question, plot.brief});
  return plot::draw_plot(u, name, {rect.x + 4, content.y, rect.w - 8, rect.bottom() - content.y - 4}, plot,
                         view, help);
}

}  // namespace

plot::PlotSpec loss_plot(int steps) {
  plot::PlotSpec s;
  s.id = "loss";
  s.title = "Loss";
  s.note = "nats per letter, lower is better";
  s.sentence = "A knows only how often each letter occurs. C left that line at step 46, B at step 131.";
  s.x = {.lo = 0, .hi = 300, .label = "step", .integer = true};
  s.y = {.lo = 0.55, .hi = 4, .label = "loss", .unit = "nats per letter"};
  const char* names[] = {"no warm-up", "warm-up 200", "Pre-LN"};
  for (int run = 0; run < 3; ++run) {
    std::vector<float> y = loss_curve(run, steps);
    char value[16];
    std::snprintf(value, sizeof value, "%.2f", double(y.back()));
    s.series.push_back(run_series(run, std::move(y), value, names[run]));
    s.series.back().x0 = 1;
    s.series.back().markers = plot::Markers::Sparse;
  }
  s.lines = {{.value = 2.95, .label = "letter frequencies 2.95"},
             {.value = 0.76,
              .label = "entropy of the text 0.76, no model can do better",
              .short_label = "entropy of the text 0.76",
              .label_left = true,
              .fill_below = true}};
  s.cursor = plot::Cursor{double(steps), std::to_string(steps)};
  s.pad_top = 14;
  return s;
}

plot::PlotSpec gradient_plot() {
  plot::PlotSpec s;
  s.id = "gradient";
  s.title = "Gradient by layer";
  s.note = "norm of ∂L/∂W, log scale";
  s.x = {.lo = 0.75, .hi = 6.2, .label = "layer", .short_label = "layer", .integer = true};
  s.y = {plot::AxisScale::Log, 1e-6, 3, "gradient norm"};
  const std::vector<float> y[] = {{8e-6f, 3.5e-5f, 2e-4f, 1e-3f, 9e-3f, 0.13f},
                                  {0.13f, 0.11f, 0.10f, 0.11f, 0.15f, 0.26f},
                                  {0.12f, 0.07f, 0.05f, 0.045f, 0.04f, 0.035f}};
  for (int run = 0; run < 3; ++run) {
    s.series.push_back(run_series(run, y[run], "", ""));
    s.series.back().x0 = 1;
    s.series.back().markers = plot::Markers::All;
  }
  s.notes = {{.x = 2.6,
              .y = 3e-4,
              .letter = "A",
              .text = "layer 1 gets 16 000× less than layer 6",
              .ink = Ink::run(0),
              .dx = -40,
              .dy = 30}};
  s.labels_inside = false;
  s.pad_right = 36;
  return s;
}

plot::PlotSpec layers_plot(int run) {
  plot::PlotSpec s;
  s.id = "layers";
  s.tile = run;
  s.x = {.lo = 0, .hi = 300, .label = "step", .integer = true, .show_labels = run == 2};
  s.y = {plot::AxisScale::Log, 1e-6, 10, "gradient norm"};
  s.y.max_ticks = 2;
  for (int layer = 0; layer < 6; ++layer) {
    std::vector<float> y;
    for (int i = 0; i < 214; ++i) {
      float target = run == 0 ? -float(5 - layer) * 0.84f - 0.3f : -0.2f * float(5 - layer) * 0.4f;
      y.push_back(std::pow(10.f, target * (1 - std::exp(-float(i) / 15)) + 0.07f * jitter(i, layer)));
    }
    plot::Series line;
    line.id = "layer " + std::to_string(layer + 1);
    line.y = Column::of(std::move(y));
    line.ink = Ink::depth(layer, 6);
    line.width = ui::line::depth;
    line.name = layer == 0 || layer == 5 ? line.id : "";
    s.series.push_back(std::move(line));
  }
  s.cursor = plot::Cursor{214, ""};
  s.pad_bottom = run == 2 ? 26.f : 6.f;
  return s;
}

plot::PlotSpec hidden_plot() {
  plot::PlotSpec s;
  s.id = "hidden";
  s.title = "Hidden-state norm";
  s.note = "mean square of x, before the norm";
  s.x = {.lo = 0.75, .hi = 6.2, .label = "layer", .short_label = "layer", .integer = true};
  s.y = {.lo = 0, .hi = 11, .label = "mean square"};
  const std::vector<float> y[] = {{1.4f, 1.4f, 1.3f, 1.35f, 1.3f, 1.35f},
                                  {1.6f, 1.55f, 1.6f, 1.55f, 1.6f, 1.7f},
                                  {3.1f, 4, 5.2f, 6.5f, 8.1f, 9.9f}};
  for (int run = 0; run < 3; ++run) {
    s.series.push_back(run_series(run, y[run], "", ""));
    s.series.back().x0 = 1;
    s.series.back().markers = plot::Markers::All;
  }
  plot::Band band;
  band.id = "theory";
  band.label = "theory for Pre-LN at the start";
  band.theory = true;
  band.ink = Ink::run(2);
  band.x = Column::of({0.75f, 2, 4, 6.2f});
  band.lo = Column::of({1.5f, 2, 3, 4.1f});
  band.hi = Column::of({2.2f, 4.2f, 6.8f, 10.4f});
  band.label_at = std::pair{2.8, 4.6};
  s.bands.push_back(band);
  s.labels_inside = false;
  s.pad_right = 36;
  return s;
}

plot::PlotSpec heat_plot(int run) {
  plot::PlotSpec s;
  s.id = "beta";
  s.title = "Who does each layer lean on?";
  s.tile = run;
  plot::HeatMap h;
  h.rows = 12;
  h.columns = 13;
  std::vector<float> cells;
  for (int r = 0; r < 12; ++r)
    for (int c = 0; c < 13; ++c)
      cells.push_back(c > r + 1    ? std::numeric_limits<float>::quiet_NaN()
                      : c == r + 1 ? 0.3f + 0.05f * float(r)
                                   : 0.5f * std::exp(-0.6f * float(r - c + 1)));
  h.cells = Column::of(std::move(cells));
  h.column_first = "input";
  h.column_last = "branch 12";
  h.row_first = "1";
  h.row_last = "12";
  h.below = "Σ rows 0.61–0.96";
  s.heat = h;
  s.pad_left = 30;
  s.pad_bottom = 40;
  s.pad_right = 4;
  return s;
}

plot::PlotSpec rate_plot(const State& state) {
  plot::PlotSpec s;
  s.id = "rate";
  s.title = "Learning rate";
  s.note = "drag a handle to change the schedule";
  s.x = {.lo = 0, .hi = 300, .label = "step", .integer = true};
  s.y = {.lo = 0, .hi = 0.0035, .label = "learning rate"};
  s.y.ticks = {{0, "0"}, {0.003, "0.003"}};
  for (int run = 0; run < 3; ++run) {
    std::vector<float> y;
    for (int i = 0; i <= 300; ++i)
      y.push_back(float(0.003 * (run == 1 ? std::min(1.0, i / state.warmup) : 1.0)));
    s.series.push_back(run_series(run, std::move(y), "", ""));
    s.series.back().end_label = s.series.back().end_marker = false;
  }
  s.notes = {
      {.x = 150, .y = 0.003 * 150 / state.warmup, .letter = "B", .text = "warm-up 200", .ink = Ink::run(1)}};
  s.handles = {{.name = "warm-up",
                .x = state.warmup,
                .y = 0.003,
                .step = 1,
                .help = "Where the warm-up of B ends.",
                .value = ui::number(state.warmup)}};
  s.cursor = plot::Cursor{214, ""};
  return s;
}

namespace {

void draw_bar(ui::Ui& u, State& s, Rect bar) {
  u.paint().fill(bar, u.theme().panel);
  u.paint().hairline({0, bar.bottom()}, {bar.w, bar.bottom()}, u.theme().border);
  u.paint().text_in({56, bar.y, 100, bar.h}, {ui::Face::Bold, 16}, u.theme().ink, "normscope");
  const char* names[] = {"Lab", "Lessons"};
  for (int i = 0; i < 2; ++i)
    if (ui::tab(u, std::string("bar/") + names[i], {166 + 90.f * float(i), bar.y, 60, bar.h}, names[i],
                std::to_string(i + 1), s.tab == i, "Shows this screen."))
      s.tab = i;
  ui::text_field(u, "bar/search", {bar.right() - 380, 8, 230, 28}, "Find a control or command", s.search,
                 "Finds any control by its name.");
  ui::button(u, "bar/scale", {bar.right() - 140, 8, 54, 28}, "100 %", "Scale of everything on the screen.");
  ui::icon_button(u, "bar/theme", {bar.right() - 80, 8, 28, 28}, ui::Icon::Theme, "Light or dark.");
  ui::icon_button(u, "bar/help", {bar.right() - 44, 8, 28, 28}, ui::Icon::Help, "All keys.");
}

void draw_settings(ui::Ui& u, State& s, Rect r) {
  Rect in = ui::panel(u, r, {"Settings", "seed, batches and weights are shared", "", 110});
  for (int i = 0; i < 3; ++i)
    if (ui::tile_button(u, "settings/run " + std::string(1, "ABC"[i]),
                        {r.right() - 90 + 28.f * float(i), r.y + 9, 18, 18}, i, s.chosen_run == i,
                        "Edits this run."))
      s.chosen_run = i;
  ui::row(u, "settings/placement", in.take_top(24, 4), "placement", "differs", "Post-LN Pre-LN",
          "Where the norms are.");
  ui::FieldOptions depth;
  depth.lo = 1;
  depth.hi = 24;
  depth.integer = true;
  depth.unit = "layers";
  if (auto c =
          ui::field(u, "settings/depth", in.take_top(24, 4), "depth", s.depth, "How many layers.", depth);
      c != ui::Change::None)
    s.last_change = c;
  ui::FieldOptions rate;
  rate.lo = 1e-5;
  rate.hi = 1e-1;
  rate.log = true;
  if (auto c = ui::field(u, "settings/learning rate", in.take_top(24, 4), "learning rate", s.rate,
                         "Peak learning rate.", rate);
      c != ui::Change::None)
    s.last_change = c;
  const std::vector<std::string> kinds{"Adam", "SGD", "SGD with momentum"};
  ui::choice(u, "settings/optimizer", in.take_top(24, 8), ui::labels_of(kinds), s.optimizer,
             "How the weights move.");
  const std::vector<std::string> presets{"None", "Post", "Pre", "Sandwich", "DeepNorm", "Admin", "ReZero"};
  ui::segmented(u, "diagram/preset", in.take_top(26, 10), ui::labels_of(presets), s.preset,
                "Sets every norm at once.");
  Rect badges = in.take_top(24, 6);
  float x = badges.x;
  x += 8 + ui::badge(u, {x, badges.y}, "stuck at letter frequencies", ui::BadgeKind::Solid, ui::Icon::Minus);
  ui::badge(u, {x, badges.y}, "learning since step 131", ui::BadgeKind::Outline, ui::Icon::Learning);
  badges = in.take_top(24, 6);
  x = badges.x;
  x += 8 + ui::badge(u, {x, badges.y}, "not finite at step 23", ui::BadgeKind::Error, ui::Icon::Close);
  ui::badge(u, {x, badges.y}, "finished", ui::BadgeKind::Outline, ui::Icon::None, true);
  Rect tiles = in.take_top(34, 4);
  for (int i = 0; i < 4; ++i) ui::tile(u, {tiles.x + 44.f * float(i), tiles.y, 30, 30}, i, i == 3);
  for (int i = 0; i < 6; ++i)
    ui::depth_square(u, {tiles.x + 190 + 16.f * float(i), tiles.y + 9, 12, 12}, i, 6);
  ui::Icon icons[] = {ui::Icon::Play,  ui::Icon::Pause,   ui::Icon::Step, ui::Icon::Reset,
                      ui::Icon::Theme, ui::Icon::Search,  ui::Icon::Undo, ui::Icon::Bookmark,
                      ui::Icon::File,  ui::Icon::Learning};
  for (int i = 0; i < 10; ++i)
    ui::draw_icon(u.paint(), icons[i], {in.x + 12 + 28.f * float(i), in.y + 12}, 18, u.theme().ink2);
  in.take_top(34);
  Rect token = {in.x + 30, in.y + 20, 32, 20}, held = {in.x + 120, in.y + 20, 32, 20},
       slot = {in.x + 210, in.y + 20, 32, 20};
  u.paint().accent_box(u.theme(), token, 5);
  u.paint().halo(u.theme(), held, 5);
  u.paint().shadow(u.theme(), held, 5);
  u.paint().accent_box(u.theme(), held, 5);
  u.paint().text_in(held, {ui::Face::Bold, 11}, u.theme().on_accent, "LN", ui::Align::Centre);
  u.paint().dashed_outline(slot, u.theme().slot, 1.2f, {3, 2.5f}, 5);
  u.mark("gallery/tokens", token, "LN", "Samples of the norm token.");
}

void draw_transport(ui::Ui& u, State& s, Rect bar) {
  u.paint().fill(bar, u.theme().panel);
  u.paint().hairline({0, bar.y}, {bar.w, bar.y}, u.theme().border);
  ui::ButtonOptions primary;
  primary.primary = true;
  float y = bar.centre().y;
  if (ui::icon_button(u, "transport/reset", ui::centred({30, y}, 32, 30), ui::Icon::Reset, "Back to step 0."))
    ++s.resets;
  if (ui::icon_button(u, "transport/play", ui::centred({77, y}, 46, 36),
                      s.playing ? ui::Icon::Pause : ui::Icon::Play, "Trains or pauses.", primary,
                      s.playing ? "playing" : "paused") ||
      u.shortcut("Space"))
    s.playing = !s.playing;
  if (ui::icon_button(u, "transport/step", ui::centred({124, y}, 32, 30), ui::Icon::Step, "One step.") ||
      u.shortcut("Right"))
    ++s.steps;
  const std::vector<std::string> speeds{"slow", "1×", "max"};
  ui::segmented(u, "transport/speed", ui::centred({214, y}, 118, 28), ui::labels_of(speeds), s.speed,
                "How fast it trains.");
  u.paint().text({290, y + 4}, {ui::Face::Mono, 20}, u.theme().ink, "214");
  ui::ButtonOptions off;
  off.enabled = false;
  ui::button(u, "transport/undo", ui::centred({420, y}, 80, 28), "Undo", "Takes the last edit back.", off);
  ui::ButtonOptions with_icon;
  with_icon.icon = ui::Icon::File;
  ui::button(u, "transport/open", ui::centred({520, y}, 90, 28), "Open", "Opens a text.", with_icon);
}

}  // namespace

void draw(ui::Ui& u, State& s) {
  const ui::Vec size = u.size();
  u.paint().fill({0, 0, size.x, size.y}, u.theme().bg);
  Rect rest{0, 0, size.x, size.y};
  draw_bar(u, s, rest.take_top(44));
  draw_transport(u, s, rest.take_bottom(76));
  rest = rest.inset(ui::space::margin, ui::space::gap);
  Rect left = rest.take_left(440, 8), right = rest.take_right(std::min(420.f, rest.w * 0.45f), 8);
  draw_settings(u, s, left);
  Rect bottom = rest.take_bottom(rest.h * 0.36f, 8);
  Rect rate = rest.take_bottom(rest.h * 0.27f, 8);
  s.loss_hit = draw_in_panel(u, "plot/loss", rest, loss_plot(), s.loss_view, "Loss of each run over time.");
  s.rate_hit = draw_in_panel(u, "plot/rate", rate, rate_plot(s), s.rate_view, "The schedule of each run.");
  if (s.rate_hit.handle) s.warmup = std::round(std::max(1.0, s.rate_hit.handle_x));
  Rect in = ui::panel(u, bottom, {"Gradient norm over time", "one line per layer, log scale"});
  for (int run = 0; run < 3; ++run) {
    Rect one = in.take_top(
        run == 2 ? in.h : (in.h - 20) / 3.f / (run == 1 ? 0.6667f : 1.f) * (run == 1 ? 0.6667f : 1.f));
    one.x = bottom.x + 4;
    one.w = bottom.w - 8;
    plot::draw_plot(u, "plot/layers " + std::string(1, "ABC"[run]), one, layers_plot(run), s.gradient_view,
                    "Gradient norm of each layer over time.");
  }
  Rect top = right.take_top(right.h * 0.36f, 8), middle = right.take_top(right.h * 0.5f, 8);
  draw_in_panel(u, "plot/gradient", top, gradient_plot(), s.gradient_view, "Gradient norm of each layer.");
  draw_in_panel(u, "plot/hidden", middle, hidden_plot(), s.hidden_view, "Size of the hidden state.");
  in = ui::panel(u, right,
                 {"Who does each layer lean on?", "residual dependency β²",
                  "A leans on its newest branch alone. C still listens to all of them."});
  float third = in.w / 3;
  for (int run = 0; run < 3; ++run)
    plot::draw_plot(u, "plot/beta " + std::string(1, "ABC"[run]), in.take_left(third), heat_plot(run),
                    s.heat_view, "Share of each earlier branch in each layer's input.");
}

Stage::Stage(ui::Vec size, bool dark, float scale)
    : frame(size),
      ui(ui::load_fonts()),
      options{.dark = dark, .scale = scale, .reduced_motion = true, .record_text = true},
      driver(frame, ui, [this] {
        ui.begin_frame(options);
        draw(ui, state);
        ui.end_frame();
      }) {
  driver.frames(3);
}

}  // namespace gallery
