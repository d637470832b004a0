// normscope inspect opens a published model or a saved run and measures its layers on one text.
#include <algorithm>
#include <numeric>

#include "addons/inside/app/inspected.h"
#include "addons/published/training/family.h"
#include "addons/published/training/gguf.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/passage.h"
#include "addons/published/training/published.h"
#include "addons/published/training/token_task.h"
#include "app/commands/commands.h"
#include "engine/core/machine.h"
#include "training/io/codec.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
using namespace inside;
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMaxTokens = 32;  ///< rows of tokens; of a longer text those with the largest loss
constexpr size_t kMaxColumns = 8;  ///< tokens next to each other
constexpr size_t kMaxGuesses = 4;  ///< of one token
constexpr int32_t kGuesses = 5;    ///< of one token, in JSON
constexpr size_t kMaxParts = 12;   ///< of one logit

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

void print_table(std::string_view title, const Rows& rows, std::string_view alignment) {
  say("\n{}\n", title);
  put(text_table(rows, alignment));
}

/// The last token with a target; the first where none has.
size_t last_asked(const Inside& in) {
  size_t at = in.tokens.size() - 1;
  while (at > 0 && in.targets[at] < 0) --at;
  return at;
}

/// The position of a token, counted from 1, and its text.
std::string token_at(const Inspection& of, size_t place) {
  return fmt::format("{}: {}", place + 1, shown_token(of, of.inside.tokens[place]));
}

void print_tokens(const Inspection& of) {
  const Inside& in = of.inside;
  std::vector<size_t> places;
  for (size_t t = 0; t < in.tokens.size(); ++t)
    if (std::isfinite(in.token_loss[t]) || in.tokens.size() <= kMaxTokens) places.push_back(t);
  const bool all = in.tokens.size() <= kMaxTokens;
  if (!all) {
    std::ranges::stable_sort(places, std::greater<>(), [&](size_t t) { return in.token_loss[t]; });
    places.resize(std::min(places.size(), kMaxTokens));
    std::ranges::sort(places);
  }
  Rows rows{{of.unit, "asked for", "loss"}};
  for (const size_t t : places) {
    const bool asked = in.targets[t] >= 0;
    rows.push_back({token_at(of, t), asked ? shown_token(of, in.targets[t]) : "",
                    asked ? fmt::format("{:.4f}", in.token_loss[t]) : ""});
  }
  print_table(all ? fmt::format("the {}s, and what each is worth in nats", of.unit)
                  : fmt::format("the {} {}s with the largest loss", places.size(), of.unit),
              rows, "llr");
}

void print_stream(const Inspection& of) {
  const auto stream = [&](std::vector<float> norms) {
    const auto largest = static_cast<size_t>(std::ranges::max_element(norms) - norms.begin());
    const float most = norms[largest];
    return std::vector{four_digits(root_mean_square(norms)), four_digits(cpu::median(norms)),
                       four_digits(most), token_at(of, largest)};
  };
  Rows rows{{"sub-layer", "branch var", "stream var", "beta2", "by " + of.unit, "token cos", "layer cos",
             "stream norm", "median", "largest", "at"},
            {"embedding", "", "", "", "", "", ""}};
  std::ranges::copy(stream(of.inside.embedding), std::back_inserter(rows.back()));
  for (const Inside::Sublayer& s : of.inside.sublayers) {
    rows.push_back({s.name, four_digits(s.branch_variance), four_digits(s.input_variance),
                    four_digits(s.shares.back()), four_digits(s.token_share), four_digits(s.token_cosine),
                    four_digits(s.layer_cosine)});
    std::ranges::copy(stream(s.norms), std::back_inserter(rows.back()));
  }
  print_table(fmt::format("the stream: what each sub-layer adds, and how long the state of a {} is after it",
                          of.unit),
              rows, "lrrrrrrrrrl");
  if (const auto dominant = dominant_of(of.inside))
    say("{} dominates: after {} its state is {:.3g} times as long as the median one. Variances and beta2 over all "
        "{}s say what it does; \"by {}\" is the median of each one's share in its own state.\n",
        token_at(of, dominant->token), of.inside.sublayers[dominant->sublayer].name, dominant->times, of.unit,
        of.unit);
}

