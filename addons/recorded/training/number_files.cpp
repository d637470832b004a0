#include "addons/recorded/training/number_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "addons/recorded/training/log_line.h"
#include "training/io/text.h"

namespace normscope::records {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{256} << 20;
constexpr size_t kMostFiles = 20'000;
constexpr int kDeepestName = 6;  // "train/loss" is a file in a folder
constexpr InputKind kNumberFile{"", "the file of a number", kMostBytes};

/// The regular files below a folder, in the order of their names.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end;
       !failure && at != end && files.size() < kMostFiles; at.increment(failure))
    if (std::error_code none; at->is_regular_file(none)) files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

bool is_of_dvclive(const fs::path& numbers) { return numbers.parent_path().filename() == "plots"; }

/// The lines of all numbers, step by step.
class Lines {
 public:
  /// "1700000000000 3.5 12", or with the names of a data set and a model behind it.
  void of_mlflow(const std::string& name, std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
      const std::string_view whole = trimmed(line);
      if (whole.empty()) continue;
      const std::vector<std::string_view> cells = split(whole, ' ');
      const double time = cells.size() < 3 ? NAN : number(cells[0]);
      add(name, whole, cells.size() < 3 ? "" : cells[2], cells.size() < 3 ? "" : cells[1], time * 1e-3);
    }
  }

  /// A table whose first line has `step`, perhaps a time, and the number's name.
  void of_dvclive(const std::string& name, std::string_view text) {
    size_t step = 0, columns = 0;
    for (const std::string_view line : split(text, '\n')) {
      const std::string_view whole = trimmed(line);
      if (whole.empty()) continue;
      const std::vector<std::string_view> cells = split(whole, '\t');
      if (std::exchange(columns, cells.size()) == 0) {
        step = static_cast<size_t>(std::ranges::find(cells, "step") - cells.begin());
        continue;
      }
      const bool fits = cells.size() > std::max<size_t>(step, 1);
      add(name, whole, fits ? cells[step] : "", fits ? cells.back() : "", NAN);
    }
  }

  std::string text() const {
    std::string out;
    double begin = std::numeric_limits<double>::infinity();
    for (const auto& [step, numbers] : steps_)
      if (!std::isnan(numbers.time)) begin = std::min(begin, numbers.time);
    for (const auto& [step, numbers] : steps_) {
      out += fmt::format("{{\"step\":{}", step);
      if (!std::isnan(numbers.time)) out += fmt::format(",\"seconds\":{}", numbers.time - begin);
      for (const auto& [name, value] : numbers.values)
        out += fmt::format(",{}:{}", nlohmann::json(name).dump(), value);
      out += "}\n";
    }
    return out + broken_;
  }

 private:
  struct Step {
    double time = NAN;
    std::map<std::string, std::string> values;  ///< as JSON
  };

  static double number(std::string_view text) {
    double value = NAN;
    return is_number(text, value) ? value : NAN;
  }

  void add(const std::string& name, std::string_view line, std::string_view step, std::string_view value,
           double time) {
    int64_t at = -1;
    double read = NAN;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), at);
    if (step.empty() || error != std::errc{} || end != step.data() + step.size() || at < 0 ||
        at > kLastLogStep || !is_number(value, read)) {
      broken_ += fmt::format("{}: {}\n", name, line);
      return;
    }
    Step& all = steps_[at];
    if (std::isnan(all.time)) all.time = time;
    all.values[name] = std::isnan(read) ? "null" : value;
  }

  std::map<int64_t, Step> steps_;
  std::string broken_;
};

/// MLflow's name of a run and its parameters, each in a file.
std::string header_of_mlflow(const fs::path& run) {
  nlohmann::json settings = nlohmann::json::object();
  for (const fs::path& file : files_below(run / "params"))
    settings[file.lexically_relative(run / "params").generic_string()] =
        trimmed(read_input_file(file.string(), kNumberFile));
  nlohmann::json header = {{"format", kStreamFormat}, {"maker", "MLflow"}, {"settings", settings}};
  const std::string about = read_input_file((run / "meta.yaml").string(), kNumberFile);
  for (const std::string_view line : split(about, '\n'))
    if (line.starts_with("run_name: ")) header["name"] = one_line(trimmed(line.substr(10)));
  return header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::optional<fs::path> folder_of_numbers(const fs::path& run) {
  std::error_code none;
  if (fs::is_directory(run / "plots" / "metrics", none)) return run / "plots" / "metrics";
  if (fs::is_regular_file(run / "meta.yaml", none) && fs::is_directory(run / "metrics", none))
    return run / "metrics";
  return {};
}

std::optional<fs::path> folder_of_number(const fs::path& file) {
  fs::path at = file.parent_path();
  for (int up = 0; up < kDeepestName && !at.empty(); ++up, at = at.parent_path())
    if (at.filename() == "metrics")
      for (const fs::path& run : {at.parent_path(), at.parent_path().parent_path()})
        if (folder_of_numbers(run) == at) return at;
  return {};
}

std::string lines_of_numbers(const fs::path& numbers) {
  const bool dvclive = is_of_dvclive(numbers);
  Lines lines;
  uint64_t bytes = 0;
  for (const fs::path& file : files_below(numbers)) {
    const std::string text = read_input_file(file.string(), kNumberFile);
    if ((bytes += text.size()) > kMostBytes)
      throw Error("{}: its numbers are longer than {} bytes", numbers.string(), kMostBytes);
    const fs::path name = file.lexically_relative(numbers);
    if (!dvclive)
      lines.of_mlflow(name.generic_string(), text);
    else if (name.extension() == ".tsv")
      lines.of_dvclive(fs::path(name).replace_extension().generic_string(), text);
  }
  return (dvclive ? "" : header_of_mlflow(numbers.parent_path())) + lines.text();
}

uint64_t state_of_numbers(const fs::path& numbers) {
  std::string state;
  std::error_code none;
  for (const fs::path& file : files_below(numbers))
    state += fmt::format("{} {} {}\n", file.string(), fs::file_size(file, none),
                         fs::last_write_time(file, none).time_since_epoch().count());
  return std::hash<std::string>{}(state);
}

}  // namespace normscope::records
