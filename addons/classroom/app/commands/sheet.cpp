#include "addons/classroom/app/commands/worksheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/course/curves.h"
#include "app/course/figures.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/plot/plot.h"
#include "app/ui/paint.h"
#include "app/ui/theme.h"
#include "app/ui/widgets.h"

namespace normscope::course {

const Spread* Sheet::spread(const std::string& measure) const {
  if (!kept) return nullptr;
  const auto found = kept->measures.find(measure);
  return found == kept->measures.end() ? nullptr : &found->second.spread;
}

std::string Sheet::answer(const std::string& text, std::string_view unit) const {
  if (answers && !text.empty()) return element("span", ui::svg_escaped(text), "answer");
  return std::string(kBlank) + (unit.empty() ? "" : " " + ui::svg_escaped(unit));
}

std::string Sheet::mean(const std::string& measure) const {
  const Measure& m = *lesson.measure(measure);
  const Spread* s = spread(measure);
  return answer(s ? shown(s->mean, m, *lesson.words) : "", m.unit);
}

std::string Sheet::range(const std::string& measure) const {
  const Measure& m = *lesson.measure(measure);
  const Spread* s = spread(measure);
  return answer(s ? range_text(*s, m, *lesson.words) : "", m.unit);
}

std::string lines_to_write(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += element("div", "", "line");
  return lines + "\n";
}

std::string element(std::string_view name, std::string_view inside, std::string_view style) {
  if (style.empty()) return fmt::format("<{0}>{1}</{0}>", name, inside);
  return fmt::format("<{0} class=\"{2}\">{1}</{0}>", name, inside, style);
}

// ---- figures: the student gets axes to draw on, the teacher what was measured

namespace {

constexpr plot::ExportSize kSize{640, 360};

/// Makes an SVG document an element of a page.
std::string inlined(const std::string& document) { return document.substr(document.find("<svg ")); }

/// Draws where a drawing begins: the one measured point that is given.
void add_start(const Sheet& sheet, const Figure& figure, plot::PlotSpec& plot) {
  const Prediction& asked = sheet.lesson.prediction;
  if (asked.kind != Prediction::Kind::Draw || !sheet.kept) return;
  FigureData data;
  data.reference = sheet.kept;
  const auto start = start_of(sheet.lesson, asked.curve, data);
  if (!start) return;
  const Words& words = *sheet.lesson.words;
  plot::Series point;
  point.id = "start";
  point.name = words.tr("start here");
  for (const FigureLine& line : figure.lines)
    if (line.curve == asked.curve && !line.run.empty()) point.ink = plot::Ink::run(line.run[0] - 'A');
  point.x = plot::Column::of({static_cast<float>(start->first)});
  point.y = plot::Column::of({static_cast<float>(start->second)});
  plot.series.push_back(std::move(point));
}

/// The axes, the theory and what is known without training; before the prediction neither theory nor lines.
plot::PlotSpec axes(const Sheet& sheet, const Figure& figure, bool predicting) {
  FigureData data;
  data.level = sheet.kept ? sheet.kept->level : 0;
  if (predicting) data.draw_only = "nothing";
  plot::PlotSpec plot = figure_plot(sheet.lesson, figure, data);
  if (predicting) add_start(sheet, figure, plot);
  return plot;
}

/// Returns "A Post-LN, no warm-up; B Post-LN, warm-up 200".
std::string names_of(const Lesson& lesson, const Figure& figure) {
  std::string names;
  for (const FigureLine& line : figure.lines) {
    const Curve* curve = lesson.curve(line.curve);
    const std::string letter = letter_of(lesson, line);
    names += fmt::format("{}{}{}{}", names.empty() ? "" : "; ", letter, letter.empty() ? "" : " ",
                         line.name.empty() ? run_label(lesson, line.run, {}, curve) : line.name);
  }
  return names;
}

/// A tape to be filled in by hand; in the teacher's copy it has run.
std::string tape_html(const Sheet& sheet, const Figure& figure) {
  const std::vector<std::vector<std::string>> cells = cells_of_tape(
      table_of_tape(tape_of(sheet.lesson, figure.tape, {}), sheet.answers ? kMostSmallNames * 2 : 0));
  std::string rows;
  for (const std::vector<std::string>& row : cells) {
    std::string one;
    for (const std::string& cell : row) {
      // <br/> is a line break of HTML that is XML too.
      std::string inside;
      for (size_t at = 0, end = 0; end != cell.npos; at = end + 4) {
        end = cell.find("<br>", at);
        inside += ui::svg_escaped(cell.substr(at, end - at)) + (end == cell.npos ? "" : "<br/>");
      }
      one += element(&row == &cells.front() ? "th" : "td", inside, cell.empty() ? "fill" : "");
    }
    rows += element("tr", one) + "\n";
  }
  return element("h3", ui::svg_escaped(figure.title)) + element("table", "\n" + rows) + "\n";
}

std::string figure_html(const Sheet& sheet, const Figure& figure, StepKind step) {
  if (!figure.tape.empty()) return tape_html(sheet, figure);
  const bool predicting = step == StepKind::Predict, measured = sheet.answers && sheet.kept && !predicting;
  if ((!figure.map_run.empty() || !figure.walk.empty() || !figure.chain.empty()) && !measured) return "";
  const Words& words = *sheet.lesson.words;
  std::string caption;
  const std::string svg = measured ? kept_svg(sheet.lesson, figure, *sheet.kept, ui::theme(false), kSize)
                          : is_picture(figure)
                              ? picture_svg(sheet.lesson, figure, {}, ui::theme(false), kSize)
                              : plot::to_svg(axes(sheet, figure, predicting), ui::theme(false), kSize);
  if (!measured && !predicting && !is_picture(figure))
    caption = element("figcaption", words.tr("Draw what you measured: {runs}",
                                             {{"runs", ui::svg_escaped(names_of(sheet.lesson, figure))}}));
  // The site finds its own picture of the figure by this name.
  return fmt::format("<figure id=\"{}-{}\">\n{}{}</figure>\n", to_string(step), figure.id, inlined(svg),
                     caption);
}

}  // namespace

std::string figures_html(const Sheet& sheet, StepKind step) {
  const Lesson& lesson = sheet.lesson;
  const std::vector<std::string>&figures = lesson.step(step).figures,
        &compared = lesson.step(StepKind::Compare).figures;
  if (step == StepKind::Predict) {
    if (lesson.prediction.kind == Prediction::Kind::Order || figures.empty()) return "";  // cards, no axes
    const auto shown =
        std::ranges::find_if(figures, [&](const std::string& id) { return lesson.figure(id)->follow == 0; });
    return shown == figures.end() ? "" : figure_html(sheet, *lesson.figure(*shown), step);
  }
  std::string out;
  if (step == StepKind::Run) return out;
  for (const std::string& id : figures) {
    const Figure& figure = *lesson.figure(id);
    if (figure.follow > 0) continue;  // paper has the table of a tape, to be filled in
    if (step == StepKind::Compare || std::ranges::find(compared, id) == compared.end())
      out += figure_html(sheet, figure, step);
  }
  return out;
}

// ---- prose

namespace {

using ui::svg_escaped;
using Kind = Inline::Kind;

class ProseWriter {
 public:
  ProseWriter(const Sheet& sheet, StepKind step) : sheet_(sheet), step_(step) {}

