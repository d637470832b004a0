#include "engine/tape/store.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/tape/backend.h"

namespace normscope {

Store::Store(Backend& backend) : backend_(&backend) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

int32_t Store::declare(const std::string& name, Shape shape, Init init, bool trainable, int32_t layer) {
  if (const int32_t known = find(name); known >= 0) {
    const Shape& old = parameters_[static_cast<size_t>(known)].shape;
    if (!(old == shape))
      fail("store", "parameter {} has shape {} and is declared again as {}: expected the same shape", name,
           to_string(old), to_string(shape));
    return known;
  }
  if (materialized()) fail("store", "parameter {} is declared after materialize(): expected before", name);
  for (const ParameterInfo& other : parameters_)
    if (site_of(other.name) == site_of(name))
      fail("store", "parameters {} and {} hash to the same site: rename one", other.name, name);
  parameters_.push_back({name, shape, init, trainable, layer, false, {}, size_});
  size_ += shape.padded();
  const int32_t index = static_cast<int32_t>(parameters_.size()) - 1;
  by_name_.emplace(name, index);
  return index;
}

int32_t Store::find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? -1 : it->second;
}

void Store::mark_hidden(std::string_view name) {
  const int32_t place = find(name);
  if (place < 0 || parameters_[static_cast<size_t>(place)].shape.rank != 2)
    fail("store", "{} is no matrix that was declared: expected one", name);
  parameters_[static_cast<size_t>(place)].hidden = true;
}

void Store::scale_steps(std::string_view name, const StepScale& by) {
  const int32_t place = find(name);
  if (place < 0) fail("store", "{} was not declared: expected a parameter", name);
  parameters_[static_cast<size_t>(place)].steps = by;
}

void Store::materialize(uint64_t seed) {
  if (materialized()) fail("store", "materialize() was called twice: expected once");
  values_ = backend_->allocate(size_);
  m_ = backend_->allocate(size_);
  v_ = backend_->allocate(size_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterInfo& info = parameters_[i];
    write(static_cast<int32_t>(i), initial_values(info.name, info.shape, info.init, seed));
  }
}

void Store::materialize_values() {
  if (materialized())
    fail("store", "materialize_values() was called on a store that has memory: expected once");
  values_ = backend_->allocate(size_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterInfo& info = parameters_[i];
    if (!info.trainable) write(static_cast<int32_t>(i), initial_values(info.name, info.shape, info.init, 0));
  }
}

Memory& Store::block(Block block) const {
  const std::unique_ptr<Memory>& memory = block == Block::Value ? values_ : block == Block::M ? m_ : v_;
  if (!memory) fail("store", "the parameters have no memory yet: expected materialize() first");
  return *memory;
}

std::vector<float> Store::read(int32_t parameter, Block which) const {
  const ParameterInfo& info = parameters_[static_cast<size_t>(parameter)];
  std::vector<float> values(static_cast<size_t>(info.shape.size()));
  backend_->download(block(which), info.offset, values);
  return values;
}

void Store::read_part(int32_t parameter, size_t first, std::span<float> to) const {
  backend_->download(block(Block::Value), parameters_[static_cast<size_t>(parameter)].offset + first, to);
}

void Store::write(int32_t parameter, std::span<const float> values, Block which) {
  const ParameterInfo& info = parameters_[static_cast<size_t>(parameter)];
  if (values.size() != static_cast<size_t>(info.shape.size()))
    fail("store", "{} holds {} numbers and is written with {}: expected as many", info.name,
         info.shape.size(), values.size());
  backend_->upload(block(which), info.offset, values);
}

Store Store::clone(Backend& on) const {
  Store copy(on);
  copy.parameters_ = parameters_;
  copy.by_name_ = by_name_;
  copy.size_ = size_;
  if (!materialized()) return copy;
  std::vector<float> all(size_);
  for (auto [from, to] : {std::pair{&values_, &copy.values_}, {&m_, &copy.m_}, {&v_, &copy.v_}}) {
    if (!*from) continue;  // materialize_values() makes no moments
    *to = on.allocate(size_);
    backend_->download(**from, 0, all);
    on.upload(**to, 0, all);
  }
  return copy;
}

}  // namespace normscope
