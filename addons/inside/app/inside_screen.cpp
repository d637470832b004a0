#include "addons/inside/app/inside_screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "addons/inside/app/inspected.h"
#include "addons/published/training/token_task.h"
#include "app/link/link.h"
#include "app/ui/widgets.h"
#include "app/view/lab_data.h"
#include "training/io/codec.h"

namespace normscope::inside {
using namespace ui;
namespace {

constexpr size_t kMaxSides = 2;
constexpr double kWhilePlaying = 0.7;   ///< seconds at least between two looks at a run that trains
constexpr double kShareOfTraining = 5;  ///< a look waits this many times the duration of the last one
constexpr double kEachToken = 0.2;      ///< seconds at least between two tokens that a model writes
constexpr double kPatience = 0.3;       ///< seconds for which an older look is shown without a notice
constexpr float kDetails = 268, kMinMap = 210, kState = 16;

constexpr float kLine = 21, kRow = 30;
constexpr float kMaxLines = 3, kDraws = 260;  ///< width of the fields that say how a model writes
constexpr float kWideHead = 1150,
                kChoice = 112;  ///< from this width on a row of choices, otherwise a list of this width
constexpr float kMaxLoss = 12;  ///< nats: as dark as a token gets

constexpr float kProgress = 5;  ///< height of its bar

/// Draws how much of an inquiry is done, where one is under way.
void draw_progress(Ui& ui, const Rect& rest, const RunView& run) {
  if (run.inquiry_parts <= 0) return;
  const Rect bar{rest.x, rest.y, std::clamp(rest.w, 0.f, 180.f), kProgress};
  const float share = static_cast<float>(run.inquiry_done) / static_cast<float>(run.inquiry_parts);
  ui.paint().fill(bar, ui.theme().sunk, kProgress / 2);
  ui.paint().fill({bar.x, bar.y, bar.w * std::min(share, 1.f), bar.h}, ui.theme().ink2, kProgress / 2);
}

/// A box for each token, in lines of width `room`, from (0, 0).
std::vector<Rect> boxes_of(const Painter& p, const RunInside& inside, float room) {
  std::vector<Rect> boxes;
  float x = 0, y = 0;
  for (const int32_t token : inside.found.tokens) {
    const float width = std::max(p.text_width(kBody, word_of(inside, token)) + 8, 14.f);
    if (x + width > room && x > 0) {
      x = 0;
      y += kLine;
    }
    boxes.push_back({x, y, width, kLine - 3});
    x += width + 2;
  }
  return boxes;
}

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

/// The columns that fit, the most informative ones first.
std::vector<Column> columns_of(const GridInput& given) {
  const Inside& found = given.inside.found;
  const bool dominated = dominant_of(found).has_value();
  std::vector<Column> columns{
      {dominated ? "share_median" : "share", dominated ? "own share β², median" : "own share β²",
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
        {"gradient", "gradient ‖g‖",
         "The size ‖g‖ of the loss's gradient for all matrices of the sub-layer together, on this "
         "text.",
         [&](const Inside::Sublayer& s) { return gradient_of(found, s.name); }});
  columns.push_back({"turn", "turn (1 − cosine)",
                     "1 minus the cosine between the stream before and behind the sub-layer, a mean over the "
                     "tokens. 0: the sub-layer changed nothing about the direction.",
                     [](const Inside::Sublayer& s) { return 1 - s.layer_cosine; }});
  columns.resize(std::min(columns.size(), static_cast<size_t>(given.columns)));
  return columns;
}

constexpr const char* kMenu = "inside/save";

/// The answer of normscope inspect for the same model and text.
Inspection inspected_of(const RunView& run, const RunInside& inside) {
  Inspection all{.name = run.name,
                 .decoder = run.spec->model.architecture == Architecture::Decoder,
                 .about = {{"run", run.name}, {"step", inside.step}}};
  put_settings(all.about, *run.spec);
  if (run.spec->data.name == "passage") all.unit = "token";
  all.text_of = [&inside](int32_t token) {
    const auto at = inside.words.find(token);
    return at == inside.words.end() ? std::string() : at->second;
  };
  all.inside = inside.found;
  return all;
}

}  // namespace

void InsideScreen::restore(const ScreenSettings& kept) {
  if (kept.empty()) return;
  link::ScreenSettingsReader reader(Screen::Inside, kept);
  text_ = reader.text("text").value_or("");
  const std::string runs = reader.text("runs").value_or("");
  letters_ = runs.empty() ? "A" : runs.substr(0, kMaxSides);
  asked_.clear();
  refused_.clear();
  wanted_.clear();
  selected_ = {};
  left_out_ = spectra_ = false;
}

/// Takes a refusal of the requested look, finds the models of this frame, and times a finished look.
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
    const RunInside* newest = inside_of(run);
    if (!newest) measured_.erase(letter);
    if (newest && !newest->found.sublayers.empty()) measured_[letter] = run.inquiry;
    const auto measured = measured_.find(letter);
    sides_.push_back(
        {&run, measured == measured_.end() ? nullptr : static_cast<const RunInside*>(measured->second.get()),
         newest, wanted != wanted_.end() && now - wanted->second > kPatience});
  }
}

