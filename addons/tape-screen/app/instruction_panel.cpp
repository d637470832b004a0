// The middle panel: title, sentence, formula and local rule, tensors, the check of one element, and its files.
#include <algorithm>

#include "addons/tape-screen/app/panels.h"

#include <imgui.h>

#include "addons/tape-screen/app/tape_writers.h"
#include "app/plot/plot_axis.h"
#include "app/ui/widgets.h"

namespace normscope::tape_screen {

using namespace ui;

struct InstructionPanel::Frame {
  ui::Ui& ui;
  const InstructionInput& given;
  const InstructionView* shown;   // null: there is none
  const ElementCheck* checked{};  // of the chosen element, or null
  InstructionRequest asked{};

  bool small() const { return given.part == Part::Rule; }
  /// The element that is checked, or will be checked next.
  std::optional<Element> element(const std::optional<Element>& chosen) const {
    if (chosen || !checked || !checked->fault.empty()) return chosen;
    return checked->element;
  }
};

/// A line of the list: a heading, or a tensor.
struct InstructionPanel::Row {
  const ShownTensor* tensor = nullptr;
  std::string name;  // "reads", "reads/0"
  float height = 0;
};

namespace {

constexpr float kFormulaSizes[] = {type::title, type::tick, 9.f};
constexpr float kFormulaGap = 18, kCheckHigh = 176, kCheckLow = 126;

/// Splits a formula at each \quad outside of all braces.
std::vector<std::string> parts_of(const std::string& source) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    if (depth == 0 && source.compare(i, 5, "\\quad") == 0) {
      parts.emplace_back();
      i += 4;
      continue;
    }
    depth += source[i] == '{' ? 1 : source[i] == '}' ? -1 : 0;
    parts.back() += source[i];
  }
  return parts;
}

constexpr float kPictureWide = 104, kHistogramWide = 76, kNumbersWide = 98, kBetween = 12, kMinLabel = 52;
constexpr float kHatch = 3;  // px of a stripe of the hatch, and between two

/// px; less for a vector, whose picture is a strip.
float picture_height(const ShownTensor& t, bool small) { return t.rows > 1 ? (small ? 36.f : 60.f) : 16.f; }
float row_height(const ShownTensor& t, bool small) { return t.rows > 1 ? (small ? 42.f : 68.f) : 36.f; }

void draw_cells(Ui& ui, const Rect& r, const ShownTensor& t) {
  Painter& p = ui.paint();
  const Theme& theme = ui.theme();
  const bool is_signed = t.summary.low < 0;
  std::array<Colour, 2 * kLevels + 1> colours{};
  for (size_t i = 0; i < colours.size(); ++i) {
    const float share = (static_cast<float>(i) - kLevels) / kLevels;
    colours[i] = is_signed ? signed_colour(theme, share) : mix(theme.panel, theme.ink2, std::abs(share));
  }
  const float wide = r.w / static_cast<float>(t.picture.columns),
              high = r.h / static_cast<float>(t.picture.rows);
  for (const Stripe& s : t.stripes) {
    const Rect cell{r.x + wide * static_cast<float>(s.first), r.y + high * static_cast<float>(s.row),
                    wide * static_cast<float>(s.end - s.first), high};
    if (s.level == kHatched) {
      p.hatch(cell, theme.error, kHatch, 2 * kHatch);
      continue;
    }
    p.fill(cell, colours[static_cast<size_t>(s.level + kLevels)]);
  }
}

void draw_histogram(Ui& ui, const Rect& r, const ShownTensor& t) {
  Painter& p = ui.paint();
  const uint32_t most = *std::ranges::max_element(t.summary.histogram);
  const float wide = r.w / static_cast<float>(kHistogramBins);
  for (size_t i = 0; i < kHistogramBins && most > 0; ++i) {
    const float share = static_cast<float>(t.summary.histogram[i]) / static_cast<float>(most);
    if (share <= 0) continue;
    const float high = std::max(1.f, share * r.h);
    p.fill({r.x + wide * static_cast<float>(i), r.bottom() - high, std::max(1.f, wide - 0.3f), high},
           ui.theme().ink2);
  }
  p.hairline({r.x, r.bottom()}, {r.right(), r.bottom()}, ui.theme().axis);
}

