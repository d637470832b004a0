// The fourth page explains: what is behind the measurement, the claim, and how far it reaches.
#include "app/lesson-player/experiment.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kSmallLine = 21;

class ExplainPage : public Page {
 public:
  explicit ExplainPage(const LessonContext& context) {
    const auto [explained, reach] = context.lesson.step(StepKind::Explain).text.at_heading();
    const auto second = reach.blocks.begin() + (reach.blocks.empty() ? 0 : 1);
    explained_ = explained;
    reach_in_short_ = {reach.file, {reach.blocks.begin(), second}};
    reach_in_full_ = {reach.file, {second, reach.blocks.end()}};
  }
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    const Lesson& lesson = context.lesson;
    TextColumn text(ui, rect, context, TextColumn::Of::Prose);
    text.head();
    text.prose(explained_);
    text.rest.take_top(18);
    text.box(context.tr("Claim"), lesson.claim);
    draw_what_if(ui, text, context);
    draw_reach(ui, text, context);
    text.close();
    context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override {
    if (context.lesson.says.empty()) return way_out(context, "");
    return {context.tr("Next: Say"), context.tr("Three sentences to complete.")};
  }
  void go_on(LessonContext& context) override {
    if (context.lesson.says.empty()) return finish_lesson(context, true);
    context.turn.page = PageKind::Say;
  }

 private:
  /// Draws a question, and the way to the small runs that answer it.
  void draw_what_if(Ui& ui, TextColumn& text, LessonContext& context) {
    if (context.lesson.what_if.empty()) return;
    Rect& rest = text.rest;
    rest.take_top(12);
    ui.paint().text_in(rest.take_top(22, 4), {Face::Bold, type::title}, ui.theme().ink,
                       context.tr("What if?"));
    const TextStyle style{Face::Sans, type::title};
    rest.take_top(ui.paint().text_wrapped(rest, style, ui.theme().ink2, context.lesson.what_if, kSmallLine),
                  8);
    const std::string& label = context.tr("Ask the small model");
    const float width = ui.paint().text_width({Face::Bold, type::title}, label) + 40;
    if (button(ui, "lesson/what-if", {rest.x, rest.y, width, 30}, label,
               context.tr(
                   "Opens these runs in the Lab as a small model, which is trained whole at every change.")))
      context.requests.replacing = context.small_runs();
    rest.take_top(30, 8);
  }
  /// Draws two plain sentences, and behind a fold the rest: what the papers saw, the sources, and what was measured in
  /// other settings.
  void draw_reach(Ui& ui, TextColumn& text, const LessonContext& context) {
    if (reach_in_short_.blocks.empty()) return;
    Rect& rest = text.rest;
    FlowContext flow_context = text.flow;
    flow_context.px = type::title;
    flow_context.line = kSmallLine;
    flow_context.pale = true;
    rest.take_top(8);
    ui.paint().hairline({rest.x, rest.y}, {rest.right(), rest.y}, ui.theme().border);
    rest.take_top(12);
    ui.paint().text_in(rest.take_top(22, 4), {Face::Bold, type::title}, ui.theme().ink,
                       context.tr("How far does this reach?"));
    rest.take_top(flow(ui, rest, reach_in_short_, flow_context, true, nullptr), 6);
    ButtonOptions fold;
    fold.quiet = fold.left = true;
    fold.icon = reach_open_ ? Icon::ChevronDown : Icon::ChevronRight;
    fold.style = {Face::Sans, type::body};
    const std::string& label = context.tr(
        reach_open_ ? "Fold this" : "What the papers saw, and what was measured in other settings");
    const float width = ui.paint().text_width(fold.style, label) + 40;
    if (button(ui, "lesson/reach", {rest.x - 8, rest.y, width, 26}, label,
               context.tr("Shows or hides where the claim was checked again, and the sources."), fold))
      reach_open_ = !reach_open_;
    rest.take_top(26, 8);
    if (!reach_open_) return;
    rest.take_top(flow(ui, rest, reach_in_full_, flow_context, true, nullptr), 10);
    const TextStyle small{Face::Sans, type::body};
    for (const std::string& sentence : context.lesson.reach)
      rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink2, sentence, 18), 4);
    rest.take_top(8);
    for (const std::string& source : context.lesson.sources)
      rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink3, source, 18), 2);
  }

  Prose explained_;       ///< the text above its heading
  Prose reach_in_short_;  ///< and below it: the first paragraph
  Prose reach_in_full_;   ///< and the others
  bool reach_open_ = false;
};

}  // namespace

std::unique_ptr<Page> make_explain_page(const LessonContext& context) {
  return std::make_unique<ExplainPage>(context);
}

}  // namespace normscope::lessons
