#include "app/course/reader_checks.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "app/course/labels.h"
#include "app/course/map/cells.h"
#include "app/course/map/swept.h"
#include "app/course/own/slots.h"
#include "app/course/pictures/bars.h"
#include "app/course/pictures/chain.h"
#include "app/course/pictures/walk.h"
#include "app/course/reading/measure_tables.h"
#include "app/course/tapes/tape_tables.h"
#include "engine/core/error.h"

namespace normscope::course {
namespace {

class Checker : TableChecker {
 public:
  using TableChecker::TableChecker;

  void all() const {
    std::istringstream words(lesson_.claim);
    const auto count = std::distance(std::istream_iterator<std::string>(words), {});
    if (count > kClaimWords)
      root_.refuse("claim", fmt::format("has {} words: expected at most {}", count, kClaimWords));
    if (!names_file(lesson_.id)) root_.refuse("id", wrong_name(lesson_.id));
    if (lesson_.checks.empty()) root_.refuse("", "has no [[check]]: expected one at least");
    if (lesson_.runs.empty() && lesson_.tapes.empty())
      root_.refuse("", "has no [run.A]: expected one at least, or a [tape.NAME]");
    if (lesson_.runs.empty() && !lesson_.beside.empty()) root_.refuse("run", "has no A: expected one");
    if (lesson_.runs.empty() && !lesson_.effect.empty())
      root_.refuse("effect", "has no run to measure it in: expected no effect without [run.A]");
    check_tapes(lesson_, root_);
    // A letter may be skipped, so that a placement keeps its letter throughout the course.
    for (size_t i = 1; i < lesson_.runs.size(); ++i)
      if (lesson_.runs[i].id <= lesson_.runs[i - 1].id)
        refuse("run", lesson_.runs[i].id,
               fmt::format("comes after [run.{}]: expected letters in their order", lesson_.runs[i - 1].id));
    for (const LessonRun& run : lesson_.runs) no_setting("run." + run.id, "name", run.name);
    for (const Curve& c : lesson_.curves) {
      if (c.of == Curve::Of::Tape) continue;
      need(lesson_.run(c.run), "curve." + c.id, "run", c.run, "a run");
      curve(c);
    }
    check_measures(lesson_, root_);
    for (const std::string& id : lesson_.effect)
      if (std::none_of(lesson_.checks.begin(), lesson_.checks.end(),
                       [&](const Check& c) { return c.measure == id; }))
        root_.refuse("effect", fmt::format("'{}' has no [[check]]: expected measures with one", id));
    for (const Figure& f : lesson_.figures) figure(f);
    for (const Knob& k : lesson_.knobs) knob(k);
    slots();
    prediction();
    if (lesson_.puzzle)
      need(lesson_.measure(lesson_.puzzle->measure), "puzzle", "measure", lesson_.puzzle->measure,
           "a measure");
    for (StepKind kind : kSteps) step(kind);
  }

 private:
  /// Restricts the ids of lessons and figures, because files of a report are named after them.
  static bool names_file(const std::string& id) {
    return !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '-' || c == '_';
    });
  }
  static std::string wrong_name(const std::string& id) {
    return fmt::format("'{}' is no name: expected letters, digits, - and _", id);
  }

  /// Requires a run with a letter, because a learner sees, changes or takes the run to the Lab.
  void need_letter(const std::string& table, const std::string& key, const std::string& run) const {
    need(lesson_.has_letter(run) ? &lesson_ : nullptr, table, key, run, "a run with a letter");
  }

