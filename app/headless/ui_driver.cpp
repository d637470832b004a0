#include "app/headless/ui_driver.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/headless/raster.h"
#include "app/headless/system_fonts.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "engine/io/output_file.h"

namespace normscope::headless {
namespace {

constexpr int patience = 30;                             // frames to wait for a control to appear
constexpr float kMaxFrames = 100'000, kMaxWheel = 1000;  // in one line of a script

// Lists up to 12 names that begin with the first part of `name`, for the error message.
std::string similar(const ui::Registry& registry, std::string_view name) {
  std::string list;
  std::string_view head = name.substr(0, name.find('/'));
  int shown = 0;
  for (const ui::Control& c : registry.all())
    if (c.name.starts_with(head) && shown++ < 12) list += " " + c.name;
  return list.empty() ? " (nothing begins with " + std::string(head) + ")" : "; similar:" + list;
}

}  // namespace

UiDriver::UiDriver(Frame& loop, ui::Ui& ui, std::function<void()> frame)
    : loop_(loop), ui_(ui), frame_(std::move(frame)) {}

void UiDriver::frames(int n) {
  for (int i = 0; i < n; ++i) loop_.step(frame_);
}

ui::Control UiDriver::control(std::string_view name) {
  for (int i = 0; i <= patience; ++i) {
    if (const ui::Control* c = ui_.registry().find(name)) return *c;
    frames();
  }
  throw Error("no control named '" + std::string(name) + "'" + similar(ui_.registry(), name));
}

void UiDriver::move_to(ui::Vec point) {
  loop_.make_current();
  ImGui::GetIO().AddMousePosEvent(point.x * ui_.scale(), point.y * ui_.scale());
  frames(2);  // one to arrive, one for controls that react only once hovered
}

void UiDriver::move_to(std::string_view name, ui::Vec fraction) {
  ui::Rect r = control(name).rect;
  move_to(ui::Vec{r.x + r.w * fraction.x, r.y + r.h * fraction.y});
}

void UiDriver::press(int button) {
  loop_.make_current();
  ImGui::GetIO().AddMouseButtonEvent(button, true);
  frames();
}

void UiDriver::release(int button) {
  loop_.make_current();
  ImGui::GetIO().AddMouseButtonEvent(button, false);
  frames(2);
}

void UiDriver::click(std::string_view name, ui::Vec fraction, int button) {
  move_to(name, fraction);
  press(button);
  release(button);
}

void UiDriver::choose(const std::string& menu, const std::string& entry) {
  click(menu);
  frames(3);
  click(menu + "/" + entry);
  frames(3);
}

void UiDriver::double_click(std::string_view name, ui::Vec fraction) {
  move_to(name, fraction);
  press();
  loop_.make_current();
  ImGui::GetIO().AddMouseButtonEvent(0, false);
  frames();
  press();
  release();
}

void UiDriver::hold(std::string_view modifiers, bool down) {
  loop_.make_current();
  ImGuiIO& io = ImGui::GetIO();
  auto has = [&](const char* name) { return modifiers.find(name) != std::string_view::npos; };
  if (has("Ctrl")) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
  }
  if (has("Shift")) {
    io.AddKeyEvent(ImGuiMod_Shift, down);
    io.AddKeyEvent(ImGuiKey_LeftShift, down);
  }
  if (has("Alt")) {
    io.AddKeyEvent(ImGuiMod_Alt, down);
    io.AddKeyEvent(ImGuiKey_LeftAlt, down);
  }
  if (!modifiers.empty()) frames();
}

void UiDriver::drag(std::string_view from, std::string_view to, std::string_view modifiers, int steps) {
  ui::Vec target = control(to).rect.centre();
  drag_by(from, target - control(from).rect.centre(), modifiers, steps);
}

