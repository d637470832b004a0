#include "app/lab/lab_screen.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/view/caption_facts.h"
#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/io/text.h"
#include "training/spec/small_size.h"
#include "training/spec/spec.h"

namespace normscope::lab {

using namespace ui;

namespace {

// The heights and gaps of the layouts.
struct Bars {
  float margin, gap, cards, transport;
};

Bars bars_of(Size size, float window_height) {
  if (size != Size::Compact) return {space::margin, space::gap, 96, 76};
  return {8, 6, window_height < 640 ? 52.f : 74.f, 50};
}

float limited(float v, float lo, float hi) { return std::clamp(v, lo, hi); }

diagram::DiagramInput diagram_input(const LabView& view, view::LabData& data, int step, bool compact,
                                    std::optional<int> layer) {
  return {view, data, step, compact, layer};
}

/// Whether `spec` is the one specification that was requested, apart from the number of steps.
bool answers(const RunSpec& spec, const session::Suppose& asked) {
  if (asked.specs.size() != 1) return false;
  RunSpec wanted = asked.specs.front();
  wanted.train.steps = spec.train.steps;
  return wanted == spec;
}

// ---- the run cards

// A card for each run with its name, wiring, state, loss and the text that it writes. Run D's card shows what a drop in
// the diagram will do. Controls: run/A ... run/D.

struct CardOptions {
  Size size = Size::Full;
  bool writes = true;    // show the line of sampled text (compact windows below 640 have no room)
  std::string building;  // letters of the runs that are being built for a setting
  bool held = false;     // run D is the run with the held norm dropped
};

// Px of the card of a run D that does not exist yet: wide, with text, if the other cards keep kMinBeside each.
constexpr float kEmptyWide = 256, kEmptySquare = 40, kMinBeside = 300;

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
    case RunState::Diverging:
    case RunState::NonFinite:
      b.kind = BadgeKind::Error;
      break;
    case RunState::Learning:
      b.icon = Icon::Learning;
      break;
    case RunState::Slow:
    case RunState::Training:
    case RunState::WarmingUp:
    case RunState::Finished:
      break;
  }
  if (brief && run.state == RunState::Learning) b.text = tr("learning");
  if (briefer && run.state == RunState::Stuck) b.text = tr("stuck##card");
  return b;
}

// The placement in words: "norm on stream"; "norms mixed" where two stacks differ; of a chain its own caption.
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

// The longest beginning of a name that fits, cut between its parts.
std::string name_that_fits(const Painter& p, const TextStyle& style, std::string name, float room) {
  while (p.text_width(style, name) > room && name.find(", ") != name.npos) name.resize(name.rfind(", "));
  return name;
}

std::string loss_text(const RunView& run) {
  if (run.step == 0 || !std::isfinite(run.loss)) return "–";
  return ui::decimals(run.loss, 2);
}

