#include "addons/classroom/app/shell/classroom.h"

#include "training/io/codec.h"
#include "training/io/input_value.h"

namespace normscope::shell {

std::unique_ptr<WindowPart> make_classroom() { return std::make_unique<classroom::Classroom>(); }

namespace classroom {

// ---- a teacher's rules and code as a row of the session's table [window]

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
  static constexpr codec::Map kRules{ui::kMostRules, codec::Words{kHoldWords}};
  codec::Json write(const ui::ControlPolicy& policy) const { return kRules.write(policy.rules()); }
  void read(const InputValue& json, ui::ControlPolicy& policy) const {
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
