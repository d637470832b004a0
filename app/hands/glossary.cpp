#include "app/hands/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/hands/shortcuts.h"
#include "app/ui/widgets.h"

namespace normscope::hands {
namespace {

constexpr const char* kPopup = "app/glossary";

constexpr Term kTerms[] = {
    {"norm", "layer normalization",
     "A norm subtracts the mean of a position's features, divides by their standard deviation and applies a "
     "learned gain "
     "and bias. It keeps the size of what flows on the same, whatever came before.",
     "Ba, Kiros, Hinton 2016, Layer Normalization", "settings/model.norm"},
    {"rmsnorm", "RMSNorm",
     "A norm that divides by the root mean square and subtracts nothing. It has a gain but no bias, and "
     "trains about as "
     "well as layer normalization.",
     "Zhang, Sennrich 2019, Root Mean Square Layer Normalization", ""},
    {"post-ln", "Post-LN",
     "The norm stands on the trunk, after the branch was added. It is the placement of the original "
     "transformer; deep "
     "stacks of it need a warm-up.",
     "Vaswani et al. 2017, Attention Is All You Need", "diagram/preset/Post"},
    {"pre-ln", "Pre-LN",
     "The norm stands at the entry of each branch, and the trunk has none but a last one before the output. "
     "Gradients "
     "reach every layer about equally, so it trains without warm-up.",
     "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture", "diagram/preset/Pre"},
    {"sandwich", "sandwich norm",
     "Each branch has a norm at its entry and a second one at its end. It keeps what a branch adds to the "
     "trunk from "
     "growing.",
     "Ding et al. 2021, CogView", "diagram/preset/Sandwich"},
    {"deepnorm", "DeepNorm",
     "Post-LN whose trunk is multiplied by a constant above one before the branch is added, with smaller "
     "initial weights "
     "in the branch. It bounds how much one update can change a very deep model.",
     "Wang et al. 2022, DeepNet: Scaling Transformers to 1,000 Layers", "diagram/preset/DeepNorm"},
    {"admin", "Admin",
     "Post-LN whose trunk is scaled by numbers measured on a first batch, so that every branch has a small "
     "share at the "
     "start. The scales are learned on afterwards.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers", "diagram/preset/Admin"},
    {"rezero", "ReZero",
     "No norm at all: each branch is multiplied by a learned number that starts at zero. At the start the "
     "model is the "
     "identity and gradients pass untouched.",
     "Bachlechner et al. 2020, ReZero is All You Need", "diagram/preset/ReZero"},
    {"warm-up", "warm-up",
     "The learning rate rises from zero to its peak over the first steps. It keeps the first, badly informed "
     "updates "
     "small until Adam's averages are reliable.",
     "Vaswani et al. 2017; Xiong et al. 2020, section 3", "settings/train.warmup"},
    {"learning-rate", "learning rate",
     "How far the weights move against the gradient in one step. Too small a rate learns slowly, too large a "
     "one throws "
     "away what was learned.",
     "Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.3", "Learning rate|settings/train.rate"},
    {"residual", "residual connection",
     "A sub-layer's result is added to its own input instead of replacing it. The sum gives the gradient a "
     "way back that "
     "no weight stands in.",
     "He et al. 2016, Deep Residual Learning for Image Recognition", "Architecture"},
    {"trunk", "trunk",
     "The line from embedding to output that every sub-layer adds to. Its width in the picture is the same "
     "everywhere; "
     "what changes along it is the hidden state.",
     "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits (residual stream)", ""},
    {"branch", "branch",
     "The detour of a sub-layer: it leaves the trunk, passes attention or feed-forward, and is added back. "
     "How much a "
     "branch counts is what the placement of the norm decides.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers", ""},
    {"attention", "attention",
     "Each position looks at the others and takes a weighted mean of what they offer. The weights follow "
     "from how well "
     "its query fits their keys.",
     "Vaswani et al. 2017, section 3.2", ""},
    {"feed-forward", "feed-forward",
     "Two linear maps with a nonlinearity between, applied to each position alone. It holds about two thirds "
     "of a "
     "layer's weights.",
     "Vaswani et al. 2017, section 3.3", "settings/model.feed_forward"},
    {"gradient-norm", "gradient norm",
     "The length of the loss's gradient with respect to one weight matrix. Where it is thousands of times "
     "smaller than "
     "elsewhere, that layer hears almost nothing of the error.",
     "Xiong et al. 2020, theorem 1", "Gradient by layer|Gradient norm over time|Gradient over time"},
    {"hidden-state", "hidden-state norm",
     "The mean square of the features on the trunk. In Pre-LN it grows with depth because every branch adds "
     "to it; in "
     "Post-LN each norm sets it back.",
     "Xiong et al. 2020, lemma 2", "Hidden-state norm|Hidden norm"},
    {"nats", "nat",
     "The unit of the loss: minus the natural logarithm of the probability that the model gave to what came. "
     "One nat is "
     "1.44 bits; 2 nats a letter is like choosing among 7 equally likely letters.",
     "Shannon 1948, A Mathematical Theory of Communication", "Loss"},
    {"unigram", "unigram entropy",
     "The loss of a model that only knows how often each letter occurs. A run that stays on this line has "
     "learned no "
     "order of letters at all.",
     "Shannon 1951, Prediction and Entropy of Printed English", ""},
    {"entropy", "entropy of the text",
     "The part of the text that cannot be foreseen, in nats a letter. No model can come below it on average.",
     "Shannon 1951, Prediction and Entropy of Printed English", ""},
    {"beta2", "β²",
     "The share of each branch in the hidden state of a later layer: squared coefficients of the sum, "
     "normalised at the "
     "start. A layer that leans on its newest branch alone is easily shaken by an update.",
     "Liu et al. 2020, section 3", "Who does each layer lean on?"},
    {"plateau", "plateau",
     "A stretch of training in which the loss hardly falls. Here it is the level of letter frequencies, and "
     "a run is "
     "called stuck when it stays there.",
     "Fukumizu, Amari 2000, Local minima and plateaus in hierarchical structures", ""},
    {"adam", "Adam",
     "An optimizer that divides each gradient's running mean by the root of its running square. Every weight "
     "so moves by "
     "about the learning rate, however small its gradient is.",
     "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", "settings/train.optimizer"},
    {"seed", "seed",
     "The number that all chance of a run comes from: weights, batches, dropout. Runs with one seed start "
     "equal, so what "
     "differs later comes from what was changed.",
     "Bouthillier et al. 2021, Accounting for Variance in Machine Learning Benchmarks", "settings/run.seed"},
    {"fork", "fork",
     "A second run that begins with the weights and optimizer state of another and differs in one thing from "
     "there on. "
     "It tells what that thing does to a model that has learned something.",
     "This program: drag a norm in the diagram", "run/D"},
    {"batch", "batch",
     "The texts that one step learns from together. The gradient is their mean, so a larger batch has less "
     "noise and "
     "costs more time.",
     "Goodfellow, Bengio, Courville 2016, section 8.1.3", "settings/train.batch"},
    {"clipping", "gradient clipping",
     "When the whole gradient is longer than a limit it is shortened to it, its direction kept. It protects "
     "from single "
     "wild steps and does not help a gradient that is too small.",
     "Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks",
     "settings/train.clip"},
};

bool names(std::string_view places, std::string_view place) {
  while (!places.empty()) {
    const size_t bar = places.find('|');
    if (places.substr(0, bar) == place) return true;
    places = bar == places.npos ? std::string_view{} : places.substr(bar + 1);
  }
  return false;
}

struct Mark {
  const Term* term;
  ui::Rect rect;
};

// Titles of this frame that stand for a term.
std::vector<Mark> marks_of(const ui::Ui& ui) {
  std::vector<Mark> marks;
  for (const ui::Control& c : ui.registry().all())
    if (c.name.starts_with("title/"))
      if (const Term* term = term_at(std::string_view(c.name).substr(6))) marks.push_back({term, c.rect});
  return marks;
}

// What F1 asks about: the control in focus, else the one under the mouse.
const Term* asked_for(const ui::Ui& ui) {
  if (const Term* term = term_at(ui.focused())) return term;
  const Term* found = nullptr;
  for (const ui::Control& c : ui.registry().all())
    if (c.rect.contains(ui.mouse()))
      if (const Term* term = term_at(c.name)) found = term;
  return found;
}

}  // namespace

std::span<const Term> glossary() { return kTerms; }

const Term* find_term(std::string_view id) {
  const auto* at =
      std::find_if(std::begin(kTerms), std::end(kTerms), [&](const Term& t) { return t.id == id; });
  return at == std::end(kTerms) ? nullptr : at;
}

const Term* term_at(std::string_view place) {
  if (place.empty()) return nullptr;
  if (place.starts_with("term/")) return find_term(place.substr(5));
  for (const Term& term : kTerms)
    if (names(term.places, place)) return &term;
  return nullptr;
}

void draw_glossary(ui::Ui& ui, std::string& open) {
  using namespace ui;
  const Theme& t = ui.theme();
  for (const Mark& mark : marks_of(ui)) {
    const float y = mark.rect.centre().y + 8;
    ui.paint().dashed_line({mark.rect.x, y}, {mark.rect.right(), y}, t.ink3, 1, {1, 2});
    const std::string name = fmt::format("term/{}", mark.term->id);
    if (ui.registry().find(name)) continue;  // two titles of one term: the first is the control
    const Rect area{mark.rect.x, mark.rect.centre().y - 12, mark.rect.w, 24};
    if (ui.hit(name, area, mark.term->title, fmt::format("{} ({})", mark.term->text, mark.term->source))
            .clicked)
      open = mark.term->id;
  }
  if (pressed(ui, Act::glossary))
    if (const Term* term = asked_for(ui)) open = term->id;
  const Term* term = find_term(open);
  if (!term) return;
  if (!ui.popup_open(kPopup)) ui.open_popup(kPopup);
  const float width = 380, line = 18;
  const TextStyle body{Face::sans, type::body}, small{Face::sans, type::tick};
  const float text_h = ui.paint().wrapped_height(width - 32, body, term->text, line);
  const float source_h = ui.paint().wrapped_height(width - 32, small, term->source, 16);
  const Rect box{(ui.size().x - width) / 2, 90, width, text_h + source_h + 62};
  if (!ui.begin_popup(kPopup, box)) return open.clear();
  Rect rest = box.inset(16, 12);
  ui.paint().text_in(rest.take_top(24, 4), {Face::bold, type::title}, t.ink, term->title);
  ui.mark("app/glossary/entry", rest, term->text, term->source);
  ui.paint().text_wrapped(rest.take_top(text_h, 6), body, t.ink2, term->text, line);
  ui.paint().text_wrapped(rest, small, t.ink3, term->source, 16);
  ui.end_popup();
  if (!ui.popup_open(kPopup)) open.clear();
}

}  // namespace normscope::hands
