// Holds parameters and optimizer state, keyed by name. It outlives the Programs sealed over it: train, eval
// and measurement programs of one run share its memory and own only what one step computes. Life: declare() while
// recording, then materialize() once (allocates), then read/write/programs.
#pragma once

#include <memory>
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
  size_t offset = 0;  ///< in floats, the same in the value, moment and gradient blocks; 64-byte aligned
};

class Store {
 public:
  explicit Store(Backend& backend);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Idempotent for an equal shape; throws when the name exists with another shape. Only before materialize().
  int32_t declare(const std::string& name, Shape shape, Init init, bool trainable = true, int32_t layer = 0);
  /// Marks a declared parameter as a matrix between hidden states.
  void mark_hidden(std::string_view name);
  /// Sets the factors of a declared parameter's update steps.
  void scale_steps(std::string_view name, const StepScale& by);
  /// Allocates values, m and v, fills the values according to Init with Philox(seed, site_of(name)), zeroes m and v.
  void materialize(uint64_t seed);
  /// For weights that the caller writes next and does not train: allocates no m and no v, and fills only the
  /// parameters that are not trainable.
  void materialize_values();
  bool materialized() const { return values_ != nullptr; }
  bool has_moments() const { return m_ != nullptr; }

  int32_t find(std::string_view name) const;  ///< -1 when absent
  const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  size_t size() const { return size_; }  ///< floats in one block, padding included

  enum class Block : uint8_t { Value, M, V };
  std::vector<float> read(int32_t parameter, Block block = Block::Value) const;
  void read_part(int32_t parameter, size_t first, std::span<float> to) const;  ///< values from `first` on
  void write(int32_t parameter, std::span<const float> values, Block block = Block::Value);
  /// A copy with its own memory (perturbation, fork).
  Store clone() const { return clone(*backend_); }
  Store clone(Backend& on) const;  ///< in another backend's memory

  Backend& backend() const { return *backend_; }
  Memory& block(Block block) const;

 private:
  Backend* backend_;
  std::vector<ParameterInfo> parameters_;
  std::unordered_map<std::string, int32_t> by_name_;
  size_t size_ = 0;
  std::unique_ptr<Memory> values_, m_, v_;
};

}  // namespace normscope
