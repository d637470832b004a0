#include "training/data/identity/data_identity.h"

#include <fmt/format.h>

#include <filesystem>

namespace normscope {
namespace {

/// The file that the data are read from; empty for data that the program makes.
std::string path_of(const DataSpec& data) {
  if (data.name == "text") return data.text_path;
  if (data.name == "pairs") return data.pairs_path;
  if (data.name == "labels") return data.labels_path;
  if (data.name == "idx") return data.images_path;
  return data.name == "treebank" ? data.treebank_path : "";
}

}  // namespace

std::string made_up_name(const DataSpec& data) {
  if (!path_of(data).empty()) return "";
  if (data.name == "digits") return "drawn digits";
  if (data.name == "treebank") return "made-up treebank";
  if (data.name == "translation") return "made-up translation";
  return data.name == "corpus" ? "built-in sentences" : data.name;
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
  if (in_published_tokens(spec)) return "token";
  if (spec.form == TaskForm::Masked) return "byte";
  if (spec.name == "corpus") return "letter";
  if (spec.name == "text") return "character";
  if (spec.name == "pairs") return "piece";
  if (is_labelled(spec.name)) return "label";
  if (spec.name == "digits" || spec.name == "idx") return "class";
  if (spec.name == "treebank") return "transition";
  return spec.name == "translation" ? "word" : "symbol";
}

std::string frequencies_of(const std::string& unit) {
  return (unit.empty() ? "symbol" : unit) + " frequencies";
}

std::string nats_per(const std::string& unit) { return "nats per " + (unit.empty() ? "symbol" : unit); }

}  // namespace normscope
