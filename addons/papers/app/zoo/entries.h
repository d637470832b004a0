// The entries of the zoo are what `normscope zoo` trains, one row of data each. A row names what it changes on the
// default model as KEY=VALUE, with the keys of the configuration file. Placements, norm kinds, initialisations,
// optimizers and schedules that no row of the table names get rows of their own from the engine's lists, so that none
// is forgotten; a row with a placement's name replaces the generated one. app/zoo/plan.cpp, the command and the tests
// call this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec/spec.h"

namespace normscope::zoo {

/// Sorts the entries. Images, Parsing and Memory are other systems than the default model, each with the kinds
/// of norm (see System). Own holds what a user entered (see own.h).
enum class Group : uint8_t {
  Placements,
  Norms,
  Inits,
  Optimizers,
  Schedules,
  Remedies,
  Images,
  Parsing,
  Memory,
  Own
};
inline constexpr Group kGroups[] = {Group::Placements, Group::Norms,    Group::Inits,  Group::Optimizers,
                                    Group::Schedules,  Group::Remedies, Group::Images, Group::Parsing,
                                    Group::Memory,     Group::Own};
const char* to_string(Group group);     ///< "placements"; --only takes it for all of them
const std::string& title(Group group);  ///< "Initialisations"

/// A network and task of Xu et al. (2019) other than translation: a preset of the command line and what is
/// changed on it. It has its own depth, rate and budget, whatever Plan::depths says.
struct System {
  Group group;
  const char *preset, *prefix, *what, *set;  ///< "parser", of the entries' names, in words, KEY=VALUE or ""
  const char* score;                         ///< what Record::score is: "UAS, %"
  int32_t steps, warmup;
};
std::span<const System> systems();
const System* system_of(Group group);  ///< nullptr: the default model

struct Entry {
  std::string name;              ///< "pre-rms": unique, lower case
  std::string title;             ///< "Pre-LN with RMSNorm"
  std::string source;            ///< who proposed it, or what it is here for
  std::vector<std::string> set;  ///< KEY=VALUE in order; see change()
  Group group = Group::Placements;
};

/// All entries, group after group.
const std::vector<Entry>& entries();
/// Takes names of entries and groups, separated by commas; an empty list means all. It returns them in
/// the zoo's order, each once; `own` holds entries that count beside those of the table. Throws an Error that lists the
/// names.
std::vector<Entry> entries_named(std::string_view names, const std::vector<Entry>& own = {});

/// Makes one change. Beside the keys of the configuration file it takes:
///   layers.cycle=post,pre   one placement per layer, repeated in turn
///   layers.halves=post,pre  in equal parts
/// A stack that ends in a layer without a norm on the residual stream gets a final norm. Throws Error.
void change(RunSpec& spec, std::string_view assignment);

}  // namespace normscope::zoo
