// A program of the engine's user, drawn from the input: three bytes for how it is sealed, then a byte an op, followed by
// a byte each for what the op is given. Ids of no value, of another tape and beyond the last are among them, names that
// are taken, dimensions that mean nothing. Each call is recorded or refused, and a refused call leaves tape and store as
// they were; what is recorded can be sealed or is refused, and can then be replayed and read.
#include <algorithm>
#include <array>

#include "engine/engine.h"
#include "fuzz.h"

using namespace normscope;

namespace {

constexpr int64_t kMaxNumbers = int64_t{1} << 16;
constexpr size_t kMaxNodes = 40;

class UserProgram {
 public:
  explicit UserProgram(std::string_view input) : input_(input) {}

  void run() {
    other_.input("other", {2, 3});
    const uint8_t how = byte(), update = byte(), loss = byte();
    while (at_ < input_.size() && tape_.nodes().size() < kMaxNodes && numbers() < kMaxNumbers) {
      const size_t values = tape_.values().size(), parameters = store_.parameters().size();
      const size_t nodes = tape_.nodes().size();
      if (!fuzz::accepts([&] { record(); }))
        fuzz::require(tape_.values().size() == values && store_.parameters().size() == parameters &&
                          tape_.nodes().size() == nodes,
                      "a refused call left something on the tape or in the store");
    }
    if (numbers() < kMaxNumbers) fuzz::accepts([&] { train(how, update, loss); });
  }

 private:
  uint8_t byte() { return at_ < input_.size() ? static_cast<uint8_t>(input_[at_++]) : 0; }

  int64_t numbers() const {
    int64_t sum = 0;
    for (const ValueInfo& value : tape_.values()) sum += value.shape.size();
    for (const ParameterInfo& parameter : store_.parameters()) sum += parameter.shape.size();
    return sum;
  }

  /// Mostly a value of the tape, the latest most often.
  ValueId value() {
    const uint8_t b = byte();
    const auto count = static_cast<int32_t>(tape_.values().size());
    if (b == 255) return other_.find("other");
    if (b == 254) return count + 3;
    if (b == 253) return -7;
    if (b == 252 || count == 0) return kNone;
    return b < 128 ? tape_.find(tape_.values()[static_cast<size_t>(b % count)].name)
                   : ValueId(count - 1 - b % std::min(count, 3));
  }
  ValueId maybe() { return byte() % 2 ? value() : kNone; }

  int64_t dimension() {
    static constexpr std::array<int64_t, 12> kDimensions = {
        1, 2, 3, 4, 6, 8, 2, 4, 0, -2, int64_t{1} << 31, std::numeric_limits<int64_t>::max()};
    return kDimensions[byte() % kDimensions.size()];
  }
  Shape shape() {
    switch (byte() % 6) {
      case 0:
        return {dimension()};
      case 1:
        return {dimension(), dimension()};
      case 2:
        return {dimension(), dimension(), dimension()};
      case 3:
        return {dimension(), dimension(), dimension(), dimension()};
      case 4:
        return {};
      default:
        return {dimension(), dimension(), dimension(), dimension(), dimension()};
    }
  }

  /// Mostly a new name.
  std::string name() {
    const uint8_t b = byte();
    if (b % 8 == 0 && !tape_.values().empty()) return tape_.values()[b % tape_.values().size()].name;
    return "n" + std::to_string(tape_.values().size()) + (b % 8 == 1 ? ".w" : "");
  }

  void record() {
    // Drawn one after the other, whatever the op: arguments of a call would be drawn in no certain order.
    const uint8_t op = byte(), k = byte();
    const std::string n = name();
    const ValueId a = value(), b = value(), c = maybe(), d = maybe();
    switch (op % 20) {
      case 0:
        tape_.input(n, shape(), k % 3 ? DType::F32 : DType::I32);
        return;
      case 1:
        store_.declare(n, shape(), {Init::Kind::Normal, 0.5}, k % 4 != 0);
        return;
      case 2:
        tape_.parameter(store_.parameters().empty() ? n : store_.at(k % 4).name);
        return;
      case 3:
        linear(tape_, n, a, dimension());
        return;
      case 4:
        linear(tape_, n, a, b, c, k % 2 != 0);
        return;
      case 5:
        layer_norm(tape_, n, a);
        return;
      case 6:
        layer_norm(tape_, n, kNormKinds[k % std::size(kNormKinds)], a, c, d, 1e-5f, k % 3,
                   {.alpha = maybe(), .shift = maybe()});
        return;
      case 7:
        activated(tape_, static_cast<Activation>(k % std::size(kActivations)), n, a);
        return;
      case 8:
        add(tape_, n, a, b, {0.5f, c}, {2.0f, d});
        return;
      case 9:
        multiply(tape_, n, a, b);
        return;
      case 10:
        affine(tape_, n, a, 2, c, d);
        return;
      case 11:
        reshape(tape_, n, a, shape());
        return;
      case 12:
        dropout(tape_, n, a, DropoutKind::Residual);
        return;
      case 13:
        softmax_xent(tape_, n, a, b, c);
        return;
      case 14:
        embedding(tape_, n, a, b, c, 1, k % 2 != 0);
        return;
      case 15:
        attention(tape_, n, a, b, k % 8 > 3 ? a : b, c,
                  {.heads = k % 4, .causal = k % 2 != 0, .window = k % 3});
        return;
      case 16:
        k % 2 ? concat(tape_, n, a, b) : append(tape_, n, a, b);
        return;
      case 17:
        mean_pool(tape_, n, a, c);
        return;
      case 18:
        tape_.probe({.name = n,
                     .attributes = ProbeSpec{ProbeKind::Variance},
                     .value = a,
                     .of_gradient = k % 2 != 0,
                     .lengths = c});
        return;
      default:
        k % 2 ? soft_cap(tape_, n, a, k) : mean_squared_error(tape_, n, a, b, c);
    }
  }

  void train(uint8_t how, uint8_t update, uint8_t loss) {
    const auto count = static_cast<int32_t>(tape_.values().size());
    store_.materialize(how);
    Program program = seal(tape_, {.loss = loss == 0   ? -1
                                           : loss < 32 ? count - loss
                                                       : loss,
                                   .backward = how % 2 != 0,
                                   .update = update % 4 ? static_cast<OpKind>(update / 4) : kNoOp,
                                   .clip = how % 4 > 1,
                                   .reuse_bytes = how % 8 > 3});
    for (const ValueInfo& value : tape_.values()) {
      if (value.role != Role::Input) continue;
      if (value.dtype == DType::I32)
        for (int32_t& i : program.tokens(value.name)) i = byte() % 8 - 1;
      else
        for (float& x : program.floats(value.name)) x = static_cast<float>(byte()) / 64 - 2;
    }
    program.replay(Adam{}.step(1));
    for (const StatInfo& stat : program.data().stats) program.stat(stat.name);
    for (const ValueInfo& value : tape_.values())
      for (const bool gradient : {false, true}) fuzz::accepts([&] { program.read(value.name, gradient); });
    fuzz::accepts([&] { program.counted_rows(); });
  }

  static Backend& backend() {
    static const std::shared_ptr<Backend> one = make_cpu_backend(1);
    return *one;
  }

  std::string_view input_;
  size_t at_ = 0;
  Store store_{backend()};
  Tape tape_{store_}, other_{store_};
};

}  // namespace

FUZZ_TARGET(tape) { UserProgram(input).run(); }
