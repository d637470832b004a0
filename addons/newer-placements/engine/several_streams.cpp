// Several streams are one value (B,T,n,D), mixed by the op `mix`: see config.h. At the end their text form.
#include <charconv>
#include <cmath>
#include <sstream>

#include "addons/newer-placements/engine/config.h"
#include "addons/newer-placements/engine/ops.h"
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

constexpr StackSlotRow kStreamSlots[] = {
    {"streams", [](std::string_view words) { return to_string(streams_from(words)); }, "1"}};

class SeveralStreams : public Residual {
 public:
  SeveralStreams(Recorder& recorder, const Streams& streams) : r_(recorder), wired_(streams) {}

  /// All streams begin as x.
  void begin(const std::string& prefix, ValueId x) override {
    all_ = wired_.of_depth() ? x
                             : mix(r_.tape, prefix + "copies", x,
                                   constant(prefix + "copies.weights", {1, wired_.count}), wired_.count);
    if (!wired_.of_depth()) look_at_streams(prefix + "emb");
  }

  /// Records the streams after a sub-layer, with its branch, and the input of the next one. After the last sub-layer
  /// that is the mean of n streams; the published sum is n times that, which the final norm divides out.
  bool sum(SublayerValues& s, bool last) override {
    const std::string& n = s.name;
    if (wired_.of_depth()) {
      all_ = append(r_.tape, n + ".streams", all_, s.branch);
    } else {
      s.carry = weights_of(n + ".carry", Task::Carry);
      s.write = weights_of(n + ".write", Task::Write);
      const int32_t count = wired_.count;
      all_ = add(r_.tape, n + ".streams", mix(r_.tape, n + ".carried", all_, s.carry, count),
                 mix(r_.tape, n + ".written", s.branch, s.write, count));
    }
    ++written_;
    s.streams = all_;
    const bool added_up = last && !wired_.of_depth();
    if (!added_up) look_at_streams(n);
    s.read = added_up ? constant(n + ".read", {wired_.count, 1}, 1.0 / wired_.count)
                      : weights_of(n + ".read", Task::Read);
    s.sum = s.joined = s.output = mix(r_.tape, n + ".sum", all_, s.read, 1);
    return true;
  }

  /// Asks for the gradient of each.
  void probe(const SublayerValues& s, ValueId lengths) override {
    for (int32_t i = 1; !wired_.of_depth() && i <= wired_.count; ++i)
      r_.tape.probe({s.name + ".stream." + std::to_string(i) + ".gradient_square",
                     ProbeSpec{ProbeKind::MeanSquare, i - 1, wired_.count}, s.streams, true, r_.layer,
                     lengths});
  }

 private:
  enum class Task : uint8_t { Read, Carry, Write };

  int32_t count() const { return wired_.of_depth() ? written_ + 1 : wired_.count; }

  /// Weights of one that no training changes.
  ValueId constant(const std::string& name, Shape shape, double value = 1.0) {
    return r_.parameter(name, shape, {Init::Kind::Constant, value}, false);
  }

  /// Records the input of computed weights: each stream after a norm, or for the manifold all streams of a position as
  /// one row (Xie et al. 2025, equation 7).
  void look_at_streams(const std::string& n) {
    if (wired_.weights != Streams::Weights::Computed) return;
    const Shape s = r_.tape.shape(all_);
    if (wired_.rule == Streams::Rule::Manifold)
      seen_ =
          r_.norm(n + ".seen", NormKind::Rms, reshape(r_.tape, n + ".row", all_, {s[0], s[1], s[2] * s[3]}));
    else
      seen_ =
          r_.norm(n + ".seen", wired_.rule == Streams::Rule::Softmax ? NormKind::Rms : r_.config.norm, all_);
  }

  /// The initial weights act as a single stream, read from one of n streams in turn (Zhu et al. 2024, equation 14).
  /// Under the manifold's functions they only come close to that; streams with equal weights would stay equal.
  Init start_of(Task task) const {
    const bool manifold = wired_.rule == Streams::Rule::Manifold;
    if (wired_.rule == Streams::Rule::Softmax) return {Init::Kind::Zeros, 0.0};
    if (task == Task::Write) return {Init::Kind::Constant, manifold ? 0.0 : 1.0};
    if (wired_.of_depth()) return {Init::Kind::Constant, 1.0};
    Init init{Init::Kind::Diagonal, 1.0};
    if (manifold) init.value = task == Task::Read ? 2.0 : 4.0;
    if (manifold && task == Task::Read) init.rest = -2.0;
    init.place = task == Task::Read ? written_ % wired_.count : 0;
    if (task == Task::Carry) mix_at_start(init);
    return init;
  }

