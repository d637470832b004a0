// Configuration files: TOML <-> a list of runs, every value through the field table of training/spec/spec.h.
//
//   [run]                      # shared by all runs: seed, and name when there is one run
//   seed = 1
//   [model]                    # shared: any model.* field
//   layers = 6
//   [run.A]                    # up to four runs A-D; without any, the file is one run
//   name = "Post-LN, no warm-up"
//   train.warmup = 0           # what differs between the runs
//   edits = [{ step = 214, key = "train.lr", value = 1e-3 }]
//
// A table [window] belongs to a session (training/session/session_file.h) and is ignored here.
//
// Promises: an unknown key, a wrong type, an impossible value, a duplicate or a syntax error throws Error as
// "FILE:LINE: [train.warmup] 'soon' is text: expected ..."; parse_config reads back equal what write_config writes.
// Called by the command line and by the Lab's save and open.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

inline constexpr const char* kSessionFile = "session.toml";  ///< the configuration in a session's folder

struct ConfigRun {
  char letter = 'A';
  RunSpec spec;             ///< the specification at step 0
  std::vector<Edit> edits;  ///< in the order of their steps; structural edits rebuild the network
};

/// Reads a file, or a model of another program (run/checkpoint.h) as a run of its own. A relative data.text starts from
/// the folder of the file.
std::vector<ConfigRun> read_config(const std::string& path);
/// Reads from memory; `name` is the name of the file in errors, and a relative data.text starts from `folder`.
std::vector<ConfigRun> parse_config(std::string_view text, const std::string& name,
                                    const std::string& folder = "");

/// Writes fields that are equal in all runs once, and other fields in the table of their run.
std::string write_config(std::span<const ConfigRun> runs);
/// Writes the whole file or nothing (AtomicFile). Throws Error with the path.
void save_config(const std::string& path, std::span<const ConfigRun> runs);

/// Reads "16:train.lr=1e-3" (`step:key=value`; "lr" and "warmup" stand for train.lr and train.warmup).
/// Throws Error, for a key of the data too.
Edit parse_edit(std::string_view text);
/// Throws Error unless the edit's key is a field of the run outside its data, and takes the value.
void check_edit(const RunSpec& spec, const Edit& edit);

}  // namespace normscope