/// The shares of the embedding, the earlier layers and the layer itself in a state.
using LayerShares = std::array<double, 3>;

/// Adds up the shares of the parts `share(0)` to `share(last)`; from `first` on they are the layer's.
template <typename Share>
LayerShares sums_of(size_t first, size_t last, const Share& share) {
  LayerShares sums{};
  for (size_t j = 0; j <= last; ++j) sums[j == 0 ? 0 : j < first ? 1 : 2] += static_cast<double>(share(j));
  return sums;
}

/// The shares over all tokens together or, where one dominates, their median over the tokens.
LayerShares shares_of(const Inside::Sublayer& s, size_t first, bool dominated) {
  const size_t last = s.shares.size() - 1;
  if (!dominated) return sums_of(first, last, [&](size_t j) { return s.shares[j]; });
  std::array<std::vector<float>, 3> by_token;
  for (size_t t = 0; t < s.norms.size(); ++t) {
    const LayerShares sums = sums_of(first, last, [&](size_t j) { return s.share(j, t); });
    for (size_t i = 0; i < sums.size(); ++i) by_token[i].push_back(static_cast<float>(sums[i]));
  }
  return {cpu::median(by_token[0]), cpu::median(by_token[1]), cpu::median(by_token[2])};
}

/// A row for each layer: the shares of its last state.
void print_shares(const Inspection& of) {
  const std::vector<Inside::Sublayer>& all = of.inside.sublayers;
  const bool dominated = dominant_of(of.inside).has_value();
  Rows rows{{"layer", "embedding", "layers before", "this layer"}};
  if (!dominated) rows.back().emplace_back("largest share");
  for (size_t i = 0, first = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && all[i + 1].layer == all[i].layer) continue;
    rows.push_back({fmt::format("L{:02}", all[i].layer)});
    for (const double share : shares_of(all[i], first + 1, dominated))
      rows.back().push_back(four_digits(share));
    const std::vector<double>& shares = all[i].shares;  // of the embedding, then of sub-layers 0 to i
    const auto most = static_cast<size_t>(std::ranges::max_element(shares) - shares.begin());
    if (!dominated)
      rows.back().push_back(
          fmt::format("{} {}", four_digits(shares[most]), most == 0 ? "embedding" : all[most - 1].name));
    first = i + 1;
  }
  print_table(
      fmt::format("shares of the state's variance after each layer{}; they add up to more than 1 where parts "
                  "cancel each other",
                  dominated ? fmt::format(", median over the {}s", of.unit) : ""),
      rows, dominated ? "lrrr" : "lrrrl");
}

void print_attention(const Inspection& of) {
  Rows rows{{"attention", "entropy", "narrowest head", "widest head"}};
  for (const Inside::Attention& a : of.inside.attention) {
    const auto [low, high] = std::ranges::minmax_element(a.entropy);
    const auto head = [&](auto at) { return fmt::format("{}: {:.3f}", at - a.entropy.begin() + 1, *at); };
    const double mean = std::accumulate(a.entropy.begin(), a.entropy.end(), 0.0) / a.heads;
    rows.push_back({a.name, fmt::format("{:.3f}", mean), head(low), head(high)});
  }
  print_table("entropy of attention, nats: mean over the heads, and the heads at both ends", rows, "lrrr");
}

