// normscope record: the names in a log of another program, and our names for them.
#include "addons/recorded/training/event_file.h"
#include "addons/recorded/training/log_reader.h"
#include "app/commands/commands.h"
#include "app/commands/run_log.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct RecorderOptions {
  std::string names, mapping;
};

/// A name as in the log; quoted with escapes where it is not plain text.
std::string shown_name(const std::string& name) {
  const std::string quoted = shown_text(name);
  return quoted == "\"" + name + "\"" ? name : quoted;
}

std::string meaning(const records::LogName& name) {
  if (name.tensor.known()) return name.stat;
  if (name.tensor.layer > 0) return fmt::format("{}, layer {}", shown_name(name.stat), name.tensor.layer);
  return "not known";
}

Exit record(const RecorderOptions& options) {
  const std::vector<records::LogName> names =
      with_exit(Exit::Input, [&] { return records::names_in(options.names, options.mapping); });
  std::vector<std::vector<std::string>> rows{{"in the log", "as", "here"}};
  size_t unknown = 0;
  for (const records::LogName& name : names) {
    unknown += !name.tensor.known();
    rows.push_back({shown_name(name.theirs), name.field->field, meaning(name)});
  }
  say("{}{} names, {} of them not known\n", text_table(rows, "lll"), names.size(), unknown);
  return Exit::Ok;
}

}  // namespace

void add_record(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "record", "Print what the names in a recorded log are here", record);
  add_value(sub, "--names", options.names, "FILE", "print the names in a log and what they are here")
      ->required();
  add_value(sub, "--mapping", options.mapping, "FILE", "names of your own, as TOML (docs/log-format.md)");
}

const LogForm kTensorBoardLog{
    .flag = "--tensorboard",
    .help = "the numbers of the log as TensorBoard reads them; with --resume it goes on",
    .file = "events.out.tfevents.normscope",
    .whole = records::end_of_events,
    .begin = records::first_event,
    .record = records::event_of};

}  // namespace normscope::commands
