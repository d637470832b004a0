// Holds parameters and optimizer state, keyed by name. Train, eval and measurement programs of one run share its memory
// and own only what one step computes. Life: declare() while recording, then materialize() once (allocates), then
// read/write/programs. Tapes and programs share the data and the backend of their Store, and the Store its backend: each
// may be moved or destroyed in any order.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/initial_values.h"
#include "engine/core/shape.h"
#include "engine/tape/step_inputs.h"

namespace normscope {

class Backend;
class Memory;

struct ParameterInfo {
  std::string name;
  Shape shape;
  Init init;
  bool trainable = true;
  int32_t layer = 0;
  bool hidden = false;  ///< a matrix from hidden states to hidden states
  StepScale steps = {};
  uint32_t tape = 0;  ///< the number of the tape that names it; 0: none yet, kManyTapes: more than one
  size_t offset = 0;  ///< in floats, the same in the value, moment and gradient blocks; 64-byte aligned
};

inline constexpr uint32_t kManyTapes = ~uint32_t{0};

class Store {
 public:
  explicit Store(Backend& backend);
  Store(Store&&) noexcept = default;
  Store& operator=(Store&&) noexcept = default;
  /// Another handle on the same data, which lives as long as any of them.
  std::shared_ptr<Store> share() const;

  /// Idempotent for an equal shape; throws when the name exists with another shape. Only before materialize().
  int32_t declare(const std::string& name, Shape shape, Init init, bool trainable = true, int32_t layer = 0);
  /// Marks a declared parameter as a matrix between hidden states.
  void mark_hidden(std::string_view name);
  /// Sets the factors of a declared parameter's update steps.
  void scale_steps(std::string_view name, const StepScale& by);
  /// Allocates values, m and v, fills the values according to Init with Philox(seed, site_of(name)), zeroes m and v.
  void materialize(uint64_t seed);
  /// Leaves that to seal(), which does it for the first program.
  void materialize_at_seal(uint64_t seed) { data().seed_at_seal = seed; }
  std::optional<uint64_t> seed_at_seal() const { return data().seed_at_seal; }
  /// For weights that the caller writes next and does not train: allocates no m and no v, and fills only the
  /// parameters that are not trainable.
  void materialize_values();
  bool materialized() const { return data().values != nullptr; }
  bool has_moments() const { return data().m != nullptr; }

  int32_t find(std::string_view name) const;  ///< -1 when absent
  /// How many updates Program::replay(rule) has made, by any program of this Store; set_steps continues from saved
  /// values and moments.
  uint32_t steps() const { return data().steps; }
  void set_steps(uint32_t steps) { data().steps = steps; }
  const std::vector<ParameterInfo>& parameters() const { return data().parameters; }
  const ParameterInfo& at(int32_t parameter) const;  ///< throws for an index that no parameter has
  size_t size() const { return data().size; }        ///< floats in one block, padding included

  enum class Block : uint8_t { Value, M, V };
  std::vector<float> read(int32_t parameter, Block block = Block::Value) const;
  void read_part(int32_t parameter, size_t first, std::span<float> to) const;  ///< values from `first` on
  void write(int32_t parameter, std::span<const float> values, Block block = Block::Value);
  /// A copy with its own memory (perturbation, fork).
  Store clone() const { return clone(backend()); }
  Store clone(Backend& on) const;  ///< in another backend's memory

  Backend& backend() const { return *data().backend; }
  Memory& block(Block block) const;

  /// Notes that a tape names a parameter, and takes back the last parameters, down to `first`, that at most that tape
  /// names; not once there is memory.
  void name_for(int32_t parameter, uint32_t tape);
  void take_back(size_t first, uint32_t tape);

 private:
  struct Data {
    std::shared_ptr<Backend> backend;  // outlives the memory
    std::vector<ParameterInfo> parameters;
    std::unordered_map<std::string, int32_t> by_name;
    size_t size = 0;
    uint32_t steps = 0;
    std::optional<uint64_t> seed_at_seal;
    std::unique_ptr<Memory> values, m, v;
  };
  explicit Store(std::shared_ptr<Data> data) : data_(std::move(data)) {}
  Data& data() const {
    if (!data_) refuse_moved();
    return *data_;
  }
  [[noreturn]] static void refuse_moved();

  std::shared_ptr<Data> data_;
};

}  // namespace normscope