void draw_figures(Ui& ui, Rect r, const ShownTensor& t, size_t lines) {
  Painter& p = ui.paint();
  const Theme& theme = ui.theme();
  const TensorSummary& s = t.summary;
  const std::pair<std::string, double> figures[] = {
      {tr(t.id.gradient ? "norm" : "mean"), t.id.gradient ? s.norm : s.mean},
      {tr("sd"), s.deviation},
      {tr("from"), s.low},
      {tr("to"), s.high}};
  size_t first = 0;
  if (s.not_finite > 0) {
    p.text_in(r.take_top(14), kTickWords, theme.error, tr("not finite##figure"));
    p.text_in({r.x, r.y - 14, r.w, 14}, kTickMono, theme.error,
              fitting(p, kTickMono, r.w - 60, {grouped(static_cast<long long>(s.not_finite))}), Align::Right);
    ++first;
  }
  for (size_t i = first; i < std::min(lines, std::size(figures)); ++i) {
    const Rect line = r.take_top(14);
    const float label = p.text_in(line, kTickWords, theme.ink3, figures[i].first);
    p.text_in(
        line, kTickMono, theme.ink,
        fitting(p, kTickMono, line.w - label - 4,
                {number(figures[i].second), number(figures[i].second, 2), number(figures[i].second, 1)}),
        Align::Right);
  }
}

std::string spaced(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank; ++i) text += (i > 0 ? ", " : "") + grouped(shape[i]);
  return text + ")";
}

void draw_label(Ui& ui, const Rect& r, const ShownTensor& t) {
  Painter& p = ui.paint();
  const Theme& theme = ui.theme();
  const TextStyle sign{Face::Bold, type::run_name};
  Rect head{r.x, r.y, r.w, 18};
  const float width = std::min(head.w, p.text_width(sign, t.sign));
  p.text_in(head, sign, theme.ink, fitting(p, sign, head.w, {t.sign}));
  head.take_left(width + 7);
  // The name is shortened, "L01.attn.wq", "attn.wq", "wq"; under the mouse it is whole.
  const size_t layer = t.role.find('.'), last = t.role.rfind('.');
  const std::string in_layer = layer == t.role.npos ? t.role : t.role.substr(layer + 1),
                    alone = last == t.role.npos ? t.role : t.role.substr(last + 1);
  std::string beside = fitting(p, kTickWords, head.w, {t.role});
  if (beside.empty() && r.h < 50) beside = fitting(p, kTickWords, head.w, {in_layer, alone});
  p.text_in(head, kTickWords, theme.ink2, beside);
  float y = r.y + 19;
  if (beside.empty() && !t.role.empty() && r.h >= 50) {
    p.text_in({r.x, y, r.w, 14}, kTickWords, theme.ink2,
              fitting(p, kTickWords, r.w, {t.role, in_layer, alone}));
    y += 14;
  }
  if (y + 14 <= r.bottom() + 1)
    p.text_in({r.x, y, r.w, 14}, kTickMono, theme.ink3,
              fitting(p, kTickMono, r.w, {spaced(t.shape), to_string(t.shape)}));
}

std::string help_of(const ShownTensor& t) {
  std::string text = fmt::format("{} {}", t.name, to_string(t.shape));
  if (t.adds) text = tr("{tensor}, added to what others wrote", {{"tensor", text}});
  if (!t.there) return tr("{tensor}: nothing of this step is there yet.", {{"tensor", text}});
  text += ".";
  if (t.columns > 0 && t.rows * t.columns > t.picture.cells.size())
    text += " " + tr("Each cell shows the largest of its numbers.");
  return t.input >= 0 ? text + " " + tr("Click an element to check it.") : text;
}

/// The number under the mouse, where a cell is one.
std::string under_hand(const ShownTensor& t, const Rect& r, Vec mouse) {
  const auto column = static_cast<size_t>((mouse.x - r.x) / r.w * static_cast<float>(t.picture.columns)),
             row = static_cast<size_t>((mouse.y - r.y) / r.h * static_cast<float>(t.picture.rows));
  if (t.picture.cells.empty() || !r.contains(mouse) || row >= t.picture.rows || column >= t.picture.columns)
    return "";
  const float v = t.picture.cells[row * t.picture.columns + column];
  if (t.picture.rows == t.rows && t.picture.columns == t.columns)
    return "\n" + tr("position {row}, feature {column}: {value}",
                     {{"row", row}, {"column", column}, {"value", number(static_cast<double>(v), 4)}});
  return "\n" + tr("here: {value}", {{"value", number(static_cast<double>(v), 4)}});
}

constexpr double kMinError = 1e-16;  // for an error of zero on a logarithmic axis

std::optional<size_t> best_of(const NumericCheck& check) {
  const Difference* best = check.best_central();
  if (!best) return std::nullopt;
  return static_cast<size_t>(best - check.central.data());
}

