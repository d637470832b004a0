#include "addons/systems/engine/convolutions.h"

#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

constexpr int32_t kUsualSide = 28;  // pixels of MNIST's images
constexpr int32_t kUsualClasses = 10;
constexpr int64_t kLevels = 256;  // of grey

int32_t channels_of(const ModelConfig& config, int32_t layer) {
  const ImageConfig& images = config.of<ImageConfig>();
  return layer == 0 ? 1 : layer == 1 ? images.channels : images.channels_2;
}

int64_t flat_features(const ModelConfig& config) {
  const ImageWindow pooled = pooling_window(config, kConvolutions);
  return pooled.windows() * pooled.channels;
}

/// Images of unknown size count as MNIST's.
ModelConfig of_usual_size(ModelConfig config) {
  ImageConfig& images = config.of<ImageConfig>();
  if (images.height == 0) images.height = images.width = kUsualSide;
  return config;
}

/// Each function is one box of the diagram at the head of convolutions.h.
class ConvolutionRecorder : Recorder {
 public:
  ConvolutionRecorder(Tape& on, const ModelConfig& of, const RecordOptions& with)
      : Recorder(on, of, with), images_(of.of<ImageConfig>()), wiring_(of.stack().layers.front().attention) {}

  ModelValues record() {
    const int64_t B = options.batch, pixels = int64_t{images_.height} * images_.width;
    values_.source = tape.input("source", {B, pixels}, DType::I32);
    values_.targets = tape.input("targets", {B, 1}, DType::I32);
    const ValueId levels = parameter("pixels.levels", {kLevels, 1}, {Init::Kind::Ramp, 0.0}, false);
    ValueId x = values_.embedding = embedding(tape, "pixels", values_.source, levels, kNone, 1.0f);
    for (int32_t layer = 1; layer <= kConvolutions; ++layer) x = convolution(layer, x);
    values_.hidden = x;
    values_.logits = output(x);
    const ValueId weights = options.row_weights ? tape.input("weights", {B, 1}, DType::F32) : kNone;
    values_.loss = softmax_xent(tape, "loss", values_.logits, values_.targets, weights);
    return values_;
  }

 private:
  ValueId convolution(int32_t layer, ValueId x) {
    const std::string name = fmt::format("L{:02}.conv", layer);
    begin(layer);
    const ImageWindow window = convolution_window(config, layer);
    const int64_t channels = channels_of(config, layer);
    if (layer > 1) x = norm(name + ".before", wiring_.before, x);
    const Shape shape{window.patch(), channels};
    const ValueId w = parameter(name + ".w", shape, weights_of(shape, window));
    const ValueId b = parameter(name + ".b", {channels}, {Init::Kind::Zeros, 0.0});
    x = conv2d(tape, name + ".product", x, w, b, window);
    x = norm(name + ".stream", wiring_.stream, x);
    x = activated(name + ".hidden", x);
    x = max_pool(tape, name + ".out", x, pooling_window(config, layer));
    if (options.probes)
      tape.probe({name + ".out.mean_square", ProbeSpec{ProbeKind::MeanSquare}, x, false, layer, kNone});
    begin(0);
    return x;
  }

  ValueId output(ValueId x) {
    begin(kConvolutions + 1);
    x = norm(fmt::format("L{:02}.class.before", kConvolutions + 1), wiring_.before, x);
    const int64_t features = tape.shape(x).cols(), classes = config.classes;
    const double deviation = 1.0 / std::sqrt(static_cast<double>(features));
    const ValueId w = parameter("class.w", {features, classes}, {Init::Kind::Normal, deviation}),
                  b = parameter("class.b", {classes}, {Init::Kind::Zeros, 0.0});
    x = linear(tape, "logits", x, w, b);
    begin(0);
    return x;
  }

  /// The standard deviation of Xavier (fan in plus fan out), or of BERT.
  Init weights_of(const Shape& shape, const ImageWindow& window) const {
    const auto fans = static_cast<double>(shape[0] + int64_t{window.size} * window.size * shape[1]);
    const double fixed = init_gains(config.init, context_of(config, true)).deviation;
    return {Init::Kind::Normal, fixed > 0 ? fixed : std::sqrt(2.0 / fans)};
  }

  const ImageConfig& images_;
  const Wiring& wiring_;
  ModelValues values_;
};

