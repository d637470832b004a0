// The run tables of a claim say what is trained: [run.NAME] with what it starts from and what it is the best of, and
// [made_up.NAME]. claim_reader.cpp calls this; errors are as in claim_reader.h.
#pragma once

#include <string>
#include <vector>

#include "addons/papers/app/reproduce/claim.h"
#include "training/io/toml_table.h"

namespace normscope::reproduce {

/// Finds a run of the claim by the name under `key`.
const course::LessonRun& run_of(const course::Lesson& language, const std::string& id, const char* key,
                                const Table& t);

/// Reads one or two texts under `key`, as `normscope sweep --axis` takes them.
std::vector<sweep::Axis> read_axes(const char* key, const RunSpec& base, Table& t);

/// Reads the runs. A run may start from another run of the claim, which must itself start afresh. `pairs`:
/// see claim_reader.h.
void read_runs(Claim& claim, Table& t, const std::string& pairs);

}  // namespace normscope::reproduce
