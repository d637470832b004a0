// Phase one: recording. A `Tape` is plain data: values (name, shape, role) and nodes (op, inputs, output, saved) in
// the order of recording. That order is topological because a node can only name existing values. Nothing is computed
// here. The functions that record nodes are in ops/ops.h; tape/seal.h turns a Tape into a Program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/initial_values.h"
#include "engine/core/shape.h"
#include "engine/ops/registry.h"
#include "engine/tape/step_inputs.h"

namespace normscope {

/// The index of a value, and the number of the tape that recorded it. An index alone is taken for any tape's.
struct ValueId {
  int32_t index = -1;
  uint32_t tape = 0;  ///< 0: not known

  constexpr ValueId() = default;
  constexpr ValueId(int32_t of, uint32_t on = 0) : index(of), tape(on) {}  // NOLINT: implicit on purpose
  constexpr operator int32_t() const { return index; }                     // NOLINT: likewise
};
inline constexpr ValueId kNone{};

enum class Role : uint8_t {
  Input,       ///< part of the batch: tokens, targets, weights or lengths, filled before each replay
  Parameter,   ///< lives in the Store
  Activation,  ///< output of a node
  Saved,       ///< second output of a node that its backward reads (statistics, probabilities)
};

struct ValueInfo {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Role role = Role::Activation;
  int32_t parameter = -1;  ///< index in the Store when role == Parameter
  int32_t node = -1;       ///< index of the node that writes it, or -1
  bool gradient = false;   ///< of an input: InputOptions::gradient
};

struct InputOptions {
  bool gradient = false;  ///< backward computes its gradient as it does a parameter's; for reals alone
};

struct Node {
  OpKind op = OpKind::Count;
  std::string name = {};
  int32_t layer = 0;             ///< 1-based layer, 0 outside the layers: lets a UI group nodes
  std::vector<ValueId> in = {};  ///< positional; an absent optional input is kNone
  ValueId out = kNone;
  std::vector<ValueId> saved = {};
  Attributes attributes = {};  ///< its op's: ops/ops.h
  uint32_t site = 0;           ///< for its random numbers: site_of(name); 0: it draws none
};

/// Asks for a measurement: its number appears in the stats block after every replay.
struct ProbeRequest {
  std::string name;            ///< "L03.attn.out.mean_square"
  Attributes attributes = {};  ///< the measure: ops/ops.h; none: the mean
  ValueId value = kNone;
  bool of_gradient = false;
  int32_t layer = 0;
  ValueId lengths = kNone;  ///< i32 (B): of value (B,T,..) only the first lengths[b] positions of row b count
};

class Store;

/// Tape::scope: ends with the block that it stands in.
class Scope {
 public:
  Scope(std::shared_ptr<std::string> prefix, std::string inner);
  ~Scope() { *prefix_ = outer_; }
  Scope(const Scope&) = delete;

 private:
  std::shared_ptr<std::string> prefix_;  // the tape's, which may be moved meanwhile
  std::string outer_;
};

class Tape {
 public:
  explicit Tape(Store& store);
  Tape(Tape&&) noexcept = default;
  Tape& operator=(Tape&&) noexcept = default;
  /// An exception that ends the scope of a tape takes back what was declared in its Store for this tape.
  ~Tape();

  /// Puts NAME. before every name that is given to the tape while the Scope lives, within the scopes that live already:
  /// `const auto in = tape.scope("L01");` makes L01.fc.w of fc.w. A name that begins with / is taken as it is, without the
  /// slash: for a parameter that several layers share.
  [[nodiscard]] Scope scope(std::string_view name);
  /// A name as the scopes make it.
  std::string named(std::string_view name) const;
  /// Store::declare in the scope.
  int32_t declare(std::string_view name, Shape shape, Init init, bool trainable = true);
  ValueId input(std::string name, Shape shape, DType dtype = DType::F32, InputOptions options = {});
  /// The Store's parameter of that name (declared there before); the same name gives the same value.
  ValueId parameter(const std::string& name);
  ValueId add_value(ValueInfo info);
  /// Begins a node. Throws Error when the number of inputs differs from the registry, or when an input is not on this
  /// tape or of the wrong type, so that whoever records the node may read the shapes of all inputs.
  Node node(OpKind op, const std::string& name, std::vector<ValueId> in, Attributes attributes = {}) const;
  /// Appends the node, creates its output (shape `out`) and saved values, and returns the output. Throws Error as
  /// node() does, for a shape without numbers, and when the name is taken.
  ValueId add_node(Node node, Shape out, std::vector<std::pair<std::string, Shape>> saved = {});
  void probe(ProbeRequest request);
  /// Adds an instruction after the optimizer's update, in order of the calls. Programs without an update omit it.
  void after_update(Node node);
  void set_layer(int32_t layer) { layer_ = layer; }

  /// Throws, at `where` of `what`, for kNone and for a value of another tape.
  const ValueInfo& value(ValueId v, std::string_view where = "tape", std::string_view what = "it") const {
    if (!holds(v)) refuse(v, where, what);
    return values_[static_cast<size_t>(v)];
  }
  const Shape& shape(ValueId v, std::string_view where = "tape", std::string_view what = "it") const {
    return value(v, where, what).shape;
  }
  const std::vector<ValueInfo>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ProbeRequest>& probes() const { return probes_; }
  const std::vector<Node>& after_update() const { return after_update_; }
  /// The value with that name, or kNone.
  ValueId find(std::string_view name) const;
  Store& store() const;
  uint32_t number() const { return number_; }

 private:
  friend class TakesBack;
  bool holds(ValueId v) const {
    return v >= 0 && static_cast<size_t>(v) < values_.size() && (v.tape == 0 || v.tape == number_);
  }
  [[noreturn]] void refuse(ValueId v, std::string_view where, std::string_view what) const;
  void check_inputs(const Node& node) const;
  void check_parts(const Node& node, const Shape& out) const;

  std::shared_ptr<Store> store_;  // shares the data of the Store that the tape was made for
  uint32_t number_;
  size_t declared_before_;  // by others
  int exceptions_;          // in flight when it was made
  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<ProbeRequest> probes_;
  std::vector<Node> after_update_;
  int32_t layer_ = 0;
  std::shared_ptr<std::string> prefix_;  // of the scope: empty, or with a dot at its end
};

/// Takes back what was declared and named for a tape within a scope that an exception ends.
class TakesBack {
 public:
  explicit TakesBack(Tape& tape);
  ~TakesBack();
  TakesBack(const TakesBack&) = delete;

 private:
  Tape& tape_;
  size_t values_, declared_;
  int exceptions_;
};

}  // namespace normscope
