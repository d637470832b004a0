#include "addons/inside/app/inside_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/link/screen_settings.h"
#include "app/ui/widgets.h"
#include "app/view/lab_data.h"
#include "app/words/words.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr size_t kMostSides = 2;
constexpr double kWhilePlaying = 0.7;   ///< seconds at least between two looks at a run that trains
constexpr double kShareOfTraining = 5;  ///< a look waits so many times as long as the last one took
constexpr double kPatience = 0.3;       ///< seconds for which an older look is shown without a word
constexpr float kDetails = 268, kLeastMap = 210, kState = 16;

}  // namespace

void InsideScreen::restore(const ScreenSettings& kept) {
  if (kept.empty()) return;
  link::ScreenSettingsReader reader(Screen::Inside, kept);
  text_ = reader.text("text").value_or("");
  const std::string runs = reader.text("runs").value_or("");
  letters_ = runs.empty() ? "A" : runs.substr(0, kMostSides);
  asked_.clear();
  refused_.clear();
  wanted_.clear();
  selected_ = {};
  left_out_ = spectra_ = false;
}

/// Takes what came of the look that was asked for, and finds the models of this frame.
void InsideScreen::take(const LabView& view, double now) {
  if (waiting_ && view.answered >= waiting_->ticket && waiting_->ticket > 0) {
    refused_[waiting_->letter] = words::spoken(session::refusal(view.answers, waiting_->ticket));
    look_began_ = waiting_->at;
    waiting_.reset();
  }
  find_sides(view, now);
  if (busy() || look_began_ == 0) return;
  look_takes_ = now - look_began_;
  look_began_ = 0;
}

bool InsideScreen::busy() const {
  return waiting_ || due_ ||
         std::ranges::any_of(sides_, [](const Side& s) { return s.run->inquiry_parts > 0; });
}

void InsideScreen::find_sides(const LabView& view, double now) {
  std::erase_if(letters_, [&](char letter) { return view::find_run(view, letter) < 0; });
  if (letters_.empty() && !view.runs.empty()) letters_ = std::string(1, view.runs.front().letter);
  sides_.clear();
  for (const char letter : letters_) {
    const RunView& run = view.runs[static_cast<size_t>(view::find_run(view, letter))];
    const auto wanted = wanted_.find(letter);
    sides_.push_back({&run, inside_of(run), wanted != wanted_.end() && now - wanted->second > kPatience});
  }
}

/// Asks for a look that is missing or out of date, or that something else ended before it was whole; one at a time,
/// as the trainer does nothing else meanwhile.
void InsideScreen::ask(Ui& ui, const LabView& view, int cursor) {
  due_ = false;
  for (const Side& side : sides_) {
    const int step = std::min(side.run->step, cursor);
    std::optional<int32_t> spectra_of;
    if (spectra_ && side.inside) spectra_of = layer_of(side.inside->found, selection_in(*side.inside).row);
    Request now{side.run->letter, text_, left_out_, spectra_of, step, side.run->spec, ui.time()};
    const auto before = asked_.find(now.letter);
    const bool ended = side.inside && !side.inside->whole && side.run->inquiry_parts == 0 && !waiting_;
    if (before != asked_.end() && before->second.same(now) && !ended) {
      if (!waiting_ || waiting_->letter != now.letter) wanted_.erase(now.letter);
      continue;
    }
    // What the model learns changes with each step; what a user asks for is answered at once.
    const bool moved = before != asked_.end() && before->second.text == now.text &&
                       before->second.left_out == now.left_out && before->second.spectra_of == now.spectra_of;
    const double wait = std::max(kWhilePlaying, kShareOfTraining * look_takes_);
    if (view.playing && moved && (side.run->inquiry_parts > 0 || now.at - before->second.at < wait)) {
      ui.animate();
      continue;
    }
    if (!view.playing || !moved) wanted_.try_emplace(now.letter, now.at);  // a step is in the title
    due_ = true;
    if (waiting_) continue;
    waiting_ = now;
    asked_[now.letter] = now;
    desk_.commands.emplace_back(look_command({view::find_run(view, now.letter), now.text, now.left_out,
                                              step < side.run->step ? step : -1, now.spectra_of}));
  }
  for (const auto& [letter, since] : wanted_)
    if (ui.time() - since < kPatience) ui.animate();
}

