#include "addons/recorded/training/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/spec/spec.h"

namespace normscope::records {
namespace {

constexpr size_t kMostNumbers = 20'000'000;  // 12 bytes each
constexpr size_t kMostTags = 20'000;
constexpr std::string_view kFirstEvent = "brain.Event:", kWandb = ":W&B";

template <typename T>
T little(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// ---- protobuf: a message is a sequence of fields, each with a number and one of four kinds of value

struct WireField {
  enum Kind : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  uint32_t number = 0;
  uint64_t value = 0;      // of a Varint
  std::string_view bytes;  // of the others
  Kind kind = Varint;
};

class WireMessage {
 public:
  explicit WireMessage(std::string_view rest) : rest_(rest) {}

  /// The next field; nothing at the end, or where the rest is none.
  std::optional<WireField> next() {
    uint64_t key = 0;
    if (rest_.empty() || !varint(key)) return {};
    WireField field;
    field.number = static_cast<uint32_t>(key >> 3);
    field.kind = static_cast<WireField::Kind>(key & 7);
    uint64_t length = 0;
    switch (field.kind) {
      case WireField::Varint:
        return varint(field.value) ? std::optional(field) : std::nullopt;
      case WireField::Fixed64:
        length = 8;
        break;
      case WireField::Fixed32:
        length = 4;
        break;
      case WireField::Bytes:
        if (!varint(length)) return {};
        break;
      default:
        return {};
    }
    if (length > rest_.size()) return {};
    field.bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return field;
  }

 private:
  bool varint(uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      value |= static_cast<uint64_t>(rest_[i] & 0x7f) << (7 * i);
      if ((rest_[i] & 0x80) != 0) continue;
      rest_.remove_prefix(i + 1);
      return true;
    }
    rest_ = {};
    return false;
  }

  std::string_view rest_;
};

// ---- the numbers of a file

struct Number {
  int32_t step = 0, tag = 0;
  float value = 0;
};

class Numbers {
 public:
  explicit Numbers(const std::string& path) : where_("events {}", path) {}

  void add(int64_t step, const std::string& tag, double value) {
    if (step < 0 || step > kMostSteps) return;
    auto at = places_.find(tag);
    if (at == places_.end()) {
      if (places_.size() == kMostTags) return;
      at = places_.emplace(tag, static_cast<int32_t>(tags_.size())).first;
      tags_.push_back(&at->first);
    }
    if (all_.size() == kMostNumbers)
      fail(where_, "has more than {} numbers: write fewer of its steps or names", kMostNumbers);
    all_.push_back({static_cast<int32_t>(step), at->second, static_cast<float>(value)});
  }
  void time(int64_t step, double seconds) {
    if (step < 0 || step > kMostSteps || !std::isfinite(seconds)) return;
    if (times_.empty()) began_ = seconds;
    times_[static_cast<int32_t>(step)] = seconds - began_;
  }

  void give(const std::function<void(const LogStep&)>& add) {
    if (all_.empty()) fail(where_, "has no scalar: expected losses or gradient sizes by step");
    std::ranges::stable_sort(all_, {}, &Number::step);
    const std::vector<ScalarName> names = names_that_count();
    LogStep step;
    for (size_t i = 0; i < all_.size();) {
      step.clear();
      step.step = all_[i].step;
      for (; i < all_.size() && all_[i].step == step.step; ++i)
        put(names[static_cast<size_t>(all_[i].tag)], all_[i].value, step);
      if (const auto at = times_.find(step.step); at != times_.end()) step.seconds = at->second;
      add(step);
    }
  }

 private:
  std::vector<ScalarName> names_that_count() const {
    std::vector<ScalarName> names;
    std::array<int32_t, 5> first;
    first.fill(std::numeric_limits<int32_t>::max());
    for (const std::string* tag : tags_) {
      names.push_back(scalar_name(*tag));
      int32_t& rank = first[static_cast<size_t>(names.back().of)];
      rank = std::min(rank, names.back().rank);
    }
    for (ScalarName& name : names)
      if (name.rank != first[static_cast<size_t>(name.of)] && name.of != ScalarName::Of::Tensor)
        name.of = ScalarName::Of::Other;
    return names;
  }

