#include "app/lab/lab_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"

namespace normscope::lab {

using namespace ui;

struct LabScreen::Frame {
  Ui& ui;
  const LabView& view;
  std::vector<Command>& commands;
  Size size;
  float pad_right = 16;  // of the plots over time, so that their cursors stand in one line
  bool compact() const { return size == Size::compact; }
};

namespace {

// Heights and gaps of the three layouts.
struct Bars {
  float margin, gap, cards, transport;
};

Bars bars_of(Size size, float window_height) {
  if (size != Size::compact) return {space::margin, space::gap, 96, 76};
  return {8, 6, window_height < 640 ? 52.f : 74.f, 50};
}

float limited(float v, float lo, float hi) { return std::clamp(v, lo, hi); }

DiagramInput diagram_input(const LabView& view, LabData& data, int step, bool compact) {
  return {view, data, step, compact};
}

constexpr const char* kLossHelp =
    "Loss of every run: how many nats each symbol surprises the model by. Dotted: knowing frequencies only, "
    "and the "
    "entropy of the text. Wheel zooms, drag pans, double click resets, a click sets the step.";
constexpr const char* kRateHelp =
    "Learning rate: solid what was used, lighter what will be. Yellow handles change it from now on.";
constexpr const char* kGradientHelp =
    "Norm of the loss's gradient with respect to one matrix of each layer, at the step of the cursor.";
constexpr const char* kHiddenHelp =
    "Mean square of the residual stream after each layer, at the step of the cursor.";
constexpr const char* kGradientTimeHelp =
    "Gradient norm of one matrix over time, a line a layer; the squares of the diagram are the key.";

}  // namespace

Size layout_for(Vec size) {
  if (size.x >= 1600 && size.y >= 1000) return Size::full;
  if (size.x >= 1400 && size.y >= 840) return Size::medium;
  return Size::compact;
}

void LabScreen::draw(Ui& ui, const LabView& view, const Rect& area, bool clock,
                     std::vector<Command>& commands) {
  data_.begin_frame();
  Frame f{ui, view, commands, layout_for(ui.size())};
  const char selected_before = diagram_.selected;
  undo_keys(ui, view, commands);
  const size_t fresh = commands.size();  // what comes now can be taken back

  scene_.step = cursor_step(transport_, view);
  scene_.pinned = transport_.pinned_step.has_value();
  scene_.compact = f.compact();

  const Bars bars = bars_of(f.size, ui.size().y);
  Rect rest = area;
  const Rect transport = rest.take_bottom(bars.transport);
  rest = {rest.x + bars.margin, rest.y + bars.gap, rest.w - 2 * bars.margin, rest.h - 2 * bars.gap};
  if (f.compact()) rest.y += 1, rest.h -= 1;
  const Rect cards = rest.take_top(bars.cards, bars.gap);
  draw_run_cards(ui, diagram_, view, cards, {f.size, !f.compact() || bars.cards > 60});

  if (!view.runs.empty()) {
    const float width = rest.w;
    if (f.compact()) {
      draw_left(f, rest.take_left(330, bars.gap));
      draw_compact(f, rest);
    } else {
      draw_left(f, rest.take_left(std::round(limited(0.294f * width, 420, 520)), bars.gap));
      const Rect time = rest.take_left(std::round(std::max(0.391f * width, 480.f)), bars.gap);
      draw_time(f, time);
      draw_depth(f, rest);
    }
  }
  draw_transport(ui, transport_, view, transport, f.size, clock, commands);
  transport_keys(ui, transport_, view, commands);
  std::vector<Command> made(commands.begin() + static_cast<std::ptrdiff_t>(fresh), commands.end());
  remember(view, made, selected_before);
}

// ---- left column
// --------------------------------------------------------------------------------------------------

void LabScreen::draw_left(Frame& f, Rect column) {
  if (f.size == Size::full) {
    const Rect settings = column.take_bottom(240, space::gap);
    draw_architecture(f, column, false);
    draw_settings_panel(f, settings, false);
  } else if (left_tab_ == 0) {
    draw_architecture(f, column, true);
  } else {
    draw_settings_panel(f, column, true);
  }
}

void LabScreen::draw_switch(Frame& f, const Rect& head) {
  const std::vector<std::string> tabs{"Diagram", "Settings"};
  Rect place = head;
  segmented(f.ui, "lab/left", place.take_left(f.compact() ? 118.f : 126.f), tabs, left_tab_,
            "The architecture, or what the runs are made of.");
}

void LabScreen::draw_architecture(Frame& f, const Rect& rect, bool switched) {
  PanelOptions options;
  if (!switched) {
    options.title = "Architecture", options.note = "drag a norm: all alike layers follow";
    options.right = 28.f * static_cast<float>(f.view.runs.size()) + 8;
  }
  panel(f.ui, rect, options);
  const DiagramInput input = diagram_input(f.view, data_, scene_.step, f.compact());
  const float pad = f.compact() ? 14.f : space::pad;
  Rect inner = rect.inset(pad, 0);
  Rect head = inner.take_top(switched ? (f.compact() ? 36.f : 34.f) : space::title_row);
  draw_run_tiles(f.ui, diagram_, input, {head.right() - 4, head.centre().y});
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    controls.take_left(f.compact() ? 124.f : 138.f);
    const bool crowded = f.compact() && f.view.runs.size() > 3;
    draw_presets(f.ui, diagram_, input,
                 controls.take_left(crowded       ? 72.f
                                    : f.compact() ? 82.f
                                                  : 96.f),
                 true, f.commands);
  } else {
    Rect presets = inner.take_top(28, 8);
    presets.y += 4, presets.h = 26;
    draw_presets(f.ui, diagram_, input, presets, false, f.commands);
  }
  const float footer_h = f.compact() ? 28 : 34;
  const Rect footer{rect.x, rect.bottom() - footer_h, rect.w, footer_h};
  const float top = inner.y + (f.compact() ? 1.f : switched ? 3.f : 7.f);
  const Rect area{inner.x, top, inner.w, footer.y - (f.compact() ? 8.f : 12.f) - top};
  draw_diagram(f.ui, diagram_, input, area, footer, f.commands);
}