  std::string all() {
    std::string out;
    bool small = false, list = false;
    for (const Block& block : sheet_.lesson.step(step_).text.blocks) {
      const bool item = block.kind == Block::Kind::Item;
      if (item != list) out += item ? "<ul>\n" : "</ul>\n";
      list = item;
      out += of_block(block, small) + "\n";
      small =
          small ||
          block.kind == Block::Kind::Heading;  // what is below "## How far does this reach?" is small print
    }
    return out + (list ? "</ul>\n" : "");
  }

 private:
  std::string of_block(const Block& block, bool small) {
    switch (block.kind) {
      case Block::Kind::Rule:
        return "<hr/>";
      case Block::Kind::Heading:
        return element("h3", words(block.inlines));
      case Block::Kind::Item:
        return element("li", words(block.inlines));
      case Block::Kind::Display:
        return display(block);
      case Block::Kind::Note:
        return element("p", words(block.inlines), "small");
      case Block::Kind::Paragraph:
        break;
    }
    return element("p", words(block.inlines), small ? "small" : "");
  }

  std::string display(const Block& block) {
    const std::vector<Inline> rest(block.inlines.begin() + 1, block.inlines.end());
    return element("div",
                   mathml(block.inlines.front().formula, true) + element("span", words(rest), "beside"),
                   "display");
  }

