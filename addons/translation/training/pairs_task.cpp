#include "addons/translation/training/pairs_task.h"

#include <algorithm>
#include <filesystem>

#include "training/data/batch_draws.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

constexpr const char* kPairColumns = "source<TAB>target";

int32_t rows_of(int32_t length, int32_t B, int32_t T) {
  return static_cast<int32_t>(std::max<int64_t>(1, int64_t{B} * T / length));
}

// Fisher-Yates with the random stream of (seed, epoch, number), which no row of a batch uses.
template <typename T>
void shuffle(std::vector<T>& list, uint64_t seed, uint64_t epoch, int32_t number) {
  BatchDraws draws(seed, epoch, Split::Train, 1'000'000'000 + number);
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[draws.below(i)]);
}

void put_row(std::span<int32_t> to, std::span<const int32_t> symbols, int32_t rest) {
  std::ranges::copy(symbols, to.begin());
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(symbols.size()), to.end(), rest);
}

/// Reads the pieces from data.tokenizer. Where there is no such file it learns them and writes nothing: a caller that
/// may write calls save_tokenizer().
std::shared_ptr<const Task> make_pairs_task(const DataSpec& spec) {
  const PairsData& data = spec.added.of<PairsData>();
  if (data.path.empty()) fail("data", "the task \"pairs\" needs a file: give one of lines {}", kPairColumns);
  std::vector<TsvRow> train = read_tsv(data.path, kPairColumns), valid;
  if (!spec.valid_path.empty()) valid = read_tsv(spec.valid_path, kPairColumns);
  const auto pieces = [&] {
    std::error_code error;
    if (!spec.tokenizer_path.empty() && std::filesystem::exists(spec.tokenizer_path, error))
      return Tokenizer::load(spec.tokenizer_path);
    std::vector<std::string_view> sentences;
    for (const TsvRow& row : train) {
      sentences.push_back(row.first);
      sentences.push_back(row.second);
    }
    return Tokenizer::train(sentences, data.vocabulary, true);
  };
  return std::make_shared<PairsTask>(std::move(train), std::move(valid), pieces(), data.path, spec.context);
}

constexpr char kPairs[] = "pairs";
bool reads_pairs(const RunSpec& s) { return s.data.name == kPairs; }

}  // namespace

std::vector<int32_t> bucket_lengths(int32_t T) {
  std::vector<int32_t> lengths;
  for (int32_t power = 8; power < T; power *= 2)
    for (int32_t length : {power, power + power / 2})
      if (length < T) lengths.push_back(length);
  lengths.push_back(T);
  return lengths;
}

PairsTask::PairsTask(std::vector<TsvRow> train, std::vector<TsvRow> valid, Tokenizer tokenizer,
                     std::string name, int32_t context)
    : Task("piece"),
      tokenizer_(std::move(tokenizer)),
      name_(std::move(name)),
      context_(context),
      validation_(std::move(valid)) {
  if (validation_.empty() && train.size() >= 2)
    validation_ = held_out(train, std::clamp<size_t>(train.size() / 20, 1, 2000));
  hash_ = hash_bytes(tokenizer_.model());
  const auto note = [&](const std::vector<int32_t>& symbols) {
    hash_ =
        hash_bytes({reinterpret_cast<const char*>(symbols.data()), symbols.size() * sizeof(int32_t)}, hash_);
  };
  for (const TsvRow& row : train) {
    Pair pair = pair_of(row);
    note(pair.source);
    note(pair.target);
    if (pair.length() > context_)
      ++left_out_;
    else
      train_.push_back(std::move(pair));
  }
  for (const TsvRow& row : validation_) {
    // Hashed as text, because BLEU compares text.
    hash_ = hash_bytes(row.second, hash_bytes("\t", hash_bytes(row.first, hash_)));
    Pair pair = pair_of(row);
    if (pair.length() <= context_) valid_.push_back(std::move(pair));
  }
  require_context(context_);
  count_unigram();
}

PairsTask::Pair PairsTask::pair_of(const TsvRow& row) const {
  Pair pair{tokenizer_.encode(row.first), tokenizer_.encode(row.second)};
  pair.source.push_back(Tokenizer::kEnd);
  pair.target.push_back(Tokenizer::kEnd);
  return pair;
}

void PairsTask::count_unigram() {
  unigram_.assign(static_cast<size_t>(vocabulary()), 0);
  double total = 0;
  for (const Pair& pair : train_)
    for (int32_t symbol : pair.target) {
      unigram_[static_cast<size_t>(symbol)] += 1;
      total += 1;
    }
  for (double& p : unigram_) p /= total;
}

void PairsTask::require_context(int32_t T) const {
  if (T != context_)
    fail({"data {}", name_}, "context {} differs from the {} that the pairs were cut for", T, context_);
  if (train_.empty() || valid_.empty())
    fail({"data {}", name_}, "no pair fits into {} pieces: expected a longer sequence, or more pairs than {}",
         T, train_.size() + left_out_);
}

