#include "app/headless/ui_driver.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/ui/keys.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"

namespace normscope::headless {
namespace {

constexpr int patience = 30;                               // frames to wait for a control to appear
constexpr float kMostFrames = 100'000, kMostWheel = 1000;  // in one line of a script

// Lists names that share the beginning of `name`, for the error message.
std::string similar(const ui::Registry& registry, std::string_view name) {
  std::string list;
  std::string_view head = name.substr(0, name.find('/'));
  int shown = 0;
  for (const ui::Control& c : registry.all())
    if (c.name.starts_with(head) && shown++ < 12) list += " " + c.name;
  return list.empty() ? " (nothing begins with " + std::string(head) + ")" : ";" + list;
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
  frames(2);  // one to arrive, one for controls that need to have been hovered before
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
  std::string rest;  // all after the verb
  std::string name;  // a control's name, which may hold spaces

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
    wheel(line.amount(line.must(a), -kMostWheel, kMostWheel));
  } else if (verb == "type") {
    type(line.must(rest));
  } else if (verb == "key") {
    key(line.must(a));
  } else if (verb == "frames") {
    const float n = line.amount(a, 1, kMostFrames);
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

}  // namespace normscope::headless
