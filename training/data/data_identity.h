// Says which data a run reads, as far as that is known. A view, a log and a saved run carry it, so
// that losses on other data are never compared silently.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/message.h"
#include "training/data/task.h"

namespace normscope {

struct DataIdentity {
  std::string name;     ///< "built-in sentences", "corpus.txt"; empty: unknown
  std::string hash;     ///< Task::hash() in 16 hexadecimal digits; empty: unknown
  int32_t symbols = 0;  ///< size of the vocabulary; 0: unknown
  std::string unit;     ///< what a symbol is, "letter"; empty: unknown
  /// Whether nothing could tell it from other data.
  bool unknown() const { return name.empty() && hash.empty(); }
  bool operator==(const DataIdentity&) const = default;
};

DataIdentity identity_of(const DataSpec& spec, const Task& task);

/// "built-in sentences", or the name of the file.
std::string data_name(const DataSpec& spec);
/// The name of data that the program makes itself, which the name identifies; else empty.
std::string made_up_name(const DataSpec& spec);

enum class SameData : uint8_t { Same, Other, Unknown };
/// Compares the hashes where both have one, else the names; data with different numbers of symbols are
/// never the same.
SameData same_data(const DataIdentity& a, const DataIdentity& b);

/// Says "built-in sentences, 29 symbols"; empty where nothing is known.
std::string to_words(const DataIdentity& data);

/// What a symbol of the data is ("letter", "piece", "class"), as Task::unit() of its task, but without
/// reading the data. It serves words around results that were stored long ago.
std::string unit_of(const DataSpec& spec);

/// The name of the unigram entropy's line, "letter frequencies", for every plot and table. The
/// data say what a symbol is; "symbol" stands where that is unknown.
std::string frequencies_of(const std::string& unit);
/// The unit of a loss: "nats per letter".
Message nats_per(const std::string& unit);

}  // namespace normscope
