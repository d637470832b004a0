// Takes a lesson from its begin to its code.
#include "addons/classroom/app/shell/teacher.h"

#include <algorithm>
#include <random>

#include "app/panels/plot_cell.h"
#include "app/shell/palette.h"
#include "training/io/codec.h"

namespace normscope::shell::classroom {
namespace {

constexpr std::string_view kSigns = "/.";  // between the parts of a name

bool is_for(std::string_view rule, std::string_view control) {
  if (!control.starts_with(rule)) return false;
  return control.size() == rule.size() || kSigns.find(control[rule.size()]) != kSigns.npos;
}

bool is_own(std::string_view control) {
  return is_for("teacher", control) || is_for("presentation", control);
}

bool never_held(std::string_view control) {
  return is_own(control) || std::ranges::any_of(std::array{"app/palette", "app/message", "app/failure"},
                                                [&](std::string_view name) { return is_for(name, control); });
}

using Words = std::array<uint32_t, 8>;
constexpr size_t kBlock = 64;  // bytes

std::array<uint32_t, 64> primes() {
  std::array<uint32_t, 64> found{};
  size_t count = 0;
  for (uint32_t n = 2; count < found.size(); ++n) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) found[count++] = n;
  }
  return found;
}

// The first 32 bits of the fraction.
uint32_t fraction(long double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

void digest_block(Words& state, std::span<const unsigned char, kBlock> block) {
  static const std::array<uint32_t, 64> kPrimes = primes();
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < kBlock; ++i) w[i / 4] |= static_cast<uint32_t>(block[i]) << (24 - 8 * (i % 4));
  for (size_t i = 16; i < w.size(); ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  Words s = state;
  for (size_t i = 0; i < w.size(); ++i) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t first = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) +
                           fraction(std::cbrt(static_cast<long double>(kPrimes[i]))) + w[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

using namespace ui;

constexpr const char* kMenuPopup = "teacher/menu";
constexpr std::string_view kCommandGroup = "command";
constexpr size_t kRulesShown = 6;
constexpr float kRow = 26, kPanelWidth = 312;

std::vector<words::Label> hold_words() {
  return {words::label("Shown"), words::label("Locked"), words::label("Hidden")};
}

std::string held_title(const Ui& ui, std::string_view name) {
  for (const view::Shortcut& s : view::shortcuts())
    if (is_for(kCommandGroup, name) && s.control == name) return std::string(s.title);
  const std::string* const group = words::of_window().find(fmt::format("shell.teach_group.{}", name));
  const std::string words = group ? *group : shell::control_title(name);
  const std::span<const Control> all = ui.registry().all();
  const auto count =
      std::ranges::count_if(all, [&](const Control& c) { return c.interactive && is_for(name, c.name); });
  return count > 1 ? tr("{what}, all {count}", {{"what", words}, {"count", count}}) : words;
}

// The picked control with its groups, or every command that has no control.
std::vector<std::string> menu_rows(const std::string& picked) {
  if (picked != kCommandGroup) return control_and_groups(picked);
  std::vector<std::string> rows{picked};
  for (const view::Shortcut& s : view::shortcuts()) {
    const std::string name(s.control);
    if (is_for(kCommandGroup, name)) rows.push_back(name);
  }
  return rows;
}

// Makes "Shown" a rule only where it is an exception from a group's rule.
void choose(ControlPolicy& policy, const std::string& name, Hold hold) {
  policy.set(name, std::nullopt);
  if (policy.decides(name).value_or(Hold::Shown) != hold) policy.set(name, hold);
}

void draw_menu(Ui& ui, Teaching& teaching) {
  if (!ui.popup_open(kMenuPopup)) return;
  const std::vector<std::string> rows = menu_rows(teaching.picked);
  const Control* at = ui.registry().find(teaching.picked);
  const Vec size = ui.size();
  const TextStyle body{Face::Sans, type::body};
  const float choices = segmented_width(ui, hold_words());
  float width = 420;  // or more, where a title needs it
  for (const std::string& row : rows)
    width = std::max(width, ui.paint().text_width(body, held_title(ui, row)) + choices + 36);
  width = std::min(width, size.x - 8);
  const float height = 30 * static_cast<float>(rows.size()) + 20;
  Rect box{at ? at->rect.x : (size.x - width) / 2, at ? at->rect.bottom() + 6 : 80, width, height};
  box.x = std::clamp(box.x, 4.f, size.x - width - 4);
  box.y = std::clamp(box.y, 4.f, std::max(4.f, size.y - height - 4));
  if (!ui.begin_popup(kMenuPopup, box)) return;
  Rect rest = box.inset(12, 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    Rect row = rest.take_top(30);
    const Rect place = row.take_right(choices, 10).inset(0, 2);
    int now = static_cast<int>(teaching.kept.policy.decides(rows[i]).value_or(Hold::Shown));
    if (segmented(ui, fmt::format("teacher/menu/{}", i), place, hold_words(), now,
                  tr("In the lesson it is shown, locked (pale, and it does not answer) or hidden.")))
      choose(teaching.kept.policy, rows[i], static_cast<Hold>(now));
    const std::string title = ui.paint().fit(body, held_title(ui, rows[i]), row.w);
    ui.mark(fmt::format("teacher/menu/{}/title", i), row, title, tr("What the choice is for."));
    ui.paint().text_in(row, body, ui.theme().ink, title);
  }
  ui.end_popup();
}

void open_menu(Ui& ui, Teaching& teaching, std::string name) {
  teaching.picked = std::move(name);
  ui.open_popup(kMenuPopup);
}

// Outlines locked controls; controls that will be hidden have a dashed outline.
void show_rules(Ui& ui, const ControlPolicy& policy) {
  for (const Control& control : ui.registry().all()) {
    const Hold hold = policy.decides(control.name).value_or(Hold::Shown);
    if (!control.interactive || control.rect.empty() || hold == Hold::Shown) continue;
    if (hold == Hold::Locked)
      ui.paint().outline(control.rect, ui.theme().ink, line::outline, radius::field);
    else
      ui.paint().dashed_outline(control.rect, ui.theme().ink, line::outline, {3, 3}, radius::field);
  }
}

// Lists six rules at a time.
void draw_rules(Ui& ui, Rect rest, Teaching& teaching, std::string& wanted) {
  ControlPolicy& policy = teaching.kept.policy;
  const size_t count = policy.rules().size();
  if (teaching.first_rule >= count) teaching.first_rule = 0;
  const TextStyle body{Face::Sans, type::body};
  if (count == 0)
    return void(ui.paint().text_in(rest.take_top(kRow), body, ui.theme().ink3,
                                   teaching.pointing ? tr("Click a control to lock or hide it.")
                                                     : tr("Nothing is locked or hidden yet.")));
  std::string removed;
  auto rule = std::next(policy.rules().begin(), static_cast<std::ptrdiff_t>(teaching.first_rule));
  for (size_t i = 0; i < kRulesShown && rule != policy.rules().end(); ++i, ++rule) {
    Rect row = rest.take_top(kRow);
    const std::string name = fmt::format("teacher/rule/{}", i);
    ButtonOptions quiet{.quiet = true, .style = body};
    if (icon_button(ui, name + "/remove", row.take_right(24, 4), Icon::Close, tr("Takes this rule away."),
                    quiet))
      removed = rule->first;
    const std::string word = hold_words()[static_cast<size_t>(rule->second)].shown;
    ui.paint().text_in(row.take_right(46, 6), body, ui.theme().ink3, word);
    quiet.left = true;
    const std::string title = ui.paint().fit(body, held_title(ui, rule->first), row.w - 18);
    if (button(ui, name, row, title, tr("Opens its menu."), quiet)) wanted = rule->first;
  }
  if (!removed.empty()) policy.set(removed, std::nullopt);
}

Rect panel_place(const Ui& ui, bool at_left) {
  const float height = 214 + kRow * static_cast<float>(kRulesShown);
  const Vec size = ui.size();
  return {at_left ? space::margin : size.x - space::margin - kPanelWidth,
          std::max(48.f, size.y - 84 - height), kPanelWidth, height};
}

void close_button(Ui& ui, const Rect& rect, Teaching& teaching) {
  if (icon_button(ui, "teacher/close", rect, Icon::Close, tr("The rules stay; no lesson begins (Escape)."),
                  {.quiet = true}))
    teaching.preparing = false;
}

// Draws only the title on other screens than the panel's own, because rules can be set there too.
void draw_folded(Ui& ui, Teaching& teaching, Screen shown) {
  const Rect whole = panel_place(ui, teaching.at_left);
  const Rect place{whole.x, whole.bottom() - 34, whole.w, 34};
  ui.begin_layer("teacher", place);
  ui.paint().fill(place, ui.theme().raised, radius::panel);
  ui.paint().outline(place, ui.theme().border, line::border, radius::panel);
  Rect rest = place.inset(6, 4);
  close_button(ui, rest.take_right(26, 4), teaching);
  if (button(ui, "teacher/unfold", rest, tr("Prepare a lesson …"), tr("Opens the panel on this screen."),
             {.quiet = true, .left = true}))
    teaching.open_on = shown;
  ui.end_layer();
}

void draw_head(Ui& ui, Rect& rest, Teaching& teaching) {
  Rect head = rest.take_top(28, 6);
  ButtonOptions quiet{.quiet = true, .style = {Face::Sans, type::body}};
  close_button(ui, head.take_right(26, 4), teaching);
  if (button(ui, "teacher/side", head.take_right(84, 4),
             teaching.at_left ? tr("To the right") : tr("To the left"),
             tr("Moves this panel out of the way."), quiet))
    teaching.at_left = !teaching.at_left;
  ui.paint().text_in(head, {Face::Bold, type::title}, ui.theme().ink, tr("Prepare a lesson"));
  if (button(ui, "teacher/point", rest.take_top(28, 4),
             teaching.pointing ? tr("Stop pointing") : tr("Point at controls"),
             tr("While pointing, controls do nothing; Tab and Enter point too, the number keys change "
                "the screen."),
             {.selected = teaching.pointing, .style = {Face::Sans, type::body}}))
    teaching.pointing = !teaching.pointing;
}

// The code and the two ways to begin; true: begin.
bool draw_foot(Ui& ui, Rect& rest, Teaching& teaching) {
  text_field(ui, "teacher/code", rest.take_top(28, 6), tr("A code to leave the lesson"), teaching.code,
             tr("Whoever has it ends the lesson. It keeps honest students honest; it is no security."));
  Rect row = rest.take_top(30, 4);
  ButtonOptions primary{.primary = true};
  const bool saves = button(ui, "teacher/save", row.take_right(140, 8), tr("Save for the class"),
                            tr("Begins, and saves the session as a folder that students open."));
  const bool begins =
      button(ui, "teacher/begin", row, tr("Begin the lesson"), tr("The rules hold from now on."), primary);
  ui.paint().text_in(rest.take_top(20), {Face::Sans, type::tick}, ui.theme().ink2, teaching.says);
  if (!saves && !begins) return false;
  teaching.says = teaching.code.empty() ? tr("Set a code first: nothing else ends the lesson.")
                  : teaching.code.size() > kLongestCode ? tr("The code is too long.")
                                                        : "";
  teaching.hand_out = saves && teaching.says.empty();
  return teaching.says.empty();
}

bool draw_preparation(Ui& ui, Teaching& teaching, Screen shown) {
  std::string wanted = ui.take_picked();
  show_rules(ui, teaching.kept.policy);
  if (!teaching.open_on) teaching.open_on = shown;
  if (teaching.open_on != shown) {
    draw_folded(ui, teaching, shown);
    if (!wanted.empty()) open_menu(ui, teaching, std::move(wanted));
    draw_menu(ui, teaching);
    return false;
  }
  const Rect place = panel_place(ui, teaching.at_left);
  ui.begin_layer("teacher", place);
  Rect rest = panel(ui, place, {.raised = true});
  draw_head(ui, rest, teaching);
  draw_rules(ui, rest.take_top(kRow * kRulesShown, 6), teaching, wanted);
  const size_t count = teaching.kept.policy.rules().size();
  Rect row = rest.take_top(26, 8);
  ButtonOptions plain{.style = {Face::Sans, type::body}};
  if (count > kRulesShown && button(ui, "teacher/more", row.take_right(90, 8),
                                    tr("Next of {all}", {{"all", count}}), tr("Further rules."), plain))
    teaching.first_rule += kRulesShown;
  if (button(ui, "teacher/commands", row, tr("Commands …"),
             tr("What keys and the palette do without a control."), plain))
    wanted = kCommandGroup;
  const bool begin = draw_foot(ui, rest, teaching);
  ui.end_layer();
  if (!wanted.empty()) open_menu(ui, teaching, std::move(wanted));
  draw_menu(ui, teaching);
  return begin;
}

constexpr const char* kLeavePopup = "teacher/leave/code";
constexpr const char* kCodeField = "teacher/leave/field";
constexpr int kQuickTries = 3;

void ask_for_code(Ui& ui, Teaching& teaching) {
  teaching.typed.clear();
  if (ui.time() >= teaching.wait_until) teaching.says.clear();
  ui.open_popup(kLeavePopup);
  ui.edit() = {kCodeField, "", true};
}

void draw_question(Ui& ui, Teaching& teaching) {
  const Rect box{ui.size().x / 2 - 160, 70, 320, 132};
  if (!ui.begin_popup(kLeavePopup, box)) return;
  Rect rest = box.inset(16, 12);
  const TextStyle body{Face::Sans, type::body};
  ui.paint().text_in(rest.take_top(20, 6), {Face::Bold, type::title}, ui.theme().ink, tr("Leave the lesson"));
  const double wait = teaching.wait_until - ui.time();
  Rect row = rest.take_top(28, 8);
  if (wait > 0) {
    ui.animate();
    const std::string words =
        tr("The next try in {seconds} s.", {{"seconds", fmt::format("{:.0f}", std::ceil(wait))}});
    ui.mark("teacher/leave/wait", row, words, tr("After three wrong codes each takes its time."));
    ui.paint().text_in(row, body, ui.theme().ink2, words);
  } else {
    const Rect go = row.take_right(70, 8);
    const bool typed = text_field(ui, kCodeField, row, tr("The teacher's code"), teaching.typed,
                                  tr("Who prepared the lesson has it."), true);
    const bool leaves =
        button(ui, "teacher/leave/go", go, tr("Leave"), tr("Ends the lesson if this is its code."));
    if (typed || leaves) {
      if (try_to_leave(teaching, std::exchange(teaching.typed, {}), ui.time()))
        ui.close_popup();
      else if (ui.time() >= teaching.wait_until)
        ui.edit() = {kCodeField, "", true};
    }
  }
  ui.mark("teacher/leave/says", rest, teaching.says, tr("Whether the code was right."));
  ui.paint().text_in(rest.take_top(20), body, ui.theme().ink2, teaching.says);
  ui.end_popup();
}

// Saves the session a frame later, when it already says that it is a lesson.
void hand_out(Teaching& teaching, ShownSession& session, Message& notice) {
  if (!std::exchange(teaching.hand_out, false)) return;
  const std::string path = free_name(panels::pictures_folder() + "/normscope-lesson");
  session.commands.emplace_back(session::SaveSession{path});
  notice = tr("saved for the class: {path} (a folder, opened with Ctrl+O)", {{"path", path}});
}

}  // namespace

void ControlPolicy::set(std::string_view name, std::optional<Hold> hold) {
  const auto at = rules_.find(name);
  if (!hold) {
    if (at != rules_.end()) rules_.erase(at);
    return;
  }
  if (at != rules_.end()) return void(at->second = *hold);
  if (name.empty() || name.size() > kLongestRule || never_held(name) || rules_.size() >= kMaxRules) return;
  rules_.emplace(name, *hold);
}

std::optional<Hold> ControlPolicy::decides(std::string_view control) const {
  if (rules_.empty() || never_held(control)) return {};
  for (const std::string& name : control_and_groups(control))
    if (const auto at = rules_.find(name); at != rules_.end()) return at->second;
  return {};
}

std::vector<std::string> control_and_groups(std::string_view control) {
  std::vector<std::string> names;
  while (true) {
    names.emplace_back(control);
    const size_t sign = control.find_last_of(kSigns);
    if (sign == control.npos) return names;
    control = control.substr(0, sign);
  }
}

namespace {

// Sets the options of the coming frame: the rules of a lesson, or that controls are only pointed at.
void set_rules(FrameOptions& options, const Teaching& teaching) {
  const ControlPolicy& policy = teaching.kept.policy;
  options.locked = []() -> const std::string& { return tr("locked by the teacher"); };
  if (teaching.kept.lesson && !policy.empty())
    options.policy = [&policy](std::string_view control) { return policy.decides(control); };
  if (teaching.preparing && teaching.pointing)
    options.pointing = [](std::string_view control) {
      return !is_own(control) && !is_for("app/palette", control);
    };
}

// Runs at the beginning of a frame: Escape closes the panel, unless something else is open, typed or
// held. True: it did.
bool closed_by_key(Ui& ui, Teaching& teaching) {
  if (!teaching.preparing || ui.popup_open() || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return false;
  if (!ui.shortcut("Escape")) return false;
  teaching.preparing = false;
  return true;
}

// Draws "Prepared by your teacher" and "Leave" in a lesson, right-aligned in `room`, and returns their left end.
float draw_lesson_bar(Ui& ui, const Rect& room, Teaching& teaching) {
  if (!teaching.kept.lesson) return room.right();
  constexpr float kMessage = 120;  // room that stays for the trainer's message
  const TextStyle body{Face::Sans, type::body};
  Rect rest = room.inset(0, (room.h - 28) / 2);
  const Rect leave = rest.take_right(58, 10);
  if (button(ui, "teacher/leave", leave, tr("Leave"),
             tr("Prepared by your teacher. The teacher's code ends the lesson.")))
    ask_for_code(ui, teaching);
  const std::string& prepared = tr("Prepared by your teacher");
  const float width = ui.paint().text_width(body, prepared);
  if (rest.w < width + kMessage) return leave.x;
  const Rect words = rest.take_right(width);
  ui.mark("teacher/bar", words, prepared, tr("Some controls are locked or hidden."));
  ui.paint().text_in(words, body, ui.theme().ink2, prepared);
  return words.x;
}

// Draws the panel while preparing, the menu of a control and the question for the code, and says what a
// held control refused.
void draw_teacher(Ui& ui, Teaching& teaching, ShownSession& session, Screen shown, Message& notice) {
  hand_out(teaching, session, notice);
  if (teaching.preparing && draw_preparation(ui, teaching, shown)) begin_lesson(ui, teaching, session);
  if (teaching.kept.lesson) draw_question(ui, teaching);
  if (ui.take_refused()) notice = ui.locked_help();
}

// Adopts the rules that came with a session. A running lesson goes on unless the new session is a lesson too, so that
// opening a file is no way out of a lesson.
void take_in(Teaching& teaching, KeptTeaching kept) {
  if (teaching.kept.lesson && !kept.lesson) return;
  if (teaching.kept.lesson) kept.code = teaching.kept.code;  // a lesson of one's own opens no door
  if (kept.lesson) {
    teaching.preparing = false;
    teaching.wrong = 0;
    teaching.typed.clear();
  }
  teaching.kept = std::move(kept);
}

}  // namespace

std::string sha256(std::string_view text) {
  Words state{};
  const std::array<uint32_t, 64> first = primes();
  for (size_t i = 0; i < state.size(); ++i)
    state[i] = fraction(std::sqrt(static_cast<long double>(first[i])));
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  for (int byte = 7; byte >= 0; --byte) padded += static_cast<char>(uint64_t{text.size()} * 8 >> (8 * byte));
  for (size_t at = 0; at < padded.size(); at += kBlock) {
    std::array<unsigned char, kBlock> block{};
    for (size_t i = 0; i < kBlock; ++i) block[i] = static_cast<unsigned char>(padded[at + i]);
    digest_block(state, block);
  }
  std::string out;
  for (const uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

CodeHash hash_of(std::string_view code) {
  std::random_device random;
  std::string salt;
  for (int i = 0; i < 4; ++i) salt += fmt::format("{:08x}", static_cast<uint32_t>(random()));
  return {salt, sha256(salt + std::string(code))};
}

bool is_code(const CodeHash& kept, std::string_view code) {
  return !kept.hash.empty() && sha256(kept.salt + std::string(code)) == kept.hash;
}

void enter(Ui& ui, Teaching& teaching) {
  if (teaching.kept.lesson) return ask_for_code(ui, teaching);
  teaching.preparing = true;
  teaching.pointing = true;
  teaching.open_on.reset();
  teaching.says.clear();
}

void begin_lesson(Ui& ui, Teaching& teaching, ShownSession& session) {
  teaching.kept.code = hash_of(std::exchange(teaching.code, {}));
  teaching.kept.lesson = true;
  teaching.preparing = false;
  teaching.wrong = 0;
  teaching.wait_until = 0;
  teaching.says.clear();
  session.asked.emplace_back(session::ForgetChanges{});
  ui.focus("");
  ui.edit() = {};
}

bool try_to_leave(Teaching& teaching, std::string_view code, double now) {
  if (now < teaching.wait_until) return false;
  if (is_code(teaching.kept.code, code)) {
    teaching.kept.lesson = false;
    teaching.wrong = 0;
    teaching.says.clear();
    return true;
  }
  ++teaching.wrong;
  teaching.says = tr("That is not the code.");
  if (teaching.wrong >= kQuickTries)
    teaching.wait_until = now + std::min(60.0, 5 * std::pow(2.0, teaching.wrong - kQuickTries));
  return false;
}

}  // namespace normscope::shell::classroom

namespace normscope::shell::classroom {

namespace {

using namespace ui;

constexpr float kLarger = 1.25f;  // times the chosen size, as far as the window allows
constexpr float kHalo = 20, kHaloWidth = 4, kGrown = 46;  // logical px
constexpr double kGrows = 0.4, kHint = 2;                 // seconds

// Yellow with the outline that every yellow shape has.
void draw_ring(Ui& ui, Vec at, float radius, float opacity) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint_top();
  p.ring(at, radius, t.accent.alpha(opacity), kHaloWidth);
  for (const float edge : {-kHaloWidth / 2, kHaloWidth / 2})
    p.ring(at, radius + edge, t.accent_outline.alpha(opacity), line::outline);
}

void draw_halo(Ui& ui, Presentation& presentation) {
  if (!ImGui::IsMousePosValid()) return;
  const Vec at = ui.pointer();
  draw_ring(ui, at, kHalo, 1);
  ui.mark("presentation/halo", centred(at, 2 * kHalo, 2 * kHalo), "", tr("Where the mouse is."));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ui.reduced_motion()) {
    presentation.click = at;
    presentation.clicked = ui.time();
  }
}

void draw_click(Ui& ui, Presentation& presentation) {
  if (!presentation.clicked) return;
  const auto share = static_cast<float>((ui.time() - *presentation.clicked) / kGrows);
  if (share >= 1 || ui.reduced_motion()) return presentation.clicked.reset();
  ui.animate();
  const float radius = kHalo + share * (kGrown - kHalo);
  draw_ring(ui, presentation.click, radius, 1 - share);
  ui.mark("presentation/click", centred(presentation.click, 2 * radius, 2 * radius), "",
          tr("Where the mouse was pressed."));
}

void draw_hint(Ui& ui, double shown_for) {
  if (shown_for >= kHint) return;
  ui.animate();
  Painter& p = ui.paint_top();
  const TextStyle style{Face::Sans, type::title};
  const float width = p.text_width(style, tr("Esc ends the presentation")) + 32;
  const Rect pill{(ui.size().x - width) / 2, 16, width, 30};
  ui.mark("presentation/hint", pill, tr("Esc ends the presentation"), tr("How the presentation ends."));
  p.fill(pill, ui.theme().inverse, pill.h / 2);
  p.text_in(pill, style, ui.theme().on_inverse, tr("Esc ends the presentation"), Align::Centre);
}

void switch_presentation(Presentation& presentation) {
  const bool begins = !presentation.on;
  presentation = {};
  presentation.on = begins;
}

/// Escape ends the mode, unless something else is open, typed or held.
void presentation_keys(Ui& ui, Presentation& presentation) {
  if (!presentation.on || ui.popup_open() || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  if (ui.shortcut("Escape")) presentation = {};
}

void draw_presentation(Ui& ui, Presentation& presentation) {
  if (!presentation.on) return;
  if (!presentation.since) presentation.since = ui.time();
  draw_halo(ui, presentation);
  draw_click(ui, presentation);
  draw_hint(ui, ui.time() - *presentation.since);
}

}  // namespace
}  // namespace normscope::shell::classroom

namespace normscope::shell {

std::unique_ptr<WindowPart> make_classroom() { return std::make_unique<classroom::Classroom>(); }

namespace classroom {

namespace {

constexpr std::string_view kHoldWords[] = {"shown", "locked", "hidden"};  // as enum Hold

/// Accepts exactly `digits` hexadecimal digits, or none.
struct HexDigits {
  size_t digits;
  codec::Json write(const std::string& text) const { return text; }
  void read(const InputValue& json, std::string& text) const {
    text = json.text(digits);
    const bool hex = text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!text.empty() && (!hex || text.size() != digits))
      json.refuse(std::to_string(digits) + " hexadecimal digits");
  }
};

struct HoldRules {
  static constexpr codec::Map kRules{kMaxRules, codec::Words{kHoldWords}};
  codec::Json write(const ControlPolicy& policy) const { return kRules.write(policy.rules()); }
  void read(const InputValue& json, ControlPolicy& policy) const {
    std::map<std::string, ui::Hold> rules;
    kRules.read(json, rules);
    for (const auto& [name, hold] : rules) policy.set(name, hold);
  }
};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, KeptTeaching>& kept) {
  io("lesson", kept.lesson);
  io("salt", kept.code.salt, HexDigits{32});
  io("hash", kept.code.hash, HexDigits{64});
  io.require(!kept.lesson || !kept.code.hash.empty(), "hash", "the hash of a code, or no lesson");
  io("controls", kept.policy, HoldRules{});
}

void Classroom::begin(ui::FrameOptions& options) const {
  if (presentation.on) options.scale *= kLarger;
  set_rules(options, teaching);
}

void Classroom::keys(ui::Ui& ui) {
  if (!closed_by_key(ui, teaching)) presentation_keys(ui, presentation);
}

bool Classroom::run(view::Act act, ui::Ui& ui) {
  if (act == view::Act::Present)
    switch_presentation(presentation);
  else if (act == view::Act::Teacher)
    enter(ui, teaching);
  else
    return false;
  return true;
}

float Classroom::draw_in_bar(ui::Ui& ui, const ui::Rect& room) { return draw_lesson_bar(ui, room, teaching); }

void Classroom::draw(ui::Ui& ui, ShownSession& session, Screen shown, Message& notice) {
  draw_teacher(ui, teaching, session, shown, notice);
  draw_presentation(ui, presentation);
}

std::string Classroom::kept() const {
  return teaching.kept.empty() ? "" : codec::text_of(codec::write(teaching.kept));
}

void Classroom::restore(const InputValue* kept) {
  take_in(teaching, kept ? codec::read<KeptTeaching>(*kept) : KeptTeaching{});
}

}  // namespace classroom

}  // namespace normscope::shell
