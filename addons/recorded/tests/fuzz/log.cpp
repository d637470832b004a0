// Logs of runs that were recorded elsewhere, those of other trackers, and mapping files: the same bytes as any.
#include "addons/recorded/training/log_reader.h"

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

}  // namespace

FUZZ_TARGET(events) { read_twice(input); }

FUZZ_TARGET(log) {
  if (!fuzz::shallow(input)) return;
  read_twice(input);
  fuzz::accepts([&] { parse_name_mapping(input, "mapping.toml"); });
}
