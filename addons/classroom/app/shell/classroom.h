// The classroom is the add-on's part of a window: teacher mode and presentation mode.
#pragma once

#include <optional>

#include "addons/classroom/app/shell/teacher.h"
#include "app/shell/window_part.h"
#include "app/ui/ui.h"
#include "engine/core/error.h"

namespace normscope::shell::classroom {

struct Presentation {
  bool on = false;
  std::optional<double> since;  // UI time of its first frame
  ui::Vec click{};              // the last click while it was on
  std::optional<double> clicked;
};

class Classroom final : public WindowPart {
 public:
  void begin(ui::FrameOptions& options) const override;
  void keys(ui::Ui& ui) override;
  bool run(view::Act act, ui::Ui& ui) override;
  bool bare() const override { return presentation.on; }
  float draw_in_bar(ui::Ui& ui, const ui::Rect& room) override;
  void draw(ui::Ui& ui, ShownSession& session, Screen shown, Message& notice) override;

  std::string_view key() const override { return "teacher"; }
  std::string kept() const override;
  void restore(const InputValue* kept) override;
  bool holds_tabs() const override { return teaching.kept.lesson; }

  Teaching teaching;
  Presentation presentation;
};

}  // namespace normscope::shell::classroom
