#include "app/shell/palette.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "app/panels/panels.h"
#include "app/panels/plot_cell.h"
#include "app/settings/settings.h"
#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/io/text.h"
#include "training/spec/spec.h"

namespace normscope::shell {
namespace {

constexpr const char* kPalettePopup = "app/palette";
constexpr const char* kQueryField = "app/palette/query";
constexpr int kShown = 10;

bool in_order(std::string_view word, std::string_view text) {
  size_t at = 0;
  for (char c : text)
    if (at < word.size() && c == word[at]) ++at;
  return at == word.size();
}

// Finds `word` as one of `words`, or at the start of one; 0: neither.
int other_score(std::string_view word, std::string_view words) {
  int best = 0;
  for (size_t from = 0; from < words.size();) {
    const size_t end = std::min(words.find(' ', from), words.size());
    const std::string_view other = words.substr(from, end - from);
    if (other == word) return 90;
    if (word.size() > 1 && other.starts_with(word)) best = 50;
    from = end + 1;
  }
  return best;
}

constexpr int kScattered = 30;  // the word's letters in order, but not side by side

int word_score(const std::string& word, const std::string& title, const std::string& words,
               const std::string& help) {
  const size_t at = title.find(word);
  if (at == 0) return 100;
  const bool begins = at != title.npos && !std::isalnum(static_cast<unsigned char>(title[at - 1]));
  const int own = begins ? 80 : at != title.npos ? 60 : 0;
  if (const int best = std::max(own, other_score(word, words))) return best;
  if (word.size() > 1 && in_order(word, title)) return kScattered;
  return help.find(word) != help.npos ? 20 : 0;
}

bool is_own(std::string_view name) {
  return name.starts_with(kPalettePopup) || name == "app/search" || name.starts_with("term/");
}

struct Match {
  int score = 0;  // 0: none
  bool scattered = false;
};

Match match_of(std::string_view query, const PaletteItem& item) {
  const std::string title = small_letters(item.title), help = small_letters(item.help + " " + item.control);
  const std::string others = small_letters(item.words);
  std::istringstream words{small_letters(query)};
  Match found{small_letters(query) == title ? 100 : 1};
  for (std::string word; words >> word;) {
    const int score = word_score(word, title, others, help);
    if (score == 0) return {};
    found.score += score;
    found.scattered |= score == kScattered;
  }
  return found;
}

// Puts "warm-up of A" before "warm-up of C", however the screen drew them.
void put_runs_in_order(std::vector<PaletteItem>& items) {
  const auto stem = [](const PaletteItem& item) {
    const size_t size = item.title.size();
    const bool of_run = size > 5 && item.title.compare(size - 5, 4, " of ") == 0;
    return of_run ? item.title.substr(0, size - 1) : std::string();
  };
  for (auto from = items.begin(); from != items.end();) {
    const std::string words = stem(*from);
    auto to = from + 1;
    while (!words.empty() && to != items.end() && stem(*to) == words) ++to;
    std::sort(from, to, [](const PaletteItem& a, const PaletteItem& b) { return a.title < b.title; });
    from = to;
  }
}

// Asks for any run, because all runs of a Lab are transformers, or models of one other kind.
bool fits(Placement preset, const LabView& view) {
  return std::ranges::any_of(
      view.runs, [&](const RunView& run) { return view::preset_refusal(run.spec->model, preset).empty(); });
}

/// Looks for a control's whole name, or for its end after a '*'; nullptr where there are no words.
const std::string* words_of(std::string_view control) {
  const words::Language& said = words::of_window();
  const std::string* found = said.find(fmt::format("controls.other.{}", control));
  for (size_t slash = control.find('/'); !found && slash != control.npos;
       slash = control.find('/', slash + 1))
    found = said.find(fmt::format("controls.other.*{}", control.substr(slash)));
  return found;
}

// Other names of a control, separated by spaces, for a person who does not know our word (assets/words/controls.toml).
std::string other_words(std::string_view control) {
  if (const panels::PanelControl* own = panels::panel_control(control)) return std::string(own->words);
  constexpr std::string_view kTab = "plot/tab/";
  if (control.starts_with(kTab))
    for (const panels::Panel* panel : panels::tab_panels())
      if (control.substr(kTab.size()) == panel->place.tab) return panel->words;
  const panels::Panel* panel = panels::panel_of(control);
  const std::string more = panel && control.ends_with("/menu") ? std::string(" ") + panel->words : "";
  const std::string* found = words_of(control);
  return found ? *found + more : "";
}

/// Lets an item be found by its English text too, because papers, files and commands speak English in any window.
void find_by(PaletteItem& item, std::string_view english) {
  if (&words::of_window() != &words::language("en")) item.words += fmt::format(" {}", english);
}

/// The English text of a key; empty where the key has none.
std::string_view english(const std::string& key) {
  const std::string* text = words::language("en").find(key);
  return text ? std::string_view(*text) : std::string_view();
}

/// The English title of a control; empty where it is put together from parts.
std::string_view english_title(std::string_view control) {
  constexpr std::string_view kSetting = "settings/";
  if (control.starts_with(kSetting))
    if (const Field* field = find_field(control.substr(kSetting.size()))) return field->label;
  return english(fmt::format("controls.whole.{}", control));
}

/// The value beside a control's title. The diagram's slots call a kind of norm by its name in files.
std::string shown_value(std::string_view control, const std::string& value) {
  if (control.starts_with("diagram/"))
    for (const NormKind kind : kNormKinds)
      if (value == short_name(kind)) return std::string(view::kind_words(kind).name);
  return words::spoken(value);
}

}  // namespace

int match(std::string_view query, const PaletteItem& item) { return match_of(query, item).score; }

std::vector<const PaletteItem*> matches(std::string_view query, const std::vector<PaletteItem>& items) {
  std::vector<std::pair<Match, const PaletteItem*>> scored;
  for (const PaletteItem& item : items)
    if (const Match match = match_of(query, item); match.score > 0) scored.emplace_back(match, &item);
  // Beside items with the typed words, items with scattered letters are noise.
  if (std::ranges::any_of(scored, [](const auto& s) { return !s.first.scattered; }))
    std::erase_if(scored, [](const auto& s) { return s.first.scattered; });
  std::ranges::stable_sort(scored,
                           [](const auto& a, const auto& b) { return a.first.score > b.first.score; });
  std::vector<const PaletteItem*> found;
  for (const auto& [match, item] : scored) found.push_back(item);
  return found;
}

std::vector<PaletteItem> palette_items(const ui::Ui& ui, std::span<const lab::Elsewhere> elsewhere,
                                       const std::string& no_cuda, const LabView* view,
                                       const Refusal& refusal) {
  std::vector<PaletteItem> items;
  for (const view::Shortcut& s : view::shortcuts())
    if (s.command) {
      items.push_back({.title = std::string(s.title),
                       .detail = view::keys_text(s),
                       .help = std::string(s.help),
                       .act = s.act,
                       .words = std::string(s.words)});
      find_by(items.back(), english(fmt::format("shortcuts.{}.title", s.id)));
    }
  const auto add_control = [&](const std::string& name, const std::string& value, const std::string& help) {
    items.push_back({.title = control_title(name),
                     .detail = shown_value(name, value),
                     .help = help,
                     .control = name,
                     .words = other_words(name)});
    find_by(items.back(), english_title(name));
  };
  // A locked control stays in the list, because choosing it says who locked it.
  for (const ui::Control& c : ui.registry().all())
    if (c.interactive && (c.enabled || ui.held(c.name)) && !is_own(c.name))
      add_control(c.name, c.value, c.help);
  for (const lab::Elsewhere& e : elsewhere) add_control(e.name, "", e.help);
  // CUDA stays in the list where it cannot be chosen, with the reason.
  if (const ui::Control* cuda = ui.registry().find("app/backend/CUDA"); cuda && !no_cuda.empty())
    items.push_back({.title = control_title(cuda->name),
                     .detail = cuda->value,
                     .help = settings::not_here(no_cuda),
                     .refusal = settings::not_here(no_cuda)});
  put_runs_in_order(items);
  for (const Field& field : spec_fields()) {
    const std::string name = fmt::format("settings/{}", field.key);
    if (ui.registry().find(name) || !(view ? settings::has_row(field, *view) : settings::listed(field)))
      continue;
    items.push_back({.title = words::spoken(field.label),
                     .help = settings::spoken_help(field),
                     .control = name,
                     .words = other_words(name)});
    find_by(items.back(), english_title(name));
  }
  for (Placement placement : placements()) {
    if (view && !fits(placement, *view)) continue;
    const PlacementRow& row = row_of(placement);
    items.push_back({.title = tr("preset: {name}", {{"name", words::spoken(row.label)}}),
                     .help = words::spoken(row.formula),
                     .preset = placement,
                     .words = tr("placement architecture wiring")});
    find_by(items.back(), row.label);
  }
  for (const view::Term& term : view::glossary()) {
    items.push_back({.title = tr("What is meant by {term}?", {{"term", term.title}}),
                     .help = std::string(term.text),
                     .term = std::string(term.id),
                     .words = tr("glossary definition explain meaning dictionary")});
    find_by(items.back(), english(fmt::format("glossary.{}.title", term.id)));
  }
  if (refusal)
    for (PaletteItem& item : items) item.refusal = refusal(item);
  return items;
}

void open_palette(ui::Ui& ui, PaletteState& state) {
  state.query.clear();
  state.selected = 0;
  ui.open_popup(kPalettePopup);
  ui.edit() = {kQueryField, "", true};
}

namespace {

// Presses the chosen control when the palette's text field has let go of the keys.
void press_pending(ui::Ui& ui, PaletteState& state) {
  constexpr int kPatience = 12;  // frames that a control may take to come into sight
  if (state.pending.empty() || ui.typing() || ++state.wait < 2) return;
  if (!ui.registry().find(state.pending)) {
    if (state.wait > kPatience) state.pending.clear();
    return;
  }
  ui.focus(state.pending);
  ui.press(state.pending, /*alone=*/true);  // its line names one place
  state.pending.clear();
}

void draw_item(ui::Ui& ui, const ui::Rect& row, const PaletteItem& item, bool selected) {
  using namespace ui;
  Painter& p = ui.paint();
  if (selected) p.fill(row, ui.theme().trough, radius::field);
  Rect text = row.inset(10, 0);
  const TextStyle mono{Face::Mono, type::body};
  const std::string detail = p.fit(mono, item.detail, 130);
  const float width = p.text_width(mono, detail);
  p.text_in(text.take_right(width, 12), mono, ui.theme().ink3, detail);
  p.text_in(text, {selected ? Face::Bold : Face::Sans, type::body},
            item.refusal.empty() ? ui.theme().ink : ui.theme().ink3,
            p.fit({Face::Bold, type::body}, item.title, text.w));
}

// Draws two lines at most; the rest stands in the control's own tooltip.
void draw_help(ui::Ui& ui, const ui::Rect& foot, std::string help) {
  constexpr float kLine = 16;
  const ui::TextStyle style{ui::Face::Sans, ui::type::tick};
  const auto too_long = [&] { return ui.paint().wrapped_height(foot.w, style, help, kLine) > 2.5f * kLine; };
  if (too_long()) {
    const size_t sentence = help.find(". ");
    if (sentence != help.npos) help.resize(sentence + 1);
  }
  if (too_long())
    return void(ui.paint().text_in(foot, style, ui.theme().ink3, ui.paint().fit(style, help, foot.w)));
  ui.paint().text_wrapped(foot, style, ui.theme().ink3, help, kLine);
}

}  // namespace

std::optional<PaletteItem> draw_palette(ui::Ui& ui, PaletteState& state,
                                        const std::function<std::vector<lab::Elsewhere>()>& elsewhere,
                                        const std::string& no_cuda, const LabView& view,
                                        const Refusal& refusal) {
  using namespace ui;
  press_pending(ui, state);
  if (!ui.popup_open(kPalettePopup)) return {};
  const std::vector<PaletteItem> items = palette_items(ui, elsewhere(), no_cuda, &view, refusal);
  const float row_h = 26, width = 460;
  const Rect box{(ui.size().x - width) / 2, 60, width, 50 + row_h * kShown + 46};
  if (!ui.begin_popup(kPalettePopup, box)) return {};
  Rect rest = box.inset(10, 10);
  const std::string before = state.query;
  const bool committed =
      text_field(ui, kQueryField, rest.take_top(28, 8), tr("Find a control or command"), state.query,
                 tr("A few letters of a control, a command or a term; Enter runs the marked one."));
  if (state.query != before) state.selected = 0;
  const auto found = matches(state.query, items);
  const int count = static_cast<int>(found.size());
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++state.selected;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --state.selected;
  state.selected = std::clamp(state.selected, 0, std::max(0, count - 1));
  const int first = std::max(0, state.selected - kShown + 1);
  std::optional<PaletteItem> chosen;
  for (int i = first; i < std::min(count, first + kShown); ++i) {
    const Rect row = rest.take_top(row_h);
    const Hit hit =
        ui.hit(fmt::format("app/palette/{}", i - first), row, found[static_cast<size_t>(i)]->title,
               tr("Enter or a click runs it."), {.focusable = false, .tooltip = false});
    if (hit.clicked) chosen = *found[static_cast<size_t>(i)];
    draw_item(ui, row, *found[static_cast<size_t>(i)], i == state.selected || hit.hovered);
  }
  const Rect foot{box.x + 20, box.bottom() - 44, box.w - 40, 34};
  const PaletteItem* const marked = count ? found[static_cast<size_t>(state.selected)] : nullptr;
  draw_help(ui, foot,
            !marked                   ? tr("Nothing is called that.")
            : marked->refusal.empty() ? marked->help
                                      : marked->refusal);
  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  if (!chosen && enter && count && (committed || ui.edit().name != kQueryField))
    chosen = *found[static_cast<size_t>(state.selected)];
  if (chosen || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    ui.edit() = {};
    ui.close_popup();
  } else if (ui.edit().name.empty() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    ui.edit() = {kQueryField, state.query, true};  // typing goes on after Enter on nothing or a click beside
  }
  ui.end_popup();
  if (chosen && !chosen->control.empty() && chosen->refusal.empty()) {
    state.pending = chosen->control;
    state.wait = 0;
  }
  return chosen;
}

// ---- Turns every name of the registry into words for the palette (assets/words/controls.toml).

namespace {

using Parts = std::vector<std::string>;

/// Returns nullptr where assets/words/controls.toml has no words for the name.
const std::string* words_for(std::string_view kind, std::string_view name) {
  return words::of_window().find(fmt::format("controls.{}.{}", kind, name));
}

Parts parts_of(std::string_view name) {
  Parts parts;
  while (true) {
    const size_t slash = name.find('/');
    parts.emplace_back(name.substr(0, slash));
    if (slash == name.npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

// Turns "layers3-6" into "layers 3 to 6", and "over-time" into "over time".
std::string spelled(const std::string& part) {
  if (const std::string* words = words_for("part", part)) return *words;
  int first = 0, last = 0;
  if (std::sscanf(part.c_str(), "layers%d-%d", &first, &last) == 2)
    return tr("layers {first} to {last}", {{"first", first}, {"last", last}});
  if (std::sscanf(part.c_str(), "layer%d", &first) == 1) return tr("layer {layer}", {{"layer", first}});
  std::string out = part;
  if (std::islower(static_cast<unsigned char>(out[0])))
    std::ranges::replace_if(
        out, [](char c) { return c == '-' || c == '_'; }, ' ');
  return out;
}

/// What stands above a plot, by the id of its panel.
std::string plot_name(const std::string& id) {
  const panels::Panel* const panel = panels::find_panel("plot/" + id);
  if (!panel) return spelled(id);
  if (*panel->title || !panel->metric) return std::string(ui::shown_label(panel->title));
  const Number& metric = panels::info(*panel->metric);
  return std::string(
      ui::shown_label(panel->form == panels::Form::Strips ? metric.over_time : metric.by_layer));
}

// Turns "diagram/enc/layer2/attn/before" into "encoder layer 2, attention: norm before".
std::string place_in_diagram(std::span<const std::string> parts) {
  std::string place;
  if (parts[0] == "enc") {
    place = tr("encoder") + " ";
    parts = parts.subspan(1);
  }
  const std::string last = spelled(parts.back());
  parts = parts.first(parts.size() - 1);
  for (size_t i = 0; i < parts.size(); ++i) place += (i ? ", " : "") + spelled(parts[i]);
  if (parts.empty()) return place + last;
  return place + ": " + last;
}

std::string run_field(const Parts& parts) {
  const Field* field = parts.size() > 1 ? find_field(parts[1]) : nullptr;
  if (!field) return "";
  if (parts.size() < 3) return words::spoken(field->label);
  return tr("{field} of {run}", {{"field", words::spoken(field->label)}, {"run", parts[2]}});
}

// Turns "plot/loss/menu/csv" into "loss plot: save as CSV".
std::string plot_menu(const Parts& parts) {
  std::string what = tr("menu");
  if (parts.size() > 3)
    for (const panels::MenuEntry& entry : panels::menu_entries(false))
      if (entry.id == parts[3]) what = entry.label;
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  return tr("{plot} plot: {what}", {{"plot", plot_name(parts[1])}, {"what", what}});
}

/// Names a control that an add-on has many of, after the words of "tape/run/*": all but two of its parts are places.
std::string control_of_many(const Parts& parts) {
  if (parts.size() < 3) return "";
  std::string kind = parts[0] + "/" + parts[1];
  for (size_t i = 2; i < parts.size(); ++i) kind += "/*";
  const std::string* const words = words_for("kind", kind);
  const Field* const field = find_field(parts.back());
  if (!words || (!field && words->find("{field}") != words->npos)) return "";
  return words::say(fmt::format("controls.kind.{}", kind),
                    {{"run", parts[2]},
                     {"what", parts.size() == 3 ? parts[2] : spelled(parts.back())},
                     {"field", field ? words::spoken(field->label) : ""}});
}

std::string diagram_control(const Parts& parts) {
  const words::Place what{"what", parts.back()};
  if (parts.size() == 3 && parts[1] == "run") return tr("diagram of run {what}", {what});
  if (parts.size() == 3 && parts[1].starts_with("preset")) return tr("diagram: placement {what}", {what});
  return tr("diagram: {place}", {{"place", place_in_diagram(std::span(parts).subspan(1))}});
}

std::string plot_control(const Parts& parts) {
  const words::Place what{"what", parts.back()};
  if (parts.size() == 4 && parts[2] == "warmup") return tr("plot: end of the warm-up of {what}", {what});
  if (parts.size() == 3 && parts[1] == "tab") return tr("plot: show {what}", {what});
  return parts[2] == "menu" ? plot_menu(parts) : "";
}

/// The title of a control that exists many times, such as once per run; empty: the name is spelled.
std::string title_of_kind(const Parts& parts) {
  const std::string& first = parts[0];
  const size_t count = parts.size();
  if (first == "settings") {
    if (const std::string field = run_field(parts); !field.empty()) return field;
    if (count == 3) return tr("settings: edits are for run {run} too", {{"run", parts[2]}});
  }
  if (first == "run" && count == 2) return tr("run {run}", {{"run", parts[1]}});
  if (first == "split" && count == 2) return tr("border between {what}", {{"what", parts[1]}});
  if (first == "diagram" && count > 1) return diagram_control(parts);
  return first == "plot" && count > 2 ? plot_control(parts) : control_of_many(parts);
}

}  // namespace

std::string control_title(std::string_view name) {
  if (const std::string* words = words_for("whole", name)) return *words;
  if (const panels::PanelControl* own = panels::panel_control(name)) return std::string(own->title);
  const Parts parts = parts_of(name);
  std::string title = title_of_kind(parts);
  if (!title.empty()) return title;
  for (size_t i = parts[0] == "app" ? 1 : 0; i < parts.size(); ++i) {
    const bool head = title.empty();
    title += (head ? "" : title.find(':') == title.npos ? ": " : ", ") + spelled(parts[i]);
  }
  return title;
}

}  // namespace normscope::shell
