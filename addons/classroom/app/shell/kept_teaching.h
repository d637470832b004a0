// A teacher's rules and code are kept as JSON in the session's sidecar. See teaching.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "addons/classroom/app/shell/teaching.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"

namespace normscope::shell::classroom {

inline constexpr std::string_view kHoldWords[] = {"shown", "locked", "hidden"};  // as enum Hold

/// Accepts exactly `digits` hexadecimal digits, or none.
struct HexDigits {
  size_t digits;
  codec::Json write(const std::string& text) const { return text; }
  void read(const InputValue& json, std::string& text) const {
    text = json.text(digits);
    const bool hex = text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!text.empty() && (!hex || text.size() != digits))
      json.refuse(std::to_string(digits) + " hexadecimal digits");
  }
};

struct HoldRules {
  static constexpr codec::Map kRules{ui::kMostRules, codec::Words{kHoldWords}};
  codec::Json write(const ui::ControlPolicy& policy) const { return kRules.write(policy.rules()); }
  void read(const InputValue& json, ui::ControlPolicy& policy) const {
    std::map<std::string, ui::Hold> rules;
    kRules.read(json, rules);
    for (const auto& [name, hold] : rules) policy.set(name, hold);
  }
};

template <class Io>
void io(Io& io, codec::Of<Io, KeptTeaching>& kept) {
  io("lesson", kept.lesson);
  io("salt", kept.code.salt, HexDigits{32});
  io("hash", kept.code.hash, HexDigits{64});
  io.require(!kept.lesson || !kept.code.hash.empty(), "hash", "the hash of a code, or no lesson");
  io("controls", kept.policy, HoldRules{});
}

}  // namespace normscope::shell::classroom
