#include "addons/published/training/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::published {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kMaxItems = 1'000'000, kMaxDimensions = 8, kLongestWord = 1000;
constexpr size_t kMaxNames = 100'000;
constexpr int kDeepest = 32;  // of modules or settings within each other
constexpr int64_t kMaxNumbers = int64_t{1} << 40;

struct StorageType {
  std::string_view name;
  TensorType type;
  size_t bytes;
};
constexpr StorageType kStorages[] = {
    {"FloatStorage", TensorType::F32, 4}, {"DoubleStorage", TensorType::F64, 8},
    {"HalfStorage", TensorType::F16, 2},  {"BFloat16Storage", TensorType::BF16, 2},
    {"LongStorage", TensorType::I64, 8},  {"IntStorage", TensorType::I32, 4},
    {"ShortStorage", TensorType::I16, 2}, {"CharStorage", TensorType::I8, 1},
    {"ByteStorage", TensorType::U8, 1},   {"BoolStorage", TensorType::BOOL, 1}};

// ---- zip: entries one after another, and at the end a list of them

using Entries = std::map<std::string, Bytes, std::less<>>;

constexpr uint32_t kEntryMark = 0x04034b50;

struct Directory {
  uint64_t entries = 0, at = 0;
};

Directory directory_of(Bytes file, const Message& where) {
  constexpr size_t kEnd = 22, kLocator = 20;
  constexpr uint32_t kEndMark = 0x06054b50, kLocatorMark = 0x07064b50;
  for (size_t back = kEnd; back <= file.size() && back <= kEnd + 65535; ++back) {
    Cursor end{file, where, file.size() - back};
    if (end.number<uint32_t>() != kEndMark) continue;
    end.bytes(6);
    Directory found{end.number<uint16_t>(), 0};
    end.bytes(4);
    found.at = end.number<uint32_t>();
    if (found.at != UINT32_MAX && found.entries != UINT16_MAX) return found;
    Cursor locator{file, where, file.size() - back - kLocator};  // larger than 4 GB
    if (locator.number<uint32_t>() != kLocatorMark) return found;
    locator.bytes(4);
    Cursor large{file, where, locator.number<uint64_t>()};
    large.bytes(32);
    found.entries = large.number<uint64_t>();
    large.bytes(8);
    found.at = large.number<uint64_t>();
    return found;
  }
  if (Cursor begin{file, where}; begin.number<uint32_t>() == kEntryMark)
    fail(where, "has no list of entries at its end (is it truncated?)");
  fail(where, "is nothing that torch.save writes");
}

/// An entry above 4 GB has its sizes and its offset in an extra field.
void read_large(Cursor extra, uint64_t& size, uint64_t& packed, uint64_t& at) {
  while (extra.at + 4 <= extra.all.size()) {
    const auto id = extra.number<uint16_t>(), length = extra.number<uint16_t>();
    if (id != 1) {
      extra.bytes(length);
      continue;
    }
    for (uint64_t* number : {&size, &packed, &at})
      if (*number == UINT32_MAX) *number = extra.number<uint64_t>();
    return;
  }
}

Entries entries_of(Bytes file, const Message& where) {
  const Directory directory = directory_of(file, where);
  if (directory.entries > kMaxItems) fail(where, "has more than {} entries", kMaxItems);
  Entries entries;
  Cursor list{file, where, directory.at};
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (list.number<uint32_t>() != 0x02014b50) fail(where, "has a broken list of entries");
    list.bytes(6);
    const auto method = list.number<uint16_t>();
    list.bytes(8);
    uint64_t packed = list.number<uint32_t>(), size = list.number<uint32_t>();
    const auto name_length = list.number<uint16_t>(), extra_length = list.number<uint16_t>(),
               note_length = list.number<uint16_t>();
    list.bytes(8);
    uint64_t at = list.number<uint32_t>();
    const std::string name(list.text(name_length));
    read_large({list.bytes(extra_length), where}, size, packed, at);
    list.bytes(note_length);
    if (method != 0 || packed != size)
      fail(where, "{} is compressed, as PyTorch does not write it", shown_text(name));
    Cursor local{file, where, at};
    if (local.number<uint32_t>() != kEntryMark) fail(where, "has a broken list of entries");
    local.bytes(22);
    const auto own_name = local.number<uint16_t>(), own_extra = local.number<uint16_t>();
    local.bytes(uint64_t{own_name} + own_extra);
    if (!entries.emplace(name.substr(name.find('/') + 1), local.bytes(size)).second)
      fail(where, "{} is there twice", shown_text(name));
  }
  return entries;
}

