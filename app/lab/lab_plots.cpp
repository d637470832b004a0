// The plots of the Lab screen: which stands where, and what a hand on one of them does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/lab_frame.h"
#include "app/ui/widgets.h"

namespace normscope::lab {

using namespace ui;

namespace {

// Small plots keep as many decades as have room, the largest first.
void thin_ticks(plot::Axis& axis, float height) {
  constexpr double kApart = 15;
  const double pixels_per_decade = height / std::log10(axis.hi / axis.lo);
  double above = axis.hi * 1e9;
  for (size_t i = axis.ticks.size(); i-- > 0;) {
    if (std::log10(above / axis.ticks[i].value) * pixels_per_decade < kApart)
      axis.ticks.erase(axis.ticks.begin() + static_cast<std::ptrdiff_t>(i));
    else
      above = axis.ticks[i].value;
  }
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
    // The depth key: layer 1 ... 6 in the colours of the lines.
    const int layers = std::max(1, layers_of(f.view.runs.front()));
    const float step = std::min(15.f, 96.f / static_cast<float>(layers));
    const std::string last = fmt::format("{}", layers);
    Painter& p = f.ui.paint();
    const TextStyle small{Face::sans, type::body};
    const float squares = step * static_cast<float>(layers), right = rect.right() - space::pad - 38;
    float x = right - p.text_width(small, last) - 6 - squares;
    PanelOptions options;
    options.title = scenes.front().title, options.note = scenes.front().note;
    options.right = rect.right() - x + 52 - space::pad;
    inner = panel(f.ui, rect, options);
    inner = {rect.x + 4, inner.y, rect.w - 8, rect.bottom() - 4 - inner.y};  // as draw_plot_panel has it
    const float cy = rect.y + space::title_row / 2;
    p.text({right, cy + 4}, small, f.ui.theme().ink3, last, Align::right);
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
    thin_ticks(scene.y, each - scene.pad_top - 4);
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

}  // namespace normscope::lab
