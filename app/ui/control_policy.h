// Says by name which controls a person may reach. A part of the window sets the rules; Ui obeys them in
// its hit test, so no control knows of them.
//
// A rule is for a control and all whose names go on with '/' or '.': "settings/train" covers "settings/train.lr" and
// "settings/train.lr/A". The longest rule decides, so that one control of a hidden group can be shown. Whatever
// explains why a control does not answer, the palette and the controls of who set the rules are never held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::ui {

enum class Hold : uint8_t {
  Shown,   // answers as always
  Locked,  // drawn pale, its tooltip says who locked it
  Hidden,  // not drawn; out of the registry and the Tab order
};

/// Who sets the rules of a policy.
struct PolicyOwner {
  std::vector<std::string_view> controls;  ///< its own, which are never held
  const std::string& (*locked)();          ///< why a locked control does not answer
};
inline constexpr size_t kMostRules = 500, kLongestRule = 200;

class ControlPolicy {
 public:
  explicit ControlPolicy(const PolicyOwner* owner = nullptr) : owner_(owner) {}
  bool owns(std::string_view control) const;
  const std::string& locked_help() const;
  /// Sets a rule, or removes it when there is no value. It ignores a name that is empty, too long or never held,
  /// and any rule beyond kMostRules.
  void set(std::string_view name, std::optional<Hold>);
  /// The rule of exactly this name.
  std::optional<Hold> rule(std::string_view name) const;
  /// What the longest rule says about a control, or nothing without a rule.
  std::optional<Hold> decides(std::string_view control) const;
  const std::map<std::string, Hold, std::less<>>& rules() const { return rules_; }
  bool empty() const { return rules_.empty(); }
  friend bool operator==(const ControlPolicy&, const ControlPolicy&) = default;

 private:
  bool never_held(std::string_view control) const;
  const PolicyOwner* owner_;
  std::map<std::string, Hold, std::less<>> rules_;
};

bool is_for(std::string_view rule, std::string_view control);
/// The control and its groups, upwards: "plot/loss/menu", "plot/loss", "plot".
std::vector<std::string> control_and_groups(std::string_view control);

}  // namespace normscope::ui