/// A row with a head of its own for each of `rows`, then the first of what is found at each token of a short text,
/// otherwise several at token `last`.
void print_by_token(const Inspection& of, const std::string& title, Rows rows, std::string alignment,
                    size_t found, size_t last,
                    const std::function<std::string(size_t row, size_t token, size_t i)>& cell) {
  const size_t tokens = of.inside.tokens.size();
  const bool each = tokens <= kMaxColumns;
  const size_t columns = each ? tokens : std::min(found, kMaxGuesses);
  for (size_t t = 0; each && t < tokens; ++t) rows[0].push_back(token_at(of, t));
  if (!each) rows[0].push_back("at " + token_at(of, last));
  for (size_t r = 1; r < rows.size(); ++r)
    for (size_t c = 0; c < columns; ++c) rows[r].push_back(each ? cell(r - 1, c, 0) : cell(r - 1, last, c));
  print_table(title, rows, alignment + std::string(columns, 'l'));
}

void print_lens(const Inspection& of) {
  const Inside& in = of.inside;
  const size_t tokens = in.tokens.size(), guesses = in.lens.front().guesses.size() / tokens;
  Rows rows{{"layer", "loss"}};
  for (const Inside::Lens& lens : in.lens) rows.push_back({lens.name, fmt::format("{:.4f}", lens.loss)});
  print_by_token(of, "what each layer would say if the output layer read its state (the logit lens)", rows,
                 "lr", guesses, tokens - 1, [&](size_t row, size_t t, size_t i) {
                   const Inside::Guess& g = in.lens[row].guesses[t * guesses + i];
                   return fmt::format("{} {:.2g}", shown_token(of, g.token), g.probability);
                 });
}

/// Shows what gradients ask for, and what a step raises, and at how many tokens that is the right symbol.
void print_backward_lens(const Inspection& of) {
  const Inside& in = of.inside;
  const size_t found = in.backward_lens.front().raised.size() / in.tokens.size();
  const auto print = [&](const std::string& title,
                         std::vector<Inside::Change> Inside::BackwardLens::*changes) {
    Rows rows{{"sub-layer", "right"}};
    for (const Inside::BackwardLens& lens : in.backward_lens)
      rows.push_back({lens.name, std::to_string(right_of(in, lens.*changes))});
    print_by_token(of, title, rows, "lr", found, last_asked(in), [&](size_t row, size_t t, size_t i) {
      const Inside::Change& c = (in.backward_lens[row].*changes)[t * found + i];
      return c.token < 0 ? "" : fmt::format("{} {:+.2g}", shown_token(of, c.token), c.nats);
    });
  };
  print(
      fmt::format(
          "what the gradient at each {} asks for (the backward lens), in nats for 1 % of the state's length, and "
          "how often that is right",
          of.unit),
      &Inside::BackwardLens::asked);
  print(fmt::format("what a step against the gradient of the last matrix raises most at each {}", of.unit),
        &Inside::BackwardLens::raised);
}

/// A row for each sub-layer and layer, then for each attention sub-layer a row with the change by head.
void print_left_out(const Inspection& of) {
  Rows rows{{"left out", "loss", "change"}}, heads{{"head"}};
  for (const Inside::LeftOut& l : of.inside.left_out) {
    const std::string change = fmt::format("{:+.4f}", l.loss - of.inside.loss);
    if (l.head == 0) {
      rows.push_back({l.name, fmt::format("{:.4f}", l.loss), change});
      continue;
    }
    if (l.head == 1) heads.push_back({l.name.substr(0, l.name.find(".head."))});
    heads.back().push_back(change);
    if (heads.size() == 2) heads.front().push_back(std::to_string(l.head));
  }
  if (rows.size() > 1) print_table("the loss with a sub-layer or a layer left out", rows, "lrr");
  if (heads.size() > 1)
    print_table("the change of the loss with one head left out", heads,
                "l" + std::string(heads.front().size() - 1, 'r'));
}

