// The bottom of the Inside screen: the chosen sub-layer and token. Where its heads look, whose state it is, the
// gradients of its layer, and what each layer would say at the token.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "addons/inside/app/inside_screen.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr float kMatrixName = 74, kHeadNumber = 52;

/// Leaves out the layer that the panel's title has.
std::string matrix_name(const std::string& name, int layer) {
  return layer == 0 ? name : name.substr(name.find('.') + 1);
}

/// The attention of the chosen row's layer.
const Inside::Attention* attention_of(const Inside& found, int row) {
  const int layer = std::max(layer_of(found, row), 1);
  for (const Inside::Attention& attention : found.attention)
    if (attention.layer == layer) return &attention;
  return nullptr;
}

/// Draws a head's probabilities. Where cells would be smaller than three pixels, one stands for the largest of several.
void draw_map(Ui& ui, const Rect& square, const Inside::Attention& attention, int head, size_t tokens,
              int chosen) {
  const SmallPicture small =
      small_picture(&(*attention.probabilities)[static_cast<size_t>(head) * tokens * tokens], tokens,
                    static_cast<size_t>(std::max(square.w / 3, 1.f)));
  draw_probabilities(ui, square, small.cells.data(), small.side);
  const float line = square.h / static_cast<float>(tokens);
  ui.paint().outline({square.x, square.y + line * static_cast<float>(chosen), square.w, std::max(line, 2.f)},
                     ui.theme().ink, 1);
}

/// What the list of heads says of each of them: what the map asks about, otherwise the entropy.
struct HeadNumber {
  std::string title, shorter;
  std::function<double(int head)> value;
  double most = 0;  ///< of the longest bar
};

HeadNumber head_number(const Inside& found, const Inside::Attention& attention, Shows shows, Selection at) {
  HeadNumber number;
  const auto take = [&](std::string title, std::string shorter, std::function<double(int)> value) {
    number = {std::move(title), std::move(shorter), std::move(value), 0};
    for (int h = 0; h < attention.heads; ++h)
      if (std::isfinite(number.value(h))) number.most = std::max(number.most, std::fabs(number.value(h)));
  };
  take(tr("head, entropy in nats"), tr("entropy"),
       [&](int h) { return attention.entropy[static_cast<size_t>(h)]; });
  number.most = std::log(static_cast<double>(found.tokens.size()));
  if (shows == Shows::Attribution && !attention.attribution.empty())
    take(tr("head, logit at the token"), tr("logit"), [&, at](int h) {
      return static_cast<double>(attention.attribution[static_cast<size_t>(h) * found.tokens.size() +
                                                       static_cast<size_t>(at.token)]);
    });
  else if (std::isfinite(without_head(found, attention.name, attention.heads - 1)))
    take(tr("head, loss without it"), tr("loss"),
         [&](int h) { return without_head(found, attention.name, h); });
  return number;
}

void draw_heads(Ui& ui, Rect rest, const GridInput& given, int& head) {
  const Inside& found = given.inside.found;
  const Selection at = given.selected;
  const Theme& t = ui.theme();
  const Inside::Attention* attention = attention_of(found, at.row);
  PanelOptions options;
  options.title = attention ? tr("Where {name} looks", {{"name", attention->name}}) : tr("No attention here");
  options.term = "attention-entropy";
  Rect content = panel(ui, rest, options);
  ui.mark("inside/heads", rest, options.title,
          tr("The attention of the chosen layer: which earlier tokens (across) each token (down) "
             "takes from. Choose a head at the right."));
  if (!attention || attention->heads == 0) return;
  head = std::clamp(head, 0, attention->heads - 1);
  content = content.inset(space::pad, 0);
  content.take_bottom(10);
  const Rect square = content.take_left(std::min(content.h, content.w * 0.6f), 14);
  const Rect map{square.x, square.y, std::min(square.w, square.h), std::min(square.w, square.h)};
  draw_map(ui, map, *attention, head, found.tokens.size(), at.token);
  ui.mark("inside/heads/map", map, fmt::format("{}", head + 1),
          tr("Probability of each key for each query of the chosen head; the colour is its square "
             "root, so that small ones are seen."));
  const HeadNumber shown = head_number(found, *attention, given.shows, at);
  const std::string heading = fitting(ui.paint(), kTick, content.w, {shown.title, shown.shorter});
  ui.paint().text_in(content.take_top(16), kTick, t.ink3, heading);
  const float height = std::min(22.f, content.h / static_cast<float>(attention->heads));
  const Rect list = content;
  HitOptions hits;
  hits.arrows = true;
  const Hit hit = ui.hit(
      "inside/head", list, fmt::format("{}", head + 1),
      tr("The heads with the mean entropy of their attention: 0 looks at one token, the longest bar would look at "
         "all alike. With the map of attributions: what each adds to the logit at the chosen token. With parts left "
         "out: how much the loss rises without it. Click a head or use the arrow keys."),
      hits);
  for (int i = 0; i < attention->heads; ++i) {
    const Rect line{list.x, list.y + height * static_cast<float>(i), list.w, height};
    const double value = shown.value(i);
    const bool chosen = i == head, worded = height >= 11;
    const float names = worded ? 22.f : 0.f, room = line.w - names - (worded ? kHeadNumber + 2 : 0);
    if (worded)
      ui.paint().text_in({line.x, line.y, names, line.h}, {chosen ? Face::Bold : Face::Mono, type::tick},
                         chosen ? t.ink : t.ink3, fmt::format("{}", i + 1));
    ui.paint().fill(
        {line.x + names, line.y + height * 0.2f,
         std::max(1.f, room * static_cast<float>(std::clamp(std::fabs(value) / shown.most, 0.0, 1.0))),
         std::max(1.f, height * 0.6f)},
        (value < 0 ? t.signed_low : t.depth[2]).alpha(chosen ? 1.f : 0.6f));
    if (worded)
      ui.paint().text_in({line.right() - kHeadNumber, line.y, kHeadNumber, line.h}, kMono,
                         chosen ? t.ink : t.ink3, with_minus(decimals(value, 3)), Align::Right);
    if (hit.pressed && line.contains(ui.mouse())) head = i;
    if (line.contains(ui.mouse()) && !ui.popup_open()) ui.tooltip(head_words(given, *attention, i));
  }
  head = std::clamp(head - hit.arrow_y, 0, attention->heads - 1);
}