// The note that an instant run's verdict differs at the usual size, in two lengths; empty where both sizes agree.
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
  if (source < view.runs.size() && view.instant)
    text +=
        tr(" Made from {run}; it trains from step 0, as all do here.", {{"run", view.runs[source].letter}});
  else if (source < view.runs.size())
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

  // Draws the empty card of run D. While a norm is dragged, it says what a drop will do.
  void empty(const Rect& card, const diagram::DiagramState& state) {
    const bool held = state.dragging.has_value(), building = state.pending.has_value();
    if (held || building) p.fill(card, t.accent_soft, radius::panel);
    p.dashed_outline(card, held ? (t.dark ? t.accent : t.ink) : t.control, 1.6f, {4, 3}, radius::panel);
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
      below = view.instant ? tr("D trains from step 0") : tr("Starting") + own_steps();
    } else if (state.preview) {
      note = state.preview->note;
      below = view.instant ? tr("Drop: D trains from step 0") : tr("Drop: D trains") + own_steps();
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

  // Draws run D's card while a norm is dragged: it says that a drop replaces the run.
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

void draw_run_cards(Ui& ui, diagram::DiagramState& state, const LabView& view, const Rect& area,
                    const CardOptions& options) {
  Card card{ui, view, options, ui.paint(), ui.theme()};
  const bool has_d = view::find_run(view, 'D') >= 0;
  const float gap = options.size == Size::Compact ? 6 : space::gap;
  Rect rest = area;
  const float n = static_cast<float>(view.runs.size());
  if (!has_d) {
    const float beside = rest.w - kEmptyWide - gap * n;
    const bool wide = options.size == Size::Full || beside >= kMinBeside * n;
    const Rect place = rest.take_right(wide ? kEmptyWide : kEmptySquare, gap);
    card.empty(place, state);
    const std::string& help = tr("Run D starts here when you change norms in the diagram.");
    ui.tell("run/D", place, state.preview ? state.preview->note : "", help);
  }
  if (n == 0) return;
  const float width = (rest.w - gap * (n - 1)) / n;
  const int shown = diagram::shown_run(state, view);
  const Ui::Group group(ui, "cards");
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    const Rect place = rest.take_left(width, gap);
    HitOptions hit{.selected = static_cast<int>(i) == shown, .radius = radius::panel};
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

}  // namespace

std::string line_that_fits(std::string_view text, size_t room) {
  const size_t arrow = text.rfind(" \u2190 ");
  if (arrow == std::string_view::npos || terminal_columns(text) <= room) return first_characters(text, room);
  const std::string_view source = text.substr(arrow);
  const size_t right = std::min(terminal_columns(source), room * 3 / 5);
  return first_characters(text.substr(0, arrow), room - right) + first_characters(source, right);
}

ScreenRequests LabScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock) {
  ScreenRequests requests;
  std::vector<session::Command>& commands = requests.commands;
  data_.begin_frame();
  stay_at_measured(view);
  // The cursor cannot stay at a step that restarted runs have not reached yet.
  if (transport_.pinned_step.value_or(0) > view.step) transport_.pinned_step.reset();
  plot_.step = cursor_step(transport_, view);
  const bool pinned = transport_.pinned_step.has_value();
  plot_.follows = !pinned;
  const LabView then = pinned ? view::view_at(data_, view, plot_.step) : LabView{};
  Frame f{ui, view, pinned ? then : view, commands, layout_ = layout_for(ui.size()), clock};
  const std::optional<LabView> held = with_held(view);
  const LabView held_then = held && pinned ? view::view_at(data_, *held, plot_.step) : LabView{};
  Frame measured{ui,   held ? *held : view, !held ? f.shown : pinned ? held_then : *held, commands, f.size,
                 clock};
  if (held) {
    f.held = &measured.view;
    f.held_then = &measured.shown;
  }
  plot_.compact = f.compact();
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left))
    plot_.passed_since.reset();
  else if (!plot_.passed_since)
    plot_.passed_since = view.passed.empty() ? 0 : view.passed.back().number;
  pending_.settle(view);
  // The layer and the step under the mouse in the last frame light up everywhere in this one.
  plot_.hover_layer = hover_layer_ ? hover_layer_ : diagram_.hovered_layer;
  plot_.hover_step = hover_step_;
  hover_layer_.reset();
  hover_step_.reset();

  const Bars bars = bars_of(f.size, ui.size().y);
  Rect rest = area;
  const Rect transport = rest.take_bottom(bars.transport);
  rest = {rest.x + bars.margin, rest.y + bars.gap, rest.w - 2 * bars.margin, rest.h - 2 * bars.gap};
  if (f.compact()) {
    rest.y += 1;
    rest.h -= 1;
  }
  const Rect cards = rest.take_top(bars.cards, bars.gap);
  CardOptions card_options{f.size, !f.compact() || bars.cards > 60, {}, held_ && diagram_.dragging};
  for (const RunView& run : view.runs)
    if (pending_.building(run.letter)) card_options.building += run.letter;
  ui.begin_region("runs");
  if (view.runs.empty() && without_runs_)
    draw_start(f, joined(cards, rest));
  else
    draw_run_cards(ui, diagram_, measured.shown, cards, card_options);
  if (!view.runs.empty()) draw_panels(f, measured, rest, bars.gap);
  transport_.fork_source = diagram::shown_run(diagram_, view);
  draw_transport(ui, transport_, view, transport, f.size, clock, commands, timeline_marks(measured.view));
  if (!commands.empty() &&
      std::holds_alternative<session::ForkFrom>(commands.back())) {  // the next touch is for D
    diagram_.source = view.runs[static_cast<size_t>(transport_.fork_source)].letter;
    diagram_.selected = 'D';
  }
  transport_keys(ui, transport_, view, commands);
  for (const session::Command& command : commands)
    if (const auto* other = std::get_if<session::ReplaceRuns>(&command))
      if (other->instant || view.instant)
        requests.notice =
            tr(other->instant ? "small models: {changes}; \"Train in full\" brings the large ones back"
                              : "large models, trained step by step: {changes}",
               {{"changes", size_changes(view, other->instant)}});
  suppose(f);
  pending_.note(view, commands);
  // A person who starts a fork wants to see it train.
  for (const session::Command& command : commands)
    if (std::holds_alternative<session::ForkRequest>(command)) transport_.pinned_step.reset();
  cells_.hand_over(requests);
  for (view::SavePlot& save : requests.saves)
    if (save.format == view::PlotFormat::Pdf) save.facts = view::caption_facts(view);
  return requests;
}

