// Post-LN with one thing changed at a time, to ask why it stays stuck: words of a sub-layer's wiring that change
// gradients and leave the forward pass as it is, or take the mean over the whole batch out of a branch.
#include "addons/interventions/engine/rerouted.h"
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

/// Subtracts from a branch's output its mean over the batch at each position: forward, backward, or both.
template <ResidualForm kForm, CentreSpec kSpec>
class CentredBranch : public Residual {
 public:
  explicit CentredBranch(Recorder& recorder) : r_(recorder) {}
  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (has_word(wiring, kForm)) s.branch = centre(r_.tape, s.name + ".centred", s.branch, kSpec);
    return x;
  }

 private:
  Recorder& r_;
};

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

template <ResidualForm kForm, CentreSpec kSpec>
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
    centred_row<ResidualForm::centred, CentreSpec{true, true}>("centred");
constinit const ResidualRow centred_forward_residual =
    centred_row<ResidualForm::centred_forward, CentreSpec{true, false}>("centred-forward");
constinit const ResidualRow centred_backward_residual =
    centred_row<ResidualForm::centred_backward, CentreSpec{false, true}>("centred-backward");

ValueId amplify(Tape& tape, const std::string& name, ValueId x, ValueId of, AmplifySpec spec) {
  const Shape shape = tape.shape(x);
  if (tape.shape(of) != shape)
    fail("amplify " + name, "{} has the shape {}: expected {}, as x has", tape.value(of).name,
         to_string(tape.shape(of)), to_string(shape));
  Node node{.op = OpKind::Amplify, .name = name, .in = {x, of}};
  node.attributes = spec;
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

ValueId centre(Tape& tape, const std::string& name, ValueId x, CentreSpec spec) {
  const Shape shape = tape.shape(x);
  if (shape.rank != 3) fail("centre " + name, "x {} must have shape (B,T,D)", to_string(shape));
  Node node{.op = OpKind::Centre, .name = name, .in = {x}};
  node.attributes = spec;
  return tape.add_node(std::move(node), shape);
}

OpRules centre_rules() {
  static constexpr OpRule kRows[] = {{.title = "Less what the batch has in common",
                                      .formula = R"(y_{b,t} = x_{b,t} - \frac{u}{B} \sum_c x_{c,t})",
                                      .shapes = "x and y (B,T,D); u and v are 0 or 1",
                                      .rule = R"(dx_{b,t} = dy_{b,t} - \frac{v}{B} \sum_c dy_{c,t})",
                                      .reads = {1}}};
  return {kRows};
}

}  // namespace normscope
