#include "app/course/tapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <sstream>
#include <tuple>

#include "app/course/pictures/pictures.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"

namespace normscope::course {
namespace {

constexpr double kLargestNumber = 1e6, kHighestRate = 1000;
constexpr int32_t kMaxTapeSteps = 100;
constexpr size_t kLongestName = 8, kMaxTapePoints = 100;

std::string read_name(Table& t) {
  std::string name = t.text("name");
  const bool word =
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!word || name.size() > kLongestName)
    t.refuse("name",
             Message("'{}' is no name: expected at most {} letters, digits and _", name, kLongestName));
  return name;
}

SmallTape::Number read_number(Table& t) {
  SmallTape::Number n;
  n.name = read_name(t);
  for (const double v : t.numbers("values")) {
    if (std::abs(v) > kLargestNumber)
      t.refuse("values", Message("{} is too large: expected at most {}", v, kLargestNumber));
    n.values.push_back(static_cast<float>(v));
  }
  if (n.values.empty() || n.values.size() > kMaxSmallNumbers)
    t.refuse("values", Message("expected 1 to {} numbers", kMaxSmallNumbers));
  n.rows = t.whole("rows", 1, static_cast<int32_t>(kMaxSmallNumbers), 1);
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
  if (i.op == Op::CrossEntropy) i.target = t.whole("target", 1, static_cast<int32_t>(kMaxSmallNumbers));
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
  // Text that is no index from 1 becomes an index past the end of every number.
  return {field.substr(0, open), place == 0 ? kMaxSmallNumbers + 1 : place};
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
    throw Error("'{}' is not on the tape: expected one of its numbers or instructions", part.name);
  return it->second;
}

/// Names the row of softmax probabilities above the loss, which computes them from its scores but does not store them.
constexpr const char* kProbability = "p";

/// The numbers that `y` names. Throws Error for a name that the tape does not have, and for
/// a product of different shapes.
std::vector<double> quantity_of_tape(const SmallReplay& replay, const std::string& y) {
  using Kind = Quantity::Kind;
  const Quantity q = quantity_from(y).value();
  const SmallValue& a = value_of(replay, q.parts[0]);
  if (q.kind == Kind::Numbers) return {a.values.begin(), a.values.end()};
  const SmallValue& b = value_of(replay, q.parts.back());
  if (a.values.size() != b.values.size() || a.columns != b.columns)
    throw Error("'{}' and '{}' differ in shape: expected the same", q.parts[0].name, q.parts.back().name);
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

}  // namespace

LessonTape read_tape(const std::string& id, Table t) {
  LessonTape tape{id, {}};
  for (Table& child : t.tables("numbers")) tape.tape.numbers.push_back(read_number(child));
  for (Table& child : t.tables("instructions")) tape.tape.instructions.push_back(read_instruction(child));
  for (const auto& [key, count] : {std::pair{"numbers", tape.tape.numbers.size()},
                                   std::pair{"instructions", tape.tape.instructions.size()}})
    if (count == 0 || count > kMaxSmallNames)
      t.refuse(key, Message("expected a list of 1 to {}", kMaxSmallNames));
  t.done();
  try {
    replay_small_tape(tape.tape);
  } catch (const Error& error) {
    t.refuse("instructions", error.message);
  }
  return tape;
}

void read_tape_axis(Curve& c, Table& t) {
  c.over = t.text("over", "");
  const bool steps = t.has("steps");
  if (!c.over.empty() && steps) t.refuse("steps", "and over: expected one of them");
  if (!c.over.empty()) {
    c.xs = t.numbers("xs");
    if (c.xs.size() < 2 || c.xs.size() > kMaxTapePoints || !std::ranges::is_sorted(c.xs))
      t.refuse("xs", Message("expected 2 to {} numbers, ascending", kMaxTapePoints));
  }
  if (!steps) return;
  std::tie(c.from, c.to) = t.steps("steps", 0, kMaxTapeSteps);
  c.rate = t.number("rate");
  if (c.rate == 0 || std::abs(c.rate) > kHighestRate)
    t.refuse("rate", Message("expected a number up to {}, not 0", kHighestRate));
}

std::optional<double> field_of_tape(const SmallTape& tape, const std::string& field) {
  const SmallTape::Number* n = number_of(tape, field);
  if (!n) return std::nullopt;
  const size_t place = parts_of(field).second;
  if (place > 0) return static_cast<double>(n->values[place - 1]);
  return n->values.size() == 1 ? static_cast<double>(n->values[0]) : 1.0;
}

std::string expected_of_tape(const std::string& y) {
  return quantity_from(y) ? ""
                          : "'value NAME' or 'gradient NAME', with mean or length before it, or 'gradient "
                            "NAME . value NAME'";
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
    throw Error("{}:1: [{}.{}] {}", root.file(), table, key, what);
  };
  for (const LessonTape& tape : lesson.tapes)
    if (lesson.run(tape.id)) refuse("tape", tape.id.c_str(), "is a run's name too: expected its own");
  const auto field = [&](const std::string& table, const char* key, const std::string& id,
                         const std::string& name) {
    if (!field_of_tape(lesson.tape(id)->tape, name))
      refuse(table, key,
             Message("'{}' is no number of [tape.{}]: expected one as w, or w[2] for its second", name, id));
  };
  for (const Curve& c : lesson.curves) {
    if (c.of != Curve::Of::Tape) continue;
    const std::string table = "curve." + c.id;
    const LessonTape* tape = lesson.tape(c.run);
    if (!tape)
      return refuse(table, "tape", Message("'{}' is not in this lesson: expected a tape of it", c.run));
    if (!c.over.empty()) field(table, "over", c.run, c.over);
    try {
      const size_t count = quantity_of_tape(replay_small_tape(tape->tape), c.y).size();
      if (count != 1 && (!c.over.empty() || c.to > 0))
        refuse(table, "y", Message("'{}' is {} numbers: expected one at each x", c.y, count));
    } catch (const Error& error) {
      if (std::string(error.what()).starts_with(root.file())) throw;
      refuse(table, "y", error.message);
    }
  }
  for (const Knob& knob : lesson.knobs)
    if (lesson.tape(knob.run)) field("knob." + knob.id, "field", knob.run, knob.field);
  for (const Figure& f : lesson.figures) {
    if (f.tape.empty()) continue;
    const LessonTape* tape = lesson.tape(f.tape);
    if (!tape)
      return refuse("figure." + f.id, "tape",
                    Message("'{}' is not in this lesson: expected a tape of it", f.tape));
    if (f.follow == 0) continue;
    const std::string fault =
        guarded("a drawn tape", [&] { network_of(tape->tape, table_of_tape(tape->tape, 0)); });
    if (!fault.empty()) refuse("figure." + f.id, "follow", fault);
    if (std::ranges::none_of(lesson.figures,
                             [&](const Figure& other) { return other.tape == f.tape && other.follow == 0; }))
      refuse("figure." + f.id, "follow",
             "has no table beside it: expected another figure of the same tape, without follow");
  }
}

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

