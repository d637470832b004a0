#include "training/measure/numbers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "engine/model/residual.h"
#include "training/io/text.h"
#include "training/measure/history.h"

namespace normscope {

#define NUMBER(number) extern const Number number;
#include "chosen/numbers.def"
#undef NUMBER

namespace {

using Of = Number::Of;
using By = Number::By;
using Kept = Number::Kept;

struct Source {
  const char *data, *file;
};
constexpr Source kSources[] = {  // by By
    {"the run", "training/run/run.h"},
    {"the batch of the step", "engine/tape/program.h"},
    {"one fixed sequence", "training/measure/step_metrics.h"},
    {"the batch of the step", "training/measure/token_metrics.h"},
    {"the batch of the step", "training/measure/update_metrics.h"},
    {"the batch of the step", "training/run/critical_rate.h"},
    {"held-out batches", "training/run/evaluate.h"}};

constexpr Number kRows[] = {
    {{"total.grad_norm", Of::Run, By::Step, Kept::AtSteps, "size of the whole gradient",
      "The size of the gradient of all parameters together."}},
    {{"grad_norm", Of::Parameter, By::Step, Kept::AtSteps, "gradient",
      "The size ‖∂L/∂W‖ of the loss's gradient with respect to one matrix of each layer."},
     {.field = "grad_norm", .missed = "gradient sizes"},
     {"gradient", true, "Gradient size by layer", "Gradient size over time",
      "how much of the loss reaches it?", "what reaches a layer?", "‖∂L/∂W‖", "size of the gradient",
      "gradient-norm"}},
    {{"update_norm", Of::Parameter, By::Step, Kept::AtSteps, "update norm",
      "The size ‖ΔW‖ of the last step of a matrix."},
     {.field = "update_norm", .missed = "update sizes"}},
    {{"weight_norm", Of::Parameter, By::Step, Kept::AtSteps, "weight norm", "The size ‖W‖ of a matrix."},
     {.field = "weight_norm", .missed = "weight sizes"}},
    {{"update_ratio", Of::Parameter, By::Step, Kept::Nowhere, "update ratio",
      "The learning rate that a matrix feels: the size of the last step over the size of the matrix. "
      "How the step spreads over singular values is what normscope measure --what spectrum prints for "
      "a saved run."},
     {.stat = "update_norm", .over = "weight_norm"},
     {"update-ratio", true, "Update ratio by layer", "Update ratio over time", "how far does a step move it?",
      "how far does it move?", "‖ΔW‖ / ‖W‖", "size of the step over size of the weights"}},
    {{"spike_ratio", Of::Group, By::Updates, Kept::AtTheEnd, "spike ratio",
      "How large the gradients of a layer are beside those that Adam remembers, as root mean square "
      "over all its numbers: about 1 as usual. A spike says that this batch is unlike those before it: "
      "v is too small for it, and the step too long (Wortsman et al. 2023)."},
     {},
     {"spike-ratio", true, "Spike ratio", "Spike ratio over time", "is this batch unlike the last ones?",
      "an unlike batch?", "root mean square of g / √v", "root mean square of the gradient over √v"}},
    {{"update_cosine", Of::Group, By::Updates, Kept::AtTheEnd, "update cosine",
      "Cosine between the step that all weights of a layer make together and the negative gradient: 1 "
      "for plain SGD. Momentum, Adam's division by √v and weight decay turn the step away."},
     {},
     {"update-cosine", false, "Update cosine", "Update cosine over time", "does a step go straight down?",
      "straight down?", "1: against the gradient", "cosine between the step and the negative gradient"}},
    {{"mean_square", Of::State, By::Step, Kept::AtSteps, "mean square of the state",
      "Mean square of the residual stream after each layer. Post-LN's line is measured before the norm "
      "on the stream: behind that norm every state has the same size."},
     {.field = "mean_square", .missed = "hidden states"},
     {"hidden-norm", false, "Mean square of the state", "Mean square over time",
      "does the signal grow with depth?", "does it grow?", "of x, before the norm",
      "mean square of the hidden state", "hidden-state"}},
    {{"branch.variance", Of::Sublayer, By::Sequence, Kept::AtMoments, "branch variance",
      "Variance over tokens and features of each branch as it is added, its scale included."},
     {.field = "branch_variance"},
     {"branch-variance", true, "Branch variance", "Branch variance over time",
      "how much does each branch add?", "what does it add?", "of what is added",
      "variance of the branch as it is added"}},
    {{"input.variance", Of::Sublayer, By::Sequence, Kept::AtMoments, "stream variance",
      "Variance over tokens and features of the skip path that each branch is added to."},
     {.field = "input_variance"},
     {"stream-variance", true, "Stream variance", "Stream variance over time",
      "how much flows past each branch?", "what flows past?", "of the skip path",
      "variance of the skip path"}},
    {{"token_cosine", Of::Sublayer, By::Sequence, Kept::AtMoments, "token cosine",
      "Mean cosine between the states of different tokens: 1 when all point the same way."},
     {},
     {"token-cosine", false, "Token cosine", "Token cosine over time", "do all tokens become alike?",
      "all alike?", "1: all tokens alike", "mean cosine between tokens"}},
    {{"layer_cosine", Of::Sublayer, By::Sequence, Kept::AtMoments, "layer cosine",
      "Mean cosine between a sub-layer's input and its output: 1 when it turns nothing."},
     {},
     {"layer-cosine", false, "Layer cosine", "Layer cosine over time", "does a layer turn its input?",
      "is it turned?", "1: nothing turned", "mean cosine between input and output"}},
    {{"extreme", Of::Sublayer, By::Sequence, Kept::AtMoments, "extremes",
      "The largest absolute number of the states behind a sub-layer over the median of them all: in "
      "large models a few grow to thousands of times it (massive activations)."},
     {},
     {"extreme", true, "Extremes", "Extremes over time", "does one number dwarf the others?",
      "one dwarfs all?", "largest over median", "largest absolute number of a state over the median",
      "massive-activations"}},
    {{"extreme_position", Of::Sublayer, By::Sequence, Kept::Nowhere, "position of the extreme",
      "Where in its sequence the largest number of the states stands, from 1."}},
    {{"effective_rank", Of::Sublayer, By::Sequence, Kept::Nowhere, "effective rank",
      "In how many directions the states of a sequence spread behind a sub-layer: 1 when all of them "
      "point the same way (rank collapse), at most the number of positions or of features. It is the "
      "participation ratio of their squared singular values."},
     {},
     {"effective-rank", false, "Effective rank", "Effective rank over time", "do the states still differ?",
      "do states differ?", "1: all on one line", "effective rank of a sequence's states"}},
    {{"sight", Of::Reader, By::Tokens, Kept::AtTheEnd, "sight and hearing",
      "Sight is the size of what differs between the tokens that a feed-forward network reads. Hearing "
      "is the size of what differs between them in the gradient that comes back to it. Only where a "
      "layer has both can its step tell tokens apart."},
     {},
     {"sight", true, "Sight and hearing", "Sight over time", "what does a layer see, what does it hear?",
      "what does it see?", "what differs between tokens", "root mean square of what differs between tokens"}},
    {{"hearing", Of::FeedForward, By::Tokens, Kept::AtTheEnd, "hearing",
      "The gradient of the loss at the output of a layer's W₂, less its mean over the tokens of the "
      "batch: what the loss asks of this token and not of all."},
     {},
     {"hearing", true, "Hearing", "Hearing over time", "does the loss say something to each token?",
      "is each told apart?", "what differs in ∂L/∂y", "size of what differs between tokens in the gradient",
      "sight"}},
    {{"w2.telling", Of::FeedForward, By::Tokens, Kept::AtTheEnd, "telling gradient",
      "The gradient of W₂ without the part that any other token of the batch would give as well: what "
      "a layer sees times what it hears. The rest only teaches how often each symbol comes."},
     {},
     {"telling", true, "Telling gradient", "Telling gradient over time",
      "how much of the gradient tells tokens apart?", "does it tell apart?", "∂L/∂W₂ without the means",
      "size of the part of the gradient that tells tokens apart", "sight"}},
    {{"identity", Of::Reader, By::Tokens, Kept::AtTheEnd, "token identity",
      "Of all that differs between the tokens that a layer reads, the share that the symbol at that "
      "place fixes. The rest comes from other places: attention has mixed it in. It can be read before "
      "any training, at step 1."},
     {},
     {"identity", false, "Token identity", "Token identity over time",
      "does it still know which token it is?", "which token?", "1: all is its own",
      "share of what differs that the token fixes"}},
    {{"directions", Of::FeedForward, By::Tokens, Kept::AtTheEnd, "directions",
      "In how many directions the tokens that a layer reads differ from their mean: the participation "
      "ratio of what differs, 1 where they differ in a single way."},
     {},
     {"directions", false, "Directions", "Directions over time", "in how many ways do tokens differ?",
      "in how many ways?", "1: all on one line", "number of directions in which tokens differ", "identity"}},
    {{"attention_entropy", Of::Attention, By::Sequence, Kept::AtMoments, "attention entropy",
      "Mean over heads and queries of the attention weights' entropy: 0 looks at one token only."},
     {.head = "entropy", .field = "attention_entropy", .unit = "nats"},
     {"attention-entropy", false, "Attention entropy", "Attention entropy over time",
      "how widely does it look?", "how widely?", "nats, mean of heads",
      "entropy of the attention weights in nats"}},
    {{"largest_logit", Of::Attention, By::Sequence, Kept::AtTheEnd, "largest logit",
      "The largest score that goes into the softmax of an attention, over heads, queries and the keys "
      "they see: where it keeps growing, attention collapses onto single tokens and training becomes "
      "unstable."},
     {.head = "logit", .field = "largest_logit"},
     {"largest-logit", false, "Largest logit", "Largest logit over time",
      "does attention sharpen without end?", "too sharp?", "largest of all heads",
      "largest score that goes into the softmax"}},
    {{"first_mass", Of::Attention, By::Sequence, Kept::AtMoments, "attention sink",
      "Mean over heads and queries of the attention weight that the first position gets: heads that "
      "have nothing to find put theirs there."},
     {.head = "first_mass", .field = "first_mass"},
     {"first-mass", false, "Attention sink", "Attention sink over time", "is the first position a sink?",
      "a sink?", "1: all on the first", "mean attention weight of the first position", "attention-sink"}},
    {{"beta2.N.N", Of::Shares, By::Sequence, Kept::AtMoments, "own share β²",
      "β²ᵢᵢ: which share of the variance of the state behind a sub-layer its own branch has added. In "
      "Pre-LN it falls with depth, and the upper layers add little (dilution); in Post-LN it stays as "
      "large everywhere, and small changes are amplified (Liu et al. 2020)."},
     {.field = "share"},
     {"own-share", false, "Own share β²", "Own share β² over time", "how much of the state is its own?",
      "its own part?", "β²ᵢᵢ, 1: all of it", "share of each branch in the variance of the state behind it",
      "beta2"}},
    {{"beta2.N.0", Of::Shares, By::Sequence, Kept::AtMoments, "input share β²",
      "Which share of the variance of the state behind a sub-layer the embedding has."}},
    {{"beta2.N.M", Of::Shares, By::Sequence, Kept::Nowhere, "share β²",
      "Which share of the variance of the state behind a sub-layer an earlier branch has added."}},
    {{"beta2.N.sum", Of::Shares, By::Sequence, Kept::AtMoments, "sum of the shares β²",
      "The sum of all shares of a state: 1 where the branches are uncorrelated."}},
    {{"longest", Of::Sublayer, By::Sequence, Kept::Nowhere, "longest state",
      "The length of the longest state behind a sub-layer over the median length."},
     {.field = "longest"}},
    {{"token_share", Of::Sublayer, By::Sequence, Kept::Nowhere, "own share by token",
      "The own share β² of a token alone, the median over the tokens."},
     {.field = "token_share"}},
    {{"skip.mean", Of::Sublayer, By::Sequence, Kept::AtMoments, "skip scale",
      "The mean of the learned scale on the skip path."}},
    {{"branch.mean", Of::Sublayer, By::Sequence, Kept::AtMoments, "branch scale",
      "The mean of the learned scale on the branch."}},
    {{"factor", Of::Sublayer, By::Sequence, Kept::Nowhere, "factor of a form of residual streams",
      "The mean of the factor that a form of residual streams has; the name is the form's."}},
    {{"read.N", Of::Sublayer, By::Sequence, Kept::Nowhere, "weight of a stream",
      "The mean weight of a stream, or of an earlier state, where a sub-layer or the output reads them."}},
    {{"stream.N.gradient_square", Of::Sublayer, By::Step, Kept::Nowhere, "gradient of a stream",
      "The mean square of the gradient of a stream."}},
    {{"loss", Of::Run, By::Step, Kept::Nowhere, "training loss", "The mean loss of the step's batch."},
     {.unit = "nats"}},
    {{"rate", Of::Run, By::Run, Kept::Nowhere, "learning rate", "The learning rate of the step."}},
    {{"critical_rate", Of::Run, By::CriticalRate, Kept::AtTheEnd, "critical rate",
      "The learning rate at which the step would neither lower nor raise the loss of its own batch."},
     {.stat = "critical.rate"}},
    {{"validation", Of::Run, By::Validation, Kept::Nowhere, "validation loss",
      "The mean loss of held-out batches, without label smoothing."},
     {.unit = "nats"}},
    {{"clip.factor", Of::Run, By::Step, Kept::Nowhere, "clipping factor",
      "The factor by which clipping has shortened the gradient: 1 where it has not."}},
};

consteval const Number& row(std::string_view name) { return *std::ranges::find(kRows, name, &Number::name); }

bool among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// The form of a name: no stack, "L*" for the layer, N for a number, M for a second one that differs, and "factor" for
/// the word of a form of residual streams. Zero stays: "beta2.N.0".
std::string form_of(std::string_view name) {
  const NumberPlace place = place_of(name);
  std::string form(place.layer != 0 ? "L*" : "");
  std::string_view rest = place.rest, first;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (!form.empty()) form += '.';
    const bool number =
        part == "*" || (!part.empty() && part != "0" && part.find_first_not_of("0123456789") == part.npos);
    if (number && first.empty()) first = part;
    if (number)
      form += part == first ? "N" : "M";
    else if (rest.empty() && std::ranges::any_of(residual_rows(), [&](const ResidualRow* row) {
               return !row->factor.empty() && row->word == part;
             }))
      form += "factor";
    else
      form += part;
  }
  return form;
}

/// By Of: the forms of the places that such a number has, where a star stands for any, and the usual one in a layer.
constexpr struct {
  std::string_view forms;
  const char* usual = "";
} kPlaces[] = {{""},
               {""},
               {"*", "ffn.w2."},
               {"*"},
               {"*.out *.sum", "ffn.sum."},
               {"L*.attn L*.cross L*.ffn", "ffn."},
               {"L*.ffn", "ffn."},
               {"L*.ffn readout", "ffn."},
               {"L*.attn L*.cross", "attn."},
               {"L*.attn.head.N L*.cross.head.N", "attn."}};

bool fits(Of of, std::string_view place, bool stack) {
  if (of == Of::Run || of == Of::Shares) return place.empty() && (of == Of::Shares || !stack);
  const bool misplaced = (of == Of::Group && place.starts_with("L*.")) ||
                         (of == Of::Parameter && place == "total") ||
                         (place.starts_with('L') && !place.starts_with("L*"));  // "L1", "L00"
  if (place.empty() || misplaced) return false;
  return std::ranges::any_of(split(kPlaces[static_cast<size_t>(of)].forms, ' '), [&](std::string_view form) {
    return form.starts_with('*') ? place.ends_with(form.substr(1)) : place == form;
  });
}

bool is_of(const Number& row, std::string_view form, bool stack) {
  const auto ends = [&](const char* own, Of of) {
    if (!own || !form.ends_with(own)) return false;
    const std::string_view place = form.substr(0, form.size() - std::string_view(own).size());
    if (!place.empty() && !place.ends_with('.')) return false;
    return fits(of, place.substr(0, place.size() - !place.empty()), stack);
  };
  return ends(row.name, row.of) || (!row.over && ends(row.stat, row.of)) || ends(row.head, Of::Head);
}

/// Whether a transformer has the place, "ffn.w2" of a Parameter or "ffn.sum" of a State.
bool is_known(Of of, std::string_view place) {
  const size_t dot = std::min(place.find('.'), place.size());
  const std::string_view sublayer = place.substr(0, dot), last = place.substr(dot);
  const bool attention = among(sublayer, {"attn", "cross"}), network = sublayer == "ffn";
  if (of == Of::State) return (attention || network) && among(last, {".out", ".sum"});
  return (attention && among(last, {".wq", ".wk", ".wv", ".wo"})) ||
         (network && among(last, {".w1", ".w2", ".wg"}));
}

/// What stands before a row's name where nobody said another place.
std::string usual_place(Of of, bool by_layer) {
  const std::string layer = of == Of::Run || of == Of::Shares ? "" : by_layer ? "L*." : "L01.";
  return layer + kPlaces[static_cast<size_t>(of)].usual;
}

}  // namespace

