// The screens, which are rows of screens.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace normscope {

enum class Screen : uint8_t {
#define SCREEN(Name, name, key) Name,
#include "app/view/screens.def"
#undef SCREEN
};

inline constexpr std::string_view kScreenNames[] = {
#define SCREEN(Name, name, key) #name,
#include "app/view/screens.def"
#undef SCREEN
};
inline constexpr int kScreenKeys[] = {
#define SCREEN(Name, name, key) key,
#include "app/view/screens.def"
#undef SCREEN
};
inline constexpr size_t kScreens = std::size(kScreenNames);
inline constexpr std::string_view name_of(Screen screen) { return kScreenNames[static_cast<size_t>(screen)]; }

}  // namespace normscope
