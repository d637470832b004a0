// A teacher's rules and code as JSON, for the session's sidecar. See teaching.h.
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

#include "app/shell/classroom/teaching.h"

namespace normscope::classroom {
namespace {

constexpr std::string_view kHoldWords[] = {"shown", "locked", "hidden"};  // as enum Hold
constexpr size_t kSaltDigits = 32, kHashDigits = 64;

std::string hex_of(const InputValue& json, size_t digits) {
  std::string text = json.text(digits);
  const bool hex = text.find_first_not_of("0123456789abcdef") == text.npos;
  if (!text.empty() && (!hex || text.size() != digits))
    json.refuse(std::to_string(digits) + " hexadecimal digits");
  return text;
}

}  // namespace

nlohmann::json teaching_json(const KeptTeaching& kept) {
  nlohmann::json rules = nlohmann::json::object();
  for (const auto& [name, hold] : kept.policy.rules()) rules[name] = kHoldWords[static_cast<size_t>(hold)];
  return {{"lesson", kept.lesson}, {"salt", kept.code.salt}, {"hash", kept.code.hash}, {"controls", rules}};
}

KeptTeaching teaching_from(const InputValue& json) {
  KeptTeaching kept;
  kept.lesson = json.at("lesson").flag();
  kept.code = {hex_of(json.at("salt"), kSaltDigits), hex_of(json.at("hash"), kHashDigits)};
  if (kept.lesson && kept.code.hash.empty()) json.at("hash").refuse("the hash of a code, or no lesson");
  for (const auto& [name, hold] : json.at("controls").members(ui::kMostRules))
    kept.policy.set(name, static_cast<ui::Hold>(hold.choice(kHoldWords)));
  return kept;
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

}  // namespace normscope::classroom
