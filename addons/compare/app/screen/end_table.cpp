// The table at the end says what the runs came to, with each seed's difference over the band of the baseline's seeds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "addons/compare/app/screen/compare_frame.h"
#include "addons/compare/app/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/io/text_table.h"

namespace normscope::compare_screen {

using namespace ui;
using namespace compare;

namespace {

constexpr TextStyle kNumber{Face::Mono, type::body}, kSmall{Face::Sans, type::tick};

/// How many nats the strip of seeds shows to either side: the band, and the nearest end if it is near.
double reach_of(const Comparison& all) {
  const Difference& own = all.differences[all.baseline()];
  double reach = std::isfinite(own.band_low) ? 2.5 * std::max(-own.band_low, own.band_high) : 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (run != all.baseline() && std::isfinite(all.differences[run].end))
      nearest = std::min(nearest, std::fabs(all.differences[run].end));
  if (std::isfinite(nearest) && nearest < 5 * std::max(reach, 0.02)) reach = std::max(reach, 1.3 * nearest);
  return reach > 0 ? reach : 0.1;
}

/// Says below a run's name that its data are others, and its verdict, as much as fits.
std::string state_words(const Painter& p, float room, const Comparison& all, const EndRow& row) {
  const Difference& d = all.differences[row.run];
  const std::string data = d.data == SameData::Same ? "" : d.short_words(),
                    before = data.empty() || row.verdict.empty() ? data : data + "; ";
  return fitting(p, kSmall, room,
                 {before + row.verdict, before + row.verdict.substr(0, row.verdict.find(',')), data});
}

/// Draws a row's seeds on the strip; a difference off the scale is an arrow and the number.
void draw_seeds(Ui& ui, const Rect& strip, const Comparison& all, const EndRow& row, double reach) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunLook& look = t.runs[static_cast<size_t>(all.colour(row.run))];
  const Difference& d = all.differences[row.run];
  const auto x_of = [&](double nats) {
    return strip.centre().x + static_cast<float>(nats / reach) * strip.w / 2;
  };
  const Vec middle = strip.centre();
  const bool itself = row.run == all.baseline();
  if (itself && d.at_end.empty()) return p.marker(middle, look.marker, 4, look.line, t.panel);
  if (!itself && std::fabs(d.end) > reach) {
    const bool right = d.end > 0;
    const std::string words = right ? signed_decimals(d.end) + " →" : "← " + signed_decimals(d.end);
    const float x = right ? strip.right() : strip.x;
    const Align align = right ? Align::Right : Align::Left;
    p.text({x, middle.y + (d.early ? -2.f : 4.f)}, {Face::Mono, type::tick}, look.text, words, align);
    if (d.early) p.text({x, middle.y + 12}, kSmall, t.ink3, tr("at step {step}", {{"step", d.step}}), align);
    return;
  }
  for (const double end : d.at_end)
    if (std::isfinite(end) && std::fabs(end) <= reach)
      p.marker({x_of(end), middle.y}, look.marker, 4, look.line, t.panel);
}

/// Draws the baseline's band over the whole height of the row, and the seeds on it.
void draw_strip(Ui& ui, const Rect& strip, const Rect& line, const Comparison& all, const EndRow& row) {
  const double reach = reach_of(all);
  const Difference& own = all.differences[all.baseline()];
  const float middle = strip.centre().x, half = strip.w / 2;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunLook& base = t.runs[static_cast<size_t>(all.colour(all.baseline()))];
  if (std::isfinite(own.band_low)) {
    const float low = middle + static_cast<float>(own.band_low / reach) * half,
                high = middle + static_cast<float>(own.band_high / reach) * half;
    p.fill({low, line.y, high - low, line.h}, base.line.alpha(t.band_alpha));
  }
  p.hairline({middle, line.y}, {middle, line.bottom()}, base.line);
  draw_seeds(ui, strip, all, row, reach);
}

}  // namespace

