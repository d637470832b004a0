// See shown.h. The formulas in docs/ops.md have the same signs.
#include "addons/tape-screen/app/shown.h"

#include <algorithm>

#include "app/ui/widgets.h"
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
  std::array<Sign, 2> saved{};
  const char* out = "y";
};

/// The signs of an op by its name, as add-ons bring further ops. Unlisted ops read only x.
constexpr std::pair<std::string_view, Signs> kSigns[] = {
    {"embedding", {{{{"token"}, {"E", "table"}, {"P", "positions"}}}}},
    {"linear", {{{{"x"}, {"W", "weight"}, {"b", "bias"}}}}},
    {"attention", {{{{"q"}, {"k"}, {"v"}, {"lengths"}}}, {{{"P"}}}}},
    {"concat", {{{{"a"}, {"b"}}}}},
    {"multiply", {{{{"a"}, {"b"}}}}},
    {"layer_norm",
     {{{{"x"}, {"γ", "gain"}, {"β", "bias"}, {"α", "slope"}, {"s", "shift"}}}, {{{"mean x"}, {"1/σ"}}}}},
    {"add", {{{{"x"}, {"f"}, {"a", "skip scale"}, {"b", "branch scale"}}}}},
    {"affine", {{{{"x"}, {"g", "gain"}, {"h", "shift"}}}}},
    {"softmax_xent", {{{{"z"}, {"t"}, {"w"}}}, {{{"ℓ"}, {"w/Σw"}}}, "L"}},
    {"squared_error", {{{{"p"}, {"t"}, {"w"}}}, {{{"w/Σw"}}}, "L"}},
    {"mean_pool", {{{{"x"}, {"n"}}}}},
    {"probe", {{{{"x"}, {"n"}}}}},
    {"conv2d", {{{{"x"}, {"W", "weight"}, {"b", "bias"}}}}},
    {"relative_attention",
     {{{{"c", "q + u"}, {"k"}, {"v"}, {"e", "q + v"}, {"r", "distances"}, {"lengths"}}}, {{{"P"}}}}},
    {"rotary", {{{{"x"}, {"c, s", "angles"}}}}},
    {"mix", {{{{"x"}, {"w", "weight"}}}}}};

Signs signs_of(const Node& node) {
  const auto row = std::ranges::find(kSigns, to_string(node.op), &std::pair<std::string_view, Signs>::first);
  Signs signs = row == std::end(kSigns) ? Signs{{{{"x"}}}} : row->second;
  if (node.op != OpKind::LayerNorm) return signs;
  const NormSpec& norm = node.attributes.as<NormSpec>();
  if (norm.gain_offset != 0) signs.in[1].sign = "γ - 1";
  if (!is_centred(norm.kind)) signs.saved[1].sign = "1/ρ";
  if (has_alpha(norm.kind)) signs.saved[1].sign = "|t|/|x|";
  return signs;
}

/// The part of a tensor that a picture shows.
struct Extent {
  int64_t first = 0, rows = 1, columns = 1, sequences = 1, sequence = 0;
};

