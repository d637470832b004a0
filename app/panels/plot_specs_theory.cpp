// Lays what the papers predict, named curves of measure/theory.h, over what was measured. See plot_specs.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/measure/theory/theory.h"

namespace normscope::panels {

using namespace plot;
using Series = plot::Series;  // not the history's

namespace {

constexpr int kEarly = 10;  // steps until which runs can still be compared with where they began

// Asks about a run's one stack, or about the given stack of an encoder-decoder.
theory::Question question_of(const LabView& view, const RunView& run, theory::Subject subject,
                             view::Side side) {
  const bool encoder = side == view::Side::Encoder || run.spec->model.architecture == Architecture::Encoder;
  const bool same_data = run.spec->data == view.runs.front().spec->data;  // the agreement is the first run's
  return {.subject = subject, .decoder = !encoder, .same_token = same_data ? view.agreement.token : 0};
}

// Returns theory's line for a run that began at its own step 1, where theory has one.
std::optional<theory::Line> line_of(const LabView& view, const RunView& run, theory::Subject subject,
                                    view::Side side) {
  if (run.forked_from >= 0 || !run.spec->train.init_from.empty()) return {};
  std::vector<theory::Line> lines = theory::lines(run.spec->model, question_of(view, run, subject, side));
  return lines.empty() ? std::nullopt : std::optional(std::move(lines.front()));
}

// Adds the band in which Pre-LN streams begin, in the colour of the first Pre-LN run.
void add_pre_theory(PlotSpec& plot, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    // An encoder-decoder shows its encoder, because the lemma knows no cross-attention.
    const auto line = line_of(view, run, theory::Subject::StreamSquare, view::sides_of(run).back());
    if (!line || line->high.empty()) continue;
    const std::vector<float> low(line->low.begin(), line->low.end()),
        high(line->high.begin(), line->high.end());
    if (low.size() < 2 || low.front() > 20 * top) return;
    Band band;
    band.id = tr(view::has_both(run) ? "theory for its Pre-LN encoder" : "theory for Pre-LN at the start");
    band.ink = Ink::run(view::colour_of(run));
    band.theory = true;
    band.label = band.id;
    band.help =
        tr("What theory expects of the mean square of the state before any training: in Pre-LN "
           "every branch adds about as much, after a norm all states have one size.");
    const size_t at = (low.size() - 1) / 3;
    band.label_at = {double(at + 1) + 0.4, 0.5 * (low[at] + high[at]) + 0.2 * (high[at] - low[at])};
    band.x = Column::of(std::vector<float>(line->x.begin(), line->x.end()));
    band.lo = Column::of(low);
    band.hi = Column::of(high);
    plot.bands.push_back(std::move(band));
    return;
  }
}

// Adds the level at which the sums of a Post-LN stack begin, whatever its depth.
void add_post_theory(PlotSpec& plot, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    const auto level = line_of(view, run, theory::Subject::StreamSquare, view::Side::Main);
    if (view::has_both(run) || !level || !level->high.empty()) continue;
    RefLine line;
    line.value = level->low.front();
    if (line.value < 0.04 * top || line.value > 20 * top) return;
    const words::Place value{"level", ui::decimals(line.value, 2)};
    line.short_label = tr("theory for Post-LN {level}", {value});
    line.label = tr("theory for Post-LN at the start {level}", {value});
    line.label_left = line.label_below = true;
    line.help =
        tr("What theory expects of the mean square of the state before any training: in Pre-LN "
           "every branch adds about as much, after a norm all states have one size.");
    plot.lines.push_back(std::move(line));
    return;
  }
}

// Draws a curve over the layers, dotted in the ink of words, behind what was measured.
void add_dotted(PlotSpec& plot, std::string id, std::vector<float> y) {
  Series s;
  s.id = std::move(id);
  s.x0 = 1;
  s.y = Column::of(std::move(y));
  s.ink = {Ink::Role::Ink2, 0, 1};
  s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off};
  s.width = ui::line::reference;
  s.end_label = false;
  s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
}

void add_name(PlotSpec& plot, double x, float y, std::string letter, std::string text, std::string help) {
  plot.notes.push_back(
      {x, y, std::move(letter), std::move(text), {Ink::Role::Ink2, 0, 1}, -10, 20, std::move(help)});
}

// What is predicted of the gradients of runs that begin alike: a profile, or a single mark where theory
// knows the last layer only.
struct Prediction {
  std::string letters;
  std::vector<float> y;  // by layer; unknown ones NaN
  std::string of, formula;
  bool from_theory;  // where it ends, too, otherwise where the run's top layer began
};

