// A model with one thing changed at a time, to ask why Post-LN stays stuck: words of a wiring that change gradients and
// leave the forward pass as it is, take the mean over the batch out of a branch, show a branch the embedding again, or
// divide what differs between tokens behind each sum.
#include <sstream>

#include "addons/interventions/engine/rerouted.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "engine/model/recorder.h"
#include "engine/ops/rules.h"

namespace normscope {
namespace {

/// The norm on the stream does not divide the gradient of the skip path by its sigma; the gradient of the branch is
/// divided as usual. NormKind::Undivided divides neither. Held, the skip path is divided as before training, whatever
/// sigma is now: by the root of 3/2, which Lemma 2 of Xiong et al. 2020 has for a branch of half the stream's
/// variance, and which norms of the usual start measure.
template <ResidualForm kForm>
class UndividedSkip : public Residual {
 public:
  explicit UndividedSkip(Recorder& recorder) : r_(recorder) {}
  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (!has_word(wiring, kForm)) return x;
    const ValueId sum = add(r_.tape, s.name + ".sum_ahead", x, s.branch);
    constexpr float kHeld = kForm == ResidualForm::held_skip ? 1.2247449f : 1;
    return amplify(r_.tape, s.name + ".undivided_skip", x, sum, {r_.config.eps, kHeld});
  }

 private:
  Recorder& r_;
};

/// A control: the same product of sigmas, but for all layers alike, at the end of the stack.
class UndividedTop : public Residual {
 public:
  explicit UndividedTop(Recorder& recorder) : r_(recorder) {}
  void begin(const std::string&, ValueId) override { sums_.clear(); }
  ValueId carry(SublayerValues&, const Wiring& wiring, ValueId x) override {
    here_ = has_word(wiring, ResidualForm::undivided_top);
    return x;
  }
  void write(SublayerValues& s, const ResidualScale&) override {
    if (here_) sums_.push_back(s.sum);
  }
  ValueId end(const std::string& prefix, ValueId x) override {
    for (size_t i = 0; i < sums_.size(); ++i)
      x = amplify(r_.tape, fmt::format("{}undivided_top.{}", prefix, i + 1), x, sums_[i], {r_.config.eps});
    return x;
  }

 private:
  Recorder& r_;
  std::vector<ValueId> sums_;
  bool here_ = false;
};

constexpr Shares kCentred{0, 1};

/// Subtracts from a branch's output its mean over the batch at each position: forward, backward, or both.
template <ResidualForm kForm, ReweighSpec kSpec>
class CentredBranch : public Residual {
 public:
  explicit CentredBranch(Recorder& recorder) : r_(recorder) {}
  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (has_word(wiring, kForm)) s.branch = reweigh(r_.tape, s.name + ".centred", s.branch, kSpec);
    return x;
  }

 private:
  Recorder& r_;
};

/// A branch reads the state below the first layer beside its own input, and gives it no gradient: what lies between
/// may have lost the tokens, and this branch has them all the same.
class ReadsEmbedding : public Residual {
 public:
  explicit ReadsEmbedding(Recorder& recorder) : r_(recorder) {}
  void begin(const std::string& prefix, ValueId x) override {
    below_ = reweigh(r_.tape, prefix + "emb.seen", x, {.gradient = {0, 0}});
  }
  ValueId normed(const std::string& sublayer, const Wiring& wiring, ValueId h) override {
    if (!has_word(wiring, ResidualForm::reads_embedding)) return h;
    constexpr float kHalf = 0.70710678f;  // two parts of one variance give one of that variance
    return add(r_.tape, sublayer + ".with_emb", h, below_, {kHalf}, {kHalf});
  }

 private:
  Recorder& r_;
  ValueId below_ = kNone;
};

/// What differs between the tokens of a batch, divided behind each sum of a stack: on the way up in the function
/// (blind), on the way down in the gradient (deaf).
struct Dimming {
  double blind = 1, deaf = 1;
};

std::string to_string(const Dimming& dimming) {
  std::string words;
  if (dimming.blind != 1) words += fmt::format("blind:{}", dimming.blind);
  if (dimming.deaf != 1) words += fmt::format("{}deaf:{}", words.empty() ? "" : " ", dimming.deaf);
  return words.empty() ? "none" : words;
}

Dimming dimming_from(std::string_view text) {
  Dimming dimming;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (word == "none") continue;
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string_view name = std::string_view(word).substr(0, colon);
    const char* const end = word.data() + word.size();
    double divisor = 0;
    const auto [rest, error] = read_real(word.data() + std::min(colon + 1, word.size()), end, divisor);
    if ((name != "blind" && name != "deaf") || error != std::errc() || rest != end || !(divisor >= 1) ||
        divisor > 100)
      fail("wiring",
           "'{}' is no word for tokens: expected none, blind:N, deaf:N or both, with N from 1 to 100", word);
    (name == "blind" ? dimming.blind : dimming.deaf) = divisor;
  }
  return dimming;
}

constexpr StackSlotRow kTokensSlot[] = {
    {"tokens", [](std::string_view words) { return to_string(dimming_from(words)); }}};