void InsideScreen::toggle(char letter, const LabView& view, double now) {
  const size_t at = letters_.find(letter);
  if (at != letters_.npos) {
    if (letters_.size() > 1) letters_.erase(at, 1);
  } else {
    if (letters_.size() == kMostSides) letters_.erase(0, 1);
    letters_ += letter;
  }
  std::ranges::sort(letters_);
  find_sides(view, now);
}

Selection InsideScreen::selection_in(const RunInside& inside) const {
  const int rows = rows_of(inside.found), tokens = static_cast<int>(inside.found.tokens.size());
  Selection at = selected_;
  if (at.row < 0) at.row = std::max(rows - 2, 0);
  if (at.token < 0) at.token = std::max(tokens - 2, 0);
  return {std::min(at.row, rows - 1), std::min(at.token, tokens - 1)};
}

void InsideScreen::draw_nothing(Ui& ui, const Rect& rect, const LabView& view) {
  panel(ui, rect, {});
  const std::string why = sides_.empty() ? "" : refused_[sides_[0].run->letter];
  const std::string words =
      view.runs.empty()
          ? tr(view.busy ? "The model is being read from its files."
                         : "There is no model to look into: open one, or start a run in the Lab.")
      : why.empty() ? tr("The model is reading the text.")
                    : why;
  ui.mark("inside/none", rect, words,
          tr("The stream of the model: a row for each sub-layer, the embedding at the bottom, a "
             "column for each token. Click a cell, or use the arrow keys, to choose a sub-layer and a "
             "token."));
  ui.paint().text_wrapped({rect.x + space::pad, rect.centre().y - 10, rect.w - 2 * space::pad, 60}, kBody,
                          ui.theme().ink2, words, 18);
}

/// Says what is still being measured, with a veil over what is older than what was asked for, or that one
/// token dominates.
void InsideScreen::draw_state(Ui& ui, Rect rest, const Side& side) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunInside& inside = *side.inside;
  Rect line = rest.take_top(kState);
  const auto dominant = dominant_of(inside.found);
  std::string said;
  if (side.older)
    said = tr("Measuring: below is still what was asked for before.");
  else if (side.run->inquiry_parts > 0)
    said = tr("Measuring, {done} of {parts}: the rest comes by itself.",
              {{"done", side.run->inquiry_done}, {"parts", side.run->inquiry_parts}});
  else if (dominant)
    said = tr("“{token}” dominates: behind {row} its state is {times} times as long as the median one.",
              {{"token", word_of(inside, inside.found.tokens[dominant->token])},
               {"row", inside.found.sublayers[dominant->sublayer].name},
               {"times", number(dominant->times, 3)}});
  if (side.older) p.fill(rest, t.panel.alpha(0.6f));
  if (said.empty()) return;
  ui.mark(fmt::format("inside/state/{}", side.run->letter), line, said,
          tr(dominant && !busy()
                 ? "Taken over all tokens, shares and variances say what this one token does. So the own "
                   "shares here are the median over the tokens, each token's share in its own state. A "
                   "token dominates where its state is at least ten times as long as the median one, which "
                   "is our rule."
                 : "The stream of the model: a row for each sub-layer, the embedding at the bottom, a "
                   "column for each token. Click a cell, or use the arrow keys, to choose a sub-layer and a "
                   "token."));
  p.text_in(line, kTick, t.ink2, said);
}

