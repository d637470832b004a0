#include "addons/recorded/training/table_file.h"

#include <algorithm>
#include <charconv>

#include "addons/recorded/training/step_numbers.h"
#include "training/io/text.h"

namespace normscope::records {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr size_t kLongestHistory = size_t{256} << 20, kMaxEntries = 10'000'000, kMaxKeys = 20'000;
constexpr int kNestedKeys = 3;

char separator_of(std::string_view line) {
  constexpr std::string_view kSeparators = ",;\t";
  return *std::ranges::max_element(kSeparators, {}, [line](char c) { return std::ranges::count(line, c); });
}

/// The cells of a row; within quotes a separator is none, and two quotes are one.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && quoted && at + 1 < line.size() && line[at + 1] == '"')
      cells.back() += line[++at];
    else if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

/// A column's name without the run's, which Weights & Biases puts before it: "brave-sun - train/loss".
std::string column_name(std::string name) {
  const size_t behind = name.rfind(" - ");
  return behind == name.npos ? name : name.substr(behind + 3);
}

/// The rank of a step's name, and of "epoch" behind all of them.
std::optional<size_t> rank_of_step(const std::string& name, const NameMapping& mapping) {
  if (const auto own = step_rank(name, mapping)) return own;
  const std::string plain = small_letters(name);
  return plain == "epoch" ? kStepRanks : step_rank(plain, mapping);
}

struct Columns {
  char separator = ',';
  std::vector<std::string> names;
  std::optional<size_t> step;  ///< its place

  static Columns of(std::string_view line, const NameMapping& mapping) {
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    Columns columns{separator_of(line), {}, {}};
    size_t best = kStepRanks + 1;
    for (std::string& cell : cells_of(line, columns.separator)) {
      const auto rank = rank_of_step(cell, mapping);
      if (rank && *rank < best) {
        best = *rank;
        columns.step = columns.names.size();
      }
      columns.names.push_back(column_name(std::move(cell)));
    }
    return columns;
  }
  /// Whether a line has a number, or nothing, in each column.
  bool fits(std::string_view line) const {
    double number = NAN;
    const std::vector<std::string> cells = cells_of(line, separator);
    return cells.size() == names.size() && std::ranges::all_of(cells, [&](const std::string& cell) {
             return cell.empty() || is_number(cell, number);
           });
  }
};

/// What both kinds of table have in common.
class Rows : public ForeignReader {
 public:
  explicit Rows(const LogFile& file)
      : numbers_(file, StepNumbers::Part::Line), read_(file.read), where_("events {}", file.path) {}
  const LogAbout& about() const override { return about_; }
  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) override {
    numbers_.give(anew, add);
  }

 protected:
  [[noreturn]] void too_long(size_t most) const { fail(where_, "is longer than {} bytes", most); }

  const NameMapping& mapping() const { return numbers_.known().mapping(); }

  StepNumbers numbers_;
  LinesRead& read_;

 private:
  Message where_;
  LogAbout about_;
};

/// A file line by line.
class LineRows : public Rows {
 public:
  using Rows::Rows;

  void take(std::string_view bytes) override {
    numbers_.require_room();
    waiting_ += bytes;
    size_t begin = 0;
    for (size_t end = 0; (end = waiting_.find('\n', begin)) != waiting_.npos; begin = end + 1)
      row(std::string_view(waiting_).substr(begin, end - begin));
    waiting_.erase(0, begin);
    if (waiting_.size() > kLongestLine) too_long(kLongestLine);
  }
  void finish() override {
    if (!waiting_.empty()) row(std::exchange(waiting_, {}));
  }
  void next_file() override {
    finish();
    begin();
    numbers_.begin_session();
  }

 private:
  virtual void begin() = 0;  ///< of a file
  virtual void row(std::string_view line) = 0;

  std::string waiting_;  ///< the beginning of a row
};

class TableRows : public LineRows {
 public:
  using LineRows::LineRows;

