#include "addons/recorded/training/event_file.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "addons/recorded/training/step_numbers.h"
#include "addons/recorded/training/wire_message.h"

namespace normscope::records {
namespace {

constexpr size_t kLongestNumber = 64, kMaxSettings = 10'000;
constexpr std::string_view kFirstEvent = "brain.Event:", kWandb = ":W&B", kStart = "\x08\x01";
constexpr size_t kTells = 64, kWandbHead = 7;        // bytes of a file's beginning
constexpr size_t kRecordHead = 12, kRecordFoot = 4;  // eight of the length and a checksum; a checksum
constexpr uint64_t kLongestRecord = uint64_t{64} << 20, kLongestFile = uint64_t{1} << 60;

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

void read_value(std::string_view value, int64_t step, StepNumbers& numbers) {
  std::string tag;
  std::optional<double> number;
  for (WireMessage fields(value); const auto field = fields.next();) {
    if (field->number == 1 && field->kind == WireField::Bytes) tag = field->bytes;
    if (field->number == 2 && field->kind == WireField::Fixed32) number = little<float>(field->bytes);
    if (field->number == 8 && field->kind == WireField::Bytes) number = number_of_tensor(field->bytes);
  }
  if (number && !tag.empty()) numbers.add(step, tag, *number);
}

void read_event(std::string_view event, StepNumbers& numbers) {
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

// ---- Weights & Biases: Record { history 2, config 5, metric 12, run 17 }; a value of history or config is { key 1,
// nested_key 2, value_json 16 }

struct WandbItem {
  std::string name;  ///< of nested dictionaries "train/loss"
  std::string_view json;
};
WandbItem wandb_item(std::string_view bytes) {
  WandbItem item;
  for (WireMessage fields(bytes); const auto field = fields.next();) {
    if (field->has_bytes(1)) item.name = field->bytes;
    if (field->has_bytes(2)) item.name += (item.name.empty() ? "" : "/") + std::string(field->bytes);
    if (field->has_bytes(16)) item.json = field->bytes;
  }
  return item;
}

/// Nothing for a histogram, a picture or a text.
std::optional<double> wandb_number(std::string_view json) {
  if (json.size() > kLongestNumber) return {};
  const auto value = nlohmann::json::parse(json, nullptr, false);
  if (value.is_number()) return value.get<double>();
  if (json.size() > 1 && json.front() == '"' && json.back() == '"') json = json.substr(1, json.size() - 2);
  if (json == "NaN" || json == "Infinity" || json == "-Infinity") return NAN;
  return {};
}

/// Adds a setting; of an object its members, as "model.layers".
void add_settings(const std::string& name, std::string_view json,
                  std::vector<std::pair<std::string, std::string>>& settings) try {
  std::deque<std::pair<std::string, InputValue>> waiting{{name, InputValue::parse(json, "")}};
  for (; !waiting.empty() && settings.size() < kMaxSettings; waiting.pop_front()) {
    const auto& [key, value] = waiting.front();
    if (value.is_object())
      for (auto& [inner, of_inner] : value.members(kMaxSettings))
        waiting.emplace_back(key + "." + inner, std::move(of_inner));
    else if (!value.is_null())
      settings.emplace_back(key,
                            value.is_list() ? value.json_text(kLongestText) : value.scalar(kLongestText));
  }
} catch (const Error&) {  // too long for a setting, or Python's Infinity
}

/// A run of Weights & Biases: its numbers, and what it says of itself.
class WandbRun {
 public:
  explicit WandbRun(StepNumbers& numbers) : numbers_(numbers) {}

  void take(std::string_view record) {
    for (WireMessage fields(record); const auto field = fields.next();) {
      if (field->has_bytes(2)) take_history(field->bytes);
      if (field->has_bytes(5)) take_config(field->bytes);
      if (field->has_bytes(12)) take_metric(field->bytes);
      if (field->has_bytes(17)) take_run(field->bytes);
    }
  }
  const LogAbout& about() const { return about_; }

 private:
  void take_history(std::string_view history);
  void take_config(std::string_view config);
  void take_metric(std::string_view metric);
  void take_run(std::string_view run);
  int64_t step_of(std::span<const std::pair<std::string, double>> items, int64_t call);

  StepNumbers& numbers_;
  LogAbout about_;
  std::string step_metric_;             ///< declared by the run; empty: none is
  std::optional<int64_t> metric_step_;  ///< its last value
  bool not_whole_ = false;              ///< and it is no step
};

// MetricRecord { name 1, glob_name 2, step_metric 4 }. The step of the loss is the run's; a glob ends with its "*".
void WandbRun::take_metric(std::string_view metric) {
  std::string_view name, glob, step;
  for (WireMessage fields(metric); const auto field = fields.next();) {
    if (field->has_bytes(1)) name = field->bytes;
    if (field->has_bytes(2)) glob = field->bytes;
    if (field->has_bytes(4)) step = field->bytes;
  }
  const bool of_loss = numbers_.known().name(name).of == ScalarName::Of::Loss ||
                       (glob.ends_with('*') && some_name_of_loss(glob.substr(0, glob.size() - 1)));
  if (of_loss && !step.empty()) step_metric_ = step;
}

// RunRecord { config 4, display_name 8 }
void WandbRun::take_run(std::string_view run) {
  for (WireMessage fields(run); const auto field = fields.next();) {
    if (field->has_bytes(4)) take_config(field->bytes);
    if (field->has_bytes(8)) about_.name = one_line(field->bytes);
  }
}

// ConfigRecord { update 1 }. Its own entry is "_wandb".
void WandbRun::take_config(std::string_view config) {
  for (WireMessage fields(config); const auto field = fields.next();) {
    if (!field->has_bytes(1)) continue;
    const WandbItem item = wandb_item(field->bytes);
    if (!item.name.starts_with('_')) add_settings(item.name, item.json, about_.settings);
  }
}

/// What the run declares is the step; Weights & Biases counts its own by the calls that logged.
int64_t WandbRun::step_of(std::span<const std::pair<std::string, double>> items, int64_t call) {
  const auto value_of = [&](std::string_view name) {
    const auto at = std::ranges::find(items, name, &std::pair<std::string, double>::first);
    return at == items.end() ? std::optional<double>() : at->second;
  };
  for (const std::string_view name : kDeclaredSteps)
    if (step_metric_.empty() && value_of(name)) step_metric_ = name;
  if (const auto value = value_of(step_metric_); value && !step_metric_.empty() && !not_whole_) {
    const bool whole = std::abs(*value) < 1e15 && *value == std::floor(*value);
    if (whole) return *(metric_step_ = static_cast<int64_t>(*value));
    not_whole_ = true;
    numbers_.note({"its step, {}, is {}, which is no whole number: the numbers of the calls count instead",
                   shown_text(step_metric_), *value});
  }
  if (metric_step_ && !not_whole_) return *metric_step_;
  const double own = value_of("_step").value_or(NAN);
  return std::abs(own) < 1e15 ? static_cast<int64_t>(own) : call;
}

// HistoryRecord { item 1, step 2 { num 1 } }
void WandbRun::take_history(std::string_view history) {
  int64_t call = 0;
  std::vector<std::pair<std::string, double>> items;
  for (WireMessage fields(history); const auto field = fields.next();) {
    if (field->has_bytes(1)) {
      WandbItem item = wandb_item(field->bytes);
      if (const auto number = wandb_number(item.json)) items.emplace_back(std::move(item.name), *number);
    } else if (field->has_bytes(2)) {
      for (WireMessage inner(field->bytes); const auto of_step = inner.next();)
        if (of_step->number == 1) call = static_cast<int64_t>(of_step->value);
    }
  }
  const int64_t step = step_of(items, call);
  for (const auto& [name, value] : items)
    if (!name.starts_with('_') && name != step_metric_) numbers_.add(step, name, value);
  for (const auto& [name, value] : items)
    if (name == "_timestamp") numbers_.time(step, value);
}

// ---- what both have in common

/// CRC-32 by a polynomial in reversed bits.
template <uint32_t kPolynomial>
uint32_t crc(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? kPolynomial : 0);
    }
    return table;
  }();
  uint32_t sum = ~0u;
  for (const char c : bytes) sum = kTable[(sum ^ static_cast<uint8_t>(c)) & 0xff] ^ sum >> 8;
  return ~sum;
}

