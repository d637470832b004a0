// Paints the layout of a plot: the same shapes and texts on the screen and in a file.
#include "app/plot/plot_layout.h"
#include "app/ui/widgets.h"

namespace normscope::plot {
namespace {

// Paints an item; series and bands are cut off at the plot area.
class ItemPainter {
 public:
  ItemPainter(ui::Painter& painter, const ui::Theme& theme, const ui::Rect& area)
      : p_(painter), theme_(theme), clip_(area.inset(-2)) {}
  ~ItemPainter() { clip(false); }

  void operator()(const FillItem& i) {
    clip(false);
    if (i.accent)
      p_.accent_box(theme_, i.rect, i.radius);
    else
      p_.fill(i.rect, i.colour, i.radius);
  }
  void operator()(const RuleItem& i) {
    clip(false);
    p_.dashed_line(i.a, i.b, i.colour, i.width, i.dash);
  }
  void operator()(const StrokeItem& i) {
    clip(i.clip);
    p_.dashed(i.points, i.colour, i.width, i.dash, i.phase, i.along);
  }
  void operator()(const StripItem& i) {
    clip(i.clip);
    p_.strip(i.upper, i.lower, i.colour);
  }
  void operator()(const MarkItem& i) {
    clip(false);
    p_.marker(i.centre, i.marker, i.size, i.fill, i.edge);
  }
  void operator()(const TextItem& i) {
    clip(false);
    p_.text(i.baseline, i.style, i.colour, i.text, i.align);
  }

 private:
  void clip(bool wanted) {
    if (wanted != clipped_) wanted ? p_.push_clip(clip_) : p_.pop_clip();
    clipped_ = wanted;
  }

  ui::Painter& p_;
  const ui::Theme& theme_;
  ui::Rect clip_;
  bool clipped_ = false;
};

}  // namespace

void paint(ui::Painter& p, const ui::Theme& theme, const PlotSpec& plot, const Drawing& drawing) {
  {
    ItemPainter painter(p, theme, drawing.map.area);
    for (const Item& item : drawing.items) std::visit(painter, item);
  }
  if (!drawing.tile.empty()) ui::tile(p, theme, drawing.tile, *plot.tile);
}

}  // namespace normscope::plot
