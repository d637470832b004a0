// normscope inspect opens a published model or a saved run and says what its layers do with one text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/inside/app/commands/inspect.h"
#include "addons/published/training/family.h"
#include "addons/published/training/gguf.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/passage.h"
#include "addons/published/training/published.h"
#include "addons/published/training/token_task.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/io/atomic_file.h"
#include "training/io/number_json.h"
#include "training/io/text_table.h"
#include "training/measure/step/memory_map.h"
#include "training/run/run.h"

namespace normscope::commands {
using namespace cli;
using namespace inside;
namespace {

using nlohmann::json;
using tokenizer::PublishedTokenizer;
using tokenizer::Special;

struct InspectOptions {
  std::string model, ids, text, svg;
  bool leave_out = false, no_gradients = false, no_attention = false, json = false;
  int32_t threads = 0;
};

constexpr size_t kMostIds = 4096;

std::vector<int32_t> ids_of(const std::string& text) {
  return token_numbers(text, [](const std::string& word) {
    throw CommandError(Exit::Usage,
                       fmt::format("--ids: {} is no id: expected whole numbers from 0, such as \"5 17 3\"",
                                   shown_text(word)));
  });
}

void require_text(const InspectOptions& options) {
  if (options.ids.empty() == options.text.empty())
    throw CommandError(Exit::Usage, "inspect needs a text: expected --text or --ids");
}

/// The text in numbers; `encode` makes them of letters.
template <typename Encode>
std::vector<int32_t> passage_of(const InspectOptions& options, Encode encode) {
  const bool letters = !options.text.empty();
  std::vector<int32_t> ids = letters ? with_exit(Exit::Input, encode) : ids_of(options.ids);
  if (ids.size() < 2 || ids.size() > kMostIds)
    throw CommandError(Exit::Usage, fmt::format("{}: {} tokens: expected 2 to {}",
                                                letters ? "--text" : "--ids", ids.size(), kMostIds));
  return ids;
}

void print_settings(const json& about) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : about.items())
    if (key.starts_with("model.") || key.starts_with("wiring.") || key == "placement")
      rows.push_back({key, value.get<std::string>()});
  rows.push_back({"vocabulary", std::to_string(about["vocabulary"].get<int64_t>())});
  put(text_table(rows, "ll"));
}

int64_t parameters_of(const Store& store) {
  int64_t count = 0;
  for (const ParameterInfo& p : store.parameters())
    if (p.trainable) count += p.shape.size();
  return count;
}

/// Measures, and says all of it; of a text that asks for nothing what needs no head.
Exit show_inside(const InspectOptions& options, Store& store, const ModelConfig& model, const Batch& text,
                 Inspection shown) {
  const bool asks = std::ranges::any_of(text.targets, [](int32_t target) { return target >= 0; });
  shown.inside = inside_of(store, model, text,
                           {.gradients = asks && !options.no_gradients,
                            .attention = !options.no_attention,
                            .guesses = asks ? InsideQuestion().guesses : 0,
                            .left_out = asks && options.leave_out});
  if (!asks) shown.inside.loss = std::numeric_limits<double>::quiet_NaN();
  if (options.json)
    say("{}\n", to_lines(json_of(shown)));
  else
    print_inside(shown);
  if (options.svg.empty()) return Exit::Ok;
  const InterruptGuard guard;
  write_file(options.svg, norms_svg(shown), "inspect");
  if (!options.json) say("\nwrote {}\n", options.svg);
  return Exit::Ok;
}

