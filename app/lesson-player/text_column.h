// The text column is the left panel of a lesson's page: its head, its text, which scrolls, and below it what stays in
// sight. It is drawn from the constructor to close().
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/lesson-player/lesson_context.h"

namespace normscope::lessons {

/// While it lives, only a rectangle answers the mouse: everything drawn outside it is scrolled out of sight.
class HandsWithin {
 public:
  HandsWithin(const ui::Ui& ui, const ui::Rect& seen);
  ~HandsWithin();
  HandsWithin(const HandsWithin&) = delete;
  HandsWithin& operator=(const HandsWithin&) = delete;
};

class TextColumn {
 public:
  enum class Of : uint8_t { Prose, Controls };  ///< controls out of sight do not answer the mouse
  /// Takes its room from the left of `room`. Where the text is longer than its panel, it alone moves, and the task stays
  /// in sight below it.
  TextColumn(ui::Ui& ui, ui::Rect& room, LessonContext& context, Of of, std::string task = "");

  enum class Head : uint8_t {
    Lesson,
    Question,
    Challenge
  };  ///< number, minutes and title, and with Question that too
  void head(Head kind = Head::Lesson);
  void prose(const course::Prose& text);  ///< its numbers may be dragged
  void box(std::string_view title, std::string_view text);
  /// Ends the text. The task follows, and in the room that is left the picture that the lesson opens with.
  void close(bool opening = false);

  ui::Rect rest;     ///< below what was drawn
  ui::Rect seen;     ///< of the text
  FlowContext flow;  ///< a term is underlined once on the page

 private:
  float box_height(std::string_view text) const;
  void draw_box(const ui::Rect& box, std::string_view title, std::string_view text, ui::Colour fill);
  void draw_edges();

  ui::Ui& ui_;
  LessonContext& context_;
  Of of_;
  std::string task_;
  ui::Rect rect_;
  bool pinned_ = false;
  float room_ = 0, furthest_ = 0, from_ = 0;
  std::optional<HandsWithin> hands_;
  std::set<const view::Term*> used_;
  std::vector<ui::Rect> formulas_;
};

/// Draws a page of the course that may be longer than what is seen of it. `content` draws from y on and returns its
/// height.
void draw_scrolled(ui::Ui& ui, const ui::Rect& rect, const ui::Rect& room, LessonContext& context,
                   const std::function<float(float y)>& content);

}  // namespace normscope::lessons