/// A computed number with `digits` digits; kAsGiven: a number as the lesson writes it.
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

/// Appends the index as a subscript: "w₂" for 2, "w" for 0.
std::string subscripted(const std::string& name, size_t place) {
  if (place == 0) return name;
  static constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string out = name;
  for (const char digit : std::to_string(place)) out += kDigits[digit - '0'];
  return out;
}

}  // namespace

std::vector<std::string> numbers_in(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

SmallTape tape_of(const Lesson& lesson, const std::string& id, const Changes& changes) {
  const LessonTape* found = lesson.tape(id);
  if (!found) throw Error("[tape.{}] is not in lesson {}: expected a tape of it", id, lesson.id);
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

TapeTable table_of_tape(const SmallTape& tape, size_t done, const Words& words, int digits) {
  const SmallReplay replay = replay_small_tape(tape);
  TapeTable table;
  table.lines = replay.lines.size();
  table.forward = static_cast<size_t>(
      std::ranges::count_if(replay.lines, [](const auto& line) { return !line.backward; }));
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
    return std::ranges::find(table.rows, name, &TapeRow::name);
  };
  if (table.done > table.forward) table.rows.back().gradient = {"1"};  // the loss's own, by definition
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

namespace {

using Op = SmallTape::Op;

/// Means: of a row, and of the products of two rows.
double mean_of(const std::vector<float>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

double product_mean(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / static_cast<double>(a.size());
}

std::string text_of(double value) { return ui::number(value, 3); }
/// A number after an operator sign: in brackets if it is negative.
std::string factor(double value) { return value < 0 ? "(" + text_of(value) + ")" : text_of(value); }

/// Writes out how an instruction computes one number, forward or backward.
class Follower {
 public:
  Follower(const SmallTape::Instruction& i, const SmallReplay& replay, size_t place, const Words& words)
      : i_(i), replay_(replay), place_(place), words_(words) {}

  std::string forward() const {
    switch (i_.op) {
      case Op::Multiply:
        return product();
      case Op::Add:
        return fmt::format("{} = {} + {} = {} + {} = {}", name(i_.name), name(i_.of[0]), name(i_.of[1]),
                           text(i_.of[0]), factor(value(i_.of[1])), text(i_.name));
      case Op::Relu:
        return fmt::format("{} = max(0, {}) = max(0, {}) = {}", name(i_.name), name(i_.of[0]), text(i_.of[0]),
                           text(i_.name));
      case Op::Norm:
        return norm();
      case Op::CrossEntropy:
        return loss();
    }
    return "";
  }

  std::string backward() const {
    switch (i_.op) {
      case Op::Multiply:
        return product_back();
      case Op::Add:
        return fmt::format("{} = {} = {}", gradient_name(i_.of[1]), gradient_name(i_.name),
                           gradient_text(i_.of[1]));
      case Op::Relu:
        return fmt::format("{} = {} = {}", gradient_name(i_.of[0]),
                           value(i_.of[0]) > 0 ? gradient_name(i_.name) : "0", gradient_text(i_.of[0]));
      case Op::Norm:
        return norm_back();
      case Op::CrossEntropy:
        return loss_back();
    }
    return "";
  }

 private:
  const std::vector<float>& all(const std::string& name) const { return replay_.values.at(name).values; }
  const std::vector<float>& gradients(const std::string& name) const {
    return replay_.gradients.at(name).values;
  }
  size_t at(const std::string& name) const { return std::min(place_, all(name).size()) - 1; }
  double value(const std::string& name) const { return static_cast<double>(all(name)[at(name)]); }
  double gradient(const std::string& name) const { return static_cast<double>(gradients(name)[at(name)]); }
  std::string text(const std::string& name) const { return text_of(value(name)); }
  std::string gradient_text(const std::string& name) const { return text_of(gradient(name)); }
  std::string name(const std::string& name) const {
    return subscripted(name, all(name).size() > 1 ? at(name) + 1 : 0);
  }
  std::string gradient_name(const std::string& of) const {
    return words_.tr("gradient of {name}", {{"name", name(of)}});
  }

  bool one_in() const { return all(i_.of[0]).size() == 1; }  ///< a number times a row
  bool one_out() const { return all(i_.name).size() == 1; }  ///< a row times a column
  bool simple_norm() const { return i_.norm == NormKind::Simple; }

  std::string product() const {
    if (one_in())
      return fmt::format("{} = {} × {} = {} × {} = {}", name(i_.name), name(i_.of[0]), name(i_.of[1]),
                         text(i_.of[0]), factor(value(i_.of[1])), text(i_.name));
    if (!one_out()) return "";
    const std::vector<float>&x = all(i_.of[0]), &w = all(i_.of[1]);
    std::vector<std::string> parts;
    for (size_t k = 0; k < x.size(); ++k)
      parts.push_back(
          fmt::format("{} × {}", factor(static_cast<double>(x[k])), factor(static_cast<double>(w[k]))));
    return fmt::format("{} = {} = {}", name(i_.name), fmt::join(parts, " + "), text(i_.name));
  }

  std::string product_back() const {
    const std::string &x = i_.of[0], &w = i_.of[1];
    if (!one_in() && !one_out()) return "";
    // The arriving gradient is multiplied by the other factor.
    const std::string& arriving = i_.name;
    return fmt::format("{} = {} × {} = {} × {} = {}", gradient_name(w), gradient_name(arriving), name(x),
                       gradient_text(arriving), factor(value(x)), gradient_text(w));
  }

  /// Returns 0 for a number that is only rounding error of numbers as large as `of`.
  static double rounded(double value, const std::vector<float>& of) {
    const auto smaller = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const double most = std::abs(static_cast<double>(*std::ranges::max_element(of, smaller)));
    return std::abs(value) < 1e-6 * most ? 0 : value;
  }

  double spread(const std::string& of) const {
    const double mean = mean_of(all(of));
    return std::sqrt(std::max(0.0, product_mean(all(of), all(of)) - mean * mean));
  }

  std::string norm() const {
    const std::string& s = i_.of[0];
    return words_.tr(
        "{result} = ({of} − {mean}) / {spread} = {value}, with the mean {mean} and the standard "
        "deviation {spread} of {row}",
        {{"result", name(i_.name)},
         {"value", text(i_.name)},
         {"of", text(s)},
         {"mean", text_of(mean_of(all(s)))},
         {"spread", text_of(spread(s))},
         {"row", s}});
  }

  std::string norm_back() const {
    const std::string& s = i_.of[0];
    if (!simple_norm()) return "";
    const std::vector<float>&g = gradients(i_.name), &y = all(i_.name);
    return words_.tr(
        "{result} = ({arriving} − {mean} − {along} × {output}) / {spread} = {value}: what "
        "arrives, less its mean and its part along the output ({along}, the mean of gradient "
        "times output, times {name}), divided by the standard deviation",
        {{"result", gradient_name(s)},
         {"value", gradient_text(s)},
         {"arriving", gradient_text(i_.name)},
         {"mean", factor(rounded(mean_of(g), g))},
         {"along", factor(product_mean(g, y))},
         {"output", factor(value(i_.name))},
         {"name", name(i_.name)},
         {"spread", text_of(spread(s))}});
  }

  double probability(size_t place) const {
    return static_cast<double>(softmax(replay_.values.at(i_.of[0]))[place]);
  }

  std::string loss() const {
    const auto letter = static_cast<size_t>(i_.target);
    return fmt::format("{} = −log {} = −log {} = {}", i_.name, subscripted("p", letter),
                       text_of(probability(letter - 1)), text(i_.name));
  }

  std::string loss_back() const {
    const size_t here = at(i_.of[0]);
    const bool right = here + 1 == static_cast<size_t>(i_.target);
    const std::string p = text_of(probability(here));
    return fmt::format("{} = {}{} = {}{}", gradient_name(i_.of[0]), subscripted("p", here + 1),
                       right ? " − 1" : "", p, right ? " − 1 = " + gradient_text(i_.of[0]) : "");
  }

  const SmallTape::Instruction& i_;
  const SmallReplay& replay_;
  size_t place_;
  const Words& words_;
};

}  // namespace

std::vector<float> softmax(const SmallValue& scores) {
  std::vector<float> shares;
  const auto columns = static_cast<std::ptrdiff_t>(scores.columns);
  for (auto row = scores.values.begin(); row != scores.values.end(); row += columns) {
    const auto part = [most = *std::max_element(row, row + columns)](float score) {
      return std::exp(static_cast<double>(score - most));
    };
    double sum = 0;
    for (auto at = row; at != row + columns; ++at) sum += part(*at);
    for (auto at = row; at != row + columns; ++at) shares.push_back(static_cast<float>(part(*at) / sum));
  }
  return shares;
}

std::string followed(const SmallTape& tape, const SmallReplay& replay, size_t line, size_t place,
                     const Words& words) {
  const SmallReplay::Line& now = replay.lines.at(line);
  const auto it =
      std::ranges::find_if(tape.instructions, [&](const auto& i) { return i.name == now.instruction; });
  if (it == tape.instructions.end() || place == 0) return "";
  const Follower follower(*it, replay, place, words);
  return now.backward ? follower.backward() : follower.forward();
}

}  // namespace normscope::course