// Requests hypothetical runs while runs are instant: the one that a drag or hover would give, else those of the dial;
// and ahead of time the neighbours of the last changed setting. Posts only a request that differs from the last one.
void LabScreen::suppose(const Frame& f) {
  session::Suppose asked;
  std::vector<session::EditField> edits;
  for (const session::Command& command : f.commands)
    if (const auto* edit = std::get_if<session::EditField>(&command)) edits.push_back(*edit);
  if (!edits.empty()) edited_ = std::move(edits);
  if (f.view.instant) {
    auto question =
        diagram::spec_in_question(diagram_, diagram_input(f.view, data_, plot_.step, f.compact(), {}));
    if (!question)
      question = settings::spec_in_question(settings_, f.view, diagram::shown_run(diagram_, f.view));
    if (question)
      asked.specs.push_back(*question);
    else
      for (settings::DialRun& along : settings::dial_runs(settings_, f.view))
        asked.specs.push_back(std::move(along.spec));
    for (size_t i = 0; i < edited_.size() && !ImGui::IsMouseDown(ImGuiMouseButton_Left); ++i)
      for (RunSpec& beside : settings::runs_beside(edited_[i], f.view))
        asked.ahead.push_back(std::move(beside));
  }
  if (asked == supposed_) return;
  supposed_ = asked;
  f.commands.emplace_back(std::move(asked));
}

// The view with run D as if the dragged norm were dropped, so that all cards and plots react to the drag. Between two
// slots, and until the next run is trained, the previous one stays, marked stale. Runs trained for an earlier request
// are removed from the view. Nothing where the Lab's own view needs no change.
std::optional<LabView> LabScreen::with_held(const LabView& view) {
  if (!diagram_.dragging && !diagram_.pending) held_.reset();
  const bool one = view.supposed.size() == 1;
  const bool answered = one && answers(*view.supposed.front().spec, supposed_);
  const bool trained = diagram_.dragging && answered && view.supposed.front().seen;
  if (trained) {
    held_ = *view.supposed.front().seen;
    held_->name = diagram::fork_title(diagram_, view);
    if (diagram_.preview) held_->fork_note = diagram_.preview->note;
  }
  if (!held_ && one == answered) return {};
  LabView all = view;
  all.supposed.clear();
  if (!held_) return all;
  held_->stale = !trained;
  const int fork = view::find_run(view, held_->letter);
  if (fork < 0)
    all.runs.push_back(*held_);
  else
    all.runs[static_cast<size_t>(fork)] = *held_;
  return all;
}

