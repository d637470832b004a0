#include "addons/papers/app/zoo/own.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "addons/papers/app/input_kinds.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/atomic_file.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"

namespace normscope::zoo {
namespace {

namespace fs = std::filesystem;
using sweep::StudyRow;

constexpr size_t kMostSettings = 32;
constexpr codec::Text kText{400};
constexpr std::string_view kPrefix = "own-";

/// Reads and writes a name such as "own-7".
struct OwnName {
  codec::Json write(const std::string& name) const { return name; }
  void read(const InputValue& json, std::string& name) const {
    kText.read(json, name);
    const bool digits =
        name.size() > kPrefix.size() && name.size() < 10 && name.starts_with(kPrefix) &&
        std::all_of(name.begin() + kPrefix.size(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) json.refuse("own- and a number of at most 5 digits");
  }
};

/// Holds names and settings only: entry_of() derives the rest of an entry from them.
constexpr codec::List kEntries{0, kMostOwn, codec::Object{[](auto& io, auto& entry) {
                                 io("name", entry.name, OwnName{});
                                 io("set", entry.set, codec::List{1, kMostSettings, kText});
                               }}};

/// Writes the settings for a reader: "L* before=ln after=ln, final=ln".
std::string title_of(const std::vector<std::string>& set) {
  constexpr std::string_view kWiring = "wiring.";
  std::string title;
  for (std::string words : set) {
    if (words == "model.placement=none") continue;  // implied by the settings that follow
    if (words.starts_with(kWiring)) words.erase(0, kWiring.size());
    const size_t equals = words.find('=');
    if (words.starts_with("L*") && equals != words.npos) words[equals] = ' ';
    title += (title.empty() ? "" : ", ") + words;
  }
  return title;
}

StudyRow entry_of(std::string name, std::vector<std::string> set) {
  StudyRow entry;
  entry.name = std::move(name);
  entry.title = title_of(set);
  entry.source = tr("your own");
  entry.set = std::move(set);
  return entry;
}

/// Throws Error where the settings are not settings of a run, as the zoo makes them.
void check(const StudyRow& entry) {
  RunSpec spec = preset_run("post");
  for (const std::string& assignment : entry.set) sweep::assign(spec, assignment);
  complete(spec);
  validate(spec);
}

}  // namespace

std::string own_path(const std::string& progress_path) {
  return progress_path.empty() ? "" : (fs::path(progress_path).parent_path() / "zoo.json").string();
}

std::vector<StudyRow> parse_own(std::string_view text, const std::string& name) {
  const InputValue list = InputValue::parse(text, {"zoo {}", name}).at("entries");
  std::vector<StudyRow> own;
  kEntries.read(list, own);
  std::set<std::string> names;
  for (size_t i = 0; i < own.size(); ++i) {
    if (!names.insert(own[i].name).second)
      list.list(0, kMostOwn)[i].at("name").refuse("a name that no other entry has");
    own[i] = entry_of(own[i].name, own[i].set);
    try {
      check(own[i]);
    } catch (const Error& error) {
      fail({"zoo {}", name}, "{}: {}", own[i].name, error.message);
    }
  }
  return own;
}

std::vector<StudyRow> read_own(const std::string& path) {
  if (path.empty()) return {};
  const auto text = read_input_file_if_there(path, input::kOwnZoo);
  return text ? parse_own(*text, path) : std::vector<StudyRow>{};
}

std::vector<StudyRow> own_placements() {
  std::vector<StudyRow> all;
  for (const Placement placement : added_placements()) {
    const PlacementRow& row = row_of(placement);
    all.push_back({row.name,
                   row.label,
                   *row.source ? row.source : row.formula,
                   {std::string("model.placement=") + row.name}});
  }
  return all;
}

std::string enter(const std::string& path, const std::vector<std::string>& set) {
  if (path.empty()) throw Error("nothing is kept here, so nothing can be entered in the zoo");
  std::vector<StudyRow> own = read_own(path);
  std::set<std::string> names;
  for (const StudyRow& entry : own) {
    if (entry.set == set) return entry.name;
    names.insert(entry.name);
  }
  if (own.size() >= kMostOwn)
    throw Error("{} has {} entries: expected one to be removed first", path, kMostOwn);
  size_t free = 1;  // so that the name is one the reader accepts, whatever numbers are taken
  while (names.contains(fmt::format("{}{}", kPrefix, free))) ++free;
  own.push_back(entry_of(fmt::format("{}{}", kPrefix, free), set));
  check(own.back());
  const codec::Json root = {{"entries", kEntries.write(own)}};
  make_folder(fs::path(path).parent_path().string(), Access::Own, "zoo");
  write_file(path, root.dump(1) + "\n", "zoo", Access::Own);
  return own.back().name;
}

}  // namespace normscope::zoo