  void curve(const Curve& c) const {
    using Of = Curve::Of;
    const RunSpec& spec = lesson_.run(c.run)->spec;
    const bool two = spec.model.architecture == Architecture::EncoderDecoder;
    if (c.of == Of::Run || c.of == Of::Profile)
      probe_exists(c, spec.model, two);
    else if (two && !is_swept(c))
      refuse("curve." + c.id, "run",
             fmt::format("'{}' has two stacks: expected of = run, sweep, border or profile, or one stack",
                         c.run));
    if (asks_critical_rate(c) && spec.train.critical_every == 0)
      refuse("curve." + c.id, "y",
             fmt::format("'{}' is not measured by run {}: expected its train.critical_every", c.y, c.run));
    if ((c.of == Of::Profile || c.of == Of::OneStep) && c.to > spec.train.steps)
      refuse("curve." + c.id, is_walk(c) ? "steps" : "step",
             fmt::format("{} comes after the last: expected at most {}", c.to, spec.train.steps));
    if (c.of != Of::Border) return;
    try {
      points_of(c, spec);
    } catch (const Error& error) {
      refuse("curve." + c.id, "values", error.what());
    }
  }

  /// Refuses layer 9 of a model with six layers, and "dec.L01..." of a model with one stack.
  void probe_exists(const Curve& c, const ModelConfig& model, bool two) const {
    for (size_t at = c.y.find('L'); at != std::string::npos; at = c.y.find('L', at + 1)) {
      const std::string stack = at >= 4 ? c.y.substr(at - 4, 4) : "";
      if (two != (stack == "enc." || stack == "dec."))
        refuse("curve." + c.id, "y",
               fmt::format("'{}' of a model with {}", c.y,
                           two ? "two stacks: expected enc. or dec. before the L"
                               : "one stack: expected no enc. or dec."));
      if (c.y[at + 1] == '*') continue;  // every layer
      const int32_t layer = std::atoi(c.y.c_str() + at + 1), layers = layers_of(stack, model);
      if (layer < 1 || layer > layers)
        refuse("curve." + c.id, "y",
               fmt::format("'{}' is of layer {}: expected L01 to L{:02}", c.y, layer, layers));
    }
  }

  void knob(const Knob& k) const {
    const std::string table = "knob." + k.id;
    if (lesson_.tape(k.run)) return;
    need_letter(table, "run", k.run);
    if (!is_slot(k) && !find_field(k.field))
      refuse(table, "field", fmt::format("'{}' is no field of a run: expected one as train.warmup", k.field));
  }

  void figure(const Figure& f) const {
    const std::string table = "figure." + f.id;
    if (!names_file(f.id)) refuse("figure", f.id, wrong_name(f.id));
    if (!f.map_run.empty()) map(f, table);
    if (!f.cells.empty()) cells(f, table);
    if (!f.ball.empty()) ball(f, table);
    if (const std::string why = wrong_walk(lesson_, f); !why.empty()) refuse(table, "walk", why);
    if (const std::string why = wrong_chain(lesson_, f); !why.empty()) refuse(table, "chain", why);
    if (const std::string why = wrong_bars(lesson_, f); !why.empty()) refuse(table, "bars", why);
    for (const FigureLine& line : f.lines) {
      need(lesson_.curve(line.curve), table, "lines.curve", line.curve, "a curve");
      if (!line.run.empty() && (line.run.size() != 1 || line.run[0] < 'A' || line.run[0] > 'D'))
        refuse(table, "lines.run",
               fmt::format("'{}': expected A, B, C or D, or none for a grey line", line.run));
      if (line.name.empty() && !lesson_.has_letter(line.run))
        refuse(table, "lines.name",
               line.run.empty()
                   ? "is missing, and the line has no run's look: expected a text"
                   : fmt::format("is missing, and there is no run {}: expected a text", line.run));
      no_setting(table, "lines.name", line.name);
    }
    for (const FigureLevel& level : f.levels) {
      if (!level.measure.empty() + level.value.has_value() + level.letters != 1)
        refuse(table, "levels", "expected one of value, measure and letters = true");
      if (!level.measure.empty())
        need(lesson_.measure(level.measure), table, "levels.measure", level.measure, "a measure");
    }
  }

