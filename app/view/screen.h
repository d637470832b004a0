// `Screen` names the screens; `kScreenNames` are their names in what is kept or sent (a session, a link), in controls
// (app/tab/NAME) and in the keys of words (shell.tab.NAME). Their order is that of the tabs and of the keys 1, 2, ….
#pragma once

#include <cstdint>
#include <string_view>

namespace normscope {

enum class Screen : uint8_t { Lab, Lessons, Compare, Sweep, Tape };
inline constexpr std::string_view kScreenNames[] = {"lab", "lessons", "compare", "sweep", "tape"};
inline constexpr std::string_view name_of(Screen screen) { return kScreenNames[static_cast<size_t>(screen)]; }

}  // namespace normscope