  /// Lets each stream take a share from the others, alike from each of them. Under the manifold's functions the logarithm
  /// of the wanted matrix is what they turn into it.
  void mix_at_start(Init& init) const {
    const double mixed = static_cast<double>(r_.config.of<StreamsConfig>().mixed), others = wired_.count - 1;
    if (mixed == 0) return;
    const bool manifold = wired_.rule == Streams::Rule::Manifold;
    init.value = manifold ? std::log(others * (1 - mixed) / mixed) : 1 - mixed;
    init.rest = manifold ? 0 : mixed / others;
  }

  ValueId weights_of(const std::string& n, Task task) {
    const int32_t from = task == Task::Write ? 1 : count(), to = task == Task::Read ? 1 : count();
    const bool fixed = wired_.weights == Streams::Weights::Fixed;
    const bool scored = wired_.rule == Streams::Rule::Softmax && wired_.weights == Streams::Weights::Computed;
    ValueId weights = kNone;
    if (scored)
      weights = linear(r_.tape, n + ".score", seen_,
                       r_.parameter(n + ".query", {r_.config.d_model, 1}, {Init::Kind::Zeros, 0.0}), kNone);
    else
      weights = r_.parameter(n, {from, to}, start_of(task), !fixed);
    if (wired_.weights == Streams::Weights::Computed && !scored)
      weights = with_computed(n, task, weights, from * to);
    return ruled(n, task, weights, from);
  }

  /// Adds to weights a part that depends on the streams of a position, small at the start: 0.01 times its
  /// share, whose matrix is zero (Zhu et al. 2024, equations 10 to 13).
  ValueId with_computed(const std::string& n, Task task, ValueId weights, int32_t size) {
    const Shape s = r_.tape.shape(all_);
    const bool manifold = wired_.rule == Streams::Rule::Manifold;
    const int64_t in = r_.tape.shape(seen_).cols(), each = task == Task::Carry ? count() : 1;
    const ValueId w = r_.parameter(n + ".w", {in, manifold ? size : each}, {Init::Kind::Zeros, 0.0});
    ValueId asked = linear(r_.tape, n + ".asked", seen_, w, kNone);
    if (!manifold)
      asked =
          soft_cap(r_.tape, n + ".bounded", reshape(r_.tape, n + ".of_all", asked, {s[0], s[1], size}), 1.0f);
    return affine(r_.tape, n + ".weights", asked, 1.0f,
                  r_.parameter(n + ".gate", {1}, {Init::Kind::Constant, 0.01}), weights);
  }

  /// Applies the rule to weights: a softmax over what is read, a sigmoid, twice a sigmoid, or a matrix whose rows and
  /// columns add up to one, after 20 rounds (Xie et al. 2025, equations 8 and 9).
  ValueId ruled(const std::string& n, Task task, ValueId weights, int32_t from) {
    if (wired_.rule == Streams::Rule::Free) return weights;
    if (wired_.rule == Streams::Rule::Softmax) return softmax(r_.tape, n + ".shares", weights, from);
    if (task == Task::Carry) return sinkhorn(r_.tape, n + ".balanced", weights, wired_.count, 20);
    // The sigmoid of z is 1/2 + tanh(z / 2) / 2, and soft_cap with 2 is 2 tanh(z / 2).
    const bool twice = task == Task::Write;
    return affine(r_.tape, n + ".positive", soft_cap(r_.tape, n + ".half", weights, 2.0f),
                  twice ? 0.5f : 0.25f, kNone,
                  constant(twice ? "streams.one" : "streams.half", {1}, twice ? 1.0 : 0.5));
  }

  Recorder& r_;
  Streams wired_;
  ValueId all_ = kNone, seen_ = kNone;
  int32_t written_ = 0;  ///< branches so far
};

std::unique_ptr<Residual> record_streams(Recorder& recorder, const StackWiring& stack) {
  const Streams streams = streams_of(stack);
  if (streams.one()) return nullptr;
  return std::make_unique<SeveralStreams>(recorder, streams);
}