// ---- pickle: a stack of values

struct Value {
  enum class Kind : uint8_t {
    None,
    Flag,
    Number,
    Real,
    Text,
    List,
    Dict,
    Object,  // of a class that is not looked for
    Global,
    Storage,
    Tensor,
    Mark
  } kind = Kind::None;
  int64_t number = 0;  // of a Storage the place of its first number among those of its key
  double real = 0;
  std::string text;  // of a Global and of an Object's class "module.name"; of a Storage its key
  std::vector<Value*>
      items;  // of a Dict key and value in turn; of a Tensor its storage, offset, sizes and strides
  const Value* attributes = nullptr;  // of an Object: a Dict
};

/// What else stands in checkpoints, whose values no tensor has and no setting is.
constexpr std::string_view kOfNoTensor[] = {
    "__builtin__.set", "builtins.set",      "torch.device",
    "torch.Size",      "_codecs.encode",    "functools.partial",
    "re._compile",     "pathlib.PosixPath", "pathlib._local.PosixPath"};

class Pickle {
 public:
  Pickle(Bytes bytes, const Message& where, size_t begin = 0) : in_{bytes, where, begin}, where_(where) {}

  /// The value that the pickle ends with.
  const Value& run() {
    for (;;) {
      const auto code = in_.number<uint8_t>();
      if (code == '.') return *pop();
      step(code);
    }
  }
  size_t end() const { return in_.at; }
  const std::vector<const Value*>& storages() const { return storages_; }

 private:
  using Kind = Value::Kind;

