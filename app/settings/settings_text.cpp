// These settings are typed as text: a list of steps, files, the names of the runs. The row shows the value and opens a
// box to type into. A text that cannot be a value is not posted, and the line below the box says why.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/settings/settings_rows.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/spec/spec.h"
#include "training/spec/update_rule.h"

namespace normscope::settings {

using namespace ui;
namespace fs = std::filesystem;

namespace {

const std::string& what_to_type(const Field& field) {
  if (field.key == "train.milestones") return tr("steps, as 100,200");
  return field.file ? tr("path, then Enter; empty: none") : tr("then Enter");
}

std::string refused_file(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return "";
  if (fs::exists(path, error)) return tr("{path} is no file", {{"path", path}});
  return tr("there is no file {path}", {{"path", path}});
}

}  // namespace

std::string refusal_of(const Field& field, const std::string& text, const LabView& view, int only) {
  for (size_t i = 0; i < view.runs.size(); ++i) {
    if (only >= 0 && static_cast<int>(i) != only) continue;
    try {
      RunSpec spec = *view.runs[i].spec;
      set_field(spec, field.key, text);
      validate(spec);
    } catch (const Error& error) {
      return words::spoken(without_where(error.message));  // the row names the key
    }
  }
  return field.file && !text.empty() ? refused_file(text) : "";
}

std::string display(const Field& field, const std::string& value) {
  if (field.key == "model.placement") {
    if (value == to_string(Placement::Custom)) return tr("custom");
    return words::spoken(label(placement_from(value)));
  }
  if (field.key == "train.optimizer") return words::spoken(rule_of(optimizer_from(value)).label);
  if (value == "xavier") return "Xavier";
  if (value == "normal002") return words::with_decimal("0.02");
  if (value == "ln") return "LN";
  if (value == "rms") return "RMS";
  if (field.type == FieldType::Integer) return grouped(std::strtoll(value.c_str(), nullptr, 10));
  if (field.type == FieldType::Real) return number(std::strtod(value.c_str(), nullptr), 4);
  return value;
}

std::string idle_because(const Field& field, const LabView& view) {
  Message reason;
  for (const RunView& run : view.runs) {
    reason = unused_reason(*run.spec, field.key);
    if (reason.empty()) return "";
  }
  if (reason.empty()) return "";
  const Field* decides = find_field(reason.places[0]);
  return words::spoken({"{} is {}: expected {}",
                        decides ? shown_as(*decides).label : reason.places[0].c_str(), reason.places[1],
                        reason.places[2]});
}

void Rows::open_text(const Field& field, const std::string& name, int only) {
  state.typed = field.get(*view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec);
  state.refusal.clear();
  ui.open_popup(name);
  ui.edit() = {name + "/text", state.typed, true};
}

void Rows::text_row(const Field& field, const std::string& name, const Rect& rect) {
  const char* label = shown_as(field).label;
  std::string value = field.get(*view.runs[0].spec);
  if (field.file) value = fs::path(value).filename().string();
  if (value.empty()) value = tr("none");
  const float room = rect.w - 34 - ui.paint().text_width({Face::Sans, type::body}, label);
  value = ui.paint().fit({Face::Mono, type::body}, value, room);
  if (row(ui, name, rect, label, "", value, help(field), true)) open_text(field, name, -1);
  text_box(field, name, rect, -1);
}

void Rows::text_box(const Field& field, const std::string& name, const Rect& row, int only) {
  if (!ui.popup_open(name)) return;
  constexpr float width = 320, line = 16;
  const TextStyle small{Face::Sans, type::tick};
  const std::string idle = idle_because(field, view);
  const std::string below = !state.refusal.empty() ? state.refusal
                            : !idle.empty()        ? tr("Not read now: {reason}.", {{"reason", idle}})
                            : field.live           ? tr("Acts at once, from the next step on.")
                                                   : tr("A change restarts the runs from step 0.");
  const float below_h = ui.paint().wrapped_height(width - 30, small, below, line);
  Rect box{row.x, row.bottom() + 4, width, 12 + 20 + 30 + below_h + 4};
  box.x = std::max(8.f, std::min(box.x, ui.size().x - 8 - box.w));
  if (box.bottom() > ui.size().y - 4) box.y = row.y - 4 - box.h;
  if (!ui.begin_popup(name, box)) return;
  Rect rest = box.inset(6);
  ui.paint().text_in(rest.take_top(20).inset(9, 0), small, ui.theme().ink3, words::spoken(field.label));
  const std::string control = name + "/text";
  const bool done =
      text_field(ui, control, rest.take_top(30).inset(0, 3), what_to_type(field), state.typed, help(field));
  const Rect told = rest.inset(9, 0);
  ui.paint().text_wrapped(told, small, state.refusal.empty() ? ui.theme().ink3 : ui.theme().ink, below, line);
  ui.mark(name + "/note", told, below, tr("What was not taken, and why; or when a change acts."));
  if (done) take_text(field, control, name, only);
  ui.end_popup();
}

// Posts what was typed, or keeps the box open for mending it; Escape leaves.
void Rows::take_text(const Field& field, const std::string& control, const std::string& popup, int only) {
  const std::string text = field.file ? with_home(state.typed) : state.typed;
  state.refusal = refusal_of(field, text, view, only);
  if (!state.refusal.empty()) {
    ui.edit() = {control, state.typed, true};
    return;
  }
  const RunSpec& spec = *view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec;
  if (text != field.get(spec)) edit(field, text, only);
  ui.focus(popup);
  ui.close_popup();
}

// Lists all names under one row, because names always differ.
void Rows::run_names(const Rect& rect) {
  const std::string name = "settings/run.name";
  const Field& field = *find_field("run.name");
  const std::string count = tr("{count} run | {count} runs", {{"count", view.runs.size()}});
  if (row(ui, name, rect, tr("names"), "", count, help(field), true)) ui.open_popup(name);
  if (!ui.popup_open(name)) return;
  constexpr float width = 300, pitch = 30;
  Rect list{rect.right() - width, rect.bottom() + 4, width,
            12 + pitch * static_cast<float>(view.runs.size())};
  list.x = std::max(list.x, 8.f);
  if (list.bottom() > ui.size().y - 4) list.y = rect.y - 4 - list.h;
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    Rect line = rest.take_top(pitch).inset(0, 3);
    tile(ui, centred(line.take_left(20, 6).centre(), 16, 16), run.letter - 'A');
    std::string typed = run.spec->name;
    if (text_field(ui, fmt::format("{}/{}", name, run.letter), line, default_name(*run.spec), typed,
                   help(field)) &&
        typed != run.spec->name)
      edit(field, typed, static_cast<int>(i));
  }
  ui.end_popup();
}

}  // namespace normscope::settings
