#include "app/session/desktop.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

namespace normscope {
namespace {

std::string config_home() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder == '/') return folder;
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.config" : "";
}

std::string lower_without_spaces(const std::string& line) {
  std::string out;
  for (const char c : line)
    if (!std::isspace(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The value of a key in a file of "key = value" lines, lower case.
std::optional<std::string> value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::string text = lower_without_spaces(line);
    if (text.starts_with(key + "=")) return text.substr(key.size() + 1);
  }
  return {};
}

bool is_off(const std::string& value) { return value == "0" || value == "false" || value == "no"; }

}  // namespace

bool system_reduced_motion() {
  if (const char* asked = std::getenv("NORMSCOPE_REDUCED_MOTION"); asked && *asked) return !is_off(asked);
  const std::string home = config_home();
  if (home.empty()) return false;
  for (const char* file : {"/gtk-4.0/settings.ini", "/gtk-3.0/settings.ini"})
    if (const auto value = value_in(home + file, "gtk-enable-animations")) return is_off(*value);
  if (const auto value = value_in(home + "/kdeglobals", "animationdurationfactor"))
    return std::strtod(value->c_str(), nullptr) == 0;
  return false;
}

float display_scale(float content_scale, int width_px, int width_mm) {
  constexpr float kUsual = 96, kDense = 144;  // px an inch
  constexpr int kSmallest = 150, kLargest = 1200;
  if (!(content_scale > 0)) content_scale = 1;
  if (std::fabs(content_scale - 1) > 0.01f || width_mm < kSmallest || width_mm > kLargest)
    return content_scale;
  const float density = static_cast<float>(width_px) / (static_cast<float>(width_mm) / 25.4f);
  if (density < kDense) return content_scale;
  return std::clamp(std::round(density / kUsual * 4) / 4, 1.f, 2.5f);
}

}  // namespace normscope