/// Requests a look that is missing, out of date, or was interrupted; one at a time, because the trainer does nothing
/// else meanwhile.
void InsideScreen::ask(Ui& ui, const LabView& view, int cursor) {
  due_ = false;
  for (const Side& side : sides_) {
    Request now{.letter = side.run->letter,
                .step = std::min(side.run->step, cursor),
                .spec = side.run->spec,
                .at = ui.time()};
    now.asked = {.text = text_,
                 .left_out = left_out_,
                 .backward_lens = static_cast<Shows>(shows_) == Shows::Learns,
                 .draws = writing_ ? draws_ : Draws()};
    if (spectra_ && side.inside)
      now.asked.spectra_of = layer_of(side.inside->found, selection_in(*side.inside).row);
    const auto before = asked_.find(now.letter);
    const bool ended = side.newest && !side.newest->whole && side.run->inquiry_parts == 0 && !waiting_;
    if (before != asked_.end() && before->second.same(now) && !ended) {
      const bool again = now.step < side.run->step && side.inside && side.inside->step != now.step &&
                         side.run->inquiry_parts > 0;  // its steps are being trained
      const bool reads = side.newest && side.newest->found.sublayers.empty();
      if (!again && !reads && (!waiting_ || waiting_->letter != now.letter)) wanted_.erase(now.letter);
      continue;
    }
    // A step of training may wait for its look; a user's request is answered at once.
    const bool moved = before != asked_.end() && before->second.asked == now.asked;
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
    now.asked.run = view::find_run(view, now.letter);
    if (now.step < side.run->step) now.asked.step = now.step;
    requests_.commands.emplace_back(look_command(now.asked));
  }
  for (const auto& [letter, since] : wanted_)
    if (ui.time() - since < kPatience) ui.animate();
}

