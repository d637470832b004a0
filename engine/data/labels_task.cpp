// See labels_task.h.
#include "engine/data/labels_task.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/data/masked_task.h"
#include "engine/data/sequence_task.h"

namespace normscope {
namespace {

constexpr const char* kLabelColumns = "label<TAB>text";

}  // namespace

LabelsTask::LabelsTask(std::vector<TsvRow> train, std::vector<TsvRow> valid, std::string name,
                       int32_t context)
    : name_(std::move(name)) {
  if (valid.empty() && train.size() >= 5) {
    const auto held = static_cast<std::ptrdiff_t>(train.size() / 5);
    valid.assign(train.end() - held, train.end());
    train.erase(train.end() - held, train.end());
  }
  for (const TsvRow& row : train) labels_.push_back(row.first);
  std::sort(labels_.begin(), labels_.end());
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
  if (labels_.size() < 2 || labels_.size() > 1000)
    fail("data " + name_, "{} different labels: expected 2 to 1000", labels_.size());
  hash_ = hash_bytes("labels");
  const auto take = [&](const std::vector<TsvRow>& rows, std::vector<Line>& lines) {
    for (const TsvRow& row : rows) {
      lines.push_back({row.second, label_of(row.first)});
      hash_ = hash_bytes(row.second, hash_bytes(row.first, hash_));
    }
  };
  take(train, train_);
  take(valid, valid_);
  require_context(context);
  unigram_.assign(labels_.size(), 0);
  for (const Line& line : train_)
    unigram_[static_cast<size_t>(line.label)] += 1.0 / static_cast<double>(train_.size());
}

int32_t LabelsTask::label_of(const std::string& label) const {
  const auto at = std::lower_bound(labels_.begin(), labels_.end(), label);
  if (at == labels_.end() || *at != label)
    fail("data " + name_, "the label '{}' occurs in the validation lines only: expected one of {}", label,
         fmt::join(labels_.begin(),
                   labels_.begin() + std::min<std::ptrdiff_t>(8, static_cast<std::ptrdiff_t>(labels_.size())),
                   ", "));
  return static_cast<int32_t>(at - labels_.begin());
}

int32_t LabelsTask::vocabulary() const { return kByteSymbols; }

void LabelsTask::require_context(int32_t T) const {
  if (T < 2) fail("data " + name_, "context {}: expected at least 2, a mark and a symbol", T);
  if (train_.empty() || valid_.empty())
    fail("data " + name_, "{} lines: expected at least 5, or a file for validation",
         train_.size() + valid_.size());
}

// One shape: texts are short and lengths mask the rest.
BatchShape LabelsTask::shape(uint64_t, uint64_t, Split, int32_t B, int32_t T) const {
  return {B, T, 0, true};
}

int32_t LabelsTask::validation_batches(int32_t B, int32_t) const {
  return static_cast<int32_t>((valid_.size() + static_cast<size_t>(B) - 1) / static_cast<size_t>(B));
}

void LabelsTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t context,
                      const BatchView& to) const {
  const std::vector<Line>& lines = lines_of(split);
  const auto T = static_cast<size_t>(context);
  const size_t first = (step > 0 ? step - 1 : 0) * static_cast<size_t>(B);
  std::fill(to.targets.begin(), to.targets.end(), -1);
  std::fill(to.tokens.begin(), to.tokens.end(), kBytePad);
  for (size_t r = 0; r < static_cast<size_t>(B); ++r) {
    const Line* line = nullptr;
    if (split == Split::Train) {
      BatchDraws draws(seed, step, split, static_cast<int32_t>(r));
      line = &lines[draws.below(lines.size())];
    } else if (first + r < lines.size()) {
      line = &lines[first + r];
    }
    const std::string_view text = line ? std::string_view(line->text).substr(0, T - 1) : std::string_view();
    to.tokens[r * T] = kByteFirst;
    for (size_t i = 0; i < text.size(); ++i) to.tokens[r * T + i + 1] = static_cast<unsigned char>(text[i]);
    to.key_lengths[r] = static_cast<int32_t>(text.size() + 1);
    if (line) to.targets[r * T] = line->label;
  }
}

std::string LabelsTask::decode(std::span<const int32_t> tokens) const { return decode_bytes(tokens); }

std::shared_ptr<const Task> make_labels_task(const DataSpec& spec) {
  if (spec.labels_path.empty())
    fail("data", "the task \"labels\" needs a file: give one of lines {}", kLabelColumns);
  std::vector<TsvRow> train = read_tsv(spec.labels_path, kLabelColumns), valid;
  if (!spec.valid_path.empty()) valid = read_tsv(spec.valid_path, kLabelColumns);
  return std::make_shared<LabelsTask>(std::move(train), std::move(valid), spec.labels_path, spec.context);
}

}  // namespace normscope