  void map(const Figure& f, const std::string& table) const {
    const char* key = f.river ? "river" : "map";
    need_letter(table, key, f.map_run);
    if (lesson_.run(f.map_run)->spec.model.architecture == Architecture::EncoderDecoder)
      refuse(table, key, fmt::format("'{}' has two stacks: expected a run of one", f.map_run));
    if (f.grows && !only_adds(lesson_.run(f.map_run)->spec))
      refuse(table, "river_grows",
             fmt::format("'{}' rescales its stream: expected a run whose stream only adds up, as Pre-LN's",
                         f.map_run));
    if (f.below.empty()) return;
    const Figure* below = lesson_.figure(f.below);
    if (!below || !below->river || below == &f)
      refuse(table, "river_below",
             fmt::format("'{}' is no other river of this lesson: expected one", f.below));
    const auto layers = [&](const Figure& of) { return layers_of("", lesson_.run(of.map_run)->spec.model); };
    need_letter("figure." + below->id, key, below->map_run);
    if (layers(*below) != layers(f))
      refuse(table, "river_below",
             fmt::format("'{}' is of {} layers: expected {}, as this river's", f.below, layers(*below),
                         layers(f)));
  }

  /// Says that neither a norm nor a factor rescales the stream on its way, so that every part keeps its
  /// size.
  static bool only_adds(RunSpec spec) {
    complete(spec);
    const ModelConfig& model = spec.model;
    const StackWiring& stack = model.architecture == Architecture::Encoder ? model.encoder : model.decoder;
    const auto adds = [](const Wiring& w) {
      return w.stream == NormKind::None && w.enter == NormKind::None && w.skip == Scale{};
    };
    return std::all_of(stack.layers.begin(), stack.layers.end(), [&](const LayerWiring& layer) {
      return adds(layer.attention) && adds(layer.feed_forward);
    });
  }

  void slots() const {
    for (const LessonRun& run : lesson_.runs)
      if (const std::string why = wrong_slots(lesson_, run.id); !why.empty()) refuse("knob", "slot", why);
    if (!lesson_.knobs.empty() && is_slot(lesson_.knobs.back()))
      refuse("knob." + lesson_.knobs.back().id, "slot",
             "comes last: expected a knob with a field, which stands below the figure");
    const auto is_own = [&](const Knob& k) { return is_slot(k) && k.run == lesson_.own; };
    if (!lesson_.own.empty() && std::none_of(lesson_.knobs.begin(), lesson_.knobs.end(), is_own))
      root_.refuse("own", fmt::format("'{}' has no slots: expected a run with a [knob.NAME] that has a slot",
                                      lesson_.own));
  }

  void cells(const Figure& f, const std::string& table) const {
    const Curve* border = lesson_.curve(f.cells);
    if (!border || border->of != Curve::Of::Border)
      refuse(table, "cells",
             fmt::format("'{}' is no border of this lesson: expected a curve of = border", f.cells));
    if (const std::string why = uneven(*border); !why.empty()) refuse(table, "cells", why);
  }

  void ball(const Figure& f, const std::string& table) const {
    const Curve* valley = lesson_.curve(f.ball);
    if (!valley || valley->of != Curve::Of::OneStep)
      refuse(table, "ball",
             fmt::format("'{}' is no step of this lesson: expected a curve of = one_step", f.ball));
    need_letter(table, "ball", valley->run);
    if (std::none_of(f.lines.begin(), f.lines.end(),
                     [&](const FigureLine& line) { return line.curve == f.ball; }))
      refuse(table, "ball", fmt::format("'{}' is no line of the figure: expected one of them", f.ball));
  }

  void prediction() const {
    const Prediction& p = lesson_.prediction;
    if (p.kind == Prediction::Kind::Draw) {
      need(lesson_.curve(p.curve), "prediction", "curve", p.curve, "a curve");
      const Curve& drawn = *lesson_.curve(p.curve);
      if (drawn_grid(lesson_, drawn).size() < 2)
        refuse("prediction", "curve", "has no axis to draw along: expected a curve of two points at least");
      const auto& figures = lesson_.step(StepKind::Predict).figures;
      const Figure* figure = figures.empty() ? nullptr : lesson_.figure(figures[0]);
      const auto has_it = [&](const FigureLine& line) { return line.curve == p.curve && !line.run.empty(); };
      if (!figure || std::none_of(figure->lines.begin(), figure->lines.end(), has_it))
        refuse("prediction", "curve", "is not in the figure of step.predict: expected it there");
    }
    if (p.kind == Prediction::Kind::Value)
      need(lesson_.measure(p.measure), "prediction", "measure", p.measure, "a measure");
    for (const Prediction::Card& card : p.cards)
      need(lesson_.measure(card.measure), "prediction", "cards.measure", card.measure, "a measure");
  }

