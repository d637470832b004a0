#include "addons/tape-screen/training/numeric_check.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "engine/cpu/arena.h"
#include "engine/cpu/denormals.h"
#include "engine/ops/ops.h"
#include "training/io/text.h"

namespace normscope {
namespace {

/// One node of a tape alone: its CPU kernels on the calling thread and on its own buffers, run for any number of
/// input values. Add the inputs in order, then prepare().
class LoneInstruction {
 public:
  LoneInstruction(const Node& node, const StepInputs& step) : node_(node), step_(step) {}
  void add_absent() { inputs_.emplace_back(); }
  void add_input(Shape shape, std::vector<float> values) {
    inputs_.push_back({shape, std::move(values), {}});
  }
  void add_integers(Shape shape, std::vector<int32_t> values) {
    inputs_.push_back({shape, {}, std::move(values)});
  }
  /// Takes the shapes of its outputs, and the gradient at its output.
  void prepare(Shape out, const std::vector<Shape>& saved, std::vector<float> output_gradient) {
    out_shape_ = out;
    saved_shapes_ = saved;
    dy_ = std::move(output_gradient);
    for (const Input& input : inputs_)
      in_.push_back(input.shape.rank > 0 ? cpu::allocate_block(input.shape.padded()) : cpu::Block{});
    for (const Shape& shape : saved) saved_.push_back(cpu::allocate_block(shape.padded()));
    out_ = cpu::allocate_block(out.padded());
    dout_ = cpu::allocate_block(out.padded());
    std::ranges::copy(dy_, dout_.get());
    scratch_ = cpu::allocate_block(cpu::kScratchFloats);
  }

  std::vector<float>& input(size_t k) { return inputs_[k].numbers; }  ///< may be changed between passes
  const std::vector<float>& output_gradient() const { return dy_; }

  std::vector<float> forward() {
    write_inputs();
    const Call call = call_of(Phase::Forward);
    const cpu::Stages stages = cpu::kernels_of(node_.op).forward(call);
    if (!kept_ && stages.kept_floats > 0) kept_ = cpu::allocate_block(stages.kept_floats);
    run(stages, call);
    return {out_.get(), out_.get() + out_shape_.size()};
  }

  /// The gradient of input k from this node alone, by its forward and backward kernels.
  std::vector<float> gradient(size_t k) {
    forward();
    const auto plan = cpu::kernels_of(node_.op).backward;
    if (!plan) fail("lone instruction", "{} has no backward kernel", to_string(node_.op));
    Call call = call_of(Phase::Backward);
    const cpu::Block gradient = cpu::allocate_block(inputs_[k].shape.padded());
    call.din[k] = {gradient.get(), inputs_[k].shape};
    call.write[k] = Write::Assign;
    run(plan(call), call);
    return {gradient.get(), gradient.get() + inputs_[k].shape.size()};
  }

 private:
  struct Input {
    Shape shape;
    std::vector<float> numbers;
    std::vector<int32_t> integers;
  };

  Call call_of(Phase phase) {
    Call call{};
    call.op = node_.op;
    call.phase = phase;
    call.attributes = node_.attributes;
    for (size_t k = 0; k < inputs_.size(); ++k)
      if (in_[k]) call.in[k] = {in_[k].get(), inputs_[k].shape};
    call.out = {out_.get(), out_shape_};
    for (size_t k = 0; k < saved_.size(); ++k) call.saved[k] = {saved_[k].get(), saved_shapes_[k]};
    if (phase == Phase::Backward) call.dout = {dout_.get(), out_shape_};
    call.stats = stats_.data();
    return call;
  }

  void run(const cpu::Stages& stages, const Call& planned) {
    const cpu::FlushDenormals scope;
    const cpu::Block workspace = cpu::allocate_block(std::max<size_t>(stages.workspace_floats, 16));
    Call call = planned;
    call.workspace = workspace.get();
    call.extra = stages.plans;
    call.kept = kept_.get();
    for (int s = 0; s < stages.count; ++s)
      for (int64_t chunk = 0; chunk < stages.stage[s].chunks; ++chunk)
        cpu::run_chunk(stages.stage[s], call, step_, chunk, {scratch_.get()});
  }

  void write_inputs() {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const Input& input = inputs_[k];
      if (!in_[k]) continue;
      if (input.integers.empty())
        std::memcpy(in_[k].get(), input.numbers.data(), input.numbers.size() * sizeof(float));
      else
        std::memcpy(in_[k].get(), input.integers.data(), input.integers.size() * sizeof(int32_t));
    }
  }

  const Node& node_;
  const StepInputs step_;
  std::vector<Input> inputs_;
  Shape out_shape_;
  std::vector<Shape> saved_shapes_;
  std::vector<float> dy_;
  std::vector<cpu::Block> in_, saved_;
  cpu::Block out_, dout_, kept_, scratch_;
  std::vector<double> stats_ = std::vector<double>(4);
};

/// The steps h, in units of the input's root mean square.
constexpr double kSteps[] = {1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4};

bool holds_constant(const Node& node) {
  return node.op == OpKind::LayerNorm && normscope::holds_constant(node.attributes.as<NormSpec>().kind);
}

/// The instruction of a node and phase; -1: there is none.
int32_t instruction_of(const ProgramData& program, size_t node, Phase phase) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.node == static_cast<int32_t>(node) && it.phase == phase && it.op != OpKind::Probe)
      return static_cast<int32_t>(i);
  }
  return -1;
}

