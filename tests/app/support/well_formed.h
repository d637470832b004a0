// These functions say whether a text is well-formed XML, as far as SVG files of the app use it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace normscope::test {

/// Requires tags closed in the order in which they were opened, paired quotes and no bare ampersands.
inline bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&' && xml.compare(i, 5, "&amp;") && xml.compare(i, 4, "&lt;") &&
        xml.compare(i, 4, "&gt;") && xml.compare(i, 6, "&quot;"))
      return false;
    if (xml[i] != '<') continue;
    size_t end = xml.find('>', i);
    if (end == std::string::npos) return false;
    std::string tag = xml.substr(i + 1, end - i - 1);
    if (std::ranges::count(tag, '"') % 2) return false;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag[0] != '?' && tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
    i = end;
  }
  return open.empty();
}

/// How often a part begins in a text.
inline size_t times_in(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace normscope::test
