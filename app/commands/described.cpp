// normscope completion and normscope man print the command line itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

// ---- the command line as plain values, read off CLI11's tree, for the manual page and completion

struct OptionText {
  std::string name;                 ///< "--text"; for a positional argument "FILE"
  std::string type;                 ///< "FILE"; "[FILE]": optional; empty: a flag
  std::string help, standard;       ///< `standard` is the default value as text
  std::vector<std::string> values;  ///< the values that completion offers
  std::vector<std::string> whole;   ///< the same with what may stand behind the "=" of such a value
  bool positional = false, required = false, many = false;

  bool file() const {
    return type == "FILE" || type == "DIR" || type == "PATH" || type == "[FILE]" || type == "[DIR]";
  }
};

struct CommandText {
  std::string path;  ///< "lesson check"; empty for the program itself
  std::string help, footer;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  /// The last word of the path.
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

/// Turns "NAME:{cpu,cuda}" into cpu, cuda, because CLI11 shows a list of choices only in the type.
std::vector<std::string> listed(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

/// The name of a type without what its validators add to it: "N:INT in [1 - 9]" -> N. The colon of
/// "[LETTER:]KEY=VALUE" is part of the name.
std::string plain(const std::string& type) {
  size_t colon = type.find(':');
  while (colon != type.npos && type.compare(colon, 2, ":]") == 0) colon = type.find(':', colon + 1);
  return type.substr(0, colon);
}

constexpr const char *kSet = "KEY=VALUE", *kRun = "LETTER=PRESET";

std::vector<std::string> values_of(const std::string& type) {
  if (type == "PRESET") return offered_presets();
  if (type == "LESSON") return lesson_names();
  if (type == kRun) return {"A=", "B=", "C=", "D="};
  if (!type.ends_with(kSet)) return listed(type);
  std::vector<std::string> keys;
  for (const Field& field : spec_fields()) keys.push_back(std::string(field.key) + "=");
  return keys;
}

std::vector<std::string> whole_values(const std::string& type) {
  std::vector<std::string> whole;
  if (type == kRun)
    for (const std::string& letter : values_of(type))
      for (const std::string& preset : offered_presets()) whole.push_back(letter + preset);
  if (type.ends_with(kSet))
    for (const Field& field : spec_fields())
      for (const std::string_view choice :
           field.type == FieldType::Flag ? std::vector<std::string_view>{"true", "false"} : choices_of(field))
        whole.push_back(fmt::format("{}={}", field.key, choice));
  return whole;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  const std::string type = option.get_type_name();
  text.positional = option.get_positional();
  text.type = option.get_type_size() == 0 ? "" : plain(type);
  text.name = text.positional ? option.get_name(true) : "--" + option.get_lnames().front();
  text.help = option.get_description();
  text.standard = text.type.empty() ? "" : option.get_default_str();
  text.values = values_of(type.find('{') == type.npos ? text.type : type);
  text.whole = whole_values(text.type);
  text.required = option.get_required();
  text.many = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return text;
}

CommandText command_text(const CLI::App& app, const std::string& path = "") {
  CommandText text{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) text.options.push_back(option_text(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(
        command_text(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name()));
  return text;
}

// ---- the manual page normscope(1), written in man(7) from the description of the command line.

/// Escapes a text for roff: hyphens that can be copied, no line that begins as a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool begins = out.empty() || out.back() == '\n';
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else
      out += c;
  }
  return out;
}

std::string option_entry(const OptionText& option) {
  std::string head = option.positional ? fmt::format("\\fI{}\\fR", roff(option.name))
                                       : fmt::format("\\fB{}\\fR", roff(option.name));
  if (!option.positional && !option.type.empty()) head += fmt::format(" \\fI{}\\fR", roff(option.type));
  std::string text = option.help;
  if (option.required) text += " (required)";
  if (!option.values.empty() && option.values.size() <= 16)
    text += fmt::format(" [{}]", fmt::join(option.values, ", "));
  if (!option.standard.empty()) text += fmt::format("; default: {}", option.standard);
  return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

std::string synopsis(const CommandText& command) {
  std::string line = ".B normscope" + (command.path.empty() ? "" : " " + roff(command.path)) + "\n";
  if (command.options.size() > 1) line += "[\\fIoptions\\fR]\n";
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    line += fmt::format("{}\\fI{}\\fR{}{}\n", option.required ? "" : "[", roff(option.name),
                        option.many ? " ..." : "", option.required ? "" : "]");
  }
  return line + ".br\n";
}

void add_synopsis(const CommandText& command, std::string& out) {
  if (command.commands.empty() || command.path.empty()) out += synopsis(command);
  for (const CommandText& sub : command.commands) add_synopsis(sub, out);
}

void add_command(const CommandText& command, std::string& out) {
  out += fmt::format(".SS {}\n{}\n", roff("normscope " + command.path), roff(command.help));
  for (const OptionText& option : command.options)
    if (option.name != "--help") out += option_entry(option);
  for (const CommandText& sub : command.commands) add_command(sub, out);
}

std::string man_page(const CommandText& program) {
  std::string out = ".\\\" Printed by: normscope man\n.TH NORMSCOPE 1 \"\" \"normscope " NORMSCOPE_VERSION
                    "\" \"User commands\"\n.SH NAME\nnormscope \\- a laboratory for the place of layer "
                    "normalization in transformers\n.SH SYNOPSIS\n";
  add_synopsis(program, out);
  out += ".SH DESCRIPTION\n" + roff(program.help) + "\n.SH OPTIONS\n";
  for (const OptionText& option : program.options) out += option_entry(option);
  out += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) add_command(command, out);
  out += ".SH EXIT STATUS\n" + roff(program.footer) +
         "\n.SH FILES\n.TP\n$XDG_CONFIG_HOME/normscope/settings.toml\nWhat the window remembers.\n.TP\n"
         "$XDG_STATE_HOME/normscope/sessions/\nThe sessions of the last windows.\n.TP\n"
         "$XDG_DATA_HOME/normscope/lessons.json\nProgress in the lessons.\n.TP\n"
         "$XDG_CACHE_HOME/normscope/results/\nResults of runs that are not trained again.\n"
         ".SH ENVIRONMENT\n.TP\nNORMSCOPE_LESSONS\nAnother folder of lessons.\n.TP\n"
         "NORMSCOPE_LANGUAGE\nThe language of the lessons, as de.\n.TP\n"
         "NORMSCOPE_ISA\nThe instruction set: sse4, avx2 or avx3.\n.TP\n"
         "NORMSCOPE_REDUCED_MOTION\n0 or 1, instead of what the desktop says.\n.TP\n"
         "NORMSCOPE_CUDA_LIBRARY, NORMSCOPE_CUDA_GRAPH\nAnother CUDA backend; 0: kernels one by one.\n";
  return out;
}

// ---- the completion script

/// Visits the program and all commands below it.
template <typename Visit>
void visit_all(const CommandText& command, Visit visit) {
  visit(command);
  for (const CommandText& sub : command.commands) visit_all(sub, visit);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c == '\n' ? ' ' : c);
  return out + "'";
}