// The expected gradient norm of the last layer's W2 at step 1; empty where theory has no number.
std::optional<double> last_layer(const LabView& view, const RunView& run) {
  const RunSpec& spec = *run.spec;
  if (spec.train.label_smoothing != 0 || !spec.train.init_from.empty() ||
      !(spec.data == view.runs.front().spec->data))
    return {};
  const auto start = theory::last_layer_start(spec.model, spec.train.batch, view.agreement);
  return start ? std::optional(start->gradient) : std::nullopt;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

void add_prediction(std::vector<Prediction>& all, const RunView& run, const std::vector<double>& profile,
                    double end, Prediction what) {
  for (double share : profile) what.y.push_back(static_cast<float>(share * end));
  for (Prediction& other : all)
    if (same(other.y, what.y)) {
      other.letters += std::string(", ") + run.letter;
      return;
    }
  what.letters = view::letter_of(run);
  all.push_back(std::move(what));
}

// A Post-LN stack's profile over a whole batch: nothing is known of it but where it ends.
std::vector<double> end_only(int layers) {
  std::vector<double> profile(static_cast<size_t>(layers), std::numeric_limits<double>::quiet_NaN());
  profile.back() = 1;
  return profile;
}

// The variance of each cross branch over its skip path's, as the first step measured them.
std::vector<double> cross_variance(view::LabData& data, const RunView& run) {
  const std::vector<float> branch = data.by_layer(run, "cross.branch.variance", 1),
                           skip = data.by_layer(run, "cross.input.variance", 1);
  std::vector<double> ratio;
  for (size_t i = 0; i < branch.size(); ++i)
    if (view::usable(branch[i]) && view::usable(skip[i]))
      ratio.push_back(static_cast<double>(branch[i] / skip[i]));
  return ratio;
}

// Marks the closed form for the last layer, where the profile ends without a measurement.
void mark_last_layer(PlotSpec& plot, const Prediction& p) {
  Series s;
  s.id = tr("theory of the last layer of {runs} at step 1", {{"runs", p.letters}});
  s.x0 = static_cast<double>(p.y.size());
  s.y = Column::of({p.y.back()});
  s.ink = {Ink::Role::Ink2, 0, 1};
  s.marker = ui::Marker::Diamond;
  s.markers = Markers::All;
  s.end_label = false;
  s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
}

}  // namespace

// Draws lines whose every assumption holds (measure/theory/theory.h). Post-LN without
// cross-attention has a mark at its last layer alone: "all layers alike" is true of one position's loss, not a batch's.
bool add_gradient_theory(PlotSpec& plot, const LabView& view, view::LabData& data, const std::string& path,
                         int step) {
  std::vector<Prediction> all;
  const std::string& last = tr("last layer");
  bool of_start = false;
  for (const RunView& run : view.runs) {
    if (run.forked_from >= 0 || !run.spec->train.init_from.empty() || !path.starts_with("ffn.w2")) continue;
    const std::vector<double> cross = cross_variance(data, run);
    theory::Question question = question_of(view, run, theory::Subject::Gradient, view::Side::Main);
    question.cross_variance = cross;
    const std::vector<theory::Line> lines = theory::lines(run.spec->model, question);
    const std::vector<float> start = data.by_layer(run, path, 1);
    if (!lines.empty() && start.size() != lines.front().low.size()) continue;
    const std::string_view name = lines.empty() ? "" : lines.front().equation;
    if (name == "decoder profile") {
      if (view::usable(start.back()))
        add_prediction(all, run, lines.front().low, start.back(),
                       {{}, {}, tr("Post-LN decoder"), tr("∏ 1/√(1 + v), v of the cross branches"), false});
      continue;
    }
    if (step > kEarly) continue;
    const std::optional<double> end = last_layer(view, run);
    if (lines.empty() && !end) continue;
    if (!end && !view::usable(start.back())) continue;
    of_start = true;
    const bool pre = !lines.empty();
    add_prediction(all, run, pre ? lines.front().low : end_only(run.spec->model.layers),
                   end.value_or(start.back()),
                   {{}, {}, pre ? "Pre-LN" : last, pre ? "∝ 1/√q" : last, end.has_value()});
  }
  for (const Prediction& p : all) {
    const bool line = p.y.size() > 1 && std::isfinite(p.y.front());
    const size_t at = line ? p.y.size() / 2 : p.y.size() - 1;
    add_name(plot, double(at + 1), p.y[at], p.letters,
             tr(!p.from_theory ? "theory at step 1: {formula}"
                : line         ? "theory at step 1: {formula}, ending at ◆ {value}"
                               : "theory at step 1: {formula} ◆ {value}",
                {{"formula", p.formula}, {"value", ui::number(p.y.back(), 2)}}),
             view::meaning("theory"));
    if (line)
      add_dotted(plot, tr("theory of {runs} ({whose}) at step 1", {{"runs", p.letters}, {"whose", p.of}}),
                 p.y);
    if (p.from_theory) mark_last_layer(plot, p);
  }
  return of_start;
}

void add_cosine_theory(PlotSpec& plot, const LabView& view, int step) {
  if (step > kEarly) return;
  std::vector<std::vector<double>> drawn;  // runs that differ in their schedule alone share a curve
  for (const RunView& run : view.runs) {
    const auto line = line_of(view, run, theory::Subject::TokenCosine, view::Side::Main);
    if (view::has_both(run) || !line || std::ranges::count(drawn, line->low) > 0) continue;
    drawn.push_back(line->low);
    const std::vector<float> y(drawn.back().begin(), drawn.back().end());
    if (drawn.size() == 1)  // one name serves all of them
      add_name(plot, double(y.size()), y.back(), "", tr("theory at step 1: mean field, even attention"),
               tr("What theory expects of the angle between two tokens before any training, in a very wide "
                  "model whose attention looks at all positions alike."));
    add_dotted(plot, tr("mean field of {runs} at step 1", {{"runs", run.letter}}), y);
  }
}

void add_norm_theory(PlotSpec& plot, const LabView& view, double top) {
  add_pre_theory(plot, view, top);
  add_post_theory(plot, view, top);
}

}  // namespace normscope::panels
