// See shown.h. The formulas in docs/ops.md have the same signs.
#include "addons/tape-screen/app/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "addons/tape-screen/app/sentences.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"

namespace normscope::tape_screen {
namespace {

/// A sign, and the key of its meaning where that is more than the tensor's name.
struct Sign {
  const char *sign = "", *meaning = "";
};

struct Signs {
  std::array<Sign, 6> in{};
  const char* out = "y";
  std::array<Sign, 2> saved{};
};

Signs signs_of_norm(const Node& node) {
  Signs signs{
      {{{"x"}, {"γ", "gain"}, {"β", "bias"}, {"α", "slope"}, {"s", "shift"}}}, "y", {{{"mean x"}, {"1/σ"}}}};
  const NormKind kind = node.attributes.as<NormSpec>().kind;
  if (node.attributes.as<NormSpec>().gain_offset != 0) signs.in[1].sign = "γ - 1";
  if (!is_centred(kind)) signs.saved[1].sign = "1/ρ";
  if (has_alpha(kind)) signs.saved[1].sign = "|t|/|x|";
  return signs;
}

/// The signs of ops that add-ons may bring, by name.
Signs signs_of_added(std::string_view op) {
  if (op == "conv2d") return {{{{"x"}, {"W", "weight"}, {"b", "bias"}}}, "y", {}};
  if (op == "relative_attention")
    return {{{{"c", "q + u"}, {"k"}, {"v"}, {"e", "q + v"}, {"r", "distances"}, {"lengths"}}},
            "y",
            {{{"P"}, {}}}};
  if (op == "rotary") return {{{{"x"}, {"c, s", "angles"}}}, "y", {}};
  if (op == "mix") return {{{{"x"}, {"w", "weight"}}}, "y", {}};
  return {{{{"x"}}}, "y", {}};
}

Signs signs_of(const Node& node) {
  switch (node.op) {
    case OpKind::Embedding:
      return {{{{"token"}, {"E", "table"}, {"P", "positions"}, {}}}, "y", {}};
    case OpKind::Linear:
      return {{{{"x"}, {"W", "weight"}, {"b", "bias"}, {}}}, "y", {}};
    case OpKind::Attention:
      return {{{{"q"}, {"k"}, {"v"}, {"lengths"}}}, "y", {{{"P"}, {}}}};
    case OpKind::Concat:
    case OpKind::Multiply:
      return {{{{"a"}, {"b"}}}, "y", {}};
    case OpKind::LayerNorm:
      return signs_of_norm(node);
    case OpKind::Add:
      return {{{{"x"}, {"f"}, {"a", "skip scale"}, {"b", "branch scale"}}}, "y", {}};
    case OpKind::Affine:
      return {{{{"x"}, {"g", "gain"}, {"h", "shift"}, {}}}, "y", {}};
    case OpKind::SoftmaxXent:
      return {{{{"z"}, {"t"}, {"w"}, {}}}, "L", {{{"ℓ"}, {"w/Σw"}}}};
    case OpKind::MeanPool:
    case OpKind::Probe:
      return {{{{"x"}, {"n"}, {}, {}}}, "y", {}};
    default:
      return signs_of_added(to_string(node.op));
  }
}

/// Where the numbers of a picture lie.
struct Extent {
  int64_t first = 0, rows = 1, columns = 1, sequences = 1, sequence = 0;
};

/// Counts sequences by the first dimension of what nodes compute, where there are three or more.
Extent extent_of(const ValueInfo& info, int64_t sequence) {
  Extent e;
  const Shape& s = info.shape;
  const bool computed = info.role == Role::Activation || info.role == Role::Saved;
  if (computed && s.rank >= 3) e.sequences = std::max<int64_t>(1, s[0]);
  e.sequence = std::clamp<int64_t>(sequence, 0, e.sequences - 1);
  const int64_t each = s.size() / e.sequences;
  e.first = e.sequence * each;
  e.columns = s.rank <= 1 ? s.size() : s.cols();
  e.rows = e.columns > 0 ? each / e.columns : 0;
  return e;
}

class Maker {
 public:
  Maker(StepPlayer& player, size_t instruction, int64_t sequence)
      : player_(player),
        program_(player.data()),
        it_(program_.instructions[instruction]),
        signs_(signs_of(it_)),
        sequence_(sequence) {
    shown_.instruction = instruction;
    shown_.instructions = program_.instructions.size();
    shown_.position = player.position();
    shown_.node = it_.op == OpKind::Probe ? -1 : it_.node;
    shown_.layer = it_.layer;
    shown_.op = it_.op;
    shown_.phase = it_.phase;
    shown_.name = it_.name;
    const OpRule& rule = rule_of(it_);
    shown_.title = rule.title;
    if (it_.op != OpKind::Probe && it_.phase != Phase::Update)
      shown_.title += fmt::format(", {}", tr(to_string(it_.phase)));
    shown_.formula = rule.formula;
    shown_.rule = rule.rule;
    shown_.shapes = rule.shapes;
    shown_.source = rule.source;
    find_backward();
  }

