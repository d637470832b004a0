// Several streams are one value (B,T,n,D), mixed by the op `mix`: see config.h. At the end their text form.
#include <charconv>
#include <cmath>
#include <span>
#include <sstream>

#include "addons/newer-placements/engine/config.h"
#include "addons/newer-placements/engine/ops.h"
#include "engine/core/error.h"
#include "engine/model/part.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

constexpr StackSlotRow kStreamSlots[] = {
    {"streams", [](std::string_view words) { return to_string(streams_from(words)); }, "1"}};

using Rule = Streams::Rule;

int64_t permutations_of(int64_t n) { return n < 2 ? 1 : n * permutations_of(n - 1); }

/// The share of the streams that all permutations but the identity exchange, if they weigh alike.
double exchanged_by_others(int64_t n) {
  return static_cast<double>((n - 1) * permutations_of(n - 1)) / static_cast<double>(permutations_of(n) - 1);
}

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

  /// Read and written with positive weights, all computed from a position's streams as one row (mHC, mHC-lite).
  bool positive() const { return wired_.rule == Rule::Manifold || wired_.rule == Rule::Permutations; }
  bool permutes(Task task) const { return wired_.rule == Rule::Permutations && task == Task::Carry; }

  /// The learned numbers of a task. Where one of them starts apart from the rest they are a column.
  Shape shape_of(Task task) const {
    if (permutes(task)) return {permutations_of(wired_.count), 1};
    const int64_t from = task == Task::Write ? 1 : count(), to = task == Task::Read ? 1 : count();
    return wired_.rule == Rule::Permutations ? Shape{to * from, 1} : Shape{from, to};
  }

  /// Weights of one that no training changes.
  ValueId constant(const std::string& name, Shape shape, double value = 1.0) {
    return r_.parameter(name, shape, {Init::Kind::Constant, value}, false);
  }

  /// Records the input of computed weights: each stream after a norm, or for positive weights all streams of a position
  /// as one row (Xie et al. 2025, equation 7).
  void look_at_streams(const std::string& n) {
    if (wired_.weights != Streams::Weights::Computed) return;
    const Shape s = r_.tape.shape(all_);
    if (positive())
      seen_ =
          r_.norm(n + ".seen", NormKind::Rms, reshape(r_.tape, n + ".row", all_, {s[0], s[1], s[2] * s[3]}));
    else
      seen_ = r_.norm(n + ".seen", wired_.rule == Rule::Softmax ? NormKind::Rms : r_.config.norm, all_);
  }

  /// The initial weights act as a single stream, read from one of n streams in turn (Zhu et al. 2024, equation 14).
  /// Under the manifold's functions they only come close to that; streams with equal weights would stay equal.
  Init start_of(Task task) const {
    const bool manifold = wired_.rule == Rule::Manifold;
    if (wired_.rule == Rule::Softmax) return {Init::Kind::Zeros, 0.0};
    if (wired_.rule == Rule::Permutations) return start_of_permutations(task);
    if (task == Task::Write) return {Init::Kind::Constant, manifold ? 0.0 : 1.0};
    if (wired_.of_depth()) return {Init::Kind::Constant, 1.0};
    Init init{Init::Kind::Diagonal, 1.0};
    if (manifold) init.value = task == Task::Read ? 2.0 : 4.0;
    if (manifold && task == Task::Read) init.rest = -2.0;
    init.place = task == Task::Read ? written_ % wired_.count : 0;
    if (task == Task::Carry) mix_at_start(init);
    return init;
  }

  /// The authors' start: a branch reads and writes one stream more than the rest, each stream in turn, and of the
  /// permutations nearly nothing but the identity counts.
  Init start_of_permutations(Task task) const {
    Init init{Init::Kind::Diagonal, task == Task::Carry ? 0.0 : 1.0};
    init.rest = task == Task::Carry ? -8.0 : -1.0;
    init.place = task == Task::Carry ? 0 : written_ % wired_.count;
    const auto mixed = static_cast<double>(r_.config.of<StreamsConfig>().mixed);
    if (task != Task::Carry || mixed == 0) return init;
    const int64_t others = permutations_of(wired_.count) - 1;
    const double all = mixed / exchanged_by_others(wired_.count);  // of the others together
    init.rest = std::log(all / static_cast<double>(others) / (1 - all));
    return init;
  }

  /// Lets each stream take a share from the others, alike from each of them. Under the manifold's functions the logarithm
  /// of the wanted matrix is what they turn into it.
  void mix_at_start(Init& init) const {
    const double mixed = static_cast<double>(r_.config.of<StreamsConfig>().mixed), others = wired_.count - 1;
    if (mixed == 0) return;
    const bool manifold = wired_.rule == Rule::Manifold;
    init.value = manifold ? std::log(others * (1 - mixed) / mixed) : 1 - mixed;
    init.rest = manifold ? 0 : mixed / others;
  }

  ValueId weights_of(const std::string& n, Task task) {
    const bool fixed = wired_.weights == Streams::Weights::Fixed;
    const bool scored = wired_.rule == Rule::Softmax && wired_.weights == Streams::Weights::Computed;
    ValueId weights = kNone;
    if (scored)
      weights = linear(r_.tape, n + ".score", seen_,
                       r_.parameter(n + ".query", {r_.config.d_model, 1}, {Init::Kind::Zeros, 0.0}), kNone);
    else
      weights = r_.parameter(n, shape_of(task), start_of(task), !fixed);
    if (wired_.weights == Streams::Weights::Computed && !scored) weights = with_computed(n, task, weights);
    return ruled(n, task, weights);
  }

  /// Adds to weights a part that depends on the streams of a position, small at the start: 0.01 times its
  /// share, whose matrix is zero (Zhu et al. 2024, equations 10 to 13).
  ValueId with_computed(const std::string& n, Task task, ValueId weights) {
    const Shape s = r_.tape.shape(all_);
    const int64_t in = r_.tape.shape(seen_).cols(), size = shape_of(task).size(),
                  each = task == Task::Carry ? count() : 1;
    const ValueId w = r_.parameter(n + ".w", {in, positive() ? size : each}, {Init::Kind::Zeros, 0.0});
    ValueId asked = linear(r_.tape, n + ".asked", seen_, w, kNone);
    if (!positive())
      asked =
          soft_cap(r_.tape, n + ".bounded", reshape(r_.tape, n + ".of_all", asked, {s[0], s[1], size}), 1.0f);
    return affine(r_.tape, n + ".weights", asked, 1.0f,
                  r_.parameter(n + ".gate", {1}, {Init::Kind::Constant, 0.01}), weights);
  }

  /// Applies the rule to weights: a softmax over what is read, a sigmoid, twice a sigmoid, or a matrix whose rows and
  /// columns add up to one, after 20 rounds (Xie et al. 2025, equations 8 and 9) or as a mean of permutations.
  ValueId ruled(const std::string& n, Task task, ValueId weights) {
    if (wired_.rule == Rule::Free) return weights;
    if (wired_.rule == Rule::Softmax) return softmax(r_.tape, n + ".shares", weights, count());
    if (permutes(task)) return permuted(n, weights);
    if (task == Task::Carry) return sinkhorn(r_.tape, n + ".balanced", weights, wired_.count, 20);
    // The sigmoid of z is 1/2 + tanh(z / 2) / 2, and soft_cap with 2 is 2 tanh(z / 2).
    const bool twice = task == Task::Write;
    return affine(r_.tape, n + ".positive", soft_cap(r_.tape, n + ".half", weights, 2.0f),
                  twice ? 0.5f : 0.25f, kNone,
                  constant(twice ? "streams.one" : "streams.half", {1}, twice ? 1.0 : 0.5));
  }

  /// The mean of all permutations of the streams, weighted by the softmax of a number each.
  ValueId permuted(const std::string& n, ValueId weights) {
    const int32_t streams = wired_.count;
    const int64_t all = permutations_of(streams);
    const ValueId table = r_.parameter(fmt::format("streams.permutations.{}", streams),
                                       {all, int64_t{streams} * streams}, {Init::Kind::Permutations}, false);
    ValueId shares = softmax(r_.tape, n + ".shares", weights, static_cast<int32_t>(all));
    if (wired_.weights == Streams::Weights::Learned) shares = reshape(r_.tape, n + ".row", shares, {1, all});
    return linear(r_.tape, n + ".permuted", shares, table, kNone);
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

constexpr const char* kStreamWeights[] = {"fixed", "learned", "computed"};
constexpr const char* kStreamRules[] = {"", "softmax", "manifold", "permutations"};

template <typename Enum>
bool set_word_of(std::span<const char* const> names, std::string_view word, Enum& to) {
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
  if (s.rule == Rule::Softmax && !s.of_depth())
    fail("streams", "a softmax is over what each branch wrote: expected depth");
  if ((s.rule == Rule::Manifold || s.rule == Rule::Permutations) && s.of_depth())
    fail("streams", "what is read over depth has no matrix to carry it: expected free weights or softmax");
  if (s.rule != Rule::Free && s.weights == Streams::Weights::Fixed)
    fail("streams", "fixed weights follow no rule: expected learned or computed ones");
  if (s.one() && !(s == Streams{})) fail("streams", "one stream has no weights: expected 1 alone");
  if (s.rule == Rule::Permutations && s.count > kMaxPermutedStreams)
    fail("streams", "{} streams have {} permutations, each with a weight: expected at most {} streams",
         s.count, permutations_of(s.count), kMaxPermutedStreams);
}

/// A mean of permutations in which all but the identity weigh alike cannot exchange everything.
void check_mixed(const ModelConfig& c, const StackWiring& stack) {
  const Streams streams = streams_of(stack);
  if (streams.rule != Rule::Permutations) return;
  const double limit = std::floor(exchanged_by_others(streams.count) * 1000) / 1000;
  if (static_cast<double>(c.of<StreamsConfig>().mixed) > limit)
    fail(
        "model.streams_mixed",
        "{} cannot be taken from the others by {} streams whose permutations weigh alike: expected at most {}",
        c.of<StreamsConfig>().mixed, streams.count, limit);
}

void check_streams_of(const ModelConfig& c) {
  if (!is_transformer(c.architecture)) return;
  check_mixed(c, c.stack());
  if (has_both(c)) check_mixed(c, c.encoder);
}

}  // namespace

constinit const ResidualRow several_streams_residual{.slots = kStreamSlots,
                                                     .record = record_streams,
                                                     .check = check_streams,
                                                     .layout = layout_of_streams,
                                                     .objection = "there are several residual streams",
                                                     .floats = floats_of_several};

constinit const PartRow several_streams_part{
    .record = [](Recorder&) -> std::unique_ptr<Part> { return nullptr; }, .check = check_streams_of};

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
      fail("streams",
           "'{}' is unknown: expected fixed, learned or computed, and softmax, manifold or permutations",
           word);
  check_rule(s);
  return s;
}

Streams streams_of(const StackWiring& stack) {
  const std::string_view words = words_at(stack, "streams");
  return words.empty() ? Streams{} : streams_from(words);
}

}  // namespace normscope