/// The first dimension of computed values of rank 3 or more counts sequences.
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
    ShownTensor t{.id = id,
                  .sign = (id.gradient ? "d" : "") + sign,
                  .role = std::move(role),
                  .name = player_.name(id),
                  .shape = player_.shape(id),
                  .input = input,
                  .there = player_.is_there(id)};
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

  /// Adds the parameters that have a gradient, at most kMaxTensors.
  void add_update() {
    const bool writes = traits_of(it_.op).duty == Duty::Update;
    size_t all = 0;
    for (size_t v = 0; v < program_.values.size(); ++v) {
      if (program_.values[v].role != Role::Parameter || program_.plan.gradient_offset[v] == kNoOffset)
        continue;
      if (all++ >= kMaxTensors) continue;
      const auto id = static_cast<ValueId>(v);
      shown_.reads.push_back(tensor({id, true}, "w", program_.values[v].name, -1));
      if (writes) shown_.writes.push_back(tensor({id, false}, "w", program_.values[v].name, -1));
    }
    shown_.left_out = all > kMaxTensors ? all - kMaxTensors : 0;
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

using ui::grouped;
using ui::number;

constexpr double kOneVector = 0.05;  // rows that differ by less, relative to their size, are said to be one

const ShownTensor* signed_as(const std::vector<ShownTensor>& list, std::string_view sign) {
  const auto found =
      std::ranges::find_if(list, [&](const ShownTensor& t) { return t.sign == sign && t.there; });
  return found == list.end() ? nullptr : &*found;
}

double root_mean_square_of(const ShownTensor& t) {
  return t.summary.count > 0 ? t.summary.norm / std::sqrt(static_cast<double>(t.summary.count)) : 0;
}

bool is_parameter(const StepPlayer& player, const ShownTensor& t) {
  return player.data().values[static_cast<size_t>(t.id.value)].role == Role::Parameter;
}

/// Whether the tensor holds only what this instruction wrote.
bool is_alone(const StepPlayer& player, const InstructionView& shown, const ShownTensor& t) {
  if (t.adds) return false;
  for (size_t i = shown.instruction + 1; i < shown.position; ++i)
    for (const TensorId other : player.writes(i))
      if (other == t.id) return false;
  return true;
}

/// Says "a 5.2× smaller gradient than".
std::string against(double given, double received) {
  const double factor = given / received;
  if (std::abs(factor - 1) < 0.02) return tr("as large a gradient as");
  return tr(factor < 1 ? "a {times}× smaller gradient than" : "a {times}× larger gradient than",
            {{"times", number(std::max(factor, 1 / factor), 2)}});
}

/// Says "σ of x is 5" where the norm divides by it; empty otherwise.
std::string sigma_words(const InstructionView& shown, const std::vector<ShownTensor>& list) {
  const ShownTensor *sigma = signed_as(list, "1/σ"), *rho = signed_as(list, "1/ρ");
  const ShownTensor* t = sigma ? sigma : rho;
  if (shown.op != OpKind::LayerNorm || !t || !(t->summary.mean > 0)) return "";
  const char* letter = sigma ? "σ" : "ρ";
  if (t->summary.deviation < 0.05 * t->summary.mean)
    return tr("{letter} of x is {value}", {{"letter", letter}, {"value", number(1 / t->summary.mean, 2)}});
  return tr("1/{letter} of x is {value} on average",
            {{"letter", letter}, {"value", number(t->summary.mean, 2)}});
}

double share_above_zero(const StepPlayer& player, const ShownTensor& t) {
  const std::vector<float> values = player.read(t.id);
  const auto above = std::ranges::count_if(values, [](float v) { return v > 0; });
  return values.empty() ? 0 : static_cast<double>(above) / static_cast<double>(values.size());
}

double share_of_zeros(const StepPlayer& player, const ShownTensor& t) {
  const std::vector<float> values = player.read(t.id);
  const auto zeros = std::ranges::count(values, 0.f);
  return values.empty() ? 0 : static_cast<double>(zeros) / static_cast<double>(values.size());
}

std::string percent(double share) { return fmt::format("{} %", number(100 * share, 2)); }

double stat_of(StepPlayer& player, int32_t stat) {
  const std::span<const double> stats = player.program().stats();
  return stat >= 0 && static_cast<size_t>(stat) < stats.size() ? stats[static_cast<size_t>(stat)] : NAN;
}

std::string why(StepPlayer& player, const InstructionView& shown) {
  if (const std::string sigma = sigma_words(shown, shown.reads); !sigma.empty()) return ": " + sigma;
  const ShownTensor* x = signed_as(shown.reads, "x");
  if (shown.op == OpKind::Relu && x)
    return tr(": x is above 0 in {share} of its numbers", {{"share", percent(share_above_zero(player, *x))}});
  return "";
}

std::string backward_sentence(StepPlayer& player, const InstructionView& shown) {
  const auto arrives =
      std::ranges::find_if(shown.reads, [](const ShownTensor& t) { return t.id.gradient && t.there; });
  std::vector<const ShownTensor*> given;
  for (const ShownTensor& t : shown.writes)
    if (!is_parameter(player, t) && t.there) given.push_back(&t);
  if (given.empty() && (shown.writes.empty() || !shown.writes[0].there)) return tr("It writes no gradient.");
  if (given.empty())
    return tr(is_alone(player, shown, shown.writes[0])
                  ? "The gradient ends here: {tensor} has the size {norm}."
                  : "The gradient ends here: {tensor} with all that is added has the size {norm}.",
              {{"tensor", shown.writes[0].sign}, {"norm", number(shown.writes[0].summary.norm)}});
  if (shown.op == OpKind::SoftmaxXent && is_alone(player, shown, *given[0]))
    return tr("The gradient begins here: at the logits its norm is {norm}.",
              {{"norm", number(given[0]->summary.norm)}});
  if (arrives == shown.reads.end()) return "";
  const double received = arrives->summary.norm;
  const bool own = is_alone(player, shown, *given[0]);
  if (given.size() == 1 && own && received > 0 && given[0]->summary.norm > 0)
    return tr("It passes on {than} it receives{why}.",
              {{"than", against(given[0]->summary.norm, received)}, {"why", why(player, shown)}});
  std::string text = tr("It receives a gradient of size {norm}", {{"norm", number(received)}});
  for (size_t i = 0; i < given.size(); ++i) {
    const bool alone = is_alone(player, shown, *given[i]);
    text += i == 0 ? ";" : i + 1 < given.size() ? "," : tr(" and");
    text += tr(alone ? " {tensor} has {norm}" : " {tensor} with all that is added has {norm}",
               {{"tensor", given[i]->sign}, {"norm", number(given[i]->summary.norm)}});
  }
  return text + ".";
}

std::string change_words(const char* in, const ShownTensor& x, const ShownTensor& y) {
  return tr("Root mean square of {in} {before}, of {out} {after}",
            {{"in", in},
             {"before", number(root_mean_square_of(x))},
             {"out", y.sign},
             {"after", number(root_mean_square_of(y))}});
}

std::string forward_sentence(StepPlayer& player, const InstructionView& shown) {
  const ShownTensor& y = shown.writes.front();
  const ShownTensor *x = signed_as(shown.reads, "x"), *f = signed_as(shown.reads, "f");
  switch (shown.op) {
    case OpKind::SoftmaxXent:
      return tr("The loss of this batch is {loss} nats.", {{"loss", number(y.summary.mean, 4)}});
    case OpKind::Embedding: {
      // A parser joins a state's features in one row, so the rows of y do not count what was looked up.
      const ShownTensor* tokens = signed_as(shown.reads, "token");
      return tr("It looks up {tokens} tokens: root mean square {value}.",
                {{"tokens", grouped(tokens ? tokens->shape.size() : y.shape.rows())},
                 {"value", number(root_mean_square_of(y))}});
    }
    case OpKind::Relu:
      return x ? tr("It keeps the {share} of the numbers that are above 0 and makes the others 0.",
                    {{"share", percent(share_above_zero(player, *x))}})
               : "";
    case OpKind::Dropout:
      return tr("{share} of what it hands on is 0.", {{"share", percent(share_of_zeros(player, y))}});
    case OpKind::Concat:
      return tr("It puts {rows} rows behind each other.", {{"rows", grouped(y.shape.rows())}});
    case OpKind::Multiply:
      if (const ShownTensor* a = signed_as(shown.reads, "a")) return change_words("a", *a, y) + ".";
      return "";
    case OpKind::Add:
      if (x && f)
        return tr("Root mean square of x {x}, of f {f}, of y {y}.", {{"x", number(root_mean_square_of(*x))},
                                                                     {"f", number(root_mean_square_of(*f))},
                                                                     {"y", number(root_mean_square_of(y))}});
      return "";
    default:
      break;
  }
  if (traits_of(shown.op).saves_for_inspection)  // an attention
    if (const ShownTensor* v = signed_as(shown.reads, "v")) return change_words("v", *v, y) + ".";
  if (!x) return "";
  const std::string sigma = sigma_words(shown, shown.writes);
  return change_words("x", *x, y) + (sigma.empty() ? "." : ": " + sigma + ".");
}

std::string update_sentence(StepPlayer& player, const InstructionView& shown) {
  const ProgramData& program = player.data();
  if (shown.op == OpKind::GradNorm)
    return tr("All gradients together have the size {norm}.",
              {{"norm", number(stat_of(player, program.total_grad_norm_stat))}});
  if (shown.op == OpKind::Clip) {
    const double factor = stat_of(player, program.clip_stat);
    return factor >= 1 ? tr("The norm is within its bound: no gradient is changed.")
                       : tr("Every gradient is multiplied by {factor}.", {{"factor", number(factor)}});
  }
  int64_t weights = 0, tensors = 0;
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].role != Role::Parameter || program.plan.gradient_offset[v] == kNoOffset) continue;
    weights += program.values[v].shape.size();
    ++tensors;
  }
  return tr("It changes {weights} weights in {tensors} tensors.",
            {{"weights", grouped(weights)}, {"tensors", grouped(tensors)}});
}