  InstructionView make() {
    if (it_.op == OpKind::Probe)
      add_probe();
    else if (it_.phase == Phase::Forward)
      add_forward();
    else if (it_.phase == Phase::Backward)
      add_backward();
    else
      add_update();
    shown_.sentence = sentence_of(player_, shown_);
    shown_.note = note_of(player_, shown_);
    return std::move(shown_);
  }

 private:
  const ValueInfo& info(ValueId v) const { return program_.values[static_cast<size_t>(v)]; }

  /// Finds out which inputs have a gradient.
  void find_backward() {
    if (shown_.node < 0) return;
    for (const Instruction& other : program_.instructions)
      if (other.node == it_.node && other.phase == Phase::Backward && other.op == it_.op)
        has_gradient_ = other.write;
    for (const Write write : has_gradient_) shown_.can_check = shown_.can_check || write != Write::Skip;
  }

  int input(size_t k) const {
    return k < has_gradient_.size() && has_gradient_[k] != Write::Skip ? static_cast<int>(k) : -1;
  }

  /// Names the instruction that last wrote a gradient before this one.
  std::string writer_of(ValueId value) const {
    for (size_t i = shown_.instruction; i-- > 0;) {
      const Instruction& other = program_.instructions[i];
      if (other.phase != Phase::Backward || other.op == OpKind::Probe) continue;
      for (size_t k = 0; k < other.in.size(); ++k)
        if (other.in[k] == value && other.write[k] != Write::Skip)
          return tr("from {name}", {{"name", short_name(other.name, it_.layer)}});
    }
    return value == program_.loss ? tr("is one") : "";
  }

  ShownTensor tensor(TensorId id, std::string sign, std::string role, int input) {
    ShownTensor t;
    t.id = id;
    t.sign = (id.gradient ? "d" : "") + sign;
    t.role = std::move(role);
    t.name = player_.name(id);
    t.shape = player_.shape(id);
    t.input = input;
    t.there = player_.is_there(id);
    const ValueInfo& value = info(id.value);
    t.integers = value.dtype == DType::I32;
    const Extent e = extent_of(value, sequence_);
    t.rows = static_cast<size_t>(e.rows);
    t.columns = static_cast<size_t>(e.columns);
    t.first = e.first;
    if (e.sequences > shown_.sequences) {
      shown_.sequences = e.sequences;
      shown_.sequence = e.sequence;
    }
    if (!t.there) return t;
    std::vector<float> numbers;
    if (t.integers) {
      const std::vector<int32_t> whole = player_.read_integers(id.value);
      numbers.assign(whole.begin(), whole.end());
    } else {
      numbers = player_.read(id);
    }
    t.summary = summarise(numbers);
    const std::span<const float> seen{numbers.data() + t.first, t.rows * t.columns};
    t.picture = heat_map(seen, t.columns, kPictureRows, kPictureColumns);
    t.stripes = stripes_of(t.picture, t.summary.limit);
    return t;
  }

