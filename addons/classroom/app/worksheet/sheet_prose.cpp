// This file puts a lesson's prose on paper. See sheet.h.
#include "addons/classroom/app/worksheet/sheet.h"

#include <algorithm>
#include <vector>

#include "addons/classroom/app/worksheet/mathml.h"
#include "app/course/labels.h"
#include "app/course/lesson.h"
#include "app/ui/svg.h"
#include "app/ui/widgets.h"

namespace normscope::course {
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
      const bool changed = std::any_of(conditions.begin(), conditions.end(),
                                       [](const Condition& c) { return c.measure == kChanged; });
      std::string form;
      while (at < inlines.size() && inlines[at].kind != Kind::Otherwise && inlines[at].kind != Kind::End)
        form += of_piece(inlines[at++]);
      if (!changed) forms.push_back(std::move(form));
    }
    if (forms.size() == 1) return forms.front();
    std::sort(forms.begin(), forms.end());
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

}  // namespace normscope::course
