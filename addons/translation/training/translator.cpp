#include "addons/translation/training/translator.h"

#include <algorithm>
#include <numeric>

#include "addons/translation/training/pairs_task.h"
#include "engine/io/safetensors.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"

namespace normscope {
namespace {

constexpr int32_t kSentences = 16;  // sentences at a time

int32_t bucket_of(int32_t length, int32_t longest) {
  const std::vector<int32_t> lengths = bucket_lengths(longest);
  return *std::ranges::lower_bound(lengths, std::min(length, longest));
}

/// Turns logits into log-probabilities, in place.
void log_softmax(std::span<float> x) {
  const float largest = *std::ranges::max_element(x);
  double sum = 0;
  for (float v : x) sum += std::exp(static_cast<double>(v - largest));
  const float shift = largest + static_cast<float>(std::log(sum));
  for (float& v : x) v -= shift;
}

struct Candidate {
  double log_probability;
  int32_t from;  // index of the hypothesis
  int32_t symbol;
  bool operator<(const Candidate& o) const {  // better first
    if (log_probability != o.log_probability) return log_probability > o.log_probability;
    return from != o.from ? from < o.from : symbol < o.symbol;
  }
};

struct Sentence {
  std::vector<Hypothesis> live = {Hypothesis{}};
  std::vector<Hypothesis> finished;
  bool done = false;
};

// Adds the `count` best continuations of one hypothesis to the candidates. A probability that is not a
// number is skipped.
void add_best(const Hypothesis& from, int32_t index, std::span<const float> next, size_t count,
              std::vector<Candidate>& candidates, std::vector<int32_t>& order) {
  order.clear();
  for (size_t v = 0; v < next.size(); ++v)
    if (!std::isnan(next[v])) order.push_back(static_cast<int32_t>(v));
  const size_t kept = std::min(count, order.size());
  const auto better = [&](int32_t a, int32_t b) {
    const float x = next[static_cast<size_t>(a)], y = next[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), better);
  for (size_t i = 0; i < kept; ++i)
    candidates.push_back(
        {from.log_probability + static_cast<double>(next[static_cast<size_t>(order[i])]), index, order[i]});
}

void advance(Sentence& s, std::vector<Candidate>& candidates, int32_t end, size_t beam, bool last) {
  std::sort(candidates.begin(), candidates.end());
  std::vector<Hypothesis> live;
  for (size_t rank = 0; rank < candidates.size() && live.size() < beam; ++rank) {
    const Candidate& c = candidates[rank];
    const bool ended = c.symbol == end;
    if (ended && rank >= beam)
      continue;  // an end that is no better than the beam's other continuations waits
    Hypothesis h = s.live[static_cast<size_t>(c.from)];
    h.symbols.push_back(c.symbol);
    h.log_probability = c.log_probability;
    (ended ? s.finished : live).push_back(std::move(h));
  }
  s.live = std::move(live);
  s.done = s.live.empty() || s.finished.size() >= beam || last;
  if (last || (s.live.empty() && s.finished.empty()))
    s.finished.insert(s.finished.end(), s.live.begin(), s.live.end());
}

}  // namespace

Translator::Translator(Store& store, const ModelConfig& model, int32_t begin, int32_t end,
                       BeamOptions options)
    : store_(&store),
      model_(model),
      begin_(begin),
      end_(end),
      options_(options),
      rows_(kSentences * options.beam) {
  if (options.beam < 1) fail("translate", "the beam is {}: expected at least 1", options.beam);
  lengths_.assign(static_cast<size_t>(rows_), 0);
  Tape tape(store);
  const int64_t D = model.d_model;
  const ValueId hidden = tape.input("hidden", {rows_, D}, DType::F32);
  output_.emplace(part_of(tape, record_logits(tape, model, hidden)));
}

// Seals the recorded part to run forwards; only its output is read.
Translator::Part Translator::part_of(const Tape& tape, ValueId output) {
  return {tape.value(output).name,
          seal(tape, {.backward = false, .reuse_bytes = true, .keep_probabilities = false})};
}

Translator::Part& Translator::encoder(int32_t source_length) {
  const auto found = encoders_.find(source_length);
  if (found != encoders_.end()) return found->second;
  Tape tape(*store_);
  const ModelValues values = record_encoder(tape, model_,
                                            {.batch = kSentences,
                                             .sequence = source_length,
                                             .source_sequence = source_length,
                                             .key_lengths = true});
  return encoders_.emplace(source_length, part_of(tape, values.encoded)).first->second;
}

Translator::Part& Translator::decoder(int32_t source_length, int32_t length) {
  const auto found = decoders_.find({source_length, length});
  if (found != decoders_.end()) return found->second;
  Tape tape(*store_);
  const ModelValues values = record_decoder(
      tape, model_,
      {.batch = rows_, .sequence = length, .source_sequence = source_length, .key_lengths = true});
  return decoders_.emplace(std::pair{source_length, length}, part_of(tape, values.hidden)).first->second;
}

std::span<const float> Translator::next(std::span<const BeamRow> rows, int32_t source_length) {
  const size_t filled = rows.front().symbols->size() + 1;  // with the begin symbol; the same for all rows
  const int32_t length = bucket_of(static_cast<int32_t>(filled), model_.sequence);
  Part& part = decoder(source_length, length);
  const auto width = static_cast<size_t>(length);
  const auto tokens = part.program.tokens("tokens");
  std::ranges::fill(tokens, 0);
  const auto place = [&](const BeamRow& row) {
    return static_cast<size_t>(row.sentence * options_.beam + row.row);
  };
  for (const BeamRow& row : rows) {
    const auto to = tokens.begin() + static_cast<std::ptrdiff_t>(place(row) * width);
    *to = begin_;
    std::ranges::copy(*row.symbols, to + 1);
  }
  std::ranges::copy(encoded_, part.program.floats("encoded").begin());
  std::ranges::copy(lengths_, part.program.tokens("key_lengths").begin());
  part.program.replay({});

  hidden_ = part.program.read(part.output);
  const auto D = static_cast<size_t>(model_.d_model);
  const auto last = output_->program.floats("hidden");
  for (const BeamRow& row : rows) {
    const auto from = hidden_.begin() + static_cast<std::ptrdiff_t>((place(row) * width + filled - 1) * D);
    std::copy(from, from + static_cast<std::ptrdiff_t>(D),
              last.begin() + static_cast<std::ptrdiff_t>(place(row) * D));
  }
  output_->program.replay({});
  const std::vector<float> logits = output_->program.read(output_->output);
  const auto V = static_cast<size_t>(model_.vocabulary);
  probabilities_.resize(rows.size() * V);
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto from = logits.begin() + static_cast<std::ptrdiff_t>(place(rows[r]) * V);
    std::copy(from, from + static_cast<std::ptrdiff_t>(V),
              probabilities_.begin() + static_cast<std::ptrdiff_t>(r * V));
    log_softmax(std::span(probabilities_).subspan(r * V, V));
  }
  return probabilities_;
}

