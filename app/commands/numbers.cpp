// normscope numbers prints the table of what is measured of a run.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "training/experiments/run_numbers.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct NumbersOptions {
  bool json = false;
};

Exit print_numbers(const NumbersOptions& options) {
  std::vector<std::vector<std::string>> rows{{"name", "in words", "measured on", "defined in"}};
  nlohmann::json all = nlohmann::json::array();
  const auto add = [&](const std::string& name, const char* label, const char* help, const char* data,
                       const char* defined, const char* unit) {
    rows.push_back({name, label, data, defined});
    all.push_back({{"name", name},
                   {"label", label},
                   {"unit", unit},
                   {"help", help},
                   {"data", data},
                   {"defined", defined}});
  };
  for (const normscope::Number* one : numbers()) {
    add(example_of(*one), one->label, one->help, data_of(one->by), defined_in(one->by), one->unit);
    if (one->field) all.back()["field"] = one->field;
  }
  for (const experiments::EndNumber* one : experiments::end_numbers())
    add(one->name, one->label, one->help, "the whole run", "training/experiments/run_numbers.h", "");
  if (options.json)
    say("{}\n", all.dump(2));
  else
    say("{}", text_table(rows, "llll"));
  return Exit::Ok;
}

}  // namespace

void add_numbers(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "numbers", "Print the numbers that are measured of a run", print_numbers);
  sub.add_flag("--json", options.json, "print JSON, with a sentence on each number");
}

}  // namespace normscope::commands
