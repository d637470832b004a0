// Parses the command line, runs the requested command, and prints any error as one line.
#include "app/commands/commands.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/build_facts.h"
#include "engine/core/error.h"
#include "engine/cpu/isa.h"
#include "training/files/placement_file.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

/// For the options of every command: a blank FILE, DIR or LINK is refused and not taken as absent, and an empty list
/// is not shown as a default.
void finish_options(CLI::App& app) {
  static const CLI::Validator named(
      [](std::string& name) {
        return trimmed(name).empty() ? fmt::format("expected a name, not '{}'", name) : std::string();
      },
      "", "named");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_default_str() == "[]") option->default_str("");
    const std::string type = option->get_type_name();
    if (type.starts_with("FILE") || type.starts_with("DIR") || type == "LINK") option->check(named);
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) finish_options(*sub);
}

struct CommandRow {
  void (*add)(CLI::App&, Command&);
  CommandGroup group;
};
constexpr CommandRow kCommands[] = {
#define COMMAND(add, group) {add, CommandGroup::group},
#include "app/commands/commands.def"
#undef COMMAND
};

/// By CommandGroup.
constexpr const char* kGroupNames[] = {
    "Begin here",          "Train runs",        "Answer a question with many runs", "Look at runs and models",
    "Use a trained model", "The program itself"};

void add_all(CLI::App& app, Command& command) {
  app.name("normscope");
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", std::function<std::string()>(build_facts));
  std::vector<CommandRow> rows(std::begin(kCommands), std::end(kCommands));
  std::ranges::stable_sort(rows, {}, &CommandRow::group);
  size_t grouped = 0;
  for (const CommandRow& row : rows) {
    row.add(app, command);
    const std::vector<CLI::App*> all = app.get_subcommands([](CLI::App*) { return true; });
    for (; grouped < all.size(); ++grouped) all[grouped]->group(kGroupNames[static_cast<size_t>(row.group)]);
  }
  finish_options(app);
}

/// The command that was being read: the last one named.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<const CLI::App*> named =
      app.get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
  return named.empty() ? app : innermost(*named.front());
}

/// Says in one line what is wrong with the command line: the first unknown word, what may have been
/// meant, and whose help to read.
std::string why_refused(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  std::string called = command.get_name();
  for (const CLI::App* up = command.get_parent(); up; up = up->get_parent())
    called = fmt::format("{} {}", up->get_name(), called);
  const std::string help = fmt::format("({} --help shows the options)", called);
  const std::vector<std::string> unknown = app.remaining(true);
  // A missing subcommand (RequiredError) is reported first, whatever word stands in its place.
  const bool about_a_word =
      dynamic_cast<const CLI::ExtrasError*>(&error) || dynamic_cast<const CLI::RequiredError*>(&error);
  if (!about_a_word || unknown.empty()) return fmt::format("{} {}", error.what(), help);
  const std::string& word = unknown.front();
  std::vector<std::string> names;
  if (word.starts_with('-'))
    for (const CLI::Option* option : command.get_options()) names.push_back(option->get_name());
  else
    for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  const std::string_view meant = likely(word, std::vector<std::string_view>(names.begin(), names.end()));
  return fmt::format("'{}' is not expected here{} {}", word,
                     meant.empty() ? "" : fmt::format(": did you mean {}?", meant), help);
}

/// Says what a call of the file system lacked: most often the current folder, which another program removed.
std::string why_failed(const std::filesystem::filesystem_error& error) {
  std::error_code gone;
  (void)std::filesystem::current_path(gone);
  return gone ? fmt::format("the current folder cannot be used: {}", gone.message())
              : fmt::format("{}: {}", error.path1().string(), error.code().message());
}

Exit parse_and_run(int argc, const char* const* argv) {
  const std::vector<Message> refused = load_placements(placements_folder());
  Command command;
  CLI::App app{
      "normscope: see why the place of layer normalization decides whether a transformer trains.\n"
      "Without a command it opens the window; without a display it runs like compare."};
  app.allow_windows_style_options(false);  // "/home/ada/text.txt" is a path and no option
  add_all(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app.exit(error, help, help);
      put(help.str());
      return Exit::Ok;
    }
    throw CommandError(Exit::Usage, why_refused(app, error));
  }
  // The instruction set is refused here, before any training thread starts.
  if (std::getenv("NORMSCOPE_ISA")) with_exit(Exit::Usage, [] { cpu::check_instruction_set(); });
  for (const std::string& message : refused) complain(message);
  try {
    return command();
  } catch (const std::filesystem::filesystem_error& error) {
    throw CommandError(Exit::Internal, why_failed(error));
  }
}

int refuse(Exit code, const char* message) noexcept {
  complain(message);
  return static_cast<int>(code);
}

/// The exit code. A success whose output was lost becomes 5 where standard output cannot be written, as on a full
/// disk, and Interrupted, without a message, where the reader of a pipe has gone.
int finished(Exit code) noexcept {
  const std::string lost = print_error();
  if (lost.empty() || code == Exit::Interrupted) return static_cast<int>(code);
  const bool left = lost == std::strerror(EPIPE);
  if (!left) complain("standard output cannot be written: " + lost);
  if (code != Exit::Ok) return static_cast<int>(code);
  return static_cast<int>(left ? Exit::Interrupted : Exit::Internal);
}

}  // namespace

int run(int argc, const char* const* argv) noexcept {
  try {
    prepare_streams();
    return finished(parse_and_run(argc, argv));
  } catch (const CommandError& error) {
    return refuse(error.code, error.what());
  } catch (const DeviceError& error) {
    return refuse(Exit::Device, error.what());
  } catch (const MemoryError& error) {
    return refuse(Exit::Memory, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(Exit::Memory, "out of memory");
  } catch (const std::exception& error) {
    return refuse(Exit::Internal, error.what());
  } catch (...) {
    return refuse(Exit::Internal, "an unknown error");
  }
}

}  // namespace normscope::commands
