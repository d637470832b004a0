#include "addons/tape-screen/app/fold_rows.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/ops/rules.h"

namespace normscope::tape_screen {
namespace {

/// Turns "enc.L06" into "Encoder layer 6".
std::string layer_label(const FoldGroup& group) {
  const std::string_view name = group.name;
  return tr(name.starts_with("enc.")   ? "Encoder layer {layer}"
            : name.starts_with("dec.") ? "Decoder layer {layer}"
                                       : "Layer {layer}",
            {{"layer", group.layer}});
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string sublayer_label(const FoldGroup& group) {
  const std::string part = last_part(group.name);
  return part == "attn"    ? tr("attention")
         : part == "ffn"   ? tr("feed-forward")
         : part == "cross" ? tr("cross-attention")
                           : part;
}

std::string words_of(OpKind op) {
  std::string words = op == OpKind::SoftmaxXent ? "cross-entropy" : to_string(op);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string update_label(OpKind op) {
  return op == OpKind::Sgd                    ? "SGD"
         : traits_of(op).duty == Duty::Update ? rules_of(op).rules[0].title
                                              : words_of(op);
}

/// The names that came or are rewired, and which of both.
std::map<std::string, char> marks_of(const ProgramChange& change) {
  std::map<std::string, char> marks;
  for (const InstructionChange& one : change.all) {
    if (one.kind == ChangeKind::Went || one.op == OpKind::Probe) continue;
    char& mark = marks[one.name];
    if (mark != '+') mark = one.kind == ChangeKind::Came ? '+' : '~';
  }
  return marks;
}

class Rows {
 public:
  Rows(const StepFacts& facts, const OpenRows& opened)
      : facts_(facts), opened_(opened), marks_(marks_of(facts.change)) {
    for (const FoldGroup& group : facts.fold.groups)
      if (group.depth == 0) last_layer_ = group.name;
  }

  std::vector<FoldRow> make() {
    const Fold& fold = facts_.fold;
    add_update();
    auto group = fold.groups.begin();
    const FoldGroup* layer = nullptr;
    for (size_t i = 0; i < fold.lines.size();) {
      if (layer && i >= layer->end) layer = nullptr;
      std::string opens_with;
      bool closed = false;
      for (; group != fold.groups.end() && group->first <= i; ++group) {
        if (group->first < i) continue;  // it lies inside a closed group
        const bool open = is_open(*group);
        if (group->depth == 0) {
          layer = &*group;
          add_group(*group, open);
        } else if (open) {
          opens_with = group->name;
        } else {
          add_group(*group, open);
        }
        if (open) continue;
        i = group->end;
        closed = true;
        break;
      }
      if (closed) continue;
      add_line(i, layer, std::move(opens_with));
      ++i;
    }
    return std::move(rows_);
  }

 private:
  bool is_open(const FoldGroup& group) const {
    if (const auto at = opened_.by_hand.find(group.name); at != opened_.by_hand.end()) return at->second;
    if (group.depth == 0) return group.name == last_layer_;
    const std::string part = last_part(group.name);
    return !opened_.compact || (part != "attn" && part != "cross");
  }

  void add_update() {
    const Fold& fold = facts_.fold;
    if (fold.update.empty()) return;
    FoldRow row;
    row.kind = RowKind::Update;
    row.name = "update";
    row.label = update_label(fold.update.back().op);
    int64_t weights = 0;
    for (const ValueInfo& value : facts_.program.values)
      if (value.role == Role::Parameter) weights += value.shape.size();
    row.op = tr("{weights} weights", {{"weights", ui::grouped(weights)}});
    row.backward = fold.updates;
    row.backward.instruction = fold.update.front().side.instruction;
    rows_.push_back(std::move(row));
  }

  void add_group(const FoldGroup& group, bool open) {
    FoldRow row;
    row.kind = group.depth == 0 ? RowKind::Layer : RowKind::Sublayer;
    row.name = group.name;
    row.label = group.depth == 0 ? layer_label(group) : sublayer_label(group);
    row.op = tr("{count} op | {count} ops", {{"count", group.end - group.first}});
    row.depth = group.depth;
    row.layer = group.layer;
    row.open = open;
    row.first = group.first;
    row.end = group.end;
    row.bytes = group.bytes;
    row.forward = group.forward;
    row.backward = group.backward;
    row.forward.instruction = facts_.fold.lines[group.first].forward.instruction;
    for (size_t i = group.end; i-- > group.first;) {
      const FoldLine& line = facts_.fold.lines[i];
      if (row.backward.instruction < 0) row.backward.instruction = line.backward.instruction;
      if (line.gradient > 0) row.gradient = line.gradient;
      if (const char mark = mark_of(line.name); mark && row.mark != '+') row.mark = mark;
    }
    rows_.push_back(std::move(row));
  }

  void add_line(size_t i, const FoldGroup* layer, std::string opens_with) {
    const FoldLine& line = facts_.fold.lines[i];
    FoldRow row;
    row.name = line.name;
    row.label = layer ? line.name.substr(layer->name.size() + 1) : line.name;
    row.op = words_of(line.op);
    row.shape = to_string(line.shape);
    row.depth = layer ? 1 : 0;
    row.layer = line.layer;
    row.opens_with = std::move(opens_with);
    row.first = i;
    row.end = i + 1;
    row.bytes = line.bytes;
    row.forward = line.forward;
    row.backward = line.backward;
    row.gradient = line.gradient;
    row.mark = mark_of(line.name);
    rows_.push_back(std::move(row));
  }

  char mark_of(const std::string& name) const {
    const auto at = marks_.find(name);
    return at == marks_.end() ? '\0' : at->second;
  }

  const StepFacts& facts_;
  const OpenRows& opened_;
  std::map<std::string, char> marks_;
  std::string last_layer_;
  std::vector<FoldRow> rows_;
};

/// The line whose op wrote a value, or -1.
int32_t line_of(const ProgramData& program, ValueId value) {
  return value == kNone ? -1 : program.values[static_cast<size_t>(value)].node;
}

}  // namespace

std::vector<FoldRow> fold_rows(const StepFacts& facts, const OpenRows& opened) {
  return Rows(facts, opened).make();
}

bool is_forward(const ProgramData& program, size_t instruction) {
  return program.instructions[instruction].phase == Phase::Forward;
}

std::optional<size_t> row_of(const std::vector<FoldRow>& rows, const StepFacts& facts, size_t instruction) {
  const Instruction& it = facts.program.instructions[instruction];
  for (size_t r = 0; r < rows.size(); ++r) {
    const FoldRow& row = rows[r];
    if (row.kind == RowKind::Update && it.phase == Phase::Update) return r;
    if (row.kind == RowKind::Update || it.op == OpKind::Probe || it.phase == Phase::Update) continue;
    const bool closed = row.kind == RowKind::Line || !row.open;
    if (closed && it.node >= 0 && static_cast<size_t>(it.node) >= row.first &&
        static_cast<size_t>(it.node) < row.end)
      return r;
  }
  return std::nullopt;
}

std::vector<size_t> listed_instructions(const ProgramData& program) {
  std::vector<size_t> listed;
  for (size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].op != OpKind::Probe) listed.push_back(i);
  return listed;
}

size_t nearest_listed(const std::vector<size_t>& listed, size_t instruction) {
  const auto above = std::ranges::lower_bound(listed, instruction);
  if (above == listed.end()) return listed.back();
  if (above == listed.begin() || *above - instruction <= instruction - *(above - 1)) return *above;
  return *(above - 1);
}

size_t fold_of(const ProgramData& program) {
  size_t last = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].phase == Phase::Forward && program.instructions[i].op != OpKind::Probe)
      last = i;
  return last;
}

