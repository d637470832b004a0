// `Screen` names the screens, which are rows of screens.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace normscope {

enum class Screen : uint8_t {
#define SCREEN(Name, name) Name,
#include "app/view/screens.def"
#undef SCREEN
};

inline constexpr std::string_view kScreenNames[] = {
#define SCREEN(Name, name) name,
#include "app/view/screens.def"
#undef SCREEN
};
inline constexpr std::string_view name_of(Screen screen) { return kScreenNames[static_cast<size_t>(screen)]; }

}  // namespace normscope