  Value* make(Kind kind) {
    if (all_.size() == kMaxItems) fail(where_, "has more than {} values", kMaxItems);
    all_.emplace_back().kind = kind;
    return &all_.back();
  }
  Value* push(Value* value) {
    if (stack_.size() == kMaxItems) fail(where_, "has more than {} values", kMaxItems);
    stack_.push_back(value);
    return value;
  }
  void push_number(int64_t number) { push(make(Kind::Number))->number = number; }
  /// Cuts long texts: no name is long, and copies of a text could take any memory.
  static std::string_view short_text(std::string_view text) { return text.substr(0, kLongestWord); }
  std::string_view line() {
    const auto rest = in_.all.subspan(in_.at);
    const std::string_view found =
        in_.text(static_cast<size_t>(std::ranges::find(rest, '\n') - rest.begin()));
    in_.bytes(1);
    return short_text(found);
  }
  void push_text(std::string_view text) { push(make(Kind::Text))->text = short_text(text); }
  Value* pop() {
    if (stack_.empty()) fail(where_, "is a broken pickle");
    Value* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Value* top() {
    if (stack_.empty()) fail(where_, "is a broken pickle");
    return stack_.back();
  }
  std::vector<Value*> to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1]->kind != Kind::Mark) --mark;
    if (mark == 0) fail(where_, "is a broken pickle");
    const std::vector<Value*> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }
  void push_tuple(size_t count) {
    Value* tuple = make(Kind::List);
    for (size_t i = 0; i < count; ++i) tuple->items.insert(tuple->items.begin(), pop());
    push(tuple);
  }
  void add_items(Value* to, const std::vector<Value*>& items) {
    if (to->items.size() + items.size() > 2 * kMaxItems) fail(where_, "has more than {} values", kMaxItems);
    to->items.insert(to->items.end(), items.begin(), items.end());
  }
  void memorize(uint32_t at) {
    if (memo_.size() == kMaxItems) fail(where_, "has more than {} values", kMaxItems);
    memo_[at] = top();
  }
  void recall(uint32_t at) {
    const auto known = memo_.find(at);
    if (known == memo_.end()) fail(where_, "is a broken pickle");
    push(known->second);
  }

  [[noreturn]] void refuse(const Value& what) const {
    fail(where_, "asks for {}, which makes no tensor: nothing of it is run", shown_text(what.text));
  }

  void step(uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        in_.bytes(1);
        return;
      case 0x95:  // FRAME
        in_.bytes(8);
        return;
      case '(':
        push(make(Kind::Mark));
        return;
      case 'N':
        push(make(Kind::None));
        return;
      case 0x88:  // NEWTRUE
      case 0x89:
        push_number(code == 0x88);
        top()->kind = Kind::Flag;
        return;
      case 'K':
        return push_number(in_.number<uint8_t>());
      case 'M':
        return push_number(in_.number<uint16_t>());
      case 'J':
        return push_number(in_.number<int32_t>());
      case 0x8a: {  // LONG1
        const auto bytes = in_.number<uint8_t>();
        if (bytes > 8) fail(where_, "has a number of more than 64 bits");
        uint64_t number = 0;
        for (size_t i = 0; i < bytes; ++i) number |= uint64_t{in_.number<uint8_t>()} << (8 * i);
        return push_number(static_cast<int64_t>(number));
      }
      case 'G': {  // BINFLOAT: its highest byte first
        uint64_t bits = 0;
        for (const uint8_t byte : in_.bytes(8)) bits = bits << 8 | byte;
        push(make(Kind::Real))->real = std::bit_cast<double>(bits);
        return;
      }
      case 'X':
      case 'T':  // a text of Python 2
        return push_text(in_.text(in_.number<uint32_t>()));
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':
        return push_text(in_.text(in_.number<uint8_t>()));
      case 'c': {
        const std::string module(line());
        push(make(Kind::Global))->text = module + "." + std::string(line());
        return;
      }
      case 0x93: {  // STACK_GLOBAL
        const Value *name = pop(), *module = pop();
        if (name->kind != Kind::Text || module->kind != Kind::Text) fail(where_, "is a broken pickle");
        push(make(Kind::Global))->text = module->text + "." + name->text;
        return;
      }
      case ')':
      case ']':
        push(make(Kind::List));
        return;
      case '}':
        push(make(Kind::Dict));
        return;
      case 't': {
        Value* tuple = make(Kind::List);
        tuple->items = to_mark();
        push(tuple);
        return;
      }
      case 0x85:  // TUPLE1 to TUPLE3
      case 0x86:
      case 0x87:
        return push_tuple(code - 0x84u);
      case 'a': {
        Value* item = pop();
        return add_items(top(), {item});
      }
      case 's': {
        Value *value = pop(), *key = pop();
        return add_items(top(), {key, value});
      }
      case 'e':
      case 'u': {
        const std::vector<Value*> items = to_mark();
        return add_items(top(), items);
      }
      case 'b': {  // BUILD: attributes, of a Dict such as a state_dict's _metadata
        const Value* state = pop();
        top()->attributes = state;
        return;
      }
      case 'q':
        return memorize(in_.number<uint8_t>());
      case 'r':
        return memorize(in_.number<uint32_t>());
      case 0x94:  // MEMOIZE
        return memorize(static_cast<uint32_t>(memo_.size()));
      case 'h':
        return recall(in_.number<uint8_t>());
      case 'j':
        return recall(in_.number<uint32_t>());
      case 'Q':
        return load_storage();
      case 0x81: {  // NEWOBJ: nothing is made of its class
        pop();
        const Value* of = pop();
        push(make(Kind::Object))->text = of->text;
        return;
      }
      case 'R':
        return call();
      default:
        fail(where_, "asks for instruction {} of pickle, which no tensor needs", code);
    }
  }

  /// ("storage", torch.FloatStorage, key, device, numbers), before version 1.6 with the part of it that is meant:
  /// None, or (its own key, its first number, numbers). Of a whole model of that time also ("module", class, file, text).
  void load_storage() {
    const Value* id = pop();
    if (id->items.size() > 1 && id->items[0]->text == "module") {
      push(id->items[1]);
      return;
    }
    if (id->items.size() < 3 || id->items[0]->text != "storage") fail(where_, "is a broken pickle");
    Value* storage = make(Kind::Storage);
    storage->text = id->items[2]->text;
    storage->items = {id->items[1]};
    if (id->items.size() > 5 && id->items[5]->items.size() > 1)
      storage->number = id->items[5]->items[1]->number;
    storages_.push_back(push(storage));
  }

  void call() {
    const Value *arguments = pop(), *what = pop();
    const auto least = [&](size_t count) {
      if (arguments->items.size() < count) fail(where_, "is a broken pickle");
    };
    if (what->text == "collections.OrderedDict" || what->text == "collections.defaultdict") {
      push(make(Kind::Dict));
    } else if (std::ranges::find(kOfNoTensor, what->text) != std::end(kOfNoTensor)) {
      push(make(Kind::None));
    } else if (what->text == "torch._utils._rebuild_parameter" ||
               what->text == "torch._utils._rebuild_parameter_with_state") {
      least(1);
      push(arguments->items[0]);
    } else if (what->text == "torch._utils._rebuild_tensor_v2" ||
               what->text == "torch._utils._rebuild_tensor") {
      least(4);
      Value* tensor = make(Kind::Tensor);
      tensor->items.assign(arguments->items.begin(), arguments->items.begin() + 4);
      push(tensor);
    } else {
      refuse(*what);
    }
  }

  Cursor in_;
  const Message& where_;
  std::deque<Value> all_;
  std::vector<Value*> stack_;
  std::map<uint32_t, Value*> memo_;
  std::vector<const Value*> storages_;
};