double error_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();  // max() may drop it
  const double most = std::max(std::abs(a), std::abs(b));
  return most > 0 ? std::abs(a - b) / most : 0;
}

/// Sum dy (above - below). An output that does not move counts nothing, even if its gradient is infinite.
double moved_by(const std::vector<float>& dy, const std::vector<float>& above,
                const std::vector<float>& below) {
  double sum = 0;
  for (size_t i = 0; i < dy.size(); ++i)
    if (above[i] != below[i])
      sum += static_cast<double>(dy[i]) * (static_cast<double>(above[i]) - static_cast<double>(below[i]));
  return sum;
}

double root_mean_square(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  const double root = values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
  return root > 0 && std::isfinite(root) ? root : 1;
}

class Check {
 public:
  Check(StepPlayer& player, size_t node, int32_t backward)
      : node_(player.data().nodes[node]), alone_(node_, player.inputs()) {
    player.seek(static_cast<size_t>(backward));
    for (const ValueId v : node_.in) {
      if (v == kNone) {
        alone_.add_absent();
        continue;
      }
      const ValueInfo& info = player.data().values[static_cast<size_t>(v)];
      if (info.dtype == DType::I32)
        alone_.add_integers(info.shape, player.read_integers(v));
      else
        alone_.add_input(info.shape, player.read({v, false}));
    }
    const ValueInfo& out = player.data().values[static_cast<size_t>(node_.out)];
    std::vector<Shape> saved;
    for (const ValueId v : node_.saved) saved.push_back(player.data().values[static_cast<size_t>(v)].shape);
    alone_.prepare(out.shape, saved, player.read({node_.out, true}));
  }

  std::vector<float> gradient(size_t input) { return alone_.gradient(input); }

  void differences(size_t input, int64_t element, NumericCheck& check, const std::function<bool()>& stop) {
    if (holds_constant(node_)) return;
    const double scale = root_mean_square(alone_.input(input));
    for (const double step : kSteps) {
      check.stopped = stop && stop();
      if (check.stopped) return;
      const double h = step * scale, once = slope(input, element, h), twice = slope(input, element, 2 * h);
      const double refined = once + (once - twice) / 3;
      check.central.push_back({h, once, error_of(check.analytic, once)});
      check.refined.push_back({h, refined, error_of(check.analytic, refined)});
    }
  }

 private:
  /// The central difference, over the distance by which the float really moves.
  double slope(size_t input, int64_t element, double h) {
    float& x = alone_.input(input)[static_cast<size_t>(element)];
    const float before = x;
    const auto up = static_cast<float>(static_cast<double>(before) + h);
    const auto down = static_cast<float>(static_cast<double>(before) - h);
    x = up;
    const std::vector<float> above = alone_.forward();
    x = down;
    const std::vector<float> below = alone_.forward();
    x = before;
    return moved_by(alone_.output_gradient(), above, below) /
           (static_cast<double>(up) - static_cast<double>(down));
  }

  const Node& node_;
  LoneInstruction alone_;
};

int first_with_gradient(const Instruction& backward) {
  for (size_t k = 0; k < backward.write.size(); ++k)
    if (backward.write[k] != Write::Skip) return static_cast<int>(k);
  return -1;
}

int64_t largest(const std::vector<float>& values) {
  const auto most =
      std::ranges::max_element(values, [](float a, float b) { return std::abs(a) < std::abs(b); });
  return most - values.begin();
}

const Difference* best(const std::vector<Difference>& all) {
  const auto less = [](const Difference& a, const Difference& b) {
    return a.error < b.error || (std::isnan(b.error) && !std::isnan(a.error));
  };
  const auto least = std::ranges::min_element(all, less);
  return least == all.end() ? nullptr : &*least;
}

/// Reads "17" or "3,0,17": the element of a tensor of that shape.
int64_t element_of(std::string_view text, const Shape& shape, std::string_view name) {
  std::vector<int64_t> numbers;
  for (const std::string_view part : split(text, ',')) {
    int64_t number = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (fault != std::errc{} || end != part.data() + part.size() || number < 0)
      fail("check", "'{}' is no element: expected a number, as [17], or one a dimension, as [3,0,17]", text);
    numbers.push_back(number);
  }
  const auto refuse = [&] {
    fail("check", "[{}] lies outside {} {}: expected an element of it", text, name, to_string(shape));
  };
  if (numbers.size() == 1) {
    if (numbers[0] >= shape.size()) refuse();
    return numbers[0];
  }
  if (numbers.size() != static_cast<size_t>(shape.rank)) refuse();
  int64_t element = 0;
  for (int d = 0; d < shape.rank; ++d) {
    if (numbers[static_cast<size_t>(d)] >= shape[d]) refuse();
    element = element * shape[d] + numbers[static_cast<size_t>(d)];
  }
  return element;
}

}  // namespace