std::shared_ptr<const PairsTask::Plan> PairsTask::make_plan(uint64_t seed, uint64_t epoch, Split split,
                                                            int32_t B, int32_t T) const {
  auto plan = std::make_shared<Plan>(Plan{seed, epoch, split, B, T, {}, {}});
  const std::vector<int32_t> lengths = bucket_lengths(T);
  plan->rows.resize(lengths.size());
  const std::vector<Pair>& pairs = pairs_of(split);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto bucket = std::ranges::lower_bound(lengths, pairs[i].length()) - lengths.begin();
    plan->rows[static_cast<size_t>(bucket)].push_back(static_cast<int32_t>(i));
  }
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto number = static_cast<int32_t>(b);
    if (split == Split::Train) shuffle(plan->rows[b], seed, epoch, number);
    const auto rows = static_cast<size_t>(rows_of(lengths[b], B, T));
    for (size_t first = 0; first < plan->rows[b].size(); first += rows)
      plan->batches.push_back({number, first});
  }
  if (split == Split::Train) shuffle(plan->batches, seed, epoch, static_cast<int32_t>(lengths.size()));
  return plan;
}

std::shared_ptr<const PairsTask::Plan> PairsTask::plan(uint64_t seed, uint64_t epoch, Split split, int32_t B,
                                                       int32_t T) const {
  const std::lock_guard lock(mutex_);
  auto& kept = plans_[static_cast<size_t>(split)];
  const bool same = kept && kept->B == B && kept->T == T &&
                    (split == Split::Validation || (kept->seed == seed && kept->epoch == epoch));
  if (!same) kept = make_plan(seed, epoch, split, B, T);
  return kept;
}

int32_t PairsTask::epoch_batches(int32_t B, int32_t T) const {
  return static_cast<int32_t>(make_plan(0, 0, Split::Train, B, T)->batches.size());
}

int32_t PairsTask::validation_batches(int32_t B, int32_t T) const {
  return static_cast<int32_t>(plan(0, 0, Split::Validation, B, T)->batches.size());
}

PairsTask::PlannedBatch PairsTask::find(uint64_t seed, uint64_t step, Split split, int32_t B,
                                        int32_t T) const {
  require_context(T);
  const uint64_t number = step > 0 ? step - 1 : 0;
  auto found = plan(seed, 0, split, B, T);
  const uint64_t batches = found->batches.size();  // the same in every epoch
  if (split == Split::Train && number >= batches) found = plan(seed, number / batches, split, B, T);
  return {found, found->batches[number % batches]};
}

BatchShape PairsTask::shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const {
  const int32_t length = bucket_lengths(T)[static_cast<size_t>(find(seed, step, split, B, T).place.bucket)];
  return {rows_of(length, B, T), length, length, true};
}

void PairsTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
                     const BatchView& to) const {
  const PlannedBatch found = find(seed, step, split, B, T);
  const std::vector<int32_t>& rows = found.plan->rows[static_cast<size_t>(found.place.bucket)];
  const size_t count = to.key_lengths.size(), length = count > 0 ? to.tokens.size() / count : 0;
  for (size_t r = 0; r < count; ++r) {
    static const Pair kNothing;
    const size_t at = found.place.first + r;
    const Pair& pair = at < rows.size() ? pairs_of(split)[static_cast<size_t>(rows[at])] : kNothing;
    if (pair.source.size() > length || pair.target.size() > length)
      fail({"data {}", name_}, "rows of {} positions are too short for this batch: expected its shape()",
           length);
    put_row(to.source.subspan(r * length, length), pair.source, Tokenizer::kPad);
    put_row(to.targets.subspan(r * length, length), pair.target, -1);
    const auto tokens = to.tokens.subspan(r * length, length);
    std::ranges::fill(tokens, Tokenizer::kPad);
    tokens[0] = Tokenizer::kBegin;
    if (!pair.target.empty()) std::copy(pair.target.begin(), pair.target.end() - 1, tokens.begin() + 1);
    to.key_lengths[r] = static_cast<int32_t>(pair.source.size());
    to.target_lengths[r] = static_cast<int32_t>(pair.target.size());
  }
}

constinit const TaskKind kPairsKind{
    .name = "pairs",
    .make = make_pairs_task,
    .learners = "encoder-decoder",
    .unit = "piece",
    .file = "data.pairs",
    .path = [](const DataSpec& spec) -> const std::string& { return spec.added.of<PairsData>().path; },
    .takes_tokenizer = true,
    .learns_tokenizer = true,
    .takes_validation = true,
    .by_content = true,
    .flag_help =
        "sentences and their translations, source<TAB>target: an "
        "encoder-decoder"};

void add_pairs_settings(std::vector<Field>& fields) {
  insert_behind(
      fields, "data.text",
      {source<of_data<&PairsData::path>, kPairs>(
          {"data.pairs", "sentence pairs", "",
           "A UTF-8 file of sentences and their translations, one pair a line with a tab between, for an "
           "encoder-decoder."})});
  insert_behind(
      fields, "data.tokenizer",
      {read_if(reads_pairs, "data.name",
               integer<of_data<&PairsData::vocabulary>>(
                   {"data.vocabulary", "vocabulary", "pieces",
                    "How many pieces both languages of the pairs are cut into together; fewer where the text "
                    "has no more."},
                   20, 100000))});
  add_help(fields, "data.name", "Or pairs of sentences and their translations.");
  add_help(fields, "data.tokenizer",
           "For pairs, a SentencePiece model; where there is no such file their pieces are learned.");
}

}  // namespace normscope
