// Logs of runs that were recorded elsewhere, those of other trackers, and mapping files: the same bytes as any.
#include "addons/recorded/training/log_reader.h"

#include <cstring>

#include "addons/recorded/tests/app/zlib_checksum.h"
#include "addons/recorded/training/event_file.h"
#include "addons/recorded/training/tensor_names.h"
#include "fuzz.h"

using namespace normscope;
using namespace normscope::records;

namespace {

void read_twice(std::string_view input) {
  LogReader whole("log.jsonl"), parts("log.jsonl");
  whole.take(input);
  whole.finish();
  parts.take(input.substr(0, input.size() / 2));
  parts.settle();
  parts.take(input.substr(input.size() / 2));
  parts.finish();
  const RecordedFile file = whole.file(), same = parts.file();
  fuzz::require(file.broken <= file.lines && file.lines == same.lines && file.broken == same.broken &&
                    file.runs.size() == same.runs.size(),
                "a log read in two portions is another one");
  for (size_t i = 0; i < file.runs.size(); ++i) {
    const History &one = *file.runs[i].seeds.front().history, &other = *same.runs[i].seeds.front().history;
    fuzz::require(one.loss().steps == other.loss().steps && one.layout().size() == other.layout().size(),
                  "a run read in two portions is another one");
  }
}

/// An event file whose checksums fit, so that what lies behind them is reached.
std::string sealed(std::string file) {
  const auto put = [&file](size_t at, uint32_t sum) { std::memcpy(file.data() + at, &sum, sizeof sum); };
  const std::string_view bytes = file;
  if (bytes.starts_with(":W&B")) {
    for (size_t at = 7, length = 0; at + 7 <= file.size(); at += 7 + length) {
      length = std::min<size_t>(static_cast<uint8_t>(file[at + 4]) | static_cast<uint8_t>(file[at + 5]) << 8,
                                file.size() - at - 7);
      put(at, zlib_checksum(bytes.substr(at + 6, length + 1)));
    }
    return file;
  }
  for (uint64_t at = 0, length = 0; at + 16 <= file.size(); at += 16 + length) {
    std::memcpy(&length, file.data() + at, sizeof length);
    put(at + 8, checksum(bytes.substr(at, 8)));
    if (length > file.size() - at - 16) break;
    put(at + 12 + length, checksum(bytes.substr(at + 12, length)));
  }
  return file;
}

}  // namespace

FUZZ_TARGET(events) {
  read_twice(input);
  read_twice(sealed(std::string(input)));
}

FUZZ_TARGET(log) {
  if (!fuzz::shallow(input)) return;
  read_twice(input);
  fuzz::accepts([&] { parse_name_mapping(input, "mapping.toml"); });
}
