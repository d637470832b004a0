#include "addons/tape-screen/training/fold.h"

#include <algorithm>

#include "addons/tape-screen/training/memory_map.h"
#include "addons/tape-screen/training/tensor_summary.h"
#include "training/io/text.h"

namespace normscope {

double least_seconds(const Cost& cost, const Roofline& roof) {
  const double arithmetic = roof.flops > 0 ? cost.flop / roof.flops : 0;
  const double memory = roof.bytes > 0 ? cost.bytes / roof.bytes : 0;
  return std::max(arithmetic, memory);
}

namespace {

/// Of "enc.L06.ffn.stream": "enc.L06" and "enc.L06.ffn"; outside the layers both are empty.
struct GroupNames {
  std::string_view layer, sublayer;
};

bool is_layer(std::string_view word) {
  return word.size() > 1 && word[0] == 'L' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

GroupNames groups_of_name(std::string_view name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t dot = std::min(name.find('.', begin), name.size());
    if (is_layer(name.substr(begin, dot - begin))) {
      const size_t next = dot < name.size() ? name.find('.', dot + 1) : name.npos;
      return {name.substr(0, dot), next == name.npos ? std::string_view{} : name.substr(0, next)};
    }
    begin = dot + 1;
  }
  return {};
}

void add_to(FoldSide& sum, const FoldSide& side) {
  sum.cost += side.cost;
  sum.seconds += side.seconds;
}

/// Adds a group for each run of lines with the same non-empty `name_of`.
template <class NameOf>
void add_groups(const std::vector<FoldLine>& lines, int depth, NameOf name_of,
                std::vector<FoldGroup>& groups) {
  for (size_t i = 0; i < lines.size();) {
    const std::string_view name = name_of(groups_of_name(lines[i].name));
    FoldGroup group{std::string(name), depth, lines[i].layer, i, i, 0, {}, {}};
    for (; i < lines.size() && name_of(groups_of_name(lines[i].name)) == name; ++i) {
      group.bytes += lines[i].bytes;
      add_to(group.forward, lines[i].forward);
      add_to(group.backward, lines[i].backward);
    }
    group.end = i;
    if (!name.empty()) groups.push_back(std::move(group));
  }
}

std::vector<FoldGroup> groups_of(const std::vector<FoldLine>& lines) {
  std::vector<FoldGroup> groups;
  add_groups(
      lines, 0, [](const GroupNames& p) { return p.layer; }, groups);
  add_groups(
      lines, 1, [](const GroupNames& p) { return p.sublayer; }, groups);
  std::ranges::stable_sort(groups, [](const FoldGroup& a, const FoldGroup& b) {
    return a.first != b.first ? a.first < b.first : a.depth < b.depth;
  });
  return groups;
}

std::vector<FoldLine> lines_of(const ProgramData& program) {
  std::vector<FoldLine> lines;
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    const Node& node = program.nodes[n];
    const Shape& shape = program.values[static_cast<size_t>(node.out)].shape;
    const GroupNames place = groups_of_name(node.name);
    const std::string_view group = place.sublayer.empty() ? place.layer : place.sublayer;
    std::string label = group.empty() ? node.name : node.name.substr(group.size() + 1);
    lines.push_back({static_cast<int32_t>(n),
                     node.op,
                     node.name,
                     std::move(label),
                     node.layer,
                     shape,
                     4 * static_cast<size_t>(shape.size()),
                     {},
                     {}});
  }
  return lines;
}

using Row = std::vector<std::string>;

/// Writes time, rate and share of the roof.
void add_side(Row& row, const FoldSide& side, const Roofline& roof) {
  const double least = least_seconds(side.cost, roof);
  row.push_back(side.seconds > 0 ? fmt::format("{:.3f}", 1e3 * side.seconds) : "");
  row.push_back(rate_text(side.cost, side.seconds));
  row.push_back(side.seconds > 0 && least > 0 ? fmt::format("{:.0f} %", 100 * least / side.seconds) : "");
}

Row line_row(const std::string& name, const std::string& op, const std::string& shape, size_t bytes,
             const FoldSide& forward, const FoldSide& backward, const Roofline& roof) {
  Row row{name, op, shape, bytes > 0 ? size_words(bytes) : ""};
  add_side(row, forward, roof);
  add_side(row, backward, roof);
  return row;
}

}  // namespace

Fold fold(const ProgramData& program, std::span<const double> seconds) {
  if (!seconds.empty() && seconds.size() != program.instructions.size())
    fail("fold", "{} times for {} instructions: expected one each", seconds.size(),
         program.instructions.size());
  Fold all;
  all.lines = lines_of(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& it = program.instructions[i];
    const FoldSide side{static_cast<int32_t>(i), cost_of(program, it), seconds.empty() ? 0.0 : seconds[i]};
    if (it.op == OpKind::Probe) {
      ++all.probes;
      add_to(all.probed, side);
    } else if (it.phase == Phase::Update) {
      all.update.push_back({it.op, side});
      add_to(all.updates, side);
    } else {
      const bool down = it.phase == Phase::Forward;
      FoldLine& line = all.lines[static_cast<size_t>(it.node)];
      (down ? line.forward : line.backward) = side;
      add_to(down ? all.forward : all.backward, side);
    }
  }
  all.groups = groups_of(all.lines);
  return all;
}

void measure_gradients(Fold& fold, StepPlayer& player) {
  player.seek(player.size());
  for (FoldLine& line : fold.lines) {
    const ValueId out = player.data().nodes[static_cast<size_t>(line.node)].out;
    if (player.data().plan.gradient_offset[static_cast<size_t>(out)] != kNoOffset)
      line.gradient = summarise(player.read({out, true})).norm;
  }
}

std::string to_string(const Fold& fold, const Roofline& roof, bool open) {
  std::vector<Row> rows{
      {"instruction", "op", "result", "bytes", "down ms", "", "of roof", "up ms", "", "of roof", "gradient"}};
  const FoldSide none;
  for (const FoldUpdate& u : fold.update)
    rows.push_back(line_row("all parameters", to_string(u.op), "", 0, none, u.side, roof));
  auto group = fold.groups.begin();
  size_t inside = 0;  // first line after the closed layer
  for (size_t i = 0; i < fold.lines.size(); ++i) {
    const FoldLine& line = fold.lines[i];
    for (; group != fold.groups.end() && group->first == i; ++group) {
      if (!open && group->depth > 0) continue;
      const std::string pad(static_cast<size_t>(2 * group->depth), ' ');
      rows.push_back(line_row(pad + group->name, fmt::format("{} ops", group->end - group->first), "",
                              group->bytes, group->forward, group->backward, roof));
      if (!open) inside = group->end;
    }
    if (i < inside) continue;
    const GroupNames names = groups_of_name(line.name);
    const std::string pad(names.layer.empty() ? 0 : names.sublayer.empty() ? 2 : 4, ' ');
    rows.push_back(line_row(pad + line.label, to_string(line.op), to_string(line.shape), line.bytes,
                            line.forward, line.backward, roof));
    if (line.gradient > 0) rows.back().push_back(fmt::format("{:.2e}", line.gradient));
  }
  rows.push_back(
      line_row("sum", fmt::format("{} ops", fold.lines.size()), "", 0, fold.forward, fold.backward, roof));
  std::string text = text_table(rows, "lllrrrrrrrr");
  if (fold.probes > 0) text += fmt::format("{} probes are not listed\n", fold.probes);
  return text;
}

}  // namespace normscope