constinit const Number &kGradNorm = row("grad_norm"), &kUpdateRatio = row("update_ratio"),
                       &kSpikeRatio = row("spike_ratio"), &kUpdateCosine = row("update_cosine"),
                       &kMeanSquare = row("mean_square"), &kBranchVariance = row("branch.variance"),
                       &kInputVariance = row("input.variance"), &kTokenCosine = row("token_cosine"),
                       &kLayerCosine = row("layer_cosine"), &kSight = row("sight"),
                       &kHearing = row("hearing"), &kTelling = row("w2.telling"),
                       &kIdentity = row("identity"), &kAttentionEntropy = row("attention_entropy"),
                       &kLargestLogit = row("largest_logit"), &kFirstMass = row("first_mass"),
                       &kOwnShare = row("beta2.N.N"), &kLongest = row("longest"),
                       &kTokenShare = row("token_share");

std::span<const Number* const> numbers() {
  static const std::vector<const Number*> all = [] {
    std::vector<const Number*> rows;
    for (const Number& row : kRows) rows.push_back(&row);
    for (const Number* row : std::initializer_list<const Number*>{
#define NUMBER(number) &number,
#include "chosen/numbers.def"
#undef NUMBER
         })
      rows.push_back(row);
    return rows;
  }();
  return all;
}

