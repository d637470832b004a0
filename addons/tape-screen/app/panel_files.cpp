// The middle and the right panel become files by their menu: pictures as plots, numbers as CSV and JSON.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "addons/tape-screen/app/instruction_panel.h"
#include "addons/tape-screen/app/memory_panel.h"
#include "addons/tape-screen/app/panel_frame.h"
#include "addons/tape-screen/app/tape_writers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {
namespace {

using nlohmann::json;

/// One sequence as the panel shows it: rows down, the colour up to the limit of the summary.
plot::PlotSpec picture_plot(const InstructionView& shown, const ShownTensor& t, const char* use) {
  plot::PlotSpec plot;
  plot.id = fmt::format("tape-{}-{}", use, t.name);
  for (char& c : plot.id)
    if (c == ' ' || c == '/') c = '-';
  plot.title = fmt::format("{} {}", t.sign, t.name);
  plot.note = tr("{use} by {name}, instruction {instruction}",
                 {{"use", tr(use)}, {"name", shown.name}, {"instruction", shown.instruction}});
  plot.sentence = tr("mean {mean}, sd {deviation}, from {low} to {high}, size {norm}",
                     {{"mean", ui::significant(t.summary.mean, 4)},
                      {"deviation", ui::significant(t.summary.deviation, 4)},
                      {"low", ui::significant(t.summary.low, 4)},
                      {"high", ui::significant(t.summary.high, 4)},
                      {"norm", ui::significant(t.summary.norm, 4)}});
  plot.x.label = tr("feature");
  plot.x.hi = static_cast<double>(t.columns);
  plot.y.label = shown.sequences > 1 ? tr("position, sequence {sequence} of {all}",
                                          {{"sequence", shown.sequence + 1}, {"all", shown.sequences}})
                                     : tr("row");
  plot.y.hi = static_cast<double>(t.rows);
  plot.y.show_labels = false;
  plot::HeatMap heat;
  heat.rows = static_cast<int>(t.picture.rows);
  heat.columns = static_cast<int>(t.picture.columns);
  heat.stretched = heat.signed_data = true;
  heat.full = t.summary.limit > 0 ? static_cast<float>(t.summary.limit) : 1.f;
  heat.label = tr("colour: the number; where a cell stands for several, the largest");
  heat.row_first = "0";
  heat.row_last = fmt::format("{}", t.rows - 1);
  heat.cells = plot::Column::of(t.picture.cells);
  plot.heat = std::move(heat);
  return plot;
}

std::string tensor_line(const ShownTensor& t, const char* use) {
  std::string text = fmt::format("{},{},{},{},{}", use, plot::csv_field(t.sign), plot::csv_field(t.name),
                                 plot::csv_field(to_string(t.shape)), t.there ? "yes" : "no");
  const TensorSummary& s = t.summary;
  if (!t.there) return text + ",,,,,,,\n";
  return text + fmt::format(",{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{}\n", s.mean, s.deviation, s.low, s.high,
                            s.norm, s.count, s.not_finite);
}

json tensor_json(const ShownTensor& t, const char* use) {
  json one = t.there ? tape::to_json(t.summary) : json::object();
  one["use"] = use;
  one["sign"] = t.sign;
  one["tensor"] = t.name;
  one["shape"] = std::vector<int64_t>(t.shape.dim, t.shape.dim + t.shape.rank);
  one["there"] = t.there;
  return one;
}

bool is_checked(const ElementCheck* checked) { return checked && checked->fault.empty(); }

}  // namespace

std::string save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what) {
  const std::vector<ui::FileRow> rows{
      {"svg", tr("Save as SVG"),
       tr("Saves {what} in the pictures folder, as a drawing that is sharp at any size.", {{"what", what}})},
      {"png", tr("Save as PNG"), tr("Saves {what} in the pictures folder, as a picture.", {{"what", what}})},
      {"csv", tr("Save as CSV"),
       tr("Saves {what} in the pictures folder, as a table of all numbers.", {{"what", what}})},
      {"json", tr("Save as JSON"),
       tr("Saves {what} in the pictures folder, with all that is known.", {{"what", what}})}};
  return ui::file_menu(ui, name + "/menu", {panel.right() - 36, panel.y + 6, 24, 24},
                       tr("Save {what} as SVG, PNG, CSV or JSON.", {{"what", what}}), rows);
}