// Draws the panels between the run cards and the timeline.
void LabScreen::draw_panels(Frame& f, Frame& measured, Rect rest, float gap) {
  const float width = rest.w;
  if (f.compact()) {
    draw_left(f, rest.take_left(330, gap));
    f.ui.begin_region("plots");
    draw_compact(measured, rest);
  } else {
    constexpr float kMin = 420, kMax = 520, kTime = 480, kDepth = 402;
    const SplitRange left{std::round(limited(0.294f * width, kMin, kMax)), kMin,
                          std::min(kMax, width - kTime - kDepth - 2 * gap)};
    draw_left(f, rest.take_left(split(f.ui, splits_, Gap::Left, rest, left), gap));
    const SplitRange middle{std::round(std::max(0.391f * width, kTime)), kTime, rest.w - gap - kDepth};
    const Rect time = rest.take_left(split(f.ui, splits_, Gap::Time, rest, middle), gap);
    f.ui.begin_region("over time");
    if (few_) draw_more(f, rest.take_bottom(40, gap));
    draw_column(measured, time, panels::PanelColumn::Time);
    f.ui.begin_region("by layer");
    draw_column(measured, rest, panels::PanelColumn::Depth);
  }
}

// Draws the button that shows all plots, below the few of a first start.
void LabScreen::draw_more(Frame& f, const Rect& rect) {
  if (button(f.ui, "lab/more", rect, tr("More measurements"),
             tr("Shows the other plots too: gradients over time, hidden states. \"fewer\" beside the "
                "learning rate hides them again."),
             {.icon = Icon::ChevronDown}))
    few_ = false;
}

// Draws the text and button of a Lab without runs.
void LabScreen::draw_start(Frame& f, const Rect& rect) {
  const Rect inner = panel(f.ui, rect, {});
  const Rect middle = centred(inner.centre(), std::min(460.f, inner.w), 90);
  f.ui.paint().text_wrapped(
      {middle.x, middle.y, middle.w, 40}, {Face::Sans, type::title}, f.ui.theme().ink2,
      tr("No run trains here: the window was opened with recorded runs, which stand side by side "
         "in Compare (3)."),
      19);
  if (button(f.ui, "lab/start", {middle.x, middle.bottom() - 34, 240, 34},
             tr("Start the three teaching runs"),
             tr("Trains three copies of one model that differ in placement and warm-up."), {.primary = true}))
    f.commands.emplace_back(session::ReplaceRuns{.runs = default_comparison()});
}

void LabScreen::posted(session::Ticket ticket) {
  pending_.posted(ticket);
  if (diagram_.pending && diagram_.pending->ticket == 0) diagram_.pending->ticket = ticket;
}

// Pins the cursor to a step at which the whole batch was just measured, while training goes on.
void LabScreen::stay_at_measured(const LabView& view) {
  int measured = -1;
  for (const RunView& run : view.runs)
    if (run.batch) measured = std::max(measured, run.batch->step);
  if (measured == measured_step_) return;
  measured_step_ = measured;
  if (measured >= 0 && view.playing) transport_.pinned_step = std::min(measured, view.step);
}

// ---- The left column: diagram and settings of the runs.

void LabScreen::draw_left(Frame& f, Rect column) {
  if (f.size == Size::Full) {
    constexpr float kDiagram = 500, kSettings = 240, kFewSettings = 156;
    const SplitRange range{column.h - kSettings - space::gap, kDiagram, column.h - kFewSettings - space::gap};
    const Rect diagram = column.take_top(split(f.ui, splits_, Gap::Settings, column, range), space::gap);
    draw_architecture(f, diagram, false);
    draw_settings_panel(f, column, false);
  } else if (left_tab_ == 0) {
    draw_architecture(f, column, true);
    if (left_tab_ != 0) remember_diagram(f.ui.registry());
  } else {
    draw_settings_panel(f, column, true);
  }
}

