// This writes safetensors. See safetensors.h.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"
#include "training/io/atomic_file.h"
#include "training/io/safetensors.h"

namespace normscope {

void SafetensorsWriter::add_bytes(const std::string& name, const TensorShape& shape, TensorType type,
                                  const void* data, size_t count) {
  size_t elements = 1;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      fail("safetensors", "tensor {}: shape {} has a negative dimension", name, shape_text(shape));
    elements *= static_cast<size_t>(dimension);
  }
  if (elements != count) {
    fail("safetensors", "tensor {}: shape {} does not match {} elements", name, shape_text(shape), count);
  }
  if (name == "__metadata__") fail("safetensors", "tensor {}: the name is reserved", name);
  const bool taken =
      std::any_of(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  if (taken) fail("safetensors", "tensor {}: added twice", name);
  tensors_.push_back({name, type, shape, data, count * bytes_of(type)});
}

void SafetensorsWriter::add(const std::string& name, const TensorShape& shape, std::span<const float> data) {
  add_bytes(name, shape, TensorType::F32, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape, std::span<const double> data) {
  add_bytes(name, shape, TensorType::F64, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const int32_t> data) {
  add_bytes(name, shape, TensorType::I32, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const int64_t> data) {
  add_bytes(name, shape, TensorType::I64, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const uint8_t> data) {
  add_bytes(name, shape, TensorType::U8, data.data(), data.size());
}

// Puts wide elements first, so that every tensor is aligned for readers that map the file.
std::vector<const SafetensorsWriter::Tensor*> SafetensorsWriter::in_file_order() const {
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : tensors_) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const Tensor* a, const Tensor* b) { return bytes_of(a->type) > bytes_of(b->type); });
  return order;
}

std::string SafetensorsWriter::header(const std::vector<const Tensor*>& order) const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata_.empty()) json["__metadata__"] = metadata_;
  size_t begin = 0;
  for (const Tensor* tensor : order) {
    json[tensor->name] = {{"dtype", name_of(tensor->type)},
                          {"shape", tensor->shape},
                          {"data_offsets", {begin, begin + tensor->bytes}}};
    begin += tensor->bytes;
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception&) {
    fail("safetensors", "a name or the metadata is not valid UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begins at a multiple of 8
  return text;
}

void SafetensorsWriter::write(const std::string& path) const {
  const std::vector<const Tensor*> order = in_file_order();
  const std::string text = header(order);
  const uint64_t length = text.size();
  AtomicFile file(path, "safetensors", Access::Own);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const Tensor* tensor : order) file.write(tensor->data, tensor->bytes);
  file.commit();
}

}  // namespace normscope
