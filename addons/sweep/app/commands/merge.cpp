// normscope merge makes one store of the stores of shards, or of several machines.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/results.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/store/numbers.h"
#include "training/experiments/store/result_store.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct MergeOptions {
  std::vector<std::string> folders;
  std::string into;
};

Exit merge(const MergeOptions& options) {
  const experiments::StorePlace place = results_folder(options.into);
  const std::string& into = place.folder;
  if (into.empty())
    throw CommandError(Exit::Internal,
                       "merge: there is no folder to put the results in: expected --store DIR");
  const experiments::Merged merged =
      with_exit(Exit::Input, [&] { return experiments::merge(into, options.folders); });
  for (const std::string& path : merged.damaged) complain(path + ": not a result that can be read, left out");
  say("{} results taken into {}, {} were there already\n", merged.taken, into, merged.known);
  experiments::ResultStore store(place);
  store.trim();
  Bars().finish(store);
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const std::string here = experiments::numbers_of(*backend);
  for (const std::string& numbers : merged.numbers)
    if (numbers != here)
      complain(
          Message("some were trained as \"{}\", whose bits differ from \"{}\" of this machine: commands here "
                  "take only the latter",
                  numbers, here));
  return Exit::Ok;
}

}  // namespace

void add_merge(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "merge", "Put the results of shards, or of several machines, into one store", merge);
  sub.add_option("folders", options.folders, "stores of results")->type_name("DIR")->required();
  sub.add_option("--store", options.into, "the store that they go into")
      ->type_name("DIR")
      ->default_str("in the user's cache");
}

}  // namespace normscope::commands
