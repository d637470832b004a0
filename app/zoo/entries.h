// The entries of the zoo: what `normscope zoo` trains, one row of data each. A row names what it changes on
// the default model as KEY=VALUE, with the keys of the configuration file; placements, norm kinds,
// initialisations, optimizers and schedules that no row of the table names get rows of their own from the
// engine's lists, so that none is forgotten; a row with a placement's name stands in its place. Called by
// app/zoo/plan.cpp, the command and the tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace normscope::zoo {

enum class Group : uint8_t { Placements, Norms, Inits, Optimizers, Schedules, Remedies };
inline constexpr Group kGroups[] = {Group::Placements, Group::Norms,     Group::Inits,
                                    Group::Optimizers, Group::Schedules, Group::Remedies};
const char* to_string(Group group);  ///< "placements"; --only takes it for all of them
const char* title(Group group);      ///< "Initialisations"

struct Entry {
  std::string name;              ///< "pre-rms": unique, lower case
  std::string title;             ///< "Pre-LN with RMSNorm"
  std::string source;            ///< who proposed it, or what it is here for
  std::vector<std::string> set;  ///< KEY=VALUE in order; see change()
  Group group = Group::Placements;
};

/// All entries, group after group.
const std::vector<Entry>& entries();
/// Names of entries and groups, separated by commas; empty: all. In the zoo's order, none twice. Throws Error
/// that lists the names.
std::vector<Entry> entries_named(std::string_view names);

/// Makes one change. Beside the keys of the configuration file:
///   layers.cycle=post,pre   a placement a layer, again and again; layers.halves=post,pre: in equal parts.
///                           A stack that ends in a layer without a norm on the residual stream gets its final
///                           norm.
/// Throws Error.
void change(RunSpec& spec, std::string_view assignment);

}  // namespace normscope::zoo
