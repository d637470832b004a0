#include "app/lab/lab_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/view/chain.h"
#include "app/view/glossary.h"
#include "app/view/wiring_glyph.h"
#include "app/words/words.h"
#include "training/io/text.h"
#include "training/spec/small_size.h"
#include "training/spec/spec.h"

namespace normscope::lab {
namespace {

using namespace ui;

// The card, with words, of a run D that does not exist yet, if other cards keep kLeastBeside each.
constexpr float kEmptyWide = 256, kEmptySquare = 40, kLeastBeside = 300;

bool finite_run(const RunView& run) { return run.state != RunState::NonFinite; }

struct Badge {
  std::string text;
  BadgeKind kind = BadgeKind::Outline;
  Icon icon = Icon::None;
};

Badge badge_of(const RunView& run, bool brief, bool briefer = false) {
  Badge b{words::spoken(run.badge.empty() ? to_string(run.state) : run.badge)};
  switch (run.state) {
    case RunState::Stuck:
      b.kind = BadgeKind::Solid;
      b.icon = Icon::Minus;
      break;
    case RunState::NonFinite:
      b.kind = BadgeKind::Error;
      break;
    case RunState::Learning:
      b.icon = Icon::Learning;
      break;
    case RunState::Training:
    case RunState::WarmingUp:
    case RunState::Finished:
      break;
  }
  if (brief && run.state == RunState::Learning) b.text = tr("learning");
  if (briefer && run.state == RunState::Stuck) b.text = tr("stuck##card");
  return b;
}

// Says "norm on stream", "norms mixed" where stacks differ, or where a chain has its norms.
std::string card_caption(const ModelConfig& model) {
  if (!is_transformer(model.architecture)) return view::chain_caption(model);
  const view::Stacks stacks = view::stacks_of(model);
  const std::string caption = view::placement_caption(stacks.of(view::Side::Main));
  return !stacks.both || caption == view::placement_caption(stacks.of(view::Side::Encoder))
             ? caption
             : tr("norms mixed");
}

std::string written(const std::string& text) {
  std::string line;
  for (char c : text) line += c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
  return line;
}

std::string first_characters(std::string_view text, size_t count) {
  size_t keep = 0;
  for (size_t n = 0; keep < text.size() && n < count; ++n) {
    ++keep;
    while (keep < text.size() && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) ++keep;
  }
  return std::string(text.substr(0, keep));
}

void writes_line(Ui& ui, const Rect& line, const RunView& run, bool label) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect rest = line;
  if (const float w = p.text_width({Face::Sans, type::body}, run.score); !run.score.empty() && w < line.w / 2)
    p.text_in(rest.take_right(w, 4), {Face::Sans, type::body}, t.ink2, run.score);
  if (label) {
    const bool writes = view::has_stream(run);
    const std::string lead = run.writes_step > 0 ? tr(writes ? "wrote at {step}" : "said at {step}",
                                                      {{"step", grouped(run.writes_step)}})
                                                 : tr(writes ? "writes" : "says");
    const float w = p.text_in(rest, {Face::Sans, type::body}, t.ink3, lead);
    rest.take_left(w + 12);
  }
  rest.take_right(10);
  const TextStyle mono{Face::Mono, type::body};
  const float advance = std::max(1.f, p.text_width(mono, "m"));
  const std::string text = line_that_fits(written(run.writes), static_cast<size_t>(rest.w / advance));
  const float w = text.empty() ? 0 : p.text_in(rest, mono, t.ink, text);
  p.fill({rest.x + w + 3, line.centre().y - 7, 6, 14}, t.ink2, 1);
}

// Keeps as many whole parts of a name as have room.
std::string name_that_fits(const Painter& p, const TextStyle& style, std::string name, float room) {
  while (p.text_width(style, name) > room && name.find(", ") != name.npos) name.resize(name.rfind(", "));
  return name;
}

std::string loss_text(const RunView& run) {
  if (run.step == 0 || !std::isfinite(run.loss)) return "–";
  return ui::decimals(run.loss, 2);
}

// How a small model's verdict differs from the usual size's, for an instant run; empty where both agree.
struct SizeNote {
  std::string whole, brief;
};
SizeNote size_note(const LabView& view, const RunView& run) {
  const SizesDisagree* found = view.instant ? sizes_disagree(*run.spec) : nullptr;
  if (!found) return {};
  const words::Place usual{"usual", found->usual.learn}, tried{"tried", found->usual.tried},
      small{"small", found->small.learn}, here{"here", found->small.tried};
  return {tr("At the usual size this learns with {usual} of {tried} seeds; here with {small} of {here}.",
             {usual, tried, small, here}),
          tr("learn: usual size {usual} of {tried}, here {small} of {here}", {usual, tried, small, here})};
}

// The run's model, its origin, and its changes with their steps.
std::string card_help(const LabView& view, const RunView& run, const SizeNote& note) {
  std::string text = tr("Run {run}: {name}.", {{"run", run.letter}, {"name", words::spoken(run.name)}});
  const auto source = static_cast<size_t>(run.forked_from);  // -1 becomes larger than any index
  if (source < view.runs.size())
    text +=
        tr(" Forked from {run} at step {step}; it brings steps of its own, and the others end where "
           "they were to end.",
           {{"run", view.runs[source].letter}, {"step", grouped(run.fork_step)}});
  if (run.history)
    for (const RunEvent& event : run.history->events())
      if (event.kind == RunEvent::Kind::Edited && event.step > run.fork_step + 1)
        text += tr(" {what} at {step}.",
                   {{"what", words::with_decimal(event.text)}, {"step", grouped(event.step)}});
  if (run.spec && run.spec->model.memory > 0)
    text += tr(" It remembers {states} states of the segment before, and no gradient goes there.",
               {{"states", run.spec->model.memory}});
  if (!note.whole.empty()) text += " " + note.whole;
  if (!run.score.empty()) text += tr(" Held-out data: {score}.", {{"score", run.score}});
  return text + tr(" The loss is the mean of its last {steps} steps, of fewer at first and after a change "
                   "of the network. A click shows the run in the diagram.",
                   {{"steps", kLossWindow}});
}

struct Card {
  Ui& ui;
  const LabView& view;
  const CardOptions& options;
  Painter& p;
  const Theme& t;
  bool compact() const { return options.size == Size::Compact; }
  bool crowded() const { return view.runs.size() > 3; }
  static std::string where(const RunView& run) { return fmt::format("run/{}", run.letter); }
  bool building(const RunView& run) const { return options.building.find(run.letter) != std::string::npos; }
  std::string badge_text(const RunView& run) const {
    return building(run) ? tr("being built") : badge_of(run, false).text;
  }

