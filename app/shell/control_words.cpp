// What the palette calls a control: every name of the registry in words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "app/panels/panels.h"
#include "app/panels/plot_cell.h"
#include "app/shell/palette.h"
#include "training/spec/spec.h"

namespace normscope::shell {
namespace {

using Parts = std::vector<std::string>;

struct ControlWords {
  std::string_view name, words;
};

constexpr ControlWords kWhole[] = {
    {"app/tab/lab", "Lab"},
    {"app/tab/lessons", "Lessons"},
    {"app/tab/compare", "Compare"},
    {"app/tab/sweep", "Sweep"},
    {"app/tab/tape", "Tape"},
    {"app/help", "hands and keys"},
    {"app/theme", "theme"},
    {"app/scale", "size of everything"},
    {"app/backend", "train on CPU or CUDA"},
    {"app/backend/CPU", "train on the CPU"},
    {"app/backend/CUDA", "train on CUDA"},
    {"app/tf32", "TF32 products on CUDA"},
    {"app/offer/accept", "take the offer"},
    {"app/offer/close", "close the offer"},
    {"lab/luck", "Is it luck?"},
    {"lab/left", "diagram or settings"},
    {"lab/left/Diagram", "show the diagram"},
    {"lab/left/Settings", "show the settings"},
    {"settings/scroll", "settings: scroll"},
    {"diagram/collapse", "diagram: collapse the open layer"},
    {"diagram/enc/collapse", "diagram: collapse the encoder's open layer"},
    {"diagram/preset", "diagram: placement"},
    {"diagram/preset-more", "diagram: more placements"},
    {"diagram/stack", "diagram: encoder or decoder"},
    {"plot/tab", "plot: which one"},
    {"plot/matrix", "plot by layer: which matrix"},
    {"plot/matrix-over-time", "plot over time: which matrix"},
    {"plot/stack", "plot by layer: encoder or decoder"},
    {"plot/stack-over-time", "plot over time: encoder or decoder"},
    {"transport/budget", "transport: budget of steps"},
    {"transport/pace", "transport: budget and speed"},
    {"compare/align", "compare: what stands on the axis"},
    {"compare/seeds", "compare: five seeds"},
    {"compare/range", "compare: which steps"},
    {"compare/matrix", "compare: which matrix"},
    {"compare/factor", "compare: from which factor on runs part"},
    {"compare/tab", "compare: what stands at the right"},
    {"lesson/course", "lesson: the whole course"},
    {"lesson/lab", "lesson: open in the Lab"},
    {"sweep/grid", "sweep: the cells"},
    {"sweep/rest", "sweep: what the axes do not change"},
    {"sweep/form", "sweep: as command, Slurm array or GNU parallel"},
    {"sweep/copy", "sweep: copy the text to run it elsewhere"},
    {"sweep/open", "sweep: open the cell in the Lab"},
    {"sweep/play", "sweep: train or pause"},
    {"sweep/metric", "sweep: what the colour is"},
    {"sweep/key/low", "sweep: low end of the colours"},
    {"sweep/key/high", "sweep: high end of the colours"},
    {"sweep/left", "sweep: grid, axes or text"},
    {"sweep/right", "sweep: cell or region"},
    {"sweep/region/seeds", "sweep: seeds of the brushed region"},
    {"sweep/region/narrow", "sweep: narrow the axes to the region"},
    {"sweep/region/clear", "sweep: let the region go"},
    {"sweep/export/csv", "sweep: save as CSV"},
    {"sweep/export/svg", "sweep: save as SVG"},
    {"sweep/export/json", "sweep: save as JSON"},
    {"tape/once", "tape: play one step"},
    {"tape/follow", "tape: follow the newest step"},
    {"tape/changes", "tape: what the change of the wiring did"},
    {"tape/fold", "tape: the fold"},
    {"tape/fold/menu", "tape: save the fold"},
    {"tape/fold/menu/svg", "tape: save the fold as SVG"},
    {"tape/fold/menu/csv", "tape: save the fold as CSV"},
    {"tape/fold/menu/json", "tape: save the fold as JSON"},
    {"tape/head", "tape: the play head"},
    {"tape/finite", "tape: the first number that is not finite"},
    {"tape/first", "tape: to the first instruction"},
    {"tape/play", "tape: play or pause"},
    {"tape/next", "tape: one instruction on"},
    {"tape/speed", "tape: how fast it plays"},
    {"tape/timeline", "tape: the instructions of the step"},
    {"tape/tab", "tape: rule, tensors or memory"},
    {"tape/instruction/menu", "tape: save the instruction"},
    {"tape/instruction/sequence", "tape: sequence of the pictures"},
    {"tape/tensors/scroll", "tape: scroll the tensors"},
    {"tape/check/position", "tape: position of the checked element"},
    {"tape/check/feature", "tape: feature of the checked element"},
    {"tape/check/plot/h", "tape: step of the difference"},
    {"tape/memory/menu", "tape: save the memory plan"},
    {"tape/memory/plan", "tape: which memory plan"},
    {"tape/memory/map", "tape: the buffers"},
    {"tape/memory/flag", "tape: the play head in the memory plan"},
};

// Parts of a name that are no words of their own.
constexpr ControlWords kParts[] = {
    {"attn", "attention"},        {"ffn", "feed-forward"},
    {"cross", "cross-attention"}, {"before", "norm before"},
    {"after", "norm after"},      {"trunk", "norm on the stream"},
    {"final", "final norm"},      {"embedding", "norm on the embedding"},
    {"skip", "leave out"},        {"rate", "learning rate"},
    {"conv", "convolution"},      {"hidden", "hidden layer"},
    {"class", "classes"},
};

template <size_t N>
std::string_view find(const ControlWords (&table)[N], std::string_view name) {
  const auto at =
      std::find_if(std::begin(table), std::end(table), [&](const ControlWords& w) { return w.name == name; });
  return at == std::end(table) ? std::string_view{} : at->words;
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

// "layers3-6" -> "layers 3 to 6", "hidden-norm" -> "hidden norm".
std::string spelled(const std::string& part) {
  if (const std::string_view words = find(kParts, part); !words.empty()) return std::string(words);
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

// "diagram/enc/layer2/attn/before" -> "encoder layer 2, attention: norm before".
std::string place_in_diagram(std::span<const std::string> parts) {
  std::string place;
  if (parts[0] == "enc") {
    place = "encoder ";
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
  return parts.size() > 2 ? fmt::format("{} of {}", field->label, parts[2]) : std::string(field->label);
}

// "plot/loss/menu/csv" -> "loss plot: save as CSV".
std::string plot_menu(const Parts& parts) {
  std::string what = "menu";
  if (parts.size() > 3)
    for (const lab::MenuEntry& entry : lab::menu_entries(false))
      if (entry.id == parts[3]) what = entry.label;
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  return fmt::format("{} plot: {}", spelled(parts[1]), what);
}

}  // namespace

std::string control_title(std::string_view name) {
  if (const std::string_view words = find(kWhole, name); !words.empty()) return std::string(words);
  if (const lab::PanelControl* own = lab::panel_control(name)) return std::string(own->title);
  const Parts parts = parts_of(name);
  const std::string& first = parts[0];
  const size_t count = parts.size();
  if (first == "settings")
    if (const std::string field = run_field(parts); !field.empty()) return field;
  if (first == "settings" && count == 3) return fmt::format("settings: edits are for run {} too", parts[2]);
  if (first == "sweep" && count == 4 && find_field(parts[3]))
    return fmt::format("sweep: {} goes over the {}", parts[1] == "up" ? "up" : "across",
                       find_field(parts[3])->label);
  if (first == "tape" && count == 3 && parts[1] == "run")
    return fmt::format("tape: a step of run {}", parts[2]);
  if (first == "tape" && count == 3 && (parts[1] == "reads" || parts[1] == "writes"))
    return fmt::format("tape: tensor {} that it {}", parts[2], parts[1]);
  if (first == "tape" && count == 3 && parts[1] == "row") return "tape: go to " + parts[2];
  if (first == "tape" && count == 3 && parts[1] == "open") return "tape: open or close " + parts[2];
  if (first == "run" && count == 2) return fmt::format("run {}", parts[1]);
  if (first == "split" && count == 2) return fmt::format("border between {}", parts[1]);
  if (first == "diagram" && count == 3 && parts[1] == "run")
    return fmt::format("diagram of run {}", parts[2]);
  if (first == "diagram" && count == 3 && parts[1].starts_with("preset"))
    return fmt::format("diagram: placement {}", parts[2]);
  if (first == "diagram" && count > 1) return "diagram: " + place_in_diagram(std::span(parts).subspan(1));
  if (first == "compare" && count > 2 && parts[1] == "run")
    return count == 3   ? fmt::format("compare: {} as the baseline", parts[2])
           : count == 4 ? fmt::format("compare: another run as {}", parts[2])
                        : fmt::format("compare: {} in the place of {}", spelled(parts[4]), parts[2]);
  if (first == "compare" && count == 3 && parts[1] == "place")
    return fmt::format("compare: first place of {}", parts[2]);
  if (first == "compare" && count == 3 && parts[1] == "map")
    return fmt::format("compare: map of {}", parts[2]);
  if (first == "plot" && count == 4 && parts[2] == "warmup")
    return fmt::format("plot: end of the warm-up of {}", parts[3]);
  if (first == "plot" && count == 3 && parts[1] == "tab") return "plot: show " + parts[2];
  if (first == "plot" && count > 2 && parts[2] == "menu") return plot_menu(parts);
  std::string title;
  for (size_t i = first == "app" ? 1 : 0; i < count; ++i) {
    const bool head = title.empty();
    title += (head ? "" : title.find(':') == title.npos ? ": " : ", ") + spelled(parts[i]);
  }
  return title;
}

}  // namespace normscope::shell
