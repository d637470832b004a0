#include "addons/recorded/training/event_file.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace normscope::records {
namespace {

constexpr size_t kMaxNumbers = 20'000'000;  // 12 bytes each
constexpr size_t kMaxTags = 20'000, kLongestTag = 1000, kLongestNumber = 64;
constexpr int32_t kTime = -1;     // in the place of a tag
constexpr double kLatest = 1e12;  // seconds
constexpr std::string_view kFirstEvent = "brain.Event:", kWandb = ":W&B", kStart = "\x08\x01";
constexpr size_t kTells = 64, kWandbHead = 7;        // bytes of a file's beginning
constexpr size_t kRecordHead = 12, kRecordFoot = 4;  // eight of the length and a checksum; a checksum
constexpr uint64_t kLongestRecord = uint64_t{64} << 20, kLongestFile = uint64_t{1} << 60;

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

  /// The next field; nothing at the end, or where the rest is not a field.
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
  Numbers(const std::string& path, LinesRead& read) : where_("events {}", path), read_(read) {}

  void require_room() const {
    if (all_.size() == kMaxNumbers)
      fail(where_, "has more than {} numbers: write fewer of its steps or names", kMaxNumbers);
  }
  void add(int64_t step, const std::string& tag, double value) {
    if (step < 0 || step > kMaxSteps) return;
    auto at = places_.find(tag);
    if (at == places_.end()) {
      if (places_.size() == kMaxTags || tag.size() > kLongestTag) return leave_out();
      at = places_.emplace(tag, static_cast<int32_t>(names_.size())).first;
      names_.push_back(scalar_name(at->first));
      const bool of_series = names_.back().of != Of::Tensor && names_.back().of != Of::Other;
      anew_ = (likeliest_.counts(names_.back()) && of_series) || anew_;
    }
    require_room();
    all_.push_back({static_cast<int32_t>(step), at->second, static_cast<float>(value)});
    last_ = std::max(last_, all_.back().step);
  }
  /// The time of a step, called after its first number.
  void time(int64_t step, double seconds) {
    if (all_.empty() || all_.back().step != step || timed_ == step || !(std::abs(seconds) < kLatest)) return;
    if (std::isnan(began_)) began_ = seconds + static_cast<double>(restarts_);
    require_room();
    timed_ = all_.back().step;
    all_.push_back({timed_, kTime, static_cast<float>(seconds - began_)});
  }
  /// The run was restarted at this step: steps from here on come once more. Its seconds begin anew, below all earlier
  /// ones, by which RunBuilder::measure_time() recognises another clock.
  void set_back(int64_t step) {
    began_ = NAN;
    ++restarts_;
    timed_ = -1;
    if (step > last_) return;
    last_ = static_cast<int32_t>(std::max<int64_t>(step, 0)) - 1;
    std::erase_if(all_, [this](const Number& number) { return number.step > last_; });
    given_ = 0;
    anew_ = true;
  }

  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) {
    const auto news = all_.begin() + static_cast<std::ptrdiff_t>(given_);
    std::ranges::stable_sort(news, all_.end(), {}, &Number::step);
    if (anew_ || (given_ > 0 && news != all_.end() && news->step < all_[given_ - 1].step)) {
      std::ranges::inplace_merge(all_, news, {}, &Number::step);
      given_ = 0;
      anew_ = false;
      anew();
    }
    LogStep step;
    std::vector<size_t> newest(names_.size());  // of a step's numbers, by tag: those before do not count
    for (size_t i = given_; i < all_.size();) {
      step.clear();
      step.step = all_[i].step;
      const size_t begin = i;
      for (; i < all_.size() && all_[i].step == step.step; ++i)
        if (all_[i].tag != kTime)
          newest[static_cast<size_t>(all_[i].tag)] = i;
        else if (!step.seconds)
          step.seconds = static_cast<double>(all_[i].value);
      for (size_t j = begin; j < i; ++j)
        if (const auto tag = static_cast<size_t>(all_[j].tag);
            all_[j].tag != kTime && newest[tag] == j && likeliest_.counts(names_[tag]))
          put(names_[tag], all_[j].value, step);
      add(step);
    }
    given_ = all_.size();
  }

 private:
  using Of = ScalarName::Of;

  void leave_out() {
    if (std::exchange(left_out_, true)) return;
    read_.faults.push_back({"event {}: names beyond the first {}, or of more than {} bytes, are left out",
                            read_.lines, kMaxTags, kLongestTag});
  }

  Message where_;
  LinesRead& read_;
  std::map<std::string, int32_t> places_;
  std::vector<ScalarName> names_;  ///< of tags, whose texts are in `places_`
  Likeliest likeliest_;
  std::vector<Number> all_;  ///< the first `given_` in ascending order of steps
  size_t given_ = 0;
  bool anew_ = false;  ///< the steps that were given do not hold any more
  bool left_out_ = false;
  int32_t last_ = -1;   ///< the highest step
  int32_t timed_ = -1;  ///< the one whose time was the last to be kept
  double began_ = NAN;  ///< the clock
  int32_t restarts_ = 0;
};

