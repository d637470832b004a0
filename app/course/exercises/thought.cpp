#include "app/course/exercises/thought.h"

#include <algorithm>

#include "app/course/lesson.h"

namespace normscope::course {

std::string fault_of_order(const std::string& first, const std::string& second) {
  return first + " before " + second;
}

bool has_either_sign(const Prediction& prediction) {
  return prediction.kind == Prediction::Kind::Value && prediction.low < 0 && prediction.high > 0;
}

std::vector<std::string> possible_faults(const Prediction& prediction) {
  std::vector<std::string> faults;
  if (prediction.kind != Prediction::Kind::Order) {
    faults = {kTooLow, kTooHigh, kFarTooLow, kFarTooHigh};
    if (has_either_sign(prediction)) faults.emplace_back(kOtherSign);
    if (prediction.kind == Prediction::Kind::Draw) faults.emplace_back(kOtherDirection);
    return faults;
  }
  for (const Prediction::Card& first : prediction.cards)
    for (const Prediction::Card& second : prediction.cards)
      if (first.id != second.id) faults.push_back(fault_of_order(first.id, second.id));
  return faults;
}

std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults) {
  for (const Thought& thought : lesson.thoughts)
    if (std::find(faults.begin(), faults.end(), thought.when) != faults.end()) return thought.text;
  return "";
}

}  // namespace normscope::course
