// `Screen` names the screens; `kScreenNames` are their names in what is kept or sent: a session, a link.
#pragma once

#include <cstdint>
#include <string_view>

namespace normscope {

enum class Screen : uint8_t { Lab, Lessons, Compare, Sweep, Tape };
inline constexpr std::string_view kScreenNames[] = {"lab", "lessons", "compare", "sweep", "tape"};

}  // namespace normscope