const std::string& how_of(const NumericCheck& check) {
  return check.central.empty()
             ? tr("This norm holds a statistic constant on the way back. A difference would see it move, "
                  "so none is taken.")
             : tr("central differences of this instruction alone by its float32 kernels, added in float64; "
                  "rounding leaves 0.0001 to 0.001");
}

plot::Series errors_of(const std::vector<Difference>& all, const char* id, const char* name) {
  std::vector<std::pair<float, float>> points;
  for (const Difference& d : all)
    points.emplace_back(static_cast<float>(d.h), static_cast<float>(std::max(d.error, kMinError)));
  std::ranges::sort(points);
  std::vector<float> x, y;
  for (const auto& [h, error] : points) {
    x.push_back(h);
    y.push_back(error);
  }
  plot::Series series;
  series.id = id;
  series.name = name;
  series.x = plot::Column::of(std::move(x));
  series.y = plot::Column::of(std::move(y));
  series.markers = plot::Markers::All;
  series.marker = Marker::Circle;
  series.width = line::depth;
  series.end_marker = false;
  return series;
}

/// Spans whole decades around the numbers.
void set_decades(plot::Axis& axis, double low, double high) {
  axis.scale = plot::AxisScale::Log;
  axis.lo = std::pow(10, std::floor(std::log10(low) - 0.05));
  axis.hi = std::pow(10, std::ceil(std::log10(high) + 0.05));
  const int from = static_cast<int>(std::lround(std::log10(axis.lo))),
            to = static_cast<int>(std::lround(std::log10(axis.hi)));
  const int every = std::max(1, (to - from + 3) / 4);
  for (int e = from; e <= to; e += every) axis.ticks.push_back({std::pow(10, e), power_of_ten(e)});
}

size_t nearest_h(const std::vector<Difference>& all, double h) {
  size_t nearest = 0;
  for (size_t i = 1; i < all.size(); ++i)
    if (std::abs(std::log(all[i].h / h)) < std::abs(std::log(all[nearest].h / h))) nearest = i;
  return nearest;
}

size_t next_h(const std::vector<Difference>& all, size_t now, bool larger) {
  size_t next = now;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool beyond = larger ? all[i].h > all[now].h : all[i].h < all[now].h;
    const bool nearer = next == now || (larger ? all[i].h < all[next].h : all[i].h > all[next].h);
    if (beyond && nearer) next = i;
  }
  return next;
}

using nlohmann::json;

/// One sequence as the panel shows it: rows down, the colour up to the limit of the summary.
plot::PlotSpec picture_plot(const InstructionView& shown, const ShownTensor& t, const char* use) {
  plot::PlotSpec plot{.id = fmt::format("tape-{}-{}", use, t.name)};
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
  plot::HeatMap heat{.rows = static_cast<int>(t.picture.rows),
                     .columns = static_cast<int>(t.picture.columns),
                     .signed_data = true,
                     .stretched = true,
                     .full = t.summary.limit > 0 ? static_cast<float>(t.summary.limit) : 1.f};
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
  json one = t.there ? to_json(t.summary) : json::object();
  one["use"] = use;
  one["sign"] = t.sign;
  one["tensor"] = t.name;
  one["shape"] = std::vector<int64_t>(t.shape.dim, t.shape.dim + t.shape.rank);
  one["there"] = t.there;
  return one;
}

bool is_checked(const ElementCheck* checked) { return checked && checked->fault.empty(); }

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
  if (is_checked(checked)) all["check"] = to_json(checked->check);
  return all.dump(1);
}

}  // namespace

/// Takes as few lines as the width allows, and a smaller size where one part alone is too wide.
void InstructionPanel::typeset(const Painter& p, Typeset& set, const std::string& source, float width,
                               float largest) const {
  if (set.source == source && set.width == width && set.largest == largest) return;
  set = {source, width, largest, 0, {}};
  if (source.empty()) return;
  const auto measure = [&](TextStyle style, std::string_view text) { return p.text_width(style, text); };
  std::vector<tex::Layout> boxes;
  for (const float px : kFormulaSizes) {
    if (px > largest) continue;
    boxes.clear();
    for (const std::string& part : parts_of(source))
      boxes.push_back(tex::layout(tex::parse(part), px, true, measure));
    if (std::ranges::all_of(boxes, [&](const tex::Layout& box) { return box.width <= width; })) break;
  }
  for (size_t first = 0; first < boxes.size();) {
    size_t end = first;
    float x = 0, ascent = 0, descent = 0;
    while (end < boxes.size() && (end == first || x + boxes[end].width <= width)) {
      set.pieces.push_back({{x, 0}, boxes[end]});
      x += boxes[end].width + kFormulaGap;
      ascent = std::max(ascent, boxes[end].ascent);
      descent = std::max(descent, boxes[end].descent);
      ++end;
    }
    for (size_t i = first; i < end; ++i) set.pieces[i].at.y = set.height + ascent;
    set.height += ascent + descent + (end < boxes.size() ? 6.f : 0.f);
    first = end;
  }
}

