#include "app/headless/system_fonts.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "app/ui/paint.h"
#include "engine/core/error.h"
#include "training/io/input_kinds.h"

#if __has_include(<dlfcn.h>) && !defined(__EMSCRIPTEN__) && !defined(_WIN32)
#include <dlfcn.h>
#define NORMSCOPE_FONTCONFIG 1
#endif

namespace normscope::headless {

#ifdef NORMSCOPE_FONTCONFIG
namespace {

/// The functions of libfontconfig that are used, by their names there. It is opened at run time, as the program starts
/// without it, too. Its objects are void here.
struct Fontconfig {
  void* (*PatternCreate)() = nullptr;
  void (*PatternDestroy)(void*) = nullptr;
  void* (*CharSetCreate)() = nullptr;
  void (*CharSetDestroy)(void*) = nullptr;
  int (*CharSetAddChar)(void*, uint32_t) = nullptr;
  int (*CharSetHasChar)(const void*, uint32_t) = nullptr;
  int (*PatternAddCharSet)(void*, const char*, const void*) = nullptr;
  int (*PatternAddBool)(void*, const char*, int) = nullptr;
  int (*ConfigSubstitute)(void*, void*, int) = nullptr;
  void (*DefaultSubstitute)(void*) = nullptr;
  void* (*FontMatch)(void*, void*, int*) = nullptr;
  int (*PatternGetCharSet)(const void*, const char*, int, void**) = nullptr;
  int (*PatternGetString)(const void*, const char*, int, unsigned char**) = nullptr;
  int (*PatternGetInteger)(const void*, const char*, int, int*) = nullptr;
  int (*PatternGetBool)(const void*, const char*, int, int*) = nullptr;
  bool complete = false;

  Fontconfig() {
    void* const library = dlopen("libfontconfig.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    complete = true;
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete = complete && function;
    };
    take(PatternCreate, "FcPatternCreate");
    take(PatternDestroy, "FcPatternDestroy");
    take(CharSetCreate, "FcCharSetCreate");
    take(CharSetDestroy, "FcCharSetDestroy");
    take(CharSetAddChar, "FcCharSetAddChar");
    take(CharSetHasChar, "FcCharSetHasChar");
    take(PatternAddCharSet, "FcPatternAddCharSet");
    take(PatternAddBool, "FcPatternAddBool");
    take(ConfigSubstitute, "FcConfigSubstitute");
    take(DefaultSubstitute, "FcDefaultSubstitute");
    take(FontMatch, "FcFontMatch");
    take(PatternGetCharSet, "FcPatternGetCharSet");
    take(PatternGetString, "FcPatternGetString");
    take(PatternGetInteger, "FcPatternGetInteger");
    take(PatternGetBool, "FcPatternGetBool");
  }
};

/// Whether the face that fontconfig likes best really has the sign, as an outline in one colour.
bool is_fit(const Fontconfig& fc, const void* face, char32_t sign) {
  void* signs = nullptr;
  int outline = 0, colour = 0;
  fc.PatternGetBool(face, "outline", 0, &outline);
  fc.PatternGetBool(face, "color", 0, &colour);
  return fc.PatternGetCharSet(face, "charset", 0, &signs) == 0 && fc.CharSetHasChar(signs, sign) && outline &&
         !colour;
}

}  // namespace

FontFile find_system_font(char32_t sign) {
  static const Fontconfig fc;
  if (!fc.complete) return {};
  void* const wanted = fc.PatternCreate();
  void* const signs = fc.CharSetCreate();
  fc.CharSetAddChar(signs, sign);
  fc.PatternAddCharSet(wanted, "charset", signs);
  fc.PatternAddBool(wanted, "scalable", 1);
  fc.PatternAddBool(wanted, "color", 0);
  fc.ConfigSubstitute(nullptr, wanted, 0);
  fc.DefaultSubstitute(wanted);
  int result = 0;
  FontFile found;
  if (void* const face = fc.FontMatch(nullptr, wanted, &result)) {
    unsigned char* path = nullptr;
    if (is_fit(fc, face, sign) && fc.PatternGetString(face, "file", 0, &path) == 0)
      found.path = reinterpret_cast<const char*>(path);
    fc.PatternGetInteger(face, "index", 0, &found.face);
    fc.PatternDestroy(face);
  }
  fc.CharSetDestroy(signs);
  fc.PatternDestroy(wanted);
  return found;
}
constexpr bool kAsks = true;
#else
FontFile find_system_font(char32_t) { return {}; }
constexpr bool kAsks = false;  // in a browser, where a thread for nothing would cost a worker
#endif

namespace {

constexpr size_t kMaxFonts =
    12;  // of other scripts at once; each is mapped into memory and read where it is drawn

using Bytes = std::shared_ptr<const std::span<const uint8_t>>;
struct OpenFont {
  FontFile file;
  Bytes bytes;
};

/// What was found so far. All of it belongs to the thread that draws, but for the question under way.
struct Search {
  FindFont find = kAsks ? FindFont(find_system_font) : FindFont();
  std::vector<OpenFont> fonts;
  std::vector<char32_t> unasked;
  std::future<std::vector<OpenFont>> answer;
};

Search& search() {
  static Search one;
  return one;
}

std::vector<OpenFont> look_for(const std::vector<char32_t>& signs, const FindFont& find) {
  std::vector<OpenFont> found;
  for (const char32_t sign : signs) {
    const FontFile file = find(sign);
    const auto same = [&](const OpenFont& one) {
      return one.file.path == file.path && one.file.face == file.face;
    };
    if (file.path.empty() || found.size() == kMaxFonts || std::ranges::any_of(found, same)) continue;
    try {
      found.push_back({file, InputFile(file.path, input::kAny).map()});
    } catch (const Error&) {
      continue;  // the system names a font that cannot be read: the sign stays a question mark
    }
  }
  return found;
}

void take_answer(Search& s) {
  for (OpenFont& font : s.answer.get()) {
    const auto same = [&](const OpenFont& one) {
      return one.file.path == font.file.path && one.file.face == font.file.face;
    };
    if (s.fonts.size() < kMaxFonts && std::ranges::none_of(s.fonts, same)) s.fonts.push_back(std::move(font));
  }
}

}  // namespace

FindFont ask_for_fonts(FindFont find) { return std::exchange(search().find, std::move(find)); }

void add_system_fonts(bool wait) {
  Search& s = search();
  for (const char32_t sign : ui::take_missing_signs()) s.unasked.push_back(sign);
  if (!s.find) s.unasked.clear();
  if (!s.unasked.empty() && !s.answer.valid())
    s.answer = std::async(std::launch::async, look_for, std::exchange(s.unasked, {}), s.find);
  if (s.answer.valid() && (wait || s.answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready))
    take_answer(s);
  for (const OpenFont& font : s.fonts) ui::add_to_faces(*font.bytes, font.file.face, font.file.path);
}

bool looks_for_fonts() { return search().answer.valid(); }

}  // namespace normscope::headless