  void step(StepKind kind) const {
    const Step& step = lesson_.step(kind);
    const std::string table = std::string("step.") + to_string(kind);
    if (step.figures.empty()) refuse(table, "figures", "is empty: expected one figure at least");
    for (const std::string& id : step.figures) need(lesson_.figure(id), table, "figures", id, "a figure");
    const auto [read, reach] = step.text.at_heading();
    if (const int32_t words = std::max(read.words(), reach.words()); words > kStepWords)
      throw Error(fmt::format("{}:1: {} words: expected at most {} between two actions", step.text.file,
                              words, kStepWords));
    for (const Block& block : step.text.blocks) {
      bool in_forms = false;
      for (const Inline& piece : block.inlines) {
        using Kind = Inline::Kind;
        if (piece.kind == Kind::If || piece.kind == Kind::Always) in_forms = true;
        if (piece.kind == Kind::End) in_forms = false;
        inline_piece(step.text, piece, kind);
        if (piece.kind == Kind::Value && !in_forms)
          throw Error(
              fmt::format("{}:{}: {{value {}}} in a sentence with one form only: expected {{if NAME < "
                          "NUMBER}} ... {{else}} ... {{end}} around it, or {{always}} ... {{end}} where it "
                          "is true whatever is measured",
                          step.text.file, piece.line, piece.text));
      }
    }
  }

  /// Refuses a text that names a setting, because labels add the settings of the run that is shown.
  void no_setting(const std::string& table, const char* key, const std::string& text) const {
    if (const std::string said = setting_said(lesson_, text); !said.empty())
      refuse(table, key,
             fmt::format("'{}' names a setting ({}): expected what no setting changes", text, said));
  }

  void inline_piece(const Prose& prose, const Inline& piece, StepKind kind) const {
    using Kind = Inline::Kind;
    const auto missing = [&](const void* found, const char* what) {
      if (!found)
        throw Error(fmt::format("{}:{}: '{}' is not in this lesson: expected {} of it", prose.file,
                                piece.line, piece.text, what));
    };
    if (piece.kind == Kind::Value || piece.kind == Kind::Band || piece.kind == Kind::Reference)
      missing(lesson_.measure(piece.text), "a measure");
    if (piece.kind == Kind::Drag) missing(lesson_.knob(piece.text), "a knob");
    if (piece.kind == Kind::Tile || piece.kind == Kind::Sample || piece.kind == Kind::Name)
      missing(lesson_.has_letter(piece.text) ? &lesson_ : nullptr, "a run with a letter");
    if (piece.kind == Kind::Lesson)
      throw Error(fmt::format("{}:{}: {{lesson {}}} in a lesson: expected it on the course's last page alone",
                              prose.file, piece.line, piece.text));
    for (const Condition& condition : piece.conditions)
      if (condition.measure != kChanged && !lesson_.measure(condition.measure))
        throw Error(fmt::format("{}:{}: '{}' is not in this lesson: expected a measure of it", prose.file,
                                piece.line, condition.measure));
    const bool early = kind == StepKind::Predict;
    if (early && (piece.kind == Kind::Value || piece.kind == Kind::Band || piece.kind == Kind::Sample ||
                  !piece.conditions.empty()))
      throw Error(fmt::format(
          "{}:{}: {{{}}} before the prediction: expected at most {{ref NAME}} of the starting point",
          prose.file, piece.line, piece.text));
  }
};

}  // namespace

void check_references(const Lesson& lesson, const Table& root) { Checker(lesson, root).all(); }

}  // namespace normscope::course
