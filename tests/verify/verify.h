// Compares the engine with a fixture: a small model whose loss, gradients, sub-layer values and ten
// Adam steps were computed in float64 elsewhere. Format and conventions: tests/fixtures/README.md.
#pragma once

#include <string>
#include <vector>

#include "engine/tape/backend.h"

namespace normscope {

/// One comparison: its worst error, the place of that error, and the tolerance.
struct VerifyCheck {
  std::string what;  ///< "gradients"
  double error = 0;  ///< relative; NaN fails
  double tolerance = 0;
  std::string where;  ///< the tensor or step with the worst error
  bool passed() const { return error <= tolerance; }
};

struct VerifyReport {
  std::string file;
  std::string model;  ///< "decoder, post, ln, L=3 d=16 heads=2"
  double loss = 0, expected_loss = 0;
  /// Loss, logits, for transformers the branches and the sub-layers' outputs, gradients, Adam's losses and parameters.
  std::vector<VerifyCheck> checks;
  bool passed() const;
};

/// Builds the fixture's model on the backend and compares. Throws Error when the file is not a
/// fixture, lacks a tensor, has one that the model does not know, or describes a model that cannot be built.
VerifyReport verify_fixture(const std::string& path, Backend& backend);

/// Writes the model, then one line for each check with error, tolerance and verdict.
std::string to_string(const VerifyReport& report);

}  // namespace normscope