  void head(const Rect& card, const RunView& run) {
    const float pad = compact() ? 10 : space::pad;
    const float tile_size = compact() ? 26 : 30;
    tile(ui, {card.x + pad, card.y + (compact() ? 10 : space::pad), tile_size, tile_size}, run.letter - 'A');
    float right = card.right() - pad;
    // The loss stands on the right, and the glyph left of it where there is room.
    const std::string loss = loss_text(run),
                      unit = tr("nats, mean of {steps}", {{"steps", loss_window(run.step, run.edits)}});
    const TextStyle number{Face::Mono, compact() ? 17 : type::run_loss};
    const float loss_y = card.y + (compact() ? 22 : 32);
    float loss_w = p.text_width(number, loss);
    p.text({right, loss_y}, number, t.ink, loss, Align::Right);
    if (!compact()) {
      loss_w = std::max(loss_w, p.text_width({Face::Sans, type::tick}, unit));
      p.text({right, card.y + 49}, {Face::Sans, type::tick}, t.ink3, unit, Align::Right);
    }
    view::tell_term(ui, where(run), {right - loss_w, card.y + 8, loss_w, compact() ? 18.f : 46.f}, "nats");
    right -= loss_w + (compact() ? 6 : 12);
    const float left = card.x + pad + tile_size + (compact() ? 8 : 10);
    Badge badge = badge_of(run, compact() || crowded(), !compact() && crowded());
    if (building(run)) badge = {tr("being built")};
    const TextStyle name_style{Face::Bold, compact() ? type::title : type::run_name};
    const std::string name = words::spoken(run.name);
    const float text_w =
        std::max(p.text_width(name_style, name), badge_width(ui, badge.text, badge.icon, compact()));
    if (!compact() && right - 86 >= left + text_w) {
      view::draw_wiring_glyph(ui, {right - 80, card.y + 8}, run.spec->model,
                              ui.theme().runs[static_cast<size_t>(run.letter - 'A')].line);
      const std::string caption = card_caption(run.spec->model);
      p.text_in({right - 82, card.y + 47, 84, 16}, {Face::Sans, type::tick}, t.ink3, caption);
      view::tell_term(ui, where(run), {right - 82, card.y + 8, 84, 55}, "placement");
      right -= 84;
    }
    p.text_in({left, card.y + (compact() ? 8 : 12), right - left, 18}, name_style, t.ink,
              name_that_fits(p, name_style, name, right - left));
    const float flash = 1 - ui.ease(fmt::format("badge {} {}", run.letter, badge.text), 1, 400);
    const Vec at{left, card.y + (compact() ? 27.f : 34.f)};
    const float w = ui::badge(ui, at, badge.text, badge.kind, badge.icon, compact(), flash);
    const Rect place{at.x, at.y, w, compact() ? badge_height_compact : badge_height};
    if (run.state == RunState::Stuck || run.state == RunState::Learning)
      ui.tell(where(run) + "/term/plateau", place, badge.text, view::meaning("plateau"));
    if (run.state == RunState::WarmingUp) view::tell_term(ui, where(run), place, "warm-up");
  }

