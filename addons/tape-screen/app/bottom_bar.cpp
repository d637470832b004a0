// The bottom bar of the Tape screen shows the step's time, instruction by instruction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "addons/tape-screen/app/tape_screen.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

/// The instructions of one phase, with the probes between them.
struct Stretch {
  size_t first = 0, end = 0;
};

Stretch stretch_of(const ProgramData& program, Phase phase) {
  Stretch all;
  bool any = false;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    if (program.instructions[i].phase != phase) continue;
    if (!any) all.first = i;
    any = true;
    all.end = i + 1;
  }
  return all;
}

double seconds_of(const Fold& fold, const std::function<bool(int32_t)>& counts) {
  double sum = 0;
  const auto add = [&](const FoldSide& side) {
    if (side.instruction >= 0 && counts(side.instruction)) sum += side.seconds;
  };
  for (const FoldLine& line : fold.lines) {
    add(line.forward);
    add(line.backward);
  }
  for (const FoldUpdate& update : fold.update) add(update.side);
  return sum;
}

}  // namespace

void TapeScreen::draw_timeline_labels(Ui& ui, const Rect& track) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const ProgramData& program = facts_->program;
  const float per = track.w / static_cast<float>(std::max<size_t>(1, program.instructions.size() - 1));
  const auto x_of = [&](double instruction) { return track.x + static_cast<float>(instruction) * per; };
  const TextStyle style{Face::Sans, type::tick};
  // The layers stand above the track, first downwards through them and then upwards.
  float free = track.x;
  const float head = x_of(static_cast<double>(head_));
  for (size_t i = 0; i < program.instructions.size();) {
    size_t end = i;
    const Instruction& it = program.instructions[i];
    while (end < program.instructions.size() && program.instructions[end].layer == it.layer &&
           program.instructions[end].phase == it.phase)
      ++end;
    if (it.layer > 0 && it.phase != Phase::Update && end - i > 2) {
      const std::string words =
          free <= track.x ? tr("layer {layer}", {{"layer", it.layer}}) : fmt::format("{}", it.layer);
      const float w = p.text_width(style, words), x = x_of(static_cast<double>(i + end) / 2) - w / 2;
      const bool under_flag = x < head + 26 && x + w > head - 26;
      if (x >= free && !under_flag && x + w <= track.right()) {
        p.text({x, track.y - 14}, style, t.ink3, words);
        free = x + w + 8;
      }
    }
    i = end;
  }
  const Stretch forward = stretch_of(program, Phase::Forward),
                backward = stretch_of(program, Phase::Backward);
  const float y = track.bottom() + 17;
  const float fold = x_of(static_cast<double>(forward.end) - 0.5);
  p.line({fold, track.y - 8}, {fold, track.bottom() + 6}, t.ink2, 1.2f);
  const float forward_end = track.x + p.text({track.x, y}, style, t.ink2, tr("forward"));
  const float update = p.text_width(style, tr("update")),
              middle = x_of(static_cast<double>(backward.first + backward.end) / 2);
  if (fold - 12 > forward_end + 8) p.text({fold, y}, style, t.ink2, tr("fold"), Align::Centre);
  if (middle - 30 > fold + 20 && middle + 30 < track.right() - update - 8)
    p.text({middle, y}, style, t.ink2, tr("backward"), Align::Centre);
  p.text({track.right(), y}, style, t.ink2, tr("update"), Align::Right);
}

void TapeScreen::draw_timeline(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool compact = size_ == Size::Compact;
  const Rect track{rect.x, compact ? rect.centre().y - 3 : rect.y + 45, rect.w, 6};
  const auto last =
      static_cast<float>(std::max<size_t>(1, facts_ ? facts_->program.instructions.size() - 1 : 1));
  HitOptions options;
  options.arrows = true;
  options.enabled = facts_ != nullptr;
  const Hit hit = ui.hit("tape/timeline", {track.x - 8, track.centre().y - 14, track.w + 16, 28},
                         fmt::format("{}", head_),
                         tr("The instructions of this step. Drag the play head along them."), options);
  if (hit.held && facts_) {
    const float share = std::clamp((ui.mouse().x - track.x) / track.w, 0.f, 1.f);
    go(static_cast<size_t>(std::lround(share * last)));
  }
  if (hit.arrow_x) step(hit.arrow_x);
  p.fill(track, t.trough, 3);
  if (!facts_) return;
  const float x = track.x + static_cast<float>(head_) / last * track.w;
  p.fill({track.x, track.y, x - track.x, track.h}, t.ink2, 3);
  const float cy = track.centre().y;
  if (compact) {
    const float fold = track.x + (static_cast<float>(fold_of(facts_->program)) + 0.5f) / last * track.w;
    p.line({fold, cy - 10}, {fold, cy + 10}, t.ink2, 1.2f);
  } else {
    draw_timeline_labels(ui, track);
    flag(p, t, track, x, grouped(static_cast<long long>(head_)));
  }
  p.accent_disc(t, {x, cy}, 7);
}