  std::string words(const std::vector<Inline>& inlines) {
    if (!sheet_.answers) return to_tick(inlines);
    std::string out;
    const Number number = [this](const std::string& measure) -> std::optional<double> {
      if (measure == kChanged) return 0;  // the lesson's own settings
      const Spread* s = sheet_.spread(measure);
      return s ? std::optional(s->mean) : std::nullopt;
    };
    for (const Inline& piece : read_as(inlines, number, "–")) out += of_piece(piece);
    return out;
  }

  std::string to_tick(const std::vector<Inline>& inlines) {
    std::string out;
    for (size_t at = 0; at < inlines.size(); ++at) {
      if (inlines[at].kind == Kind::If)
        out += forms(inlines, at);
      else
        out += of_piece(inlines[at]);
    }
    return out;
  }

  /// Goes from {if} to {end}, where it leaves `at`. It omits what holds with changed settings alone.
  std::string forms(const std::vector<Inline>& inlines, size_t& at) {
    std::vector<std::string> forms;
    while (at < inlines.size() && inlines[at].kind != Kind::End) {
      const std::vector<Condition>& conditions = inlines[at++].conditions;
      const bool changed =
          std::ranges::any_of(conditions, [](const Condition& c) { return c.measure == kChanged; });
      std::string form;
      while (at < inlines.size() && inlines[at].kind != Kind::Otherwise && inlines[at].kind != Kind::End)
        form += of_piece(inlines[at++]);
      if (!changed) forms.push_back(std::move(form));
    }
    if (forms.size() == 1) return forms.front();
    std::ranges::sort(forms);
    const Words& words = *sheet_.lesson.words;
    std::string out;
    for (const std::string& form : forms)
      out += (out.empty() ? " " : words.tr(" or ")) + element("span", std::string(kBox) + " " + form, "form");
    return out + " ";
  }

  std::string of_piece(const Inline& piece) {
    switch (piece.kind) {
      case Kind::Text:
        return piece.strong ? element("b", svg_escaped(piece.text)) : svg_escaped(piece.text);
      case Kind::Formula:
        return mathml(piece.formula, false);
      case Kind::Tile:
        return element("b", svg_escaped(piece.text), "tile");
      case Kind::Value:
        return sheet_.mean(piece.text);
      case Kind::Band:
        return sheet_.range(piece.text);
      case Kind::Reference:
        return given(piece.text);
      case Kind::Drag:
        return setting(*sheet_.lesson.knob(piece.text));
      case Kind::Sample:
        return sample(piece.text);
      case Kind::Name:
        return svg_escaped(run_label(sheet_.lesson, piece.text));
      case Kind::Lesson:
      case Kind::If:
      case Kind::Otherwise:
      case Kind::Always:
      case Kind::End:
        break;
    }
    return "";
  }

  std::string given(const std::string& measure) const {
    const Spread* s = sheet_.spread(measure);
    if (step_ != StepKind::Predict || !s) return sheet_.mean(measure);
    return svg_escaped(shown(s->mean, *sheet_.lesson.measure(measure), *sheet_.lesson.words));
  }

  std::string setting(const Knob& knob) const {
    return svg_escaped(shown_value(knob, first_value(sheet_.lesson, knob)));
  }

  std::string sample(const std::string& run) const {
    if (!sheet_.answers || !sheet_.kept) return element("span", "", "long blank");
    const auto text = sheet_.kept->texts.find(run);
    return sheet_.answer(text == sheet_.kept->texts.end() ? "" : text->second);
  }

