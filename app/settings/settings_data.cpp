// The row "data" says what the runs learn from. Its list has the tasks that fit their architecture, and a field for the
// user's own file, which may also be dropped on the window.
#include <fmt/format.h>

#include <algorithm>

#include "app/settings/settings_rows.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/files/places.h"

namespace normscope::settings {

using namespace ui;

namespace {

// What the list calls a kind of data, or the field of a file: settings.toml has their words.
const std::string& label_of(std::string_view source) {
  return words::say(fmt::format("settings.data.{}.label", source));
}
const std::string& help_of(std::string_view source) {
  return words::say(fmt::format("settings.data.{}.help", source));
}

bool fits(const RunSpec& spec, std::string_view key, std::string_view value) {
  try {
    RunSpec trial = spec;
    set_field(trial, key, value);
    validate(trial);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void Rows::data(const Rect& rect) {
  const std::string name = "settings/data.name";
  const Field& field = *find_field("data.name");
  const std::string help =
      tr("{help} A change restarts all runs from step 0.", {{"help", spoken_help(field)}});
  const TextStyle mono{Face::Mono, type::body};
  const char* const label = shown_as(field).label;
  const float room = rect.w - 34 - ui.paint().text_width({Face::Sans, type::body}, label);
  const std::string data_name = words::spoken(view.data_name);
  const std::string shown =
      view.data_name == "built-in sentences" && ui.paint().text_width(mono, data_name) > room
          ? tr("built-in")
          : ui.paint().fit(mono, data_name, room);
  if (row(ui, name, rect, label, "", shown, help, true)) {
    ui.open_popup(name);
    const RunSpec& spec = *view.runs[0].spec;
    state.path = spec.data.name == "text" ? spec.data.text_path : "";
  }
  data_list(rect, name);
}

void Rows::data_list(const Rect& place, const std::string& name) {
  if (!ui.popup_open(name)) return;
  const RunSpec& spec = *view.runs[0].spec;
  std::vector<std::string_view> sources, files;
  for (const TaskKind* kind : task_kinds())
    if (!kind->made_up.empty() && (kind->name == spec.data.name || fits(spec, "data.name", kind->name)))
      sources.push_back(kind->name);
  for (const TaskKind* kind : task_kinds())
    if (!kind->file.empty() && fits(spec, kind->file, "file")) files.push_back(kind->file);
  constexpr float h = 26, caption = 20, field = 30;
  const float height =
      12 + h * static_cast<float>(sources.size()) + (caption + field) * static_cast<float>(files.size());
  Rect list{place.right() - 300, place.bottom() + 4, 300, height};
  list.x = std::max(list.x, 8.f);
  if (list.bottom() > ui.size().y - 4) list.y = place.y - 4 - list.h;
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  for (const std::string_view source : sources) {
    const bool own = spec.data.name == source && !path_of(spec.data).empty();  // a file under that name
    const bool now = spec.data.name == source && !own;
    ButtonOptions o;
    o.quiet = o.left = true;
    o.style = {now ? Face::Bold : Face::Sans, type::body};
    if (!button(ui, fmt::format("{}/{}", name, source), rest.take_top(h).inset(0, 1), label_of(source),
                help_of(source), o))
      continue;
    if (!now)
      commands.emplace_back(own ? session::EditField{-1, std::string(kind_of(spec.data).file), ""}
                                : session::EditField{-1, "data.name", std::string(source)});
    ui.close_popup();
  }
  for (const std::string_view file : files) {
    ui.paint().text_in(rest.take_top(caption).inset(9, 0), {Face::Sans, type::tick}, ui.theme().ink3,
                       label_of(file));
    const Rect box = rest.take_top(field).inset(0, 3);
    if (!text_field(ui, fmt::format("{}/{}", name, file), box, tr("path, then Enter"), state.path,
                    help_of(file)))
      continue;
    if (!state.path.empty())
      commands.emplace_back(session::EditField{-1, std::string(file), with_home(state.path)});
    ui.close_popup();
  }
  ui.end_popup();
}

}  // namespace normscope::settings