void LabScreen::draw_settings_panel(Frame& f, const Rect& rect, bool switched) {
  PanelOptions options;
  if (!switched) {
    options.title = "Settings", options.note = settings_note(settings_, f.view);
    options.right = 20.f * static_cast<float>(f.view.runs.size()) + 50;
  }
  panel(f.ui, rect, options);
  Rect inner = rect.inset(space::pad, 0);
  Rect head = inner.take_top(space::title_row);
  draw_edit_tiles(f.ui, settings_, f.view, {head.right() - 2, head.centre().y});
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    inner.take_top(6);
  }
  inner.h -= 8;
  draw_settings(f.ui, settings_, f.view, inner, inner.w < 400 ? 1 : 2, f.commands);
}

// ---- plots
// --------------------------------------------------------------------------------------------------------

void LabScreen::time_hit(Frame& f, const plot::PlotHit& hit) {
  if (!hit.clicked) return;
  const int step = static_cast<int>(std::lround(hit.x));
  transport_.pinned_step.reset();
  if (step >= 0 && step < f.view.step) transport_.pinned_step = step;
}

void LabScreen::rate_handles(Frame& f, const plot::PlotHit& hit, const plot::PlotScene& scene) {
  if (!hit.handle) {
    scene_.drag_rate.reset(), scene_.drag_warmup.reset(), scene_.drag_run = -1;
    return;
  }
  const std::string& name = scene.handles[static_cast<size_t>(*hit.handle)].name;
  if (name == "peak") {
    const double rate = std::clamp(hit.handle_y, 1e-6, 1.0);
    const std::string text = fmt::format("{:.2g}", rate);
    scene_.drag_run = -1;
    if (hit.handle_done) f.commands.emplace_back(EditField{-1, "train.rate", text});
    return;
  }
  const int run = find_run(f.view, name.back());
  if (run < 0) return;
  const int warmup = std::max(0, static_cast<int>(std::lround(hit.handle_x)));
  if (hit.handle_done) {
    f.commands.emplace_back(EditField{run, "train.warmup", fmt::format("{}", warmup)});
    scene_.drag_run = -1, scene_.drag_warmup.reset();
  } else {
    scene_.drag_run = run, scene_.drag_warmup = warmup;
  }
}

void LabScreen::draw_time(Frame& f, Rect column) {
  const float height = column.h - 2 * space::gap;
  const float rate_h = std::round(std::max(112.f, 0.167f * height));
  const float loss_h = std::round((height - rate_h) * 0.516f);
  plot::PlotScene loss = loss_scene(f.view, data_, scene_);
  const Rect loss_rect = column.take_top(loss_h, space::gap);
  f.pad_right = plot::needed_pad_right(f.ui, loss, loss_rect.w - 8);
  loss.pad_right = f.pad_right;
  time_hit(f, plot::draw_plot_panel(f.ui, "plot/loss", loss_rect, loss, views_["loss"], kLossHelp));

  plot::PlotScene rate = rate_scene(f.view, data_, scene_);
  rate.pad_right = f.pad_right;
  rate.sentence.clear();  // the labels on its lines say it
  const plot::PlotHit hit = plot::draw_plot_panel(f.ui, "plot/rate", column.take_top(rate_h, space::gap),
                                                  rate, views_["rate"], kRateHelp);
  rate_handles(f, hit, rate);
  time_hit(f, hit);
  draw_gradient_over_time(f, column, true);
}

