#include "training/run/finished_run.h"

#include "engine/core/error.h"
#include "training/run/run_impl.h"

namespace normscope {

std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits) {
  RunSpec whole = spec;
  complete(whole);
  std::string key;
  for (const auto& [name, value] : field_values(whole))
    if (name != "run.name") key += name + "=" + value + "\n";
  for (const Edit& edit : edits) key += "edit " + to_string(edit) + "\n";
  return key;
}

std::string run_key(const RunPast& past) { return run_key(past.origin, past.all_edits()); }

size_t FinishedRun::bytes() const {
  return sizeof(FinishedRun) + losses.size() * sizeof(float) + (history ? history->bytes() : 0) +
         (end ? end->bytes() : 0);
}

FinishedRun Run::finished() const { return {*impl_, impl_->history->copy(), impl_->keyframe()}; }

std::unique_ptr<Run> Run::resume(const FinishedRun& from, std::shared_ptr<const Task> task,
                                 Backend& backend) {
  if (!from.whole()) fail("run", "only the losses of this run were kept: expected its weights too");
  auto made =
      Impl::standing_at(from.end.get(), from.origin, from.edits, from.scheduled, std::move(task), backend);
  made->history = from.history->copy();
  made->losses = from.losses;
  made->broken = from.broken;
  const Series validation = made->history->validation();
  if (!validation.values.empty()) made->validation = static_cast<double>(validation.values.back());
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
