// What can be learned about the desktop without a bus or a network: whether motion is
// to be reduced, whether windows are dark, and how large things are meant to be on a monitor. Called by the window.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>

namespace normscope {

// True when the desktop turned its animations off. Asked in this order, the first that answers counts:
// NORMSCOPE_REDUCED_MOTION (1 or 0); gtk-enable-animations in gtk-4.0/settings.ini, then
// gtk-3.0/settings.ini; and AnimationDurationFactor in kdeglobals (0 = off), all under $XDG_CONFIG_HOME.
// Empty: none of them says anything.
std::optional<bool> system_reduced_motion();

// True where the desktop's windows are dark: gtk-application-prefer-dark-theme in the same two files; in a browser
// prefers-color-scheme. Empty: nobody says anything.
std::optional<bool> system_dark();

// The same of GNOME, whose switch stands in a database of its own: what the program `gsettings` says, where
// there is one. Asked on a thread of its own; who does not answer in time is ended and has said nothing.
std::future<std::optional<bool>> ask_gnome_reduced_motion(
    std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

// The factor that everything is drawn at. `content_scale`: what the window system says. Where it says nothing
// (1) and the monitor is much denser than 96 px an inch, its size decides, in quarters; a size that cannot be
// true (none, a projector's) does not.
float display_scale(float content_scale, int width_px, int width_mm);

}  // namespace normscope
