#include "app/course/tape_tables.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <tuple>

#include "app/course/pictures/network.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"

namespace normscope::course {
namespace {

constexpr double kLargestNumber = 1e6, kHighestRate = 1000;
constexpr int32_t kMostTapeSteps = 100;
constexpr size_t kLongestName = 8, kMostTapePoints = 100;

std::string read_name(Table& t) {
  std::string name = t.text("name");
  const bool word =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!word || name.size() > kLongestName)
    t.refuse("name",
             fmt::format("'{}' is no name: expected at most {} letters, digits and _", name, kLongestName));
  return name;
}

SmallTape::Number read_number(Table& t) {
  SmallTape::Number n;
  n.name = read_name(t);
  for (const double v : t.numbers("values")) {
    if (std::abs(v) > kLargestNumber)
      t.refuse("values", fmt::format("{} is too large: expected at most {}", v, kLargestNumber));
    n.values.push_back(static_cast<float>(v));
  }
  if (n.values.empty() || n.values.size() > kMostSmallNumbers)
    t.refuse("values", fmt::format("expected 1 to {} numbers", kMostSmallNumbers));
  n.rows = t.whole("rows", 1, static_cast<int32_t>(kMostSmallNumbers), 1);
  n.trained = t.flag("trained", false);
  t.done();
  return n;
}

SmallTape::Instruction read_instruction(Table& t) {
  using Op = SmallTape::Op;
  SmallTape::Instruction i;
  i.name = read_name(t);
  i.op = static_cast<Op>(t.choice("op", {"multiply", "add", "relu", "norm", "cross-entropy"}));
  i.of = t.texts("of");
  if (i.op == Op::CrossEntropy) i.target = t.whole("target", 1, static_cast<int32_t>(kMostSmallNumbers));
  if (i.op == Op::Norm) {
    constexpr NormKind kKinds[] = {NormKind::Simple, NormKind::Detach, NormKind::DetachMean,
                                   NormKind::DetachVariance};
    i.norm = kKinds[t.choice("norm", {"simple", "detach", "detach-mean", "detach-var"}, 0)];
  }
  t.done();
  return i;
}

/// Takes "w[2]" apart into "w" and 2; 0 without brackets.
std::pair<std::string, size_t> parts_of(const std::string& field) {
  const size_t open = field.find('[');
  if (open == field.npos || field.back() != ']') return {field, 0};
  const unsigned long place = std::strtoul(field.c_str() + open + 1, nullptr, 10);
  // What is no place of any number becomes one that no number has.
  return {field.substr(0, open), place == 0 ? kMostSmallNumbers + 1 : place};
}

const SmallTape::Number* number_of(const SmallTape& tape, const std::string& field) {
  const auto [name, place] = parts_of(field);
  for (const SmallTape::Number& n : tape.numbers)
    if (n.name == name) return place <= n.values.size() ? &n : nullptr;
  return nullptr;
}

/// One of "value w" and "gradient w".
struct Part {
  bool gradient = false;
  std::string name;
};
struct Quantity {
  enum class Kind : uint8_t { Numbers, Mean, Length, Product } kind = Kind::Numbers;
  std::vector<Part> parts;
};

std::optional<Quantity> quantity_from(const std::string& y) {
  std::istringstream in(y);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  Quantity q;
  if (!words.empty() && (words[0] == "mean" || words[0] == "length")) {
    q.kind = words[0] == "mean" ? Quantity::Kind::Mean : Quantity::Kind::Length;
    words.erase(words.begin());
  }
  if (words.size() == 5 && words[2] == "." && q.kind == Quantity::Kind::Numbers) {
    q.kind = Quantity::Kind::Product;
    words.erase(words.begin() + 2);
  }
  if (words.size() != (q.kind == Quantity::Kind::Product ? 4 : 2)) return std::nullopt;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (words[i] != "value" && words[i] != "gradient") return std::nullopt;
    q.parts.push_back({words[i] == "gradient", words[i + 1]});
  }
  return q;
}