  std::string role_of(ValueId v, const Sign& sign) const {
    const ValueInfo& value = info(v);
    if (value.role == Role::Input) return tr("batch");
    if (value.role == Role::Saved) return tr("saved");
    if (value.role == Role::Parameter && *sign.meaning) return tr(sign.meaning);
    return short_name(value.name, it_.layer);
  }

  void read_input(size_t k) {
    const ValueId v = it_.in[k];
    if (v != kNone)
      shown_.reads.push_back(tensor({v, false}, signs_.in[k].sign, role_of(v, signs_.in[k]), input(k)));
  }

  void saved(std::vector<ShownTensor>& list) {
    for (size_t k = 0; k < it_.saved.size(); ++k)
      if (it_.saved[k] != kNone)
        list.push_back(tensor({it_.saved[k], false}, signs_.saved[k].sign, tr("saved"), -1));
  }

  void add_forward() {
    for (size_t k = 0; k < it_.in.size(); ++k) read_input(k);
    shown_.writes.push_back(
        tensor({it_.out, false}, signs_.out, short_name(info(it_.out).name, it_.layer), -1));
    saved(shown_.writes);
  }

  void add_backward() {
    const BackwardReads reads = backward_reads(it_);
    for (size_t k = 0; k < it_.in.size(); ++k)
      if (reads.inputs[k]) read_input(k);
    if (reads.saved) saved(shown_.reads);
    shown_.reads.push_back(tensor({it_.out, true}, signs_.out, writer_of(it_.out), -1));
    for (size_t k = 0; k < it_.in.size(); ++k) {
      if (it_.write[k] == Write::Skip) continue;
      const bool parameter = info(it_.in[k]).role == Role::Parameter;
      ShownTensor t =
          tensor({it_.in[k], true}, signs_.in[k].sign,
                 parameter ? tr("parameter")
                           : tr("to {name}", {{"name", short_name(info(it_.in[k]).name, it_.layer)}}),
                 input(k));
      t.adds = it_.write[k] == Write::Add;
      shown_.writes.push_back(std::move(t));
    }
  }

  void add_probe() {
    const TensorId looked{it_.in[0], it_.of_gradient};
    shown_.reads.push_back(tensor(looked, "x", short_name(info(it_.in[0]).name, it_.layer), -1));
    if (it_.in.size() > 1) read_input(1);
  }

  /// Adds all parameters that have a gradient, as far as the panel has room.
  void add_update() {
    const bool writes = traits_of(it_.op).duty == Duty::Update;
    size_t all = 0;
    for (size_t v = 0; v < program_.values.size(); ++v) {
      if (program_.values[v].role != Role::Parameter || program_.plan.gradient_offset[v] == kNoOffset)
        continue;
      if (all++ >= kMostTensors) continue;
      const auto id = static_cast<ValueId>(v);
      shown_.reads.push_back(tensor({id, true}, "w", program_.values[v].name, -1));
      if (writes) shown_.writes.push_back(tensor({id, false}, "w", program_.values[v].name, -1));
    }
    shown_.left_out = all > kMostTensors ? all - kMostTensors : 0;
  }