 private:
  void begin() override { columns_.reset(); }
  void row(std::string_view line) override {
    ++read_.lines;
    if (line.find_first_not_of(" \t\r") == line.npos) return;
    if (!columns_) {
      columns_ = Columns::of(line, mapping());
      if (!columns_->step)
        numbers_.broken(
            {"no column is the step: expected one called step, or in a mapping (compare --mapping) "
             "\"step\" = {}",
             shown_text(columns_->names.front())});
      return;
    }
    if (!columns_->step) return;
    std::vector<std::string> cells = cells_of(line, columns_->separator);
    if (cells.size() != columns_->names.size())
      return numbers_.broken({"{} cells: expected {}", cells.size(), columns_->names.size()});
    if (columns_->separator == ';')
      for (std::string& cell : cells) std::ranges::replace(cell, ',', '.');
    double step = NAN;
    if (!is_number(cells[*columns_->step], step) || step != std::floor(step) || std::abs(step) > 1e15)
      return numbers_.broken({"step is {}: expected {}", shown_text(cells[*columns_->step]),
                              Message("a whole number from 0 to {}", kLastLogStep)});
    for (size_t i = 0; i < cells.size(); ++i)
      if (double value = NAN; i != *columns_->step && is_number(cells[i], value))
        numbers_.add(static_cast<int64_t>(step), columns_->names[i], value);
  }

  std::optional<Columns> columns_;
};

class HistoryRows : public Rows {
 public:
  using Rows::Rows;

  void take(std::string_view bytes) override {
    if (text_.size() + bytes.size() > kLongestHistory) too_long(kLongestHistory);
    text_ += bytes;
    if (std::exchange(parsed_, false)) take_back();
  }
  void finish() override {
    parse();
    if (error_.empty()) return;
    ++read_.lines;
    numbers_.broken(error_);
  }
  void next_file() override {
    finish();
    text_.clear();
    parsed_ = false;
    numbers_.begin_session();
  }
  /// Of a file that is written now the end may be missing.
  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) override {
    parse();
    Rows::give(anew, add);
  }

 private:
  /// What was read did not end there.
  void take_back() {
    numbers_.set_back(0);
    read_ = before_;
  }

  void parse() {
    if (std::exchange(parsed_, true)) return;
    error_ = {};
    before_ = read_;
    try {
      const InputValue whole = InputValue::parse(as_json(text_), "");
      if (!whole.is_list() && whole.find("loss")) return by_name(whole);
      const InputValue entries = whole.is_list() ? whole : whole.at("log_history");
      for (const InputValue& each : entries.list(0, kMaxEntries)) entry(each);
    } catch (const Error& error) {
      error_ = without_where(error.message);
    }
  }

  /// Keras' history: of each name a list, of which the first value is that of step 1.
  void by_name(const InputValue& whole) {
    for (const auto& [name, values] : whole.members(kMaxKeys)) {
      if (!values.is_list()) continue;
      int32_t step = 0;
      for (const InputValue& value : values.list(0, kMaxEntries)) add(++step, name, value, 0);
    }
  }

  void entry(const InputValue& entry) {
    ++read_.lines;
    LogStep step(mapping());
    try {
      read_step(entry, step);
    } catch (const Error& error) {
      return numbers_.broken(without_where(error.message));
    }
    for (const auto& [name, value] : entry.members(kMaxKeys)) add(step.step, name, value, kNestedKeys);
  }

  void add(int32_t step, const std::string& name, const InputValue& value, int nested) {
    double number = NAN;
    if (value.is_object() && nested > 0)
      for (const auto& [inner, of_inner] : value.members(kMaxKeys))
        add(step, name + "/" + inner, of_inner, nested - 1);
    else if (value.is_null()
                 ? numbers_.known().name(name).of != ScalarName::Of::Other
                 : !value.is_list() && !value.is_object() && is_number(value.scalar(kLongestLine), number) &&
                       !rank_of_step(name, mapping()))
      numbers_.add(step, name, number);
  }

  std::string text_;
  bool parsed_ = false;
  LinesRead before_;  ///< before it was parsed
  Message error_;
};

/// What a training printed in a line: "iter 12: loss 3.12, time 10.2ms", or a dictionary of Python, which has no step.
struct PrintedLine {
  std::optional<int64_t> step;
  std::vector<std::pair<std::string, double>> numbers;
};

std::string without_quotes(std::string_view word) {
  while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '\'' || word.back() == '"')) word.remove_suffix(1);
  return std::string(word);
}