class Records : public ForeignReader {
 public:
  Records(std::string_view head, const LogFile& file)
      : wandb_(head.starts_with(kWandb)),
        numbers_(file, wandb_ ? StepNumbers::Part::Record : StepNumbers::Part::Event),
        wandb_run_(numbers_),
        read_(file.read),
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
    if (ended_ || (pass_ == 0 && !within_ && waiting_.find_first_not_of('\0') == waiting_.npos &&
                   (wandb_ || waiting_.empty())))
      return;  // of Weights & Biases zeros are room that was never used
    if (pass_ == 0 || wandb_) ++read_.lines;
    ended_ = true;
    numbers_.broken("the file ends within it");
  }

  void next_file() override {
    finish();
    waiting_.clear();
    parts_.clear();
    at_ = 0;
    pass_ = wandb_ ? kWandbHead : 0;
    within_ = ended_ = false;
    numbers_.begin_session();
  }

  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) override {
    numbers_.give(anew, add);
  }
  const LogAbout& about() const override { return wandb_run_.about(); }

 private:
  /// Reads a record and returns its bytes; 0: it is not complete yet. A record too long for a scalar is skipped.
  uint64_t record(std::string_view rest) {
    if (rest.size() < kRecordHead) return 0;
    if (checksum(rest.substr(0, 8)) != little<uint32_t>(rest.substr(8, 4))) {
      ++read_.lines;
      ended_ = true;
      numbers_.broken("its length is damaged, by its checksum, so that nothing behind it can be read");
      return 0;
    }
    const uint64_t length = std::min(little<uint64_t>(rest.substr(0, 8)), kLongestFile),
                   whole = kRecordHead + length + kRecordFoot;
    if (length <= kLongestRecord && whole > rest.size()) return 0;
    ++read_.lines;
    if (length > kLongestRecord) return whole;
    const std::string_view event = rest.substr(kRecordHead, length);
    if (checksum(event) == little<uint32_t>(rest.substr(kRecordHead + length, kRecordFoot)))
      read_event(event, numbers_);
    else
      numbers_.broken("it is damaged, by its checksum");
    return whole;
  }

  /// The same for blocks of 32 KiB that hold fragments: four bytes of a checksum, two of the length, one of the kind:
  /// whole, first, middle, last. Behind a fragment whose length is damaged the next block can be read.
  uint64_t fragment(std::string_view rest, uint64_t place) {
    constexpr size_t kBlock = 32768, kHead = 7;
    constexpr uint32_t kZlib = 0xedb88320u;
    const size_t left = kBlock - place % kBlock;
    if (left < kHead) return rest.size() < left ? 0 : left;
    if (rest.size() < kHead) return 0;
    const std::string_view head = rest.substr(0, kHead);
    const size_t length = little<uint16_t>(head.substr(4));
    const int kind = head[6];
    if (head.find_first_not_of('\0') == head.npos) {  // room that was never used
      ended_ = true;
      return 0;
    }
    if (kind < 1 || kind > 4 || kHead + length > left) {
      damaged();
      return left;
    }
    if (rest.size() < kHead + length) return 0;
    if (crc<kZlib>(rest.substr(6, length + 1)) != little<uint32_t>(head))
      damaged();
    else
      take_part(kind, rest.substr(kHead, length));
    return kHead + length;
  }

  void damaged() {
    ++read_.lines;
    within_ = false;
    numbers_.broken("it is damaged, by its checksum");
  }

  void take_part(int kind, std::string_view part) {
    const bool first = kind <= 2, last = kind == 1 || kind == 4;
    if (first) parts_.clear();
    if (!first && !within_) return;  // of a record that is damaged
    within_ = !last;
    if (parts_.size() <= kLongestRecord) parts_ += part;
    if (!last) return;
    ++read_.lines;
    wandb_run_.take(std::exchange(parts_, {}));
  }

  const bool wandb_;
  StepNumbers numbers_;
  WandbRun wandb_run_;
  LinesRead& read_;
  std::string waiting_;  ///< the beginning of a record
  std::string parts_;    ///< of a record of Weights & Biases
  bool within_ = false;  ///< its last part is still to come
  uint64_t at_ = 0;      ///< where `waiting_` begins
  uint64_t pass_ = 0;    ///< bytes from there on that do not matter
  bool ended_ = false;   ///< nothing that follows can be read
};

// ---- what is written

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

// CRC-32C (Castagnoli), masked as in TensorFlow.
uint32_t checksum(std::string_view bytes) { return std::rotr(crc<0x82f63b78u>(bytes), 15) + 0xa282ead8u; }

std::unique_ptr<ForeignReader> event_reader(std::string_view head, const LogFile& file) {
  return std::make_unique<Records>(head, file);
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