void InsideScreen::toggle(char letter, const LabView& view, double now) {
  const size_t at = letters_.find(letter);
  if (at != letters_.npos) {
    if (letters_.size() > 1) letters_.erase(at, 1);
  } else {
    if (letters_.size() == kMaxSides) letters_.erase(0, 1);
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

/// Says what a model that has not answered yet is doing, beside its older answer or where there is none. An earlier
/// step has to be trained again first.
std::string InsideScreen::waiting_words(const Side& side) const {
  const auto asked = asked_.find(side.run->letter);
  if (asked == asked_.end() || asked->second.step >= side.run->step)
    return tr(side.inside ? "Measuring: below is still what was asked for before."
                          : "The model is reading the text.");
  return tr(
      side.inside
          ? "Step {step} is trained again, then the model reads the text: below is still what was asked "
            "for before."
          : "Step {step} is trained again, then the model reads the text.",
      {{"step", grouped(asked->second.step)}});
}

void InsideScreen::draw_nothing(Ui& ui, const Rect& rect, const LabView& view) {
  panel(ui, rect, {});
  const std::string why = sides_.empty() ? "" : refused_[sides_[0].run->letter];
  const std::string words =
      view.runs.empty()
          ? tr(view.busy ? "The model is being read from its files."
                         : "There is no model to look into: open one, or start a run in the Lab.")
      : why.empty() && !sides_.empty() ? waiting_words(sides_[0])
                                       : why;
  ui.mark("inside/none", rect, words, map_help());
  Rect middle{rect.x + space::pad, rect.centre().y - 10, rect.w - 2 * space::pad, 60};
  ui.paint().text_wrapped(middle, kBody, ui.theme().ink2, words, 18);
  middle.take_top(28);
  if (!sides_.empty()) draw_progress(ui, middle, *sides_[0].run);
}

/// Says how much is still being measured, or that one token dominates. A look older than the request is dimmed.
void InsideScreen::draw_state(Ui& ui, Rect rest, const Side& side) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunInside& inside = *side.inside;
  Rect line = rest.take_top(kState);
  const auto dominant = dominant_of(inside.found);
  std::string said;
  if (side.older)
    said = waiting_words(side);
  else if (side.run->inquiry_parts > 0)
    said = tr("Measuring, {done} of {parts}: the rest comes by itself.",
              {{"done", side.run->inquiry_done}, {"parts", side.run->inquiry_parts}});
  else if (dominant)
    said = tr("“{token}” dominates: behind {row} its state is {times} times as long as the median one.",
              {{"token", word_of(inside, inside.found.tokens[dominant->token])},
               {"row", inside.found.sublayers[dominant->sublayer].name},
               {"times", number(dominant->times, 3)}});
  if (side.older) p.fill(rest, t.panel.alpha(kOlder));
  if (said.empty()) return;
  ui.mark(
      fmt::format("inside/state/{}", side.run->letter), line, said,
      dominant && !busy()
          ? tr("Taken over all tokens, shares and variances say what this one token does. So the own shares here are "
               "the median over the tokens, each token's share in its own state. A token dominates where its state is "
               "at least ten times as long as the median one, which is our rule.")
          : map_help());
  line.take_left(p.text_in(line, kTick, t.ink2, said) + 12);
  line.take_top((line.h - kProgress) / 2);
  draw_progress(ui, line, *side.run);
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
    ui.mark(fmt::format("inside/refused/{}", side.run->letter), rest, why, map_help());
    p.text_wrapped(rest, kBody, t.ink2, why, 18);
    return;
  }
  if (!side.inside) {
    p.text_in(rest.take_top(22), kBody, t.ink3, waiting_words(side));
    return draw_progress(ui, rest, *side.run);
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
                                                  : 1,
                        .head = head_};
  const Rect whole = rest;
  rest.take_top(kState);
  std::optional<Selection> chosen;
  if (given.shows != Shows::Heads) {
    chosen = draw_grid(ui, rest, given);
  } else if (const auto head = draw_all_heads(ui, rest, given)) {
    chosen = Selection{head->row, given.selected.token};
    head_ = head->head;
  }
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

/// The model of the panels below. At least one model has been read.
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
  requests_ = {};
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
    const bool room = rest.h >= kDetails + kMinMap + 22;
    const Side& detailed = detailed_side();
    std::vector<std::string> sentences = sentences_of(*detailed.inside, selection_in(*detailed.inside).row);
    const std::string whole = fmt::format("{}", fmt::join(sentences, " "));
    const Rect line = rest.take_top(18, 4).inset(space::pad, 0);
    const auto shown = [&] { return fmt::format("{}", fmt::join(sentences, " ")); };
    while (sentences.size() > 1 && ui.paint().text_width(kBody, shown()) > line.w) sentences.pop_back();
    ui.paint().text_in(line, kBody, detailed.older ? ui.theme().ink3 : ui.theme().ink2,
                       ui.paint().fit(kBody, shown(), line.w));
    ui.mark("inside/sentence", line, whole, tr("What stands out in this text."));
    ui.begin_region("details");
    if (room) {
      draw_details(ui, rest.take_bottom(kDetails, space::gap), detailed);
      ui.begin_region("map");
      draw_sides(ui, rest);
    } else {
      Rect switches = rest.take_top(28, 6);
      const std::vector<words::Label> labels = labels_of({"map", "details"});
      segmented(ui, "inside/tab", switches.take_left(segmented_width(ui, labels)), labels, tab_,
                tr("This window is too low for both: the map of the stream, or what belongs to the chosen "
                   "sub-layer and token."));
      tab_ == 0 ? draw_sides(ui, rest) : draw_details(ui, rest, detailed);
    }
  }
  lab::draw_transport(ui, transport, view, bar, size, clock, requests_.commands, lab::timeline_marks(view));
  lab::transport_keys(ui, transport, view, requests_.commands);
  ask(ui, view, lab::cursor_step(transport, view));
  return std::exchange(requests_, {});
}

const RunInside* InsideScreen::first_read() const {
  for (const Side& side : sides_)
    if (side.newest) return side.newest;
  return nullptr;
}