void LabScreen::draw_gradient_over_time(Frame& f, const Rect& rect, bool with_panel) {
  std::vector<plot::PlotScene> scenes = gradient_over_time_scenes(f.view, data_, scene_);
  if (scenes.empty()) return;
  Rect inner = rect;
  if (with_panel) {
    PanelOptions options;
    options.title = scenes.front().title, options.note = scenes.front().note, options.right = 150;
    inner = panel(f.ui, rect, options);
    inner = {rect.x + 4, inner.y, rect.w - 8, rect.bottom() - 4 - inner.y};  // as draw_plot_panel has it
    // The depth key: layer 1 ... 6 in the colours of the lines.
    const int layers = std::max(1, layers_of(f.view.runs.front()));
    Painter& p = f.ui.paint();
    const TextStyle small{Face::sans, type::body};
    const float cy = rect.y + space::title_row / 2,
                step = layers > 12 ? 72.f / static_cast<float>(layers) : 15.f;
    const float room = with_panel ? rect.right() - space::pad : 0;
    const std::string last = fmt::format("{}", layers);
    const float last_w = p.text_width(small, last);
    // The tiles of the small plots stand below; the key keeps left of the panel's corner.
    const float right = room - 38;
    p.text({right, cy + 4}, small, f.ui.theme().ink3, last, Align::right);
    const float squares = step * static_cast<float>(layers);
    float x = right - last_w - 6 - squares;
    p.text({x - 6, cy + 4}, small, f.ui.theme().ink3, "layer 1", Align::right);
    for (int layer = 0; layer < layers; ++layer, x += step)
      depth_square(f.ui, {x, cy - 5, std::max(1.f, step - 2), 10}, layer, layers);
  }
  const float bottom = scenes.back().pad_bottom;
  const float each = (inner.h - bottom) / static_cast<float>(scenes.size());
  float labels = 0;  // the tiles stand beside the labels of the lines
  for (const plot::PlotScene& scene : scenes)
    labels = std::max(labels, plot::needed_pad_right(f.ui, scene, inner.w - 30) + 26);
  for (size_t i = 0; i < scenes.size(); ++i) {
    plot::PlotScene& scene = scenes[i];
    const bool last = i + 1 == scenes.size();
    scene.pad_right = with_panel ? f.pad_right : labels;
    if (each < 40 && scene.y.ticks.size() > 1)
      scene.y.ticks.erase(scene.y.ticks.begin(), scene.y.ticks.end() - 1);
    const Rect place = inner.take_top(each + (last ? bottom : 0));
    scene.tile.reset();  // stands in the panel's corner, clear of the lines
    time_hit(f, plot::draw_plot(f.ui, fmt::format("plot/gradient-over-time/{}", f.view.runs[i].letter), place,
                                scene, views_["gradient-over-time"], kGradientTimeHelp));
    tile(f.ui, {place.right() - (with_panel ? 26.f : 18.f), place.y + scene.pad_top, 16, 16},
         f.view.runs[i].letter - 'A');
  }
}

void LabScreen::draw_matrix_choice(Frame& f, const Rect& rect) {
  std::vector<std::string> labels;
  for (const Matrix& matrix : kMatrices) labels.push_back(matrix.label);
  choice(
      f.ui, "plot/matrix", rect, labels, scene_.matrix,
      "Which matrix of every layer: W₁ and W₂ of the feed-forward network, W_Q, W_K, W_V, W_O of attention.");
}

void LabScreen::draw_depth(Frame& f, Rect column) {
  const float height = column.h - space::gap;
  const Rect gradient = column.take_top(std::round(height * 0.525f), space::gap);
  Painter& p = f.ui.paint();
  const std::string at = fmt::format("at step {}", grouped(scene_.step));
  const TextStyle small{Face::sans, type::body};
  auto head_right = [&](const Rect& rect) {
    p.text({rect.right() - space::pad, rect.y + space::title_row / 2 + 4}, small, f.ui.theme().ink3, at,
           Align::right);
  };
  const float at_w = p.text_width(small, at);

  plot::PlotScene by_layer = gradient_by_layer_scene(f.view, data_, scene_);
  by_layer.sentence.clear();  // stands on the line itself
  plot::draw_plot_panel(f.ui, "plot/gradient-by-layer", gradient, by_layer, views_["gradient-by-layer"],
                        kGradientHelp, at_w + 66);
  head_right(gradient);
  draw_matrix_choice(f, {gradient.right() - space::pad - at_w - 60, gradient.y + 6, 50, 24});

  plot::PlotScene hidden = hidden_norm_scene(f.view, data_, scene_);
  plot::draw_plot_panel(f.ui, "plot/hidden-norm", column, hidden, views_["hidden-norm"], kHiddenHelp,
                        at_w + 8);
  head_right(column);
}