/// Each of several streams is a plain sum: without norms on it and without scales.
void check_streams(const char* what, const StackWiring& stack) {
  if (streams_of(stack).one()) return;
  if (norm_at(stack, "second") != NormKind::None)
    fail("model", "the {} has several streams and a second stream beside them: expected wiring.second none",
         what);
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward}) {
      Wiring inside;  // the only part of a wiring that several streams allow
      inside.before = w->before;
      inside.after = w->after;
      inside.inner = w->inner;
      inside.added = w->added & (word_of(ResidualForm::sphere) | word_of(ResidualForm::gated_heads) |
                                 word_of(ResidualForm::gated_norms));
      inside.pre_scale = w->pre_scale;
      inside.init_gain = w->init_gain;
      if (!(*w == inside))
        fail(
            "model",
            "the {} has several streams, and '{}' puts a norm or a scale on one: expected norms inside the branch, "
            "before=, after=, q=, k=, v=, hidden=, output=",
            what, to_string(*w));
    }
}

std::optional<StreamLayout> layout_of_streams(const StackWiring& stack) {
  const Streams streams = streams_of(stack);
  if (streams.one()) return std::nullopt;
  return StreamLayout{.count = streams.count};
}

/// Streams are kept, carried on, written and seen at every sub-layer.
int64_t floats_of_several(const StackWiring& stack, int64_t sublayers) {
  const Streams streams = streams_of(stack);
  if (streams.one()) return 0;
  return streams.of_depth() ? sublayers * (sublayers + 3) : sublayers * 5 * streams.count;
}

constexpr std::array<const char*, 3> kStreamWeights = {"fixed", "learned", "computed"};
constexpr std::array<const char*, 3> kStreamRules = {"", "softmax", "manifold"};

template <typename Enum>
bool set_word_of(const std::array<const char*, 3>& names, std::string_view word, Enum& to) {
  for (size_t i = 0; i < names.size(); ++i)
    if (word == names[i]) {
      to = static_cast<Enum>(i);
      return true;
    }
  return false;
}

int32_t stream_count(std::string_view word) {
  if (word == "depth") return 0;
  int32_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc{} || end != word.data() + word.size() || count < 1 || count > kMaxStreams)
    fail("streams", "'{}' is no number of streams: expected 1 to {}, or depth", word, kMaxStreams);
  return count;
}

void check_rule(const Streams& s) {
  if (s.rule == Streams::Rule::Softmax && !s.of_depth())
    fail("streams", "a softmax is over what each branch wrote: expected depth");
  if (s.rule == Streams::Rule::Manifold && s.of_depth())
    fail("streams", "what is read over depth has no matrix to carry it: expected free weights or softmax");
  if (s.rule != Streams::Rule::Free && s.weights == Streams::Weights::Fixed)
    fail("streams", "fixed weights follow no rule: expected learned or computed ones");
  if (s.one() && !(s == Streams{})) fail("streams", "one stream has no weights: expected 1 alone");
}

}  // namespace

constinit const ResidualRow several_streams_residual{.slots = kStreamSlots,
                                                     .record = record_streams,
                                                     .check = check_streams,
                                                     .layout = layout_of_streams,
                                                     .objection = "there are several residual streams",
                                                     .floats = floats_of_several};

std::string to_string(const Streams& s) {
  if (s.one()) return "1";
  const char *weights = kStreamWeights[static_cast<size_t>(s.weights)],
             *rule = kStreamRules[static_cast<size_t>(s.rule)];
  return fmt::format("{} {}{}{}", s.of_depth() ? "depth" : std::to_string(s.count), weights, *rule ? " " : "",
                     rule);
}

Streams streams_from(std::string_view text) {
  Streams s;
  std::istringstream words{std::string(text)};
  std::string word;
  if (!(words >> word)) fail("streams", "it is empty: expected for instance 1, 4 computed or depth learned");
  s.count = stream_count(word);
  while (words >> word)
    if (word.empty() ||
        (!set_word_of(kStreamWeights, word, s.weights) && !set_word_of(kStreamRules, word, s.rule)))
      fail("streams", "'{}' is unknown: expected fixed, learned or computed, and softmax or manifold", word);
  check_rule(s);
  return s;
}

Streams streams_of(const StackWiring& stack) {
  const std::string_view words = words_at(stack, "streams");
  return words.empty() ? Streams{} : streams_from(words);
}

}  // namespace normscope
