// Which data a run reads, as far as it is said: what a view, a log and a saved run carry, so that losses on other data
// are never compared without a word.
#pragma once

#include <cstdint>
#include <string>

#include "training/data/task.h"

namespace normscope {

struct DataIdentity {
  std::string name;     ///< "built-in sentences", "corpus.txt"; empty: not said
  std::string hash;     ///< Task::hash() in 16 hexadecimal digits; empty: not said
  int32_t symbols = 0;  ///< of the vocabulary; 0: not said
  std::string unit;     ///< what a symbol is, "letter"; empty: not said
  /// Nothing that could tell it from other data.
  bool unknown() const { return name.empty() && hash.empty(); }
  bool operator==(const DataIdentity&) const = default;
};

DataIdentity identity_of(const DataSpec& spec, const Task& task);

/// "built-in sentences", or the name of the file.
std::string data_name(const DataSpec& spec);
/// The name where the program makes the data itself, so that the name says what they are; else empty.
std::string made_up_name(const DataSpec& spec);

enum class SameData : uint8_t { Same, Other, Unknown };
/// By the hashes where both say one, else by the names; data with different numbers of symbols are never the same.
SameData same_data(const DataIdentity& a, const DataIdentity& b);

/// "built-in sentences, 29 symbols"; empty where nothing is known.
std::string to_words(const DataIdentity& data);

/// What a symbol of the data is, without reading them, for words around results that were stored long ago: as
/// Task::unit() of the task that make_task() makes of it, "letter", "piece", "class".
std::string unit_of(const DataSpec& spec);

/// The name of the unigram entropy's line: "letter frequencies". Every plot and table takes it from here; the data
/// say what a symbol is, and "symbol" stands where nobody does.
std::string frequencies_of(const std::string& unit);
/// The unit of a loss: "nats per letter".
std::string nats_per(const std::string& unit);

}  // namespace normscope
