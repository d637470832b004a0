#include "addons/published/training/published_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "addons/published/training/gguf.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/published.h"
#include "addons/published/training/token_task.h"
#include "engine/core/error.h"

namespace normscope::published {

namespace fs = std::filesystem;

namespace {

/// The passage, or numbers from all over the table where words mean nothing to the folder.
std::string passage_for(const TextTokens& symbols, std::string_view passage) {
  if (symbols.has_words() || passage.find_first_not_of("0123456789, ") == passage.npos)
    return std::string(passage);
  constexpr int32_t kNumbers = 16;
  std::string numbers;
  for (int32_t i = 0; i < kNumbers; ++i)
    numbers += fmt::format("{}{}", i ? " " : "", i * symbols.vocabulary() / kNumbers);
  return numbers;
}

}  // namespace

bool is_published(const std::string& path) {
  const std::string folder = folder_of(path);
  if (is_gguf_file(folder)) return true;
  std::error_code none;
  if (!fs::is_regular_file(fs::path(folder) / "config.json", none)) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") || name.ends_with(".bin"))
      return true;
  }
  return false;
}

RunSpec run_of(const std::string& folder, std::string_view passage) {
  const std::string place = fs::weakly_canonical(fs::absolute(require_folder(folder))).string();
  const TextTokens symbols(place);
  const std::string text = passage_for(symbols, passage);
  const size_t tokens = symbols.encode(text).size();
  if (tokens < 2) fail("text", "{} tokens: expected a text of at least 2 tokens of {}", tokens, place);
  const PublishedModel model = open(place, kFewest);
  RunSpec run = model.spec;
  run.name = title_of(place) + (model.headless ? ", no head" : "");
  run.data.name = "passage";
  run.data.added.of<PassageData>().text = text;
  run.data.tokenizer_path = place;
  const int32_t table = run.model.sequence;
  run.model.sequence = table > kFewest ? std::min(table, kMostRow) : kMostRow;
  run.data.context = run.model.sequence;
  run.train.init_from = place;
  run.train.batch = 1;
  run.train.steps = 50;
  run.train.optimizer = Optimizer::Adam;
  run.train.beta2 = 0.999f;
  run.train.eps = 1e-8f;
  run.train.schedule.peak = 1e-5f;
  complete(run);
  validate(run);
  return run;
}

}  // namespace normscope::published