// ---- TensorBoard: Event { wall_time 1, step 2, summary 5 { value 1 { tag 1, simple_value 2, tensor 8 } }, session 7 {
// status 1 } }

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
  std::string_view summary, session;
  for (WireMessage fields(event); const auto field = fields.next();) {
    if (field->number == 1 && field->kind == WireField::Fixed64) time = little<double>(field->bytes);
    if (field->number == 2 && field->kind == WireField::Varint) step = static_cast<int64_t>(field->value);
    if (field->number == 5 && field->kind == WireField::Bytes) summary = field->bytes;
    if (field->number == 7 && field->kind == WireField::Bytes) session = field->bytes;
  }
  if (session == kStart) numbers.set_back(step);
  if (summary.empty()) return;
  for (WireMessage fields(summary); const auto field = fields.next();)
    if (field->number == 1 && field->kind == WireField::Bytes) read_value(field->bytes, step, numbers);
  numbers.time(step, time);
}

// ---- Weights & Biases: Record { history 2 { item 1 { key 1, nested_key 2, value_json 16 }, step 2 { num 1 } } }

/// The number of an item and its name `key`; nothing for a histogram, a picture or a text.
std::optional<double> read_item(std::string_view item, std::string& key) {
  key.clear();
  std::optional<double> number;
  for (WireMessage fields(item); const auto field = fields.next();) {
    if (field->kind != WireField::Bytes) continue;
    if (field->number == 1) key = field->bytes;
    if (field->number == 2) key += (key.empty() ? "" : ".") + std::string(field->bytes);
    if (field->number != 16 || field->bytes.size() > kLongestNumber) continue;
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
    if (name == "_step" && value >= 0 && value <= kMaxSteps) step = static_cast<int64_t>(value);
  for (const auto& [name, value] : items)
    if (!name.starts_with('_')) numbers.add(step, name, value);
  for (const auto& [name, value] : items)
    if (name == "_timestamp") numbers.time(step, value);
}

// ---- what both have in common

class Records : public EventReader {
 public:
  Records(std::string_view head, const std::string& path, LinesRead& lines)
      : numbers_(path, lines),
        read_(lines),
        wandb_(head.starts_with(kWandb)),
        pass_(wandb_ ? kWandbHead : 0) {}

  void take(std::string_view bytes) override {
    numbers_.require_room();
    waiting_ += bytes;
    size_t used = std::min<uint64_t>(pass_, waiting_.size());
    pass_ -= used;
    while (pass_ == 0 && !ended_) {
      const std::string_view rest = std::string_view(waiting_).substr(used);
      const uint64_t next = wandb_ ? fragment(rest, at_ + used) : record(rest);
      if (next == 0) break;
      used += std::min<uint64_t>(next, rest.size());
      pass_ = next - std::min<uint64_t>(next, rest.size());
    }
    if (ended_) used = waiting_.size();
    waiting_.erase(0, used);
    at_ += used;
  }

  void finish() override {
    if (ended_ || (pass_ == 0 && parts_.empty() && waiting_.find_first_not_of('\0') == waiting_.npos &&
                   (wandb_ || waiting_.empty())))
      return;  // of Weights & Biases zeros are room that was never used
    if (pass_ == 0 || wandb_) ++read_.lines;
    ends_within();
  }

  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) override {
    numbers_.give(anew, add);
  }

 private:
  void ends_within() {
    ended_ = true;
    ++read_.broken;
    read_.faults.push_back(wandb_ ? Message("record {}: the file ends within it", read_.lines)
                                  : Message("event {}: the file ends within it", read_.lines));
  }

  /// Reads a record and returns its bytes; 0: it is not complete yet. A record too long for a scalar is skipped.
  uint64_t record(std::string_view rest) {
    if (rest.size() < kRecordHead) return 0;
    const uint64_t length = std::min(little<uint64_t>(rest.substr(0, 8)), kLongestFile),
                   whole = kRecordHead + length + kRecordFoot;
    if (length <= kLongestRecord && whole > rest.size()) return 0;
    ++read_.lines;
    if (length <= kLongestRecord) read_event(rest.substr(kRecordHead, length), numbers_);
    return whole;
  }

  /// The same for blocks of 32 KiB that hold fragments: four bytes of a checksum, two of the length, one of the kind:
  /// whole, first, middle, last.
  uint64_t fragment(std::string_view rest, uint64_t place) {
    constexpr size_t kBlock = 32768, kHead = 7;
    const size_t left = kBlock - place % kBlock;
    if (left < kHead) return rest.size() < left ? 0 : left;
    if (rest.size() < kHead) return 0;
    const std::string_view head = rest.substr(0, kHead);
    const size_t length = little<uint16_t>(head.substr(4));
    const int kind = head[6];
    if (kind < 1 || kind > 4) {
      ended_ = true;
      if (kind == 0 && head.find_first_not_of('\0') == head.npos) return 0;  // room that was never used
      ++read_.lines;
      ends_within();
      return 0;
    }
    if (rest.size() < kHead + length) return 0;
    if (kind == 1 || kind == 2) parts_.clear();
    if (parts_.size() <= kLongestRecord) parts_ += rest.substr(kHead, length);
    if (kind == 1 || kind == 4) {
      ++read_.lines;
      const std::string whole = std::exchange(parts_, {});
      for (WireMessage fields(whole); const auto field = fields.next();)
        if (field->number == 2 && field->kind == WireField::Bytes) read_history(field->bytes, numbers_);
    }
    return kHead + length;
  }

  Numbers numbers_;
  LinesRead& read_;
  const bool wandb_;
  std::string waiting_;  ///< the beginning of a record
  std::string parts_;    ///< of a record of Weights & Biases
  uint64_t at_ = 0;      ///< where `waiting_` begins
  uint64_t pass_ = 0;    ///< bytes from there on that do not matter
  bool ended_ = false;   ///< nothing that follows can be read
};

