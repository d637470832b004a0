#include "engine/ops/registry.h"

#include <atomic>
#include <mutex>
#include <string>

#include "engine/core/error.h"

namespace normscope {
namespace {

/// The ops of one's own, newest first. An entry never changes and is never freed, so that whoever follows the list
/// needs no lock.
struct Entry {
  std::string name;  // which op.traits shows
  OpKind kind;
  OwnOp op;
  const Entry* older;
};
constinit std::atomic<const Entry*> newest = nullptr;
constinit std::mutex adding;

const Entry* find_entry(OpKind kind) {
  const Entry* entry = newest.load(std::memory_order_acquire);
  while (entry && entry->kind != kind) entry = entry->older;
  return entry;
}

/// Whether nodes of both are checked and differentiated alike. Functions are not compared: a function of a header has
/// an address in each file.
bool same(const OpTraits& a, const OpTraits& b) {
  return a.inputs == b.inputs && a.optional == b.optional && a.integers == b.integers &&
         a.constants == b.constants && a.differentiable == b.differentiable && a.parts == b.parts;
}

}  // namespace

OpKind add_op(const OwnOp& op) {
  const std::string name = op.traits.name ? op.traits.name : "";
  if (name.empty()) fail("add_op", "the op has no name: expected one such as scale_by");
  if (!op.kernels)
    fail("add_op", "{} has no kernels: expected what elementwise_op, row_op or whole_op makes", name);
  for (const OpTraits& known : kOpTraits)
    if (name == known.name) fail("add_op", "the engine has an op {}: expected a name of its own", name);

  const OpKind kind = op_kind(name);
  const std::lock_guard lock(adding);
  if (const Entry* known = find_entry(kind)) {
    if (known->name != name)
      fail("add_op", "{} and {} have the same number: expected another name", name, known->name);
    if (!same(known->op.traits, op.traits))
      fail("add_op", "another op {} was added before: expected a name of its own", name);
    return kind;
  }
  auto* entry = new Entry{name, kind, op, newest.load(std::memory_order_relaxed)};
  entry->op.traits.name = entry->name.c_str();
  newest.store(entry, std::memory_order_release);
  return kind;
}

const OwnOp* find_own_op(OpKind op) {
  const Entry* entry = is_own(op) ? find_entry(op) : nullptr;
  return entry ? &entry->op : nullptr;
}

const OpTraits& own_traits(OpKind op) {
  const OwnOp* own = find_own_op(op);
  return own ? own->traits : traits_of(kNoOp);
}

}  // namespace normscope
