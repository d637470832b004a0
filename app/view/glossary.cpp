#include "app/view/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"

namespace normscope::view {
namespace {

constexpr const char* kPopup = "app/glossary";

bool names(std::string_view places, std::string_view place) {
  while (!places.empty()) {
    const size_t bar = places.find('|');
    if (places.substr(0, bar) == place) return true;
    places = bar == places.npos ? std::string_view{} : places.substr(bar + 1);
  }
  return false;
}

// Maps a control's name to the name that a term's `places` has: one run's value, or a lesson's offer of it, to the
// setting; both controls of a preset to the preset; a slot of any layer to the norm's setting.
std::string meaning_of(std::string_view place) {
  constexpr std::string_view kOffered = "lesson/challenge/";
  if (place.starts_with(kOffered))
    return meaning_of(fmt::format("settings/{}", place.substr(kOffered.size())));
  if (place.starts_with("settings/")) return std::string(place.substr(0, place.find('/', 9)));
  for (std::string_view list : {"diagram/preset/", "diagram/preset-more/"})
    if (place.starts_with(list)) return "preset/" + std::string(place.substr(list.size()));
  if (!place.starts_with("diagram/") || place.starts_with("diagram/kind/")) return std::string(place);
  if (place.ends_with("/skip-scale") || place.ends_with("/branch-scale")) return "scale";
  for (const char* slot : {"/before", "/after", "/stream", "diagram/final", "/final"})
    if (place.ends_with(slot)) return "settings/model.norm";
  if (place.ends_with("/embedding")) return "diagram/embedding";
  if (place.starts_with("diagram/layer") || place.starts_with("diagram/enc/layer"))
    return "settings/model.layers";
  return std::string(place);
}

struct Mark {
  const Term* term;
  ui::Rect rect;
  std::string control;   // "term/cosine"; "term/cosine/2" for the second line of a term in running text
  bool further = false;  // the term's second or later line, which Tab skips
};

// The titles of this frame that have an entry.
std::vector<Mark> marks_of(const ui::Ui& ui, const words::Language& words) {
  std::vector<Mark> marks;
  for (const ui::Control& c : ui.registry().all()) {
    if (!c.name.starts_with("title/")) continue;
    const std::string title = c.name.substr(6);
    const Term* term = term_at(title, words);
    if (!term) continue;
    const std::string first = fmt::format("term/{}", term->id);
    const bool further = title.starts_with(first + "/");
    marks.push_back({term, c.rect, further ? title : first, further});
  }
  return marks;
}

// The term that F1 opens: of the control in focus, else of the last drawn control under the mouse that has one.
const Term* asked_for(const ui::Ui& ui, const words::Language& words) {
  if (const Term* term = term_at(ui.focused(), words)) return term;
  const Term* found = nullptr;
  for (const ui::Control& c : ui.registry().all())
    if (c.rect.contains(ui.pointer()))
      if (const Term* term = term_at(c.name, words)) found = term;
  return found;
}

// Draws the open entry and returns the lesson whose button was pressed, else kNoLesson.
int draw_entry(ui::Ui& ui, const std::vector<Mark>& marks, const Term& term, std::string& open,
               const words::Language& words) {
  using namespace ui;
  const Theme& t = ui.theme();
  const float width = 380, line = 18, way = term.lesson == kNoLesson ? 0.f : 38.f;
  const TextStyle body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  const float text_h = ui.paint().wrapped_height(width - 32, body, term.text, line);
  const std::string source = source_text(term, words);
  const float source_h = ui.paint().wrapped_height(width - 32, small, source, 16);
  Rect box{(ui.size().x - width) / 2, 90, width, text_h + source_h + 62 + way};
  for (const Mark& mark : marks) {  // the entry opens below or above the term's title
    if (mark.term != &term) continue;
    box.x = std::min(mark.rect.x, ui.size().x - width - 8);
    box.y = mark.rect.bottom() + 2;
    if (box.bottom() > ui.size().y - 8) box.y = mark.rect.y - box.h - 2;
    break;
  }
  if (!ui.begin_popup(kPopup, box)) {
    open.clear();
    return kNoLesson;
  }
  Rect rest = box.inset(16, 12);
  const Rect below = rest.take_bottom(way);
  ui.paint().text_in(rest.take_top(24, 4), {Face::Bold, type::title}, t.ink, term.title);
  ui.mark("app/glossary/entry", rest, term.text, source);
  ui.paint().text_wrapped(rest.take_top(text_h, 6), body, t.ink2, term.text, line);
  ui.paint().text_wrapped(rest, small, t.ink3, source, 16);
  const bool asked = way > 0 && button(ui, "app/glossary/lesson", {below.x, below.bottom() - 28, 130, 28},
                                       words.tr("Open lesson {lesson}", {{"lesson", term.lesson}}),
                                       words.tr("The lesson that shows what this is."));
  if (asked) ui.close_popup();
  ui.end_popup();
  if (asked || !ui.popup_open(kPopup)) open.clear();
  return asked ? term.lesson : kNoLesson;
}

/// Reads an entry of assets/words; `keys` is the format of its keys from id and name: "glossary.{}.{}".
Term term_of(std::string_view id, const char* keys, const words::Language& said) {
  const auto text = [&](std::string_view what) {
    const std::string* found = said.find(fmt::format(fmt::runtime(keys), id, what));
    return found ? std::string_view(*found) : std::string_view{};
  };
  Term term{id, text("title"), text("text"), text("source"), text("places"), text("words")};
  const std::string_view lesson = text("lesson");
  std::from_chars(lesson.data(), lesson.data() + lesson.size(), term.lesson);
  return term;
}

std::vector<Term> terms_in(const words::Language& words) {
  std::vector<Term> terms;
  for (const auto& [file, keys] : {std::pair{"glossary", "glossary.{}.{}"}, {"norms", "norms.{}.term.{}"}})
    for (const std::string_view id : words::language("en").below(file))
      if (Term term = term_of(id, keys, words); !term.text.empty()) terms.push_back(term);
  return terms;
}

}  // namespace

std::span<const Term> glossary(const words::Language& words) {
  static words::Table<std::vector<Term>> all(terms_in);
  return all.in(words);
}

std::string source_text(const Term& term, const words::Language& words) {
  std::string source(term.source);
  if (term.lesson != kNoLesson) source += words.tr("; see lesson {lesson}", {{"lesson", term.lesson}});
  return source;
}

const Term* find_term(std::string_view id, const words::Language& words) {
  const auto all = glossary(words);
  const auto at = std::ranges::find(all, id, &Term::id);
  return at == all.end() ? nullptr : &*at;
}

std::string meaning(std::string_view id) {
  const Term* term = find_term(id);
  return term ? std::string(term->text) : "";
}

std::string first_sentence(std::string_view id) {
  const std::string text = meaning(id);
  return text.substr(0, text.find(". ") == text.npos ? text.npos : text.find(". ") + 1);
}

void tell_term(ui::Ui& ui, std::string_view where, const ui::Rect& rect, std::string_view id) {
  ui.tell(fmt::format("{}/term/{}", where, id), rect, "", first_sentence(id));
}

const Term* term_at(std::string_view place, const words::Language& words) {
  if (place.empty()) return nullptr;
  if (const size_t at = place.starts_with("term/") ? 0 : place.find("/term/"); at != place.npos) {
    const std::string_view id = place.substr(at + (at == 0 ? 5 : 6));
    return find_term(id.substr(0, id.find('/')), words);
  }
  const std::string meant = meaning_of(place);
  for (const Term& term : glossary(words))
    if (names(term.places, meant)) return &term;
  return nullptr;
}

int draw_glossary(ui::Ui& ui, std::string& open, const words::Language& words) {
  using namespace ui;
  const std::vector<Mark> marks = marks_of(ui, words);
  const ui::Ui::Group group(ui, "terms", "terms");
  for (const Mark& mark : marks) {
    const float y = mark.rect.centre().y + 8;
    ui.paint().dashed_line({mark.rect.x, y}, {mark.rect.right(), y}, ui.theme().ink3, 1, {1, 2});
    if (ui.registry().find(mark.control)) continue;  // two titles of one term: the first is the control
    const Rect area{mark.rect.x, mark.rect.centre().y - 12, mark.rect.w, 24};
    HitOptions options{.focusable = !mark.further};
    const std::string help = fmt::format("{}\n{}", mark.term->text, source_text(*mark.term, words));
    if (ui.hit(mark.control, area, mark.term->title, help, options).clicked) open = mark.term->id;
  }
  if (pressed(ui, Act::Glossary))
    if (const Term* term = asked_for(ui, words)) open = term->id;
  const Term* term = find_term(open, words);
  if (!term) return kNoLesson;
  if (!ui.popup_open(kPopup)) ui.open_popup(kPopup);
  return draw_entry(ui, marks, *term, open, words);
}

}  // namespace normscope::view
