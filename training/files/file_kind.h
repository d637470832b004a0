// The kind of a file, by its content and not by its name: the effect of opening it in the window, or why it cannot be
// opened, in one line. Only regular files are read, and of these only the beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "training/files/config_file.h"

namespace normscope {

enum class FileKind : uint8_t {
  Unusable,  // missing, no regular file, unreadable, or nothing that the window opens
  Folder,
  Session,   // a folder with a saved session
  Model,     // of another program (run/checkpoint.h): it becomes a run
  Config,    // runs as TOML
  Recorded,  // measurements of runs: a saved run, or a log that an add-on reads
  Numbers,   // JSON without runs: could be learned as a text, which is hardly meant
  Text,
};

struct FileLook {
  FileKind kind = FileKind::Unusable;
  Message words;  // its kind and the effect of opening it, or why it cannot be opened and what to do
};
FileLook look_at(const std::string& path) noexcept;

// Each recognises a file of its kind by its first bytes; nothing for any other file.
#define FILE_LOOK(look) std::optional<FileLook> look(std::string_view head);
#include "chosen/file_looks.def"
#undef FILE_LOOK
// Each recognises a folder that another program made; nothing for any other folder.
#define FOLDER_LOOK(look) std::optional<FileLook> look(const std::string& folder);
#include "chosen/folder_looks.def"
#undef FOLDER_LOOK

// The first line of a JSON object, after leading white space; empty where the text begins with anything else.
std::string_view first_line_of_json(std::string_view head);

// Looks at a file and reads the runs of a configuration or of a model.
struct OpenedFile {
  FileLook look;
  std::vector<ConfigRun> runs;
};
OpenedFile read_opened(const std::string& path) noexcept;

// Lists the names in a folder, folders first, in the order of their letters, without names that begin with a dot.
struct FolderContent {
  struct Entry {
    std::string name;
    bool folder = false;
  };
  std::vector<Entry> entries;
  std::string error;  // why the folder cannot be read
};
inline constexpr size_t kMaxEntries = 5000;  // the most that are listed
FolderContent read_folder(const std::string& path) noexcept;

// "runs.toml", or "runs-2.toml" and so on where a file has that name.
std::string free_name(const std::string& path);

}  // namespace normscope