  void drop_here(const Rect& card) {
    p.fill(card, t.accent_soft, radius::panel);
    p.dashed_outline(card, t.dark ? t.accent : t.ink, 1.6f, {4, 3}, radius::panel);
  }

  void live(const Rect& card, const RunView& run, const SizeNote& note, bool selected) {
    if (options.held && run.letter == 'D') {
      drop_here(card);
    } else {
      p.fill(card, t.panel, radius::panel);
      p.outline(card, selected ? t.ink : t.border, selected ? line::selected : line::border, radius::panel);
    }
    head(card, run);
    if (!options.writes) return;
    const float pad = compact() ? 10 : space::pad;
    const float rule = card.y + (compact() ? 50 : 64);
    p.hairline({card.x + pad, rule}, {card.right() - pad, rule}, t.border);
    const Rect line{card.x + pad, rule + 2, card.w - 2 * pad, card.bottom() - rule - 4};
    if (!finite_run(run))
      p.text_in(line, {Face::Sans, type::body}, t.error, run.note);
    else if (!note.whole.empty())
      return size_line(line, run, note);
    else if (run.writes_step == 0)
      p.text_in(line, {Face::Sans, type::body}, t.ink3, tr("no line was kept of so early a step"));
    else if (!run.fork_note.empty() && run.writes.empty())
      p.text_in(line, {Face::Sans, type::body}, t.ink3, words::spoken(run.fork_note));
    else
      writes_line(ui, line, run, !compact());
    if (view::has_stream(run))
      ui.tell(where(run) + "/writes", line, run.writes,
              tr("What the model writes by itself, as it stands at this step."));
  }

  void size_line(const Rect& line, const RunView& run, const SizeNote& note) {
    const TextStyle style{Face::Sans, type::body};
    p.text_in(line, style, t.ink2, fitting(p, style, line.w, {note.whole, note.brief}));
    ui.tell(where(run) + "/size", line, note.whole,
            tr("Measured at both sizes: the manual's page Instant has every placement and norm."));
  }

  // How many steps a fork trains, because a fork always trains.
  std::string own_steps() const {
    return tr(" {steps} steps of its own", {{"steps", grouped(view.portion)}});
  }