void validate_convolutions(const ModelConfig& config) {
  const Placement placement = placement_of(config.stack(), context_of(config, true));
  if (placement != Placement::None && placement != Placement::Post && placement != Placement::Pre)
    fail("model.placement", "a convolutional network has no residual branches: expected none, post or pre");
  if (config.init != InitRule::Xavier && config.init != InitRule::Normal002)
    fail("model.init", "{} is for transformers: expected xavier or normal002 in a convolutional network",
         kInitRules[static_cast<size_t>(config.init)]);
  if (config.norm == NormKind::None)
    fail("model", "norm is none: choose placement none for a model without norms");
  const ImageConfig& images = config.of<ImageConfig>();
  if (images.channels < 1 || images.channels_2 < 1 || images.window < 1)
    fail("model", "{} and {} channels, a window of {}: expected at least 1 each", images.channels,
         images.channels_2, images.window);
  const ModelConfig sized = of_usual_size(config);
  for (int32_t layer = 1; layer <= kConvolutions; ++layer)
    if (!convolution_window(sized, layer).fits() || !pooling_window(sized, layer).fits())
      fail("model.window", "{} is too large for images of {} x {} in layer {}: expected a smaller window",
           images.window, sized.of<ImageConfig>().height, sized.of<ImageConfig>().width, layer);
}

int64_t convolution_bytes(const ModelConfig& given, int32_t batch) {
  const ModelConfig config = of_usual_size(given);
  int64_t parameters = 0, activations = 0;
  for (int32_t layer = 1; layer <= kConvolutions; ++layer) {
    const ImageWindow window = convolution_window(config, layer);
    const int64_t features = window.windows() * channels_of(config, layer);
    parameters += window.patch() * channels_of(config, layer) + 2 * features;  // a gain and a bias
    // Product, norm and activation with gradients, the input, and the patches of both directions.
    activations += batch * (7 * features + 2 * window.numbers() + 2 * window.windows() * window.patch());
  }
  parameters += flat_features(config) * std::max(config.classes, kUsualClasses);
  return 4 * (4 * parameters + activations);
}

double convolution_flop(const ModelConfig& given, int32_t batch) {
  const ModelConfig config = of_usual_size(given);
  double flop = 6.0 * static_cast<double>(flat_features(config)) * config.classes;
  for (int32_t layer = 1; layer <= kConvolutions; ++layer) {
    const ImageWindow window = convolution_window(config, layer);
    const double product =
        static_cast<double>(window.windows() * window.patch()) * channels_of(config, layer);
    flop += (layer == 1 ? 4 : 6) * product;  // the image needs no gradient
  }
  return flop * batch;
}

/// The inputs of the batch: "source" (B, height x width), grey levels 0 to 255, and
/// "targets" (B,1). There are no sub-layers. Throws Error where the images are too small for the windows.
ModelValues record_convolutions(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  if (config.stack().layers.empty()) fail("model", "there is no wiring: expected set_placement() first");
  validate_convolutions(config);
  const ImageConfig& images = config.of<ImageConfig>();
  if (images.height < 1 || images.width < 1 || config.classes < 2)
    fail("model", "images of {} x {} in {} classes: expected those of the data", images.height, images.width,
         config.classes);
  return ConvolutionRecorder(tape, config, options).record();
}

}  // namespace

ImageWindow convolution_window(const ModelConfig& config, int32_t layer) {
  const ImageConfig& images = config.of<ImageConfig>();
  ImageWindow window;
  window.height = images.height;
  window.width = images.width;
  if (layer > 1) {
    const ImageWindow before = pooling_window(config, layer - 1);
    window.height = static_cast<int32_t>(before.rows());
    window.width = static_cast<int32_t>(before.columns());
  }
  window.channels = channels_of(config, layer - 1);
  window.size = images.window;
  return window;
}

ImageWindow pooling_window(const ModelConfig& config, int32_t layer) {
  const ImageWindow convolved = convolution_window(config, layer);
  ImageWindow window;
  window.height = static_cast<int32_t>(convolved.rows());
  window.width = static_cast<int32_t>(convolved.columns());
  window.channels = channels_of(config, layer);
  window.size = window.stride = kPooled;
  return window;
}

constinit const ArchitectureRow convolutional_architecture{.name = "convolutional",
                                                           .learner = "a convolutional network",
                                                           .record = record_convolutions,
                                                           .validate = validate_convolutions,
                                                           .bytes = convolution_bytes,
                                                           .flop = convolution_flop,
                                                           .part = "conv",
                                                           .source =
                                                               [](const ModelConfig& config) {
                                                                 const ImageConfig& images =
                                                                     config.of<ImageConfig>();
                                                                 return images.height * images.width;
                                                               },
                                                           .fit_usual_data =
                                                               [](ModelConfig& config) {
                                                                 config = of_usual_size(config);
                                                                 config.classes = kUsualClasses;
                                                               }};

}  // namespace normscope