  Message where_;
  std::map<std::string, int32_t> places_;
  std::vector<const std::string*> tags_;
  std::vector<Number> all_;
  std::map<int32_t, double> times_;
  double began_ = 0;
};

// ---- TensorBoard: Event { wall_time 1, step 2, summary 5 { value 1 { tag 1, simple_value 2, tensor 8 } } }

/// The only number of a TensorProto { dtype 1, tensor_content 4, float_val 5, double_val 6 }.
std::optional<double> number_of_tensor(std::string_view tensor) {
  constexpr uint64_t kFloat = 1, kDouble = 2;
  uint64_t type = 0;
  std::string_view bytes;
  for (WireMessage fields(tensor); const auto field = fields.next();) {
    if (field->number == 1) type = field->value;
    if (field->number == 4 || (field->number == 5 && type == kFloat) ||
        (field->number == 6 && type == kDouble))
      bytes = field->bytes;
  }
  if (type == kFloat && bytes.size() == 4) return little<float>(bytes);
  if (type == kDouble && bytes.size() == 8) return little<double>(bytes);
  return {};
}

void read_value(std::string_view value, int64_t step, Numbers& numbers) {
  std::string tag;
  std::optional<double> number;
  for (WireMessage fields(value); const auto field = fields.next();) {
    if (field->number == 1 && field->kind == WireField::Bytes) tag = field->bytes;
    if (field->number == 2 && field->kind == WireField::Fixed32) number = little<float>(field->bytes);
    if (field->number == 8 && field->kind == WireField::Bytes) number = number_of_tensor(field->bytes);
  }
  if (number && !tag.empty()) numbers.add(step, tag, *number);
}

void read_event(std::string_view event, Numbers& numbers) {
  double time = NAN;
  int64_t step = 0;  // protobuf leaves a zero out
  std::string_view summary;
  for (WireMessage fields(event); const auto field = fields.next();) {
    if (field->number == 1 && field->kind == WireField::Fixed64) time = little<double>(field->bytes);
    if (field->number == 2 && field->kind == WireField::Varint) step = static_cast<int64_t>(field->value);
    if (field->number == 5 && field->kind == WireField::Bytes) summary = field->bytes;
  }
  if (summary.empty()) return;
  for (WireMessage fields(summary); const auto field = fields.next();)
    if (field->number == 1 && field->kind == WireField::Bytes) read_value(field->bytes, step, numbers);
  numbers.time(step, time);
}

/// A record: its length in eight bytes, four of a checksum, the event, four of a checksum.
void read_tensorboard(std::string_view file, LinesRead& read, Numbers& numbers) {
  constexpr size_t kHead = 12, kFoot = 4;
  while (!file.empty()) {
    ++read.lines;
    const bool headed = file.size() >= kHead + kFoot;
    const uint64_t length = headed ? little<uint64_t>(file.substr(0, 8)) : 0;
    if (!headed || length > file.size() - kHead - kFoot) {
      ++read.broken;
      read.faults.push_back({"event {}: the file ends within it", read.lines});
      return;
    }
    read_event(file.substr(kHead, length), numbers);
    file.remove_prefix(kHead + length + kFoot);
  }
}

// ---- Weights & Biases: Record { history 2 { item 1 { key 1, nested_key 2, value_json 16 }, step 2 { num 1 } } }

/// The number of an item under its name; a histogram, a picture or a text is none.
std::optional<double> read_item(std::string_view item, std::string& key) {
  key.clear();
  std::optional<double> number;
  for (WireMessage fields(item); const auto field = fields.next();) {
    if (field->kind != WireField::Bytes) continue;
    if (field->number == 1) key = field->bytes;
    if (field->number == 2) key += (key.empty() ? "" : ".") + std::string(field->bytes);
    if (field->number != 16) continue;
    const auto json = nlohmann::json::parse(field->bytes, nullptr, false);
    std::string_view word = field->bytes;
    if (word.size() > 1 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
    const bool not_finite = word == "NaN" || word == "Infinity" || word == "-Infinity";
    if (json.is_number())
      number = json.get<double>();
    else if (not_finite)
      number = NAN;
  }
  return number;
}

void read_history(std::string_view history, Numbers& numbers) {
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> items;
  std::string key;
  for (WireMessage fields(history); const auto field = fields.next();) {
    if (field->kind != WireField::Bytes) continue;
    if (field->number == 1) {
      if (const auto number = read_item(field->bytes, key)) items.emplace_back(key, *number);
    } else if (field->number == 2) {
      for (WireMessage inner(field->bytes); const auto of_step = inner.next();)
        if (of_step->number == 1) step = static_cast<int64_t>(of_step->value);
    }
  }
  for (const auto& [name, value] : items)
    if (name == "_step" && value >= 0 && value <= kMostSteps) step = static_cast<int64_t>(value);
  for (const auto& [name, value] : items) {
    if (name == "_timestamp") numbers.time(step, value);
    if (!name.starts_with('_')) numbers.add(step, name, value);
  }
}

/// Blocks of 32 KiB hold fragments: four bytes of a checksum, two of the length, one of the kind: whole, first, middle, last.
void read_wandb(std::string_view file, LinesRead& read, Numbers& numbers) {
  constexpr size_t kBlock = 32768, kHead = 7;
  std::string record;
  for (size_t at = kHead; at < file.size();) {
    const size_t left = kBlock - at % kBlock;
    if (left < kHead) {
      at += left;
      continue;
    }
    const std::string_view head = file.substr(at, kHead);
    const size_t length = head.size() < kHead ? kBlock : little<uint16_t>(head.substr(4));
    const int kind = head.size() < kHead ? 0 : head[6];
    if (kind < 1 || kind > 4 || at + kHead + length > file.size()) {
      if (kind == 0 && head.find_first_not_of('\0') == head.npos) return;  // room that was never used
      ++read.lines;
      ++read.broken;
      read.faults.push_back({"record {}: the file ends within it", read.lines});
      return;
    }
    if (kind == 1 || kind == 2) record.clear();
    record += file.substr(at + kHead, length);
    at += kHead + length;
    if (kind == 2 || kind == 3) continue;
    ++read.lines;
    const std::string whole = std::exchange(record, {});
    for (WireMessage fields(whole); const auto field = fields.next();)
      if (field->number == 2 && field->kind == WireField::Bytes) read_history(field->bytes, numbers);
  }
}

}  // namespace

bool is_event_file(std::string_view head) {
  return head.starts_with(kWandb) || (head.size() > 24 && head.substr(0, 64).find(kFirstEvent) != head.npos &&
                                      little<uint64_t>(head.substr(0, 8)) < 64);
}

void read_events(std::string_view file, const std::string& path, LinesRead& read,
                 const std::function<void(const LogStep&)>& add) {
  Numbers numbers(path);
  if (file.starts_with(kWandb))
    read_wandb(file, read, numbers);
  else
    read_tensorboard(file, read, numbers);
  numbers.give(add);
}

}  // namespace normscope::records