void UiDriver::drag_by(std::string_view from, ui::Vec offset, std::string_view modifiers, int steps,
                       ui::Vec fraction) {
  ui::Rect r = control(from).rect;
  ui::Vec start{r.x + r.w * fraction.x, r.y + r.h * fraction.y};
  move_to(start);
  press();
  hold(modifiers, true);
  for (int i = 1; i <= steps; ++i) move_to(start + offset * (float(i) / float(steps)));
  release();
  hold(modifiers, false);
}

void UiDriver::wheel(float dy) {
  loop_.make_current();
  ImGui::GetIO().AddMouseWheelEvent(0, dy);
  frames(2);
}

void UiDriver::type(std::string_view utf8) {
  loop_.make_current();
  ImGui::GetIO().AddInputCharactersUTF8(std::string(utf8).c_str());
  frames(2);
}

void UiDriver::key(std::string_view text) {
  ui::Chord chord = ui::parse_chord(text);
  std::string modifiers =
      std::string(chord.ctrl ? "Ctrl" : "") + (chord.shift ? "Shift" : "") + (chord.alt ? "Alt" : "");
  hold(modifiers, true);
  loop_.make_current();
  ImGuiIO& io = ImGui::GetIO();
  if (chord.key) io.AddKeyEvent(ImGuiKey(chord.key), true);
  if (chord.character && !chord.ctrl && !chord.alt) io.AddInputCharacter(chord.character);
  frames();
  loop_.make_current();
  if (chord.key) io.AddKeyEvent(ImGuiKey(chord.key), false);
  frames();
  hold(modifiers, false);
}

// A line of a script, cut into words.
struct UiDriver::Line {
  std::string verb, a, b, c;
  std::string rest;  // text after the verb
  std::string name;  // `rest` without blanks at its ends: a control's name, which may contain spaces

  explicit Line(const std::string& text) {
    std::istringstream words(text);
    words >> verb;
    if (empty()) return;
    words >> a >> b >> c;
    rest = text.substr(std::min(text.size(), text.find(verb) + verb.size() + 1));
    name = rest;
    name.erase(0, name.find_first_not_of(" \t"));
    name.erase(name.find_last_not_of(" \t\r") + 1);
  }
  bool empty() const { return verb.empty() || verb[0] == '#'; }
  const std::string& must(const std::string& word) const {
    if (word.empty()) throw Error("'" + verb + "' lacks an argument");
    return word;
  }
  float amount(const std::string& word, float low, float high) const {
    float value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = read_real(word.data(), end, value);
    if (error != std::errc{} || stop != end || !(value >= low && value <= high))
      throw Error("'{}' takes a number from {} to {}, not '{}'", verb, low, high, word);
    return value;
  }
};

const std::string& UiDriver::usable(const std::string& name) {
  if (const ui::Control found = control(name); !found.enabled)
    throw Error("'" + name + "' is greyed out here" + (found.help.empty() ? "" : ": " + found.help));
  return name;
}

void UiDriver::grab(const Line& line) {
  const std::string& to = line.must(line.b);
  move_to(line.a);
  press();
  hold(line.c, true);
  const ui::Vec start = control(line.a).rect.centre(), way = control(to).rect.centre() - start;
  for (int i = 1; i <= 6; ++i) move_to(start + way * (float(i) / 6));
}

void UiDriver::obey(const Line& line) {
  const auto& [verb, a, b, c, rest, name] = line;
  if (verb == "hover") {
    move_to(line.must(name));
  } else if (verb == "click") {
    click(usable(line.must(name)));
  } else if (verb == "double") {
    double_click(usable(line.must(name)));
  } else if (verb == "right") {
    click(line.must(name), {0.5f, 0.5f}, 1);
  } else if (verb == "drag") {
    drag(a, line.must(b), c);
  } else if (verb == "grab") {
    grab(line);
  } else if (verb == "drop") {
    release();
    hold("Ctrl Shift Alt", false);
  } else if (verb == "at") {
    line.must(c);
    move_to(a, {line.amount(b, 0, 1), line.amount(c, 0, 1)});
  } else if (verb == "press") {
    press();
  } else if (verb == "hold") {
    hold(line.must(name), true);
  } else if (verb == "leave") {
    move_to(ui::Vec{-1000, -1000});
  } else if (verb == "wheel") {
    wheel(line.amount(line.must(a), -kMaxWheel, kMaxWheel));
  } else if (verb == "type") {
    type(line.must(rest));
  } else if (verb == "key") {
    key(line.must(a));
  } else if (verb == "frames") {
    const float n = line.amount(a, 1, kMaxFrames);
    if (n != std::floor(n)) throw Error("'frames' takes a whole number, not '" + a + "'");
    frames(static_cast<int>(n));
  } else {
    throw Error(
        "unknown verb '" + verb +
        "' (hover, click, double, right, drag, grab, drop, at, press, wheel, hold, leave, type, key, "
        "frames; in a script also wait, shoot, size, scale, fresh, file, lesson, offer, and a screen's name)");
  }
}