// ---- tensors

using Storages = std::map<std::string, Bytes, std::less<>>;  // by their keys

const StorageType& type_of(const Value& storage, const std::string& name, const Message& where) {
  const std::string_view kind = storage.items.empty() ? "" : std::string_view(storage.items[0]->text);
  for (const StorageType& known : kStorages)
    if (kind == "torch." + std::string(known.name)) return known;
  fail(where, "{} is of {}: expected a storage of numbers", shown_text(name), shown_text(std::string(kind)));
}

/// A dimension of a tensor, and how far apart two of its numbers lie.
struct Dimension {
  int64_t size = 0, stride = 0;
};

std::vector<Dimension> dimensions_of(const Value& sizes, const Value& strides, const std::string& name,
                                     const Message& where) {
  if (sizes.items.size() > kMaxDimensions || sizes.items.size() != strides.items.size())
    fail(where, "{} has {} dimensions: expected at most {}", shown_text(name), sizes.items.size(),
         kMaxDimensions);
  std::vector<Dimension> all;
  int64_t count = 1;
  for (size_t i = 0; i < sizes.items.size(); ++i) {
    const Dimension one{sizes.items[i]->number, strides.items[i]->number};
    if (one.size < 0 || (one.size > 0 && count > kMaxNumbers / one.size))
      fail(where, "{} is too large", shown_text(name));
    if (one.size > 1 && (one.stride < 1 || one.stride > kMaxNumbers))
      fail(where, "{} repeats numbers: expected a tensor with a number for each place", shown_text(name));
    count *= one.size;
    all.push_back(one);
  }
  return all;
}

int64_t count_of(std::span<const Dimension> all) {
  int64_t count = 1;
  for (const Dimension& one : all) count *= one.size;
  return count;
}

bool lies_row_by_row(std::span<const Dimension> all) {
  int64_t count = 1;
  for (size_t i = all.size(); i-- > 0; count *= all[i].size)
    if (all[i].size > 1 && all[i].stride != count) return false;
  return true;
}

