#include "app/panels/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <list>

#include "app/words/words.h"

namespace normscope::panels {
namespace {

template <auto make>
std::vector<plot::PlotSpec> one(const LabView& view, view::LabData& data, const PlotOptions& options,
                                Metric) {
  return {make(view, data, options)};
}

template <auto make>
std::vector<plot::PlotSpec> one_of_metric(const LabView& view, view::LabData& data,
                                          const PlotOptions& options, Metric metric) {
  return {make(view, data, options, metric)};
}

template <auto make>
std::vector<plot::PlotSpec> one_a_run(const LabView& view, view::LabData& data, const PlotOptions& options,
                                      Metric) {
  return make(view, data, options);
}

constexpr PanelControl kPeak[] = {{"/peak", "plot: peak of the learning rate",
                                   "The learning rate of all runs, on its plot.", "height maximum highest"}};
constexpr PanelControl kBatch[] = {{"/batch", "dependency plot: whole batch",
                                    "Who leans on whom over every sequence of this step.",
                                    "triangles all sequences"}};

const Panel kPanelRows[] = {
    {.id = "plot/loss",
     .form = Form::Steps,
     .place = {.column = PanelColumn::Time,
               .row = 1,
               .least = 243,
               .share = 0.516f,
               .above_tabs = true,
               .at_first = true},
     .title = "Loss",
     .question = "how well does it foresee the text?",
     .brief = "how well does it foresee?",
     .term = "nats",
     .axis = "loss",
     .help =
         "The loss of every run: by how many nats each symbol surprises the model. The bold line is the mean over "
         "the last steps that every number states, the faint one each single step. The dotted lines are what a "
         "model reaches that knows frequencies only, and the entropy of the text. Drag to set the step, turn "
         "the wheel to zoom; when zoomed, drag to pan and double-click to see everything again.",
     .file = "loss",
     .words = "cross-entropy perplexity",
     .plots = one<loss_plot>},
    {.id = "plot/gradient-by-layer",
     .form = Form::Layers,
     .place = {.column = PanelColumn::Depth,
               .row = 1,
               .least = 208,
               .share = 0.357f,
               .first = true,
               .tab = "Gradient by layer",
               .at_first = true},
     .help = "At the step of the cursor.",
     .words = "vanishing backpropagation",
     .metric = &kGradNorm,
     .plots = one_of_metric<depth_plot>},
    {.id = "plot/gradient-over-time",
     .form = Form::Strips,
     .place =
         {.column = PanelColumn::Time, .row = 3, .least = 228, .share = 0.484f, .tab = "Gradient over time"},
     .help = "One line for each layer.",
     .words = "vanishing backpropagation",
     .metric = &kGradNorm,
     .lists = "-over-time",
     .one_stack = true,
     .at_cursor = false,
     .plots = over_time_plots},
    {.id = "plot/hidden-norm",
     .form = Form::Layers,
     .place = {.column = PanelColumn::Depth,
               .row = 2,
               .least = 189,
               .share = 0.323f,
               .first = true,
               .tab = "Hidden norm"},
     .help = "At the step of the cursor.",
     .words = "activations magnitude",
     .metric = &kMeanSquare,
     .lists = "-below",
     .plots = one_of_metric<depth_plot>},
    {.id = "plot/rate",
     .form = Form::Steps,
     .place = {.column = PanelColumn::Time,
               .row = 2,
               .least = 112,
               .share = 0.167f,
               .first = true,
               .tab = "Learning rate",
               .at_first = true},
     .title = "Learning rate",
     .question = "how far does each step go?",
     .brief = "how far?",
     .term = "learning-rate",
     .axis = "learning rate",
     .help = "The learning rate of every run: solid what was used, lighter what is planned. The "
             "yellow handles change it from now on. The thin line is the critical rate, where it is "
             "measured.",
     .file = "rate",
     .words = "curve",
     .at_cursor = false,
     .speaks_on_lines = true,
     .controls = kPeak,
     .plots = one<rate_plot>},
    {.id = "plot/dependency",
     .form = Form::Triangles,
     .place = {.column = PanelColumn::Depth,
               .row = 3,
               .least = 186,
               .share = 0.32f,
               .tab = "β²",
               .at_first = true},
     .title = "Residual dependency β²",
     .question = "whom does each layer lean on?",
     .brief = "who leans on whom?",
     .term = "beta2",
     .axis = "residual dependency",
     .help = "Row: a sub-layer, from 1 at the top. Column: the input, then each branch. The more a "
             "cell stands out, the more of the variance after the row's sub-layer comes from that "
             "column. Σ is the least and the largest sum of a row: 1 where the parts have nothing in "
             "common, less where they say the same.",
     .file = "dependency",
     .words = "lean triangle heatmap",
     .one_stack = true,
     .controls = kBatch,
     .plots = one_a_run<dependency_plots>},
};

std::vector<Panel> panels_in(const words::Language& language) {
  static std::list<PanelControl> controls;  // a list, because the panels point to its members
  const auto said = [&](const char* text) { return *text ? language.tr(text).c_str() : text; };
  std::vector<Panel> all(std::begin(kPanelRows), std::end(kPanelRows));
  for (Panel& panel : all) {
    for (const char** text :
         {&panel.title, &panel.question, &panel.brief, &panel.axis, &panel.help, &panel.words})
      *text = said(*text);
    if (panel.controls.empty()) continue;
    const PanelControl& own = panel.controls.front();
    controls.push_back({own.name, said(own.title), said(own.help), said(own.words)});
    panel.controls = {&controls.back(), 1};
  }
  return all;
}

bool one_of_a_run(const Panel& panel) { return panel.form == Form::Strips || panel.form == Form::Triangles; }

// Says "residual dependency at step 214, A: Post-LN, no warm-up".
std::string words_of_axis(const Panel& panel, const RunView* run, int step) {
  std::string what = panel.axis;
  if (panel.form == Form::Layers || panel.form == Form::Triangles) what = at_step(what, step);
  return run ? of_run(what, *run) : what;
}

// Fills in the texts that the plot's own function has left empty.
void put_words(plot::PlotSpec& plot, const Panel& panel, const RunView* run, int step) {
  if (plot.id.empty()) plot.id = run ? fmt::format("{}-{}", panel.file, run->letter) : panel.file;
  if (plot.title.empty()) {
    plot.title = panel.title;
    plot.question = panel.question;
    plot.brief = panel.brief;
  }
  if (plot.y.label.empty()) plot.y.label = words_of_axis(panel, run, step);
  // Bands without a label are explained by the note, which needs the question's space.
  if (std::ranges::any_of(plot.bands, [](const plot::Band& b) { return b.label.empty(); })) {
    plot.question.clear();
    plot.brief.clear();
  }
}

}  // namespace

std::span<const Panel> panels() {
  static words::Table<std::vector<Panel>> all(panels_in);
  return all.in();
}

const Panel* find_panel(std::string_view id) {
  for (const Panel& panel : panels())
    if (panel.id == id) return &panel;
  return nullptr;
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
    if (name == own.name) return &own;
  return nullptr;
}

bool stands_in(const Panel& panel, ui::Size size) {
  const Place& place = panel.place;
  if (size == ui::Size::Compact) return place.above_tabs || *place.tab;
  return place.column != PanelColumn::None && (size == ui::Size::Full || place.medium);
}

std::vector<const Panel*> panels_of(PanelColumn column, ui::Size size, bool few) {
  std::vector<const Panel*> list;
  for (const Panel& panel : panels())
    if (panel.place.column == column && stands_in(panel, size) && (panel.place.at_first || !few))
      list.push_back(&panel);
  std::ranges::stable_sort(list, [](const Panel* a, const Panel* b) { return a->place.row < b->place.row; });
  return list;
}

std::vector<const Panel*> tab_panels() {
  std::vector<const Panel*> list;
  for (const Panel& panel : panels())
    if (*panel.place.tab) list.push_back(&panel);
  return list;
}

const Panel& panel_above_tabs() {
  return *std::ranges::find_if(panels(), [](const Panel& p) { return p.place.above_tabs; });
}

std::vector<plot::PlotSpec> plots_of(const Panel& panel, const LabView& view, view::LabData& data,
                                     const PlotOptions& options, Metric metric) {
  std::vector<plot::PlotSpec> plots = panel.plots(view, data, options, metric);
  for (size_t i = 0; i < plots.size(); ++i)
    put_words(plots[i], panel, one_of_a_run(panel) ? &view.runs[i] : nullptr, options.step);
  return plots;
}

std::string help_of(const Panel& panel, Metric metric) {
  return panel.metric ? fmt::format("{} {}", info(metric).help, panel.help) : panel.help;
}

}  // namespace normscope::panels