void UiDriver::script(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string words;
  for (int number = 1; std::getline(lines, words); ++number) {
    const Line line(words);
    if (line.empty()) continue;
    try {
      obey(line);
    } catch (const Error& e) {
      throw Error("script line " + std::to_string(number) + ": " + e.message);
    }
  }
}

// ---- Textures and frames

void serve_textures() {
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    switch (texture->Status) {
      case ImTextureStatus_WantCreate:
        // The rasteriser ignores the id: it reads the pixels from the texture itself.
        texture->SetTexID(static_cast<ImTextureID>(texture->UniqueID + 1));
        texture->SetStatus(ImTextureStatus_OK);
        break;
      case ImTextureStatus_WantUpdates:
        texture->SetStatus(ImTextureStatus_OK);
        break;
      case ImTextureStatus_WantDestroy:
        texture->SetTexID(ImTextureID_Invalid);
        texture->SetStatus(ImTextureStatus_Destroyed);
        break;
      default:
        break;
    }
  }
}

void release_textures() {
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    texture->SetTexID(ImTextureID_Invalid);
    texture->SetStatus(ImTextureStatus_Destroyed);
  }
}

Frame::Frame(ui::Vec size_px, float delta_time) {
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DeltaTime = delta_time;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset |
                     ImGuiBackendFlags_HasMouseCursors;
  io.BackendPlatformName = "normscope frame";
  io.ConfigInputTextCursorBlink = false;
  io.ConfigErrorRecoveryEnableTooltip = false;
  resize(size_px);
}

Frame::~Frame() {
  make_current();
  release_textures();
  ImGui::DestroyContext(context_);
}

void Frame::make_current() const { ImGui::SetCurrentContext(context_); }

void Frame::resize(ui::Vec size_px) {
  make_current();
  ImGui::GetIO().DisplaySize = {size_px.x, size_px.y};
}

ImDrawData* Frame::step(const std::function<void()>& draw) {
  make_current();
  add_system_fonts(/*wait=*/true);
  ui::new_frame();
  draw();
  ImGui::Render();
  serve_textures();
  ++frames_;
  return data_ = ImGui::GetDrawData();
}

}  // namespace normscope::headless

// PNG files of an Image, by stb_image_write.

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace normscope::headless {

std::vector<uint8_t> encode_png(const Image& image) {
  std::vector<uint8_t> bytes;
  auto append = [](void* to, void* data, int size) {
    auto* p = static_cast<uint8_t*>(data);
    static_cast<std::vector<uint8_t>*>(to)->insert(static_cast<std::vector<uint8_t>*>(to)->end(), p,
                                                   p + size);
  };
  if (!stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.pixels.data(),
                              image.width * 4))
    throw Error("cannot encode a PNG of " + std::to_string(image.width) + " x " +
                std::to_string(image.height));
  return bytes;
}

void write_png(const std::string& path, const Image& image) { write_png(path, encode_png(image)); }

void write_png(const std::string& path, const std::vector<uint8_t>& encoded) {
  write_file(path, {reinterpret_cast<const char*>(encoded.data()), encoded.size()}, "image");
}

}  // namespace normscope::headless
