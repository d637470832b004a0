// What the papers predict, laid over what was measured: named curves of measure/theory.h. See scenes.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/scenes.h"
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

// A profile over the layers, measured from where the run's top layer began.
void add_profile(PlotScene& scene, const RunView& run, const std::vector<double>& shares,
                 const std::vector<float>& start, const char* whose, const char* formula) {
  if (start.empty() || !usable(start.back()) || start.size() != shares.size()) return;
  std::vector<float> y;
  for (double share : shares) y.push_back(static_cast<float>(share) * start.back());
  const size_t middle = y.size() / 2;
  add_name(scene, double(middle + 1), y[middle], letter_of(run),
           fmt::format("theory at step 1: {}", formula));
  add_dotted(scene, fmt::format("theory of {} at step 1", whose), std::move(y));
}

}  // namespace

void add_gradient_theory(PlotScene& scene, const LabView& view, LabData& data, const std::string& path,
                         int step) {
  for (const RunView& run : view.runs) {
    const std::vector<theory::Curve> curves = theory::gradient_curves(run.spec->model);
    if (curves.empty() || run.forked_from >= 0) continue;
    const std::string_view name = curves.front().equation->name;
    const bool decoder = name == "decoder profile" && path.starts_with("ffn.");
    const bool pre = name == "Pre-LN profile" && path.starts_with("ffn.w2") && step <= kEarly &&
                     lemma_applies(run.spec->model);
    if (decoder || pre)
      add_profile(scene, run, curves.front().low, data.by_layer(run, path, 1),
                  decoder ? "the Post-LN decoder" : "Pre-LN", decoder ? "(1/2)^((L−l)/2)" : "∝ 1/√q");
  }
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
