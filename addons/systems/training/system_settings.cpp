// The convolutional network and the parser as runs: their settings, their data and the runs of Xu et al. (2019).
#include "addons/systems/engine/convolutions.h"
#include "addons/systems/training/dependency_parser.h"
#include "addons/systems/training/image_task.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

bool convolves(const RunSpec& spec) { return spec.model.architecture == Architecture::Convolutional; }

template <auto Member>
Field image_field(const FieldWords& words, double high) {
  return read_if(convolves, "model.architecture", integer<member<Member>>(words, 1, high));
}

void fit_images(ModelConfig& model, const Task& task) {
  const auto* const images = dynamic_cast<const ImageTask*>(&task);
  if (!images) return;
  model.of<ImageConfig>().height = images->set().height;
  model.of<ImageConfig>().width = images->set().width;
}

/// Adam as in Kingma and Ba (2015), for a paper that states only its rate.
void set_authors_adam(RunSpec& spec, float rate) {
  spec.train.schedule.peak = rate;
  spec.train.beta2 = 0.999f;
  spec.train.eps = 1e-8f;
}

/// The convolutional network of Xu et al. (2019, section 2.1) with their batch and rate, LayerNorm before the
/// activation, on drawn digits.
RunSpec convolutional_run() {
  RunSpec spec;
  set_field(spec, "model.architecture", "convolutional");
  set_field(spec, "data.name", "digits");
  spec.train.batch = 32;
  set_authors_adam(spec, 1e-3f);
  return spec;
}

std::vector<RunSpec> convolutional_comparison() {
  std::vector<RunSpec> runs(3, convolutional_run());
  set_placement(runs[1].model, Placement::Pre);
  set_placement(runs[2].model, Placement::None);
  return runs;
}

/// Xu et al. (2019, section 2.2) on the Penn Treebank: hidden width 512, batches of 1,024 transitions,
/// dropout 0.2, Adam at 1e-3, a norm before each activation. "3 layers" of their Table 1 is read as two hidden layers
/// and the output. The embeddings of 50 are Chen and Manning's (2014).
RunSpec parser_run() {
  RunSpec spec;
  set_placement(spec.model, Placement::Pre);
  set_field(spec, "model.architecture", "parser");
  set_field(spec, "data.name", "treebank");
  set_field(spec, "model.layers", "2");
  spec.model.d_model = 50;
  spec.model.feed_forward = 512;
  spec.model.dropout_activation = 0.2f;
  spec.train.batch = 1024;
  set_authors_adam(spec, 1e-3f);
  return spec;
}

std::vector<RunSpec> parser_comparison() {
  std::vector<RunSpec> runs(3, parser_run());
  set_field(runs[1], "model.norm", "adanorm");
  set_placement(runs[2].model, Placement::None);
  return runs;
}

constexpr char kIdx[] = "idx", kTreebank[] = "treebank";
bool reads_idx(const RunSpec& s) { return s.data.name == kIdx; }
bool draws_digits(const RunSpec& s) { return s.data.name == "digits"; }
bool reads_trees(const RunSpec& s) { return s.data.name == kTreebank; }

/// Setting a memory also sets model.positions and data.consecutive, which come later in the table and override that.
Field memory_field() {
  static constexpr auto kMemory = member<&ModelConfig::memory>;
  Field field =
      integer<kMemory>({"model.memory", "memory", "symbols",
                        "How many symbols before the row a decoder still sees, as the states that each layer "
                        "had for them; nothing is learned through them (Transformer-XL). It needs relative "
                        "positions and consecutive text, and asks for both. 0 is none."},
                       0, kMaxMemory);
  field.set = [](RunSpec& spec, std::string_view text) {
    set_integer<kMemory>(spec, text);
    if (spec.model.memory == 0) return;
    spec.model.positions = Positions::Relative;
    spec.data.consecutive = true;
  };
  field = read_if([](const RunSpec& s) { return s.model.architecture == Architecture::Decoder; },
                  "model.architecture", field, "decoder");
  return read_if([](const RunSpec& s) { return find_kind(s.data.name)->goes_on; }, "data.name", field);
}

}  // namespace

void add_image_fields(std::vector<Field>& fields) {
  insert_behind(
      fields, "model.encoder_placement",
      {image_field<&ImageConfig::channels>(
           {"model.channels", "channels", "",
            "Convolutional network: how many pictures the first convolution makes of an image."},
           1024),
       image_field<&ImageConfig::channels_2>(
           {"model.channels_2", "channels, layer 2", "",
            "Convolutional network: how many pictures the second convolution makes of those."},
           1024),
       image_field<&ImageConfig::window>(
           {"model.window", "window", "pixels",
            "Convolutional network: height and width of the part of an image that a convolution looks at."},
           31)});
}

constinit const ArchitectureRuns convolutional_runs{
    .fit = fit_images,
    .name = [](Placement placement) { return std::string("Convolutions, ") + label(placement); },
    .preset = "convnet",
    .run = convolutional_run,
    .comparison = convolutional_comparison,
    .sized = false};

constinit const ArchitectureRuns parser_runs{
    .complete = [](RunSpec& spec) { spec.model.sequence = spec.data.context = kParseFeatures; },
    .name =
        [](Placement placement) {
          return std::string(placement == Placement::None ? "Parser without norms" : "Parser");
        },
    .wiring = "parser",
    .preset = "parser",
    .run = parser_run,
    .comparison = parser_comparison,
    .started = false};

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
                   24, kMaxDigits)),
       read_if(
           reads_trees, "data.name",
           flag<of_data<&TreebankData::punctuation>>(
               {"data.punctuation", "punctuation counts", "",
                "Whether attachment scores count punctuation, as the evaluation of CoNLL-U does; off, they "
                "leave it out, as is usual on the Penn Treebank. What is learned is the same."}))});
  add_help(fields, "model.layers", "Of a parser, each is a hidden layer.");
  add_help(
      fields, "model.positions",
      "With relative, which is for decoders, nothing is added to the symbols: attention is told how far back each "
      "one is.");
  add_help(fields, "data.name",
           "Or the class of drawn digits, or of images in IDX files, or the dependency trees of sentences.");
  add_help(
      fields, "model.architecture",
      "Two are no transformers: a convolutional network names the class of an image, a parser is a feed-forward "
      "network that chooses the transitions which build a dependency tree.");
}

}  // namespace normscope