float InsideScreen::head_height(Ui& ui, float width) const {
  const RunInside* seen = first_read();
  const float lines =
      seen ? boxes_of(ui.paint(), *seen, width - 2 * space::pad - kDraws - 10).back().bottom() : kLine;
  return 8 + kRow + 8 + std::clamp(lines, kLine, kMaxLines * kLine) + 8;
}

void InsideScreen::draw_head(Ui& ui, Rect rest, const LabView& view) {
  panel(ui, rest, {});
  rest = rest.inset(space::pad, 8);
  Rect row = rest.take_top(kRow, 8);
  for (const RunView& run : view.runs) {
    const Rect place = row.take_left(28, 6);
    if (tile_button(
            ui, fmt::format("inside/run/{}", run.letter), {place.x, place.y + 2, 26, 26}, run.letter - 'A',
            letters_.find(run.letter) != letters_.npos,
            tr("{run}: shown here or not. Two models at most stand side by side, on the same text and "
               "the same scale.",
               {{"run", words::spoken(run.name)}})))
      toggle(run.letter, view, ui.time());
  }
  row.take_left(6);
  draw_save_menu(ui, centred(row.take_right(28, 8).centre(), 26, 26));
  const std::vector<words::Label> labels =
      labels_of({"length", "gradient", "says", "learns", "attribution", "heads"});
  const std::string helps[] = {
      tr("How long the state of each token is behind each sub-layer: |x|. A token whose state is "
         "far longer than the others' has a massive activation."),
      tr("How strongly the loss depends on the state of each token behind each sub-layer: the "
         "length of its gradient. Where a column fades on the way down, little of what that token "
         "learns reaches the layers below."),
      tr("What the model would say next if its output layer read the state there, and how sure it "
         "would be: the logit lens. It is taken behind whole layers, so a cell is as high as its "
         "layer."),
      tr("What a step of gradient descent raises most in each state, beside what its own gradient asks for (the Backward "
         "Lens, Katz et al. 2024). It is measured when it is chosen."),
      tr("How much each sub-layer adds to the logit of the right next token, the statistics of all norms held as they are: "
         "direct logit attribution (Elhage et al. 2021). Of what the model is not asked for, the token that it finds "
         "likeliest. It says nothing of what a sub-layer does through later ones."),
      tr("Where every head looks, small: a column for each layer, a row for each head.")};
  const std::string shows = tr("What the cells of the map show.");
  if (rest.w < kWideHead)
    choice(ui, "inside/shows", row.take_right(kChoice, 10), labels, shows_, shows);
  else
    segmented(ui, "inside/shows", row.take_right(segmented_width(ui, labels), 10), labels, shows_, shows,
              helps);
  const std::string leave = tr("Leave each part out");
  ButtonOptions options{.selected = left_out_, .style = {Face::Sans, type::title}};
  const Rect leave_at = row.take_right(ui.paint().text_width(options.style, leave) + 26, 10);
  if (button(
          ui, "inside/leave_out", leave_at, leave,
          tr("Measures the loss with each sub-layer, then with each head left out, one after the other: what the model would "
             "lose without it. A forward pass for each."),
          options))
    left_out_ = !left_out_;
  draw_write_on(ui, row);
  const bool passage = !view.runs.empty() && view.runs[0].spec->data.name == "passage";
  if (passage) {
    const std::string learn = tr("Learn this text");
    ButtonOptions primary{.enabled = !text_.empty() && text_ != passage_of(view.runs[0].spec->data)};
    if (button(ui, "inside/learn", row.take_right(ui.paint().text_width(primary.style, learn) + 28, 10),
               learn,
               tr("All models start again from their opened weights and learn this text; Space trains. "
                  "Their own text changes to this one."),
               primary))
      requests_.commands.emplace_back(session::EditField{-1, "data.passage", text_});
  }
  text_field(ui, "inside/text", row, tr("Type or paste a text"), text_,
             tr("The model reads this text and everything below answers at once. Empty: the text that "
                "the run itself is measured on."));
  draw_draws(ui, rest.take_right(kDraws, 10));
  if (const RunInside* seen = first_read()) draw_tokens(ui, rest, *seen);
}