/// Draws one bar for each of `values`, the largest as high as `rect`.
void draw_bars(Ui& ui, const Rect& rect, const std::vector<double>& values,
               const std::function<std::string(size_t)>& name) {
  const Theme& t = ui.theme();
  double most = 0;
  for (const double value : values)
    if (std::isfinite(value)) most = std::max(most, value);
  const float width = rect.w / static_cast<float>(std::max<size_t>(values.size(), 1));
  ui.paint().hairline({rect.x, rect.bottom()}, {rect.right(), rect.bottom()}, t.axis);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || most <= 0) continue;
    const float height = rect.h * static_cast<float>(values[i] / most);
    const Rect bar{rect.x + width * static_cast<float>(i) + 1, rect.bottom() - height,
                   std::max(width - 2, 1.f), height};
    ui.paint().fill(bar, t.depth[2]);
    const Rect column{bar.x - 1, rect.y, width, rect.h};
    if (column.contains(ui.mouse()) && !ui.popup_open())
      ui.tooltip(tr("{name}: {value}", {{"name", name(i)}, {"value", number(values[i], 3)}}));
  }
}

/// Says whose the chosen token's state is: the share of each branch, from the embedding up.
void draw_shares(Ui& ui, const Rect& rest, const RunInside& inside, Selection at) {
  const Inside& found = inside.found;
  const auto token = static_cast<size_t>(at.token);
  PanelOptions options;
  options.title = tr("What “{token}” is made of behind {row}",
                     {{"row", row_name(found, at.row)}, {"token", word_of(inside, found.tokens[token])}});
  options.term = "beta2";
  Rect content = panel(ui, rest, options).inset(space::pad, 0);
  ui.mark("inside/shares", rest, options.title,
          tr("Share of each part in the variance of the chosen token's state, from the embedding on "
             "the left to the newest branch on the right: β² (Liu et al. 2020) of this token alone. "
             "Norms on the stream shrink what is older; where branches cancel each other, the shares "
             "add up to more than 1."));
  const Rect foot = content.take_bottom(22);
  std::vector<double> shares{1};
  for (int part = 0; part <= at.row && at.row > 0; ++part) {
    shares.resize(static_cast<size_t>(part) + 1);
    shares.back() = static_cast<double>(
        found.sublayers[static_cast<size_t>(at.row - 1)].share(static_cast<size_t>(part), token));
  }
  draw_bars(ui, content, shares, [&](size_t i) { return row_name(found, static_cast<int>(i)); });
  const Theme& t = ui.theme();
  ui.paint().text_in(foot, kTick, t.ink3, tr("embedding"));
  if (shares.size() > 1)
    ui.paint().text_in(foot, kTick, t.ink3, row_name(found, static_cast<int>(shares.size()) - 1),
                       Align::Right);
}

