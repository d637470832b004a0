#include "addons/recorded/training/older_shares.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace normscope::records {
namespace {

constexpr int32_t kBranchField = 4, kInputField = 5, kShareField = 6;
static_assert(kLogFields[kBranchField].key == "branch_variance" &&
              kLogFields[kInputField].key == "input_variance" && kLogFields[kShareField].key == "share");

/// Reads all of a text that is a whole number.
std::optional<size_t> number_of(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// I of "beta2.I.I", and of a stack of attention and feed-forward networks that of "L03.attn".
std::optional<size_t> place_of(const LogStat& stat) {
  std::string_view name = stat.name;
  if (stat.field == kShareField) {
    if (!name.starts_with("beta2.")) return std::nullopt;
    name.remove_prefix(6);
    const size_t dot = name.find('.');
    if (dot == name.npos || name.substr(0, dot) != name.substr(dot + 1)) return std::nullopt;
    return number_of(name.substr(0, dot));
  }
  const bool attention = name.ends_with(".attn");
  if (!name.starts_with('L') || (!attention && !name.ends_with(".ffn"))) return std::nullopt;
  const auto layer = number_of(name.substr(1, name.find('.') - 1));
  if (!layer || *layer == 0) return std::nullopt;
  return 2 * *layer - (attention ? 1 : 0);
}

}  // namespace

/// False where a number is missing that the shares are made of.
bool OlderShares::gather(const LogStep& step) {
  size_t shares = 0;
  sums_.clear();
  for (const LogStat& stat : step.stats) {
    if (stat.field != kBranchField && stat.field != kInputField && stat.field != kShareField) continue;
    const auto place = place_of(stat);
    if (stat.field == kShareField && !place) return false;
    if (!place || *place == 0) continue;
    if (*place > kMostSublayers) return false;
    if (sums_.size() < *place) sums_.resize(*place);
    Sum& sum = sums_[*place - 1];
    shares += stat.field == kShareField;
    (stat.field == kShareField ? sum.own : stat.field == kBranchField ? sum.branch : sum.input) = stat.value;
  }
  return shares > 0 && shares == sums_.size();
}

/// Makes the names of the next row.
void OlderShares::name_row() {
  const size_t row = names_.size() + 1;
  std::vector<std::string>& names = names_.emplace_back();
  for (size_t column = 0; column < row; ++column) names.push_back(fmt::format("beta2.{}.{}", row, column));
  names.push_back(fmt::format("beta2.{}.sum", row));
}

std::span<const LogStat> OlderShares::of(const LogStep& step) {
  found_.clear();
  if (!gather(step)) return {};
  shares_.assign(1, 1.0);
  for (size_t i = 0; i < sums_.size(); ++i) {
    if (names_.size() <= i) name_row();
    const auto own = static_cast<double>(sums_[i].own), branch = static_cast<double>(sums_[i].branch);
    const double kept = own > 0 ? static_cast<double>(sums_[i].input) * own / branch : std::nan("");
    double sum = own;
    for (size_t j = 0; j < shares_.size(); ++j) {
      sum += shares_[j] *= kept;
      found_.push_back({kShareField, names_[i][j], static_cast<float>(shares_[j])});
    }
    found_.push_back({kShareField, names_[i].back(), static_cast<float>(sum)});
    shares_.push_back(own);
  }
  return found_;
}

}  // namespace normscope::records