const Number* log_field(std::string_view key) {
  const auto found =
      std::ranges::find_if(numbers(), [&](const Number* row) { return row->field && key == row->field; });
  return found == numbers().end() ? nullptr : *found;
}

// The own share's whole name stands in a log: "beta2.3.3".
std::string suffix_in_log(const Number& field, bool of_head) {
  if (field.of == Of::Shares) return "";
  return std::string(".") + (of_head && field.head ? field.head : field.name);
}

const char* data_of(By by) { return kSources[static_cast<size_t>(by)].data; }
const char* defined_in(By by) { return kSources[static_cast<size_t>(by)].file; }

NumberPlace place_of(std::string_view name) {
  NumberPlace place{.stack = name.substr(0, name.starts_with("enc.") || name.starts_with("dec.") ? 4 : 0)};
  name.remove_prefix(place.stack.size());
  const std::string_view first = name.substr(0, name.find('.'));
  if (first == "L*")
    place.layer = NumberPlace::kEvery;
  else if (first.size() > 2 && first[0] == 'L' && first.find_first_not_of("0123456789", 1) == first.npos)
    std::from_chars(first.data() + 1, first.data() + first.size(), place.layer);
  if (place.layer != 0) name.remove_prefix(std::min(first.size() + 1, name.size()));
  place.rest = name;
  return place;
}

