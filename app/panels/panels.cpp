#include "app/panels/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

template <auto make>
std::vector<plot::PlotSpec> one(const LabView& view, LabData& data, const PlotOptions& options, Metric) {
  return {make(view, data, options)};
}

template <auto make>
std::vector<plot::PlotSpec> one_of_metric(const LabView& view, LabData& data, const PlotOptions& options,
                                          Metric metric) {
  return {make(view, data, options, metric)};
}

template <auto make>
std::vector<plot::PlotSpec> one_a_run(const LabView& view, LabData& data, const PlotOptions& options,
                                      Metric) {
  return make(view, data, options);
}

constexpr PanelControl kRateControls[] = {{"/peak", "plot: peak of the learning rate",
                                           "The learning rate of all runs, on its plot.",
                                           "height maximum highest"}};
constexpr PanelControl kDependencyControls[] = {{"/batch", "dependency plot: whole batch",
                                                 "Who leans on whom over every sequence of this step.",
                                                 "triangles all sequences"}};

constexpr std::array kPanels{
    Panel{.id = "plot/loss",
          .form = Form::Steps,
          .place = {.column = PanelColumn::Time, .row = 1, .least = 243, .share = 0.516f, .above_tabs = true},
          .title = "Loss",
          .question = "how well does it foresee the text?",
          .brief = "how well does it foresee?",
          .term = "nats",
          .axis = "loss",
          .unit = "nats per {}",
          .help = "Loss of every run: how many nats each symbol surprises the model by. Dotted: knowing "
                  "frequencies only, and the entropy of the text. Drag to set the step, turn the wheel to "
                  "zoom; when zoomed, drag to pan and double-click to see everything again.",
          .file = "loss",
          .words = "cross-entropy perplexity",
          .plots = one<loss_plot>},
    Panel{.id = "plot/gradient-by-layer",
          .form = Form::Layers,
          .place = {.column = PanelColumn::Depth,
                    .row = 1,
                    .least = 208,
                    .share = 0.357f,
                    .first = true,
                    .tab = "Gradient by layer"},
          .help = "At the step of the cursor.",
          .words = "vanishing backpropagation",
          .metric = Metric::Gradient,
          .plots = one_of_metric<depth_plot>},
    Panel{.id = "plot/gradient-over-time",
          .form = Form::Strips,
          .place = {.column = PanelColumn::Time,
                    .row = 3,
                    .least = 228,
                    .share = 0.484f,
                    .tab = "Gradient over time"},
          .help = "A line a layer.",
          .words = "vanishing backpropagation",
          .metric = Metric::Gradient,
          .lists = "-over-time",
          .one_stack = true,
          .at_cursor = false,
          .plots = over_time_plots},
    Panel{.id = "plot/hidden-norm",
          .form = Form::Layers,
          .place = {.column = PanelColumn::Depth,
                    .row = 2,
                    .least = 189,
                    .share = 0.323f,
                    .first = true,
                    .tab = "Hidden norm"},
          .help = "At the step of the cursor.",
          .words = "activations magnitude",
          .metric = Metric::HiddenNorm,
          .lists = "-below",
          .plots = one_of_metric<depth_plot>},
    Panel{
        .id = "plot/rate",
        .form = Form::Steps,
        .place = {.column = PanelColumn::Time,
                  .row = 2,
                  .least = 112,
                  .share = 0.167f,
                  .first = true,
                  .tab = "Learning rate"},
        .title = "Learning rate",
        .question = "how far does each step go?",
        .brief = "how far?",
        .term = "learning-rate",
        .axis = "learning rate",
        .help =
            "Learning rate: solid what was used, lighter what will be. Yellow handles change it from now on. "
            "Thin, where it is measured: the critical rate.",
        .file = "rate",
        .words = "curve",
        .at_cursor = false,
        .speaks_on_lines = true,
        .controls = kRateControls,
        .plots = one<rate_plot>},
    Panel{.id = "plot/dependency",
          .form = Form::Triangles,
          .place = {.column = PanelColumn::Depth, .row = 3, .least = 186, .share = 0.32f, .tab = "β²"},
          .title = "Residual dependency β²",
          .question = "whom does each layer lean on?",
          .brief = "who leans on whom?",
          .term = "beta2",
          .axis = "residual dependency",
          .help = "Row: a sub-layer, from 1 at the top. Column: the input, then each branch. The more a cell "
                  "stands out, the more of the variance after the row's sub-layer comes from that column.",
          .file = "dependency",
          .words = "lean triangle heatmap",
          .one_stack = true,
          .controls = kDependencyControls,
          .plots = one_a_run<dependency_plots>},
};

