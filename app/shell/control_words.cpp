// Turns every name of the registry into words for the palette (assets/words/controls.toml).
#include <fmt/format.h>

#include <cctype>
#include <span>
#include <string>
#include <vector>

#include "app/panels/panels.h"
#include "app/panels/plot_cell.h"
#include "app/shell/palette.h"
#include "app/words/words.h"
#include "training/spec/spec.h"

namespace normscope::shell {
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

// Turns "layers3-6" into "layers 3 to 6", and "hidden-norm" into "hidden norm".
std::string spelled(const std::string& part) {
  if (const std::string* words = words_for("part", part)) return *words;
  const bool layers = part.starts_with("layer");
  std::string out;
  for (size_t i = 0; i < part.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(part[i]));
    if (layers && digit && i > 0 && std::isalpha(static_cast<unsigned char>(part[i - 1]))) out += ' ';
    if ((part[i] == '-' || part[i] == '_') && std::islower(static_cast<unsigned char>(part[0])))
      out += layers ? " to " : " ";
    else
      out += part[i];
  }
  return out;
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
  return tr("{plot} plot: {what}", {{"plot", spelled(parts[1])}, {"what", what}});
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

/// Names controls of which there are many; empty: the name is spelled.
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
