#include "engine/tape/store.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/tape/backend.h"

namespace normscope {

Store::Store(Backend& backend) : data_(std::make_shared<Data>()) { data_->backend = backend.share(); }

std::shared_ptr<Store> Store::share() const {
  data();
  return std::shared_ptr<Store>(new Store(data_));
}

void Store::refuse_moved() { fail("store", "it was moved away: expected the Store that has its parameters"); }

int32_t Store::declare(const std::string& name, Shape shape, Init init, bool trainable, int32_t layer) {
  if (const int32_t known = find(name); known >= 0) {
    const Shape& old = at(known).shape;
    if (!(old == shape))
      fail("store", "parameter {} has shape {} and is declared again as {}: expected the same shape", name,
           to_string(old), to_string(shape));
    return known;
  }
  if (materialized())
    fail("store", "parameter {} is declared after materialize() or the first seal(): expected before", name);
  require_shape("store", "parameter " + name, shape);
  if (!std::isfinite(init.value))
    fail("store", "parameter {} has an Init of {}: expected a finite number", name, init.value);
  for (const ParameterInfo& other : parameters())
    if (site_of(other.name) == site_of(name))
      fail("store", "parameters {} and {} hash to the same site: rename one", other.name, name);
  Data& d = data();
  d.parameters.push_back(
      {.name = name, .shape = shape, .init = init, .trainable = trainable, .layer = layer, .offset = d.size});
  d.size += shape.padded();
  const int32_t index = static_cast<int32_t>(d.parameters.size()) - 1;
  d.by_name.emplace(name, index);
  return index;
}

int32_t Store::find(std::string_view name) const {
  const auto it = data().by_name.find(std::string(name));
  return it == data().by_name.end() ? -1 : it->second;
}

const ParameterInfo& Store::at(int32_t parameter) const {
  const std::vector<ParameterInfo>& all = parameters();
  if (parameter < 0 || static_cast<size_t>(parameter) >= all.size())
    fail("store", "there is no parameter {}: expected one of {}, from 0", parameter, all.size());
  return all[static_cast<size_t>(parameter)];
}

void Store::name_for(int32_t parameter, uint32_t tape) {
  uint32_t& named = data().parameters[static_cast<size_t>(parameter)].tape;
  named = named == 0 || named == tape ? tape : kManyTapes;
}

void Store::take_back(size_t first, uint32_t tape) {
  if (!data_ || materialized()) return;
  Data& d = *data_;
  while (d.parameters.size() > first && (d.parameters.back().tape == 0 || d.parameters.back().tape == tape)) {
    d.size = d.parameters.back().offset;
    d.by_name.erase(d.parameters.back().name);
    d.parameters.pop_back();
  }
}

void Store::mark_hidden(std::string_view name) {
  const int32_t place = find(name);
  if (place < 0 || at(place).shape.rank != 2)
    fail("store", "{} is no matrix that was declared: expected one", name);
  data().parameters[static_cast<size_t>(place)].hidden = true;
}

void Store::scale_steps(std::string_view name, const StepScale& by) {
  const int32_t place = find(name);
  if (place < 0) fail("store", "{} was not declared: expected a parameter", name);
  data().parameters[static_cast<size_t>(place)].steps = by;
}

void Store::materialize(uint64_t seed) {
  if (materialized()) fail("store", "materialize() was called twice: expected once");
  auto values = backend().allocate(size()), m = backend().allocate(size()), v = backend().allocate(size());
  data().values = std::move(values);
  data().m = std::move(m);
  data().v = std::move(v);
  for (size_t i = 0; i < parameters().size(); ++i) {
    const ParameterInfo& info = parameters()[i];
    write(static_cast<int32_t>(i), initial_values(info.name, info.shape, info.init, seed));
  }
}

void Store::materialize_values() {
  if (materialized())
    fail("store", "materialize_values() was called on a store that has memory: expected once");
  data().values = backend().allocate(size());
  for (size_t i = 0; i < parameters().size(); ++i) {
    const ParameterInfo& info = parameters()[i];
    if (!info.trainable) write(static_cast<int32_t>(i), initial_values(info.name, info.shape, info.init, 0));
  }
}

Memory& Store::block(Block block) const {
  const Data& d = data();
  const std::unique_ptr<Memory>& memory = block == Block::Value ? d.values : block == Block::M ? d.m : d.v;
  if (!memory)
    fail("store", "the parameters have no memory yet: expected materialize() or the first seal() before");
  return *memory;
}

std::vector<float> Store::read(int32_t parameter, Block which) const {
  const ParameterInfo& info = at(parameter);
  std::vector<float> values(static_cast<size_t>(info.shape.size()));
  backend().download(block(which), info.offset, values);
  return values;
}

void Store::read_part(int32_t parameter, size_t first, std::span<float> to) const {
  const ParameterInfo& info = at(parameter);
  const auto size = static_cast<size_t>(info.shape.size());
  if (first > size || to.size() > size - first)
    fail("store", "{} holds {} numbers and is read from {} to {}: expected within", info.name, size, first,
         first + to.size());
  backend().download(block(Block::Value), info.offset + first, to);
}

void Store::write(int32_t parameter, std::span<const float> values, Block which) {
  const ParameterInfo& info = at(parameter);
  if (values.size() != static_cast<size_t>(info.shape.size()))
    fail("store", "{} holds {} numbers and is written with {}: expected as many", info.name,
         info.shape.size(), values.size());
  backend().upload(block(which), info.offset, values);
}

Store Store::clone(Backend& on) const {
  Store copy(on);
  const Data& from = data();
  Data& to = copy.data();
  to.parameters = from.parameters;
  to.by_name = from.by_name;
  to.size = from.size;
  to.steps = from.steps;
  to.seed_at_seal = from.seed_at_seal;
  std::vector<float> all(materialized() ? size() : 0);
  for (auto [source, target] : {std::pair{&from.values, &to.values}, {&from.m, &to.m}, {&from.v, &to.v}}) {
    if (!*source) continue;  // materialize_values() makes no moments
    *target = on.allocate(size());
    backend().download(**source, 0, all);
    on.upload(**target, 0, all);
  }
  return copy;
}

}  // namespace normscope
