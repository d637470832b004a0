// The stages of a lesson under a teacher's rules (tests/app/screens/stages.h).
#include "app/screens/stages.h"

#include "addons/classroom/tests/app/classroom_of.h"

namespace normscope::test_screens {
namespace {

/// "rule settings hidden" holds controls, "teach" begins the lesson with the code "open sesame", "heard" takes away
/// what the window said, so that it shows when it says that again.
struct Class : LabDriver {
  Class() : LabDriver(fixture::lab_view()) {}
  bool obey(const std::string& verb, const std::string& rest) override {
    auto& teaching = fixture::teaching_of(state);
    if (verb == "rule") {
      const size_t blank = rest.rfind(' ');
      const std::string word = rest.substr(blank + 1);
      teaching.kept.policy.set(rest.substr(0, blank), word == "hidden"   ? ui::Hold::Hidden
                                                      : word == "locked" ? ui::Hold::Locked
                                                                         : ui::Hold::Shown);
    } else if (verb == "teach") {
      teaching.code = "open sesame";
      shell::classroom::begin_lesson(ui, teaching, state.session);
    }
    if (verb == "heard") state.notice.clear();
    return verb == "rule" || verb == "teach" || verb == "heard";
  }
};

}  // namespace

void add_classroom_stages(std::vector<Stage>& all) {
  all.push_back({.name = "Class", .make = [] { return std::make_unique<Class>(); }, .told = true});
}

}  // namespace normscope::test_screens