void Translator::batch(std::span<const std::vector<int32_t>> sources, std::span<const size_t> chosen,
                       int32_t source_length, std::vector<std::vector<int32_t>>& out) {
  Part& part = encoder(source_length);
  const auto width = static_cast<size_t>(source_length), D = static_cast<size_t>(model_.d_model);
  const auto source = part.program.tokens("source"), lengths = part.program.tokens("key_lengths");
  std::ranges::fill(source, 0);
  std::ranges::fill(lengths, 0);
  std::vector<int32_t> longest;
  for (size_t s = 0; s < chosen.size(); ++s) {
    const std::vector<int32_t>& row = sources[chosen[s]];
    const size_t count = std::min(row.size(), width);
    std::copy_n(row.begin(), count, source.begin() + static_cast<std::ptrdiff_t>(s * width));
    lengths[s] = static_cast<int32_t>(count);
    const auto most = static_cast<int32_t>(end_ < 0 ? count : 2 * count + 10);
    longest.push_back(std::clamp(most, 1, model_.sequence));
  }
  part.program.replay({});
  const std::vector<float> encoded = part.program.read(part.output);
  encoded_.resize(static_cast<size_t>(rows_) * width * D);
  for (size_t r = 0; r < static_cast<size_t>(rows_); ++r) {
    const size_t s = r / static_cast<size_t>(options_.beam);
    std::copy_n(encoded.begin() + static_cast<std::ptrdiff_t>(s * width * D), width * D,
                encoded_.begin() + static_cast<std::ptrdiff_t>(r * width * D));
    lengths_[r] = lengths[s];
  }
  const auto best = beam_search(longest, model_.vocabulary, end_, options_,
                                [&](std::span<const BeamRow> rows) { return next(rows, source_length); });
  for (size_t s = 0; s < chosen.size(); ++s) out[chosen[s]] = best[s].symbols;
}