void LabScreen::draw_switch(Frame& f, const Rect& head) {
  Rect place = head;
  segmented(f.ui, "lab/left", place.take_left(f.compact() ? 118.f : 126.f),
            labels_of({"Diagram", "Settings"}), left_tab_,
            tr("Shows the architecture or the settings of the runs."));
}

void LabScreen::draw_architecture(Frame& f, const Rect& rect, bool switched) {
  f.ui.begin_region("architecture", "slots");
  PanelOptions options;
  if (!switched) {
    options.title = tr("Architecture");
    options.note =
        view::any_stream(f.view) ? tr("drag a norm: identical layers follow") : tr("all norms stand alike");
    options.right = 28.f * static_cast<float>(f.view.runs.size()) + 8;
  }
  panel(f.ui, rect, options);
  diagram::DiagramInput input = diagram_input(f.shown, data_, plot_.step, f.compact(), plot_.hover_layer);
  if (held_ && f.held)
    input.held = &f.held_then->runs[static_cast<size_t>(view::find_run(*f.held_then, 'D'))];
  const float pad = f.compact() ? 14.f : space::pad;
  Rect inner = rect.inset(pad, 0);
  Rect head = inner.take_top(switched ? (f.compact() ? 36.f : 34.f) : space::title_row);
  diagram::draw_run_tiles(f.ui, diagram_, input, {head.right() - 4, head.centre().y});
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    controls.take_left(f.compact() ? 124.f : 138.f);
    const bool crowded = f.compact() && f.view.runs.size() > 3;
    diagram::draw_presets(f.ui, diagram_, input,
                          controls.take_left(crowded       ? 72.f
                                             : f.compact() ? 92.f
                                                           : 112.f),
                          true, f.commands);
  } else {
    Rect presets = inner.take_top(28, 8);
    presets.y += 4;
    presets.h = 26;
    diagram::draw_presets(f.ui, diagram_, input, presets, false, f.commands);
  }
  const float footer_h = f.compact() ? 28 : 34;
  const Rect footer{rect.x, rect.bottom() - footer_h, rect.w, footer_h};
  const float top = inner.y + (f.compact() ? 1.f : switched ? 3.f : 7.f);
  const Rect area{inner.x, top, inner.w, footer.y - (f.compact() ? 8.f : 12.f) - top};
  diagram::draw_diagram(f.ui, diagram_, input, area, footer, f.commands);
}

void LabScreen::draw_settings_panel(Frame& f, const Rect& rect, bool switched) {
  f.ui.begin_region("settings", "rows");
  PanelOptions options;
  // A hint of a change's cost takes the room of "Is it luck?".
  const bool luck = switched || settings_.restart_hint.empty();
  std::optional<Ui::Group> group(std::in_place, f.ui, "edits");
  if (!switched) {
    options.title = tr("Settings");
    options.note = settings::settings_note(settings_, f.view);
    options.right = 20.f * static_cast<float>(f.view.runs.size()) + 50 + (luck ? 84.f : 0.f);
  }
  panel(f.ui, rect, options);
  Rect inner = rect.inset(space::pad, 0);
  Rect head = inner.take_top(space::title_row);
  const float tiles = settings::draw_edit_tiles(f.ui, settings_, f.view, {head.right() - 2, head.centre().y});
  if (luck) {
    const bool narrow = f.compact();
    const float width = narrow ? 52.f : 74.f;
    settings::draw_seeds_button(f.ui, f.view,
                                centred({head.right() - 12 - tiles - width / 2, head.centre().y}, width, 20),
                                narrow, f.clock, f.commands);
  }
  group.reset();
  if (switched) {
    Rect controls = head.inset(0, (head.h - 26) / 2);
    controls.x -= 3;
    draw_switch(f, controls);
    inner.take_top(6);
  }
  inner.h -= 8;
  if (switched) {  // the title row has no room for a change's cost
    const Rect foot = inner.take_bottom(22);
    f.ui.paint().text_in(
        foot, {Face::Sans, type::body}, f.ui.theme().ink3,
        f.ui.paint().fit({Face::Sans, type::body}, settings::settings_note(settings_, f.view), foot.w));
    f.ui.mark("settings/note", foot, settings::settings_note(settings_, f.view),
              tr("What a change would do and cost."));
  }
  const int columns = inner.w < 400 ? 1 : 2;
  const LabView& view = f.held ? *f.held : f.view;
  if (pending_.empty())
    return settings::draw_settings(f.ui, settings_, view, pending_, inner, columns, f.commands);
  settings::draw_settings(f.ui, settings_, pending_.applied(view), pending_, inner, columns, f.commands);
}