/// The numbers of a view, such as a transposed matrix, row by row.
std::vector<uint8_t> in_rows(Bytes from, std::span<const Dimension> all, size_t bytes) {
  std::vector<uint8_t> rows;
  rows.reserve(static_cast<size_t>(count_of(all)) * bytes);
  std::vector<int64_t> index(all.size());
  for (int64_t left = count_of(all); left > 0; --left) {
    size_t at = 0;
    for (size_t i = 0; i < all.size(); ++i) at += static_cast<size_t>(index[i] * all[i].stride);
    const Bytes number = from.subspan(at * bytes, bytes);
    rows.insert(rows.end(), number.begin(), number.end());
    for (size_t i = all.size(); i-- > 0 && ++index[i] == all[i].size;) index[i] = 0;
  }
  return rows;
}

WeightTensor tensor_of(const Value& value, const Storages& storages, const std::string& name,
                       const Message& where) {
  const Value& storage = *value.items[0];
  const StorageType& type = type_of(storage, name, where);
  const auto stored = storages.find(storage.text);
  if (stored == storages.end())
    fail(where, "{} lacks its numbers, data/{}", shown_text(name), shown_text(storage.text));
  const std::vector<Dimension> all = dimensions_of(*value.items[2], *value.items[3], name, where);
  const int64_t first = value.items[1]->number, before = storage.number, count = count_of(all);
  if (first < 0 || first > kMaxNumbers || before < 0 || before > kMaxNumbers)
    fail(where, "{} begins outside of its numbers", shown_text(name));
  int64_t last = count > 0 ? 1 : 0;  // one beyond
  for (const Dimension& one : all)
    if (count > 0 && one.size > 1) {
      if (one.stride > (kMaxNumbers - last) / (one.size - 1))
        fail(where, "{} is too large", shown_text(name));
      last += (one.size - 1) * one.stride;
    }
  WeightTensor tensor;
  for (const Dimension& one : all) tensor.shape.push_back(one.size);
  tensor.type = &number_type(type.type);
  tensor.bytes = Cursor{stored->second, where, static_cast<uint64_t>(before + first) * type.bytes}.bytes(
      static_cast<uint64_t>(last) * type.bytes);
  if (lies_row_by_row(all)) return tensor;
  if (count > last)
    fail(where, "{} repeats numbers: expected a tensor with a number for each place", shown_text(name));
  tensor.own = std::make_shared<const std::vector<uint8_t>>(in_rows(tensor.bytes, all, type.bytes));
  tensor.bytes = *tensor.own;
  return tensor;
}

using Named = std::vector<std::pair<std::string, const Value*>>;

const Value* member(const Value* of, std::string_view key) {
  for (size_t i = 0; of && i + 1 < of->items.size(); i += 2)
    if (of->items[i]->kind == Value::Kind::Text && of->items[i]->text == key) return of->items[i + 1];
  return nullptr;
}

void add_tensors(const Value& dict, const std::string& before, Named& to) {
  if (before.size() > kLongestWord) return;
  for (size_t i = 0; i + 1 < dict.items.size() && to.size() < kMaxNames; i += 2)
    if (dict.items[i]->kind == Value::Kind::Text && dict.items[i + 1]->kind == Value::Kind::Tensor)
      to.emplace_back(before + dict.items[i]->text, dict.items[i + 1]);
}

using Seen = std::set<const Value*>;  // each is read once, however often the file refers to it

/// Adds the parameters of a module that was saved whole, and of the modules in it.
void add_parameters(const Value& module, const std::string& before, Seen& seen, Named& to, int depth = 0) {
  const auto fresh = [&](const Value* dict) { return dict && seen.insert(dict).second; };
  if (depth > kDeepest || !fresh(module.attributes)) return;
  if (const Value* own = member(module.attributes, "_parameters"); fresh(own)) add_tensors(*own, before, to);
  const Value* parts = member(module.attributes, "_modules");
  if (!fresh(parts)) return;
  for (size_t i = 0; i + 1 < parts->items.size(); i += 2)
    add_parameters(*parts->items[i + 1], before + parts->items[i]->text + ".", seen, to, depth + 1);
}