  StepPlayer& player_;
  const ProgramData& program_;
  const Instruction& it_;
  const Signs signs_;
  const int64_t sequence_;
  std::vector<Write> has_gradient_;
  InstructionView shown_;
};

/// Finds where the first input's gradient is largest in the picture's sequence; nullopt without one.
std::optional<Element> largest_gradient(const StepPlayer& player, const InstructionView& shown) {
  const auto written = std::ranges::find_if(shown.writes, [](const ShownTensor& t) {
    return t.id.gradient && t.input >= 0 && t.there && t.columns > 0;
  });
  if (written == shown.writes.end()) return std::nullopt;
  const std::vector<float> values = player.read(written->id);
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(written->first),
             to = from + static_cast<std::ptrdiff_t>(written->rows * written->columns);
  const auto most =
      std::max_element(from, to, [](float a, float b) { return std::abs(a) < std::abs(b); }) - from;
  const auto columns = static_cast<int64_t>(written->columns);
  return Element{written->input, most / columns, most % columns};
}

}  // namespace

const ShownTensor* input_of(const InstructionView& shown, int input) {
  for (const std::vector<ShownTensor>* list : {&shown.writes, &shown.reads})
    for (const ShownTensor& t : *list)
      if (t.input >= 0 && t.input == input) return &t;
  return nullptr;
}

std::vector<Stripe> stripes_of(const HeatMap& picture, double limit) {
  std::vector<Stripe> stripes;
  const auto level_of = [&](float v) -> int8_t {
    if (!std::isfinite(v)) return kHatched;
    if (!(limit > 0)) return 0;
    const double share = std::clamp(static_cast<double>(v) / limit, -1.0, 1.0);
    return static_cast<int8_t>(std::lround(share * kLevels));
  };
  for (size_t r = 0; r < picture.rows; ++r)
    for (size_t c = 0; c < picture.columns;) {
      const int8_t level = level_of(picture.cells[r * picture.columns + c]);
      const size_t first = c;
      while (c < picture.columns && level_of(picture.cells[r * picture.columns + c]) == level) ++c;
      if (level != 0)
        stripes.push_back(
            {static_cast<uint16_t>(r), static_cast<uint16_t>(first), static_cast<uint16_t>(c), level});
    }
  return stripes;
}

InstructionView shown_of(StepPlayer& player, size_t instruction, int64_t sequence) {
  if (instruction >= player.size())
    fail("tape", "instruction {} of {}: expected one below {}", instruction, player.size(), player.size());
  return Maker(player, instruction, sequence).make();
}

std::optional<ElementCheck> checked_of(StepPlayer& player, const InstructionView& shown,
                                       std::optional<Element> asked, const std::function<bool()>& stop) {
  ElementCheck checked;
  checked.step = shown.step;
  checked.node = shown.node;
  checked.asked = asked;
  checked.sequence = checked.asked_sequence = shown.sequence;
  try {
    if (!shown.can_check)
      fail("check", "{} has no backward instruction: expected one that a gradient passes through",
           shown.name);
    const std::optional<Element> wanted = asked ? asked : largest_gradient(player, shown);
    const auto node = static_cast<size_t>(shown.node);
    if (!wanted) {
      checked.check = check_element(player, node, -1, -1, stop);
    } else {
      const ShownTensor* t = input_of(shown, wanted->input);
      const auto rows = t ? static_cast<int64_t>(t->rows) : 0,
                 columns = t ? static_cast<int64_t>(t->columns) : 0;
      if (wanted->row < 0 || wanted->row >= rows || wanted->column < 0 || wanted->column >= columns)
        fail("check", "position {}, feature {} of {}: expected one of {} x {}", wanted->row, wanted->column,
             t ? t->name : shown.name, rows, columns);
      checked.check =
          check_element(player, node, wanted->input, t->first + wanted->row * columns + wanted->column, stop);
    }
    if (checked.check.stopped) return std::nullopt;
    const NumericCheck& check = checked.check;
    const ValueId value = player.data().nodes[node].in[check.place];
    const ValueInfo& info = player.data().values[static_cast<size_t>(value)];
    const int64_t each = info.shape.size() / extent_of(info, 0).sequences;
    const Extent e = extent_of(info, check.element / std::max<int64_t>(each, 1));
    checked.element = {static_cast<int>(check.place), (check.element - e.first) / e.columns,
                       (check.element - e.first) % e.columns};
    if (e.sequences > 1) checked.sequence = e.sequence;
  } catch (const Error& error) {
    checked.fault = error.what();
  }
  return checked;
}

}  // namespace normscope::tape_screen
