// Behind Explain is what the learner should now be able to say: sentences to complete with a word. See player.h.
#include <imgui.h>

#include <algorithm>

#include "app/lessons/player.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kWordButton = 30, kWordGap = 8, kVerdictLine = 20, kSayGap = 14;

}  // namespace

// Takes the mouse from what is scrolled out of sight; the keyboard reaches it, and it comes into sight.
// ImGui's own rectangle is set back to the one below on the stack of clips: it goes around a painter's, never inside.
HandsWithin::HandsWithin(const Ui& ui, const Rect& seen) {
  const float s = ui.scale();
  ImGui::PushClipRect({seen.x * s, seen.y * s}, {seen.right() * s, seen.bottom() * s}, true);
}
HandsWithin::~HandsWithin() { ImGui::PopClipRect(); }

void Player::follow_focus(const Ui& ui, const std::string& name, const Rect& rect, const Rect& seen) {
  if (!ui.focus_visible() || ui.focused() != name || followed_ == name) return;
  followed_ = name;
  if (rect.y < seen.y + kWordGap) scroll_ -= seen.y + kWordGap - rect.y;
  if (rect.bottom() > seen.bottom() - kWordGap) scroll_ += rect.bottom() - seen.bottom() + kWordGap;
}

/// Draws the words of a sentence as buttons in rows, and returns the one pressed now; empty: none.
std::string Player::draw_words(Ui& ui, Rect& rest, size_t index, const std::string& said, const Rect& seen) {
  const Say& say = lesson()->says[index];
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
    if (button(ui, name, box, word, tr("Puts this word into the sentence."), options)) pressed = word;
    follow_focus(ui, name, box, seen);
    x += width + kWordGap;
  }
  rest.take_top(kWordButton, kWordGap);
  return pressed;
}

/// Its height.
float Player::draw_says(Ui& ui, Rect rest, const Rect& seen) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float top = rest.y, line = size_ == Size::Compact ? 22.f : 25.f;
  LessonProgress& progress = progress_.of(lesson()->id);
  std::vector<std::string> answers = progress.words;
  answers.resize(lesson()->says.size());
  p.text_in(rest.take_top(22, 10), {Face::Bold, type::run_name}, t.ink,
            tr("What you should now be able to say"));
  for (size_t i = 0; i < lesson()->says.size(); ++i) {
    const Say& say = lesson()->says[i];
    const std::string said = shown_word(say, answers[i]);
    const std::string sentence = filled(say, said.empty() ? "_____" : said);
    rest.take_top(p.text_wrapped(rest, {Face::Sans, type::run_name}, t.ink, sentence, line), kWordGap);
    const Rect words{rest.x, rest.y, rest.w, kWordButton};
    const std::string pressed = draw_words(ui, rest, i, said, seen);
    const std::string why = why_not(say, said);
    const std::string verdict = said.empty()       ? ""
                                : said == say.word ? tr("Right.")
                                                   : tr("No. {why}", {{"why", why}});
    const float high =
        std::max(kVerdictLine, p.wrapped_height(rest.w, {Face::Sans, type::title}, verdict, 18));
    p.text_wrapped(rest.take_top(high, kSayGap), {Face::Sans, type::title}, said == say.word ? t.ink : t.ink2,
                   verdict, 18);
    ui.mark(fmt::format("lesson/say/{}", i + 1), words, verdict, sentence);
    if (pressed.empty()) continue;
    answers[i] = kept_word(say, pressed);
    progress.words = answers;
    progress_.save();
  }
  if (said_right(lesson()->says, answers) == lesson()->says.size())
    p.text_in(rest.take_top(22), {Face::Bold, type::title}, t.ink, tr("All three are right."));
  return rest.y - top;
}

}  // namespace normscope::lessons
