// Teacher mode lets a teacher point at controls to lock or hide them, one or a whole group, set a code and begin. Then
// the rules hold (ui::ControlPolicy, obeyed by Ui) until somebody leaves with the code. draw_app, draw_shell and
// run_act call it; teaching.md is for the teacher.
#pragma once

#include "app/shell/session_window.h"

namespace normscope::shell::classroom {

// The lesson code ends a teacher's lesson. It is kept as SHA-256 (FIPS 180-4) of salt and code. It keeps honest
// students honest and is no security: anyone who can edit the session's file needs no code.

inline constexpr size_t kLongestCode = 100;

struct CodeHash {
  std::string salt, hash;  // hexadecimal, 32 and 64 digits; both empty: no code was set
  friend bool operator==(const CodeHash&, const CodeHash&) = default;
};

// In 64 hexadecimal digits.
std::string sha256(std::string_view text);
// Makes a new salt each time.
CodeHash hash_of(std::string_view code);
bool is_code(const CodeHash&, std::string_view code);

/// Whose rules hold: nothing of teacher mode and presentation mode is ever held.
inline const ui::PolicyOwner kTeacher{{"teacher", "presentation"},
                                      []() -> const std::string& { return tr("locked by the teacher"); }};

struct KeptTeaching {
  ui::ControlPolicy policy{&kTeacher};
  CodeHash code;
  bool lesson = false;  // the rules hold; only the code ends them
  bool empty() const { return policy.empty() && code.hash.empty() && !lesson; }
  friend bool operator==(const KeptTeaching&, const KeptTeaching&) = default;
};

struct Teaching {
  KeptTeaching kept;
  bool preparing = false, pointing = true;
  bool at_left = false;           // the teacher's panel is at the left
  std::optional<Screen> open_on;  // where it is unfolded; on other screens it is only a title
  std::string picked;             // the control whose menu is open
  size_t first_rule = 0;          // the first of the rules listed
  std::string code, typed;        // to begin, and to leave
  int wrong = 0;                  // wrong codes since the last right one
  double wait_until = 0;          // UI time before which no code is accepted
  std::string says;               // one line of the panel or of the question for the code
  bool hand_out = false;          // the session is to be saved as it is
};

// The command "Teacher mode": it opens the preparation, or in a lesson asks for the code.
void enter(ui::Ui&, Teaching&);

// Starts the lesson, in which earlier changes cannot be undone.
void begin_lesson(ui::Ui&, Teaching&, ShownSession&);
// Ends the lesson if the code is right, and otherwise says that it is wrong. After three wrong codes
// each further one has to wait.
bool try_to_leave(Teaching&, std::string_view code, double now);

// The classroom is the add-on's part of a window: teacher mode and presentation mode.

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
