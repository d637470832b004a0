#include "app/config/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/train/spec.h"

namespace normscope {
namespace {

/// Insertions, deletions, replacements from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view last_part(std::string_view key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::vector<std::string> field_keys() {
  std::vector<std::string> keys;
  for (const Field& field : spec_fields()) keys.emplace_back(field.key);
  return keys;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& name : names) {
    // A key in the wrong table, or without one, is near too.
    const size_t d = std::min(distance(word, name), distance(last_part(word), last_part(name)) + 1);
    if (!best || d < best_distance) best = &name, best_distance = d;
  }
  if (best && best_distance <= 1 + last_part(word).size() / 3)
    return fmt::format(": did you mean {}?", *best);
  return fmt::format(": expected one of {}", fmt::join(names, ", "));
}

}  // namespace normscope
