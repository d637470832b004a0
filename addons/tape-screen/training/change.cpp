#include "addons/tape-screen/training/change.h"

#include <map>
#include <tuple>

#include "training/io/text.h"

namespace normscope {
namespace {

using Key = std::tuple<Phase, OpKind, std::string>;
Key key_of(const Instruction& i) { return {i.phase, i.op, i.name}; }

/// A program with its instructions by what names them.
struct NodeIndex {
  explicit NodeIndex(const ProgramData& data) : program(data) {
    for (size_t i = 0; i < data.instructions.size(); ++i)
      at.emplace(key_of(data.instructions[i]), static_cast<int32_t>(i));
  }
  int32_t find(const Instruction& i) const {
    const auto found = at.find(key_of(i));
    return found == at.end() ? -1 : found->second;
  }
  std::string name(ValueId v) const {
    return v == kNone ? "nothing" : program.values[static_cast<size_t>(v)].name;
  }
  Shape shape(ValueId v) const { return v == kNone ? Shape{} : program.values[static_cast<size_t>(v)].shape; }

  const ProgramData& program;
  std::map<Key, int32_t> at;
};

const char* word_of(Write write) {
  return write == Write::Skip ? "leaves out" : write == Write::Add ? "adds to" : "assigns";
}

/// How two instructions of one name differ; empty: they do not.
std::string difference(const NodeIndex& a, const Instruction& x, const NodeIndex& b, const Instruction& y) {
  std::vector<std::string> words;
  for (size_t k = 0; k < std::max(x.in.size(), y.in.size()); ++k) {
    const ValueId before = k < x.in.size() ? x.in[k] : kNone, after = k < y.in.size() ? y.in[k] : kNone;
    if (a.name(before) != b.name(after))
      words.push_back(fmt::format("reads {} for {}", b.name(after), a.name(before)));
    else if (!(a.shape(before) == b.shape(after)))
      words.push_back(fmt::format("reads {} {}, before {}", b.name(after), to_string(b.shape(after)),
                                  to_string(a.shape(before))));
  }
  if (!(a.shape(x.out) == b.shape(y.out)))
    words.push_back(
        fmt::format("yields {}, before {}", to_string(b.shape(y.out)), to_string(a.shape(x.out))));
  for (size_t k = 0; k < std::min(x.write.size(), y.write.size()); ++k)
    if (x.write[k] != y.write[k])
      words.push_back(fmt::format("{} the gradient of {}", word_of(y.write[k]), b.name(y.in[k])));
  if (!(x.attributes == y.attributes)) words.push_back("has other constants");
  return fmt::format("{}", fmt::join(words, "; "));
}

InstructionChange change_to(ChangeKind kind, const Instruction& i, int32_t before, int32_t after,
                            std::string words) {
  return {kind, i.phase, i.op, i.name, i.layer, before, after, std::move(words)};
}

}  // namespace

const char* to_string(ChangeKind kind) {
  constexpr const char* kNames[] = {"came", "went", "rewired"};
  return kNames[static_cast<int>(kind)];
}

ProgramChange change_of(const ProgramData& before, const ProgramData& after) {
  const NodeIndex a(before), b(after);
  ProgramChange result;
  std::multimap<int32_t, InstructionChange>
      behind;  // the instructions that went, by the later program's instruction that they followed
  int32_t last = -1;
  for (size_t i = 0; i < before.instructions.size(); ++i) {
    const Instruction& it = before.instructions[i];
    const int32_t there = b.find(it);
    if (there >= 0) {
      last = there;
      continue;
    }
    behind.emplace(last, change_to(ChangeKind::Went, it, static_cast<int32_t>(i), -1, {}));
    ++result.went;
  }
  const auto add_gone = [&](int32_t place) {
    const auto [first, end] = behind.equal_range(place);
    for (auto it = first; it != end; ++it) result.all.push_back(it->second);
  };
  add_gone(-1);
  for (size_t i = 0; i < after.instructions.size(); ++i) {
    const Instruction& it = after.instructions[i];
    const auto index = static_cast<int32_t>(i);
    const int32_t there = a.find(it);
    const std::string words =
        there < 0 ? "" : difference(a, before.instructions[static_cast<size_t>(there)], b, it);
    if (there < 0) {
      result.all.push_back(change_to(ChangeKind::Came, it, -1, index, {}));
      ++result.came;
    } else if (!words.empty()) {
      result.all.push_back(change_to(ChangeKind::Rewired, it, there, index, words));
      ++result.rewired;
    } else {
      ++result.same;
    }
    add_gone(index);
  }
  return result;
}

std::string to_string(const ProgramChange& change) {
  std::vector<std::vector<std::string>> rows;
  for (const InstructionChange& c : change.all)
    rows.push_back({to_string(c.kind), to_string(c.phase), to_string(c.op), c.name, c.words});
  return text_table(rows, "lllll") + fmt::format("{} came, {} went, {} rewired, {} the same\n", change.came,
                                                 change.went, change.rewired, change.same);
}

}  // namespace normscope
