// The head of the Inside screen: which models are shown, the text, and its tokens, each as dark as it surprised the
// model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "addons/inside/app/inside_screen.h"
#include "addons/published/training/token_task.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr float kLine = 21, kRow = 30;
constexpr float kMostLines = 3;
constexpr float kMostLoss = 12;  ///< nats: as dark as a token gets

/// The places of the tokens in lines of that width, from (0, 0).
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

}  // namespace

const RunInside* InsideScreen::first_read() const {
  for (const Side& side : sides_)
    if (side.inside) return side.inside;
  return nullptr;
}

float InsideScreen::head_height(Ui& ui, float width) const {
  const RunInside* seen = first_read();
  const float lines = seen ? boxes_of(ui.paint(), *seen, width - 2 * space::pad).back().bottom() : kLine;
  return 8 + kRow + 8 + std::clamp(lines, kLine, kMostLines * kLine) + 8;
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
  const std::string labels[] = {"length", "gradient", "says"};
  const std::string helps[] = {
      tr("How long the state of each token is behind each sub-layer: |x|. A token whose state is "
         "far longer than the others' has a massive activation."),
      tr("How strongly the loss depends on the state of each token behind each sub-layer: the "
         "length of its gradient. Where a column fades on the way down, little of what that token "
         "learns reaches the layers below."),
      tr("What the model would say next if its output layer read the state there, and how sure it "
         "would be: the logit lens. It is taken behind whole layers, so a cell is as high as its "
         "layer.")};
  const Rect shows = row.take_right(segmented_width(ui, labels), 10);
  segmented(ui, "inside/shows", shows, labels, shows_, tr("What the cells of the map show."), helps);
  const std::string leave = tr("Leave each part out");
  ButtonOptions options;
  options.selected = left_out_;
  options.style = {Face::Sans, type::title};
  const Rect leave_at = row.take_right(ui.paint().text_width(options.style, leave) + 26, 10);
  if (button(ui, "inside/leave_out", leave_at, leave,
             tr("Measures the loss with each sub-layer left out, one after the other: what the model "
                "would lose without it. A forward pass for each."),
             options))
    left_out_ = !left_out_;
  const bool passage = !view.runs.empty() && view.runs[0].spec->data.name == "passage";
  if (passage) {
    const std::string learn = tr("Learn this text");
    ButtonOptions primary;
    primary.enabled = !text_.empty() && text_ != passage_of(view.runs[0].spec->data);
    if (button(ui, "inside/learn", row.take_right(ui.paint().text_width(primary.style, learn) + 28, 10),
               learn,
               tr("All models start again from their opened weights and learn this text; Space trains. "
                  "Their own text changes to this one."),
               primary))
      desk_.commands.emplace_back(session::EditField{-1, "data.passage", text_});
  }
  text_field(ui, "inside/text", row, tr("Type or paste a text"), text_,
             tr("The model reads this text and everything below answers at once. Empty: the text that "
                "the run itself is measured on."));
  if (const RunInside* seen = first_read()) draw_tokens(ui, rest, *seen);
}

/// Writes the text as the model has it: a box for each token.
void InsideScreen::draw_tokens(Ui& ui, const Rect& rect, const RunInside& inside) {
  const Inside& found = inside.found;
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  HitOptions options;
  options.arrows = true;
  options.tooltip = false;
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
    // A token is judged where it was predicted: by the decoder's token before it, by an encoder where it stands.
    const bool ahead = !found.targets.empty() && found.targets != found.tokens;
    const float loss = !ahead ? found.token_loss.empty() ? NAN : found.token_loss[i]
                       : i == 0 || found.token_loss.empty() ? NAN
                                                            : found.token_loss[i - 1];
    const Colour fill = std::isfinite(loss) ? heat_colour(t, std::min(loss / kMostLoss, 1.f)) : t.sunk;
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

}  // namespace normscope::inside