void draw_gradients(Ui& ui, const Rect& rest, Rect content, const Inside& found, int layer) {
  std::vector<const Inside::Gradient*> of_layer;
  std::string said;
  double most = 0;
  for (const Inside::Gradient& gradient : found.gradients) {
    if (gradient.layer != layer) continue;
    of_layer.push_back(&gradient);
    most = std::max(most, gradient.norm);
    said += fmt::format("{} {}, ", gradient.name, number(gradient.norm, 3));
  }
  ui.mark("inside/gradients", rest, said,
          tr("The size ‖g‖ of the gradient of each matrix of the chosen layer, on this text."));
  const float height = std::min(22.f, content.h / static_cast<float>(std::max<size_t>(of_layer.size(), 1)));
  const Theme& t = ui.theme();
  for (const Inside::Gradient* gradient : of_layer) {
    Rect line = content.take_top(height);
    ui.paint().text_in(line.take_left(kMatrixName), kMono, t.ink2, matrix_name(gradient->name, layer));
    ui.paint().text_in(line.take_right(66), kMono, t.ink3, number(gradient->norm, 3), Align::Right);
    ui.paint().fill(
        {line.x, line.y + height * 0.2f,
         std::max(1.f, line.w * static_cast<float>(most > 0 ? gradient->norm / most : 0)), height * 0.6f},
        t.depth[2]);
  }
}

/// Draws singular values from the left, the largest as high as `rect`: bars, or ticks at their height. Where
/// there are more than pixels, some stand for others.
void draw_spectrum(Ui& ui, const Rect& rect, const Spectrum& spectrum, bool bars) {
  const size_t count = spectrum.values.size();
  const double most = count > 0 ? spectrum.values.front() : 0;
  if (!(most > 0)) return;
  const auto shown = std::min(count, static_cast<size_t>(std::max(rect.w / 2, 1.f)));
  const float width = rect.w / static_cast<float>(shown);
  for (size_t i = 0; i < shown; ++i) {
    const float height = rect.h * static_cast<float>(spectrum.values[i * count / shown] / most);
    const Rect bar{rect.x + width * static_cast<float>(i), rect.bottom() - height, std::max(width - 1, 1.f),
                   height};
    if (bars)
      ui.paint().fill(bar, ui.theme().depth[2]);
    else
      ui.paint().fill({bar.x, bar.y - 0.5f, width, 1}, ui.theme().ink);
  }
}

/// Shows what the next step would add to each matrix of the layer: its singular values as bars, the matrix's
/// own above them, and the update-to-weight ratio.
void draw_spectra(Ui& ui, const Rect& rest, Rect content, const RunInside& inside, int layer) {
  const Theme& t = ui.theme();
  std::string said;
  const bool measured = inside.spectra_of == layer;
  for (const MatrixSpectra& m : inside.spectra)
    if (measured) said += fmt::format("{} {}, ", m.name, number(m.ratio(), 3));
  ui.mark("inside/spectra", rest, said,
          tr("Bars: the singular values of what the next step adds to a matrix, the largest at the "
             "left, over the largest. Line: those of the matrix itself. At the right the "
             "update-to-weight ratio. A few high bars mean that the step moves the matrix in few "
             "directions."));
  Rect heading = content.take_top(16, 2);
  if (!measured) {
    ui.paint().text_in(heading, kTick, t.ink3, tr("The next step is taken on a copy."));
    return;
  }
  ui.paint().text_in(heading.take_right(66), kTick, t.ink3, tr("ratio"), Align::Right);
  ui.paint().text_in(heading, kTick, t.ink3, tr("bars: update, line: weights"));
  const float height =
      std::min(36.f, content.h / static_cast<float>(std::max<size_t>(inside.spectra.size(), 1)));
  for (const MatrixSpectra& m : inside.spectra) {
    const Rect whole = content.take_top(height);
    Rect line = whole;
    ui.paint().text_in(line.take_left(kMatrixName), kMono, t.ink2, matrix_name(m.name, layer));
    ui.paint().text_in(line.take_right(66), kMono, t.ink3, number(m.ratio(), 3), Align::Right);
    const Rect place{line.x, line.y + 3, line.w, std::max(line.h - 5, 1.f)};
    draw_spectrum(ui, place, m.update, true);
    draw_spectrum(ui, place, m.weights, false);
    if (whole.contains(ui.mouse()) && !ui.popup_open())
      ui.tooltip(
          tr("{name}: the update is {ratio} times as large as the weights. Of {count} directions the "
             "update uses about {update}, the weights {weights} (effective rank).",
             {{"name", m.name},
              {"ratio", number(m.ratio(), 3)},
              {"count", m.update.values.size()},
              {"update", number(m.update.effective_rank(), 3)},
              {"weights", number(m.weights.effective_rank(), 3)}}));
  }
}

