// `set_window_icon` sets the icon of the window, where the window system shows one.
#pragma once

struct GLFWwindow;

namespace normscope::window {

/// Has the sizes that window systems ask for, from the PNG files that the build put into the
/// program.
void set_window_icon(GLFWwindow* window);

}  // namespace normscope::window
