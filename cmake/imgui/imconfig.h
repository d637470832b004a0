// Dear ImGui's compile-time configuration for normscope, included by imgui.h by name.
// Defaults are kept, so that a packaged Dear ImGui (vcpkg, Conan) behaves the same as the sources built here.
#pragma once

// The demo windows are not part of the program and are not compiled.
#define IMGUI_DISABLE_DEMO_WINDOWS

// WebGL 2 cannot begin to count vertices elsewhere than at the first of a buffer: one list may have more than 65,536.
#ifdef __EMSCRIPTEN__
#define ImDrawIdx unsigned int
#endif
