// normscope inspect opens a folder of a published model and says what its layers do with one text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/io/text_table.h"
#include "training/measure/look.h"
#include "training/measure/step/memory_map.h"
#include "training/published/family.h"
#include "training/published/published.h"
#include "training/tokenizer/published_tokenizer.h"

namespace normscope::commands {
using namespace cli;
namespace {

using nlohmann::json;
using published::Published;

struct InspectOptions {
  std::string folder, ids, text;
  bool json = false;
  int32_t threads = 0;
};

constexpr size_t kMostIds = 4096;

/// `ids_of` reads numbers between blanks or commas.
std::vector<int32_t> ids_of(std::string text) {
  for (char& c : text)
    if (c == ',') c = ' ';
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(" \t\n"); at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool digits = word.find_first_not_of("0123456789") == word.npos && word.size() <= 9;
    if (!digits)
      throw CommandError(Exit::Usage,
                         fmt::format("--ids: {} is no id: expected whole numbers from 0, such as "
                                     "\"5 17 3\"",
                                     shown_text(word)));
    ids.push_back(std::stoi(word));
    at = std::min(text.find_first_not_of(" \t\n", end), text.size());
  }
  return ids;
}

/// `passage_of` is the text in numbers, by the model's own tokenizer where it is given in letters.
std::vector<int32_t> passage_of(const InspectOptions& options) {
  if (options.ids.empty() == options.text.empty())
    throw CommandError(Exit::Usage, "inspect needs a text: expected --text or --ids");
  const bool letters = !options.text.empty();
  std::vector<int32_t> ids =
      letters ? with_exit(Exit::Input,
                          [&] { return tokenizer::PublishedTokenizer::load(options.folder).encode(options.text); })
              : ids_of(options.ids);
  if (ids.size() < 2 || ids.size() > kMostIds)
    throw CommandError(Exit::Usage, fmt::format("{}: {} tokens: expected 2 to {}",
                                                letters ? "--text" : "--ids", ids.size(), kMostIds));
  return ids;
}

/// `batch_of` asks a decoder for the next symbol, and an encoder for each symbol where it stands.
Batch batch_of(const Published& model, const std::vector<int32_t>& ids) {
  for (const int32_t id : ids)
    if (id >= model.spec.model.vocabulary)
      throw CommandError(Exit::Usage,
                         fmt::format("token {} is beyond the model's table of symbols: expected 0 to {}", id,
                                     model.spec.model.vocabulary - 1));
  Batch batch(1, static_cast<int32_t>(ids.size()));
  batch.tokens = batch.targets = ids;
  if (model.spec.model.architecture == Architecture::Decoder) {
    batch.targets.erase(batch.targets.begin());
    batch.targets.push_back(-1);
  }
  return batch;
}

/// `Size` is what the model takes.
struct Size {
  int64_t parameters = 0, file = 0, here = 0;
};

json facts(const Published& model, const Size& size) {
  json all = {{"folder", model.folder},           {"family", model.family->title},
              {"model_type", model.family->type}, {"vocabulary", model.spec.model.vocabulary},
              {"parameters", size.parameters},    {"bytes_in_files", size.file},
              {"bytes_here", size.here},          {"machine_bytes", machine_memory()}};
  for (const char* key :
       {"model.architecture", "model.layers", "model.d_model", "model.heads", "model.kv_heads",
        "model.head_width", "model.feed_forward", "model.norm", "model.placement", "model.activation",
        "model.gated", "model.biases", "model.positions", "model.tied"})
    all[key] = get_field(model.spec, key);
  if (all["model.placement"] == "custom")
    for (const char* key : {"wiring.embedding", "wiring.L*.attn", "wiring.L*.ffn", "wiring.final"})
      all[key] = get_field(model.spec, key);
  return all;
}

/// `SublayerRow` and `Findings` are what is printed.
struct SublayerRow {
  std::string name;
  double branch = 0, input = 0, share = 0;
};
struct Findings {
  double loss = 0;
  std::vector<double> stream;  ///< root of the mean of |x|^2 after each layer
  std::vector<SublayerRow> sublayers;
  std::vector<std::pair<std::string, double>> gradients;
};

/// `norm_of_gradient` adds up in double precision.
double norm_of_gradient(const Look& look, const std::string& parameter) {
  double square = 0;
  for (const float g : look.program().read(parameter, true)) square += static_cast<double>(g) * g;
  return std::sqrt(square);
}

Findings findings_of(Look& look, const Store& store, const Published& model) {
  Findings found;
  const std::vector<StatInfo>& layout = look.layout();
  const std::vector<double> numbers = look.measure();
  const auto number = [&](const std::string& name) {
    for (size_t i = 0; i < layout.size(); ++i)
      if (layout[i].name == name) return numbers[i];
    return std::nan("");
  };
  found.loss = look.program().loss();
  size_t index = 0;
  for (const SublayerValues& s : look.values().sublayers) {
    ++index;
    found.sublayers.push_back({s.name, number(s.name + ".branch.variance"),
                               number(s.name + ".input.variance"),
                               number(fmt::format("beta2.{}.{}", index, index))});
    if (s.name.ends_with(".ffn"))
      found.stream.push_back(
          std::sqrt(look.program().stat(s.name + ".out.mean_square") * model.spec.model.d_model));
  }
  for (const ParameterInfo& p : store.parameters())
    if (p.trainable && p.shape.rank == 2)
      found.gradients.emplace_back(p.name, norm_of_gradient(look, p.name));
  return found;
}

json json_of(const Findings& found, json all) {
  const auto finite = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
  all["loss"] = finite(found.loss);
  for (size_t i = 0; i < found.stream.size(); ++i)
    all["layers"].push_back({{"layer", i + 1}, {"stream_norm", finite(found.stream[i])}});
  for (const SublayerRow& s : found.sublayers)
    all["sublayers"].push_back({{"name", s.name},
                                {"branch_variance", finite(s.branch)},
                                {"input_variance", finite(s.input)},
                                {"beta2", finite(s.share)}});
  for (const auto& [name, norm] : found.gradients)
    all["gradients"].push_back({{"name", name}, {"norm", finite(norm)}});
  return all;
}

void print(const Findings& found, size_t targets) {
  const auto shown = [](double value) { return fmt::format("{:.4g}", value); };
  say("\nloss {:.4f} over {} symbols, perplexity {:.4g}\n\n", found.loss, targets, std::exp(found.loss));
  std::vector<std::vector<std::string>> rows{
      {"sub-layer", "branch var", "stream var", "beta2", "stream norm"}};
  for (size_t i = 0; i < found.sublayers.size(); ++i) {
    const SublayerRow& s = found.sublayers[i];
    rows.push_back({s.name, shown(s.branch), shown(s.input), shown(s.share),
                    s.name.ends_with(".ffn") ? shown(found.stream[i / 2]) : ""});
  }
  put(text_table(rows, "lrrrr"));
  rows = {{"matrix", "gradient norm"}};
  for (const auto& [name, norm] : found.gradients) rows.push_back({name, shown(norm)});
  put("\n");
  put(text_table(rows, "lr"));
}

void print(const json& facts, const Size& size, size_t positions) {
  say("{} ({}) in {}\n", facts["family"].get<std::string>(), facts["model_type"].get<std::string>(),
      facts["folder"].get<std::string>());
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : facts.items())
    if (key.starts_with("model.") || key.starts_with("wiring."))
      rows.push_back({key, value.get<std::string>()});
  rows.push_back({"vocabulary", std::to_string(facts["vocabulary"].get<int64_t>())});
  put(text_table(rows, "ll"));
  say("{} parameters, {} in the files; with gradients, and the states of {} positions, about {} here, of {}\n",
      size.parameters, size_words(static_cast<size_t>(size.file)), positions,
      size_words(static_cast<size_t>(size.here)), size_words(machine_memory()));
}