void LabScreen::draw_compact(Frame& f, Rect column) {
  const Rect loss_rect = column.take_top(std::round((column.h - 6) * 0.55f), 6);
  plot::PlotScene loss = loss_scene(f.view, data_, scene_);
  loss.sentence.clear();
  f.pad_right = plot::needed_pad_right(f.ui, loss, loss_rect.w - 8);
  loss.pad_right = f.pad_right;
  time_hit(f, plot::draw_plot_panel(f.ui, "plot/loss", loss_rect, loss, views_["loss"], kLossHelp));

  panel(f.ui, column, {});
  Rect inner = column.inset(space::pad, 0);
  Rect head = inner.take_top(38);
  const std::vector<std::string> tabs{"Gradient by layer", "Gradient over time", "Hidden norm",
                                      "Learning rate"};
  Rect controls = head.inset(0, 6);
  controls.x -= 4;
  const float tabs_w = segmented_width(f.ui, tabs) - 30;
  segmented(f.ui, "plot/tab", controls.take_left(tabs_w, 8), tabs, plot_tab_, "Which plot stands here.");
  if (plot_tab_ <= 1) draw_matrix_choice(f, controls.take_left(50, 8));
  const std::string at = fmt::format("at step {}", grouped(scene_.step));
  Painter& p = f.ui.paint();
  if (plot_tab_ == 0 || plot_tab_ == 2)
    p.text_in(head, {Face::sans, type::tick}, f.ui.theme().ink3, at, Align::right);
  inner.h -= 6;
  if (plot_tab_ == 0) {
    plot::draw_plot(f.ui, "plot/gradient-by-layer", inner, gradient_by_layer_scene(f.view, data_, scene_),
                    views_["gradient-by-layer"], kGradientHelp);
  } else if (plot_tab_ == 1) {
    draw_gradient_over_time(f, inner, false);
  } else if (plot_tab_ == 2) {
    plot::draw_plot(f.ui, "plot/hidden-norm", inner, hidden_norm_scene(f.view, data_, scene_),
                    views_["hidden-norm"], kHiddenHelp);
  } else {
    const plot::PlotScene rate = rate_scene(f.view, data_, scene_);
    const plot::PlotHit hit = plot::draw_plot(f.ui, "plot/rate", inner, rate, views_["rate"], kRateHelp);
    rate_handles(f, hit, rate);
    time_hit(f, hit);
  }
}

// ---- undo
// ---------------------------------------------------------------------------------------------------------

// Notes how to take back what was just asked for.
void LabScreen::remember(const LabView& view, std::vector<Command>& made, char selected_before) {
  Done done;
  done.selected_before = selected_before, done.selected_after = diagram_.selected;
  for (const Command& command : made) {
    if (std::holds_alternative<ForkRequest>(command)) {
      done.undo.emplace_back(RemoveFork{}), done.redo.emplace_back(RestoreFork{});
    } else if (const auto* edit = std::get_if<EditField>(&command)) {
      for (size_t i = 0; i < view.runs.size(); ++i) {
        if (edit->run >= 0 && edit->run != static_cast<int>(i)) continue;
        done.undo.emplace_back(
            EditField{static_cast<int>(i), edit->key, get_field(*view.runs[i].spec, edit->key)});
      }
      done.redo.push_back(command);
    } else if (std::holds_alternative<SetBudget>(command)) {
      done.undo.emplace_back(SetBudget{view.budget}), done.redo.push_back(command);
    }
  }
  if (done.undo.empty()) return;
  done_.push_back(std::move(done));
  undone_.clear();
}

void LabScreen::undo_keys(Ui& ui, const LabView&, std::vector<Command>& commands) {
  auto shift = [&](std::vector<Done>& from, std::vector<Done>& to, bool undo) {
    if (from.empty()) return;
    Done done = std::move(from.back());
    from.pop_back();
    const std::vector<Command>& what = undo ? done.undo : done.redo;
    commands.insert(commands.end(), what.begin(), what.end());
    diagram_.selected = undo ? done.selected_before : done.selected_after;
    diagram_.pending.reset();
    to.push_back(std::move(done));
  };
  if (ui.shortcut("Ctrl+Z")) shift(done_, undone_, true);
  if (ui.shortcut("Ctrl+Shift+Z")) shift(undone_, done_, false);
}

}  // namespace normscope::lab
