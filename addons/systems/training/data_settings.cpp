// The settings of images and of treebanks.
#include "training/data/images/digits.h"
#include "training/data/images/image_task.h"
#include "training/data/treebank/parsing_task.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

constexpr char kIdx[] = "idx", kTreebank[] = "treebank";
bool reads_idx(const RunSpec& s) { return s.data.name == kIdx; }
bool draws_digits(const RunSpec& s) { return s.data.name == "digits"; }
bool reads_trees(const RunSpec& s) { return s.data.name == kTreebank; }

}  // namespace

void add_image_settings(std::vector<Field>& fields) {
  fields.push_back(source<added_data<&ImageData::images>, kIdx>(
      {"data.images", "images", "",
       "An IDX file of images, such as MNIST's train-images-idx3-ubyte, for a convolutional network."}));
  fields.push_back(read_if(
      file<added_data<&ImageData::labels>>({"data.image_labels", "image labels", "",
                                            "The IDX file with the labels of the images, such as MNIST's "
                                            "train-labels-idx1-ubyte."}),
      {{reads_idx, "data.name", kIdx}}));
  fields.push_back(read_if(integer<added_data<&ImageData::digits>>(
                               {"data.digits", "digits", "images",
                                "How many digits are drawn; the last twelfth of them validates."},
                               24, kMostDigits),
                           {{draws_digits, "data.name", "digits"}}));
}

void add_treebank_settings(std::vector<Field>& fields) {
  fields.push_back(source<added_data<&TreebankData::path>, kTreebank>(
      {"data.treebank", "treebank", "",
       "A CoNLL-U file of sentences with their dependency trees, for a parser; empty, data treebank is made "
       "up."}));
  fields.push_back(read_if(
      flag<added_data<&TreebankData::punctuation>>(
          {"data.punctuation", "punctuation counts", "",
           "Whether attachment scores count punctuation, as the evaluation of CoNLL-U does; off, they leave it "
           "out, as is usual on the Penn Treebank. What is learned is the same."}),
      {{reads_trees, "data.name", kTreebank}}));
}

}  // namespace normscope