/// Shows the gradients of a layer's matrices or, where that is asked for, the spectra of its next update.
void draw_matrices(Ui& ui, const Rect& rest, const RunInside& inside, int row, bool& spectra) {
  const int layer = layer_of(inside.found, row);
  PanelOptions options;
  options.title = layer == 0 ? tr(spectra ? "Next update outside the layers" : "Gradients outside the layers")
                             : tr(spectra ? "Next update of layer {layer}" : "Gradients of layer {layer}",
                                  {{"layer", layer}});
  options.term = spectra ? "update-ratio" : "gradient-norm";
  Rect content = panel(ui, rest, options).inset(space::pad, 0);
  ButtonOptions look;
  look.selected = spectra;
  look.style = {Face::Sans, type::tick};
  Rect foot = content.take_bottom(22, 6);
  const std::string& text = tr("spectrum of the next update");
  content.take_bottom(4);
  if (button(ui, "inside/spectrum",
             foot.take_left(std::min(foot.w, ui.paint().text_width(look.style, text) + 20)), text,
             tr("Takes the next step on a copy of the model and shows what it adds to each matrix of the "
                "chosen layer, as normscope measure --what spectrum prints it. No bit of the run changes."),
             look))
    spectra = !spectra;
  if (spectra)
    draw_spectra(ui, rest, content, inside, layer);
  else
    draw_gradients(ui, rest, content, inside.found, layer);
}

/// Lists what each layer would say at the chosen token, the last layer on top.
void draw_lens(Ui& ui, const Rect& rest, const RunInside& inside, int token) {
  const Inside& found = inside.found;
  PanelOptions options;
  options.title = tr("After “{token}” each layer would say",
                     {{"token", word_of(inside, found.tokens[static_cast<size_t>(token)])}});
  options.term = "logit-lens";
  Rect content = panel(ui, rest, options).inset(space::pad, 0);
  ui.mark("inside/lens", rest, options.title,
          tr("The model's output layer applied to the state behind each layer, the last layer on top: "
             "its three likeliest tokens. The right one is bold. Early layers were not trained to be "
             "read so."));
  content.take_bottom(8);
  const Theme& t = ui.theme();
  const size_t shown = std::min(found.lens.size(), static_cast<size_t>(std::max(content.h / 16, 1.f)));
  const float height = shown == 0 ? 16 : std::min(20.f, content.h / static_cast<float>(shown));
  for (size_t i = 0; i < shown; ++i) {
    // With too little room the layers are thinned out evenly; the first and the last stay.
    const size_t last = found.lens.size() - 1;
    const size_t layer = shown == 1 ? last : last - i * last / (shown - 1);
    const Inside::Lens& lens = found.lens[layer];
    Rect line = content.take_top(height);
    ui.paint().text_in(line.take_left(66), kMono, t.ink3, lens.name == "embedding" ? tr("emb") : lens.name);
    const size_t each = lens.guesses.size() / std::max<size_t>(found.tokens.size(), 1);
    const float width = line.w / static_cast<float>(std::max<size_t>(each, 1));
    for (size_t g = 0; g < each; ++g) {
      const Inside::Guess& guess = lens.guesses[static_cast<size_t>(token) * each + g];
      const bool right = guess.token == found.targets[static_cast<size_t>(token)];
      Rect place = line.take_left(width - 12, 12);
      ui.paint().text_in(
          place.take_right(38, 4), kMono, t.ink3,
          guess.probability < 0.005f ? "<1 %" : fmt::format("{:.0f} %", 100 * guess.probability),
          Align::Right);
      ui.paint().text_in(place, right ? TextStyle{Face::Bold, type::body} : kBody, right ? t.ink : t.ink2,
                         word_of(inside, guess.token));
    }
  }
}

}  // namespace

void InsideScreen::draw_details(Ui& ui, Rect rest, const Side& side) {
  if (sides_.size() > 1) {
    Rect whose = rest.take_top(22, 4);
    tile(ui, {whose.x, whose.y + 1, 20, 20}, side.run->letter - 'A');
    whose.take_left(28);
    ui.paint().text_in(whose, kBody, ui.theme().ink2,
                       tr("{run}, at the chosen place: click a place of another map for that model.",
                          {{"run", side.run->name}}));
  }
  const RunInside& inside = *side.inside;
  const Selection at = selection_in(inside);
  const bool wide = rest.w >= 1150;
  const float unit = (rest.w - 3 * space::gap) / (wide ? 4.f : 3.f);
  const GridInput given{.inside = inside, .shows = static_cast<Shows>(shows_), .lengths = {}, .selected = at};
  draw_heads(ui, rest.take_left(unit, space::gap), given, head_);
  if (wide) draw_matrices(ui, rest.take_right(unit * 0.75f, space::gap), inside, at.row, spectra_);
  draw_lens(ui, rest.take_right(rest.w * 0.56f, space::gap), inside, at.token);
  draw_shares(ui, rest, inside, at);
}

}  // namespace normscope::inside