/// Draws how the next token is chosen.
void InsideScreen::draw_draws(Ui& ui, Rect rest) {
  auto seed = static_cast<double>(draws_.seed);
  rest = rest.take_top(kLine);
  const bool drawn = draws_.temperature > 0;
  field(
      ui, "inside/temperature", rest.take_left(rest.w * 0.5f, 6), tr("temperature"), draws_.temperature,
      tr("How the model writes on. 0: each time the token that it finds likeliest. T: a token drawn with the "
         "probabilities softmax(logits / T). The same text, temperature and seed write the same, as normscope "
         "inspect --continue does."),
      {.lo = 0, .hi = 2, .step = 0.1, .track = false});
  field(ui, "inside/seed", rest, tr("seed"), seed, tr("Of the random numbers with which tokens are drawn."),
        {.lo = 1, .hi = 9999, .integer = true, .enabled = drawn, .track = false});
  draws_.seed = static_cast<uint64_t>(seed);
}

/// Draws the button "Write on", and appends the model's next token while it is pressed.
void InsideScreen::draw_write_on(Ui& ui, Rect& row) {
  const Side* side = std::ranges::any_of(sides_, &Side::inside) ? &detailed_side() : nullptr;
  ButtonOptions options{.selected = writing_, .style = {Face::Sans, type::title}};
  options.enabled = side && side->run->spec->model.architecture == Architecture::Decoder;
  const std::string label = tr("Write on");
  if (button(
          ui, "inside/write", row.take_right(ui.paint().text_width(options.style, label) + 26, 10), label,
          tr("The model writes on, token by token, and everything below follows: each time the token that it finds "
             "likeliest or, at a temperature, one that is drawn. It stops at a second click, at an edit of the text, "
             "or when the model reads no more. An encoder writes nothing."),
          options)) {
    writing_ = !writing_;
    written_.reset();
  }
  if (!writing_) return;
  ui.animate();
  const auto refused = [](const auto& why) { return !why.second.empty(); };
  if (!side || (written_ && written_->text != text_) || std::ranges::any_of(refused_, refused)) {
    writing_ = false;
    return;
  }
  const Inside& found = side->inside->found;
  const bool ready = !busy() && side->inside->text == text_ && side->inside->draws == draws_;
  if (!ready || (written_ && ui.time() - written_->at < kEachToken)) return;
  if (found.tokens.size() >= most_inside(side->run->spec->model) ||
      (written_ && found.tokens.size() <= written_->tokens)) {  // the last one was the end, which is no text
    writing_ = false;
    return;
  }
  const auto word = [&](int32_t token) { return side->inside->words.at(token); };
  if (text_.empty())
    for (const int32_t token : found.tokens) text_ += word(token);
  text_ += word(found.next);
  written_ = Continuation{text_, found.tokens.size(), ui.time()};
  selected_.token = -1;  // the newest but one, which foresees the newest
}

/// Draws the text as the model reads it: a box for each token.
void InsideScreen::draw_tokens(Ui& ui, const Rect& rect, const RunInside& inside) {
  const Inside& found = inside.found;
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  HitOptions options{.arrows = Arrows::Across, .tooltip = false};
  const Selection at = selection_in(inside);
  const Hit hit =
      ui.hit("inside/token", rect, word_of(inside, found.tokens[static_cast<size_t>(at.token)]),
             tr("The text as the model has it, a box for each token; the darker side of the scale was "
                "expected less. Click a token to choose it."),
             options);
  p.push_clip(rect);
  const std::vector<Rect> boxes = boxes_of(p, inside, rect.w);
  for (size_t i = 0; i < found.tokens.size(); ++i) {
    const std::string word = word_of(inside, found.tokens[i]);
    const Rect box = boxes[i].moved(rect.x, rect.y);
    if (box.bottom() > rect.bottom() + 1) break;
    // A token's loss is at the position that predicted it: a decoder's previous token, an encoder's own.
    const bool ahead = !found.targets.empty() && found.targets != found.tokens;
    const float loss = !ahead ? found.token_loss.empty() ? NAN : found.token_loss[i]
                       : i == 0 || found.token_loss.empty() ? NAN
                                                            : found.token_loss[i - 1];
    const Colour fill = std::isfinite(loss) ? heat_colour(t, std::min(loss / kMaxLoss, 1.f)) : t.sunk;
    p.fill(box, fill, 3);
    p.text_in(box, kBody, ink_on(fill), word, Align::Centre);
    if (static_cast<int>(i) == at.token) p.outline(box, t.ink, 2, 3);
    if (!box.contains(ui.mouse()) || !hit.hovered) continue;
    ui.tooltip(std::isfinite(loss) ? tr("“{token}” cost {loss} nats: the model gave it {share} %.",
                                        {{"token", word},
                                         {"loss", number(static_cast<double>(loss), 3)},
                                         {"share", number(100 * std::exp(-static_cast<double>(loss)), 2)}})
                                   : tr("“{token}”: nothing stands before it, so the model was not asked.",
                                        {{"token", word}}));
    if (hit.pressed) selected_ = {at.row, static_cast<int>(i)};
  }
  p.pop_clip();
  if (hit.arrow_x != 0)
    selected_ = {at.row, std::clamp(at.token + hit.arrow_x, 0, static_cast<int>(found.tokens.size()) - 1)};
}

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

