#include "platforms/web/page.h"

#include <emscripten.h>
#include <emscripten/threading.h>
#include <imgui.h>

#include <cstdlib>
#include <memory>

#include "app/words/words.h"

namespace normscope::web {
namespace {

// clang-format off
EM_JS_DEPS(normscope_page, "$FS,$UTF8ToString,$stringToNewUTF8");

EM_JS(int, page_is_there, (), { return typeof document !== "undefined" ? 1 : 0; });

EM_JS(char*, page_address, (), { return stringToNewUTF8(location.origin + location.pathname); });
EM_JS(char*, page_fragment, (), { return stringToNewUTF8(location.hash.slice(1)); });

// Takes the text from the paste event, which follows Ctrl+V before the next frame asks for it.
EM_JS(void, page_join_clipboard, (), {
  Module["nsClipboard"] = "";
  document.addEventListener("paste", (event) => {
    Module["nsClipboard"] = event.clipboardData ? event.clipboardData.getData("text/plain") : "";
  });
});

// Stops what the browser would do with the program's own chords: save the page, find a word, zoom.
// Some are the program's with Shift alone: Ctrl+L is the browser's address line, Ctrl+C its copy event.
EM_JS(int, page_join_keys, (const char* chords, const char* shifted), {
  const ours = UTF8ToString(chords);
  const ours_shifted = UTF8ToString(shifted);
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.length !== 1) return;
    const key = event.key.toLowerCase();
    if (ours.includes(key) || (event.shiftKey && ours_shifted.includes(key))) event.preventDefault();
  }, true);
  return /Mac|iPad|iPhone/.test(navigator.platform) ? 1 : 0;
});

EM_JS(void, page_copy, (const char* text), {
  const copied = UTF8ToString(text);
  Module["nsClipboard"] = copied;
  const refused = () => { if (Module["nsRefused"]) Module["nsRefused"]("clipboard"); };
  if (navigator.clipboard) navigator.clipboard.writeText(copied).catch(refused);
  else refused();
});

EM_JS(char*, page_paste, (), { return stringToNewUTF8(Module["nsClipboard"] || ""); });

EM_JS(void, page_download, (const char* path), {
  const file = UTF8ToString(path);
  const name = file.slice(file.lastIndexOf("/") + 1);
  const kinds = {svg: "image/svg+xml", png: "image/png", csv: "text/csv", json: "application/json", jsonl: "application/jsonl",
                 toml: "application/toml", txt: "text/plain", md: "text/markdown", html: "text/html"};
  const kind = kinds[name.slice(name.lastIndexOf(".") + 1)] || "application/octet-stream";
  if (Module["nsDownload"] && FS.analyzePath(file).exists) Module["nsDownload"](name, FS.readFile(file), kind);
});

EM_JS(void, page_store_now, (), {
  if (Module["nsStorage"]) FS.syncfs(false, (error) => { if (error) Module["nsStorage"] = ""; });
});

EM_JS(int, page_stores, (), { return Module["nsStorage"] ? 1 : 0; });

EM_JS(void, page_fatal, (const char* line), {
  if (Module["nsFatal"]) Module["nsFatal"](UTF8ToString(line));
});
// clang-format on

std::string& pasted() {
  static std::string text;
  return text;
}

// Frees what was allocated for the text.
std::string taken(char* from) {
  const std::unique_ptr<char, decltype(&std::free)> text(from, &std::free);
  return text.get();
}

void download(char* path) {
  page_download(path);
  std::free(path);
}

}  // namespace

bool in_page() { return page_is_there() != 0; }

std::string address() { return taken(page_address()); }
std::string fragment() { return taken(page_fragment()); }

void join_keys() { ImGui::GetIO().ConfigMacOSXBehaviors = page_join_keys("ksozy=+-0", "lc") != 0; }

void join_clipboard() {
  page_join_clipboard();
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { page_copy(text); };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) {
    pasted() = taken(page_paste());
    return pasted().c_str();
  };
}

void hand_over(const std::string& path) {
  emscripten_async_run_in_main_runtime_thread(EM_FUNC_SIG_VI, &download, strdup(path.c_str()));
}

void store_now() { page_store_now(); }

std::string storage_refusal() {
  return page_stores() != 0
             ? ""
             : tr("This browser keeps nothing for this page: sessions and progress end with the tab.");
}

void fatal(const std::string& line) { page_fatal(line.c_str()); }

}  // namespace normscope::web