std::string of_layer(std::string name, int32_t layer) {
  const size_t star = name.find("L*");
  return star == name.npos ? name : name.replace(star, 2, fmt::format("L{:02}", layer));
}

const Number* number_of(std::string_view name) {
  const std::string form = form_of(name);
  const bool stack = !place_of(name).stack.empty();
  const auto found =
      std::ranges::find_if(numbers(), [&](const Number* row) { return is_of(*row, form, stack); });
  return found == numbers().end() ? nullptr : *found;
}

const Number* known_number(std::string_view name) {
  const Number* row = number_of(name);
  const NumberPlace place = place_of(name);
  if (!row || place.layer == 0 || (row->of != Of::Parameter && row->of != Of::State)) return row;
  return is_known(row->of, place.rest.substr(0, place.rest.rfind('.'))) ? row : nullptr;
}

std::string example_of(const NumberBase& row, bool by_layer) {
  std::string name = usual_place(row.of, by_layer) + row.name;
  std::ranges::replace(name, 'N', '2');
  std::ranges::replace(name, 'M', '1');
  return name;
}

std::string stat_of(const std::string& name) {
  if (const auto [top, below] = two_names(name); !below.empty()) return stat_of(top) + " / " + stat_of(below);
  const Number* row = number_of(name);
  if (!row || !row->stat) return name;
  const std::string place = name.substr(0, name.size() - std::string_view(row->name).size());
  return place + row->stat + (row->over ? " / " + place + row->over : "");
}

