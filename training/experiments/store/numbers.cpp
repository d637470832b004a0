#include "training/experiments/store/numbers.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>

#include "engine/cpu/isa.h"
#include "engine/tape/store.h"
#include "training/run/run.h"

namespace normscope::experiments {
namespace {

RunSpec small_run(const char* preset, std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunSpec spec = preset_run(preset);
  for (const auto& [key, value] :
       {std::pair("model.layers", "2"), std::pair("model.d_model", "16"),
        std::pair("model.feed_forward", "40"), std::pair("model.heads", "2"),
        std::pair("model.sequence", "24"), std::pair("train.batch", "4"), std::pair("train.warmup", "5")})
    set_field(spec, key, value);
  for (const auto& [key, value] : fields) set_field(spec, key, value);
  complete(spec);
  return spec;
}

/// FNV-1a over whole words.
class Hash {
 public:
  void add(uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3u; }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

void add_block(const Store& store, Store::Block block, Hash& hash) {
  std::vector<float> numbers(store.size());
  store.backend().download(store.block(block), 0, numbers);
  for (const float number : numbers) hash.add(std::bit_cast<uint32_t>(number));
}

}  // namespace

std::vector<RunSpec> checksum_runs() {
  return {small_run("post", {{"model.dropout_residual", "0.1"}, {"train.label_smoothing", "0.1"}}),
          small_run("pre", {{"model.activation", "gelu"}, {"train.clip", "1"}}),
          small_run("admin", {{"model.norm", "rms"}}),
          small_run("pre", {{"train.optimizer", "sgd"}, {"train.lr", "0.1"}, {"model.tied", "false"}})};
}

uint64_t checksum(const RunSpec& spec, int32_t steps, Backend& backend) {
  Run run(spec, make_task(spec.data), backend);
  run.measure_live(false);
  Hash hash;
  for (int32_t step = 0; step < steps; ++step) {
    run.step();
    hash.add(std::bit_cast<uint64_t>(run.last_loss()));
  }
  for (const Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
    add_block(run.store(), block, hash);
  return hash.value();
}

namespace {

uint64_t checksum_of_all(Backend& backend) {
  Hash hash;
  for (const RunSpec& spec : checksum_runs()) hash.add(checksum(spec, 3, backend));
  return hash.value();
}

}  // namespace

std::string numbers_of(Backend& backend) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::string machine = fmt::format("{} {}", backend.name(), cpu::choose_isa());
  const std::lock_guard lock(mutex);
  std::string& numbers = known[machine];
  if (numbers.empty())
    numbers = fmt::format("numbers {} {} {:016x}", kNumbersVersion, machine, checksum_of_all(backend));
  return numbers;
}

}  // namespace normscope::experiments
