// Behind Explain is what the learner should now be able to say: sentences to complete with a word. The lesson ends here,
// or with Explain where it has no sentences.
#include <fmt/format.h>

#include <algorithm>

#include "app/course/exercises.h"
#include "app/lesson-player/experiment.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kWordButton = 30, kWordGap = 8, kVerdictLine = 20, kSayGap = 14;

/// Draws the words of a sentence as buttons in rows, and returns the one pressed now; empty: none.
std::string draw_words(Ui& ui, TextColumn& text, LessonContext& context, size_t index,
                       const std::string& said) {
  Rect& rest = text.rest;
  const Say& say = context.lesson.says[index];
  std::string pressed;
  float x = rest.x;
  const std::vector<std::string> words = offered(say);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string name = fmt::format("lesson/say/{}/{}", index + 1, i + 1);
    const float width = ui.paint().text_width({Face::Bold, type::title}, word) + 28;
    if (x > rest.x && x + width > rest.right()) {
      rest.take_top(kWordButton, kWordGap);
      x = rest.x;
    }
    const Rect box{x, rest.y, width, kWordButton};
    ButtonOptions options;
    options.selected = word == said;
    if (button(ui, name, box, word, context.tr("Puts this word into the sentence."), options)) pressed = word;
    context.scroll.follow_focus(ui, name, box, text.seen);
    x += width + kWordGap;
  }
  rest.take_top(kWordButton, kWordGap);
  return pressed;
}

class SayPage : public Page {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    TextColumn text(ui, rect, context, TextColumn::Of::Controls);
    text.head();
    draw_sentences(ui, text, context);
    text.close();
    context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override { return way_out(context, missing(context)); }
  void go_on(LessonContext& context) override { finish_lesson(context, missing(context).empty()); }
  /// Every sentence must have a word of this version of the lesson.
  std::string missing(const LessonContext& context) const override {
    const std::vector<Say>& says = context.lesson.says;
    const std::vector<std::string>& said = context.kept().words;
    for (size_t i = 0; i < says.size(); ++i)
      if (i >= said.size() || shown_word(says[i], said[i]).empty())
        return context.tr("Complete the sentences first");
    return "";
  }
  std::string skip_help(const LessonContext& context) const override {
    return missing(context).empty()
               ? ""
               : context.tr("On without these sentences; this lesson is not marked as done.");
  }
  void skip(LessonContext& context) override { context.leave(); }

 private:
  static void draw_sentences(Ui& ui, TextColumn& text, LessonContext& context) {
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    Rect& rest = text.rest;
    const std::vector<Say>& says = context.lesson.says;
    std::vector<std::string> answers = context.kept().words;
    answers.resize(says.size());
    p.text_in(rest.take_top(22, 10), {Face::Bold, type::run_name}, t.ink,
              context.tr("What you should now be able to say"));
    for (size_t i = 0; i < says.size(); ++i) {
      const std::string said = shown_word(says[i], answers[i]);
      const std::string sentence = filled(says[i], said.empty() ? "_____" : said);
      rest.take_top(p.text_wrapped(rest, {Face::Sans, type::run_name}, t.ink, sentence,
                                   context.compact() ? 22.f : 25.f),
                    kWordGap);
      const Rect words{rest.x, rest.y, rest.w, kWordButton};
      const std::string pressed = draw_words(ui, text, context, i, said);
      const std::string verdict = said.empty() ? ""
                                  : said == says[i].word
                                      ? context.tr("Right.")
                                      : context.tr("No. {why}", {{"why", why_not(says[i], said)}});
      const float high =
          std::max(kVerdictLine, p.wrapped_height(rest.w, {Face::Sans, type::title}, verdict, 18));
      p.text_wrapped(rest.take_top(high, kSayGap), {Face::Sans, type::title},
                     said == says[i].word ? t.ink : t.ink2, verdict, 18);
      ui.mark(fmt::format("lesson/say/{}", i + 1), words, verdict, sentence);
      if (pressed.empty()) continue;
      answers[i] = kept_word(says[i], pressed);
      context.kept().words = answers;
      context.progress.save();
    }
    if (said_right(says, answers) == says.size())
      p.text_in(rest.take_top(22), {Face::Bold, type::title}, t.ink, context.tr("All three are right."));
  }
};

}  // namespace

std::unique_ptr<Page> make_say_page() { return std::make_unique<SayPage>(); }

WayOn way_out(const LessonContext& context, const std::string& missing) {
  const Course& course = context.course;
  const bool more = context.index + 1 < course.lessons.size();
  if (!context.kept().committed)
    return {context.tr(more         ? "Next lesson"
                       : course.why ? "So why?"
                                    : "Review"),
            context.tr("The prediction was skipped, so this lesson is not marked as done."), missing.empty()};
  const std::string& text = context.tr(more         ? "Done: next lesson"
                                       : course.why ? "Done: so why?"
                                                    : "Done: review");
  if (!missing.empty()) return {text, missing + ".", false};
  return {text,
          context.tr(more ? "Marks this lesson as done." : "Marks this lesson as done; then the last page.")};
}

void finish_lesson(LessonContext& context, bool complete) {
  LessonProgress& kept = context.kept();
  kept.done = kept.done || (kept.committed && complete);
  context.progress.save();
  context.leave();
}

}  // namespace normscope::lessons
