// The manual page normscope(1) is written in man(7) from the description of the command line (description.h).
#include <fmt/format.h>

#include "app/cli/description.h"

namespace normscope::cli {
namespace {

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

}  // namespace

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

}  // namespace normscope::cli
