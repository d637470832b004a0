// Teacher mode lets a teacher point at controls to lock or hide them, one or a whole group, set a code and begin. Then
// the rules hold (ui::ControlPolicy, obeyed by Ui) until somebody leaves with the code. draw_app, draw_shell and
// run_act call it; teaching.md is for the teacher.
#pragma once

#include <string>
#include <string_view>

#include "addons/classroom/app/shell/teaching.h"
#include "app/shell/parts/shown_session.h"
#include "app/ui/ui.h"
#include "engine/core/message.h"

namespace normscope::shell::classroom {

// Sets the options of the coming frame: the rules of a lesson, or that controls are only pointed at.
void set_rules(ui::FrameOptions&, const Teaching&);
// The command "Teacher mode": it opens the preparation, or in a lesson asks for the code.
void enter(ui::Ui&, Teaching&);
// Draws "Prepared by your teacher" and "Leave" in a lesson, right-aligned in `room`, and returns
// their left end.
float draw_lesson_bar(ui::Ui&, const ui::Rect& room, Teaching&);
// Draws the panel while preparing, the menu of a control and the question for the code, and says what a
// held control refused.
void draw_teacher(ui::Ui&, Teaching&, ShownSession&, Screen shown, Message& notice);
// Runs at the beginning of a frame: Escape closes the panel, unless something else is open, typed or
// held. True: it did.
bool closed_by_key(ui::Ui&, Teaching&);

// Starts the lesson: what was done before cannot be undone in it.
void begin_lesson(ui::Ui&, Teaching&, ShownSession&);
// Ends the lesson if the code is right, and otherwise says that it is wrong. After three wrong codes
// each further one has to wait.
bool try_to_leave(Teaching&, std::string_view code, double now);

// Puts a control or a group into words: "learning rate", "settings, all 23".
std::string held_title(const ui::Ui&, std::string_view name);
// Draws the panel alone (teacher_panel.cpp); true: begin. It is folded on every screen but the one
// it was opened on.
bool draw_preparation(ui::Ui&, Teaching&, Screen shown);

}  // namespace normscope::shell::classroom
