// Asks the browser what app/window/desktop.h asks of a desktop.
#include "app/window/desktop.h"

#include <emscripten.h>

#include <cstdlib>

#include "platforms/web/page.h"

namespace normscope::window {
namespace {

// clang-format off
EM_JS(int, page_reduces_motion, (), { return matchMedia("(prefers-reduced-motion: reduce)").matches ? 1 : 0; });
EM_JS(int, page_prefers_dark, (), { return matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0; });
// clang-format on

}  // namespace

std::optional<bool> system_reduced_motion() {
  if (!web::in_page()) return {};
  return page_reduces_motion() != 0;
}

std::optional<bool> system_dark() {
  if (!web::in_page()) return {};
  return page_prefers_dark() != 0;
}

std::string system_language() {
  const char* preferred = std::getenv("LANG");  // made by Emscripten of navigator.languages
  return web::in_page() && preferred ? language_in(preferred) : "";
}

std::future<std::optional<bool>> ask_gnome_reduced_motion(std::chrono::milliseconds) { return {}; }

// Only the density of the pixels, because the browser has its own zoom.
float display_scale(float content_scale, int, int) { return content_scale > 0 ? content_scale : 1; }

}  // namespace normscope::window
