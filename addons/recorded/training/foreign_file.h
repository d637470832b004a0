// Files that other programs keep of a run and that are no lines of JSON: which reader a file asks for, by its beginning.
// Each reads numbers by step under the names that the program gave them (log_line.h says which mean something here).
// Called by LogReader (log_reader.h).
#pragma once

#include "addons/recorded/training/step_numbers.h"
#include "engine/io/input_file.h"

namespace normscope::records {

/// Reads a file in portions, as it grows.
class ForeignReader {
 public:
  virtual ~ForeignReader() = default;
  /// Throws Error for more than can be held.
  virtual void take(std::string_view bytes) = 0;
  /// The file ends here.
  virtual void finish() = 0;
  /// The run goes on in another file, whose bytes follow: from its steps on they take the place of earlier ones.
  virtual void next_file() = 0;
  /// Its name and settings, as far as they are known.
  virtual const LogAbout& about() const = 0;
  /// Calls `add` with each new step. Where new bytes change earlier steps, calls `anew`, then `add` with all steps.
  virtual void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) = 0;
};

enum class LogFormat { Unknown, Lines, Events, Printed, History, Table };  ///< Lines: of JSON

/// Whether `head` is too short to tell what the file is.
bool is_undecided(std::string_view head);
/// Whether the file's format is that of `head`, whatever follows.
bool says_format(std::string_view head, const NameMapping& mapping);
/// As far as `head` tells it: a training's lines may come late in what it printed.
LogFormat format_of(std::string_view head, const NameMapping& mapping = kNoMapping);
/// Its reader, null for lines of JSON and the unknown.
std::unique_ptr<ForeignReader> foreign_reader(LogFormat format, std::string_view head, const LogFile& file);

}  // namespace normscope::records
