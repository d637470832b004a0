// normscope admin-fold: a saved Admin run as a plain Post-LN run that computes the same.
#include "engine/train/admin_fold.h"

#include <fmt/format.h>

#include "app/cli/options.h"

namespace normscope::cli {

Exit admin_fold(const AdminFoldOptions& options) {
  const AdminFold fold = with_exit(Exit::input, [&] { return fold_admin(options.in, options.out); });
  fmt::print("{}: {}, {} sub-layers folded{}{}\n", options.out, default_name(fold.spec), fold.sublayers,
             fold.untied ? "; the output has a table of its own now" : "",
             fold.unshared ? "; encoder and decoder have an embedding each now" : "");
  return Exit::ok;
}

}  // namespace normscope::cli