/// Keeps the chosen element while the shown value has it.
void InstructionPanel::settle(Frame& f) {
  const InstructionView& shown = *f.shown;
  if (shown.step != step_ || shown.instruction != instruction_) first_ = 0;
  if (shown.step != step_ || shown.node != node_) {
    h_.reset();
    dragging_h_ = false;
    view_.reset();
  }
  step_ = shown.step;
  instruction_ = shown.instruction;
  node_ = shown.node;
  if (chosen_) {
    const ShownTensor* t = input_of(shown, chosen_->input);
    if (!t || chosen_->row >= static_cast<int64_t>(t->rows) ||
        chosen_->column >= static_cast<int64_t>(t->columns))
      chosen_.reset();
  }
  const ElementCheck* checked = f.given.checked.get();
  if (checked && checked->step == shown.step && checked->node == shown.node && checked->asked == chosen_ &&
      checked->asked_sequence == shown.sequence)
    f.checked = checked;
}

InstructionRequest InstructionPanel::draw(Ui& ui, const Rect& rect, const InstructionInput& given,
                                          ScreenRequests& desk) {
  Frame f{ui, given, given.shown.get()};
  hovered_.reset();
  if (given.head <= 0) panel(ui, rect, {});
  Rect rest = rect.inset(space::pad, 0);
  rest.h -= 8;
  rest.take_top(given.head);
  if (!f.shown) {
    ui.mark("tape/instruction", rect, given.nothing, tr("The instruction under the play head."));
    rest.take_top(12);
    ui.paint().text_wrapped(rest, kBodyWords, ui.theme().ink2, given.nothing, 17);
    return f.asked;
  }
  settle(f);
  ui.mark("tape/instruction", rect,
          fmt::format("{} {}: {}", f.shown->title, f.shown->name, f.shown->sentence),
          tr("The instruction under the play head: what it does, its formula, what it reads and "
             "writes."));
  save_menu(ui, "tape/instruction", rect, tr("this instruction, its tensors and its check"),
            {fmt::format("tape-{}-{}", f.shown->instruction, f.shown->name),
             [&] { return instruction_plots(*f.shown, f.checked); },
             [&] { return instruction_csv(*f.shown, f.checked); },
             [&] { return instruction_json(*f.shown, f.checked); }},
            desk);
  draw_head(f, rest);
  if (given.part != Part::Tensors) {
    draw_formulas(f, rest);
    const float check = std::min(f.small() ? kCheckLow : kCheckHigh, rest.h);
    draw_check(f, rest.take_bottom(check, 6));
  }
  draw_tensors(f, rest);
  if (f.shown->can_check && !f.checked && given.part != Part::Tensors) f.asked.check = chosen_;
  return f.asked;
}

void InstructionPanel::draw_head(Frame& f, Rect& rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  Rect row = rest.take_top(f.given.head > 0 ? 28.f : space::title_row);
  if (f.given.head <= 0) row.take_right(30);  // room for the menu
  const std::string& title = f.shown->title;
  const std::string fits = fitting(p, kTitleBold, row.w, {title, title.substr(0, title.rfind(','))});
  row.take_left(p.text_in(row, kTitleBold, t.ink, fits) + 10);
  p.text_in(row, kBodyMono, t.ink2, fitting(p, kBodyMono, row.w, {f.shown->name}));
  const std::pair<const std::string&, TextStyle> lines[] = {{f.shown->sentence, kBodyBold},
                                                            {f.shown->note, kBodyWords}};
  for (const auto& [text, style] : lines) {
    const float high = text.empty() ? 0 : p.wrapped_height(rest.w, style, text, 17);
    if (high > 0 && high <= rest.h)
      p.text_wrapped(rest.take_top(high, 1), style, style.face == Face::Bold ? t.ink : t.ink2, text, 17);
  }
  rest.take_top(7);
}

namespace {

/// Room for the longer label and a space, so that the formulas of both stand below each other.
float formula_indent(const Painter& p, std::span<const std::string> labels) {
  float widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, p.text_width(kTickWords, label));
  return widest + 14;
}

}  // namespace