const SmallValue& value_of(const SmallReplay& replay, const Part& part) {
  const auto& all = part.gradient ? replay.gradients : replay.values;
  const auto it = all.find(part.name);
  if (it == all.end())
    throw Error(
        fmt::format("'{}' is not on the tape: expected one of its numbers or instructions", part.name));
  return it->second;
}

}  // namespace

LessonTape read_tape(const std::string& id, Table t) {
  LessonTape tape{id, {}};
  for (Table& child : t.tables("numbers")) tape.tape.numbers.push_back(read_number(child));
  for (Table& child : t.tables("instructions")) tape.tape.instructions.push_back(read_instruction(child));
  for (const auto& [key, count] : {std::pair{"numbers", tape.tape.numbers.size()},
                                   std::pair{"instructions", tape.tape.instructions.size()}})
    if (count == 0 || count > kMostSmallNames)
      t.refuse(key, fmt::format("expected a list of 1 to {}", kMostSmallNames));
  t.done();
  try {
    replay_small_tape(tape.tape);
  } catch (const Error& error) {
    t.refuse("instructions", error.what());
  }
  return tape;
}

void read_tape_axis(Curve& c, Table& t) {
  c.over = t.text("over", "");
  const bool steps = t.has("steps");
  if (!c.over.empty() && steps) t.refuse("steps", "and over: expected one of them");
  if (!c.over.empty()) {
    c.xs = t.numbers("xs");
    if (c.xs.size() < 2 || c.xs.size() > kMostTapePoints || !std::is_sorted(c.xs.begin(), c.xs.end()))
      t.refuse("xs", fmt::format("expected 2 to {} numbers, ascending", kMostTapePoints));
  }
  if (!steps) return;
  std::tie(c.from, c.to) = t.steps("steps", 0, kMostTapeSteps);
  c.rate = t.number("rate");
  if (c.rate == 0 || std::abs(c.rate) > kHighestRate)
    t.refuse("rate", fmt::format("expected a number up to {}, not 0", kHighestRate));
}

std::optional<double> field_of_tape(const SmallTape& tape, const std::string& field) {
  const SmallTape::Number* n = number_of(tape, field);
  if (!n) return std::nullopt;
  const size_t place = parts_of(field).second;
  if (place > 0) return static_cast<double>(n->values[place - 1]);
  return n->values.size() == 1 ? static_cast<double>(n->values[0]) : 1.0;
}

void set_field_of_tape(SmallTape& tape, const std::string& field, double value) {
  const auto [name, place] = parts_of(field);
  for (SmallTape::Number& n : tape.numbers) {
    if (n.name != name) continue;
    if (place > 0)
      n.values.at(place - 1) = static_cast<float>(value);
    else if (n.values.size() == 1)
      n.values[0] = static_cast<float>(value);
    else
      for (float& v : n.values) v = static_cast<float>(static_cast<double>(v) * value);
  }
}

std::string unknown_of_tape(const std::string& y) {
  return quantity_from(y) ? ""
                          : "'value NAME' or 'gradient NAME', with mean or length before it, or 'gradient "
                            "NAME . value NAME'";
}

std::vector<double> quantity_of_tape(const SmallReplay& replay, const std::string& y) {
  using Kind = Quantity::Kind;
  const Quantity q = quantity_from(y).value();
  const SmallValue& a = value_of(replay, q.parts[0]);
  if (q.kind == Kind::Numbers) return {a.values.begin(), a.values.end()};
  const SmallValue& b = value_of(replay, q.parts.back());
  if (a.values.size() != b.values.size() || a.columns != b.columns)
    throw Error(fmt::format("'{}' and '{}' differ in shape: expected the same", q.parts[0].name,
                            q.parts.back().name));
  std::vector<double> out;
  const auto columns = static_cast<size_t>(a.columns);
  for (size_t row = 0; row < a.values.size(); row += columns) {
    double sum = 0;
    for (size_t i = row; i < row + columns; ++i) {
      const auto x = static_cast<double>(a.values[i]);
      sum += q.kind == Kind::Mean ? x / static_cast<double>(columns) : x * static_cast<double>(b.values[i]);
    }
    out.push_back(q.kind == Kind::Length ? std::sqrt(sum) : sum);
  }
  return out;
}