/// Draws one model: its name and loss, and its map.
void InsideScreen::draw_side(Ui& ui, Rect rest, const Side& side, bool alone) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  panel(ui, rest, {});
  rest = rest.inset(space::pad, 8);
  Rect title = rest.take_top(24, 2);
  tile(ui, {title.x, title.y + 2, 20, 20}, side.run->letter - 'A');
  title.take_left(28);
  const std::string loss = side.inside ? tr("{loss} nats a token, perplexity {perplexity}, step {step}",
                                            {{"loss", ui::decimals(side.inside->found.loss, 2)},
                                             {"perplexity", number(std::exp(side.inside->found.loss), 3)},
                                             {"step", side.inside->step}})
                                       : "";
  const float width = p.text_width(kBody, loss);
  p.text_in(title.take_right(std::min(width, title.w * 0.7f), 10), kBody, t.ink2, loss, Align::Right);
  p.text_in(title, {Face::Bold, type::title}, t.ink, words::spoken(side.run->name));
  const std::string& why = refused_[side.run->letter];
  if (!why.empty()) {
    ui.mark(fmt::format("inside/refused/{}", side.run->letter), rest, why,
            tr("The stream of the model: a row for each sub-layer, the embedding at the bottom, a "
               "column for each token. Click a cell, or use the arrow keys, to choose a sub-layer and a "
               "token."));
    p.text_wrapped(rest, kBody, t.ink2, why, 18);
    return;
  }
  if (!side.inside) {
    p.text_in(rest, kBody, t.ink3, tr("The model is reading the text."));
    return;
  }
  Lengths lengths;
  for (const Side& any : sides_)
    if (any.inside) lengths.take(any.inside->found, static_cast<Shows>(shows_));
  const GridInput given{.inside = *side.inside,
                        .shows = static_cast<Shows>(shows_),
                        .lengths = lengths.apart(),
                        .selected = selection_in(*side.inside),
                        .letter = side.run->letter,
                        .columns = alone          ? 4
                                   : rest.w > 640 ? 2
                                                  : 1};
  const Rect whole = rest;
  rest.take_top(kState);
  const auto chosen = draw_grid(ui, rest, given);
  draw_state(ui, whole, side);
  if (chosen) {
    selected_ = *chosen;
    detailed_ = side.run->letter;
  }
}

void InsideScreen::draw_sides(Ui& ui, Rect rest) {
  const float width =
      (rest.w - space::gap * static_cast<float>(sides_.size() - 1)) / static_cast<float>(sides_.size());
  for (const Side& side : sides_) draw_side(ui, rest.take_left(width, space::gap), side, sides_.size() == 1);
}

/// The model that the panels below are of; some model has been read.
const InsideScreen::Side& InsideScreen::detailed_side() const {
  const Side* first = nullptr;
  for (const Side& side : sides_) {
    if (!side.inside) continue;
    if (side.run->letter == detailed_) return side;
    if (!first) first = &side;
  }
  return *first;
}

ScreenRequests InsideScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock,
                                  lab::TransportState& transport) {
  desk_ = {};
  take(view, ui.time());
  const Size size = layout_for(ui.size());
  Rect rest = area;
  const Rect bar = rest.take_bottom(size == Size::Compact ? 50.f : 76.f);
  rest = rest.inset(space::margin, space::gap);
  draw_head(ui, rest.take_top(std::min(head_height(ui, rest.w), rest.h), space::gap), view);
  const bool seen = std::ranges::any_of(sides_, &Side::inside);
  if (!seen) {
    draw_nothing(ui, rest, view);
  } else {
    const bool room = rest.h >= kDetails + kLeastMap + 22;
    const Side& detailed = detailed_side();
    const std::string sentence = sentence_of(*detailed.inside);
    const Rect line = rest.take_top(18, 4).inset(space::pad, 0);
    ui.paint().text_in(line, kBody, ui.theme().ink2, ui.paint().fit(kBody, sentence, line.w));
    ui.mark("inside/sentence", line, sentence, tr("What stands out in this text."));
    if (room) {
      draw_details(ui, rest.take_bottom(kDetails, space::gap), detailed);
      draw_sides(ui, rest);
    } else {
      Rect switches = rest.take_top(28, 6);
      const std::string labels[] = {"map", "details"};
      segmented(ui, "inside/tab", switches.take_left(segmented_width(ui, labels)), labels, tab_,
                tr("This window is too low for both: the map of the stream, or what belongs to the chosen "
                   "sub-layer and token."));
      tab_ == 0 ? draw_sides(ui, rest) : draw_details(ui, rest, detailed);
    }
  }
  lab::draw_transport(ui, transport, view, bar, size, clock, desk_.commands);
  lab::transport_keys(ui, transport, view, desk_.commands);
  ask(ui, view, lab::cursor_step(transport, view));
  return std::exchange(desk_, {});
}

}  // namespace normscope::inside

namespace normscope {

ScreenKind inside_kind() {
  return {.make = [](const ScreenSetup&) -> std::unique_ptr<AppScreen> {
            return std::make_unique<inside::InsideScreen>();
          },
          .opens = FileKind::Model};
}

}  // namespace normscope