void InstructionPanel::draw_formulas(Frame& f, Rect& rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const std::string labels[] = {f.shown->phase == Phase::Update ? tr("computes") : tr("forward"),
                                tr("local rule")};
  const float indent = formula_indent(p, labels);
  const float width = rest.w - indent - 24;
  const float largest = f.small() ? type::tick : type::title;
  typeset(p, forward_, f.shown->formula, width, largest);
  typeset(p, rule_, f.shown->rule, width, largest);
  const bool has_rule = !f.shown->rule.empty();
  const float high = forward_.height + 20 + (has_rule ? rule_.height + 12 : 0);
  if (high > rest.h) return;
  Rect box = rest.take_top(high, 10);
  p.fill(box, t.sunk, 6);
  f.ui.mark(
      "tape/instruction/formula", box,
      has_rule ? tr("{formula}; backward: {rule}", {{"formula", f.shown->formula}, {"rule", f.shown->rule}})
               : f.shown->formula,
      f.shown->source.empty()
          ? f.shown->shapes
          : tr("{shapes}. Source: {source}", {{"shapes", f.shown->shapes}, {"source", f.shown->source}}));
  // The pieces of a formula overlap, so they are not recorded as texts of the screen.
  ScreenPainter quiet = f.ui.paint_unrecorded();
  box = box.inset(12, 10);
  const std::pair<const std::string&, const Typeset*> sets[] = {{labels[0], &forward_}, {labels[1], &rule_}};
  for (const auto& [label, set] : sets) {
    if (set->pieces.empty() || set->source.empty()) continue;
    const Rect part = box.take_top(set->height, 12);
    const float baseline = part.y + set->pieces.front().at.y;
    p.text({part.x, baseline}, kTickWords, t.ink3, label);
    for (const Typeset::Piece& piece : set->pieces)
      tex::draw(quiet, piece.layout, Vec{part.x + indent, part.y} + piece.at, t.ink);
  }
}

void InstructionPanel::draw_tensors(Frame& f, Rect rect) {
  std::vector<Row> rows;
  const auto add = [&](const char* name, const std::vector<ShownTensor>& list) {
    if (list.empty()) return;
    if (!f.small()) rows.push_back({nullptr, name, 22});
    for (size_t i = 0; i < list.size(); ++i) {
      const ShownTensor& t = list[i];
      // A small panel shows inputs and outputs, and no parameters.
      const bool matters = t.rows > 1 && (t.input >= 0 || t.id.gradient || f.shown->phase == Phase::Forward);
      if (!f.small() || matters)
        rows.push_back({&t, fmt::format("{}/{}", name, i), row_height(t, f.small())});
    }
  };
  add("reads", f.shown->reads);
  add("writes", f.shown->writes);
  const size_t first = scroll(f, rect, rows);
  for (size_t i = first; i < rows.size() && rows[i].height <= rect.h; ++i) {
    const Rect place = rect.take_top(rows[i].height);
    if (rows[i].tensor)
      draw_tensor(f, place, rows[i]);
    else
      draw_heading(f, place, rows[i]);
  }
  if (f.shown->left_out > 0 && rect.h >= 18)
    f.ui.paint().text_in(rect.take_top(18), kTickWords, f.ui.theme().ink3,
                         tr("and {more} more", {{"more", f.shown->left_out}}));
}

/// Serves the wheel and a bar for mouse and keys where not all rows fit. It returns the row to begin with.
size_t InstructionPanel::scroll(Frame& f, Rect& rect, const std::vector<Row>& rows) {
  float whole = 0;
  for (const Row& row : rows) whole += row.height;
  if (whole <= rect.h || rows.empty()) return 0;
  float tail = 0;
  size_t last = rows.size();  // the first row from which on all fit
  while (last > 0 && tail + rows[last - 1].height <= rect.h) tail += rows[--last].height;
  last = std::min(last, rows.size() - 1);
  Ui& ui = f.ui;
  if (rect.contains(ui.mouse())) first_ -= static_cast<int>(std::lround(ImGui::GetIO().MouseWheel));
  const Rect bar = rect.take_right(13, 2).moved(4, 0);
  const Hit hit =
      ui.hit("tape/tensors/scroll", bar, fmt::format("{}", first_),
             tr("More tensors stand below: wheel, drag, or arrow keys."), {.arrows = Arrows::Either});
  const auto steps = static_cast<float>(last);
  const float thumb = std::max(24.f, bar.h * rect.h / whole), way = std::max(1.f, bar.h - thumb);
  if (hit.held) first_ = static_cast<int>(std::lround((ui.mouse().y - bar.y - thumb / 2) / way * steps));
  first_ = std::clamp(first_ - hit.arrow_y + hit.arrow_x, 0, static_cast<int>(last));
  const float at = bar.y + (last > 0 ? static_cast<float>(first_) / steps : 0) * way;
  ui.paint().fill({bar.centre().x - 2, at, 4, std::min(thumb, bar.h)},
                  hit.hovered || hit.held ? ui.theme().ink3 : ui.theme().control, 2);
  return static_cast<size_t>(first_);
}