std::string definition_of(const LessonTape& tape) {
  std::string out = "tape " + tape.id + "\n";
  for (const SmallTape::Number& n : tape.tape.numbers)
    out += fmt::format("  {} = [{}] in {} rows{}\n", n.name, fmt::join(n.values, " "), n.rows,
                       n.trained ? ", trained" : "");
  for (const SmallTape::Instruction& i : tape.tape.instructions) {
    out += fmt::format("  {} = {} {}", i.name, to_string(i.op), fmt::join(i.of, " "));
    if (i.op == SmallTape::Op::Norm) out += fmt::format(", {}", to_string(i.norm));
    if (i.op == SmallTape::Op::CrossEntropy) out += fmt::format(", target {}", i.target);
    out += "\n";
  }
  return out;
}

void check_tapes(const Lesson& lesson, const Table& root) {
  const auto refuse = [&](const std::string& table, const char* key, const std::string& what) {
    throw Error(fmt::format("{}:1: [{}.{}] {}", root.file(), table, key, what));
  };
  for (const LessonTape& tape : lesson.tapes)
    if (lesson.run(tape.id)) refuse("tape", tape.id.c_str(), "is a run's name too: expected its own");
  const auto field = [&](const std::string& table, const char* key, const std::string& id,
                         const std::string& name) {
    if (!field_of_tape(lesson.tape(id)->tape, name))
      refuse(
          table, key,
          fmt::format("'{}' is no number of [tape.{}]: expected one as w, or w[2] for its second", name, id));
  };
  for (const Curve& c : lesson.curves) {
    if (c.of != Curve::Of::Tape) continue;
    const std::string table = "curve." + c.id;
    const LessonTape* tape = lesson.tape(c.run);
    if (!tape)
      return refuse(table, "tape", fmt::format("'{}' is not in this lesson: expected a tape of it", c.run));
    if (!c.over.empty()) field(table, "over", c.run, c.over);
    try {
      const size_t count = quantity_of_tape(replay_small_tape(tape->tape), c.y).size();
      if (count != 1 && (!c.over.empty() || c.to > 0))
        refuse(table, "y", fmt::format("'{}' is {} numbers: expected one at each x", c.y, count));
    } catch (const Error& error) {
      if (std::string(error.what()).starts_with(root.file())) throw;
      refuse(table, "y", error.what());
    }
  }
  for (const Knob& knob : lesson.knobs)
    if (lesson.tape(knob.run)) field("knob." + knob.id, "field", knob.run, knob.field);
  for (const Figure& f : lesson.figures) {
    if (f.tape.empty()) continue;
    const LessonTape* tape = lesson.tape(f.tape);
    if (!tape)
      return refuse("figure." + f.id, "tape",
                    fmt::format("'{}' is not in this lesson: expected a tape of it", f.tape));
    if (f.follow == 0) continue;
    const std::string fault =
        guarded("a drawn tape", [&] { network_of(tape->tape, table_of_tape(tape->tape, 0)); });
    if (!fault.empty()) refuse("figure." + f.id, "follow", fault);
    if (std::none_of(lesson.figures.begin(), lesson.figures.end(),
                     [&](const Figure& other) { return other.tape == f.tape && other.follow == 0; }))
      refuse("figure." + f.id, "follow",
             "has no table beside it: expected another figure of the same tape, without follow");
  }
}

}  // namespace normscope::course
