// Teacher mode lets a teacher point at controls to lock or hide them, one or a whole group, set a code and begin. Then
// the rules hold (ControlPolicy, obeyed by Ui) until somebody leaves with the code. draw_app, draw_shell and
// run_act call it; teaching.md is for the teacher.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell/screens.h"
#include "app/shell/session_window.h"
#include "app/ui/ui.h"
#include "app/view/screen.h"
#include "app/words/words.h"
#include "engine/core/error.h"

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

inline constexpr size_t kMaxRules = 500, kLongestRule = 200;

/// Which controls the teacher has locked or hidden. A rule covers a control and every control whose name continues
/// with '/' or '.': "settings/train" covers "settings/train.lr" and "settings/train.lr/A". The longest rule decides,
/// so that one control of a hidden group can be shown. The messages that explain why a control does not answer, the
/// palette, and the controls of teacher mode and presentation mode are never held.
class ControlPolicy {
 public:
  /// Sets a rule, or removes it when there is no value. It ignores a name that is empty, too long or never held,
  /// and any rule beyond kMaxRules.
  void set(std::string_view name, std::optional<ui::Hold>);
  /// The verdict of the longest rule about a control, or nothing without a rule.
  std::optional<ui::Hold> decides(std::string_view control) const;
  const std::map<std::string, ui::Hold, std::less<>>& rules() const { return rules_; }
  bool empty() const { return rules_.empty(); }
  friend bool operator==(const ControlPolicy&, const ControlPolicy&) = default;

 private:
  std::map<std::string, ui::Hold, std::less<>> rules_;
};

/// The control and its groups, upwards: "plot/loss/menu", "plot/loss", "plot".
std::vector<std::string> control_and_groups(std::string_view control);

struct KeptTeaching {
  ControlPolicy policy;
  CodeHash code;
  bool lesson = false;  // the rules hold; only the code ends them
  bool empty() const { return policy.empty() && code.hash.empty() && !lesson; }
  friend bool operator==(const KeptTeaching&, const KeptTeaching&) = default;
};

struct Teaching {
  KeptTeaching kept;
  bool preparing = false, pointing = true;
  bool at_left = false;           // the teacher's panel is at the left
  std::optional<Screen> open_on;  // where the panel is open; on other screens only its title is drawn
  std::string picked;             // the control whose menu is open
  size_t first_rule = 0;          // the first of the rules listed
  std::string code, typed;        // the code to begin with, and the code typed to leave
  int wrong = 0;                  // wrong codes since the last right one
  double wait_until = 0;          // UI time before which no code is accepted
  std::string says;               // the message of the panel, or of the dialog that asks for the code
  bool hand_out = false;          // the session is to be saved, for the students
};

// The command "Teacher mode": opens the preparation, or in a lesson asks for the code.
void enter(ui::Ui&, Teaching&);

// Starts the lesson, in which earlier changes cannot be undone.
void begin_lesson(ui::Ui&, Teaching&, ShownSession&);
// Ends the lesson if the code is right, and otherwise says that it is wrong. From the third wrong code on, further
// tries have to wait.
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