/// The sentence about numbers that are not finite, which comes before any other; empty: all are.
std::string broken_sentence(const InstructionView& shown) {
  for (const ShownTensor& t : shown.writes)
    if (t.there && t.summary.not_finite > 0)
      return tr("{wrong} of {all} numbers of {tensor} are not finite, the first at [{at}].",
                {{"wrong", grouped(static_cast<long long>(t.summary.not_finite))},
                 {"all", grouped(static_cast<long long>(t.summary.count))},
                 {"tensor", t.sign},
                 {"at", t.summary.first_not_finite}});
  return "";
}

/// The distance of the rows of x from their mean, relative to their size; NaN: undefined.
double spread_of_rows(const StepPlayer& player, const ShownTensor& x) {
  const auto columns = static_cast<size_t>(x.shape.cols());
  if (x.shape.rank < 2 || columns == 0 || x.shape.rows() < 2 || x.summary.not_finite > 0) return NAN;
  const std::vector<float> values = player.read(x.id);
  const size_t rows = values.size() / columns;
  std::vector<double> mean(columns, 0);
  for (size_t i = 0; i < values.size(); ++i) mean[i % columns] += static_cast<double>(values[i]);
  double apart = 0, whole = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto v = static_cast<double>(values[i]);
    const double off = v - mean[i % columns] / static_cast<double>(rows);
    apart += off * off;
    whole += v * v;
  }
  return whole > 0 ? std::sqrt(apart / whole) : NAN;
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

