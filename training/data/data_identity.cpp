#include "training/data/data_identity.h"

#include <fmt/format.h>

#include <filesystem>

#include "training/data/task_kind.h"

namespace normscope {

std::string made_up_name(const DataSpec& data) {
  if (!path_of(data).empty()) return "";
  const TaskKind* const kind = find_kind(data.name);
  return kind && !kind->made_up.empty() ? std::string(kind->made_up) : data.name;
}

std::string data_name(const DataSpec& data) {
  const std::string path = path_of(data);
  return path.empty() ? made_up_name(data) : std::filesystem::path(path).filename().string();
}

DataIdentity identity_of(const DataSpec& spec, const Task& task) {
  return {data_name(spec), fmt::format("{:016x}", task.hash()), task.vocabulary(), task.unit()};
}

SameData same_data(const DataIdentity& a, const DataIdentity& b) {
  if (a.symbols > 0 && b.symbols > 0 && a.symbols != b.symbols) return SameData::Other;
  if (!a.hash.empty() && !b.hash.empty()) return a.hash == b.hash ? SameData::Same : SameData::Other;
  if (!a.name.empty() && !b.name.empty()) return a.name == b.name ? SameData::Same : SameData::Other;
  return SameData::Unknown;
}

std::string to_words(const DataIdentity& data) {
  std::string text = data.name.empty() ? data.hash : data.name;
  if (data.symbols > 0) text += fmt::format("{}{} symbols", text.empty() ? "" : ", ", data.symbols);
  return text;
}

std::string unit_of(const DataSpec& spec) {
  const TaskKind& kind = kind_of(spec);
  return std::string(spec.form == TaskForm::Masked && !kind.masked_unit.empty() ? kind.masked_unit
                                                                                : kind.unit);
}

std::string frequencies_of(const std::string& unit) {
  return (unit.empty() ? "symbol" : unit) + " frequencies";
}

Message nats_per(const std::string& unit) { return {"nats per {}", unit.empty() ? "symbol" : unit}; }

}  // namespace normscope