// ---- what is written

/// CRC-32C (Castagnoli), masked as in TensorFlow.
uint32_t checksum(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
    }
    return table;
  }();
  uint32_t sum = ~0u;
  for (const char c : bytes) sum = kTable[(sum ^ static_cast<uint8_t>(c)) & 0xff] ^ sum >> 8;
  return std::rotr(~sum, 15) + 0xa282ead8u;
}

template <typename T>
std::string as_bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field(uint32_t number, WireField::Kind kind, std::string_view bytes) {
  return varint(number << 3 | kind) + (kind == WireField::Bytes ? varint(bytes.size()) : "") +
         std::string(bytes);
}

std::string record_of(int32_t step, const std::string& content) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const std::string event = field(1, WireField::Fixed64, as_bytes(now.count())) +
                            field(2, WireField::Varint, varint(static_cast<uint64_t>(step))) + content,
                    length = as_bytes<uint64_t>(event.size());
  return length + as_bytes(checksum(length)) + event + as_bytes(checksum(event));
}

}  // namespace

std::unique_ptr<EventReader> event_reader(std::string_view head, const std::string& path, LinesRead& read) {
  return std::make_unique<Records>(head, path, read);
}

// The first record has a length below 256, whose upper bytes are zero, and says its version within 64 bytes.
bool may_be_event_file(std::string_view head) {
  return head.size() < kTells &&
         (kWandb.starts_with(head) || head.empty() || head.substr(1, 7).find_first_not_of('\0') == head.npos);
}

bool is_event_file(std::string_view head) {
  return head.starts_with(kWandb) ||
         (head.substr(0, kTells).find(kFirstEvent) != head.npos && little<uint64_t>(head.substr(0, 8)) < 256);
}

std::string event_of(std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("step")) return "";
  std::string summary;
  const auto put = [&summary](const std::string& tag, const nlohmann::json& value) {
    if (!value.is_number() && !value.is_null()) return;
    const float number = value.is_null() ? NAN : value.get<float>();
    summary += field(1, WireField::Bytes,
                     field(1, WireField::Bytes, tag) + field(2, WireField::Fixed32, as_bytes(number)));
  };
  for (const auto& [key, value] : object.items()) {
    if (key == "step" || key == "seed") continue;
    put(key, value);
    if (!value.is_object()) continue;
    for (const auto& [name, inner] : value.items()) put(fmt::format("{}/{}", key, name), inner);
  }
  return record_of(object["step"].get<int32_t>(), field(5, WireField::Bytes, summary));
}

std::string first_event(int32_t steps) {
  return steps == 0 ? record_of(0, field(3, WireField::Bytes, fmt::format("{}2", kFirstEvent)))
                    : record_of(steps + 1, field(7, WireField::Bytes, kStart));
}

std::optional<uint64_t> end_of_events(InputFile& file) {
  constexpr size_t kAround = kRecordHead + kRecordFoot;
  if (file.size() == 0) return 0;
  std::array<char, kTells> head{};
  if (!is_event_file({head.data(), file.read_some(head.data(), head.size())}) || head[0] == kWandb[0])
    return std::nullopt;
  uint64_t end = 0;
  for (std::array<char, 8> bytes{}; end + kAround <= file.size();) {
    file.go_to(end);
    file.read(bytes.data(), bytes.size());
    const auto length = little<uint64_t>({bytes.data(), bytes.size()});
    if (length > file.size() - end - kAround) break;
    end += kAround + length;
  }
  return end;
}

}  // namespace normscope::records