std::string short_name(const std::string& name, int32_t layer) {
  const std::string prefix = fmt::format("L{:02}.", layer);
  const size_t at = layer > 0 ? name.find(prefix) : name.npos;
  return at == name.npos ? name : name.substr(at + prefix.size());
}

std::string sentence_of(StepPlayer& player, const InstructionView& shown) {
  if (shown.position <= shown.instruction) return tr("Not executed yet.");
  if (const std::string broken = broken_sentence(shown); !broken.empty()) return broken;
  if (shown.op == OpKind::Probe) {
    const Instruction& it = player.data().instructions[shown.instruction];
    if (it.stat < 0) return "";
    return tr("It changes nothing: {what} is {value}.",
              {{"what", player.data().stats[static_cast<size_t>(it.stat)].name},
               {"value", number(stat_of(player, it.stat))}});
  }
  if (shown.phase == Phase::Forward) return forward_sentence(player, shown);
  if (shown.phase == Phase::Backward) return backward_sentence(player, shown);
  return update_sentence(player, shown);
}

std::string note_of(StepPlayer& player, const InstructionView& shown) {
  if (shown.position <= shown.instruction) return "";
  if (const ShownTensor* x = signed_as(shown.reads, "x"); x && shown.op == OpKind::LayerNorm) {
    const double spread = spread_of_rows(player, *x);
    if (spread < kOneVector)
      return tr("x is nearly one vector at all {positions} positions, to {spread}.",
                {{"positions", grouped(x->shape.rows())}, {"spread", number(spread, 1)}});
  }
  std::string text;
  if (shown.phase != Phase::Backward) return text;
  for (const ShownTensor& t : shown.writes)
    if (is_parameter(player, t) && t.there && is_alone(player, shown, t))
      text += tr(text.empty() ? "‖{tensor}‖ is {norm}" : ", ‖{tensor}‖ {norm}",
                 {{"tensor", t.sign}, {"norm", number(t.summary.norm)}});
  return text.empty() ? text : text + ".";
}

}  // namespace normscope::tape_screen