/// Nothing where the folder has none that can be used, which matters to --text alone.
std::optional<PublishedTokenizer> tokenizer_of(const std::string& folder) {
  try {
    return PublishedTokenizer::load(folder);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Exit inspect_published(InspectOptions options, Backend& backend) {
  std::optional<PublishedTokenizer> tokenizer;
  const std::vector<int32_t> ids = passage_of(options, [&] {
    tokenizer = PublishedTokenizer::load(options.model);
    return tokenizer->encode(options.text);
  });
  if (!tokenizer) tokenizer = tokenizer_of(options.model);
  published::PublishedModel model = with_exit(
      Exit::Input, [&] { return published::open(options.model, static_cast<int32_t>(ids.size())); });
  const std::vector<int32_t> types =
      tokenizer ? tokenizer->types(ids, model.spec.model.token_types) : std::vector<int32_t>();
  Batch text = with_exit(Exit::Usage, [&] { return passage_batch(model.spec.model, ids, types); });
  if (model.headless) {
    std::ranges::fill(text.targets, -1);
    options.no_gradients = true;
  }
  Store store(backend);
  published::declare(model, store);
  const int64_t in_files = model.weights.bytes(), parameters = parameters_of(store),
                gradients = options.no_gradients ? static_cast<int64_t>(store.size() * sizeof(float)) : 0,
                here = published::bytes_of(model, store, static_cast<int32_t>(ids.size())) - gradients;
  Inspection shown;
  shown.name = model.family->title;
  shown.decoder = model.spec.model.architecture == Architecture::Decoder;
  shown.unit = "token";
  shown.about = {{"folder", model.folder},           {"family", model.family->title},
                 {"model_type", model.family->type}, {"parameters", parameters},
                 {"bytes_in_files", in_files},       {"bytes_here", here},
                 {"machine_bytes", machine_memory()}};
  add_settings(shown.about, model.spec);
  shown.text_of = [&](int32_t token) {
    if (!tokenizer) return std::string();
    const std::string text = tokenizer->decode({&token, 1}, Special::Kept);
    return text.empty() ? tokenizer->token_of(token).value_or("") : text;
  };
  if (!options.json) {
    say("{} ({}) in {}\n", model.family->title, model.family->type, model.folder);
    print_settings(shown.about);
    say("{} parameters, {} in the files; with {}the states of {} positions, about {} here, of {}\n",
        parameters, size_words(static_cast<size_t>(in_files)), options.no_gradients ? "" : "gradients, and ",
        ids.size(), size_words(static_cast<size_t>(here)), size_words(machine_memory()));
  }
  with_exit(Exit::Memory, [&] { require_bytes("inspect " + options.model, here); });
  with_exit(Exit::Input, [&] { published::load(model, store); });
  model.weights = {};  // the pages of its files are not needed any more
  return show_inside(options, store, model.spec.model, text, std::move(shown));
}

Exit inspect_saved(const InspectOptions& options, Backend& backend) {
  const RunSpec spec = with_exit(Exit::Input, [&] {
    RunSpec saved = Run::saved_spec(options.model);
    require_language(saved.model);
    return saved;
  });
  const std::shared_ptr<const Task> task = task_of(spec);
  const std::vector<int32_t> ids = passage_of(options, [&] { return task->encode(options.text); });
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.model, task, backend); });
  const ModelConfig& model = run->spec().model;
  const Batch text = with_exit(Exit::Usage, [&] { return passage_batch(model, ids, task->types(ids)); });
  Inspection shown;
  shown.name = spec.name.empty() ? default_name(spec) : spec.name;
  shown.decoder = model.architecture == Architecture::Decoder;
  shown.about = {{"file", options.model},
                 {"run", shown.name},
                 {"step", run->steps_done()},
                 {"parameters", parameters_of(run->store())}};
  add_settings(shown.about, run->spec());
  shown.text_of = [&](int32_t token) { return task->label(token); };
  if (!options.json) {
    say("{} after {} steps, in {}\n", shown.name, run->steps_done(), options.model);
    print_settings(shown.about);
    say("{} parameters\n", parameters_of(run->store()));
  }
  return show_inside(options, run->store(), model, text, std::move(shown));
}

Exit inspect(const InspectOptions& given) {
  const EndsAtOnce at_once("interrupted");  // what is written is whole or not there
  require_text(given);
  InspectOptions options = given;
  options.model = with_exit(Exit::Input, [&] { return published::require_folder(options.model); });
  check_outputs({{"--svg", options.svg}}, {{"inspect", options.model}});
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const bool saved =
      std::filesystem::is_regular_file(options.model) && !published::is_gguf_file(options.model);
  return saved ? inspect_saved(options, *backend) : inspect_published(options, *backend);
}

}  // namespace

void add_inspect(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "inspect",
      "Open a published model or a saved run: what it is, and what its layers do with a text", inspect);
  sub.add_option("model", options.model,
                 "a published model (a folder with config.json, or a GGUF file), or a saved run")
      ->type_name("DIR|FILE")
      ->required();
  sub.add_option("--ids", options.ids, "the text as numbers of its tokens: \"5 17 3\"")->type_name("IDS");
  sub.add_option("--text", options.text,
                 "the text itself, which the model's tokenizer cuts into tokens, or the run's data")
      ->type_name("TEXT")
      ->excludes("--ids");
  sub.add_flag("--leave-out", options.leave_out, "also the loss without each sub-layer and each layer");
  sub.add_flag("--no-gradients", options.no_gradients, "no backward pass, and less memory");
  sub.add_flag("--no-attention", options.no_attention,
               "no probabilities of attention, whose number grows with the square of the text");
  sub.add_option("--svg", options.svg, "also a picture of how long the states are, by layer and token")
      ->type_name("FILE");
  sub.add_flag("--json", options.json, "one JSON object instead of tables");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