// ---- The palette also lists controls that are not drawn now, and reveals them.

namespace {

constexpr std::string_view kSettings = "settings/", kDiagram = "diagram/", kMenu = "/menu/";

/// Controls of the pace with their help.
constexpr std::pair<const char*, const char*> kPace[] = {
    {"transport/budget", "How many steps the runs take: more continues, fewer stops early."},
    {"transport/speed", "How fast training goes."},
    {"transport/speed/slow", "Four steps a second."},
    {"transport/speed/1×", "Twenty steps a second."},
    {"transport/speed/max", "As fast as training can go."},
    {"transport/speed/instant",
     "A small model, of which every change trains all steps anew within moments: whatever you move, the plots show how "
     "the training would have ended (N)."}};

// Whether the plot has a handle for this run's warm-up: not if it is over, nor if an earlier run has the same schedule.
bool has_warmup_handle(const LabView& view, size_t index) {
  const Schedule& schedule = view.runs[index].spec->train.schedule;
  if (schedule.target > 0 || (!view.instant && schedule.warmup <= view.runs[index].step) ||
      schedule.warmup > std::max(view.budget, view.step))
    return false;
  return std::none_of(view.runs.begin(), view.runs.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const RunView& run) { return run.spec->train.schedule == schedule; });
}

}  // namespace

void LabScreen::remember_diagram(const ui::Registry& registry) {
  diagram_controls_.clear();
  for (const ui::Control& c : registry.all())
    if (c.interactive && c.enabled && c.name.starts_with(kDiagram))
      diagram_controls_.push_back({c.name, c.help});
}

std::vector<Elsewhere> LabScreen::elsewhere(const ui::Registry& registry, const LabView& view) {
  std::vector<Elsewhere> list;
  if (view.runs.empty()) return list;
  const auto add = [&](std::string name, std::string_view help) {
    if (!registry.find(name)) list.push_back({std::move(name), std::string(help)});
  };
  for (const auto& [control, help] : kPace) add(control, tr(help));
  add("lab/luck", tr("Seed variability: trains every run again with four other seeds and shows how far their "
                     "losses lie apart."));
  for (const Field* field : settings::differing_fields(view))
    for (const RunView& run : view.runs)
      add(fmt::format("{}{}/{}", kSettings, field->key, run.letter), settings::spoken_help(*field));
  for (size_t i = 0; i < view.runs.size(); ++i)
    if (has_warmup_handle(view, i))
      add(fmt::format("plot/rate/warmup/{}", view.runs[i].letter),
          tr("The end of its warm-up, on the plot."));
  for (const RunView& run : view.runs)
    add(fmt::format("settings/edits/{}", run.letter),
        tr("Whether a change to a shared setting applies to run {run} too.", {{"run", run.letter}}));
  for (const panels::Panel& panel : panels::panels()) {
    if (!panels::stands_in(panel, layout_)) continue;
    const std::string name = panel.id;
    add(name + "/menu", tr("Save or copy this plot, change its axis."));
    const bool map = panel.form == panels::Form::Strips && plot_.map && panels::of_map(metric_of(panel));
    for (const panels::MenuEntry& entry : panels::menu_entries(map || panel.form == panels::Form::Triangles))
      add(fmt::format("{}/menu/{}", name, entry.id), entry.help);
    if (panel.metric) add(name + "/quantity", tr("What this plot shows."));
    for (const panels::PanelControl& own : panel.controls) add(name + std::string(own.name), own.help);
  }
  if (layout_ != ui::Size::Full && left_tab_ != 0)
    for (const Elsewhere& control : diagram_controls_) add(control.name, control.help);
  return list;
}

