// Write the tape as JSON (docs/log-format.md, "The tape") and the fold of a step as a table. normscope tape and the
// Tape screen call them; FoldPicture draws the fold.
#pragma once

#include <nlohmann/json.hpp>

#include "addons/tape-screen/training/fold.h"
#include "addons/tape-screen/training/listing.h"
#include "addons/tape-screen/training/memory_map.h"
#include "addons/tape-screen/training/numeric_check.h"
#include "addons/tape-screen/training/tensor_summary.h"

namespace normscope::tape_screen {

nlohmann::json to_json(const Listing& listing);
nlohmann::json to_json(const Fold& fold, const Roofline& roof);
nlohmann::json to_json(const MemoryMap& map);
nlohmann::json to_json(const NumericCheck& check);
nlohmann::json to_json(const ProgramChange& change);
nlohmann::json to_json(const TensorSummary& summary);

/// A line for each op with its gradient: name, op, layer, shape, bytes, and of both sides instruction, flop, bytes
/// moved, seconds (0: not measured) and least seconds at the roof; the norm of the result's gradient.
std::string fold_csv(const Fold& fold, const Roofline& roof);

}  // namespace normscope::tape_screen