/// The parts of the last target's logit, largest first; heads instead of their attention.
void print_attribution(const Inspection& of) {
  const Inside& in = of.inside;
  const size_t at = last_asked(in);
  std::vector<std::pair<std::string, float>> parts{{"embedding", in.attributed.embedding[at]}};
  float rest = in.attributed.logit[at] - in.attributed.embedding[at];
  for (const Inside::Sublayer& s : in.sublayers) {
    const auto attention = std::ranges::find(in.attention, s.name, &Inside::Attention::name);
    rest -= s.attribution[at];
    if (attention == in.attention.end() || attention->attribution.empty()) {
      parts.emplace_back(s.name, s.attribution[at]);
      continue;
    }
    for (size_t h = 0; h < static_cast<size_t>(attention->heads); ++h)
      parts.emplace_back(fmt::format("{}.head.{}", s.name, h + 1),
                         attention->attribution[h * in.tokens.size() + at]);
  }
  parts.emplace_back("biases", rest);
  std::ranges::stable_sort(parts, std::greater<>(), [](const auto& part) { return std::abs(part.second); });
  Rows rows{{"part", "logit"}};
  for (const auto& [name, value] : parts) {
    if (rows.size() > kMaxParts) break;
    rows.push_back({name, fmt::format("{:+.3f}", value)});
  }
  print_table(fmt::format("the logit of {} after {} is {:+.3f} above the mean of all {}s: its largest parts",
                          shown_token(of, in.attributed.symbol[at]), token_at(of, at),
                          in.attributed.logit[at], of.unit),
              rows, "lr");
}

void print_gradients(const Inspection& of) {
  Rows rows{{"matrix", "gradient norm"}};
  for (const Inside::Gradient& g : of.inside.gradients) rows.push_back({g.name, four_digits(g.norm)});
  print_table("gradients", rows, "lr");
}

void print_inside(const Inspection& of) {
  const Inside& in = of.inside;
  const auto asked = std::ranges::count_if(in.targets, [](int32_t target) { return target >= 0; });
  if (asked > 0) {
    say("\nloss {:.4f} over {} {}s, perplexity {:.4g}\n", in.loss, asked, of.unit, std::exp(in.loss));
    print_tokens(of);
  } else {
    say("\nthe files have no head that says {}s: no loss, no gradients, and nothing that a layer would say\n",
        of.unit);
  }
  print_stream(of);
  print_shares(of);
  if (!in.attention.empty()) print_attention(of);
  if (!in.lens.empty()) print_lens(of);
  if (!in.backward_lens.empty()) print_backward_lens(of);
  if (asked > 0 && !in.attributed.logit.empty()) print_attribution(of);
  if (!in.left_out.empty()) print_left_out(of);
  if (!in.gradients.empty()) print_gradients(of);
}

using nlohmann::json;
using tokenizer::PublishedTokenizer;
using tokenizer::Special;

struct InspectOptions {
  std::string model, ids, text, svg, states;
  bool leave_out = false, leave_out_heads = false, json = false;
  bool no_gradients = false, no_attention = false, no_lens = false, backward_lens = false;
  int32_t go_on = 0, threads = 0;
  Draws draws;
};

constexpr size_t kMaxIds = 4096;

std::vector<int32_t> ids_of(const std::string& text) {
  return token_numbers(text, [](const std::string& word) {
    throw CommandError(Exit::Usage,
                       fmt::format("--ids: {} is no id: expected whole numbers from 0, such as \"5 17 3\"",
                                   shown_text(word)));
  });
}

bool has_text(const InspectOptions& options) { return !options.ids.empty() || !options.text.empty(); }

