// The labels are what the runs of a lesson are called. A typed name states only what no setting can change; the
// settings in which the runs differ, and those that the learner changed, are read from the specifications that are
// trained. So a label always belongs to the run that is shown.
#pragma once

#include <string>
#include <string_view>

#include "app/course/curves.h"

namespace normscope::course {

/// "Post-LN, warm-up 200". For a curve that is measured without training it names only settings that
/// affect the curve: "Post-LN".
std::string run_label(const Lesson& lesson, const std::string& run, const Changes& changes = {},
                      const Curve* curve = nullptr);
/// The words of a setting that a label adds by itself and that `text` says too: "warm-up";
/// empty: none.
std::string setting_said(const Lesson& lesson, std::string_view text);

}  // namespace normscope::course
