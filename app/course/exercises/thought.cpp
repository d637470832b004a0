#include "app/course/exercises/thought.h"

#include <algorithm>

#include "app/course/lesson.h"

namespace normscope::course {

std::string fault_of_order(const std::string& first, const std::string& second) {
  return first + " before " + second;
}

std::vector<std::string> possible_faults(const Prediction& prediction) {
  if (prediction.kind != Prediction::Kind::Order) return {kTooLow, kTooHigh};
  std::vector<std::string> faults;
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
