// The tables of a claim that say what is trained: [run.NAME] with what it starts from and what it is the best of, and
// [made_up.NAME]. Called by claim_reader.cpp; errors as claim_reader.h has them.
#pragma once

#include <string>
#include <vector>

#include "app/reproduce/claim.h"
#include "training/files/toml_table.h"

namespace normscope::reproduce {

/// A run of the claim by its name, which stands under `key`.
const course::LessonRun& run_of(const course::Lesson& language, const std::string& id, const char* key,
                                const Table& t);

/// One or two texts under `key`, as `normscope sweep --axis` takes them.
std::vector<sweep::Axis> read_axes(const char* key, const RunSpec& base, Table& t);

/// What a run starts from is a run of the claim that starts afresh itself. `pairs`: see claim_reader.h.
void read_runs(Claim& claim, Table& t, const std::string& pairs);

}  // namespace normscope::reproduce