size_t other_side(const StepFacts& facts, size_t instruction) {
  const int32_t node = facts.program.instructions[instruction].node;
  if (node < 0 || static_cast<size_t>(node) >= facts.fold.lines.size()) return instruction;
  const FoldLine& line = facts.fold.lines[static_cast<size_t>(node)];
  const int32_t other =
      is_forward(facts.program, instruction) ? line.backward.instruction : line.forward.instruction;
  return other < 0 ? instruction : static_cast<size_t>(other);
}

GradientWay gradient_way(const StepFacts& facts) {
  GradientWay way;
  const std::vector<FoldLine>& lines = facts.fold.lines;
  for (const FoldLine& line : lines) {
    if (line.op == OpKind::SoftmaxXent || line.gradient <= 0) continue;
    if (way.arrives <= 0) way.arrives = line.gradient;
    way.begins = line.gradient;
  }
  // A norm counts only where nobody else reads its input: otherwise the gradient there is not the norm's alone.
  std::vector<int> readers(facts.program.values.size());
  for (const Node& node : facts.program.nodes)
    for (ValueId value : node.in)
      if (value != kNone) ++readers[static_cast<size_t>(value)];
  for (const FoldLine& line : lines) {
    if (line.op != OpKind::LayerNorm || line.gradient <= 0) continue;
    const ValueId in = facts.program.nodes[static_cast<size_t>(line.node)].in[0];
    const int32_t from = line_of(facts.program, in);
    const bool alone = from >= 0 && readers[static_cast<size_t>(in)] == 1;
    way.every_norm = way.every_norm && alone;
    if (!alone || lines[static_cast<size_t>(from)].gradient <= 0) continue;
    const double factor = line.gradient / lines[static_cast<size_t>(from)].gradient;
    way.least = way.norms ? std::min(way.least, factor) : factor;
    way.most = std::max(way.most, factor);
    ++way.norms;
  }
  return way;
}