void TapeScreen::draw_speed(Ui& ui, const Rect& place) {
  const std::vector<words::Label> labels{words::label("slow"), words::label("1×"), words::label("max")};
  segmented(ui, "tape/speed", place, labels, speed_,
            tr("Two or ten instructions a second, or as fast as they are shown."));
}

void TapeScreen::draw_bar(Ui& ui, const Rect& bar, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool compact = size_ == Size::Compact;
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.y}, {bar.right(), bar.y}, t.border);
  Rect rest = bar.inset(14, 0);
  const float cy = bar.centre().y, side = compact ? 30.f : 34.f;
  ButtonOptions plain, primary;
  plain.enabled = primary.enabled = facts_ != nullptr;
  primary.primary = true;
  const auto place = [&](float width) { return centred({rest.x + width / 2, cy}, width, side); };
  if (icon_button(ui, "tape/first", place(side), Icon::First, tr("To the first instruction (Home)."),
                  plain) &&
      facts_)
    go(listed_.front());
  rest.take_left(side, 6);
  if (icon_button(ui, "tape/play", place(46), playing_ ? Icon::Pause : Icon::Play,
                  tr("Plays the step, instruction by instruction (Space)."), primary,
                  playing_ ? tr("playing") : tr("resting")))
    play_or_pause();
  rest.take_left(46, 6);
  if (icon_button(ui, "tape/next", place(side), Icon::Step,
                  tr("One instruction on, in order of execution (Right)."), plain))
    step(1);
  rest.take_left(side, 12);
  if (!compact) {
    draw_speed(ui, centred({rest.x + 59, cy}, 118, 28));
    rest.take_left(118, 22);
  }
  Rect words = rest.take_left(compact ? 96.f : 262.f, compact ? 12.f : 20.f);
  const size_t count = facts_ ? facts_->program.instructions.size() : 0;
  const Rect upper{words.x, compact ? cy - 12 : cy - 26, words.w, 24};
  const std::string now = facts_ ? grouped(static_cast<long long>(head_)) : "–";
  const TextStyle of_style{Face::Sans, type::body};
  const float w = p.text_in(upper, {Face::Mono, type::counter}, t.ink, now);
  const std::string of =
      compact ? tr("/ {all}", {{"all", count}}) : tr("of {all} instructions", {{"all", count}});
  p.text_in({upper.x + w + 8, upper.y + 2, words.w - w - 8, upper.h}, of_style, t.ink3, of);
  ui.mark("tape/counter", upper, now, tr("The instruction under the play head; they are counted from 0."));
  if (!compact && clock && facts_ && facts_->timed) {
    const double all = seconds_of(facts_->fold, [](int32_t) { return true; });
    const double before = seconds_of(facts_->fold, [&](int32_t i) { return static_cast<size_t>(i) < head_; });
    const TextStyle tick{Face::Sans, type::tick};
    std::string sums =
        tr("{all} ms one by one, {before} of them before this one",
           {{"all", ui::significant(1e3 * all, 3)}, {"before", ui::significant(1e3 * before, 3)}});
    if (p.text_width(tick, sums) > words.w)
      sums = tr("{all} ms one by one, {before} before this one",
                {{"all", ui::significant(1e3 * all, 3)}, {"before", ui::significant(1e3 * before, 3)}});
    p.text_in({words.x, cy + 2, words.w, 18}, tick, t.ink2, sums);
  }
  draw_timeline(ui, {rest.x + 10, bar.y, rest.w - 24, bar.h});
}

}  // namespace normscope::tape_screen