/// Lists the parameters, which needs no text.
Exit show_tensors(const InspectOptions& options, const Store& store, json about) {
  Rows rows{{"tensor", "shape", "root mean square", "largest"}};
  json& all = about["tensors"] = json::array();
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& p = store.parameters()[i];
    const std::vector<float> values = store.read(static_cast<int32_t>(i));
    float largest = 0;
    for (const float v : values)
      if (!(std::abs(v) <= largest) && !std::isnan(largest)) largest = std::abs(v);  // NaN stays
    const double size = root_mean_square(values);
    rows.push_back({p.name, to_string(p.shape), four_digits(size), four_digits(largest)});
    all.push_back(
        {{"name", p.name}, {"shape", to_string(p.shape)}, {"root_mean_square", size}, {"largest", largest}});
  }
  if (options.json)
    say("{}\n", to_lines(about));
  else
    print_table("the weights; --text TEXT says what they do with a text", rows, "llrr");
  return Exit::Ok;
}

/// The token numbers of --ids, or of --text by `encode`.
template <typename Encode>
std::vector<int32_t> passage_of(const InspectOptions& options, Encode encode) {
  const bool letters = !options.text.empty();
  std::vector<int32_t> ids = letters ? with_exit(Exit::Input, encode) : ids_of(options.ids);
  if (ids.size() < 2 || ids.size() > kMaxIds)
    throw CommandError(Exit::Usage, fmt::format("{}: {} tokens: expected 2 to {}",
                                                letters ? "--text" : "--ids", ids.size(), kMaxIds));
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

/// Writes the tokens and, with a row for each token, the states after the embedding and each sub-layer, and the logits
/// of a model with a head.
void write_states(const std::string& file, const Inside& in) {
  SafetensorsWriter writer;
  const auto tokens = static_cast<int64_t>(in.tokens.size());
  const auto add = [&](const std::string& name, const std::vector<float>& state) {
    writer.add(name, {tokens, static_cast<int64_t>(state.size()) / tokens}, state);
  };
  writer.add("tokens", {tokens}, in.tokens);
  add("embedding", in.embedding_state);
  for (const Inside::Sublayer& s : in.sublayers) add(s.name, s.state);
  if (!in.logits.empty()) add("logits", in.logits);
  writer.write(file);
}

/// Measures and prints; without targets there are neither gradients nor lenses.
Exit show_inside(const InspectOptions& options, Store& store, const ModelConfig& model, const Batch& text,
                 Inspection shown) {
  const bool asks = has_targets(text);
  shown.inside = inside_of(store, model, text,
                           {.gradients = asks && !options.no_gradients,
                            .attention = !options.no_attention,
                            .guesses = asks && !options.no_lens ? kGuesses : 0,
                            .changes = asks && options.backward_lens ? kGuesses : 0,
                            .left_out = asks && options.leave_out,
                            .heads_out = asks && options.leave_out_heads,
                            .states = !options.states.empty()});
  if (!asks) shown.inside.loss = std::numeric_limits<double>::quiet_NaN();
  if (options.json)
    say("{}\n", to_lines(json_of(shown)));
  else
    print_inside(shown);
  const InterruptGuard guard;
  if (!options.states.empty()) write_states(options.states, shown.inside);
  if (!options.svg.empty()) write_file(options.svg, norms_svg(shown), "inspect");
  for (const std::string& file : {options.states, options.svg})
    if (!file.empty() && !options.json) say("\nwrote {}\n", file);
  return Exit::Ok;
}

/// The text with its continuation, which the command prints.
Batch go_on(const InspectOptions& options, Store& store, const ModelConfig& model, std::vector<int32_t> ids,
            const Inspection& shown) {
  return with_exit(Exit::Usage, [&] {
    const size_t given = ids.size();
    ids = continued(store, model, std::move(ids), options.go_on, options.draws);
    std::string written;
    for (const int32_t token : std::span(ids).subspan(given)) written += " " + shown_token(shown, token);
    const std::string how = options.draws.temperature > 0
                                ? fmt::format("{}s drawn at temperature {} with seed {}", shown.unit,
                                              options.draws.temperature, options.draws.seed)
                                : fmt::format("the likeliest {}s", shown.unit);
    if (!options.json) say("\ncontinued by {}:{}\n", how, written);
    return passage_batch(model, std::move(ids));
  });
}

/// Nothing where the folder has no usable tokenizer; only --text needs one.
std::optional<PublishedTokenizer> tokenizer_of(const std::string& folder) {
  try {
    return PublishedTokenizer::load(folder);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Bytes of parameter gradients that a look saves: if gradients reuse one another's memory (Look), all but the
/// largest.
int64_t spared_gradients(const InspectOptions& options, const Store& store) {
  size_t kept = 0;
  for (const ParameterInfo& p : store.parameters()) kept = std::max(kept, p.shape.padded());
  if (!store.backend().in_order()) kept = store.size();
  return static_cast<int64_t>((store.size() - (options.no_gradients ? 0 : kept)) * sizeof(float));
}

Exit inspect_published(InspectOptions options, Backend& backend) {
  std::optional<PublishedTokenizer> tokenizer;
  std::vector<int32_t> ids = !has_text(options) ? std::vector<int32_t>{0, 0} : passage_of(options, [&] {
    tokenizer = PublishedTokenizer::load(options.model);
    return tokenizer->encode(options.text);
  });
  if (!tokenizer) tokenizer = tokenizer_of(options.model);
  const int32_t positions = static_cast<int32_t>(ids.size()) + options.go_on;
  published::PublishedModel model =
      with_exit(Exit::Input, [&] { return published::open(options.model, positions); });
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
                here = published::bytes_of(model, store, positions) - spared_gradients(options, store);
  Inspection shown{.name = model.family->title,
                   .decoder = model.spec.model.architecture == Architecture::Decoder,
                   .unit = "token"};
  shown.about = {{"folder", model.folder},           {"family", model.family->title},
                 {"model_type", model.family->type}, {"parameters", parameters},
                 {"bytes_in_files", in_files},       {"bytes_here", here},
                 {"machine_bytes", machine_memory()}};
  put_settings(shown.about, model.spec);
  shown.text_of = [&](int32_t token) {
    if (!tokenizer) return std::string();
    const std::string text = tokenizer->decode({&token, 1}, Special::Kept);
    return text.empty() ? tokenizer->token_of(token).value_or("") : text;
  };
  if (!options.json) {
    say("{} ({}) in {}\n", model.family->title, model.family->type, model.folder);
    print_settings(shown.about);
    say("{} parameters, {} in the files", parameters, size_words(static_cast<size_t>(in_files)));
    if (has_text(options))
      say("; with {}the states of {} positions, about {} here, of {}",
          options.no_gradients ? "" : "gradients, and ", positions, size_words(static_cast<size_t>(here)),
          size_words(machine_memory()));
    say("\n");
    if (model.one_layer)
      say("all layers have the weights of one in the files; here each has its own, and training unties them\n");
  }
  with_exit(Exit::Memory, [&] { require_bytes("inspect " + options.model, here); });
  with_exit(Exit::Input, [&] { published::load(model, store); });
  model.weights = {};  // the pages of its files are not needed any more
  if (!has_text(options)) return show_tensors(options, store, std::move(shown.about));
  if (options.go_on > 0) text = go_on(options, store, model.spec.model, std::move(ids), shown);
  return show_inside(options, store, model.spec.model, text, std::move(shown));
}

Exit inspect_saved(const InspectOptions& options, Backend& backend) {
  const RunSpec spec = with_exit(Exit::Input, [&] {
    RunSpec saved = Run::saved_spec(options.model);
    require_language(saved.model);
    return saved;
  });
  const std::shared_ptr<const Task> task = task_of(spec);
  const std::vector<int32_t> ids = has_text(options)
                                       ? passage_of(options, [&] { return task->encode(options.text); })
                                       : std::vector<int32_t>();
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.model, task, backend); });
  const ModelConfig& model = run->spec().model;
  Batch text;
  if (has_text(options))
    text = with_exit(Exit::Usage, [&] { return passage_batch(model, ids, task->types(ids)); });
  Inspection shown{.name = spec.name.empty() ? default_name(spec) : spec.name,
                   .decoder = model.architecture == Architecture::Decoder};
  shown.about = {{"file", options.model},
                 {"run", shown.name},
                 {"step", run->steps_done()},
                 {"parameters", parameters_of(run->store())}};
  put_settings(shown.about, run->spec());
  shown.text_of = [&](int32_t token) { return task->label(token); };
  if (!options.json) {
    say("{} after {} steps, in {}\n", shown.name, run->steps_done(), options.model);
    print_settings(shown.about);
    say("{} parameters\n", parameters_of(run->store()));
  }
  if (!has_text(options)) return show_tensors(options, run->store(), std::move(shown.about));
  if (options.go_on > 0) text = go_on(options, run->store(), model, ids, shown);
  return show_inside(options, run->store(), model, text, std::move(shown));
}