  const Sheet& sheet_;
  StepKind step_;
};

}  // namespace

std::string prose_html(const Sheet& sheet, StepKind step) { return ProseWriter(sheet, step).all(); }

namespace {

using tex::NodeKind;
using tex::NodePtr;

class MathWriter {
 public:
  explicit MathWriter(bool display) : display_(display) {}

  std::string element(const NodePtr& node) const {
    if (!node) return row("");
    switch (node->kind) {
      case NodeKind::Row:
        return row(all(node->children));
      case NodeKind::Symbol:
        return symbol(*node);
      case NodeKind::Operator:
        return tag("mo", ui::svg_escaped(node->text));
      case NodeKind::Space:
        return fmt::format("<mspace width=\"{:g}em\"/>", node->width);
      case NodeKind::Fraction:
        return tag("mfrac", all(node->children));
      case NodeKind::Root:
        return node->children[1] ? tag("mroot", all(node->children))
                                 : tag("msqrt", element(node->children[0]));
      case NodeKind::Scripts:
        return scripts(*node);
      case NodeKind::Fence:
        return row(fence(node->text) + element(node->children[0]) + fence(node->close));
      case NodeKind::Accent:
        return fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", element(node->children[0]),
                           accent(node->text));
      case NodeKind::Big:
        return fmt::format("<mo largeop=\"true\" movablelimits=\"false\">{}</mo>",
                           ui::svg_escaped(node->text));
    }
    return row("");
  }

 private:
  static std::string tag(std::string_view name, const std::string& inside) {
    return fmt::format("<{0}>{1}</{0}>", name, inside);
  }
  static std::string row(const std::string& inside) { return tag("mrow", inside); }

  std::string all(const std::vector<NodePtr>& nodes) const {
    std::string out;
    for (const NodePtr& node : nodes) out += element(node);
    return out;
  }

  /// A number, a sign, words with their blanks, or a name.
  static std::string symbol(const tex::Node& node) {
    const std::string& text = node.text;
    if (text.empty()) return row("");
    const bool digits = std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (digits) return tag("mn", text);
    constexpr std::string_view kSigns = "()[]{}|,;:/!";
    if (text.size() == 1 && kSigns.find(text[0]) != kSigns.npos)
      return fmt::format("<mo stretchy=\"false\">{}</mo>", text);
    if (text.find(' ') != text.npos) return tag("mtext", unbroken(text));
    return fmt::format("<mi{}>{}</mi>", node.bold ? " style=\"font-weight:bold\"" : "",
                       ui::svg_escaped(text));
  }

  /// Keeps blanks at either end, which would be left out otherwise.
  static std::string unbroken(const std::string& text) {
    std::string out;
    for (const char c : ui::svg_escaped(text)) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
    return out;
  }

  std::string scripts(const tex::Node& node) const {
    const NodePtr &base = node.children[0], &below = node.children[1], &above = node.children[2];
    const bool limits = display_ && base && base->kind == NodeKind::Big;
    const char* name = below && above ? (limits ? "munderover" : "msubsup")
                       : below        ? (limits ? "munder" : "msub")
                                      : (limits ? "mover" : "msup");
    return tag(name, element(base) + (below ? element(below) : "") + (above ? element(above) : ""));
  }

  static std::string fence(const std::string& sign) {
    if (sign.empty()) return "";
    return fmt::format("<mo fence=\"true\" stretchy=\"true\">{}</mo>", ui::svg_escaped(sign));
  }

  static const char* accent(const std::string& kind) {
    return kind == "hat" ? "^" : kind == "bar" ? "¯" : kind == "tilde" ? "~" : kind == "dot" ? "˙" : "→";
  }

  bool display_;
};

}  // namespace

std::string mathml(const tex::Formula& formula, bool display) {
  return fmt::format("<math xmlns=\"http://www.w3.org/1998/Math/MathML\"{}>{}</math>",
                     display ? " display=\"block\"" : "", MathWriter(display).element(formula.root));
}

}  // namespace normscope::course