Exit inspect(const InspectOptions& options) {
  const EndsAtOnce at_once("interrupted");  // nothing is written
  const std::vector<int32_t> ids = passage_of(options);
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  Published model = with_exit(
      Exit::Input, [&] { return published::open(options.folder, static_cast<int32_t>(ids.size())); });
  const Batch batch = batch_of(model, ids);
  Store store(*backend);
  published::declare(model, store);
  Size size{.parameters = 0, .file = model.weights.bytes(), .here = published::bytes_of(model, store)};
  for (const ParameterInfo& p : store.parameters())
    if (p.trainable) size.parameters += p.shape.size();
  const json about = facts(model, size);
  if (!options.json) print(about, size, ids.size());
  with_exit(Exit::Memory, [&] { require_bytes("inspect " + options.folder, size.here); });
  with_exit(Exit::Input, [&] { published::load(model, store); });
  model.weights = {};  // the pages of its files are not needed any more
  Look look(store, model.spec.model, shape_of(batch), true);
  look.put(batch);
  const Findings found = findings_of(look, store, model);
  if (options.json)
    say("{}\n", json_of(found, about).dump(2));
  else
    print(found, static_cast<size_t>(std::ranges::count_if(batch.targets, [](int32_t t) { return t >= 0; })));
  return Exit::Ok;
}

}  // namespace

void add_inspect(CLI::App& app, Command& command) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App& sub = *app.add_subcommand(
      "inspect", "Open a published model: what it is, and what its layers do with a text");
  sub.footer(kFooter);
  sub.add_option("folder", options->folder, "a published model: config.json and safetensors")
      ->type_name("DIR")
      ->required();
  sub.add_option("--ids", options->ids, "the text as numbers of its tokens: \"5 17 3\"")->type_name("IDS");
  sub.add_option("--text", options->text,
                 "the text itself, which the model's tokenizer.json cuts into tokens")
      ->type_name("TEXT")
      ->excludes("--ids");
  sub.add_flag("--json", options->json, "one JSON object instead of tables");
  add_threads(sub, options->threads);
  sub.callback([options, &command] { command = [options] { return inspect(*options); }; });
}

}  // namespace normscope::commands
