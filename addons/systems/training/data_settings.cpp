// The settings of a memory, of images and of treebanks.
#include "addons/systems/training/digits.h"
#include "addons/systems/training/image_task.h"
#include "addons/systems/training/parsing_task.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

constexpr char kIdx[] = "idx", kTreebank[] = "treebank";
bool reads_idx(const RunSpec& s) { return s.data.name == kIdx; }
bool draws_digits(const RunSpec& s) { return s.data.name == "digits"; }
bool reads_trees(const RunSpec& s) { return s.data.name == kTreebank; }

/// Sets what a memory needs too; model.positions and data.consecutive follow it and have the last word.
Field memory_field() {
  static constexpr auto kMemory = member<&ModelConfig::memory>;
  Field field =
      integer<kMemory>({"model.memory", "memory", "symbols",
                        "How many symbols before the row a decoder still sees, as the states that each layer "
                        "had for them; nothing is learned through them (Transformer-XL). It needs relative "
                        "positions and consecutive text, and asks for both. 0 is none."},
                       0, kMostMemory);
  field.set = [](RunSpec& spec, std::string_view text) {
    set_integer<kMemory>(spec, text);
    if (spec.model.memory == 0) return;
    spec.model.positions = Positions::Relative;
    spec.data.consecutive = true;
  };
  return read_if([](const RunSpec& s) { return s.model.architecture == Architecture::Decoder; },
                 "model.architecture", field, "decoder");
}

}  // namespace

void add_memory_setting(std::vector<Field>& fields) {
  insert_behind(fields, "model.sequence", {memory_field()});
}

void add_data_of_systems(std::vector<Field>& fields) {
  insert_behind(
      fields, "data.labels",
      {source<of_data<&ImageData::images>, kIdx>(
           {"data.images", "images", "",
            "An IDX file of images, such as MNIST's train-images-idx3-ubyte, for a convolutional network."}),
       read_if(reads_idx, "data.name",
               file<of_data<&ImageData::labels>>(
                   {"data.image_labels", "image labels", "",
                    "The IDX file with the labels of the images, such as MNIST's train-labels-idx1-ubyte."})),
       source<of_data<&TreebankData::path>, kTreebank>(
           {"data.treebank", "treebank", "",
            "A CoNLL-U file of sentences with their dependency trees, for a parser; empty, data treebank is "
            "made up."})});
  insert_behind(
      fields, "data.tokenizer",
      {read_if(draws_digits, "data.name",
               integer<of_data<&ImageData::digits>>(
                   {"data.digits", "digits", "images",
                    "How many digits are drawn; the last twelfth of them validates."},
                   24, kMostDigits)),
       read_if(
           reads_trees, "data.name",
           flag<of_data<&TreebankData::punctuation>>(
               {"data.punctuation", "punctuation counts", "",
                "Whether attachment scores count punctuation, as the evaluation of CoNLL-U does; off, they "
                "leave it out, as is usual on the Penn Treebank. What is learned is the same."}))});
  add_help(fields, "data.name",
           "Or the class of drawn digits, or of images in IDX files, or the dependency trees of sentences.");
  add_help(
      fields, "model.architecture",
      "Two are no transformers: a convolutional network names the class of an image, a parser is a feed-forward "
      "network that chooses the transitions which build a dependency tree.");
}

}  // namespace normscope
