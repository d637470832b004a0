// `Shard` is a part of a plan for one of several machines: shard i of n has the runs whose place in the plan is i
// modulo n, counted from 0, as the index of a scheduler's job array is. A store remembers which shards of which plan
// were trained into it, so that merging notices parts that overlap. Called by the runner, by merge and by what reads
// --shard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::experiments {

class ResultStore;

/// `Shard` 0 of 1 is the whole plan.
struct Shard {
  int32_t index = 0, count = 1;
  bool operator==(const Shard&) const = default;
};
/// Reads "0/8" to "7/8". Throws Error.
Shard shard_from(std::string_view text);
std::string to_string(const Shard& shard);
/// Whether some place in a plan, however long, belongs to both.
bool overlap(const Shard& a, const Shard& b);

/// The measurement under which a store keeps, as a result, that a shard was trained into it.
inline constexpr const char* kShardMark = "shard 1";

/// Takes the keys of all runs of the plan, in its order (key_of). The whole plan leaves no mark.
/// Throws Error when the store cannot be written.
void remember_shard(ResultStore& store, const std::string& plan_name, const std::vector<std::string>& keys,
                    const Shard& shard);

/// Throws Error for two folders that hold overlapping shards of one plan, the same shard in both
/// included: some runs were trained twice, and others, as a rule, by nobody. A folder that is named twice is one
/// folder.
void refuse_overlaps(const std::vector<std::string>& folders);

}  // namespace normscope::experiments
