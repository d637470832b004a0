#include "training/experiments/store/shards.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <numeric>

#include "engine/core/error.h"
#include "training/data/text_source.h"
#include "training/experiments/store/result_store.h"
#include "training/io/input_value.h"

namespace normscope::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kMostShards = 1'000'000;

/// A shard that was trained into a folder.
struct Mark {
  std::string folder, name, plan;
  Shard shard;
};

/// The hash of a plan's runs, without the line of the engine's numbers: the same on every machine.
std::string fingerprint(const std::vector<std::string>& keys) {
  uint64_t hash = hash_bytes({});
  for (const std::string& key : keys)
    hash = hash_bytes(std::string_view(key).substr(0, key.rfind("numbers ")), hash);
  return fmt::format("{:016x}", hash);
}

/// Skips what cannot be read; merge names damaged files.
std::vector<Mark> marks_in(const std::string& folder) {
  constexpr size_t kLongest = 4096;
  std::vector<Mark> marks;
  for (const InputValue& mark : results_in(folder, kShardMark)) {
    try {
      const int32_t count = mark.at("count").whole(1, kMostShards);
      marks.push_back({folder,
                       mark.at("name").text(kLongest),
                       mark.at("plan").text(kLongest),
                       {mark.at("index").whole(0, count - 1), count}});
    } catch (const Error&) {
    }
  }
  return marks;
}

void refuse_overlap(const Mark& a, const Mark& b) {
  if (a.plan != b.plan || !overlap(a.shard, b.shard)) return;
  fail(
      "merge",
      "{} holds shard {} and {} shard {} of one plan ({}), which have runs in common: expected every run in one "
      "folder only, so leave one of the two out",
      a.folder, to_string(a.shard), b.folder, to_string(b.shard), a.name);
}

}  // namespace

Shard shard_from(std::string_view text) {
  const size_t slash = text.find('/');
  Shard shard;
  const auto number = [&](std::string_view part, int32_t& to) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to);
    return error == std::errc() && end == part.data() + part.size();
  };
  if (slash == text.npos || !number(text.substr(0, slash), shard.index) ||
      !number(text.substr(slash + 1), shard.count) || shard.count < 1 || shard.count > kMostShards)
    fail("--shard", "{} is no shard: expected I/N with I from 0 to N - 1, as 0/8", shown_text(text));
  if (shard.index < 0 || shard.index >= shard.count)
    fail("--shard", "{} is out of range: expected 0/{} to {}/{}", shown_text(text), shard.count,
         shard.count - 1, shard.count);
  return shard;
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

bool overlap(const Shard& a, const Shard& b) {
  const int32_t common = std::gcd(a.count, b.count);
  return a.index % common == b.index % common;
}

void remember_shard(ResultStore& store, const std::string& plan_name, const std::vector<std::string>& keys,
                    const Shard& shard) {
  if (shard.count <= 1) return;
  const std::string plan = fingerprint(keys);
  store.put(fmt::format("shard {} of plan {}\n", to_string(shard), plan), kShardMark,
            {{"name", plan_name}, {"plan", plan}, {"index", shard.index}, {"count", shard.count}});
}

void refuse_overlaps(const std::vector<std::string>& folders) {
  std::vector<std::string> different;
  std::vector<Mark> marks;
  for (const std::string& folder : folders) {
    bool seen = false;
    std::error_code ignored;
    for (const std::string& other : different) seen = seen || fs::equivalent(folder, other, ignored);
    if (seen) continue;
    different.push_back(folder);
    const std::vector<Mark> found = marks_in(folder);
    for (const Mark& mark : found)
      for (const Mark& before : marks) refuse_overlap(before, mark);
    marks.insert(marks.end(), found.begin(), found.end());
  }
}

}  // namespace normscope::experiments
