// A folder of a published model, opened: its family, what it is in our terms, and where each of our
// parameters lies in its files. open() reads config.json and the headers of the weights; load() converts the weights
// straight into a Store, whose parameters record_transformer has declared.
//
// Promises: what we do not have is refused by name, and so is a tensor for which the model has no place, before the
// weights take any memory. Nothing in a folder is executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "addons/published/training/weights.h"
#include "engine/tape/store.h"
#include "training/spec/spec.h"

namespace normscope::published {

struct Family;

/// Where one of our parameters lies: element (r, c) of ours is element first + r row_step + column[c] of
/// theirs, counted through that tensor. A vector is a row.
struct Place {
  std::string tensor;
  int64_t first = 0, row_step = 0;
  std::vector<int64_t> column;
};

struct PublishedModel {
  std::string folder;
  const Family* family = nullptr;
  RunSpec spec;  ///< of the model; what a run has beside it are defaults
  Weights weights;
  bool headless = false;   ///< an encoder or a decoder alone: the token table is its head, which says nothing
  bool one_layer = false;  ///< the files have the weights of one layer for all; here each has its own
};

/// The shortest text there is: whoever opens for it learns how many positions the model's table has.
inline constexpr int32_t kFewest = 2;

/// Reads what the model is. `positions` is the length of the texts that it will read. `at` is as for
/// folder_of(). Throws Error.
PublishedModel open(const std::string& at, int32_t positions);

/// Where a parameter lies. Throws Error if it lies nowhere, or has another shape there.
Place place_of(const PublishedModel& model, const ParameterInfo& parameter);
/// Whether the files have a place for a parameter: one that trains and that the family does not lack.
bool has_place(const PublishedModel& model, const ParameterInfo& parameter);

/// Declares the model's parameters in a Store, for load() or bytes_of() before anything else is recorded.
void declare(const PublishedModel& model, Store& store);

/// Roughly what the weights, their gradients and the activations of a text of so many positions take, from
/// the declared parameters.
int64_t bytes_of(const PublishedModel& model, const Store& declared, int32_t positions);

/// Allocates the Store's values and fills them in. Throws Error before it allocates if a tensor is missing, of
/// another shape, of a type that holds no floats, or has no place.
void load(const PublishedModel& model, Store& store);

/// Converts the tensors that fit into a Store that has values already, whose model may be wired otherwise. Parameters
/// for which the folder has none, or another shape, keep theirs; of a longer table of positions the first rows are
/// taken. Returns how many fitted. Throws Error, and leaves the Store as it was, if one of them holds no floats.
int32_t fill(const PublishedModel& model, Store& store);

// Makes a published model a run as any other: its specification, its weights (train.init_from) and a passage in
// its own tokens. So it is looked into, changed, trained on, forked and compared by what does that with every run.

/// The most tokens of a passage that such a run reads at once, if its positions reach so far.
inline constexpr int32_t kMaxRow = 320;

/// What such a run reads until it is given another text.
inline constexpr std::string_view kPassage =
    "The dog that lives next door is a good dog. It barks when the postman comes, and it sleeps when the house is "
    "quiet. In the morning it waits at the gate, because the children give it a piece of bread.";

/// Whether a path leads (folder_of) to a folder that has a config.json and weights beside it, or to a GGUF file.
bool is_published(const std::string& path);

/// Reads the folder's config.json, tokenizer and the headers of its weights. Training it on is gentle: one row
/// a step, Adam at 1e-5. Throws Error for what cannot be opened and for a passage of fewer than two tokens.
/// A folder without a tokenizer reads numbers of tokens; instead of words it gets some from all over its table.
RunSpec run_of(const std::string& folder, std::string_view passage = kPassage);

}  // namespace normscope::published
