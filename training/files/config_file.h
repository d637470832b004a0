// Configuration files: TOML <-> a list of runs, every value through the field table of training/spec/spec.h.
//
//   [run]                      # shared by all runs: seed, and name when there is one run
//   seed = 1
//   [model]                    # shared: any model.* field
//   layers = 6
//   [run.A]                    # up to four runs A-D; without any, the file is one run
//   name = "Post-LN, no warm-up"
//   model.placement = "post"   # what differs stands in the run
//   edits = [{ step = 214, key = "train.lr", value = 1e-3 }]
//
// Promises: an unknown key, a wrong type, an impossible value, a duplicate or a syntax error throws Error as
// "FILE:LINE: [train.warmup] 'soon' is text: expected ..."; what write_config writes, parse_config reads back
// equal. Called by the command line and by the Lab's save and open.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

struct ConfigRun {
  char letter = 'A';
  RunSpec spec;             ///< as it stands at step 0
  std::vector<Edit> edits;  ///< in the order of their steps; structural ones rebuild the network there
};

/// Reads a file. A relative data.text is taken from the folder of the file.
std::vector<ConfigRun> read_config(const std::string& path);
/// The same from memory; `name` stands for the file in errors, `folder` is where a relative data.text lies.
std::vector<ConfigRun> parse_config(std::string_view text, const std::string& name,
                                    const std::string& folder = "");

/// Fields that are equal in all runs are written once; those that differ are in their run's table.
std::string write_config(std::span<const ConfigRun> runs);
/// Whole or not at all (AtomicFile). Throws Error with the path.
void save_config(const std::string& path, std::span<const ConfigRun> runs);

/// A text as TOML writes it, in quotes.
std::string toml_string(std::string_view text);

/// "16:train.lr=1e-3" (`step:key=value`; "lr" and "warmup" stand for train.lr and train.warmup). Throws Error, for a key
/// of the data too.
Edit parse_edit(std::string_view text);
/// Throws Error unless the edit's key is a field of the run, but none of its data, and takes the value.
void check_edit(const RunSpec& spec, const Edit& edit);

}  // namespace normscope