class Dimmed : public Residual {
 public:
  Dimmed(Recorder& recorder, const Dimming& dimming) : r_(recorder), dimming_(dimming) {}
  ValueId pass(SublayerValues& s, const Wiring&, ValueId x) override {
    return reweigh(
        r_.tape, s.name + ".dimmed", x,
        {{1, static_cast<float>(1 / dimming_.blind)}, {1, static_cast<float>(1 / dimming_.deaf)}, true});
  }

 private:
  Recorder& r_;
  Dimming dimming_;
};

std::unique_ptr<Residual> record_dimmed(Recorder& recorder, const StackWiring& stack) {
  const std::string_view words = words_at(stack, "tokens");
  return words.empty() ? nullptr : std::make_unique<Dimmed>(recorder, dimming_from(words));
}

/// One stream as ever, in which no theory holds.
std::optional<StreamLayout> dimmed_layout(const StackWiring& stack) {
  if (words_at(stack, "tokens").empty()) return std::nullopt;
  return StreamLayout{};
}

void check_dimmed(const char* what, const StackWiring& stack) {
  if (!words_at(stack, "tokens").empty() && stack.slots.size() > 1)
    fail("model",
         "the {}'s wiring divides what differs between tokens behind each sum (tokens): expected one stream",
         what);
}

/// These words need a norm on the stream, and before it a sum without scales.
template <ResidualForm kForm>
void check(const char* what, const StackWiring& stack) {
  if (any_sublayer(stack, [](const Wiring& w) {
        return has_word(w, kForm) &&
               (w.stream == NormKind::None || w.skip != Scale{} || w.branch != Scale{} || w.bottom);
      }))
    fail(
        "model",
        "the {}'s wiring says how gradients pass a norm on the stream: expected stream= beside it, and no skip=, "
        "branch= or bottom",
        what);
}

constexpr const char* kObjection = "a word of the wiring changes what comes back";

template <ResidualForm kForm, typename Form>
constexpr ResidualRow undivided_row(std::string_view word) {
  return {.word = word, .record = record_form<kForm, Form>, .check = check<kForm>, .objection = kObjection};
}

template <ResidualForm kForm, ReweighSpec kSpec>
constexpr ResidualRow centred_row(std::string_view word) {
  return {.word = word, .record = record_form<kForm, CentredBranch<kForm, kSpec>>, .objection = kObjection};
}

}  // namespace

constinit const ResidualRow undivided_skip_residual =
    undivided_row<ResidualForm::undivided_skip, UndividedSkip<ResidualForm::undivided_skip>>(
        "undivided-skip");
constinit const ResidualRow held_skip_residual =
    undivided_row<ResidualForm::held_skip, UndividedSkip<ResidualForm::held_skip>>("held-skip");
constinit const ResidualRow undivided_top_residual =
    undivided_row<ResidualForm::undivided_top, UndividedTop>("undivided-top");
constinit const ResidualRow centred_residual =
    centred_row<ResidualForm::centred, ReweighSpec{kCentred, kCentred}>("centred");
constinit const ResidualRow centred_forward_residual =
    centred_row<ResidualForm::centred_forward, ReweighSpec{.value = kCentred}>("centred-forward");
constinit const ResidualRow centred_backward_residual =
    centred_row<ResidualForm::centred_backward, ReweighSpec{.gradient = kCentred}>("centred-backward");
constinit const ResidualRow reads_embedding_residual{
    .word = "reads-embedding",
    .reads_start = true,
    .record = record_form<ResidualForm::reads_embedding, ReadsEmbedding>,
    .objection = "a branch reads the embedding again"};
constinit const ResidualRow dimmed_residual{
    .slots = kTokensSlot,
    .record = record_dimmed,
    .check = check_dimmed,
    .layout = dimmed_layout,
    .objection = "what differs between tokens is divided behind each sum"};

ValueId amplify(Tape& tape, const std::string& name, ValueId x, ValueId of, AmplifySpec spec) {
  Node node = tape.node(OpKind::Amplify, name, {x, of}, spec);
  const Shape shape = tape.shape(x);
  if (tape.shape(of) != shape)
    fail("amplify " + tape.named(name), "{} has the shape {}: expected {}, as x has", tape.value(of).name,
         to_string(tape.shape(of)), to_string(shape));
  return tape.add_node(std::move(node), shape);
}

OpRules amplify_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Amplified gradient",
       .formula = R"(y = x)",
       .shapes = "x, z and y (..,D); c above 0",
       .rule =
           R"(dx = \frac{\sigma}{c} \, dy, \quad \sigma = \sqrt{\text{var}(z) + \varepsilon}, \quad dz = 0)",
       .reads = {2}}};
  return {kRows};
}

ValueId reweigh(Tape& tape, const std::string& name, ValueId x, ReweighSpec spec) {
  Node node = tape.node(OpKind::Reweigh, name, {x}, spec);
  const Shape shape = tape.shape(x);
  if (shape.rank != 3) fail("reweigh " + tape.named(name), "x {} must have shape (B,T,D)", to_string(shape));
  return tape.add_node(std::move(node), shape);
}

OpRules reweigh_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Shares of what is common and what differs",
       .formula = R"(y = u (x - \bar{x}) + v \bar{x})",
       .shapes = "x and y (B,T,D); the mean is over the batch at each position, or over all tokens",
       .rule = R"(dx = p (dy - \bar{dy}) + q \bar{dy})",
       .reads = {1}}};
  return {kRows};
}

}  // namespace normscope