std::vector<std::vector<int32_t>> Translator::translate(std::span<const std::vector<int32_t>> sources,
                                                        const std::function<bool(size_t)>& progress) {
  std::vector<std::vector<int32_t>> out(sources.size());
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return sources[a].size() < sources[b].size(); });
  for (size_t first = 0; first < order.size(); first += kSentences) {
    if (progress && !progress(first)) break;
    const size_t count = std::min<size_t>(kSentences, order.size() - first);
    const std::span<const size_t> chosen = std::span(order).subspan(first, count);
    batch(sources, chosen, bucket_of(static_cast<int32_t>(sources[chosen.back()].size()), model_.sequence),
          out);
  }
  if (progress) progress(order.size());
  return out;
}

void average_weights(std::span<const std::string> paths, Store& store) {
  if (paths.empty()) fail("average", "no saved run is named: expected at least one");
  std::vector<std::vector<double>> sums(store.parameters().size());
  for (const std::string& path : paths) {
    const SafetensorsFile file = SafetensorsFile::load(path);
    for (const std::string& name : file.names())  // a saved run has a first moment "m/NAME" of each weight
      if (name.starts_with("m/") && store.find(name.substr(2)) < 0)
        fail("average", "{} has {}, which the model lacks: expected states of one model", path,
             name.substr(2));
    for (size_t i = 0; i < sums.size(); ++i) {
      const ParameterInfo& info = store.parameters()[i];
      file.require_shape(info.name, TensorShape(info.shape.dim, info.shape.dim + info.shape.rank));
      const std::vector<float> values = file.floats(info.name);
      sums[i].resize(values.size());
      for (size_t k = 0; k < values.size(); ++k) sums[i][k] += static_cast<double>(values[k]);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    std::vector<float> mean(sums[i].size());
    for (size_t k = 0; k < mean.size(); ++k)
      mean[k] = static_cast<float>(sums[i][k] / static_cast<double>(paths.size()));
    store.write(static_cast<int32_t>(i), mean);
  }
}

double Hypothesis::score(double length_penalty) const {
  return log_probability / std::pow(static_cast<double>(std::max<size_t>(symbols.size(), 1)), length_penalty);
}

std::vector<Hypothesis> beam_search(std::span<const int32_t> longest, int32_t vocabulary, int32_t end,
                                    const BeamOptions& options, const NextSymbols& next) {
  if (options.beam < 1) fail("beam", "the beam is {}: expected at least 1", options.beam);
  const auto beam = static_cast<size_t>(options.beam), V = static_cast<size_t>(vocabulary);
  std::vector<Sentence> sentences(longest.size());
  std::vector<int32_t> order;
  for (int32_t length = 1;; ++length) {
    std::vector<BeamRow> rows;
    for (size_t s = 0; s < sentences.size(); ++s)
      for (size_t k = 0; !sentences[s].done && k < sentences[s].live.size(); ++k)
        rows.push_back({static_cast<int32_t>(s), static_cast<int32_t>(k), &sentences[s].live[k].symbols});
    if (rows.empty()) break;
    const std::span<const float> probabilities = next(rows);
    size_t row = 0;
    for (size_t s = 0; s < sentences.size(); ++s) {
      if (sentences[s].done) continue;
      std::vector<Candidate> candidates;
      for (size_t k = 0; k < sentences[s].live.size(); ++k, ++row)
        add_best(sentences[s].live[k], static_cast<int32_t>(k), probabilities.subspan(row * V, V), 2 * beam,
                 candidates, order);
      advance(sentences[s], candidates, end, beam, length >= longest[s]);
    }
  }
  std::vector<Hypothesis> best;
  for (Sentence& s : sentences) {
    const auto at = std::ranges::max_element(s.finished, [&](const Hypothesis& a, const Hypothesis& b) {
      return a.score(options.length_penalty) < b.score(options.length_penalty);
    });
    best.push_back(at == s.finished.end() ? Hypothesis{} : std::move(*at));
  }
  return best;
}

}  // namespace normscope
