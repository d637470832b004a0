// Text faults are what is wrong with the texts on screen: none may overlap another, be cut, leave its clip or the
// window, or be of a size that the type table does not have.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/ui/ui.h"

namespace normscope::fixture {

// The window sizes at which every text is checked.
inline constexpr ui::Vec kSizes[] = {{1024, 600},  {1280, 720},  {1440, 900},
                                     {1600, 1000}, {1920, 1080}, {3840, 2160}};
inline constexpr float kScales[] = {0.75f, 1.5f, 2.5f};

inline bool of_the_table(const ui::TextRecord& text) {
  const auto& sizes = ui::type::sizes;
  return std::find(std::begin(sizes), std::end(sizes), text.px) != std::end(sizes);
}

// One line per fault.
inline std::vector<std::string> text_faults(const ui::Ui& ui) {
  std::vector<std::string> result;
  const auto& texts = ui.texts();
  const ui::Rect whole{0, 0, ui.size().x, ui.size().y};
  for (size_t i = 0; i < texts.size(); ++i) {
    const ui::TextRecord& text = texts[i];
    if (!text.clip.inset(-1).contains(text.rect)) result.push_back(fmt::format("clipped: {}", text.text));
    if (!whole.inset(-0.5f).contains(text.rect))
      result.push_back(fmt::format("outside the window: {}", text.text));
    if (!of_the_table(text)) result.push_back(fmt::format("{} px: {}", text.px, text.text));
    if (text.text.ends_with("…") && text.text != "…") result.push_back(fmt::format("cut: {}", text.text));
    for (size_t k = 0; k < i; ++k)
      if (texts[k].layer == text.layer && texts[k].rect.inset(0.75f).overlaps(text.rect.inset(0.75f)))
        result.push_back(fmt::format("overlap: '{}' and '{}'", texts[k].text, text.text));
  }
  return result;
}

/// The texts that stand on another where both are seen: what is scrolled away is not.
inline std::vector<std::string> overlaps(const ui::Ui& ui) {
  std::vector<std::string> result;
  const auto& texts = ui.texts();
  for (size_t i = 0; i < texts.size(); ++i) {
    const ui::Rect seen = texts[i].rect.intersect(texts[i].clip);
    if (seen.empty() || seen.h < texts[i].rect.h - 0.5f) continue;
    for (size_t k = i + 1; k < texts.size(); ++k)
      if (const ui::Rect other = texts[k].rect.intersect(texts[k].clip).inset(1);
          other.w > 0 && other.h > 0 && texts[k].layer == texts[i].layer && other.overlaps(seen.inset(1)))
        result.push_back(fmt::format("'{}' overlaps '{}'", texts[k].text, texts[i].text));
  }
  return result;
}

}  // namespace normscope::fixture
