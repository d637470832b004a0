#include "training/files/command_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/files/windows_quoted.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

// The separator of the folders of PATH, and the endings of programs.
#ifdef _WIN32
constexpr char kBetweenFolders = ';';
constexpr const char* kProgramEndings[] = {".com", ".exe"};
#else
constexpr char kBetweenFolders = ':';
constexpr const char* kProgramEndings[] = {""};
#endif

// Of "B:rest": 'B', which leaves "rest"; nothing where no letter comes first.
std::optional<char> take_letter(std::string_view& text) {
  if (text.size() < 2 || text[1] != ':' || text[0] < 'A' || text[0] > 'D') return {};
  const char letter = text[0];
  text.remove_prefix(2);
  return letter;
}

template <typename Change>
void for_runs(std::vector<ConfigRun>& runs, std::optional<char> letter, std::string_view argument,
              Change change) {
  bool any = false;
  for (ConfigRun& run : runs)
    if (!letter || run.letter == *letter) {
      change(run);
      any = true;
    }
  if (!any) throw Error("'{}': there is no run {}", argument, *letter);
}

// The settings that turn a specification into a run's. Settings that the run does not read
// are left out, unless an edit may make them count.
std::vector<Edit> differences(const RunSpec& from, const ConfigRun& to) {
  std::vector<Edit> sets = edits_between(from, to.spec, 0);
  if (to.edits.empty())
    std::erase_if(sets, [&](const Edit& edit) { return !unused_reason(to.spec, edit.key).empty(); });
  if (from.name != to.spec.name) {
    std::erase_if(sets, [](const Edit& edit) { return edit.key == "run.name"; });
    sets.push_back({0, "run.name", to.spec.name});
  }
  return sets;
}

// The preset that needs the fewest settings. Where the line may begin without presets, it is the run of
// this letter of the default comparison.
std::pair<std::string, RunSpec> nearest(const ConfigRun& run) {
  std::pair<std::string, RunSpec> best;
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string& name : preset_names()) {
    RunSpec preset = preset_run(name);
    const size_t count = differences(preset, run).size();
    if (count < least) {
      least = count;
      best = {name, std::move(preset)};
    }
  }
  return best;
}

bool like_default(std::span<const ConfigRun> runs) {
  if (runs.size() != 3) return false;
  const std::vector<RunSpec> standard = default_comparison();
  for (size_t i = 0; i < 3; ++i)
    if (runs[i].letter != static_cast<char>('A' + i) || differences(standard[i], runs[i]).size() > 6)
      return false;
  return true;
}

// Writes settings that are alike in all runs once, and first, if `share`.
CommandArguments arguments_of(std::span<const ConfigRun> runs, bool standard, bool share) {
  CommandArguments arguments;
  std::vector<std::vector<Edit>> sets;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto [preset, spec] =
        standard ? std::pair{std::string(), default_comparison()[i]} : nearest(runs[i]);
    if (!standard) arguments.runs.push_back(fmt::format("{}={}", runs[i].letter, preset));
    sets.push_back(differences(spec, runs[i]));
  }
  const auto in_all = [&](const Edit& set) {
    return share && runs.size() > 1 && std::ranges::all_of(sets, [&](const auto& list) {
             return std::ranges::find(list, set) != list.end();
           });
  };
  if (!sets.empty())
    for (const Edit& set : sets[0])
      if (in_all(set)) arguments.sets.push_back(fmt::format("{}={}", set.key, set.value));
  for (size_t i = 0; i < runs.size(); ++i)
    for (const Edit& set : sets[i])
      if (!in_all(set)) arguments.sets.push_back(fmt::format("{}:{}={}", runs[i].letter, set.key, set.value));
  for (const ConfigRun& run : runs)
    for (const Edit& edit : run.edits)
      arguments.edits.push_back(fmt::format("{}:{}", run.letter, to_string(edit)));
  return arguments;
}

