// What belongs to each sub-layer, beside its row of the map: the share of the stream that it added, how far it turned
// the stream, what its gradient is, and what the model loses without it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "addons/inside/app/grid.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr float kColumn = 104, kGap = 12, kNumber = 58;

/// One number for each sub-layer.
struct Column {
  const char *id, *title, *help;
  std::function<double(const Inside::Sublayer&)> value;
};

/// The norm of the gradients of a sub-layer's matrices together.
double gradient_of(const Inside& found, const std::string& sublayer) {
  double square = 0;
  for (const Inside::Gradient& gradient : found.gradients)
    if (gradient.name.starts_with(sublayer + ".")) square += gradient.norm * gradient.norm;
  return std::sqrt(square);
}

double without(const Inside& found, const std::string& sublayer) {
  for (const Inside::LeftOut& left : found.left_out)
    if (left.name == sublayer) return left.loss - found.loss;
  return std::numeric_limits<double>::quiet_NaN();
}

/// As many as there is room for, the ones that say most first.
std::vector<Column> columns_of(const GridInput& given) {
  const Inside& found = given.inside.found;
  const bool dominated = dominant_of(found).has_value();
  std::vector<Column> columns{
      {dominated ? "share_median" : "share", dominated ? "own share, median" : "own share",
       dominated ? "β² of the sub-layer's own branch, by token: which share of the variance of a token's "
                   "state the branch has added to it, the median over the tokens. One token dominates here: "
                   "over all tokens together β² says what this one does."
                 : "β² of the sub-layer's own branch: which share of the variance of the stream behind it "
                   "the branch itself has added (Liu et al. 2020). Hover a row for the others below.",
       [=](const Inside::Sublayer& s) { return own_share(s, dominated); }}};
  if (!found.left_out.empty())
    columns.push_back({"without", "loss without it",
                       "How many nats the loss rises when the sub-layer is left out. Next to nothing in the "
                       "upper layers of a deep Pre-LN model: its depth is diluted (Su 2022).",
                       [&](const Inside::Sublayer& s) { return without(found, s.name); }});
  if (!found.gradients.empty())
    columns.push_back(
        {"gradient", "gradient",
         "The size ‖g‖ of the loss's gradient for all matrices of the sub-layer together, on this "
         "text.",
         [&](const Inside::Sublayer& s) { return gradient_of(found, s.name); }});
  columns.push_back({"turn", "turn",
                     "1 minus the cosine between the stream before and behind the sub-layer, a mean over the "
                     "tokens. 0: the sub-layer changed nothing about the direction.",
                     [](const Inside::Sublayer& s) { return 1 - s.layer_cosine; }});
  columns.resize(std::min(columns.size(), static_cast<size_t>(given.columns)));
  return columns;
}

}  // namespace

float columns_width(const GridInput& given) {
  return static_cast<float>(columns_of(given).size()) * (kColumn + kGap) - kGap;
}

void draw_columns(Ui& ui, const Rect& rest, const Rect& cells, const GridInput& given) {
  const Inside& found = given.inside.found;
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  const float height = cells.h / static_cast<float>(rows_of(found));
  Rect room = rest;
  for (const Column& column : columns_of(given)) {
    const Rect place = room.take_left(kColumn, kGap);
    const std::string title = tr(column.title);
    const Rect head{place.x, place.y - kHeadOfGrid, place.w, kHeadOfGrid};
    ui.mark(fmt::format("inside/column/{}/{}", column.id, given.letter),
            {head.x, head.y, place.w, place.h + kHeadOfGrid}, title, tr(column.help));
    p.text_in(head, kTick, t.ink2, title);
    double most = 0;
    for (const Inside::Sublayer& s : found.sublayers)
      if (std::isfinite(column.value(s))) most = std::max(most, std::fabs(column.value(s)));
    for (size_t i = 0; i < found.sublayers.size(); ++i) {
      const Inside::Sublayer& s = found.sublayers[i];
      const double value = column.value(s);
      const Rect line{place.x, cells.bottom() - height * static_cast<float>(i + 2), place.w, height};
      if (!std::isfinite(value)) continue;
      const bool chosen = given.selected.row == static_cast<int>(i) + 1, worded = height >= 11;
      const float room_of = worded ? place.w - kNumber : place.w;
      const auto length = static_cast<float>(most > 0 ? std::fabs(value) / most : 0) * room_of;
      const Colour colour = value < 0 ? t.signed_low : t.depth[2];
      p.fill({line.x, line.y + std::max(0.5f, height * 0.18f), std::max(length, 1.f),
              std::max(1.f, height * 0.64f)},
             colour.alpha(chosen ? 1.f : 0.75f));
      if (worded)
        p.text_in({line.x + room_of, line.y, kNumber, line.h}, {chosen ? Face::Bold : Face::Mono, type::tick},
                  chosen ? t.ink : t.ink3, with_minus(number(value, 2)), Align::Right);
    }
  }
}

}  // namespace normscope::inside