/// The numbers of a line under the words before them: "train loss 4.2" is train/loss.
PrintedLine printed_line(std::string_view line) {
  PrintedLine printed;
  std::string name;
  const auto take = [&](std::string_view word) {
    double value = NAN;
    if (!is_number(without_quotes(word), value)) {
      name += (name.empty() ? "" : "/") + small_letters(without_quotes(word));
      return;
    }
    const bool step = step_rank(name, kNoMapping) && value == std::floor(value) && std::abs(value) < 1e15;
    if (step && !printed.step)
      printed.step = static_cast<int64_t>(value);
    else if (!name.empty())
      printed.numbers.emplace_back(name, value);
    name.clear();
  };
  size_t begin = 0;
  constexpr std::string_view kBetween = " \t\r:=", kApart = ",|;{}[]";
  for (size_t at = 0; at <= line.size(); ++at) {
    const bool apart = at == line.size() || kApart.find(line[at]) != kApart.npos;
    if (!apart && kBetween.find(line[at]) == kBetween.npos) continue;
    if (at > begin) take(line.substr(begin, at - begin));
    if (apart) name.clear();
    begin = at + 1;
  }
  return printed;
}

bool has(const PrintedLine& line, ScalarName::Of of) {
  return std::ranges::any_of(line.numbers,
                             [of](const auto& number) { return scalar_name(number.first).of == of; });
}

/// A line of a training: it has a loss, and a step or the form of a dictionary. Nothing for any other.
std::optional<PrintedLine> training_line(std::string_view text) {
  const std::string_view begin = trimmed(text).substr(0, 2);
  const bool dictionary = begin == "{'";
  if (!dictionary && (begin.starts_with('{') || begin == "[{")) return {};  // JSON
  PrintedLine line = printed_line(text);
  const bool tells = has(line, ScalarName::Of::Loss) || has(line, ScalarName::Of::Validation);
  return tells && (dictionary || line.step) ? std::optional(std::move(line)) : std::nullopt;
}

/// Lines that a training printed, between others.
class PrintedRows : public LineRows {
 public:
  using LineRows::LineRows;

 private:
  void begin() override { counted_ = 0; }
  void row(std::string_view text) override {
    ++read_.lines;
    const auto line = training_line(text);
    if (!line) return;
    if (!line->step && !std::exchange(told_, true)) numbers_.note("has no step: such lines are counted");
    if (!line->step) counted_ += has(*line, ScalarName::Of::Loss);
    for (const auto& [name, value] : line->numbers) numbers_.add(line->step.value_or(counted_), name, value);
  }

  int64_t counted_ = 0;  ///< lines of training without a step
  bool told_ = false;
};

}  // namespace

bool is_printed(std::string_view head) {
  for (size_t begin = 0, end = 0; (end = head.find('\n', begin)) != head.npos; begin = end + 1)
    if (training_line(head.substr(begin, end - begin))) return true;
  return false;
}

std::unique_ptr<ForeignReader> printed_reader(const LogFile& file) {
  return std::make_unique<PrintedRows>(file);
}

namespace {

std::pair<std::string_view, std::string_view> first_two_lines(std::string_view head) {
  const size_t end = std::min(head.find('\n'), head.size());
  const std::string_view rest = head.substr(std::min(end + 1, head.size()));
  return {head.substr(0, end), rest.substr(0, rest.find('\n'))};
}

}  // namespace

bool is_of_numbers(std::string_view head) {
  const auto [first, second] = first_two_lines(head);
  return std::ranges::all_of(std::array{first, second}, [](std::string_view line) {
    double number = NAN;
    const std::vector<std::string> cells =
        cells_of(trimmed(line), line.find_first_of(",;\t") == line.npos ? ' ' : separator_of(line));
    return cells.size() > 1 &&
           std::ranges::all_of(cells, [&](const std::string& cell) { return is_number(cell, number); });
  });
}

bool is_table(std::string_view head, const NameMapping& mapping) {
  const auto [first, second] = first_two_lines(head);
  if (first.starts_with('{') || first.starts_with('[')) return false;
  const Columns columns = Columns::of(first, mapping);
  return columns.names.size() > 1 && (columns.step || (!columns.fits(first) && columns.fits(second)));
}

std::unique_ptr<ForeignReader> table_reader(const LogFile& file) { return std::make_unique<TableRows>(file); }

bool is_history(std::string_view head) {
  return head.starts_with('[') || head.starts_with("{\n") || head.starts_with("{\r\n") ||
         (head.starts_with('{') && has_history(head));
}

bool has_history(std::string_view head) {
  const auto has = [head](std::string_view sign) { return head.find(sign) != head.npos; };
  if (head.starts_with('[')) return has("\"step\"");
  const bool lists = has("\"loss\": [") || has("\"loss\":[");
  return head.starts_with('{') && (has("\"log_history\"") || (lists && !has("\"step\"")));
}

std::unique_ptr<ForeignReader> history_reader(const LogFile& file) {
  return std::make_unique<HistoryRows>(file);
}

}  // namespace normscope::records
