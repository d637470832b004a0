// These tests cover teacher mode: controls are pointed at and locked or hidden; in the lesson neither mouse, keys nor
// palette reach them; only the code ends it; the rules travel with the session.
#include <imgui.h>

#include <algorithm>
#include <initializer_list>

#include "addons/classroom/tests/app/classroom_of.h"
#include "app/shell/palette_choices.h"
#include "app/shell/session_window.h"
#include "app/shell/shell.h"
#include "app/support/random_hand.h"

using namespace normscope;
using namespace shell;
using fixture::LabDriver, fixture::LiveDriver, fixture::teaching_of, ui::Hold;

namespace teacher_test {
namespace {

constexpr const char* kCode = "open sesame";

struct Rule {
  const char* name;
  Hold hold;
};

void begin(LabDriver& lab, std::initializer_list<Rule> rules) {
  for (const Rule& rule : rules) teaching_of(lab.state).kept.policy.set(rule.name, rule.hold);
  teaching_of(lab.state).code = kCode;
  classroom::begin_lesson(lab.ui, teaching_of(lab.state), lab.state.session);
  lab.driver.frames(3);
}

/// The strongest alpha, 0 to 255, of what is drawn inside a rectangle of the window's own layer.
unsigned strongest(const LabDriver& lab, const ui::Rect& rect) {
  const ui::Rect place = rect.inset(1);
  unsigned alpha = 0;
  const ImDrawData* data = lab.loop.draw_data();
  for (const ImDrawVert& v : data->CmdLists[0]->VtxBuffer)
    if (place.contains(ui::Vec{v.pos.x / lab.ui.scale(), v.pos.y / lab.ui.scale()}))
      alpha = std::max(alpha, static_cast<unsigned>(v.col >> IM_COL32_A_SHIFT));
  return alpha;
}

TEST_CASE("teacher: the longest rule decides, and some controls are never held") {
  classroom::ControlPolicy policy;
  policy.set("settings", Hold::Hidden);
  policy.set("settings/train", Hold::Locked);
  policy.set("settings/train.lr", Hold::Shown);
  policy.set("app", Hold::Locked);
  policy.set("teacher/leave", Hold::Hidden);
  policy.set("", Hold::Hidden);
  policy.set(std::string(300, 'x'), Hold::Hidden);
  CHECK(policy.rules().size() == 4);
  CHECK(policy.decides("settings/model.layers") == Hold::Hidden);
  CHECK(policy.decides("settings/train.warmup/A") == Hold::Locked);
  CHECK(policy.decides("settings/train.lr/A") == Hold::Shown);
  CHECK_FALSE(policy.decides("settings-of-another"));
  CHECK(policy.decides("app/theme") == Hold::Locked);
  for (const char* never : {"teacher/leave", "app/palette/0", "app/message", "transport/play"})
    CHECK_FALSE(policy.decides(never));
  policy.set("app", std::nullopt);
  CHECK_FALSE(policy.decides("app/theme"));
  CHECK(classroom::control_and_groups("settings/train.lr") ==
        std::vector<std::string>{"settings/train.lr", "settings/train", "settings"});
}

TEST_CASE("teacher: the code is kept as a salted SHA-256") {
  CHECK(classroom::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(classroom::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(classroom::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const classroom::CodeHash one = classroom::hash_of(kCode), two = classroom::hash_of(kCode);
  CHECK(one.salt.size() == 32);
  CHECK(one.hash != two.hash);
  CHECK(classroom::is_code(one, kCode));
  CHECK_FALSE(classroom::is_code(one, "open"));
  CHECK_FALSE(classroom::is_code({}, ""));
}

TEST_CASE("teacher: a locked control is pale, a hidden one is not drawn, but for one that is shown again") {
  LabDriver lab(fixture::lab_view());
  const auto rect = [&](const char* name) { return lab.driver.control(name).rect; };
  const ui::Rect step = rect("transport/step"), lr = rect("settings/train.lr"),
                 warmup = rect("settings/train.warmup");
  lab.driver.move_to(ui::Vec{2, 2});
  REQUIRE(strongest(lab, warmup) > 0);
  CHECK(strongest(lab, step) == 255);
  begin(lab, {{"transport", Hold::Locked}, {"settings", Hold::Hidden}, {"settings/train.lr", Hold::Shown}});
  CHECK(strongest(lab, step) < 120);
  CHECK(strongest(lab, step) > 0);
  CHECK(strongest(lab, warmup) == 0);
  CHECK(strongest(lab, lr) == 255);
  for (const ui::TextRecord& text : lab.ui.texts())
    CHECK_FALSE((text.layer == 0 && warmup.contains(text.rect)));
  lab.driver.move_to(warmup.centre());
  lab.driver.press();
  lab.driver.release();
  lab.driver.frames(2);
  CHECK(lab.ui.edit().name.empty());
  std::set<std::string> reached;
  for (size_t i = 0; i < fixture::controls(lab.ui).size(); ++i) {
    lab.driver.key("Tab");
    reached.insert(lab.ui.focused());
  }
  CHECK(reached.contains("settings/train.lr"));
  CHECK_FALSE(reached.contains("settings/train.warmup"));
}

TEST_CASE("teacher: the lesson comes back with the session, and no other session ends it") {
  const test::Folder folder;
  LiveDriver lab;
  lab.lab.post(session::SaveSession{folder.file("plain")});
  lab.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
  lab.settle();
  REQUIRE(lab.state.session.can_undo());
  begin(lab, {{"settings", Hold::Locked}, {"plot/loss", Hold::Hidden}});
  lab.settle();                               // the Lab's thread forgets the changes
  CHECK_FALSE(lab.state.session.can_undo());  // of before
  lab.ask(session::SaveSession{folder.file("class")});
  REQUIRE(lab.view().message.empty());

  LiveDriver student;
  student.ask(session::RestoreSession{folder.file("class"), false});
  REQUIRE(student.view().message.empty());
  CHECK(teaching_of(student.state).kept == teaching_of(lab.state).kept);
  student.driver.frames(2);
  student.log.clear();
  student.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
  CHECK(student.log.empty());
  student.ask(session::RestoreSession{folder.file("plain"), false});
  CHECK(teaching_of(student.state).kept.lesson);
  CHECK_FALSE(classroom::try_to_leave(teaching_of(student.state), "guess", 0));
  CHECK(classroom::try_to_leave(teaching_of(student.state), kCode, 0));
  student.driver.frames(3);
  student.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
  CHECK(student.last<session::EditField>());
}

TEST_CASE("teacher: another lesson opens no door, and another session's screen stays closed") {
  const auto lesson = [](const char* code) {
    AppState prepared;
    prepared.screens.shown = Screen::Lessons;
    teaching_of(prepared).kept.code = classroom::hash_of(code);
    teaching_of(prepared).kept.lesson = true;
    return window_rows(prepared.screens, prepared.parts);
  };
  AppState state;
  show_window(state.screens, state.session, state.parts, lesson(kCode));
  CHECK(state.screens.shown == Screen::Lessons);  // as the teacher left it
  CHECK(teaching_of(state).kept.lesson);
  state.screens.shown = Screen::Lab;
  show_window(state.screens, state.session, state.parts, lesson("of my own"));
  CHECK(state.screens.shown == Screen::Lab);
  CHECK_FALSE(classroom::try_to_leave(teaching_of(state), "of my own", 0));
  CHECK(classroom::try_to_leave(teaching_of(state), kCode, 100));
}

TEST_CASE("teacher: damaged rules are left out, and the other rows stay") {
  AppState first;
  classroom::Teaching& teaching = teaching_of(first);
  teaching.kept.policy.set("settings", Hold::Locked);
  teaching.kept.policy.set("app/theme", Hold::Hidden);
  teaching.kept.code = classroom::hash_of(kCode);
  teaching.kept.lesson = true;
  first.screens.lab.transport().bookmarks = {7};
  const std::string text = window_rows(first.screens, first.parts);
  CHECK_FALSE(test::contains(text, kCode));
  const auto restored = [](const std::string& rows) {
    AppState state;
    show_window(state.screens, state.session, state.parts, rows);
    CHECK(state.screens.lab.transport().bookmarks == std::vector<int>{7});
    return teaching_of(state).kept;
  };
  CHECK(restored(text) == teaching.kept);
  const auto damaged = [&](const std::string& from, const std::string& to) {
    return restored(test::replaced(text, from, to));
  };
  CHECK(damaged("\"locked\"", "\"open\"").empty());
  CHECK(damaged(teaching.kept.code.hash, "").empty());  // a lesson that nobody could end
  CHECK(damaged(teaching.kept.code.salt, "salt").empty());
  CHECK(damaged("\"lesson\":true", "\"lesson\":1").empty());
}

TEST_CASE("teacher: a hand that does anything changes no locked control") {
  constexpr Rule kRules[] = {{"settings", Hold::Locked}, {"diagram", Hold::Locked},
                             {"run", Hold::Locked},      {"lab", Hold::Locked},
                             {"plot", Hold::Locked},     {"timeline/fork", Hold::Locked},
                             {"app/tab", Hold::Hidden},  {"app/scale", Hold::Hidden}};
  const auto edits = [](const LabDriver& lab) {
    return std::ranges::count_if(lab.log, [](const session::Command& command) {
      return std::holds_alternative<session::EditField>(command) ||
             std::holds_alternative<session::ForkRequest>(command);
    });
  };
  {  // What the user could do.
    LabDriver open(fixture::lab_view());
    open.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
    REQUIRE(edits(open) > 0);
  }
  for (const unsigned seed : {1u, 2u}) {
    LabDriver lab(fixture::lab_view());
    for (const Rule& rule : kRules) teaching_of(lab.state).kept.policy.set(rule.name, rule.hold);
    begin(lab, {});
    const classroom::ControlPolicy policy = teaching_of(lab.state).kept.policy;
    const std::string lr = lab.driver.value("settings/train.lr");
    lab.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
    fixture::RandomHand hand{lab.driver, lab.ui, lab.loop, lab.state, std::mt19937(seed)};
    for (int event = 0; event < fixture::events_wanted(300); ++event) {
      INFO("seed " << seed << ", event " << event);
      REQUIRE_NOTHROW(hand.act());
      REQUIRE(edits(lab) == 0);
      REQUIRE_FALSE(lab.ui.held(lab.ui.focused()));
      REQUIRE_FALSE(lab.ui.held(lab.ui.edit().name));
      REQUIRE(lab.state.screens.shown == Screen::Lab);
      for (const ui::Control& control : lab.ui.registry().all()) {
        REQUIRE(policy.decides(control.name) != Hold::Hidden);
        if (control.interactive && policy.decides(control.name) == Hold::Locked)
          REQUIRE_FALSE(control.enabled);
      }
      if (const ui::Control* rate = lab.ui.registry().find("settings/train.lr")) REQUIRE(rate->value == lr);
    }
    CHECK(teaching_of(lab.state).kept.lesson);
    CHECK(teaching_of(lab.state).kept.policy == policy);
  }
}

// The palette does not offer what a teacher locked.

TEST_CASE("palette: what a teacher locked is not offered") {
  LiveDriver lab;
  for (const char* rule :
       {"command", "diagram/preset", "settings/train.lr", "app/tab/lab", "app/tab/lessons"})
    teaching_of(lab.state).kept.policy.set(rule, ui::Hold::Locked);
  teaching_of(lab.state).code = "open sesame";
  classroom::begin_lesson(lab.ui, teaching_of(lab.state), lab.state.session);
  lab.driver.frames(3);
  int locked = 0;
  for (const PaletteItem& item : items_now(lab))
    locked += item.refusal == tr("locked by the teacher") ? 1 : 0;
  CHECK(locked > 20);
  for (const Screen screen : {Screen::Lab, screens_by_key().back()}) {
    lab.state.screens.shown = screen;
    lab.driver.frames(2);
    choose_all(lab, screen != Screen::Lab);
  }
}

// Presentation mode: larger and back, no bar, a ring around the mouse, a ring that grows on a click, a hint of two
// seconds; the tabs by their keys.

constexpr ui::Vec kProjector{2400, 1500};

}  // namespace

TEST_CASE("presentation: a quarter larger without the bar, and everything back afterwards") {
  for (const char* leave : {"Escape", "F5"}) {
    INFO(leave);
    LabDriver lab(fixture::lab_view(), kProjector, 1.1f);
    REQUIRE(lab.has("app/tab/lab"));
    const float before = lab.ui.scale();
    lab.key("F5");
    CHECK(lab.ui.scale() == Approx(before * 1.25f));
    CHECK_FALSE(lab.has("app/tab/lab"));
    CHECK_FALSE(lab.has("app/search"));
    CHECK(lab.has("transport/play"));
    lab.key(leave);
    CHECK_FALSE(fixture::classroom_of(lab.state).presentation.on);
    CHECK(lab.ui.scale() == before);
    CHECK(lab.state.look.scale == 1.1f);
    CHECK(lab.has("app/tab/lab"));
    CHECK_FALSE(lab.has("presentation/halo"));
  }
}

TEST_CASE("presentation: the palette begins it, and a small window takes the largest that fits") {
  LabDriver lab(fixture::lab_view(), {1024, 600});
  fixture::run_by_name(lab, "presentation mode");
  CHECK(fixture::classroom_of(lab.state).presentation.on);
  CHECK(lab.ui.scale() == Approx(1.f));
}

TEST_CASE("presentation: the halo stays with the mouse") {
  LabDriver lab(fixture::lab_view(), kProjector);
  lab.key("F5");
  lab.driver.move_to(ui::Vec{500, 352});
  lab.driver.frames(1);
  const ui::Vec centre = lab.driver.control("presentation/halo").rect.centre();
  CHECK(centre.x == Approx(500));
  CHECK(centre.y == Approx(352));
}

TEST_CASE("presentation: a click makes a ring that grows, none with reduced motion") {
  for (const bool still : {false, true}) {
    INFO("reduced motion " << still);
    LabDriver lab(fixture::lab_view(), kProjector);
    lab.state.look.reduced_motion = still;
    lab.driver.key("F5");
    lab.driver.move_to(ui::Vec{640, 8});
    lab.driver.press();
    lab.driver.frames(1);
    lab.driver.release();
    CHECK(lab.has("presentation/click") == !still);
    if (!still) {
      const float early = lab.driver.control("presentation/click").rect.w;
      lab.driver.frames(5);
      CHECK(lab.driver.control("presentation/click").rect.w > early);
    }
    lab.driver.frames(40);
    CHECK_FALSE(lab.has("presentation/click"));
  }
}

}  // namespace teacher_test
