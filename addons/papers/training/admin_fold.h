// Folds Admin's omegas away (Liu et al. 2020, appendix C; norm-science A.9): a saved Admin run becomes a
// saved run of plain Post-LN that computes the same function. Called by `normscope admin-fold`.
#pragma once

#include "training/spec/spec.h"

namespace normscope {

struct AdminFold {
  int32_t sublayers = 0;  ///< number whose omega went into the norm below (of the first: into the embedding)
  bool untied = false;    ///< the output had the embedding's table and now has a copy of its own
  bool unshared = false;  ///< encoder and decoder had one table and now have one each
  RunSpec spec;           ///< the specification of the new file
};

/// Replaces x by x' = omega x: it multiplies gain and bias of the norm that makes x by omega, and
/// divides the rows of every matrix that reads x by it. Moments of the optimizer start at zero, the memory of earlier
/// segments is empty and edits end; losses and steps stay. Throws Error for a file that is not a saved run, has no
/// stack in the placements admin or admin-paper, has norms without gain, or has an omega of zero.
AdminFold fold_admin(const std::string& in, const std::string& out);

}  // namespace normscope