std::vector<std::string> sentences_of(const RunInside& inside, int row) {
  constexpr double kOne = 0.95;  // a mean cosine from which on states count as one
  const Inside& found = inside.found;
  std::vector<std::string> sentences;
  if (!found.backward_lens.empty() && row > 0) {
    const Inside::BackwardLens& lens = found.backward_lens[static_cast<size_t>(row - 1)];
    sentences.push_back(tr(
        "{row}: at {asked} of {all} tokens the gradient asks for the right one, and at {raised} a step raises it most.",
        {{"row", lens.name},
         {"asked", right_of(found, lens.asked)},
         {"all", std::ranges::count_if(found.targets, [](int32_t target) { return target >= 0; })},
         {"raised", right_of(found, lens.raised)}}));
  }
  if (!found.sublayers.empty() && std::isfinite(found.sublayers.back().token_cosine)) {
    const Inside::Sublayer& last = found.sublayers.back();
    sentences.push_back(
        tr(last.token_cosine >= kOne
               ? "All {tokens} tokens have nearly one state behind {row}: mean cosine {cosine}."
               : "The states of the {tokens} tokens stay apart: mean cosine {cosine} behind {row}.",
           {{"tokens", found.tokens.size()},
            {"row", last.name},
            {"cosine", with_minus(decimals(last.token_cosine, 2))}}));
  }
  const auto less = [](float a, float b) { return !std::isfinite(a) || (std::isfinite(b) && a < b); };
  const auto worst = std::ranges::max_element(found.token_loss, less);
  // A decoder's loss is at the position before the predicted token.
  const bool ahead = !found.targets.empty() && found.targets != found.tokens;
  const auto token = static_cast<size_t>(worst - found.token_loss.begin()) + (ahead ? 1 : 0);
  if (worst != found.token_loss.end() && std::isfinite(*worst) && token < found.tokens.size())
    sentences.push_back(tr("The model foresaw “{token}” worst: {loss} nats.",
                           {{"token", word_of(inside, found.tokens[token])},
                            {"loss", ui::number(static_cast<double>(*worst), 3)}}));
  const auto turned = std::ranges::min_element(
      found.sublayers, [](const auto& a, const auto& b) { return a.layer_cosine < b.layer_cosine; });
  if (turned != found.sublayers.end() && std::isfinite(turned->layer_cosine))
    sentences.push_back(tr("{row} turned its stream most.", {{"row", turned->name}}));
  return sentences;
}

void InsideScreen::save(const std::string& ending) {
  for (const Side& side : sides_) {
    if (!side.inside) continue;
    const Inspection all = inspected_of(*side.run, *side.inside);
    std::string text = ending == "svg" ? norms_svg(all) : to_lines(json_of(all)) + "\n";
    requests_.files.push_back(
        {fmt::format("inside-{}-{}.{}", side.run->letter, side.inside->step, ending), std::move(text)});
  }
}

void InsideScreen::draw_save_menu(Ui& ui, const Rect& place) {
  const std::vector<FileRow> rows{
      {"svg", tr("Save the map as SVG"),
       tr("The length of each token's state after each layer, the picture that normscope inspect "
          "--svg draws.")},
      {"json", tr("Save all numbers as JSON"),
       tr("All that is measured here, as normscope inspect --json writes it: stream, shares, "
          "attention, gradients, the logit lens.")}};
  FileMenuOptions options{.enabled = std::ranges::any_of(sides_, &Side::inside), .shortcut = "Ctrl+E"};
  const std::string chosen =
      file_menu(ui, kMenu, place,
                tr("Save what stands here as a picture or as numbers (Ctrl+E): a file for each model, into "
                   "the pictures folder."),
                rows, options);
  if (!chosen.empty()) save(chosen);
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