Number::Kept kept_of(std::string_view name) {
  const Number* row = known_number(name);
  if (!row || (row->of == Of::Group && place_of(name).layer == 0) ||
      (row->of == Of::Parameter && (place_of(name).layer == 0 || name.find(".wg.") != name.npos)))
    return Kept::Nowhere;
  return name.find(".head.") == name.npos || row->kept == Kept::AtTheEnd ? row->kept : Kept::Nowhere;
}

Message expected_number(std::string_view word, std::span<const std::string_view> words, bool by_layer) {
  std::vector<std::string> said(words.begin(), words.end()),
      meant = said;  // what a person may have meant by what
  std::vector<const char*> labels(words.size(), "");
  for (const Number* row : numbers()) {
    std::vector<std::string> places{""};  // and each beginning of the word
    for (size_t dot = word.find('.'); dot != word.npos; dot = word.find('.', dot + 1))
      places.emplace_back(word.substr(0, dot + 1));
    for (const std::string& place : places) {
      const std::string name = (place.empty() ? usual_place(row->of, by_layer) : place) + row->name;
      if (!known_number(name) || name.find('N') != name.npos || (by_layer && name.find("L*") == name.npos))
        continue;
      meant.insert(meant.end(), 2, name);
      said.insert(said.end(), {place + row->name, place + row->label});
      labels.insert(labels.end(), {"", row->label});
    }
  }
  const Message expected =
      by_layer
          ? Message("a probe with L* in the layer's place, as {}, or two as 'a / b', b of L* or of one layer",
                    "L*.ffn.w2.grad_norm")
          : Message("{}, a probe as {} (all: normscope numbers), or two as 'a / b'", fmt::join(words, ", "),
                    "L01.ffn.w2.grad_norm");
  const std::vector<std::string_view> views(said.begin(), said.end());
  const std::string_view guess = likely(word, views);
  if (guess.empty()) return Message("expected {}", expected);
  const auto at = static_cast<size_t>(std::ranges::find(views, guess) - views.begin());
  if (!*labels[at]) return Message("did you mean {}? expected {}", meant[at], expected);
  return Message("did you mean {}, the {}? expected {}", meant[at], labels[at], expected);
}

}  // namespace normscope
