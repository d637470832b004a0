// What a teacher has set: rules for controls, a code, and whether the lesson runs. It travels in the session's
// sidecar (kept_teaching.h); the rest of the state is the hand's. Drawn by teacher.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/shell/classroom/lesson_code.h"
#include "app/ui/policy/control_policy.h"
#include "app/view/screen.h"

namespace normscope::classroom {

struct KeptTeaching {
  ui::ControlPolicy policy;
  CodeHash code;
  bool lesson = false;  // the rules hold; only the code ends that
  bool empty() const { return policy.empty() && code.hash.empty() && !lesson; }
  friend bool operator==(const KeptTeaching&, const KeptTeaching&) = default;
};

struct Teaching {
  KeptTeaching kept;
  bool preparing = false, pointing = true;
  bool at_left = false;           // where the teacher's panel stands
  std::optional<Screen> open_on;  // where it is unfolded; on another screen only its title stands
  std::string picked;             // the control whose menu is open
  size_t first_rule = 0;          // of those listed
  std::string code, typed;        // to begin, to leave
  int wrong = 0;                  // codes since the last right one
  double wait_until = 0;          // UI time before which none is taken
  std::string says;               // one line of the panel or of the question for the code
  bool hand_out = false;          // the session is to be saved as it stands
};

// A session came with `kept`. A lesson that runs goes on unless the other one is a lesson too: opening a file is no
// way out of it.
void take_in(Teaching&, KeptTeaching kept);

}  // namespace normscope::classroom
