// What the papers predict, laid over what was measured: named curves of measure/theory.h. See scenes.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/lab/scenes.h"
#include "app/ui/widgets.h"
#include "engine/measure/theory.h"

namespace normscope::lab {

using namespace plot;
using Series = plot::Series;  // not the history's

namespace {

std::string letter_of(const RunView& run) { return std::string(1, run.letter); }
int colour_of(const RunView& run) { return run.letter - 'A'; }
constexpr int kEarly = 10;  // steps until which runs can still be compared with where they began

bool usable(float v) { return std::isfinite(v) && v > 0; }

// The band of Pre-LN at the start, in the colour of the first Pre-LN run: where the streams began.
void add_pre_theory(PlotScene& scene, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    const ModelConfig& model = run.spec->model;
    const Side side = sides_of(run).back();  // of an encoder-decoder the encoder: the lemma knows no memory
    const bool decoder = side == Side::main && model.architecture != Architecture::Encoder;
    if (placement_of(stacks_of(model).wiring(side), context_of(model, decoder)) != Placement::Pre ||
        run.forked_from >= 0)
      continue;
    NormBand bounds = pre_ln_band(model, side);
    if (bounds.lo.size() < 2 || bounds.lo.front() > 20 * top) return;
    Band band;
    band.id = has_both(run) ? "theory for its Pre-LN encoder" : "theory for Pre-LN at the start";
    band.ink = Ink::run(colour_of(run)), band.theory = true;
    band.label = band.id;
    const size_t at = (bounds.lo.size() - 1) / 3;
    band.label_at = {double(at + 1) + 0.4,
                     0.5 * (bounds.lo[at] + bounds.hi[at]) + 0.2 * (bounds.hi[at] - bounds.lo[at])};
    std::vector<float> x;
    for (size_t i = 0; i < bounds.lo.size(); ++i) x.push_back(static_cast<float>(i + 1));
    band.x = Column::of(std::move(x));
    band.lo = Column::of(std::move(bounds.lo)), band.hi = Column::of(std::move(bounds.hi));
    scene.bands.push_back(std::move(band));
    return;
  }
}

// The level at which the sums of a Post-LN stack begin, whatever its depth.
void add_post_theory(PlotScene& scene, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    const ModelConfig& model = run.spec->model;
    if (has_both(run) || run.forked_from >= 0 || !lemma_applies(model)) continue;
    const std::vector<theory::Curve> curves = theory::hidden_square_curves(model);
    if (curves.empty() || std::string_view(curves.front().equation->name) != "Lemma 2, Post-LN") continue;
    RefLine line;
    line.value = curves.front().low.front();
    if (line.value < 0.04 * top || line.value > 20 * top) return;
    line.short_label = fmt::format("theory for Post-LN {:.2f}", line.value);
    line.label = fmt::format("theory for Post-LN at the start {:.2f}", line.value);
    line.label_left = line.label_below = true;
    scene.lines.push_back(std::move(line));
    return;
  }
}

// A curve over the layers, dotted in the ink of words, behind what was measured.
void add_dotted(PlotScene& scene, std::string id, std::vector<float> y) {
  Series s;
  s.id = std::move(id);
  s.x0 = 1, s.y = Column::of(std::move(y));
  s.ink = {Ink::Role::ink2, 0, 1};
  s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off}, s.width = ui::line::reference;
  s.end_label = false, s.end_marker = false;
  scene.series.insert(scene.series.begin(), std::move(s));
}

void add_name(PlotScene& scene, double x, float y, std::string letter, std::string text) {
  scene.notes.push_back({x, y, std::move(letter), std::move(text), {Ink::Role::ink2, 0, 1}, -10, 20});
}

// What is predicted of the gradients of one or more runs that begin alike.
struct Prediction {
  std::string letters;
  std::vector<float> y;
  const char *whose, *formula;
  bool from_theory;  // where it ends, too, otherwise where the run's top layer began
};

// Expected norm of the gradient of the last layer's W2 at step 1; empty where theory has no number for it.
std::optional<double> last_layer(const LabView& view, const RunView& run) {
  const RunSpec& spec = *run.spec;
  if (spec.train.label_smoothing != 0 || !spec.train.init_from.empty() ||
      !(spec.data == view.runs.front().spec->data))
    return {};
  const auto start = theory::last_layer_start(spec.model, spec.train.batch, view.agreement);
  return start ? std::optional(start->gradient) : std::nullopt;
}

