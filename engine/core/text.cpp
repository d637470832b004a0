#include "engine/core/text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace normscope {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + !same_letter(a[i - 1], b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Finds the nearest name and its distance.
std::pair<std::string_view, size_t> search(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  size_t least = std::string_view::npos;
  for (const std::string_view name : names) {
    const size_t longer = std::max(name.size(), word.size()), shorter = std::min(name.size(), word.size());
    if (longer - shorter >= least) continue;  // it is no nearer
    const size_t apart = distance(name, word);
    if (apart >= least) continue;
    least = apart;
    best = name;
  }
  return {best, least};
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  return search(word, names).first;
}

std::string_view likely(std::string_view word, std::span<const std::string_view> names) {
  const auto [name, apart] = search(word, names);
  return 3 * apart <= word.size() + 2 ? name : std::string_view{};
}

Message expected(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view meant = likely(word, names);
  return meant.empty() ? Message("expected {}", fmt::join(names, ", "))
                       : Message("did you mean {}? expected {}", meant, fmt::join(names, ", "));
}

}  // namespace normscope