bool takes_files(const CommandText& command) {
  return std::ranges::any_of(command.options,
                             [](const OptionText& option) { return option.positional && option.file(); });
}

std::vector<std::string> command_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const CommandText& sub : command.commands) names.push_back(sub.name());
  return names;
}

std::string bash(const CommandText& program) {
  std::string paths, values, words;
  visit_all(program, [&](const CommandText& command) {
    if (!command.path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", command.path);
    std::vector<std::string> flags, positional;
    for (const OptionText& option : command.options) {
      if (option.positional) {
        positional.insert(positional.end(), option.values.begin(), option.values.end());
        continue;
      }
      flags.push_back(option.name);
      if (option.type.empty()) continue;
      std::string found = option.file()           ? "files=1"
                          : option.values.empty() ? "words="
                                                  : "words=" + in_quotes(joined(option.values));
      if (!option.whole.empty()) found += " whole=" + in_quotes(joined(option.whole));
      values += fmt::format("    '{}:{}') {} ;;\n", command.path, option.name, found);
    }
    const std::vector<std::string> names = command_names(command);
    positional.insert(positional.end(), names.begin(), names.end());
    words +=
        fmt::format("      '{}') flags={}; words={}; files={} ;;\n", command.path, in_quotes(joined(flags)),
                    in_quotes(joined(positional)), takes_files(command) ? 1 : 0);
  });
  return fmt::format(R"sh(# bash completion of normscope, printed by: normscope completion bash
_normscope() {{
  # bash parts words at = and :, so they are put together, and what it does not replace is left out of the answers.
  local last=${{COMP_WORDS[COMP_CWORD]}} at=$COMP_CWORD
  local cur=$last
  while ((at > 1)) && [[ $cur == [=:]* || ${{COMP_WORDS[at-1]}} == [=:] ]]; do
    cur=${{COMP_WORDS[--at]}}$cur
  done
  [[ $last == [=:] ]] && last=
  local prev=${{COMP_WORDS[at-1]}} letter=
  local path= next= flags= words= whole= files=0 i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case $next in
      {}) path=$next ;;
    esac
  done
  case $path:$prev in
{}    *)
      case $path in
{}      esac
      [[ $cur == -* ]] && words=$flags && files=0
      ;;
  esac
  [[ -n $whole && $cur == [A-D]:* ]] && letter=${{cur:0:2}}
  [[ -n $whole && $cur == *=* ]] && words=$whole
  local before=${{cur%"$last"}} word
  COMPREPLY=()
  for word in $words; do
    [[ $letter$word == "$cur"* ]] && word=$letter$word && COMPREPLY+=("${{word#"$before"}}")
  done
  local IFS=$'\n'
  ((files)) && COMPREPLY+=($(compgen -f -- "$cur"))
  if [[ -n ${{BASH_VERSION-}} ]]; then  # zsh has no compopt
    ((files)) && compopt -o filenames
    [[ ${{#COMPREPLY[@]}} -gt 0 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace
  fi
  return 0
}}
complete -F _normscope normscope
)sh",
                     paths, values, words);
}

}  // namespace

void add_described(CLI::App& app, Command& command) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& complete =
      *app.add_subcommand("completion", "Print a completion script: source <(normscope completion bash)");
  complete.add_option("shell", *shell, "the shell that it is for")
      ->check(CLI::IsMember(std::vector<std::string>{"bash"}))
      ->type_name("SHELL")
      ->required();
  complete.callback([shell, &app, &command] {  // the option writes into `shell`
    command = [&app] {
      put(bash(command_text(app)));
      return Exit::Ok;
    };
  });
  app.add_subcommand("man", "Print the manual page: normscope man | man -l -")->callback([&] {
    command = [&app] {
      put(man_page(command_text(app)));
      return Exit::Ok;
    };
  });
}

}  // namespace normscope::commands
