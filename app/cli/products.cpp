#include "app/cli/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "app/cli/terminal.h"
#include "engine/core/error.h"
#include "engine/cpu/isa.h"
#include "training/files/config_file.h"
#include "training/files/input_kinds.h"
#include "training/files/places.h"
#include "training/files/toml.h"
#include "training/io/atomic_file.h"
#include "training/io/output_path.h"

namespace normscope::cli {
namespace {

constexpr double kTimingSeconds = 0.05;
constexpr size_t kMostProcessors = 64;  // for a folder that many machines share

using Remembered = std::map<std::string, std::string, std::less<>>;  // by processor: the choice as text

/// `read_products` returns nothing where the file is missing or of another kind.
Remembered read_products(const std::string& file) {
  Remembered all;
  try {
    const auto text = read_input_file_if_there(file, input::kProducts);
    if (!text) return all;
    for (const auto& [processor, choice] : parse_toml(*text, file))
      if (const auto word = choice.value_exact<std::string>())
        all.emplace(std::string(processor.str()), *word);
  } catch (const Error&) {
    all.clear();  // the choice is timed again, and the file replaced
  }
  return all;
}

void write_products(const std::string& file, const Remembered& all) {
  std::string text =
      "# How matrix products are cut fastest, by processor, instruction set and version of what was tried.\n"
      "# What is missing here is timed again.\n";
  for (const auto& [processor, choice] : all)
    text += fmt::format("{} = {}\n", toml_string(processor), toml_string(choice));
  try {
    make_folder(std::filesystem::path(file).parent_path().string(), Access::Shared, "products");
    if (!output_path(file, "products").direct) write_file(file, text, "products");  // a pipe would block
  } catch (const Error&) {  // the choice is then timed at every start
  }
}

}  // namespace

cpu::GemmChoice remembered_products(const std::string& file, const std::string& processor,
                                    const std::function<cpu::GemmChoice()>& time) {
  Remembered all = read_products(file);
  if (const auto known = all.find(processor); known != all.end()) {
    // A remembered choice must still be a candidate, because these caches may differ from those it was timed with.
    const std::vector<cpu::GemmChoice> candidates = cpu::gemm_candidates(cpu::l2_bytes());
    const std::optional<cpu::GemmChoice> choice = cpu::gemm_choice_from(known->second);
    if (choice && std::find(candidates.begin(), candidates.end(), *choice) != candidates.end())
      return *choice;
  }
  const cpu::GemmChoice choice = time();
  if (all.size() >= kMostProcessors) all.clear();
  all[processor] = cpu::to_string(choice);
  write_products(file, all);
  return choice;
}

void use_fastest_products() noexcept {
  try {
    const auto time = [] {
      const EndsAtOnce at_once("interrupted");
      return cpu::fastest_choice(kTimingSeconds);
    };
    const std::string cache = cache_folder();
    if (cache.empty()) return cpu::use_gemm_choice(time());
    const std::string processor =
        fmt::format("{}, {}, {}", cpu::processor_name(), cpu::choose_isa(), cpu::kGemmCandidates);
    cpu::use_gemm_choice(remembered_products(cache + "/products.toml", processor, time));
  } catch (...) {  // the command itself reports what is wrong with this machine
  }
}

}  // namespace normscope::cli
