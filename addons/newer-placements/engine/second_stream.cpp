// A second residual stream. ResiDual (Xie et al. 2023): it adds up the embedding and every branch without a norm, and
// is added to the output of the stack after one norm. SiameseNorm (Li et al. 2026): every branch reads it too, after a
// norm, and adds to it without its scale; at the end a norm reads the sum of both streams.
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

constexpr StackSlotRow kSecondSlots[] = {{"second"}, {"second_read"}, {"joined"}};

class SecondStream : public Residual {
 public:
  SecondStream(Recorder& recorder, const StackWiring& stack)
      : r_(recorder),
        norm_(norm_at(stack, "second")),
        read_(norm_at(stack, "second_read")),
        joined_(norm_at(stack, "joined")) {}
  void begin(const std::string&, ValueId x) override { second_ = x; }
  void begin_at_end(const Shape& states) override {
    second_ = r_.tape.input("state.second", states, DType::F32);
  }

  ValueId read(const std::string& sublayer, ValueId x) override {
    if (read_ == NormKind::None) return x;
    return add(r_.tape, sublayer + ".both", x, r_.norm(sublayer + ".second_read", read_, second_));
  }

  void write(SublayerValues& s, const ResidualScale& branch) override {
    const bool unscaled = read_ != NormKind::None;
    s.second = second_ =
        add(r_.tape, s.name + ".second", second_, s.branch, {}, unscaled ? ResidualScale{} : branch);
  }

  /// Asks for the gradient of each.
  void probe(const SublayerValues& s, ValueId lengths) override {
    int32_t number = 0;
    for (const ValueId value : {s.output, s.second})
      r_.tape.probe({s.name + ".stream." + std::to_string(++number) + ".gradient_square",
                     ProbeSpec{ProbeKind::MeanSquare, 0, 1}, value, true, r_.layer, lengths});
  }

  ValueId end(const std::string& prefix, ValueId x) override {
    x = add(r_.tape, prefix + "join", x, r_.norm(prefix + "second", norm_, second_));
    return r_.norm(prefix + "joined", joined_, x);
  }

 private:
  Recorder& r_;
  WiredNorm norm_, read_, joined_;
  ValueId second_ = kNone;  ///< so far
};

std::unique_ptr<Residual> record_second(Recorder& recorder, const StackWiring& stack) {
  if (norm_at(stack, "second") == NormKind::None) return nullptr;
  return std::make_unique<SecondStream>(recorder, stack);
}

void check_second(const char* what, const StackWiring& stack) {
  if (norm_at(stack, "second") == NormKind::None &&
      (norm_at(stack, "second_read") != NormKind::None || norm_at(stack, "joined") != NormKind::None))
    fail("model", "the {} has no second stream to read or to join: expected a norm for wiring.second", what);
}

std::optional<StreamLayout> layout_of_second(const StackWiring& stack) {
  const WiredNorm beside = norm_at(stack, "second");
  if (beside == NormKind::None) return std::nullopt;
  return StreamLayout{.beside = beside, .beside_read = norm_at(stack, "second_read") != NormKind::None};
}

}  // namespace

constinit const ResidualRow second_stream_residual{.slots = kSecondSlots,
                                                   .record = record_second,
                                                   .check = check_second,
                                                   .layout = layout_of_second,
                                                   .objection = "there is a second stream"};

}  // namespace normscope