/// Draws "reads" or "writes", and at the first heading the choice of the sequence in the pictures.
void InstructionPanel::draw_heading(Frame& f, Rect rect, const Row& row) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  rect.take_left(p.text_in(rect, kTickWords, t.ink3, tr(row.name)) + 10);
  const bool chooses = f.shown->sequences > 1 && (row.name == "reads" || f.shown->reads.empty());
  if (chooses) {
    auto sequence = static_cast<double>(f.shown->sequence + 1);
    const std::string of = tr("of {all}", {{"all", grouped(f.shown->sequences)}});
    FieldOptions options{.lo = 1, .hi = static_cast<double>(f.shown->sequences), .step = 1, .integer = true};
    options.most = options.hi;
    options.unit = of;
    options.track = false;
    const float wide = std::min(rect.w, 112 + p.text_width(kTickWords, of));
    if (field(f.ui, "tape/instruction/sequence", rect.take_right(wide, 10).inset(0, 1), tr("sequence"),
              sequence,
              tr("Which sequence of the batch the pictures are of: positions down, features across."),
              options) != ui::Change::None)
      f.asked.sequence = static_cast<int64_t>(sequence) - 1;
    const std::string axes = fitting(p, kTickWords, rect.w - 20, {tr("positions down, features across")});
    if (!axes.empty()) p.text_in(rect, kTickWords, t.ink3, axes, Align::Right);
    if (!axes.empty()) rect.take_right(p.text_width(kTickWords, axes) + 10);
  }
  p.hairline({rect.x, rect.centre().y}, {rect.right(), rect.centre().y}, t.border);
}

void InstructionPanel::draw_tensor(Frame& f, Rect rect, const Row& row) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& theme = ui.theme();
  const ShownTensor& t = *row.tensor;
  if (rect.contains(ui.mouse())) hovered_ = t.id;
  rect = rect.inset(0, 3);
  const Rect numbers = rect.take_right(kNumbersWide, kBetween);
  const Rect picture = {rect.right() - kPictureWide, rect.y, kPictureWide, picture_height(t, f.small())};
  rect.take_right(kPictureWide, kBetween);
  if (rect.w >= kHistogramWide + kBetween + kMinLabel) {
    const Rect column = rect.take_right(kHistogramWide, kBetween);
    const Rect histogram{column.x, column.y, column.w, std::min(column.h - 1, 52.f)};
    if (t.there)
      draw_histogram(ui, histogram, t);
    else
      p.fill(histogram, theme.trough, 3);
  }
  draw_label(ui, rect, t);
  const size_t lines = static_cast<size_t>(numbers.h / 14);
  if (t.there) {
    draw_figures(ui, numbers, t, lines);
  } else {
    p.text_in({numbers.x, numbers.y, numbers.w, 14}, kTickWords, theme.ink3, tr("not there yet"));
    if (lines > 1) p.fill({numbers.x, numbers.y + 18, numbers.w, 6}, theme.trough, 3);
  }
  p.fill(picture, t.there ? theme.panel : theme.trough);
  if (t.there && !t.picture.cells.empty()) draw_cells(ui, picture, t);
  p.outline(picture, theme.border);
  hold_picture(f, picture, row);
}

