#include "addons/classroom/app/worksheet/sheet.h"

#include <fmt/format.h>

#include "app/ui/svg.h"

namespace normscope::course {

const Spread* Sheet::spread(const std::string& measure) const {
  if (!kept) return nullptr;
  const auto found = kept->measures.find(measure);
  return found == kept->measures.end() ? nullptr : &found->second.spread;
}

std::string Sheet::answer(const std::string& text, std::string_view unit) const {
  if (answers && !text.empty()) return element("span", ui::svg_escaped(text), "answer");
  return std::string(kBlank) + (unit.empty() ? "" : " " + ui::svg_escaped(unit));
}

std::string Sheet::mean(const std::string& measure) const {
  const Measure& m = *lesson.measure(measure);
  const Spread* s = spread(measure);
  return answer(s ? shown(s->mean, m, *lesson.words) : "", m.unit);
}

std::string Sheet::range(const std::string& measure) const {
  const Measure& m = *lesson.measure(measure);
  const Spread* s = spread(measure);
  return answer(s ? range_text(*s, m, *lesson.words) : "", m.unit);
}

std::string lines_to_write(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += element("div", "", "line");
  return lines + "\n";
}

std::string element(std::string_view name, std::string_view inside, std::string_view style) {
  if (style.empty()) return fmt::format("<{0}>{1}</{0}>", name, inside);
  return fmt::format("<{0} class=\"{2}\">{1}</{0}>", name, inside, style);
}

}  // namespace normscope::course
