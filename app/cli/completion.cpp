// The completion scripts serve three shells; description.h describes the command line for them.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/description.h"

namespace normscope::cli {
namespace {

/// Visits the program and all commands below it.
template <typename Visit>
void visit_all(const CommandText& command, Visit visit) {
  visit(command);
  for (const CommandText& sub : command.commands) visit_all(sub, visit);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Uses single quotes, which all three shells read alike.
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
      const std::string found = option.file()           ? "files=1"
                                : option.values.empty() ? "words="
                                                        : "words=" + in_quotes(joined(option.values));
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
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local path= next= flags= words= files=0 i
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
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if ((files)); then
    compopt -o filenames
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$cur")
  fi
  [[ ${{#COMPREPLY[@]}} -gt 0 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace
  return 0
}}
complete -F _normscope normscope
)sh",
                     paths, values, words);
}

/// A description inside brackets: its own brackets and colons are escaped.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zsh_value(const OptionText& option) {
  const std::string type = zsh_text(option.type);
  if (option.file()) return fmt::format(":{}:{}", type, option.type == "DIR" ? "_files -/" : "_files");
  if (option.values.empty()) return fmt::format(":{}: ", type);
  const bool keys = option.values.front().ends_with('=');
  return keys ? fmt::format(":{}:compadd -S \"\" -- {}", type, joined(option.values))
              : fmt::format(":{}:({})", type, joined(option.values));
}

std::string zsh_name(const std::string& path) {
  std::string name = "_normscope" + (path.empty() ? "" : "_" + path);
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

std::string zsh(const CommandText& program) {
  std::string out =
      "#compdef normscope\n# zsh completion of normscope, printed by: normscope completion zsh\n";
  visit_all(program, [&](const CommandText& command) {
    out += zsh_name(command.path) + "() {\n  local curcontext=$curcontext state line\n  _arguments -C";
    for (const OptionText& option : command.options) {
      std::string spec = option.positional ? fmt::format("{}{}", option.many ? "*" : "", zsh_value(option))
                                           : fmt::format("{}{}[{}]{}", option.many ? "*" : "", option.name,
                                                         zsh_text(option.help),
                                                         option.type.empty() ? "" : zsh_value(option));
      out += " \\\n    " + in_quotes(spec);
    }
    if (!command.commands.empty()) out += " \\\n    '1: :->command' \\\n    '*:: :->rest'";
    out += "\n";
    if (!command.commands.empty()) {
      out += "  case $state in\n    command)\n      local -a commands=(";
      for (const CommandText& sub : command.commands)
        out += "\n        " + in_quotes(sub.name() + ":" + zsh_text(sub.help));
      out += ")\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n";
      for (const CommandText& sub : command.commands)
        out += fmt::format("        {}) {} ;;\n", sub.name(), zsh_name(sub.path));
      out += "      esac ;;\n  esac\n";
    }
    out += "}\n";
  });
  return out +
         "if [[ $funcstack[1] == _normscope ]]; then _normscope \"$@\"; else compdef _normscope normscope; "
         "fi\n";
}

std::string fish(const CommandText& program) {
  std::string out =
      "# fish completion of normscope, printed by: normscope completion fish\ncomplete -c normscope -f\n";
  visit_all(program, [&](const CommandText& command) {
    std::string seen;  // requires every word of the path and no command below it
    for (size_t begin = 0; begin < command.path.size();) {
      const size_t end = std::min(command.path.find(' ', begin), command.path.size());
      seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ",
                          command.path.substr(begin, end - begin));
      begin = end + 1;
    }
    std::string here = seen;
    if (!command.commands.empty())
      here += fmt::format("{}not __fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ",
                          joined(command_names(command)));
    for (const CommandText& sub : command.commands)
      out += fmt::format("complete -c normscope -n {} -a {} -d {}\n", in_quotes(here), sub.name(),
                         in_quotes(sub.help));
    for (const OptionText& option : command.options) {
      out += fmt::format("complete -c normscope -n {}", in_quotes(here));
      if (!option.positional)
        out += fmt::format(" -l {} -d {}", option.name.substr(2), in_quotes(option.help));
      if (option.file())
        out += option.positional ? " -F" : " -r -F";
      else if (!option.values.empty())
        out += fmt::format(" {}-a {}", option.positional ? "" : "-x ", in_quotes(joined(option.values)));
      else if (!option.type.empty() && !option.positional)
        out += " -x";
      out += "\n";
    }
  });
  return out;
}

}  // namespace

std::vector<std::string> shell_names() { return {"bash", "zsh", "fish"}; }

std::string completion(const CommandText& program, const std::string& shell) {
  return shell == "bash" ? bash(program) : shell == "zsh" ? zsh(program) : fish(program);
}

}  // namespace normscope::cli
