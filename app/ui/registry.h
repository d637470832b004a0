// Holds the named controls: in each frame every widget records its stable name, rectangle, value and help.
// Tests click by name, lessons spotlight by name, a test demands help for every name, and a text dump lists the
// screen.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/ui/geometry.h"

namespace normscope::ui {

struct Control {
  std::string name;   // path-like and stable: "transport/play", "diagram/layer3/ffn/stream"
  Rect rect;          // logical px
  std::string value;  // state as text: "6", "on", "Post"; empty where there is none
  std::string help;   // one or two sentences, shown as tooltip
  bool enabled = true;
  bool interactive = true;  // false: a region that only has a name (plots, panels)
};

class Registry {
 public:
  void clear();
  /// Records a control. A name recorded twice in one frame is an error of the screen; duplicates() keeps it for a
  /// test to find.
  void add(Control);
  const Control* find(std::string_view name) const;
  std::span<const Control> all() const { return controls_; }
  std::span<const std::string> duplicates() const { return duplicates_; }
  /// Writes one line "name = value" per control, in drawing order.
  std::string to_text() const;

 private:
  std::vector<Control> controls_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<std::string> duplicates_;
};

}  // namespace normscope::ui