Named tensors_in(const Value& value, Seen& seen) {
  Named names;
  if (value.kind == Value::Kind::Object)
    add_parameters(value, "", seen, names);
  else if (value.kind == Value::Kind::Dict && seen.insert(&value).second)
    add_tensors(value, "", names);
  return names;
}

/// The names with their tensors: the whole file, or, as in checkpoints of a training, the part of it with most of them
/// ("model", "state_dict").
struct Part {
  const Value* value;
  Named names;
};
Part named_tensors(const Value& all) {
  Seen seen;
  Part best{&all, tensors_in(all, seen)};
  for (size_t i = 0; all.kind == Value::Kind::Dict && i + 1 < all.items.size(); i += 2)
    if (Named names = tensors_in(*all.items[i + 1], seen); names.size() > best.names.size())
      best = {all.items[i + 1], std::move(names)};
  return best;
}

WeightTensors tensors_of(const Value& file, const Storages& storages, const std::string& name,
                         const Message& where) {
  WeightTensors tensors;
  const Named names = named_tensors(file).names;
  if (names.size() == kMaxNames) fail(where, "has more than {} values", kMaxNames);
  for (const auto& [key, value] : names) {
    WeightTensor tensor = tensor_of(*value, storages, key, where);
    tensor.file = name;
    tensors[key] = std::move(tensor);
  }
  if (tensors.empty()) fail(where, "holds no tensors under their names");
  return tensors;
}

// ---- what the file says of its model

/// A value as JSON, without what is no number, text or list of these; `room`: of how many values.
nlohmann::json json_of(const Value& value, size_t& room, int depth = 0) {
  using Kind = Value::Kind;
  if (room == 0 || depth > kDeepest) return nullptr;
  --room;
  if (value.kind == Kind::Flag) return value.number != 0;
  if (value.kind == Kind::Number) return value.number;
  if (value.kind == Kind::Real && !std::isfinite(value.real))  // as a text it is refused where it is read
    return fmt::format("{}", value.real);
  if (value.kind == Kind::Real) return value.real;
  if (value.kind == Kind::Text) return tokenizer::well_formed(value.text);
  if (value.kind == Kind::List) {
    nlohmann::json list = nlohmann::json::array();
    for (size_t i = 0; i < value.items.size() && room > 0; ++i)
      list.push_back(json_of(*value.items[i], room, depth + 1));
    return list;
  }
  if (value.kind == Kind::Object && value.attributes) return json_of(*value.attributes, room, depth + 1);
  if (value.kind != Kind::Dict) return nullptr;
  nlohmann::json dict = nlohmann::json::object();
  for (size_t i = 0; i + 1 < value.items.size() && room > 0; i += 2)
    if (value.items[i]->kind == Kind::Text)
      dict[tokenizer::well_formed(value.items[i]->text)] = json_of(*value.items[i + 1], room, depth + 1);
  return dict;
}

/// nanoGPT's `model_args`, or the attribute `config` of a model that was saved whole, of nanoGPT or of transformers.
std::string config_in(const Value& file, const Message& where) {
  const Value *model = named_tensors(file).value, *config = member(&file, "model_args");
  if (!config) {
    const Value* own = member(model->attributes, "config");
    config = own ? own->attributes : nullptr;
  }
  if (!config || config->kind != Value::Kind::Dict) return {};
  constexpr size_t kMost = 10'000;
  size_t room = kMost;
  nlohmann::json json = json_of(*config, room);
  if (room == 0) fail(where, "has more than {} values", kMost);
  json["architectures"] = {
      tokenizer::well_formed(model->text.substr(model->text.rfind('.') + 1))};  // the name of its class
  if (json.contains("block_size")) json["model_type"] = "nanogpt";
  return json.dump();
}

