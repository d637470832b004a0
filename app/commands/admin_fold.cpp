// normscope admin-fold: a saved Admin run as a plain Post-LN run that computes the same.
#include "engine/train/admin_fold.h"

#include <fmt/format.h>

#include "app/cli/options.h"
#include "app/commands/specs.h"
#include "app/cli/terminal.h"

namespace normscope::cli {

Exit admin_fold(const AdminFoldOptions& options) {
  check_outputs({{"admin-fold", options.out}}, {{"admin-fold", options.in}});
  const AdminFold fold = with_exit(Exit::input, [&] { return fold_admin(options.in, options.out); });
  say("{}: {}, {} sub-layers folded{}{}\n", options.out, default_name(fold.spec), fold.sublayers,
      fold.untied ? "; the output has a table of its own now" : "",
      fold.unshared ? "; encoder and decoder have an embedding each now" : "");
  return Exit::ok;
}

}  // namespace normscope::cli
