// normscope admin-fold writes a saved Admin run as a plain Post-LN run that computes the same.
#include "addons/papers/training/admin_fold.h"
#include "app/commands/commands.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct AdminFoldOptions {
  std::string in, out;
};

Exit admin_fold(const AdminFoldOptions& options) {
  check_outputs({{"admin-fold", options.out}}, {{"admin-fold", options.in}});
  const AdminFold fold = with_exit(Exit::Input, [&] { return fold_admin(options.in, options.out); });
  say("{}: {}, {} sub-layers folded{}{}\n", options.out, default_name(fold.spec), fold.sublayers,
      fold.untied ? "; the output has a table of its own now" : "",
      fold.unshared ? "; encoder and decoder have an embedding each now" : "");
  return Exit::Ok;
}

}  // namespace

void add_admin_fold(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "admin-fold",
                  "Write a saved Admin run as a plain Post-LN run that computes the same", admin_fold);
  add_value(sub, "in", options.in, "FILE", "a saved run (safetensors) of placement admin or admin-paper")
      ->required();
  add_value(sub, "out", options.out, "FILE", "the run to write")->required();
}

}  // namespace normscope::commands
