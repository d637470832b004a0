// Takes the settings of a screen apart, which came from a link or a session. What it refuses is said
// as of a link; of a session nobody hears it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/app_screen.h"
#include "engine/core/error.h"

namespace normscope::link {

/// What a refusal calls a link.
inline constexpr const char* kPlace = "link";

/// Reads the value of a key. It throws Error for anything but a whole number from `low` to `high`.
int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high);
double real(std::string_view key, std::string_view text, double low, double high);

class ScreenSettingsReader {
 public:
  ScreenSettingsReader(Screen screen, const ScreenSettings& settings)
      : screen_(name_of(screen)), rest_(settings) {}

  /// The value of a key that stands there once or never. Throws Error.
  std::optional<std::string> text(std::string_view key);
  std::vector<std::string> all(std::string_view key);
  /// A whole number from `low` to `high`; `usual` where there is none. Throws Error.
  int32_t whole(std::string_view key, int32_t low, int32_t high, int32_t usual);
  double real(std::string_view key, double low, double high, double usual);
  /// Refuses what nobody has asked for. Throws Error.
  void done() const;

  /// Refuses a value and says what was expected.
  [[noreturn]] void refuse(std::string_view key, std::string_view value, const Message& expected) const;

 private:
  std::string name(std::string_view key) const;

  std::string_view screen_;
  ScreenSettings rest_;
};

}  // namespace normscope::link