const Difference* NumericCheck::best_central() const { return best(central); }
const Difference* NumericCheck::best_refined() const { return best(refined); }

NumericCheck check_element(StepPlayer& player, size_t node, int input, int64_t element,
                           const std::function<bool()>& stop) {
  const ProgramData& program = player.data();
  const Node& it = program.nodes.at(node);
  const int32_t backward = instruction_of(program, node, Phase::Backward);
  if (backward < 0)
    fail("check", "{} has no backward instruction: expected one that a gradient passes through", it.name);
  const Instruction& instruction = program.instructions[static_cast<size_t>(backward)];
  const auto k = static_cast<size_t>(input < 0 ? first_with_gradient(instruction) : input);
  if (k >= instruction.write.size() || instruction.write[k] == Write::Skip)
    fail("check", "{} hands no gradient to its input {}: expected one that has a gradient", it.name, k);
  const size_t stood = player.position();
  Check check(player, node, backward);
  const std::vector<float> gradient = check.gradient(k);
  const ValueInfo& value = program.values[static_cast<size_t>(it.in[k])];
  const int64_t e = element < 0 ? largest(gradient) : element;
  if (e >= value.shape.size())
    fail("check", "element {} lies outside {} {}: expected one of it", e, value.name, to_string(value.shape));
  NumericCheck result;
  std::tie(result.node, result.input, result.op) = std::tuple(it.name, value.name, it.op);
  std::tie(result.place, result.shape, result.element) = std::tuple(k, value.shape, e);
  result.value = static_cast<double>(player.read({it.in[k], false})[static_cast<size_t>(e)]);
  result.analytic = static_cast<double>(gradient[static_cast<size_t>(e)]);
  check.differences(k, e, result, stop);
  player.seek(stood);
  return result;
}

NumericCheck check_element(StepPlayer& player, std::string_view what) {
  const ProgramData& program = player.data();
  const size_t open = what.find('[');
  if (open != what.npos && what.back() != ']')
    fail("check", "'{}' does not end with ]: expected an element behind the name, as [17]", what);
  const std::string_view name = what.substr(0, open);
  const size_t slash = name.find('/');
  const auto found = std::ranges::find(program.nodes, name.substr(0, slash), &Node::name);
  if (found == program.nodes.end())
    fail("check", "'{}' is no instruction of the tape: expected a name as normscope tape prints it",
         name.substr(0, slash));
  const auto node = static_cast<size_t>(found - program.nodes.begin());
  int input = -1;
  for (size_t k = 0; slash != name.npos && k < found->in.size(); ++k)
    if (found->in[k] != kNone &&
        program.values[static_cast<size_t>(found->in[k])].name == name.substr(slash + 1))
      input = static_cast<int>(k);
  if (slash != name.npos && input < 0)
    fail("check", "{} does not read '{}': expected one of its inputs", found->name, name.substr(slash + 1));
  if (open == what.npos) return check_element(player, node, input);
  const int32_t backward = instruction_of(program, node, Phase::Backward);
  if (input < 0 && backward >= 0)
    input = first_with_gradient(program.instructions[static_cast<size_t>(backward)]);
  if (input < 0) return check_element(player, node, input);  // this says what is missing
  const ValueInfo& value = program.values[static_cast<size_t>(found->in[static_cast<size_t>(input)])];
  const std::string_view inside = what.substr(open + 1, what.size() - open - 2);
  return check_element(player, node, input, element_of(inside, value.shape, value.name));
}

std::vector<NumericCheck> check_every_op(StepPlayer& player) {
  std::vector<NumericCheck> all;
  std::set<OpKind> done;
  for (size_t n = 0; n < player.data().nodes.size(); ++n) {
    if (instruction_of(player.data(), n, Phase::Backward) < 0) continue;
    if (done.insert(player.data().nodes[n].op).second) all.push_back(check_element(player, n));
  }
  return all;
}

std::string to_string(const std::vector<NumericCheck>& checks) {
  std::vector<std::vector<std::string>> rows{{"op", "instruction", "element of", "", "value", "analytic",
                                              "numeric", "error", "h", "refined", "error"}};
  for (const NumericCheck& c : checks) {
    std::vector<std::string> row{to_string(c.op),
                                 c.node,
                                 c.input,
                                 fmt::format("[{}]", c.element),
                                 fmt::format("{:.6g}", c.value),
                                 fmt::format("{:.7g}", c.analytic)};
    const Difference *central = c.best_central(), *refined = c.best_refined();
    for (const std::string& cell : {central ? fmt::format("{:.7g}", central->numeric) : "-",
                                    central ? fmt::format("{:.1e}", central->error) : "-",
                                    central ? fmt::format("{:.1e}", central->h) : "-",
                                    refined ? fmt::format("{:.7g}", refined->numeric) : "-",
                                    refined ? fmt::format("{:.1e}", refined->error) : "-"})
      row.push_back(cell);
    rows.push_back(std::move(row));
  }
  return text_table(rows, "lllrrrrrrrr");
}

}  // namespace normscope
