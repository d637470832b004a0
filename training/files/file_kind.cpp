#include "training/files/file_kind.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/boundary.h"
#include "engine/core/utf8.h"
#include "engine/io/file_signature.h"
#include "engine/io/safetensors.h"
#include "training/io/input_kinds.h"
#include "training/io/toml.h"
#include "training/run/checkpoint.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHead = size_t{1} << 16;  // bytes that tell what a file is

std::string name_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.empty() ? path : name;
}

FileLook unusable(Message words) { return {FileKind::Unusable, std::move(words)}; }

std::string head_of(const std::string& path) {
  InputFile file(path, input::kAny);
  std::string head(std::min<uint64_t>(file.size(), kHead), '\0');
  file.read(head.data(), head.size());
  return head;
}

// A safetensors file begins with 8 bytes of length and a JSON object.
bool is_safetensors(const std::string& head) {
  if (head.size() < 9 || head[8] != '{') return false;
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(head[static_cast<size_t>(i)]);
  return length >= 2 && length < uint64_t{1} << 32;
}

// Whether this is UTF-8 without zeros; the last character may be cut off.
bool is_text(std::string_view head, bool whole) {
  for (size_t at = 0; at < head.size();) {
    const CodePoint point = read_code_point(head, at);
    if (point.bytes == 0) return !whole && head.size() - at < 4;
    if (point.value == 0) return false;
    at += static_cast<size_t>(point.bytes);
  }
  return true;
}

bool is_object(const std::string& text) { return nlohmann::json::parse(text, nullptr, false).is_object(); }

// Recognises a configuration under another name: some of its lines are our tables.
bool is_config(const std::string& head, bool whole) {
  if (!whole) return false;  // no configuration is as long as that
  try {
    const toml::table table = parse_toml(head, "head");
    return std::ranges::any_of(table, [](const auto& entry) {
      return entry.second.is_table() && (entry.first == "run" || entry.first == "model" ||
                                         entry.first == "train" || entry.first == "data");
    });
  } catch (const Error&) {
    return false;
  }
}

FileLook look_at_file(const std::string& path) {
  const std::string head = head_of(path);
  const bool whole = head.size() < kHead;
  if (head.empty()) return unusable({"{} is empty.", name_of(path)});
  if (is_data_signature(head)) return unusable(Message("{} {}.", name_of(path), signature_words(head)));
  if (is_safetensors(head))
    return {
        FileKind::Recorded,
        Message("A saved run: what it measured is compared. To train it on, in a terminal: normscope train "
                "--resume {}",
                path)};
#define FILE_LOOK(look) \
  if (const auto known = look(head)) return *known;
#include "chosen/file_looks.def"
#undef FILE_LOOK
  if (!is_text(head, whole))
    return unusable({"{} is neither UTF-8 text nor runs saved as .toml.", name_of(path)});
  const std::string_view line = first_line_of_json(head);
  if (!line.empty() && (is_object(std::string(line)) || is_object(head)))
    return {FileKind::Numbers, "JSON: data of a program, not a text."};
  if (path.ends_with(".toml") || is_config(head, whole))
    return {FileKind::Config, "A configuration: its runs take the place of all that are shown."};
  return {FileKind::Text, "A text: all runs learn from it, from step 0."};
}

FileLook look(const std::string& path) {
  struct stat status {};
  if (const auto model = look_at_model(path))
    return {model->opens ? FileKind::Model : FileKind::Unusable, model->words};
  if (::stat(path.c_str(), &status) != 0)
    return unusable(errno == ENOENT || errno == ENOTDIR
                        ? Message("There is no file {}.", path)
                        : Message("{} cannot be read: {}.", path, std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) {
    if (fs::exists(fs::path(path) / kSessionFile))
      return {FileKind::Session, "A session that the window kept: it goes on where it stood."};
#define FOLDER_LOOK(look) \
  if (const auto known = look(path)) return *known;
#include "chosen/folder_looks.def"
#undef FOLDER_LOOK
    return {FileKind::Folder, "A folder."};
  }
  if (!S_ISREG(status.st_mode))
    return unusable(Message("{} is {}; only regular files are opened.", path, kind_of_file(status.st_mode)));
  return look_at_file(path);
}

}  // namespace

std::string_view first_line_of_json(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == head.npos || head[begin] != '{') return {};
  return head.substr(begin, head.find('\n', begin) - begin);
}

FileLook look_at(const std::string& path) noexcept {
  try {
    return look(path);
  } catch (...) {
    return {FileKind::Unusable, describe_exception(path)};
  }
}

OpenedFile read_opened(const std::string& path) noexcept {
  OpenedFile opened{look_at(path), {}};
  if (opened.look.kind != FileKind::Config && opened.look.kind != FileKind::Model) return opened;
  try {
    opened.runs = read_config(path);
  } catch (...) {
    opened.look = {FileKind::Unusable, describe_exception(path)};
  }
  return opened;
}

FolderContent read_folder(const std::string& path) noexcept {
  FolderContent content;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(path.empty() ? "." : path)) {
      const std::string name = entry.path().filename().string();
      std::error_code unreadable;
      if (name.starts_with('.')) continue;
      content.entries.push_back({name, entry.is_directory(unreadable)});
      if (content.entries.size() == kMaxEntries) break;
    }
    std::ranges::sort(content.entries, [](const auto& a, const auto& b) {
      return a.folder != b.folder ? a.folder : a.name < b.name;
    });
  } catch (const fs::filesystem_error& error) {
    content.error = error.code().message();
  } catch (const std::exception& error) {
    content.error = error.what();
  }
  return content;
}

std::string free_name(const std::string& path) {
  const fs::path wanted(path);
  std::error_code none;
  for (int n = 1;; ++n) {
    const fs::path name = n == 1 ? wanted
                                 : wanted.parent_path() / fmt::format("{}-{}{}", wanted.stem().string(), n,
                                                                      wanted.extension().string());
    if (!fs::exists(fs::symlink_status(name, none))) return name.string();
  }
}

}  // namespace normscope