/// A click chooses the element under the mouse; the arrow keys move on from it.
void InstructionPanel::hold_picture(Frame& f, const Rect& r, const Row& row) {
  Ui& ui = f.ui;
  const ShownTensor& t = *row.tensor;
  const std::string name = "tape/" + row.name;
  const std::optional<Element> element = f.element(chosen_);
  const bool ours = element && t.input >= 0 && element->input == t.input;
  const std::string value =
      ours ? tr("position {row}, feature {column}", {{"row", element->row}, {"column", element->column}})
           : "";
  if (t.input < 0 || !t.there || t.columns == 0) {
    ui.mark(name, r, t.name, help_of(t));
    if (r.contains(ui.mouse())) ui.tooltip(help_of(t) + (t.there ? under_hand(t, r, ui.mouse()) : ""));
    return;
  }
  const Hit hit = ui.hit(name, r, value, help_of(t), {.arrows = Arrows::Both, .tooltip = false, .radius = 2});
  if (hit.hovered) ui.tooltip(help_of(t) + under_hand(t, r, ui.mouse()));
  const auto rows = static_cast<int64_t>(t.rows), columns = static_cast<int64_t>(t.columns);
  const auto choose = [&](int64_t at_row, int64_t at_column) {
    chosen_ = Element{t.input, std::clamp<int64_t>(at_row, 0, rows - 1),
                      std::clamp<int64_t>(at_column, 0, columns - 1)};
    f.checked = nullptr;
  };
  if (hit.clicked && !hit.by_key)
    choose(static_cast<int64_t>((ui.mouse().y - r.y) / r.h * static_cast<float>(rows)),
           static_cast<int64_t>((ui.mouse().x - r.x) / r.w * static_cast<float>(columns)));
  if (hit.arrow_x != 0 || hit.arrow_y != 0)
    choose((ours ? element->row : 0) - hit.arrow_y, (ours ? element->column : 0) + hit.arrow_x);
  const int64_t of = f.checked && !chosen_ ? f.checked->sequence : f.shown->sequence;
  if (!ours || of != f.shown->sequence) return;
  const Vec at{r.x + r.w * (static_cast<float>(element->column) + 0.5f) / static_cast<float>(columns),
               r.y + r.h * (static_cast<float>(element->row) + 0.5f) / static_cast<float>(rows)};
  Painter& p = ui.paint();
  p.ring(at, 6, ui.theme().inverse, 2);
  p.accent_disc(ui.theme(), at, 4.5f);
  p.circle(at, 1.5f, ui.theme().on_accent);
}

plot::PlotSpec error_plot(const ElementCheck& checked, std::optional<size_t> h) {
  const NumericCheck& check = checked.check;
  plot::PlotSpec plot{.id = "tape-check", .title = tr("Error of the difference")};
  plot.note = fmt::format("{}, {}[{}]", check.node, check.input, check.element);
  plot.sentence = how_of(check);
  plot.x.label = tr("step h");
  plot.y.label = tr("relative error");
  plot.pad_left = 48;
  plot::Extent steps, errors;
  for (const std::vector<Difference>* all : {&check.central, &check.refined})
    for (const Difference& d : *all) {
      steps.add(d.h);
      if (std::isfinite(d.error)) errors.add(std::max(d.error, kMinError));
    }
  set_decades(plot.x, steps.empty() ? 1e-4 : steps.low, steps.empty() ? 1 : steps.high);
  set_decades(plot.y, errors.empty() ? 1e-8 : errors.low, errors.empty() ? 1 : errors.high);
  if (!check.central.empty()) {
    plot.series.push_back(errors_of(check.central, "central", ""));
    plot.series.push_back(errors_of(check.refined, "refined", ""));
    plot.series.back().ink = {plot::Ink::Role::Ink3, 0, 1};
    plot.series.back().dash = Dash{4, 3};
  }
  for (plot::Series& series : plot.series) series.end_label = false;
  const std::vector<Difference>& all = check.central;
  if (h && *h < all.size() && std::isfinite(all[*h].error))
    plot.handles.push_back({.name = "h",
                            .x = all[*h].h,
                            .y = std::max(all[*h].error, kMinError),
                            .help = tr("The step of the difference. Drag it, or use the arrow keys."),
                            .value = number(all[*h].h)});
  return plot;
}

void InstructionPanel::draw_check(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
  rect.take_top(f.small() ? 4.f : 10.f);
  Rect head = rect.take_top(26, 6);
  const float title = p.text_in(head, kTitleBold, t.ink, tr("Check one element"));
  const InstructionView& shown = *f.shown;
  const ElementCheck* checked = f.checked;
  const std::string why = !shown.can_check ? tr("No gradient passes through this instruction.")
                          : checked && !checked->fault.empty() ? checked->fault
                                                               : "";
  std::string value = why;
  if (why.empty() && checked) {
    const NumericCheck& check = checked->check;
    value = fmt::format("{}/{}[{}]: {}", check.node, check.input, check.element, number(check.analytic, 6));
  }
  ui.mark("tape/check", {rect.x, head.y, rect.w, rect.bottom() - head.y}, value,
          tr("The gradient of one element: as the kernel computes it, and from differences."));
  if (!why.empty()) {
    if (p.wrapped_height(rect.w, kBodyWords, why, 17) <= rect.h)
      p.text_wrapped(rect, kBodyWords, t.ink2, why, 17);
    return;
  }
  head.take_left(title + 14);
  draw_fields(f, head);
  Rect numbers = rect.take_left(std::round(rect.w * 0.47f), 10);
  draw_numbers(f, numbers);
  draw_errors(f, rect);
}