std::vector<plot::PlotSpec> instruction_plots(const InstructionView& shown, const ElementCheck* checked) {
  std::vector<plot::PlotSpec> plots;
  const std::pair<const std::vector<ShownTensor>*, const char*> sides[] = {{&shown.reads, "read"},
                                                                           {&shown.writes, "written"}};
  for (const auto& [list, use] : sides)
    for (const ShownTensor& t : *list)
      if (t.there && t.picture.rows > 0) plots.push_back(picture_plot(shown, t, use));
  if (is_checked(checked)) plots.push_back(error_plot(*checked));
  return plots;
}

std::string instruction_csv(const InstructionView& shown, const ElementCheck* checked) {
  std::string text = "use,sign,tensor,shape,there,mean,sd,from,to,norm,count,not finite\n";
  for (const ShownTensor& t : shown.reads) text += tensor_line(t, "read");
  for (const ShownTensor& t : shown.writes) text += tensor_line(t, "written");
  if (!is_checked(checked)) return text;
  const NumericCheck& check = checked->check;
  text += fmt::format("\ncheck,{}\nanalytic,{:.9g}\ndifference,h,numeric,relative error\n",
                      plot::csv_field(fmt::format("{}/{}[{}]", check.node, check.input, check.element)),
                      check.analytic);
  const std::pair<const std::vector<Difference>*, const char*> both[] = {{&check.central, "central"},
                                                                         {&check.refined, "refined"}};
  for (const auto& [all, name] : both)
    for (const Difference& d : *all)
      text += fmt::format("{},{:.9g},{:.9g},{:.9g}\n", name, d.h, d.numeric, d.error);
  return text;
}

std::string instruction_json(const InstructionView& shown, const ElementCheck* checked) {
  json all = {{"instruction", shown.instruction}, {"name", shown.name},       {"title", shown.title},
              {"phase", to_string(shown.phase)},  {"formula", shown.formula}, {"rule", shown.rule},
              {"sentence", shown.sentence},       {"note", shown.note},       {"tensors", json::array()}};
  for (const ShownTensor& t : shown.reads) all["tensors"].push_back(tensor_json(t, "reads"));
  for (const ShownTensor& t : shown.writes) all["tensors"].push_back(tensor_json(t, "writes"));
  if (is_checked(checked)) all["check"] = tape::to_json(checked->check);
  return all.dump(1);
}

std::string memory_json(const MemoryMap& map) { return tape::to_json(map).dump(1); }

void InstructionPanel::save(Frame& f, const std::string& ending) {
  const std::string name = fmt::format("tape-{}-{}.{}", f.shown->instruction, f.shown->name, ending);
  if (ending == "csv") f.asked.file = {name, instruction_csv(*f.shown, f.checked)};
  if (ending == "json") f.asked.file = {name, instruction_json(*f.shown, f.checked)};
  if (ending == "svg" || ending == "png")
    saves_.push_back(
        {std::make_shared<const std::vector<plot::PlotSpec>>(instruction_plots(*f.shown, f.checked)),
         {},
         ending == "svg" ? view::PlotFormat::Svg : view::PlotFormat::Png});
}

void MemoryPanel::save(Frame& f, const std::string& ending) {
  if (ending == "csv") f.asked.file = {"tape-memory.csv", memory_csv(f.map)};
  if (ending == "json") f.asked.file = {"tape-memory.json", memory_json(f.map)};
  if (ending == "svg" || ending == "png")
    saves_.push_back({std::make_shared<const std::vector<plot::PlotSpec>>(1, memory_plot(f.map)),
                      {},
                      ending == "svg" ? view::PlotFormat::Svg : view::PlotFormat::Png});
}

}  // namespace normscope::tape_screen
