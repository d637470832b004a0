// The tensors that an instruction reads and writes have a sign, a histogram, a picture of one sequence, and numbers.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "addons/tape-screen/app/instruction_panel.h"
#include "addons/tape-screen/app/panel_frame.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr float kPictureWide = 104, kHistogramWide = 76, kNumbersWide = 98, kBetween = 12, kLeastLabel = 52;
constexpr float kHatch = 3;  // px of a stripe of the hatch, and between two

/// Less for a vector, whose picture is a strip.
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

}  // namespace

void InstructionPanel::draw_tensors(Frame& f, Rect rect) {
  std::vector<Row> rows;
  const auto add = [&](const char* name, const std::vector<ShownTensor>& list) {
    if (list.empty()) return;
    if (!f.small()) rows.push_back({nullptr, name, 22});
    for (size_t i = 0; i < list.size(); ++i) {
      const ShownTensor& t = list[i];
      // A small panel shows what comes and what goes, and no parameters.
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

/// Serves the wheel and a bar for hand and keys where not all rows fit. It returns the row to begin with.
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
  HitOptions options;
  options.arrows = true;
  const Hit hit = ui.hit("tape/tensors/scroll", bar, fmt::format("{}", first_),
                         tr("More tensors stand below: wheel, drag, or arrow keys."), options);
  const auto steps = static_cast<float>(last);
  const float thumb = std::max(24.f, bar.h * rect.h / whole), way = std::max(1.f, bar.h - thumb);
  if (hit.held) first_ = static_cast<int>(std::lround((ui.mouse().y - bar.y - thumb / 2) / way * steps));
  first_ = std::clamp(first_ - hit.arrow_y + hit.arrow_x, 0, static_cast<int>(last));
  const float at = bar.y + (last > 0 ? static_cast<float>(first_) / steps : 0) * way;
  ui.paint().fill({bar.centre().x - 2, at, 4, std::min(thumb, bar.h)},
                  hit.hovered || hit.held ? ui.theme().ink3 : ui.theme().strong, 2);
  return static_cast<size_t>(first_);
}

/// Says "reads" or "writes", and over the first which sequence the pictures are of.
void InstructionPanel::draw_heading(Frame& f, Rect rect, const Row& row) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  rect.take_left(p.text_in(rect, kTickWords, t.ink3, tr(row.name)) + 10);
  const bool chooses = f.shown->sequences > 1 && (row.name == "reads" || f.shown->reads.empty());
  if (chooses) {
    auto sequence = static_cast<double>(f.shown->sequence + 1);
    const std::string of = tr("of {all}", {{"all", grouped(f.shown->sequences)}});
    FieldOptions options{.lo = 1, .hi = static_cast<double>(f.shown->sequences), .step = 1, .integer = true};
    options.hard_hi = true;
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
  if (rect.w >= kHistogramWide + kBetween + kLeastLabel) {
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

/// Lets a click choose the element under the ring, and arrows go on from there.
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
  HitOptions options;
  options.arrows = true;
  options.tooltip = false;
  options.radius = 2;
  const Hit hit = ui.hit(name, r, value, help_of(t), options);
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

}  // namespace normscope::tape_screen