  // Draws the place of run D: quiet until something is held, then it says what a drop will do.
  void empty(const Rect& card, const diagram::DiagramState& state) {
    const bool held = state.dragging.has_value(), building = state.pending.has_value();
    if (held || building) p.fill(card, t.accent_soft, radius::panel);
    p.dashed_outline(card, held ? (t.dark ? t.accent : t.ink) : t.strong, 1.6f, {4, 3}, radius::panel);
    if (card.w < 120) {
      const bool worded = card.h >= 48;
      tile(ui, centred({card.centre().x, card.centre().y - (worded ? 8.f : 0.f)}, 22, 22), 3, true);
      if (worded)
        p.text({card.centre().x, card.centre().y + 17}, {Face::Sans, type::tick}, t.ink3, tr("free"),
               Align::Centre);
      return;
    }
    const float pad = compact() ? 10 : space::pad;
    tile(ui,
         {card.x + pad, card.y + (compact() ? 10 : space::pad), compact() ? 26.f : 30.f,
          compact() ? 26.f : 30.f},
         3, true);
    const Rect text{card.x + pad + 40, card.y + 12, card.w - pad * 2 - 40, 18};
    const std::string title = held || building ? diagram::fork_title(state, view) : tr("Run D");
    const int shown = diagram::shown_run(state, view);
    std::string note = tr("not started yet"), below;
    if (shown >= 0)
      below = tr("{how} to start D here",
                 {{"how", view::first_move(view.runs[static_cast<size_t>(shown)].spec->model)}});
    if (building) {
      note = state.pending->note;
      below = tr("Starting") + own_steps();
    } else if (state.preview) {
      note = state.preview->note;
      below = tr("Drop: D trains") + own_steps();
    } else if (held) {
      note = tr("nothing moved yet");
    }
    if (!options.writes && !below.empty()) note = below;
    p.text_in(text, {Face::Bold, type::run_name}, t.ink, title);
    text_whole(ui, text.moved(0, compact() ? 18.f : 22.f), t.ink2, note);
    if (!options.writes) return;
    const float rule = card.y + (compact() ? 50 : 64);
    p.hairline({card.x + pad, rule}, {card.right() - pad, rule}, held ? t.strong : t.border);
    p.text_in({card.x + pad, rule + 2, card.w - 2 * pad, card.bottom() - rule - 4}, {Face::Sans, type::body},
              t.ink2, below);
  }

  // Run D's card while something is held: it says that a drop replaces the run.
  void replacing(const Rect& card, const diagram::DiagramState& state) {
    drop_here(card);
    const float pad = compact() ? 10 : space::pad, size = compact() ? 26 : 30;
    tile(ui, {card.x + pad, card.y + (compact() ? 10 : space::pad), size, size}, 3);
    const Rect text{card.x + pad + size + 10, card.y + (compact() ? 8 : 12), card.w - pad * 2 - size - 10,
                    18};
    p.text_in(text, {Face::Bold, compact() ? type::title : type::run_name}, t.ink,
              diagram::fork_title(state, view));
    p.text_in(text.moved(0, compact() ? 18 : 22), {Face::Sans, type::body}, t.ink2,
              state.preview ? state.preview->note + tr(", replaces D") : tr("nothing moved yet"));
  }
};

}  // namespace

std::string line_that_fits(std::string_view text, size_t room) {
  const size_t arrow = text.rfind(" \u2190 ");
  if (arrow == std::string_view::npos || terminal_columns(text) <= room) return first_characters(text, room);
  const std::string_view source = text.substr(arrow);
  const size_t right = std::min(terminal_columns(source), room * 3 / 5);
  return first_characters(text.substr(0, arrow), room - right) + first_characters(source, right);
}

void draw_run_cards(Ui& ui, diagram::DiagramState& state, const LabView& view, const Rect& area,
                    const CardOptions& options) {
  Card card{ui, view, options, ui.paint(), ui.theme()};
  const bool has_d = view::find_run(view, 'D') >= 0;
  const float gap = options.size == Size::Compact ? 6 : space::gap;
  Rect rest = area;
  const float n = static_cast<float>(view.runs.size());
  if (!has_d) {
    const float beside = rest.w - kEmptyWide - gap * n;
    const bool wide = options.size == Size::Full || beside >= kLeastBeside * n;
    const Rect place = rest.take_right(wide ? kEmptyWide : kEmptySquare, gap);
    card.empty(place, state);
    const std::string& help = tr("Run D starts here when you change norms in the diagram.");
    ui.tell("run/D", place, state.preview ? state.preview->note : "", help);
  }
  if (n == 0) return;
  const float width = (rest.w - gap * (n - 1)) / n;
  const int shown = diagram::shown_run(state, view);
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    const Rect place = rest.take_left(width, gap);
    HitOptions hit{.radius = radius::panel};
    const std::string value =
        tr("{name}, {state}, loss {loss}",
           {{"name", words::spoken(run.name)}, {"state", card.badge_text(run)}, {"loss", loss_text(run)}});
    const SizeNote note = size_note(view, run);
    if (ui.hit(fmt::format("run/{}", run.letter), place, value, card_help(view, run, note), hit).clicked) {
      state.selected = run.letter;
      state.pending.reset();
    }
    if (run.letter == 'D' && state.dragging && !options.held)
      card.replacing(place, state);
    else
      card.live(place, run, note, static_cast<int>(i) == shown);
  }
}

}  // namespace normscope::lab
