#include "app/course/tapes/tape_curves.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "app/course/tapes/followed.h"
#include "app/course/tapes/tape_tables.h"
#include "app/ui/widgets.h"
#include "engine/core/error.h"

namespace normscope::course {
namespace {

std::string in_words(const SmallTape::Instruction& i, const Words& words) {
  using Op = SmallTape::Op;
  switch (i.op) {
    case Op::Multiply:
      return fmt::format("{} × {}", i.of[0], i.of[1]);
    case Op::Add:
      return fmt::format("{} + {}", i.of[0], i.of[1]);
    case Op::Relu:
      return fmt::format("max(0, {})", i.of[0]);
    case Op::Norm:
      return words.tr("normalized {of}", {{"of", i.of[0]}});
    case Op::CrossEntropy:
      return words.tr("−log p of letter {letter}", {{"letter", i.target}});
  }
  return {};
}

/// Gives a number as it was written, or as it was computed with so many digits.
std::string text_of(double value, int digits) {
  return digits > 0 ? ui::number(value, digits) : ui::with_minus(ui::significant(value, 6));
}

std::vector<std::string> texts_of(const std::vector<float>& values, int64_t columns, int digits) {
  const size_t each = columns == 1 ? values.size() : static_cast<size_t>(columns);
  std::vector<std::string> rows;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % each == 0) rows.emplace_back();
    rows.back() += (rows.back().empty() ? "" : " ") + text_of(static_cast<double>(values[i]), digits);
  }
  return rows;
}

constexpr int kAsGiven = 0;

}  // namespace

std::vector<std::string> numbers_in(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

SmallTape tape_of(const Lesson& lesson, const std::string& id, const Changes& changes) {
  const LessonTape* found = lesson.tape(id);
  if (!found) throw Error(fmt::format("[tape.{}] is not in lesson {}: expected a tape of it", id, lesson.id));
  SmallTape tape = found->tape;
  if (const auto it = changes.find(id); it != changes.end())
    for (const auto& [field, value] : it->second)
      set_field_of_tape(tape, field, std::strtod(value.c_str(), nullptr));
  return tape;
}

CurveData measure_tape(const Lesson& lesson, const Curve& curve, const Changes& changes) {
  const SmallTape tape = tape_of(lesson, curve.run, changes);
  CurveData data;
  const auto add = [&](double x, const SmallTape& at) {
    data.x.push_back(x);
    data.y.push_back(quantity_of_tape(replay_small_tape(at), curve.y).at(0));
  };
  for (const double x : curve.xs) {
    SmallTape at = tape;
    set_field_of_tape(at, curve.over, x);
    add(x, at);
  }
  if (curve.to > 0)
    for (int32_t step = curve.from; step <= curve.to; ++step)
      add(step, train_small_tape(tape, static_cast<float>(curve.rate), step));
  if (!data.x.empty()) return data;
  data.y = quantity_of_tape(replay_small_tape(tape), curve.y);
  for (size_t i = 0; i < data.y.size(); ++i) data.x.push_back(static_cast<double>(i + 1));
  return data;
}

namespace {

/// A row of its own before the loss, which works it out of its scores without writing it anywhere.
constexpr const char* kProbability = "p";

}  // namespace

TapeTable table_of_tape(const SmallTape& tape, size_t done, const Words& words, int digits) {
  const SmallReplay replay = replay_small_tape(tape);
  TapeTable table;
  table.lines = replay.lines.size();
  table.forward = static_cast<size_t>(std::count_if(replay.lines.begin(), replay.lines.end(),
                                                    [](const auto& line) { return !line.backward; }));
  table.done = std::min(done, table.lines);
  for (const SmallTape::Number& n : tape.numbers)
    table.rows.push_back({n.name,
                          n.trained ? words.tr("weight") : words.tr("given"),
                          texts_of(n.values, replay.values.at(n.name).columns, kAsGiven),
                          {},
                          false});
  for (const SmallTape::Instruction& i : tape.instructions) {
    if (i.op == SmallTape::Op::CrossEntropy && !replay.values.contains(kProbability))
      table.rows.push_back({kProbability, words.tr("softmax of {of}", {{"of", i.of[0]}}), {}, {}});
    table.rows.push_back({i.name, in_words(i, words), {}, {}});
  }
  const auto row = [&](const std::string& name) {
    return std::find_if(table.rows.begin(), table.rows.end(),
                        [&](const TapeRow& r) { return r.name == name; });
  };
  if (table.done > table.forward) table.rows.back().gradient = {"1"};  // that of the loss, by definition
  for (size_t i = 0; i < table.done; ++i) {
    const SmallReplay::Line& line = replay.lines[i];
    std::string names;
    for (const SmallReplay::Write& write : line.writes) {
      TapeRow& to = *row(write.name);
      const SmallValue& shape = replay.values.at(write.name);
      (write.gradient ? to.gradient : to.value) = texts_of(write.values, shape.columns, digits);
      to.now = i + 1 == table.done;
      names += (names.empty() ? "" : words.tr(" and ")) + write.name;
    }
    const bool loss = !line.backward && tape.instructions[i].op == SmallTape::Op::CrossEntropy;
    if (loss && !replay.values.contains(kProbability)) {
      const SmallValue& scores = replay.values.at(tape.instructions[i].of[0]);
      row(kProbability)->value = texts_of(softmax(scores), scores.columns, digits);
    }
    table.said = line.backward ? words.tr("back through {instruction}: gradient of {names}",
                                          {{"instruction", line.instruction}, {"names", names}})
                               : fmt::format("{} = {}", line.instruction, row(line.instruction)->what);
  }
  return table;
}

std::vector<std::vector<std::string>> cells_of_tape(const TapeTable& table) {
  std::vector<std::vector<std::string>> cells{{"name", "what", "value", "gradient"}};
  for (const TapeRow& row : table.rows)
    cells.push_back({row.name, row.what, fmt::format("{}", fmt::join(row.value, "<br>")),
                     fmt::format("{}", fmt::join(row.gradient, "<br>"))});
  return cells;
}

}  // namespace normscope::course