/// Draws the indices of the checked element, yellow like the ring on the picture.
void InstructionPanel::draw_fields(Frame& f, Rect row) {
  const std::optional<Element> element = f.element(chosen_);
  const ShownTensor* t = element ? input_of(*f.shown, element->input) : nullptr;
  if (!t) return;
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const auto one = [&](const char* name, const std::string& label, int64_t now, size_t count, bool more,
                       const std::string& help) {
    auto value = static_cast<double>(now);
    FieldOptions options{.lo = 0, .hi = static_cast<double>(count - 1), .step = 1, .integer = true};
    options.most = options.hi;
    options.track = false;
    constexpr float kField = 44, kFurther = 56 + kField;  // the field, and the labelled one after it
    const float words = p.text_width(kBodyWords, label) + 5;
    const bool labelled = row.w >= words + kField + (more ? kFurther : 0);
    const float wide = (labelled ? words : 0) + kField;
    if (row.w < wide) return now;
    Rect place = row.take_left(wide, 8);
    if (labelled) p.text_in(place.take_left(words), kBodyWords, ui.theme().ink2, label);
    p.fill(place, ui.theme().accent_soft, radius::field);
    const ui::Change change = field(ui, name, place.inset(0, 1), "", value, help, options);
    p.outline(place.inset(0, 1), ui.theme().accent, 2, radius::field);
    return change == ui::Change::None ? now : static_cast<int64_t>(value);
  };
  Element next = *element;
  if (t->rows > 1)
    next.row = one("tape/check/position", tr("position"), element->row, t->rows, true,
                   tr("Row of the element in the picture, from 0. Drag, type, or use the arrow keys."));
  next.column = one("tape/check/feature", tr("feature"), element->column, t->columns, false,
                    tr("Column of the element in the picture, from 0. Drag, type, or use the arrow keys."));
  if (next == *element) return;
  chosen_ = next;
  f.checked = nullptr;
}

void InstructionPanel::draw_numbers(Frame& f, Rect rect) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  if (!f.checked) {
    for (int i = 0; i < 3; ++i) p.fill(rect.take_top(18).inset(0, 5), t.trough, 3);
    return;
  }
  const NumericCheck& check = f.checked->check;
  const std::vector<Difference>& all = check.central;
  const std::optional<size_t> h = h_ && *h_ < all.size() ? h_ : best_of(check);
  struct Line {
    std::string label, value;
    bool strong = false;
  };
  std::vector<Line> lines{{tr("analytic"), number(check.analytic, 6)}};
  if (h) {
    lines.push_back({tr("numeric"), number(all[*h].numeric, 6)});
    lines.push_back({tr("relative error"), number(all[*h].error, 2), true});
    lines.push_back({tr("at h"), number(all[*h].h, 2)});
  }
  if (const Difference* refined = check.best_refined())
    lines.push_back({tr("refined"), number(refined->error, 2)});
  for (const Line& line : lines) {
    if (rect.h < 17) return;
    const Rect row = rect.take_top(17);
    const TextStyle style = line.strong ? kBodyBold : kBodyWords;
    const float label = p.text_width(style, line.label);
    const std::string value = fitting(p, kBodyMono, row.w - label - 6, {line.value});
    p.text_in(row, style, line.strong ? t.ink : t.ink2, fitting(p, style, row.w, {line.label}));
    p.text_in(row, kBodyMono, t.ink, value, Align::Right);
  }
  rect.take_top(6);
  const std::string how = how_of(check);
  if (p.wrapped_height(rect.w, kTickWords, how, 14) <= rect.h)
    p.text_wrapped(rect, kTickWords, t.ink3, how, 14);
}

void InstructionPanel::draw_errors(Frame& f, const Rect& rect) {
  if (!f.checked || rect.h < 50) return;
  const NumericCheck& check = f.checked->check;
  const std::vector<Difference>& all = check.central;
  const std::optional<size_t> now = h_ && *h_ < all.size() ? h_ : best_of(check);
  const plot::PlotHit hit =
      plot::draw_plot(f.ui, "tape/check/plot", rect, error_plot(*f.checked, now), view_,
                      tr("The relative error against the step h; dashed: in double precision."));
  if (!hit.handle || !now) return;
  if (!hit.handle_done || dragging_h_) {
    h_ = nearest_h(all, hit.handle_x);
    dragging_h_ = !hit.handle_done;
  } else {
    h_ = next_h(all, *now, hit.handle_x > all[*now].h);
  }
}

}  // namespace normscope::tape_screen