bool gives(const CommandArguments& arguments, std::span<const ConfigRun> runs) {
  try {
    const std::vector<ConfigRun> made = runs_by(arguments);
    if (made.size() != runs.size()) return false;
    for (size_t i = 0; i < made.size(); ++i)
      if (!differences(made[i].spec, runs[i]).empty() || made[i].letter != runs[i].letter) return false;
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string shell_quoted(const std::string& text) {
#ifdef _WIN32
  return windows_quoted(text);
#endif
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_-+=:./,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

CommandArguments arguments_of(std::span<const ConfigRun> runs, bool may_omit) {
  const bool standard = may_omit && like_default(runs);
  CommandArguments arguments = arguments_of(runs, standard, true);
  // Fields depend on each other (heads divide the width): where the short form does not give these runs, the long form
  // does.
  if (!gives(arguments, runs)) arguments = arguments_of(runs, standard, false);
  return arguments;
}

std::vector<ConfigRun> runs_by(const CommandArguments& arguments) {
  std::vector<ConfigRun> runs = runs_from(arguments.runs);
  if (arguments.runs.empty())
    for (RunSpec& spec : default_comparison())
      runs.push_back({static_cast<char>('A' + runs.size()), std::move(spec), {}});
  for (const std::string& set : arguments.sets) apply_set(runs, set);
  for (const std::string& edit : arguments.edits) apply_edit(runs, edit);
  return runs;
}

std::string command_of(std::span<const ConfigRun> runs, std::string_view command) {
  const CommandArguments arguments = arguments_of(runs, command == "normscope");
  std::string line(command);
  for (const std::string& run : arguments.runs) line += " --run " + shell_quoted(run);
  for (const std::string& set : arguments.sets) line += " --set " + shell_quoted(set);
  for (const std::string& edit : arguments.edits) line += " --edit " + shell_quoted(edit);
  return line;
}

std::string path_to(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code error;
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "");
  for (std::string folder; std::getline(folders, folder, kBetweenFolders);)
    for (const char* ending : kProgramEndings) {
      const fs::path found = fs::path(folder) / (program + ending);
      if (fs::is_regular_file(found, error) && access(found.c_str(), X_OK) == 0) return found.string();
    }
  return {};
}

std::string program_word() {
  namespace fs = std::filesystem;
  std::error_code error;
  const char* launcher = std::getenv("NORMSCOPE_LAUNCHER");
  const bool launched = launcher && access(launcher, X_OK) == 0;
  const fs::path own = launched ? fs::path(launcher) : fs::path(program_path());
  if (own.empty()) return "normscope";
  const std::string found = path_to("normscope");
  return !found.empty() && fs::equivalent(found, own, error) ? "normscope" : own.string();
}

std::string with_program(const std::string& line, const std::string& program) {
  return shell_quoted(program) + line.substr(std::min(line.find(' '), line.size()));
}

std::vector<ConfigRun> runs_from(const std::vector<std::string>& presets) {
  std::vector<ConfigRun> runs;
  for (const std::string& argument : presets) {
    if (argument.size() < 3 || argument[1] != '=' || argument[0] < 'A' || argument[0] > 'D')
      throw Error("--run '{}': expected LETTER=PRESET, as A=post", argument);
    if (std::ranges::find(runs, argument[0], &ConfigRun::letter) != runs.end())
      throw Error("--run '{}': {} is given twice", argument, argument[0]);
    if (runs.empty() ? argument[0] != 'A' : argument[0] <= runs.back().letter)
      throw Error(runs.empty()
                      ? Message("--run '{}': expected run A here", argument)
                      : Message("--run '{}': expected a letter after {} here", argument, runs.back().letter));
    runs.push_back({argument[0], preset_run(argument.substr(2)), {}});
  }
  return runs;
}

void apply_set(std::vector<ConfigRun>& runs, std::string_view argument) {
  std::string_view rest = argument;
  const auto letter = take_letter(rest);
  const size_t equals = rest.find('=');
  if (equals == rest.npos) throw Error("--set '{}': expected KEY=VALUE, as train.lr=1e-3", argument);
  for_runs(runs, letter, argument,
           [&](ConfigRun& run) { set_field(run.spec, rest.substr(0, equals), rest.substr(equals + 1)); });
}

void apply_edit(std::vector<ConfigRun>& runs, std::string_view argument) {
  std::string_view rest = argument;
  const auto letter = take_letter(rest);
  const Edit edit = parse_edit(rest);
  for_runs(runs, letter, argument, [&](ConfigRun& run) { run.edits.push_back(edit); });
}

void require_read(std::vector<ConfigRun>& runs, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    std::string_view rest = set;
    const auto letter = take_letter(rest);
    const std::string_view key = rest.substr(0, rest.find('='));
    bool read = false;
    std::string why;
    for_runs(runs, letter, set, [&](const ConfigRun& run) {
      why = unused_reason(run.spec, key);
      read = read || why.empty() || !run.edits.empty();
    });
    if (!read) throw Error("--set '{}' would change nothing: {}", set, why);
  }
}

}  // namespace normscope