// ---- the container of before version 1.6: pickles one behind the other, then the numbers of each storage

/// The first pickle, a number that no other file begins with.
constexpr std::string_view kOlder("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);

bool is_older(Bytes file) {
  return file.size() >= kOlder.size() && std::ranges::equal(file.first(kOlder.size()), kOlder, {}, {},
                                                            [](char c) { return static_cast<uint8_t>(c); });
}

/// The values of a file, which outlive it with their numbers.
struct Opened {
  std::vector<std::unique_ptr<Pickle>> pickles;
  const Value* all = nullptr;
  Storages storages;

  const Value& run(Bytes bytes, const Message& where, size_t begin = 0) {
    return pickles.emplace_back(std::make_unique<Pickle>(bytes, where, begin))->run();
  }
  size_t end() const { return pickles.back()->end(); }
};

Opened open_older(Bytes bytes, const Message& where) {
  Opened opened;
  if (opened.run(bytes, where, kOlder.size()).number != 1001)
    fail(where, "is of an unknown version of torch.save");
  const Value& facts = opened.run(bytes, where, opened.end());
  for (size_t i = 0; i + 1 < facts.items.size(); i += 2)
    if (facts.items[i]->text == "little_endian" && facts.items[i + 1]->number == 0)
      fail(where, "is of a big-endian machine");
  opened.all = &opened.run(bytes, where, opened.end());
  std::map<std::string_view, const Value*> kinds;
  for (const Value* storage : opened.pickles.back()->storages()) kinds.emplace(storage->text, storage);
  const Value& keys = opened.run(bytes, where, opened.end());
  Cursor rest{bytes, where, opened.end()};
  for (const Value* key : keys.items) {
    const auto kind = kinds.find(key->text);
    if (kind == kinds.end()) fail(where, "has numbers that no tensor has, of {}", shown_text(key->text));
    const auto numbers = rest.number<uint64_t>();
    if (numbers > static_cast<uint64_t>(kMaxNumbers)) fail(where, "{} is too large", shown_text(key->text));
    opened.storages[key->text] = rest.bytes(numbers * type_of(*kind->second, key->text, where).bytes);
  }
  return opened;
}

Opened open(Bytes bytes, const Message& where) {
  if (is_older(bytes)) return open_older(bytes, where);
  const Entries entries = entries_of(bytes, where);
  const auto program = entries.find("data.pkl");
  if (program == entries.end()) fail(where, "has no data.pkl, as torch.save writes it");
  const auto order = entries.find("byteorder");
  if (order != entries.end() && !order->second.empty() && order->second[0] == 'b')
    fail(where, "is of a big-endian machine");
  constexpr std::string_view kData = "data/";
  Opened opened;
  for (const auto& [entry, numbers] : entries)
    if (entry.starts_with(kData)) opened.storages[entry.substr(kData.size())] = numbers;
  opened.all = &opened.run(program->second, where);
  return opened;
}

}  // namespace

bool is_torch_file(const std::string& path) {
  constexpr std::string_view kEndings[] = {".bin", ".ckpt", ".pt", ".pth"};
  const std::string ending = std::filesystem::path(path).extension().string();
  std::error_code none;
  if (std::ranges::find(kEndings, ending) == std::end(kEndings) ||
      !std::filesystem::is_regular_file(path, none))
    return false;
  InputFile file(path, input::kTorch);
  std::string head(kOlder.size(), '\0');
  head.resize(file.read_some(head.data(), head.size()));
  return head == kOlder || head.starts_with("PK\x03\x04");
}

WeightTensors tensors_of_torch(Bytes bytes, const std::string& name) {
  const Message where("torch {}", name);
  const Opened opened = open(bytes, where);
  return tensors_of(*opened.all, opened.storages, name, where);
}

std::string config_of_torch(Bytes bytes, const std::string& name) {
  const Message where("torch {}", name);
  return config_in(*open(bytes, where).all, where);
}

}  // namespace normscope::published
