// The tape as JSON (docs/log-format.md, "The tape"). normscope tape prints it, and the Tape screen saves it.
#pragma once

#include <nlohmann/json.hpp>

#include "training/measure/listing.h"
#include "training/measure/step/change.h"
#include "training/measure/step/fold.h"
#include "training/measure/step/memory_map.h"
#include "training/measure/step/numeric_check.h"
#include "training/measure/step/tensor_summary.h"

namespace normscope::tape {

nlohmann::json to_json(const Listing& listing);
nlohmann::json to_json(const Fold& fold, const Roof& roof);
nlohmann::json to_json(const MemoryMap& map);
nlohmann::json to_json(const NumericCheck& check);
nlohmann::json to_json(const ProgramChange& change);
nlohmann::json to_json(const TensorSummary& summary);

}  // namespace normscope::tape
