#include <algorithm>

#include "addons/inside/app/inside_screen.h"
#include "app/ui/widgets.h"

namespace normscope::inside {
using namespace ui;
namespace {

constexpr float kNames = 74, kFoot = 48, kLabel = 15;

/// The geometry of the map: rows and tokens.
struct Cells {
  Rect area;
  int rows = 0, tokens = 0;
  float height() const { return area.h / static_cast<float>(rows); }
  float width() const { return area.w / static_cast<float>(tokens); }
  Rect at(int row, int token) const {
    return {area.x + width() * static_cast<float>(token),
            area.bottom() - height() * static_cast<float>(row + 1), width(), height()};
  }
  Selection under(Vec point) const {
    return {std::clamp(static_cast<int>((area.bottom() - point.y) / height()), 0, rows - 1),
            std::clamp(static_cast<int>((point.x - area.x) / width()), 0, tokens - 1)};
  }
};

/// The length of a state or, where the map shows gradients, of its gradient; NaN where that was not kept.
float length_of(const Inside& found, Shows shows, int row, int token) {
  const bool gradient = shows == Shows::Gradient;
  const Inside::Sublayer* s = row == 0 ? nullptr : &found.sublayers[static_cast<size_t>(row - 1)];
  const std::vector<float>& row_of =
      gradient ? (s ? s->gradients : found.embedding_gradients) : (s ? s->norms : found.embedding);
  return row_of.empty() ? std::numeric_limits<float>::quiet_NaN() : row_of[static_cast<size_t>(token)];
}

/// The logit lens after the layer of a row: within a layer there is none.
const Inside::Lens* lens_of(const Inside& found, int row) {
  for (const Inside::Lens& lens : found.lens)
    if (lens.layer == layer_of(found, row)) return &lens;
  return nullptr;
}

/// Whether a row is the lowest of its layer.
bool starts_layer(const Inside& found, int row) {
  return row == 0 || layer_of(found, row - 1) != layer_of(found, row);
}

const Inside::Guess* first_guess(const Inside& found, const Inside::Lens& lens, int token) {
  const size_t each = lens.guesses.size() / std::max<size_t>(found.tokens.size(), 1);
  return each == 0 ? nullptr : &lens.guesses[static_cast<size_t>(token) * each];
}

/// The backward lens of a row; null for the embedding, and where it was not measured.
const Inside::BackwardLens* backward_lens_of(const Inside& found, int row) {
  return found.backward_lens.empty() || row == 0 ? nullptr
                                                 : &found.backward_lens[static_cast<size_t>(row - 1)];
}

/// The logit that the branch of a row adds to the token's symbol; NaN where nothing is attributed.
float attribution_of(const Inside& found, int row, int token) {
  const std::vector<float>& parts =
      row == 0 ? found.attributed.embedding : found.sublayers[static_cast<size_t>(row - 1)].attribution;
  return parts.empty() ? std::numeric_limits<float>::quiet_NaN() : parts[static_cast<size_t>(token)];
}

/// The symbol that a step raises most in a cell, and how much; no symbol where nothing was measured or moves.
Inside::Change raised_at(const Inside& found, int row, int token) {
  const Inside::BackwardLens* lens = backward_lens_of(found, row);
  return lens ? lens->raised[static_cast<size_t>(token)] : Inside::Change();
}

/// Signed square root of the share of the largest, so that small values stay visible.
float signed_share(float value, float most) {
  return most > 0 ? std::copysign(std::sqrt(std::fabs(value) / most), value) : 0;
}

float most_raised(const Inside& found, int row, int token) { return raised_at(found, row, token).nats; }

/// The largest size of a number over all cells.
float most_of(const Inside& found, float (*number)(const Inside& found, int row, int token)) {
  float most = 0;
  for (int row = 0; row < rows_of(found); ++row)
    for (int token = 0; token < static_cast<int>(found.tokens.size()); ++token)
      if (const float part = std::fabs(number(found, row, token)); std::isfinite(part))
        most = std::max(most, part);
  return most;
}

/// Fills a cell, and writes a word into it if there is room.
void draw_said(Ui& ui, const Rect& cell, const GridInput& given, int32_t token, float share) {
  const Colour fill = heat_colour(ui.theme(), share);
  ui.paint().fill(cell, fill);
  if (cell.w >= 26 && cell.h >= 11)
    ui.paint().text_in(cell.inset(2, 0), kTick, ink_on(fill), word_of(given.inside, token), Align::Centre);
}

/// Draws the cell of a row; the guess of a layer is one cell over all of its rows.
void draw_cell(Ui& ui, const GridInput& given, const Cells& cells, int row, int token) {
  Rect cell = cells.at(row, token);
  const Inside& found = given.inside.found;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (given.shows == Shows::Attribution) {
    const float part = attribution_of(found, row, token);
    if (std::isfinite(part)) return p.fill(cell, signed_colour(t, signed_share(part, given.lengths.high)));
    return found.attributed.symbol.empty() ? void() : p.hatch(cell, t.error, 2, 6);
  }
  if (given.shows == Shows::Learns) {
    const Inside::Change raised = raised_at(found, row, token);
    return raised.token < 0 ? void()
                            : draw_said(ui, cell, given, raised.token, raised.nats / given.lengths.high);
  }
  if (given.shows != Shows::Says) {
    const float length = length_of(found, given.shows, row, token);
    if (std::isfinite(length)) return p.fill(cell, heat_colour(t, given.lengths.share(length)));
    return p.hatch(cell, t.error, 2, 6);
  }
  if (!starts_layer(found, row)) return;
  const Inside::Lens* lens = lens_of(found, row);
  const Inside::Guess* guess = lens ? first_guess(found, *lens, token) : nullptr;
  if (!guess) return;
  while (++row < cells.rows && layer_of(found, row) == layer_of(found, row - 1)) {
    cell.y -= cells.height();
    cell.h += cells.height();
  }
  draw_said(ui, cell, given, guess->token, guess->probability);
}

/// Writes the tokens below the map, in enough lines that a word has space.
void draw_words(Ui& ui, const GridInput& given, const Cells& cells, const Rect& foot) {
  const Theme& t = ui.theme();
  const int lines =
      std::clamp(static_cast<int>(std::ceil(42 / cells.width())), 1, static_cast<int>(kFoot / kLabel));
  const int each = std::max(1, static_cast<int>(std::ceil(42 / (cells.width() * static_cast<float>(lines)))));
  for (int i = 0; i < cells.tokens; i += each) {
    const int line = i / each % lines;
    const Rect cell = cells.at(0, i);
    const Rect box{cell.x, foot.y + kLabel * static_cast<float>(line),
                   cells.width() * static_cast<float>(lines * each) - 3, kLabel};
    const bool chosen = i == given.selected.token;
    ui.paint().text_in(box.intersect({foot.x, foot.y, foot.w, foot.h}),
                       chosen ? TextStyle{Face::Bold, type::tick} : kTick, chosen ? t.ink : t.ink2,
                       word_of(given.inside, given.inside.found.tokens[static_cast<size_t>(i)]));
  }
}

/// Names the layers; the rows of a layer share a name where only one fits.
void draw_names(Ui& ui, const GridInput& given, const Cells& cells, const Rect& names) {
  const Inside& found = given.inside.found;
  const Theme& t = ui.theme();
  const float height = cells.height();
  int last = -1;
  float used = std::numeric_limits<float>::infinity();
  for (int row = 0; row < cells.rows; ++row) {
    const int layer = layer_of(found, row);
    const Rect line = cells.at(row, 0);
    const bool every = height >= 12;
    const Rect box{names.x, line.centre().y - 7, names.w - 6, 14};
    if ((!every && layer == last) || box.bottom() > used + 2) continue;
    last = layer;
    used = box.y;
    const bool chosen = row == given.selected.row;
    ui.paint().text_in(box, {chosen ? Face::Bold : Face::Mono, type::tick}, chosen ? t.ink : t.ink3,
                       every      ? row_name(found, row)
                       : row == 0 ? tr("emb")
                                  : fmt::format("L{:02}", layer),
                       Align::Right);
  }
}

std::string signed_nats(float nats) {
  return (nats > 0 ? "+" : "") + with_minus(number(static_cast<double>(nats), 2));
}

std::string cell_words(const GridInput& given, Selection at) {
  const Inside& found = given.inside.found;
  const std::string token = word_of(given.inside, found.tokens[static_cast<size_t>(at.token)]);
  std::string text =
      tr("{row}, at “{token}”: |x| = {length}.",
         {{"row", row_name(found, at.row)},
          {"token", token},
          {"length", number(static_cast<double>(length_of(found, Shows::Length, at.row, at.token)), 3)}});
  if (const float gradient = length_of(found, Shows::Gradient, at.row, at.token); std::isfinite(gradient))
    text += " " + tr("The gradient of the loss there is {length} long.",
                     {{"length", number(static_cast<double>(gradient), 3)}});
  if (const float part = attribution_of(found, at.row, at.token); std::isfinite(part))
    text +=
        " " +
        tr("It adds {part} to the logit of “{word}”, which is {logit} above the mean.",
           {{"part", with_minus(number(static_cast<double>(part), 3))},
            {"word", word_of(given.inside, found.attributed.symbol[static_cast<size_t>(at.token)])},
            {"logit", with_minus(number(
                          static_cast<double>(found.attributed.logit[static_cast<size_t>(at.token)]), 3))}});
  const Inside::Lens* lens = lens_of(found, at.row);
  const Inside::Guess* guess = lens ? first_guess(found, *lens, at.token) : nullptr;
  if (guess)
    text += " " + tr("Behind {layer} it would say “{word}” ({share} %).",
                     {{"layer", lens->layer == 0 ? tr("embedding") : lens->name},
                      {"word", word_of(given.inside, guess->token)},
                      {"share", number(100 * static_cast<double>(guess->probability), 2)}});
  if (const Inside::Change raised = raised_at(found, at.row, at.token); raised.token >= 0)
    text += " " + tr("A step against the gradient raises “{word}” most ({nats} nats).",
                     {{"word", word_of(given.inside, raised.token)}, {"nats", signed_nats(raised.nats)}});
  return text;
}

void draw_legend(Ui& ui, Rect line, const GridInput& given) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  const bool percent = given.shows == Shows::Says || given.shows == Shows::Heads,
             both = given.shows == Shows::Attribution;
  const std::string high = percent ? "100 %" : number(static_cast<double>(given.lengths.high), 2),
                    low = percent                        ? "0 %"
                          : both                         ? with_minus("-" + high)
                          : given.shows == Shows::Learns ? "0"
                                                         : number(static_cast<double>(given.lengths.low), 2);
  constexpr const char* kLegends[] = {
      "length of each token's state",
      "length of the loss gradient at each token's state",
      "what the model would say here, and how sure it is",
      "what a step against the gradient raises most, in nats for 1 % of the state's length",
      "what each sub-layer adds to the logit of the right next token",
      "where each head looks: queries down, keys across; a column for each layer, a row for each head"};
  if (given.shows == Shows::Learns && given.inside.found.backward_lens.empty()) {
    p.text_in(line, kTick, t.ink3,
              tr("No gradient is read here: the model has none, or more than one stream."));
    return;
  }
  if (both && given.inside.found.attributed.symbol.empty()) {
    p.text_in(line, kTick, t.ink3,
              tr("Nothing is attributed here: more than norms lie between the stream and the logits."));
    return;
  }
  const std::string what = tr(kLegends[static_cast<size_t>(given.shows)]);
  Rect key =
      line.take_right(std::min(line.w, 60 + p.text_width(kTick, low) + p.text_width(kTick, high) + 16));
  p.text_in(line, kTick, t.ink3, what);
  p.text_in(key, kTick, t.ink3, low);
  p.text_in(key, kTick, t.ink3, high, Align::Right);
  Rect ramp = key;
  ramp.take_left(p.text_width(kTick, low) + 8);
  ramp.take_right(p.text_width(kTick, high) + 8);
  colour_scale(p, {ramp.x, line.centre().y - 5, ramp.w, 10}, 20, false,
               [&](float share) { return both ? signed_colour(t, 2 * share - 1) : heat_colour(t, share); });
}

/// The layout of the small pictures: attention a from the left, head h from the top. They are at most twice
/// as wide as high.
struct HeadCells {
  Rect area;
  float width, height, across, down;
  HeadCells(const Rect& rest, size_t layers, int heads) : area(rest) {
    across = rest.w / static_cast<float>(layers);
    down = rest.h / static_cast<float>(heads);
    height = std::clamp(std::min(down - 3, across - 4), 2.f, 160.f);
    width = std::clamp(across - 4, 2.f, 2 * height);
    across = std::min(across, width + 12);
    down = std::min(down, height + 12);
  }
  Rect at(size_t layer, int head) const {
    return {area.x + across * static_cast<float>(layer), area.y + down * static_cast<float>(head), width,
            height};
  }
};

constexpr float kMatrixName = 74, kHeadNumber = 52;

/// Queries down and keys across, `side` of each; the colour is the square root, so that small ones are seen.
void draw_probabilities(Ui& ui, const Rect& square, const float* of_head, size_t side) {
  const float across = square.w / static_cast<float>(side), down = square.h / static_cast<float>(side);
  ui.paint().fill(square, ui.theme().sunk);
  for (size_t q = 0; q < side; ++q)
    for (size_t k = 0; k < side; ++k)
      if (const float p = of_head[q * side + k]; p > 0.004f)
        ui.paint().fill({square.x + across * static_cast<float>(k), square.y + down * static_cast<float>(q),
                         across, down},
                        heat_colour(ui.theme(), std::sqrt(p)));
}

/// The change of the loss without a head of a sub-layer; NaN where that was not measured.
double without_head(const Inside& found, const std::string& sublayer, int head) {
  for (const Inside::LeftOut& left : found.left_out)
    if (left.head == head + 1 && left.name.starts_with(sublayer + ".head")) return left.loss - found.loss;
  return std::numeric_limits<double>::quiet_NaN();
}

/// A sentence about a head at the chosen token.
std::string head_words(const GridInput& given, const Inside::Attention& attention, int head) {
  const Inside& found = given.inside.found;
  const auto h = static_cast<size_t>(head), token = static_cast<size_t>(given.selected.token);
  std::string text =
      tr("{name}, head {head}: its attention has an entropy of {entropy} nats, and {share} % of it is on the "
         "first token.",
         {{"name", attention.name},
          {"head", head + 1},
          {"entropy", number(attention.entropy[h], 2)},
          {"share", number(100 * attention.first_mass[h], 2)}});
  if (!attention.attribution.empty())
    text +=
        " " +
        tr("At “{token}” it adds {part} to the logit of “{word}”.",
           {{"token", word_of(given.inside, found.tokens[token])},
            {"part", with_minus(number(
                         static_cast<double>(attention.attribution[h * found.tokens.size() + token]), 3))},
            {"word", word_of(given.inside, found.attributed.symbol[token])}});
  if (const double change = without_head(found, attention.name, head); std::isfinite(change))
    text += " " +
            tr("Without it the loss changes by {change} nats.", {{"change", with_minus(number(change, 3))}});
  return text;
}

/// The name without its layer, which the panel's title has.
std::string matrix_name(const std::string& name, int layer) {
  return layer == 0 ? name : name.substr(name.find('.') + 1);
}

const Inside::Attention* attention_of(const Inside& found, int row) {
  const int layer = std::max(layer_of(found, row), 1);
  for (const Inside::Attention& attention : found.attention)
    if (attention.layer == layer) return &attention;
  return nullptr;
}

/// Draws a head's probabilities. Instead of cells below three pixels, a cell has the largest of several.
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

/// The number next to each head in the list: the quantity of the map, otherwise the entropy.
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
  const Hit hit = ui.hit(
      "inside/head", list, fmt::format("{}", head + 1),
      tr("The heads with the mean entropy of their attention: 0 looks at one token, the longest bar would look at "
         "all alike. With the map of attributions: what each adds to the logit at the chosen token. With parts left "
         "out: how much the loss rises without it. Click a head or use the arrow keys."),
      {.arrows = Arrows::Up});
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

/// Draws the composition of the chosen token's state: the share of each branch, from the embedding up.
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
  ui.paint().text_in(content.take_top(16), kTick, ui.theme().ink3, tr("share of the variance, β²"));
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

/// Draws singular values from the left, the largest as high as `rect`: bars, or ticks at their height. Where they are
/// more than the pixels, some are left out.
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

/// Shows the next step's change of each matrix of the layer: its singular values as bars, the matrix's
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

/// Shows the gradients of a layer's matrices or, if requested, the spectra of its next update.
void draw_matrices(Ui& ui, const Rect& rest, const RunInside& inside, int row, bool& spectra) {
  const int layer = layer_of(inside.found, row);
  PanelOptions options;
  options.title = layer == 0 ? tr(spectra ? "Next update outside the layers" : "Gradients outside the layers")
                             : tr(spectra ? "Next update of layer {layer}" : "Gradients of layer {layer}",
                                  {{"layer", layer}});
  options.term = spectra ? "update-ratio" : "gradient-norm";
  Rect content = panel(ui, rest, options).inset(space::pad, 0);
  ButtonOptions look{.selected = spectra, .style = {Face::Sans, type::tick}};
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

/// A word of a lens, the number beside it, and whether it is the right one.
struct LensWord {
  int32_t token = 0;
  std::string number;
  bool right = false;
};

/// A line of the lens panel.
struct LensLine {
  std::string name;
  std::vector<LensWord> words;
};

/// What each layer would say at a token.
std::vector<LensLine> guessed_lines(const Inside& found, size_t token) {
  std::vector<LensLine> lines;
  for (const Inside::Lens& lens : found.lens) {
    lines.push_back({lens.name, {}});
    const size_t each = lens.guesses.size() / found.tokens.size();
    for (const Inside::Guess& guess : std::span(lens.guesses).subspan(token * each, each))
      lines.back().words.push_back(
          {guess.token,
           guess.probability < 0.005f ? "<1 %" : fmt::format("{:.0f} %", 100 * guess.probability),
           guess.token == found.targets[token]});
  }
  return lines;
}

/// What the gradient asks for, and what a step raises and lowers most, by sub-layer.
std::vector<LensLine> changed_lines(const Inside& found, size_t token) {
  std::vector<LensLine> lines;
  for (const Inside::BackwardLens& lens : found.backward_lens) {
    lines.push_back({lens.name, {}});
    for (const auto* changes : {&lens.asked, &lens.raised, &lens.lowered}) {
      const Inside::Change& change = (*changes)[token];
      lines.back().words.push_back(
          {change.token, signed_nats(change.nats), change.token == found.targets[token]});
    }
  }
  return lines;
}

void draw_lens_line(Ui& ui, Rect line, const RunInside& inside, const LensLine& said) {
  const Theme& t = ui.theme();
  ui.paint().text_in(line.take_left(66), kMono, t.ink3, said.name == "embedding" ? tr("emb") : said.name);
  const float width = line.w / static_cast<float>(std::max<size_t>(said.words.size(), 1));
  for (const LensWord& word : said.words) {
    Rect place = line.take_left(width - 12, 12);
    if (word.token < 0) continue;
    ui.paint().text_in(place.take_right(44, 4), kMono, t.ink3, word.number, Align::Right);
    ui.paint().text_in(place, word.right ? TextStyle{Face::Bold, type::body} : kBody,
                       word.right ? t.ink : t.ink2, word_of(inside, word.token));
  }
}

/// Lists what all layers would say at the chosen token, the last layer on top, or what they would learn to say.
void draw_lens(Ui& ui, const Rect& rest, const GridInput& given) {
  const Inside& found = given.inside.found;
  const auto token = static_cast<size_t>(given.selected.token);
  const bool learns = given.shows == Shows::Learns && !found.backward_lens.empty();
  const std::vector<LensLine> lines = learns ? changed_lines(found, token) : guessed_lines(found, token);
  PanelOptions options;
  options.title = tr(learns ? "After “{token}” a gradient asks, a step raises and lowers"
                            : "After “{token}” each layer would say",
                     {{"token", word_of(given.inside, found.tokens[token])}});
  options.term = learns ? "backward-lens" : "logit-lens";
  Rect content = panel(ui, rest, options).inset(space::pad, 0);
  ui.mark(
      "inside/lens", rest, options.title,
      tr(learns
             ? "d is the gradient of the loss at what a sub-layer adds for a token, x what its last matrix reads "
               "there. First the token that −d raises most: the Backward Lens (Katz et al. 2024). Then those that "
               "a step of gradient descent raises and lowers most, as it moves each token t along −Σ (x_s·x_t) d_s "
               "over all tokens s. Both move the state y by 1 % of its length to y + u, and the last norm and "
               "the output layer E read it: ½ (log softmax E(y + u) − log softmax E(y − u)), in nats. The right token is "
               "bold. Later layers do not answer."
             : "The model's output layer applied to the state behind each layer, the last layer on top: "
               "its three likeliest tokens. The right one is bold. Early layers were not trained to be "
               "read so."));
  content.take_bottom(8);
  const size_t shown = std::min(lines.size(), static_cast<size_t>(std::max(content.h / 16, 1.f)));
  const float height = shown == 0 ? 16 : std::min(20.f, content.h / static_cast<float>(shown));
  for (size_t i = 0; i < shown; ++i) {
    // If not all lines fit, they are thinned out evenly; the first and the last stay.
    const size_t last = lines.size() - 1;
    draw_lens_line(ui, content.take_top(height), given.inside,
                   lines[shown == 1 ? last : last - i * last / (shown - 1)]);
  }
}

}  // namespace

std::optional<HeadChoice> draw_all_heads(Ui& ui, Rect rest, const GridInput& given) {
  const Inside& found = given.inside.found;
  const Theme& t = ui.theme();
  const Rect head = rest.take_top(kHeadOfGrid);
  Rect foot = rest.take_bottom(kLabel, 4);
  Rect names = rest.take_left(kNames);
  foot.take_left(kNames);
  draw_legend(ui, {rest.x, head.y, rest.w, head.h}, given);
  if (found.attention.empty()) return std::nullopt;
  int most = 0, chosen = 0;
  for (const Inside::Attention& a : found.attention) most = std::max(most, a.heads);
  const HeadCells cells(rest, found.attention.size(), most);
  const int layer = std::max(layer_of(found, given.selected.row), 1);
  for (size_t a = 0; a < found.attention.size(); ++a)
    if (found.attention[a].layer <= layer) chosen = static_cast<int>(a);
  HitOptions options{.arrows = Arrows::Both, .tooltip = false};
  const int now = std::clamp(given.head, 0, found.attention[static_cast<size_t>(chosen)].heads - 1);
  const Hit hit = ui.hit(
      fmt::format("inside/grid/{}", given.letter), rest,
      head_words(given, found.attention[static_cast<size_t>(chosen)], now),
      tr("The attention of every head: a column for each layer, a row for each head. Click a head, or use "
         "the arrow keys, to choose it."),
      options);
  const int under_layer = std::clamp(static_cast<int>((ui.mouse().x - rest.x) / cells.across), 0,
                                     static_cast<int>(found.attention.size()) - 1),
            under_head = std::clamp(static_cast<int>((ui.mouse().y - rest.y) / cells.down), 0,
                                    found.attention[static_cast<size_t>(under_layer)].heads - 1);
  float used = -1;
  for (size_t a = 0; a < found.attention.size(); ++a) {
    const Inside::Attention& attention = found.attention[a];
    for (int h = 0; h < attention.heads; ++h) {
      const Rect cell = cells.at(a, h);
      draw_probabilities(ui, cell, &attention.small[static_cast<size_t>(h) * attention.side * attention.side],
                         attention.side);
      if (static_cast<int>(a) == chosen && h == now) ui.paint().outline(cell.inset(-1.5f), t.ink, 1.5f);
    }
    const std::string name = fmt::format("L{:02}", attention.layer);
    const float x = cells.at(a, 0).x;
    if (x < used) continue;
    ui.paint().text({x, foot.y + 11}, {Face::Mono, type::tick},
                    static_cast<int>(a) == chosen ? t.ink : t.ink3, name);
    used = x + ui.paint().text_width(kMono, name) + 4;
  }
  for (int h = 0; h < most && cells.down >= 10; ++h)
    ui.paint().text_in({names.x, cells.at(0, h).centre().y - 7, names.w - 8, 14}, kMono,
                       h == now ? t.ink : t.ink3, tr("head {head}", {{"head", h + 1}}), Align::Right);
  const auto row_of = [&](int a) {
    const std::string& name = found.attention[static_cast<size_t>(a)].name;
    for (int row = 1; row < rows_of(found); ++row)
      if (row_name(found, row) == name) return row;
    return 0;
  };
  if (hit.hovered)
    ui.tooltip(head_words(given, found.attention[static_cast<size_t>(under_layer)], under_head));
  if (hit.held || hit.pressed) return HeadChoice{row_of(under_layer), under_head};
  if (hit.arrow_x == 0 && hit.arrow_y == 0) return std::nullopt;
  const int to = std::clamp(chosen + hit.arrow_x, 0, static_cast<int>(found.attention.size()) - 1);
  return HeadChoice{row_of(to),
                    std::clamp(now - hit.arrow_y, 0, found.attention[static_cast<size_t>(to)].heads - 1)};
}

void Lengths::take(const Inside& found, Shows shows) {
  if (shows == Shows::Attribution) high = std::max(high, most_of(found, attribution_of));
  if (shows == Shows::Learns) high = std::max(high, most_of(found, most_raised));
  if (shows == Shows::Attribution || shows == Shows::Learns || shows == Shows::Heads) return;
  for (int row = 0; row < rows_of(found); ++row)
    for (int token = 0; token < static_cast<int>(found.tokens.size()); ++token) {
      const float length = length_of(found, shows, row, token);
      if (!(length > 0) || !std::isfinite(length)) continue;
      low = low > 0 ? std::min(low, length) : length;
      high = std::max(high, length);
    }
}

Lengths Lengths::apart() const {
  const float middle = std::sqrt(low * high), most = std::sqrt(2.f);
  return high >= 2 * low ? *this : Lengths{middle / most, middle * most};
}

float Lengths::share(float length) const {
  if (!(length > 0) || !(high > low)) return length > 0 ? 0.5f : 0.f;
  return std::log(length / low) / std::log(high / low);
}

std::string word_of(const RunInside& inside, int32_t token) {
  const auto at = inside.words.find(token);
  std::string word = at == inside.words.end() ? std::to_string(token) : at->second;
  for (const auto& [from, to] : {std::pair{"\n", "↵"}, std::pair{"\t", "→"}, std::pair{" ", "·"}})
    for (size_t i; (i = word.find(from)) != word.npos;) word.replace(i, 1, to);
  return word.starts_with("·") && word.size() > 2 ? word.substr(2) : word;
}

int layer_of(const Inside& found, int row) {
  return row == 0 ? 0 : found.sublayers[static_cast<size_t>(row - 1)].layer;
}

int rows_of(const Inside& found) { return static_cast<int>(found.sublayers.size()) + 1; }

std::string row_name(const Inside& found, int row) {
  return row == 0 ? tr("embedding") : found.sublayers[static_cast<size_t>(row - 1)].name;
}

const std::string& map_help() {
  return tr(
      "The stream of the model: a row for each sub-layer, the embedding at the bottom, a column for each token. "
      "Click a cell, or use the arrow keys, to choose a sub-layer and a token.");
}

std::optional<Selection> draw_grid(Ui& ui, Rect rest, const GridInput& given) {
  const Inside& found = given.inside.found;
  const Theme& t = ui.theme();
  const Rect head = rest.take_top(kHeadOfGrid), foot = rest.take_bottom(kFoot, 4);
  const Rect columns = rest.take_right(columns_width(given), 10);
  const Rect names = rest.take_left(kNames);
  const Cells cells{rest, rows_of(found), static_cast<int>(found.tokens.size())};
  draw_legend(ui, {rest.x, head.y, rest.w, head.h}, given);
  const std::string name = fmt::format("inside/grid/{}", given.letter);
  HitOptions options{.arrows = Arrows::Both, .tooltip = false};
  const Hit hit = ui.hit(name, rest, cell_words(given, given.selected), map_help(), options);
  ui.paint().fill(rest, t.sunk);
  for (int row = 0; row < cells.rows; ++row)
    for (int token = 0; token < cells.tokens; ++token) draw_cell(ui, given, cells, row, token);
  const Selection at = given.selected;
  const Rect chosen = cells.at(at.row, at.token);
  for (const Rect& line :
       {Rect{rest.x, chosen.y, rest.w, chosen.h}, Rect{chosen.x, rest.y, chosen.w, rest.h}}) {
    ui.paint().outline(line, t.panel, 3);  // on dark and on light cells
    ui.paint().outline(line, t.ink, 1);
  }
  draw_words(ui, given, cells, {rest.x, foot.y, rest.w, foot.h});
  draw_names(ui, given, cells, names);
  draw_columns(ui, columns, rest, given);
  if (hit.hovered) ui.tooltip(cell_words(given, cells.under(ui.mouse())));
  if (hit.held || hit.pressed) return cells.under(ui.mouse());
  if (hit.arrow_x == 0 && hit.arrow_y == 0) return std::nullopt;
  return Selection{std::clamp(at.row + hit.arrow_y, 0, cells.rows - 1),
                   std::clamp(at.token + hit.arrow_x, 0, cells.tokens - 1)};
}

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
  const Rect heads = rest.take_left(unit, space::gap);
  const Rect matrices = wide ? rest.take_right(unit * 0.75f, space::gap) : Rect{};
  const Rect lens = rest.take_right(rest.w * 0.56f, space::gap);
  draw_heads(ui, heads, given, head_);
  if (wide) draw_matrices(ui, matrices, inside, at.row, spectra_);
  draw_lens(ui, lens, given);
  draw_shares(ui, rest, inside, at);
  if (!side.older) return;
  for (const Rect& panel : {heads, matrices, lens, rest})
    ui.paint().fill(panel, ui.theme().panel.alpha(kOlder), radius::panel);
}

}  // namespace normscope::inside
