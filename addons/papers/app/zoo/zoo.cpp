#include "addons/papers/app/zoo/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "addons/papers/app/input_kinds.h"
#include "app/lesson-player/wiring_keeper.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/atomic_file.h"
#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/spec/codec.h"

namespace normscope::zoo {
namespace {

using sweep::StudyFile, sweep::StudyPart, sweep::StudyRow;

constexpr int32_t kShallow = 8, kDeepSteps = 400;
constexpr std::string_view kDeepRows[] = {"post", "pre", "admin", "deepnorm"};

/// Leaves the rows that were named, or whose part was.
void keep_named(StudyFile& study, std::string_view only) {
  std::vector<std::string_view> wanted = split(only, ',');
  std::erase(wanted, std::string_view());
  if (wanted.empty()) return;
  std::set<std::string_view> missing(wanted.begin(), wanted.end());
  std::vector<std::string> known;
  for (const StudyPart& part : study.parts) {
    known.push_back(part.name);
    missing.erase(part.name);
    for (const StudyRow& row : part.rows) {
      known.push_back(row.name);
      missing.erase(row.name);
    }
  }
  if (!missing.empty())
    fail("zoo", "'{}' is not in the zoo: expected names among {}", *missing.begin(), fmt::join(known, ", "));
  for (StudyPart& part : study.parts)
    if (std::ranges::find(wanted, part.name) == wanted.end())
      std::erase_if(part.rows,
                    [&](const StudyRow& row) { return std::ranges::find(wanted, row.name) == wanted.end(); });
}

/// The part at a depth; `all`: also of the rows that the question of depth is not about.
void deepen(StudyPart& part, int32_t layers, bool all) {
  std::string rate = "3e-3";
  if (layers > kShallow) {
    rate = "1e-3";
    part.plan.steps = kDeepSteps;
    if (!all)
      std::erase_if(part.rows, [](const StudyRow& row) {
        return std::ranges::find(kDeepRows, row.name) == std::end(kDeepRows);
      });
  }
  part.plan.set = {fmt::format("model.layers={}", layers), "train.lr=" + rate};
}

}  // namespace

StudyFile study_of(const Choice& choice, const std::vector<StudyRow>& own) {
  StudyFile study = sweep::read_study(sweep::studies_folder(), "zoo");
  StudyPart& mine = study.parts.emplace_back(study.parts.front());
  mine.name = "own";
  mine.title = "Your own";
  mine.rows = own;
  keep_named(study, choice.only);
  std::vector<StudyPart> parts;
  for (const int32_t layers : choice.depths)
    for (StudyPart part : study.parts) {
      sweep::Plan& plan = part.plan;
      if (plan.preset == "post") {
        deepen(part, layers, !choice.only.empty());
        if (choice.depths.size() > 1) {
          part.name += fmt::format("-{}", layers);
          part.title += fmt::format(", {} layers", layers);
        }
      } else if (layers != choice.depths.front()) {
        continue;
      }
      if (part.rows.empty()) continue;
      plan.seeds = choice.seeds;
      if (choice.steps > 0) plan.steps = choice.steps;
      if (choice.warmup > 0) plan.axes[0].values = {"0", std::to_string(choice.warmup)};
      std::erase_if(plan.set, [](const std::string& set) { return set.starts_with("train.decay_end="); });
      const int32_t warmup = std::stoi(plan.axes[0].values.back());
      plan.set.push_back(fmt::format("train.decay_end={}", std::max(plan.steps, warmup + 1)));
      plan.set.insert(plan.set.end(), choice.set.begin(), choice.set.end());
      part.take_rows();
      parts.push_back(std::move(part));
    }
  study.parts = std::move(parts);
  return study;
}

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

namespace normscope::lessons {

const WiringKeeper& zoo_keeper() {
  static constexpr WiringKeeper keeper{
      .keep =
          [](const std::string& progress_path, const std::vector<std::string>& set) {
            return zoo::enter(zoo::own_path(progress_path), set);
          },
      .label =
          [](const words::Language& words, const std::string& name) {
            return name.empty() ? words.tr("Enter in the zoo")
                                : words.tr("In the zoo: {name}", {{"name", name}});
          },
      .help =
          [](const words::Language& words, bool measured) {
            return words.tr(measured ? "Keeps this wiring as an entry of the zoo, beside the others."
                                     : "First change a slot and run again: what was measured is entered.");
          },
      .told =
          [](const words::Language& words, const std::string& name) {
            return words.tr(
                "Your wiring is {name} in the zoo. In a terminal, {command} trains it with three seeds, "
                "with and without warm-up, beside the two; without --only, beside all.",
                {{"name", name}, {"command", fmt::format("normscope zoo --only {},post,pre", name)}});
          }};
  return keeper;
}

}  // namespace normscope::lessons
