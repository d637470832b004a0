// What a teacher has set: rules for controls, a code, and whether the lesson runs. The session
// keeps that part (kept_teaching.h); the rest is the state of the panel. teacher.h draws it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "addons/classroom/app/shell/lesson_code.h"
#include "app/ui/policy/control_policy.h"
#include "app/view/screen.h"
#include "app/words/words.h"

namespace normscope::shell::classroom {

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

// Takes what came with a session. A running lesson goes on unless the new session is a lesson too, so that
// opening a file is no way out of a lesson.
void take_in(Teaching&, KeptTeaching kept);

}  // namespace normscope::shell::classroom