void add_prediction(std::vector<Prediction>& all, const RunView& run, const std::vector<double>& profile,
                    double end, Prediction what) {
  for (double share : profile) what.y.push_back(static_cast<float>(share * end));
  for (Prediction& other : all)
    if (other.y == what.y) {
      other.letters += std::string(", ") + run.letter;
      return;
    }
  what.letters = letter_of(run);
  all.push_back(std::move(what));
}

// Where the profile ends without a measurement: the closed form for the last layer, as a mark.
void mark_last_layer(PlotScene& scene, const Prediction& p) {
  Series s;
  s.id = fmt::format("theory of the last layer of {} at step 1", p.letters);
  s.x0 = static_cast<double>(p.y.size()), s.y = Column::of({p.y.back()});
  s.ink = {Ink::Role::ink2, 0, 1};
  s.marker = ui::Marker::diamond, s.markers = Markers::all;
  s.end_label = false, s.end_marker = false;
  scene.series.insert(scene.series.begin(), std::move(s));
}

}  // namespace

bool add_gradient_theory(PlotScene& scene, const LabView& view, LabData& data, const std::string& path,
                         int step) {
  std::vector<Prediction> all;
  bool of_start = false;
  for (const RunView& run : view.runs) {
    const std::vector<theory::Curve> curves = theory::gradient_curves(run.spec->model);
    const std::vector<float> start = data.by_layer(run, path, 1);
    if (curves.empty() || run.forked_from >= 0 || start.size() != curves.front().low.size()) continue;
    const std::string_view name = curves.front().equation->name;
    const std::vector<double>& profile = curves.front().low;
    if (name == "decoder profile") {
      if (path.starts_with("ffn.") && usable(start.back()))
        add_prediction(all, run, profile, start.back(),
                       {{}, {}, "Post-LN decoder", "(1/2)^((L−l)/2)", false});
      continue;
    }
    if (!path.starts_with("ffn.w2") || step > kEarly || !lemma_applies(run.spec->model)) continue;
    const std::optional<double> end = last_layer(view, run);
    if (!end && !usable(start.back())) continue;
    const bool pre = name == "Pre-LN profile";
    of_start = true;
    add_prediction(
        all, run, profile, end.value_or(start.back()),
        {{}, {}, pre ? "Pre-LN" : "Post-LN", pre ? "∝ 1/√q" : "all layers alike", end.has_value()});
  }
  for (const Prediction& p : all) {
    const size_t middle = p.y.size() / 2;
    add_name(scene, double(middle + 1), p.y[middle], p.letters,
             fmt::format("theory at step 1: {}{}", p.formula,
                         p.from_theory ? ", ending at ◆ " + ui::number(p.y.back(), 2) : ""));
    add_dotted(scene, fmt::format("theory of {} ({}) at step 1", p.letters, p.whose), p.y);
    if (p.from_theory) mark_last_layer(scene, p);
  }
  return of_start;
}

void add_cosine_theory(PlotScene& scene, const LabView& view, int step) {
  if (step > kEarly) return;
  std::vector<std::vector<double>> drawn;  // runs that differ in their schedule alone share a curve
  for (const RunView& run : view.runs) {
    const ModelConfig& model = run.spec->model;
    if (has_both(run) || run.forked_from >= 0 || !lemma_applies(model)) continue;
    const std::vector<theory::Curve> curves = theory::cosine_curves(model, embedding_square(model));
    if (curves.empty() || std::count(drawn.begin(), drawn.end(), curves.front().low) > 0) continue;
    drawn.push_back(curves.front().low);
    const std::vector<float> y(drawn.back().begin(), drawn.back().end());
    if (drawn.size() == 1)  // one name for all of them
      add_name(scene, double(y.size()), y.back(), "", "theory at step 1: mean field, even attention");
    add_dotted(scene, fmt::format("mean field of {} at step 1", letter_of(run)), y);
  }
}

void add_norm_theory(PlotScene& scene, const LabView& view, double top) {
  add_pre_theory(scene, view, top);
  add_post_theory(scene, view, top);
}

}  // namespace normscope::lab