void CompareScreen::draw_end(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const std::string window = window_words(all);
  Rect rest = rect.inset(space::pad, 0);
  if (with_panel) {
    PanelOptions options;
    options.title = tr("At the end");
    options.note = window;
    options.right = 30;
    panel(ui, rect, options);
    rest.take_top(space::title_row);
  } else {
    p.text_in(rest.take_top(22), kSmall, t.ink3, fitting(p, kSmall, rest.w, {window}));
  }
  panels::cell_menu(ui, "compare/end", rect, {f.shown->end}, cells_);
  ui.mark("compare/end", rect, difference_sentence(all), tr("What the runs came to, the lowest loss first."));
  const std::string missing = missing_sentence(all);
  const auto height = [&](const std::string& text) {
    return text.empty() ? 0 : p.wrapped_height(rest.w, kSmall, text, 15);
  };
  const std::string shown = height(missing) <= 46 ? missing : unread_sentence(all);
  const Rect note = rest.take_bottom(std::min(46.f, height(missing)) + 8);
  if (height(shown) <= note.h) p.text_wrapped(note, kSmall, t.ink3, shown, 15);
  ui.mark("compare/missing", note, missing, tr("What is not known of the runs."));
  const float high = std::min(44.f, rest.h / static_cast<float>(all.rows.size() + 1));
  EndRow head;
  head.run = all.runs.size();
  draw_end_row(f, rest.take_top(high), head);
  for (const EndRow& row : all.rows) {
    const Rect line = rest.take_top(high);
    p.hairline({line.x, line.y}, {line.right(), line.y}, t.border);
    draw_end_row(f, line, row);
  }
}

/// Draws a row of the table, or the head for a run beyond the last.
void CompareScreen::draw_end_row(Frame& f, const Rect& line, const EndRow& row) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const bool head = row.run >= all.runs.size(), wide = line.w > 540;
  Rect rest = line;
  Rect speed = wide ? rest.take_right(60) : Rect{}, update = wide ? rest.take_right(78) : Rect{};
  const float longest = p.text_width(kNumber, tr("not yet"));
  Rect leaves = rest.take_right(std::max(62.f, longest + 10)),
       strip = rest.take_right(wide ? 136.f : 116.f, 12);
  Rect loss = rest.take_right(54, 10);
  if (head) {
    const std::pair<Rect, std::string> names[] = {
        {loss, tr("loss")}, {leaves, tr("leaves at")}, {update, tr("Δ ÷ weight")}, {speed, tr("tokens/s")}};
    for (const auto& [place, name] : names)
      if (!place.empty()) p.text_in(place, kSmall, t.ink3, name, Align::Right);
    p.text_in(strip, kSmall, t.ink3, tr("minus {run}", {{"run", all.letter(all.baseline())}}), Align::Centre);
    return;
  }
  ui.mark(fmt::format("compare/end/{}", all.letter(row.run)), line,
          fmt::format("{}, {}, {}", loss_words(row), against_words(all.differences[row.run]),
                      row.verdict.empty() ? "–" : row.verdict),
          tr("The mean loss of the last steps, how far it is from the baseline's, and the verdict."));
  tile(ui, {rest.x, line.centre().y - 10, 20, 20}, all.colour(row.run));
  rest.take_left(28);
  const TextStyle bold{Face::Bold, type::title};
  const Rect upper{rest.x, line.y, rest.w, line.h / 2 + 2},
      lower{rest.x, line.centre().y, rest.w, line.h / 2 - 2};
  p.text_in(line.h >= 34 ? upper : Rect{rest.x, line.y, rest.w, line.h}, bold, t.ink,
            title_of(f, row.run, bold, rest.w));
  if (line.h >= 34) p.text_in(lower, kSmall, t.ink3, state_words(p, rest.w, all, row));
  const bool spread = line.h >= 34 && std::isfinite(row.deviation);
  p.text_in(spread ? Rect{loss.x, line.y, loss.w, line.h / 2 + 2} : loss, kNumber, t.ink,
            words::with_decimal(fixed(row.loss, 2)), Align::Right);
  if (spread)
    p.text_in({loss.x, line.centre().y, loss.w, line.h / 2 - 2}, {Face::Mono, type::tick}, t.ink3,
              fmt::format("± {}", words::with_decimal(fixed(row.deviation, row.deviation < 0.01 ? 3 : 2))),
              Align::Right);
  p.text_in(leaves, kNumber, t.ink, leaves_words(row), Align::Right);
  if (wide) p.text_in(update, kNumber, t.ink, update_words(row), Align::Right);
  const double speed_of = row.tokens_per_second;
  if (wide)
    p.text_in(speed, kNumber, t.ink,
              std::isfinite(speed_of) && speed_of >= 1000 ? fmt::format("{:.0f} k", speed_of / 1000)
                                                          : fixed(speed_of, 0),
              Align::Right);
  draw_strip(ui, strip, line, all, row);
}

}  // namespace normscope::compare_screen
