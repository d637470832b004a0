// Takes a lesson from its begin to its code. See teacher.h.
#include "addons/classroom/app/shell/teacher.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/plot_files.h"
#include "app/ui/widgets.h"
#include "training/files/file_kind.h"

namespace normscope::shell::classroom {
namespace {

using namespace ui;

constexpr const char* kLeavePopup = "teacher/leave/code";
constexpr const char* kCodeField = "teacher/leave/field";
constexpr int kQuickTries = 3;

void ask_for_code(Ui& ui, Teaching& teaching) {
  teaching.typed.clear();
  if (ui.time() >= teaching.wait_until) teaching.says.clear();
  ui.open_popup(kLeavePopup);
  ui.edit() = {kCodeField, "", true};
}

void draw_question(Ui& ui, Teaching& teaching) {
  const Rect box{ui.size().x / 2 - 160, 70, 320, 132};
  if (!ui.begin_popup(kLeavePopup, box)) return;
  Rect rest = box.inset(16, 12);
  const TextStyle body{Face::Sans, type::body};
  ui.paint().text_in(rest.take_top(20, 6), {Face::Bold, type::title}, ui.theme().ink, tr("Leave the lesson"));
  const double wait = teaching.wait_until - ui.time();
  Rect row = rest.take_top(28, 8);
  if (wait > 0) {
    ui.animate();
    const std::string words =
        tr("The next try in {seconds} s.", {{"seconds", fmt::format("{:.0f}", std::ceil(wait))}});
    ui.mark("teacher/leave/wait", row, words, tr("After three wrong codes each takes its time."));
    ui.paint().text_in(row, body, ui.theme().ink2, words);
  } else {
    const Rect go = row.take_right(70, 8);
    const bool typed = text_field(ui, kCodeField, row, tr("The teacher's code"), teaching.typed,
                                  tr("Who prepared the lesson has it."), true);
    const bool leaves =
        button(ui, "teacher/leave/go", go, tr("Leave"), tr("Ends the lesson if this is its code."));
    if (typed || leaves) {
      if (try_to_leave(teaching, std::exchange(teaching.typed, {}), ui.time()))
        ui.close_popup();
      else if (ui.time() >= teaching.wait_until)
        ui.edit() = {kCodeField, "", true};
    }
  }
  ui.mark("teacher/leave/says", rest, teaching.says, tr("Whether the code was right."));
  ui.paint().text_in(rest.take_top(20), body, ui.theme().ink2, teaching.says);
  ui.end_popup();
}

// Saves the session a frame later, when it already says that it is a lesson.
void hand_out(Teaching& teaching, ShownSession& session, Message& notice) {
  if (!std::exchange(teaching.hand_out, false)) return;
  const std::string path = free_name(panels::pictures_folder() + "/normscope-lesson");
  session.commands.emplace_back(session::SaveSession{path});
  notice = tr("saved for the class: {path} (a folder, opened with Ctrl+O)", {{"path", path}});
}

}  // namespace

void set_rules(FrameOptions& options, const Teaching& teaching) {
  options.policy = teaching.kept.lesson ? &teaching.kept.policy : nullptr;
  options.pointing = teaching.preparing && teaching.pointing ? &teaching.kept.policy : nullptr;
}

void enter(Ui& ui, Teaching& teaching) {
  if (teaching.kept.lesson) return ask_for_code(ui, teaching);
  teaching.preparing = true;
  teaching.pointing = true;
  teaching.open_on.reset();
  teaching.says.clear();
}

bool closed_by_key(Ui& ui, Teaching& teaching) {
  if (!teaching.preparing || ui.popup_open() || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return false;
  if (!ui.shortcut("Escape")) return false;
  teaching.preparing = false;
  return true;
}

void begin_lesson(Ui& ui, Teaching& teaching, ShownSession& session) {
  teaching.kept.code = hash_of(std::exchange(teaching.code, {}));
  teaching.kept.lesson = true;
  teaching.preparing = false;
  teaching.wrong = 0;
  teaching.wait_until = 0;
  teaching.says.clear();
  session.undo.clear();
  ui.focus("");
  ui.edit() = {};
}

bool try_to_leave(Teaching& teaching, std::string_view code, double now) {
  if (now < teaching.wait_until) return false;
  if (is_code(teaching.kept.code, code)) {
    teaching.kept.lesson = false;
    teaching.wrong = 0;
    teaching.says.clear();
    return true;
  }
  ++teaching.wrong;
  teaching.says = tr("That is not the code.");
  if (teaching.wrong >= kQuickTries)
    teaching.wait_until = now + std::min(60.0, 5 * std::pow(2.0, teaching.wrong - kQuickTries));
  return false;
}

float draw_lesson_bar(Ui& ui, const Rect& room, Teaching& teaching) {
  if (!teaching.kept.lesson) return room.right();
  constexpr float kMessage = 120;  // room that stays for the trainer's message
  const TextStyle body{Face::Sans, type::body};
  Rect rest = room.inset(0, (room.h - 28) / 2);
  const Rect leave = rest.take_right(58, 10);
  if (button(ui, "teacher/leave", leave, tr("Leave"),
             tr("Prepared by your teacher. The teacher's code ends the lesson.")))
    ask_for_code(ui, teaching);
  const std::string& prepared = tr("Prepared by your teacher");
  const float width = ui.paint().text_width(body, prepared);
  if (rest.w < width + kMessage) return leave.x;
  const Rect words = rest.take_right(width);
  ui.mark("teacher/bar", words, prepared, tr("Some controls are locked or hidden."));
  ui.paint().text_in(words, body, ui.theme().ink2, prepared);
  return words.x;
}

void draw_teacher(Ui& ui, Teaching& teaching, ShownSession& session, Screen shown, Message& notice) {
  hand_out(teaching, session, notice);
  if (teaching.preparing && draw_preparation(ui, teaching, shown)) begin_lesson(ui, teaching, session);
  if (teaching.kept.lesson) draw_question(ui, teaching);
  if (ui.take_refused()) notice = ui.locked_help();
}

void take_in(Teaching& teaching, KeptTeaching kept) {
  if (teaching.kept.lesson && !kept.lesson) return;
  if (teaching.kept.lesson) kept.code = teaching.kept.code;  // a lesson of one's own opens no door
  if (kept.lesson) {
    teaching.preparing = false;
    teaching.wrong = 0;
    teaching.typed.clear();
  }
  teaching.kept = std::move(kept);
}

}  // namespace normscope::shell::classroom
