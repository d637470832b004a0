#include "training/run/run_record.h"

namespace normscope {

std::vector<Edit> RunIdentity::all_edits() const {
  std::vector<Edit> all = edits;
  all.insert(all.end(), scheduled.begin(), scheduled.end());
  return all;
}

RunSpec RunIdentity::spec() const {
  RunSpec now = origin;
  for (const Edit& edit : edits) set_field(now, edit.key, edit.value);
  return now;
}

std::string RunIdentity::key() const {
  RunSpec whole = origin;
  complete(whole);
  std::string key;
  for (const auto& [name, value] : field_values(whole))
    if (name != "run.name") key += name + "=" + value + "\n";
  for (const Edit& edit : all_edits()) key += "edit " + to_string(edit) + "\n";
  return key;
}

size_t RunRecord::bytes() const {
  return sizeof(RunRecord) + losses.size() * sizeof(float) + (history ? history->bytes() : 0) +
         (end ? end->bytes() : 0);
}

}  // namespace normscope