Exit inspect(const InspectOptions& given) {
  const EndsAtOnce at_once("interrupted");  // a file is whole or not there
  InspectOptions options = given;
  if (!has_text(options)) {
    if (options.leave_out || options.leave_out_heads || options.backward_lens || options.go_on > 0 ||
        !(options.svg + options.states).empty())
      throw CommandError(
          Exit::Usage,
          "--svg, --states, --continue, --leave-out, --leave-out-heads and --backward-lens need a text: "
          "expected --text or --ids");
    options.no_gradients = true;
  }
  options.model = with_exit(Exit::Input, [&] { return published::require_folder(options.model); });
  check_outputs({{"--svg", options.svg}, {"--states", options.states}}, {{"inspect", options.model}});
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const bool saved =
      std::filesystem::is_regular_file(options.model) && !published::is_model_file(options.model);
  return saved ? inspect_saved(options, *backend) : inspect_published(options, *backend);
}

}  // namespace

void add_inspect(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "inspect",
      "Open a published model or a saved run: its weights, or what its layers do with a text", inspect);
  add_value(sub, "model", options.model, "DIR|FILE",
            "a published model (a folder with config.json, or a file: GGUF, ckpt.pt), or a saved run")
      ->required();
  add_value(sub, "--ids", options.ids, "IDS", "the text as numbers of its tokens: \"5 17 3\"");
  add_value(sub, "--text", options.text, "TEXT",
            "the text itself, which the model's tokenizer cuts into tokens, or the run's data")
      ->excludes("--ids");
  add_value(sub, "--continue", options.go_on, "N",
            "lets the model write N more tokens first, the likeliest each time, and reads those too",
            whole(0, kMaxIds));
  add_value(sub, "--temperature", options.draws.temperature, "T",
            "--continue draws each token from softmax(logits / T); 0, the default: the likeliest",
            CLI::Range(0.0, 100.0));
  add_value(sub, "--seed", options.draws.seed, "N", "of these draws; 1 unless given");
  sub.add_flag("--leave-out", options.leave_out, "also the loss without each sub-layer and each layer");
  sub.add_flag("--leave-out-heads", options.leave_out_heads, "also the loss without each head of attention");
  CLI::Option* backward =
      sub.add_flag("--backward-lens", options.backward_lens,
                   "also the tokens that a step against the gradient raises and lowers most");
  sub.add_flag("--no-gradients", options.no_gradients, "no backward pass, and less memory")
      ->excludes(backward);
  sub.add_flag("--no-attention", options.no_attention,
               "no probabilities of attention, whose number grows with the square of the text");
  sub.add_flag("--no-lens", options.no_lens,
               "nothing of what each layer would say, which takes an output layer for each");
  add_value(sub, "--states", options.states, "FILE",
            "also the states of all tokens behind each sub-layer, and the logits, as safetensors");
  add_value(sub, "--svg", options.svg, "FILE",
            "also a picture of how long the states are, by layer and token");
  sub.add_flag("--json", options.json, "one JSON object instead of tables");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