bool one_of_a_run(const Panel& panel) { return panel.form == Form::Strips || panel.form == Form::Triangles; }

// "residual dependency at step 214, A: Post-LN, no warm-up"
std::string axis_words(const Panel& panel, const RunView* run, int step) {
  std::string words = panel.axis;
  if (panel.form == Form::Layers || panel.form == Form::Triangles)
    words += fmt::format(" at step {}", ui::grouped(step));
  if (run) words += fmt::format(", {}: {}", run->letter, run->name);
  return words;
}

// What the function that made the plot did not say itself.
void put_words(plot::PlotSpec& plot, const Panel& panel, const LabView& view, const RunView* run, int step) {
  if (plot.id.empty()) plot.id = run ? fmt::format("{}-{}", panel.file, run->letter) : panel.file;
  if (plot.title.empty()) {
    plot.title = panel.title;
    plot.question = panel.question;
    plot.brief = panel.brief;
  }
  if (plot.y.label.empty()) plot.y.label = axis_words(panel, run, step);
  if (plot.y.unit.empty() && *panel.unit) plot.y.unit = fmt::format(fmt::runtime(panel.unit), view.unit);
  // Bands without a name are explained by the note, which then has the room of the question.
  if (std::any_of(plot.bands.begin(), plot.bands.end(),
                  [](const plot::Band& b) { return b.label.empty(); })) {
    plot.question.clear();
    plot.brief.clear();
  }
}

}  // namespace

std::span<const Panel> panels() { return kPanels; }

const Panel* find_panel(std::string_view id) {
  const auto at = std::find_if(kPanels.begin(), kPanels.end(), [&](const Panel& p) { return p.id == id; });
  return at == kPanels.end() ? nullptr : &*at;
}

const Panel* panel_of(std::string_view control) {
  const size_t first = control.find('/'),
               second = first == control.npos ? first : control.find('/', first + 1);
  return find_panel(control.substr(0, second));
}

const PanelControl* panel_control(std::string_view control) {
  const Panel* panel = panel_of(control);
  if (!panel) return nullptr;
  const std::string_view name = control.substr(std::string_view(panel->id).size());
  for (const PanelControl& own : panel->controls)
    if (own.name == name) return &own;
  return nullptr;
}

bool stands_in(const Panel& panel, Size size) {
  const Place& place = panel.place;
  if (size == Size::Compact) return place.above_tabs || *place.tab;
  return place.column != PanelColumn::None && (size == Size::Full || place.medium);
}

std::vector<const Panel*> panels_of(PanelColumn column, Size size) {
  std::vector<const Panel*> list;
  for (const Panel& panel : kPanels)
    if (panel.place.column == column && stands_in(panel, size)) list.push_back(&panel);
  std::stable_sort(list.begin(), list.end(),
                   [](const Panel* a, const Panel* b) { return a->place.row < b->place.row; });
  return list;
}

std::vector<const Panel*> tab_panels() {
  std::vector<const Panel*> list;
  for (const Panel& panel : kPanels)
    if (*panel.place.tab) list.push_back(&panel);
  return list;
}

const Panel& panel_above_tabs() {
  return *std::find_if(kPanels.begin(), kPanels.end(), [](const Panel& p) { return p.place.above_tabs; });
}

std::vector<plot::PlotSpec> plots_of(const Panel& panel, const LabView& view, LabData& data,
                                     const PlotOptions& options, Metric metric) {
  std::vector<plot::PlotSpec> plots = panel.plots(view, data, options, metric);
  for (size_t i = 0; i < plots.size(); ++i)
    put_words(plots[i], panel, view, one_of_a_run(panel) ? &view.runs[i] : nullptr, options.step);
  return plots;
}

std::string help_of(const Panel& panel, Metric metric) {
  return panel.metric ? fmt::format("{} {}", info(metric).help, panel.help) : panel.help;
}

}  // namespace normscope::lab