void LabScreen::reveal(std::string_view control, const ui::Registry& registry) {
  if (control.starts_with(kSettings) || control == "lab/luck") {
    if (left_tab_ == 0) remember_diagram(registry);
    left_tab_ = 1;
    if (control.starts_with(kSettings) && !control.starts_with("settings/edits/"))
      settings_.reveal =
          control.substr(kSettings.size(), control.find('/', kSettings.size()) - kSettings.size());
  }
  if (control.starts_with(kDiagram)) left_tab_ = 0;
  if (const panels::Panel* panel = panels::panel_of(control); panel && !panel->place.at_first) few_ = false;
  if (control.starts_with("transport/")) transport_.open_pace = true;
  const std::vector<const panels::Panel*> tabs = panels::tab_panels();
  for (size_t i = 0; i < tabs.size(); ++i)
    if (tabs[i] == panels::panel_of(control)) plot_tab_ = static_cast<int>(i);
  if (const size_t menu = control.find(kMenu); menu != control.npos)
    cells_.open_menu = control.substr(0, menu);
}

namespace {

constexpr float kArrow = 8;     // px that an arrow key moves a gap
constexpr float kWorthIt = 10;  // px: with less room than that a gap stands still

struct GapWords {
  const char* name;
  bool columns;
};
constexpr GapWords kGaps[] = {{"split/diagram and plots", true},
                              {"split/time and depth", true},
                              {"split/diagram and settings", false},
                              {"split/loss and learning rate", false},
                              {"split/learning rate and gradient", false},
                              {"split/first and second plot by layer", false},
                              {"split/second and third plot by layer", false}};
static_assert(std::size(kGaps) == static_cast<size_t>(Gap::Count));

}  // namespace

float split(Ui& ui, Splits& splits, Gap gap, const Rect& room, SplitRange range) {
  range.most = std::max(range.least, range.most);
  range.own = std::clamp(range.own, range.least, range.most);
  if (range.most - range.least < kWorthIt) return range.own;
  const GapWords& words = kGaps[static_cast<size_t>(gap)];
  float& fraction = splits[static_cast<size_t>(gap)];
  const float extent = words.columns ? room.w : room.h;
  const auto place = [&] {
    return std::clamp(fraction > 0 ? std::round(fraction * extent) : range.own, range.least, range.most);
  };
  const float before = place();
  const Rect line = words.columns ? Rect{room.x + before, room.y, space::gap, room.h}
                                  : Rect{room.x, room.y + before, room.w, space::gap};
  const Ui::Group group(ui, "borders", "borders");
  HitOptions options{.arrows = words.columns ? Arrows::Across : Arrows::Up, .draw_focus = false};
  const Hit hit = ui.hit(words.name, line, fmt::format("{:.0f}", before),
                         tr("Drag to give one side more room, double-click for the usual place."), options);
  if (hit.pressed) ui.press_value() = before;
  const int arrow = words.columns ? hit.arrow_x : -hit.arrow_y;
  float wanted = before + kArrow * static_cast<float>(arrow);
  if (hit.dragging) wanted = ui.press_value() + (words.columns ? hit.drag.x : hit.drag.y);
  if (hit.double_clicked || hit.by_key)
    fraction = 0;
  else if (wanted != before)
    fraction = std::clamp(wanted, range.least, range.most) / extent;
  const bool focused = hit.focused && ui.focus_visible();
  if (hit.hovered || hit.held || focused) {
    ImGui::SetMouseCursor(words.columns ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const Rect bar =
        words.columns ? centred(line.centre(), 2, line.h - 16) : centred(line.centre(), line.w - 16, 2);
    ui.paint().fill(bar, focused ? ui.theme().ink : ui.theme().ink3, 1);
  }
  return place();
}

}  // namespace normscope::lab