std::string fold_sentence(const StepFacts& facts) {
  std::string text;
  const Fold& fold = facts.fold;
  if (facts.timed && fold.forward.seconds > 0)
    text = tr("Backward costs {times} times forward.",
              {{"times", ui::decimals(fold.backward.seconds / fold.forward.seconds, 1)}}) +
           " ";
  const GradientWay way = gradient_way(facts);
  if (!(way.begins > 0 && way.arrives > 0) || !std::isfinite(way.begins) || !std::isfinite(way.arrives))
    return text;
  const double factor = way.arrives / way.begins;
  const bool norms = way.every_norm && way.norms > 1 && way.least > 1.05;
  const char* const said =
      factor < 0.9
          ? norms ? "On its way up the gradient falls from {from} to {to}, {least} to {most} times at every "
                    "norm."
                  : "On its way up the gradient falls from {from} to {to}."
      : factor > 1.1
          ? norms ? "On its way up the gradient grows from {from} to {to}, falling {least} to {most} times "
                    "at every norm."
                  : "On its way up the gradient grows from {from} to {to}."
      : norms ? "On its way up the gradient goes from {from} to {to}, falling {least} to {most} times at "
                "every norm."
              : "On its way up the gradient goes from {from} to {to}.";
  return text + tr(said, {{"from", ui::number(way.begins, 2)},
                          {"to", ui::number(way.arrives, 2)},
                          {"least", ui::decimals(way.least, 1)},
                          {"most", ui::decimals(way.most, 1)}});
}

ChangeCounts change_counts(const StepFacts& facts) {
  ChangeCounts counts;
  for (const InstructionChange& one : facts.change.all) {
    if (one.op == OpKind::Probe) continue;
    (one.kind == ChangeKind::Came   ? counts.came
     : one.kind == ChangeKind::Went ? counts.went
                                    : counts.rewired)++;
  }
  const size_t all = listed_instructions(facts.program).size();
  counts.same = all - std::min(all, counts.came + counts.rewired);
  return counts;
}

std::string change_sentence(const StepFacts& facts) {
  if (facts.change_from.empty()) return "";
  const ChangeCounts counts = change_counts(facts);
  return tr(
      "Compared with {before}: {came} instructions came, {went} went, {rewired} are rewired; "
      "{same} are as they were.",
      {{"before", facts.change_from},
       {"came", counts.came},
       {"went", counts.went},
       {"rewired", counts.rewired},
       {"same", counts.same}});
}

}  // namespace normscope::tape_screen
