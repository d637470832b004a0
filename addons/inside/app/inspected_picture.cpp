// This is the picture of what is inside a model: how long the state of each token is after each layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "addons/inside/app/inspected.h"
#include "app/ui/numbers.h"
#include "app/ui/paint.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr float kCellWidth = 46, kCellHeight = 20, kTop = 118, kMostNames = 220, kLeastWidth = 560;
constexpr TextStyle kHeadline{Face::Bold, type::run_name}, kPlain{Face::Sans, type::body},
    kCellText{Face::Mono, type::tick};

/// A layer.
struct LayerColumn {
  std::string name;
  const std::vector<float>* norms;
};

std::vector<LayerColumn> columns_of(const Inside& in) {
  std::vector<LayerColumn> columns{{"emb.", &in.embedding}};
  for (size_t i = 0; i < in.sublayers.size(); ++i)
    if (i + 1 == in.sublayers.size() || in.sublayers[i + 1].layer != in.sublayers[i].layer)
      columns.push_back({fmt::format("L{:02}", in.sublayers[i].layer), &in.sublayers[i].norms});
  return columns;
}

class NormsPicture {
 public:
  NormsPicture(Painter& painter, const Theme& theme, const Inspection& of)
      : p_(painter), t_(theme), of_(of), columns_(columns_of(of.inside)) {
    for (const LayerColumn& column : columns_)
      for (const float norm : *column.norms)
        if (norm > 0 && std::isfinite(norm)) {
          low_ = std::min(low_, norm);
          high_ = std::max(high_, norm);
        }
    float widest = p_.text_width(kPlain, of_.unit);
    for (size_t t = 0; t < rows(); ++t) widest = std::max(widest, p_.text_width(kCellText, name_of(t)));
    left_ = space::pad + std::min(widest, kMostNames) + 8;
  }

  Vec draw(const std::string& title) {
    p_.text({space::pad, 28}, kHeadline, t_.ink, title);
    p_.text(
        {space::pad, 48}, kPlain, t_.ink2,
        fmt::format(
            "‖x‖ of every {} after each layer. Colours are logarithmic, from the shortest to the longest.",
            of_.unit));
    key({space::pad, 60, 160, 12});
    p_.text({space::pad, kTop - 8}, kPlain, t_.ink3, of_.unit);
    p_.text({left_, kTop - 24}, kPlain, t_.ink3, "layer");
    for (size_t c = 0; c < columns_.size(); ++c)
      p_.text({cell(c, 0).centre().x, kTop - 8}, kCellText, t_.ink2, columns_[c].name, Align::Centre);
    for (size_t t = 0; t < rows(); ++t) row(t);
    const Rect last = cell(columns_.size() - 1, rows() - 1);
    return {std::max(last.right() + space::pad, kLeastWidth), last.bottom() + space::pad};
  }

 private:
  size_t rows() const { return of_.inside.tokens.size(); }
  std::string name_of(size_t t) const {
    return fmt::format("{}: {}", t + 1, shown_token(of_, of_.inside.tokens[t]));
  }
  Rect cell(size_t column, size_t row) const {
    return {left_ + static_cast<float>(column) * kCellWidth, kTop + static_cast<float>(row) * kCellHeight,
            kCellWidth, kCellHeight};
  }
  float share(float norm) const {
    return high_ > low_ ? std::log(norm / low_) / std::log(high_ / low_) : 0.5f;
  }

  void row(size_t t) {
    const std::string name = name_of(t);
    p_.begin_group(name);
    p_.text_in({space::pad, cell(0, t).y, left_ - space::pad - 8, kCellHeight}, kCellText, t_.ink2, name,
               Align::Right);
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Rect box = cell(c, t).inset(0.5f);
      const float norm = (*columns_[c].norms)[t];
      const bool finite = std::isfinite(norm);
      const Colour fill = finite ? heat_colour(t_, norm > 0 ? share(norm) : 0) : t_.panel;
      p_.fill(box, fill, 2);
      if (!finite) p_.hatch(box, t_.error, 1.7f, 7);
      if (finite) p_.text_in(box, kCellText, ink_on(fill), ui::significant(norm, 3), Align::Centre);
    }
    p_.end_group();
  }

  /// Paints the colours and the lengths at their ends.
  void key(Rect place) {
    if (!(high_ >= low_)) return;
    constexpr int kPieces = 40;
    const float x = p_.text({place.x, place.bottom() - 1}, kCellText, t_.ink2, ui::significant(low_, 3));
    place.x += x + 8;
    for (int i = 0; i < kPieces; ++i)
      p_.fill(
          {place.x + place.w * static_cast<float>(i) / kPieces, place.y, place.w / kPieces + 0.5f, place.h},
          heat_colour(t_, (static_cast<float>(i) + 0.5f) / kPieces));
    p_.text({place.right() + 8, place.bottom() - 1}, kCellText, t_.ink2, ui::significant(high_, 3));
  }

  Painter& p_;
  const Theme& t_;
  const Inspection& of_;
  std::vector<LayerColumn> columns_;
  float low_ = std::numeric_limits<float>::infinity(), high_ = 0, left_ = 0;
};

}  // namespace

std::string norms_svg(const Inspection& inspected) {
  const std::string title = "Length of the states in " + inspected.name;
  return to_svg(title, [&](Painter& p, const Theme& t) { return NormsPicture(p, t, inspected).draw(title); });
}

}  // namespace normscope::inside
