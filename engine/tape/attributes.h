// The structural constants of a node, carried from recording to execution.
#pragma once

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "engine/ops/registry.h"

namespace normscope {

/// `Attributes` hold a small plain struct that belongs to its op and names it as kOp. Seal freezes them, and the core
/// only carries them. A node without constants has the defaults.
class Attributes {
 public:
  Attributes() = default;
  template <class Spec>
  Attributes(const Spec& spec)
      : op_(Spec::kOp), equal_(&Attributes::equal<Spec>) {  // NOLINT: implicit on purpose
    static_assert(sizeof(Spec) <= sizeof bytes_ && std::is_trivially_copyable_v<Spec>);
    std::memcpy(bytes_, &spec, sizeof spec);
  }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.op_ == b.op_ && (a.op_ == OpKind::Count || a.equal_(a, b));
  }
  template <class Spec>
  Spec as() const {
    if (op_ == OpKind::Count) return {};
    if (op_ != Spec::kOp) std::abort();  // an op read another's constants
    Spec spec;
    std::memcpy(&spec, bytes_, sizeof spec);
    return spec;
  }

 private:
  /// Compares the constants as they compare themselves: bytes of padding mean nothing.
  template <class Spec>
  static bool equal(const Attributes& a, const Attributes& b) {
    return a.as<Spec>() == b.as<Spec>();
  }

  OpKind op_ = OpKind::Count;
  bool (*equal_)(const Attributes&, const Attributes&) = nullptr;
  alignas(8) unsigned char bytes_[24] = {};
};

}  // namespace normscope
