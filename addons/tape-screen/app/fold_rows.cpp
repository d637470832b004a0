#include "addons/tape-screen/app/fold_rows.h"

#include <algorithm>

#include "app/ui/widgets.h"
#include "training/io/text.h"

namespace normscope::tape_screen {
namespace {

using namespace ui;

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

/// The marks of changed instructions by name: '+' came, '~' is rewired.
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
    FoldRow row{.kind = RowKind::Update, .name = "update", .label = update_label(fold.update.back().op)};
    int64_t weights = 0;
    for (const ValueInfo& value : facts_.program.values)
      if (value.role == Role::Parameter) weights += value.shape.size();
    row.op = tr("{weights} weights", {{"weights", ui::grouped(weights)}});
    row.backward = fold.updates;
    row.backward.instruction = fold.update.front().side.instruction;
    rows_.push_back(std::move(row));
  }

  void add_group(const FoldGroup& group, bool open) {
    FoldRow row{.kind = group.depth == 0 ? RowKind::Layer : RowKind::Sublayer,
                .name = group.name,
                .label = group.depth == 0 ? layer_label(group) : sublayer_label(group)};
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

/// The gradient's norm at its beginning, after the loss, and at its end; 0: not known.
struct GradientWay {
  double begins = 0, arrives = 0;
  /// Range of incoming over outgoing gradient, of norms that are the only readers of their input.
  double least = 0, most = 0;
  size_t norms = 0;
  bool every_norm = true;  ///< false where a norm had to be left out
};

GradientWay gradient_way(const StepFacts& facts) {
  GradientWay way;
  const std::vector<FoldLine>& lines = facts.fold.lines;
  for (const FoldLine& line : lines) {
    if (line.op == OpKind::SoftmaxXent || line.gradient <= 0) continue;
    if (way.arrives <= 0) way.arrives = line.gradient;
    way.begins = line.gradient;
  }
  // A norm counts only if it alone reads its input: otherwise the gradient there has other parts.
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

constexpr TextStyle kFigure{Face::Mono, type::tick}, kWord{Face::Sans, type::tick},
    kName{Face::Mono, type::body};
constexpr float kTrack = 8, kTurn = 16;

/// 1.5 px at a norm of 10^-6 and 8 px at 0.03, logarithmic, within what the track can show.
float width_of(double gradient) {
  if (!(gradient > 0) || !std::isfinite(gradient)) return 1.5f;
  const double low = -6, high = std::log10(0.03);
  const double share = (std::log10(gradient) - low) / (high - low);
  return std::clamp(static_cast<float>(1.5 + 6.5 * share), 1.f, 11.f);
}

void band(Painter& p, float x, float from, float to, float from_width, float to_width, Colour colour) {
  const std::array<Vec, 4> corners{Vec{x - from_width / 2, from}, Vec{x + from_width / 2, from},
                                   Vec{x + to_width / 2, to}, Vec{x - to_width / 2, to}};
  p.polygon(corners, colour);
}

std::string milliseconds(double seconds) {
  const double ms = 1e3 * seconds;
  return ms < 0.1 ? ui::decimals(ms, 3) : ms < 10 ? ui::decimals(ms, 2) : ui::decimals(ms, 1);
}

/// GFLOP/s without its unit, which the heading has, or GB/s with it.
std::string rate_words(const FoldSide& side) {
  if (side.seconds <= 0) return "";
  if (side.cost.flop > 0) return fmt::format("{:.0f}", 1e-9 * side.cost.flop / side.seconds);
  const double rate = 1e-9 * side.cost.bytes / side.seconds;
  return side.cost.bytes <= 0 ? ""
         : rate < 10          ? ui::decimals(rate, 1) + " GB/s"
                              : fmt::format("{:.0f} GB/s", rate);
}

struct FoldBrush {
  const FoldPicture& fit;
  Painter& p;
  const Theme& t;

  void track() const {
    const Colour colour = t.runs[static_cast<size_t>(fit.facts.letter - 'A')].line;
    const bool begins = fit.first == 0, folds = fit.folds();
    const bool updates = begins && !fit.rows.empty() && fit.rows[0].kind == RowKind::Update;
    const float bottom = fit.list.bottom();
    const float top = fit.list.y + (updates ? fit.at.row + 2 : 0);
    const float fold = bottom + 24, turn = folds ? fold - kTurn : bottom;
    p.fill({fit.left() - kTrack / 2, top, kTrack, turn - top}, colour);
    // Upwards, the width changes between two rows from one gradient to the other.
    double gradient = gradient_way(fit.facts).begins;
    float y = turn, width = folds ? kTrack : width_of(gradient);
    for (size_t row = fit.end; row-- > fit.first + (updates ? 1 : 0);) {
      const FoldRow& at = fit.rows[row];
      // The gradient of the loss itself is one and not on this scale.
      if (at.gradient > 0 && at.op != "cross-entropy") gradient = at.gradient;
      const float next = width_of(gradient);
      band(p, fit.right(), fit.y(row), y, next, width, colour);
      y = fit.y(row);
      width = next;
    }
    const float end = updates ? fit.y(0) + 4 : fit.list.y;
    band(p, fit.right(), end, y, width, width, colour);
    if (updates) {
      const std::array<Vec, 3> arrow{Vec{fit.right(), end - 8}, Vec{fit.right() + 6, end + 2},
                                     Vec{fit.right() - 6, end + 2}};
      p.polygon(arrow, colour);
    }
    if (!folds) return;
    constexpr float kQuarter = std::numbers::pi_v<float> / 2;
    p.line({fit.left() + kTurn, fold}, {fit.right() - kTurn, fold}, colour, kTrack);
    p.arc({fit.left() + kTurn, turn}, kTurn, kQuarter, 2 * kQuarter, colour, kTrack);
    p.arc({fit.right() - kTurn, turn}, kTurn, 0, kQuarter, colour, kTrack);
    p.text_in(fit.turn(), {Face::Bold, type::body}, t.ink, fit.turn_words(), Align::Centre);
  }

  /// Marks every instruction of a line by a dot on its track.
  void dots() const {
    for (size_t row = fit.first; row < fit.end; ++row) {
      const FoldRow& at = fit.rows[row];
      if (at.kind != RowKind::Line) continue;
      if (at.forward.instruction >= 0) p.circle({fit.left(), fit.y(row)}, 1.8f, t.panel);
      if (at.backward.instruction >= 0) p.circle({fit.right(), fit.y(row)}, 1.8f, t.panel);
    }
  }

  void names(const FoldRow& row, float y) const {
    const bool group = row.kind == RowKind::Layer || row.kind == RowKind::Sublayer;
    float x = fit.panel.x + fit.at.name + (row.depth && row.kind != RowKind::Layer ? 15.f : 0.f);
    if (row.mark) p.text({fit.left() + 8, y + 4}, kName, t.ink, row.mark == '+' ? "+" : "≠");
    if (group && !fit.alone)
      draw_icon(p, row.open ? Icon::ChevronDown : Icon::ChevronRight, {x + 5, y}, 12, t.ink2);
    if (!row.opens_with.empty() && !fit.alone) draw_icon(p, Icon::ChevronDown, {x - 9, y}, 9, t.ink3);
    if (group) x += 14;
    if (row.kind == RowKind::Layer) {
      int layers = 1;
      for (const FoldLine& line : fit.facts.fold.lines)
        layers = std::max(layers, static_cast<int>(line.layer));
      p.fill({x + 2, y - 4, 8, 8}, depth_colour(t, row.layer - 1, layers), 2);
      x += 16;
    }
    const bool bold = row.kind == RowKind::Layer || row.kind == RowKind::Update;
    const TextStyle style = bold                        ? TextStyle{Face::Bold, type::body}
                            : row.kind == RowKind::Line ? kName
                                                        : TextStyle{Face::Sans, type::body};
    x += p.text({x, y + 4}, style, t.ink, row.label) + 10;
    if (row.kind == RowKind::Update) {
      const std::string arrives =
          tr("gradient {norm}", {{"norm", number(gradient_way(fit.facts).arrives, 2)}});
      const float right = fit.panel.x + fit.at.bytes_right;
      p.text({right, y + 4}, kWord, t.ink2, arrives, Align::Right);
      if (x + p.text_width(kWord, row.op) + p.text_width(kWord, arrives) + 10 < right)
        p.text({x, y + 4}, kWord, t.ink3, row.op);
      return;
    }
    const std::string& shape = group ? row.op : row.shape;
    const TextStyle shape_style = group ? kWord : kFigure;
    const float shape_right = fit.panel.x + fit.at.shape_right,
                shape_left = shape_right - p.text_width(shape_style, shape);
    if (x < shape_left) p.text({shape_right, y + 4}, shape_style, t.ink3, shape, Align::Right);
    p.text({fit.panel.x + fit.at.bytes_right, y + 4}, kFigure, t.ink3,
           words::with_decimal(size_words(row.bytes)), Align::Right);
    if (fit.alone && row.gradient > 0)
      p.text({fit.right() - 14, y + 4}, kFigure, t.ink2, number(row.gradient, 2), Align::Right);
    const float aligned = std::max(x, fit.panel.x + fit.at.name + 97);
    const bool room = fit.wide && !group;
    if (room && aligned + p.text_width(kWord, row.op) + 8 < shape_left)
      p.text({aligned, y + 4}, kWord, t.ink3, row.op);
    else if (room && x + p.text_width(kWord, row.op) + 8 < shape_left)
      p.text({x, y + 4}, kWord, t.ink3, row.op);
  }

  /// Draws the time as a bar; its dark part is the time of the FLOP at the peak, none without FLOP.
  void side(const FoldRow& row, float y, bool forward) const {
    const FoldSide& side = forward ? row.forward : row.backward;
    if (side.instruction < 0 || side.seconds <= 0 || !fit.clock) return;
    const float most = (forward ? fit.at.left_room : fit.at.right_room);
    const float px = fit.px_per_second;
    const float w = std::clamp(static_cast<float>(side.seconds) * px, 1.f, most);
    const float peak = side.cost.flop > 0 && fit.facts.roof.flops > 0
                           ? std::min(w, static_cast<float>(side.cost.flop / fit.facts.roof.flops) * px)
                           : 0.f;
    const float x = fit.panel.x + (forward ? fit.at.bar_right - w : fit.at.bar_left);
    p.fill({x, y - 5, w, 10}, t.trough, 1);
    if (peak > 0) p.fill({forward ? x + w - peak : x, y - 5, peak, 10}, t.ink2, 1);
    const std::string ms = milliseconds(side.seconds);
    p.text({forward ? x - 6 : x + w + 7, y + 4}, kFigure, t.ink, ms, forward ? Align::Right : Align::Left);
    if (!fit.wide) return;
    p.text({fit.panel.x + (forward ? fit.at.rate_left : fit.at.rate_right), y + 4}, kFigure, t.ink3,
           rate_words(side), Align::Right);
  }

  void row(size_t row) const {
    const FoldRow& at = fit.rows[row];
    const float y = fit.y(row);
    if (at.kind == RowKind::Layer)
      p.hairline({fit.panel.x + fit.at.name, y - fit.at.row / 2},
                 {fit.panel.x + fit.at.bytes_right, y - fit.at.row / 2}, t.grid);
    names(at, y);
    side(at, y, true);
    side(at, y, false);
  }
};

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

std::string FoldPicture::turn_words() const {
  return tr("the fold: loss {loss}, gradient {norm}",
            {{"loss", number(facts.loss, 3)}, {"norm", number(gradient_way(facts).begins, 2)}});
}

void FoldPicture::paint_headings(Painter& p, const Theme& t, float y) const {
  const float x = panel.x;
  const TextStyle bold{Face::Bold, type::body};
  p.text({x + at.bar_right, y}, bold, t.ink, tr(wide ? "forward" : "forward, ms"), Align::Right);
  p.text({x + at.bar_left, y}, bold, t.ink, tr(wide ? "backward" : "backward, ms"));
  p.text({x + at.shape_right, y}, kWord, t.ink3, tr("result"), Align::Right);
  p.text({x + at.bytes_right, y}, kWord, t.ink3, tr("bytes"), Align::Right);
  p.text({left(), y}, bold, t.ink, "↓", Align::Centre);
  p.text({right(), y}, bold, t.ink, "↑", Align::Centre);
  if (wide) {
    p.text({x + at.name, y}, kWord, t.ink3, tr("instruction"));
    p.text({x + at.rate_left, y}, kWord, t.ink3, "GFLOP/s", Align::Right);
    p.text({x + at.rate_right, y}, kWord, t.ink3, "GFLOP/s", Align::Right);
    p.text({x + 106, y}, kWord, t.ink3, "ms", Align::Right);
    p.text({x + at.bar_left + 112, y}, kWord, t.ink3, "ms", Align::Right);
  }
  if (alone) p.text({right() - 14, y}, kWord, t.ink3, tr("gradient"), Align::Right);
}

void FoldPicture::paint(Painter& p, const Theme& t) const {
  const FoldBrush brush{*this, p, t};
  brush.track();
  for (size_t row = first; row < end; ++row) {
    if (alone) p.begin_group(rows[row].name + ": " + rows[row].op);
    brush.row(row);
    if (alone) p.end_group();
  }
  brush.dots();
}

std::string times_of(const StepFacts& facts) {
  if (!facts.timed) return "";
  return tr(
      "{forward} ms forward, {backward} ms backward, {update} ms update; one thread, each "
      "instruction alone",
      {{"forward", ui::significant(1e3 * facts.fold.forward.seconds, 3)},
       {"backward", ui::significant(1e3 * facts.fold.backward.seconds, 3)},
       {"update", ui::significant(1e3 * facts.fold.updates.seconds, 3)}});
}

std::string fold_svg(const StepFacts& facts) {
  OpenRows all;
  for (const FoldGroup& group : facts.fold.groups) all.by_hand[group.name] = true;
  const std::vector<FoldRow> rows = fold_rows(facts, all);
  FoldPicture picture{.facts = facts, .rows = rows, .at = kFoldAlone, .alone = true};
  picture.panel = {0, 0, 850, 0};
  picture.list = {0, 88, picture.panel.w, static_cast<float>(rows.size()) * kFoldAlone.row};
  picture.end = rows.size();
  double forward = 1e-9, backward = 1e-9;
  for (const FoldRow& row : rows) {
    forward = std::max(forward, row.forward.seconds);
    backward = std::max(backward, row.backward.seconds);
  }
  picture.px_per_second =
      static_cast<float>(std::min(kFoldAlone.left_room / forward, kFoldAlone.right_room / backward));
  const std::string title =
      tr("run {run} at step {step}, loss {loss}",
         {{"run", facts.letter}, {"step", facts.step}, {"loss", ui::significant(facts.loss, 3)}});
  return ui::to_svg(title, [&](Painter& p, const Theme& t) {
    const TextStyle body{Face::Sans, type::body};
    p.text({space::pad, 26}, {Face::Bold, type::run_name}, t.ink, title);
    p.text({space::pad, 46}, body, t.ink2, fold_sentence(facts));
    picture.paint_headings(p, t, 78);
    picture.paint(p, t);
    p.text({space::pad, picture.list.bottom() + 52}, body, t.ink2, times_of(facts));
    return Vec{picture.panel.w, picture.list.bottom() + 68};
  });
}

}  // namespace normscope::tape_screen
