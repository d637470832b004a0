// Teacher mode. A teacher points at controls and locks or hides them, one or a whole group; sets a code; begins. Then
// the rules hold (ui::ControlPolicy, obeyed by Ui) until somebody leaves with the code. Called by draw_app, draw_shell
// and run_act; docs/teaching.md is for the teacher.
#pragma once

#include <string>
#include <string_view>

#include "app/shell/classroom/teaching.h"
#include "app/shell/parts/shown_session.h"
#include "app/ui/ui.h"

namespace normscope::classroom {

// Into the options of the coming frame: the rules of a lesson, or that controls are only pointed at.
void set_rules(ui::FrameOptions&, const Teaching&);
// What the command "Teacher mode" does: prepares, or in a lesson asks for the code.
void enter(ui::Ui&, Teaching&);
// In a lesson "Prepared by your teacher" and "Leave", right-aligned in `room`; returns where they begin.
float draw_lesson_bar(ui::Ui&, const ui::Rect& room, Teaching&);
// The panel while preparing, the menu of a control, the question for the code; says what a held control refused.
void draw_teacher(ui::Ui&, Teaching&, ShownSession&, Screen shown, std::string& notice);
// At the beginning of a frame: Escape closes the panel, unless something else is open, typed or held. True: it did.
bool closed_by_key(ui::Ui&, Teaching&);

// Where the lesson begins: what was done before cannot be undone in it.
void begin_lesson(ui::Ui&, Teaching&, ShownSession&);
// Ends the lesson if it is the code; says so otherwise. After three wrong ones each takes its time.
bool try_to_leave(Teaching&, std::string_view code, double now);

// A control or a group in words: "learning rate", "settings, all 23".
std::string held_title(const ui::Ui&, std::string_view name);
// The panel alone (teacher_panel.cpp); true: begin. On another screen than the one it was opened on it is folded.
bool draw_preparation(ui::Ui&, Teaching&, Screen shown);

}  // namespace normscope::classroom
