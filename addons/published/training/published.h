// A folder of a published model, opened: its family, its specification in our settings, and the place of each of our
// parameters in its files. open() reads config.json and the headers of the weights; load() converts the weights
// straight into a Store, whose parameters record_transformer has declared.
//
// Promises: a feature that we do not have is refused by name, and so is a tensor that no parameter reads, before the
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
  RunSpec spec;  ///< of the model; the rest of the run has defaults
  Weights weights;
  bool headless = false;   ///< no output head in the files: the token table serves as one, without meaning
  bool one_layer = false;  ///< the files have the weights of one layer for all; here each has its own
};

/// The least `positions` of open(); a larger model.sequence is then the length of the model's own table.
inline constexpr int32_t kFewest = 2;

/// Reads config.json and the headers of the weights. `positions` is the length of the texts that it will read. `at` is
/// as for folder_of(). Throws Error.
PublishedModel open(const std::string& at, int32_t positions);

/// The place of a parameter. Throws Error if the files lack it, or have another shape.
Place place_of(const PublishedModel& model, const ParameterInfo& parameter);
/// Whether a parameter is read from the files: it is trainable, and not one of the family's zeros that the files lack.
bool has_place(const PublishedModel& model, const ParameterInfo& parameter);

/// Declares the model's parameters in a Store, for load() or bytes_of() before anything else is recorded.
void declare(const PublishedModel& model, Store& store);

/// An estimate of the bytes of the weights, their gradients and the activations of a text of `positions` symbols, from
/// the declared parameters.
int64_t bytes_of(const PublishedModel& model, const Store& declared, int32_t positions);

/// Allocates the Store's values and fills them in. Throws Error before it allocates if a tensor is missing, of
/// another shape, of a type that holds no floats, or has no place.
void load(const PublishedModel& model, Store& store);

/// Converts the tensors that fit into a Store that already has values, whose model may be wired otherwise. Parameters
/// without a tensor of their shape keep their values; a longer table of positions gives its first rows. Returns how
/// many fitted. Throws Error, and leaves the Store as it was, if one of them holds no floats.
int32_t fill(const PublishedModel& model, Store& store);

// Makes a published model an ordinary run: its specification, its weights (train.init_from) and a passage in its own
// tokens. So the code for every run inspects, changes, trains, forks and compares it.

/// The most tokens of a passage in a row of such a run; fewer where the model has fewer positions.
inline constexpr int32_t kMaxRow = 320;

/// The passage of such a run until another text is set.
inline constexpr std::string_view kPassage =
    "The dog that lives next door is a good dog. It barks when the postman comes, and it sleeps when the house is "
    "quiet. In the morning it waits at the gate, because the children give it a piece of bread.";

/// Whether a path leads (folder_of) to a folder with a config.json and weights, or to a file that counts as one.
bool is_published(const std::string& path);

/// Reads the folder's config.json, tokenizer and the headers of its weights. Further training takes small steps: one
/// row a step, Adam at 1e-5. Throws Error for a folder that cannot be opened and for a passage of fewer than two
/// tokens. Without a tokenizer the passage is token numbers, spread over the vocabulary.
RunSpec run_of(const std::string& folder, std::string_view passage = kPassage);

}  // namespace normscope::published
