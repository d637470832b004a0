#include "addons/systems/training/image_task.h"

#include <algorithm>
#include <cstring>

#include "training/data/batch_draws.h"

namespace normscope {
namespace {

constexpr size_t kTwelfth = 12;  // one part of twelve validates

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const Task> make_digits_task(const DataSpec& spec) {
  const int32_t count = spec.added.of<ImageData>().digits;
  return std::make_shared<ImageTask>(draw_digits(spec.data_seed, count), "digits");
}

std::shared_ptr<const Task> make_idx_task(const DataSpec& spec) {
  const ImageData& data = spec.added.of<ImageData>();
  if (data.images.empty() || data.labels.empty())
    fail("data", "the task \"idx\" needs two files: give data.images and data.image_labels");
  return std::make_shared<ImageTask>(read_idx(data.images, data.labels), data.images);
}

void check_labels(const DataSpec& spec) {
  if (spec.added.of<ImageData>().labels.empty())
    fail("data.image_labels", "no file is named: expected a path, because data.name is {}", spec.name);
}

constexpr uint32_t kImages = 2051, kLabels = 2049;

uint32_t word(std::string_view bytes, size_t index) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[4 * index + i]);
  return value;
}

/// The header and the bytes after it. Counts that exceed the size of the file are refused.
struct Header {
  std::array<uint32_t, 3> counts{1, 1, 1};  ///< images, rows, columns; or labels
  std::string_view bytes;
};

void check_counts(const std::string& where, const Header& header, size_t words) {
  if (header.counts[0] < 1 || header.counts[0] > kMaxImages)
    fail(where, "{} images or labels: expected 1 to {}", header.counts[0], kMaxImages);
  for (size_t i = 1; i < words; ++i)
    if (header.counts[i] < 1 || header.counts[i] > kLongestSide)
      fail(where, "images of {} x {} pixels: expected 1 to {} a side", header.counts[1], header.counts[2],
           kLongestSide);
  const uint64_t wanted = uint64_t{header.counts[0]} * header.counts[1] * header.counts[2];
  if (header.bytes.size() != wanted)
    fail(where, "{} bytes after the header: expected {}, as it says", header.bytes.size(), wanted);
}

Header header_of(std::string_view bytes, const std::string& name, uint32_t magic) {
  const std::string where = "idx " + name;
  const char* kind = magic == kImages ? "an IDX file of images" : "an IDX file of labels";
  if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b')
    fail(where, "is compressed: expected the file that gunzip makes of it");
  const size_t words = magic == kImages ? 3 : 1;
  if (bytes.size() < 4 * (words + 1)) fail(where, "has {} bytes: expected {}", bytes.size(), kind);
  if (word(bytes, 0) != magic) fail(where, "begins with {}: expected {}, {}", word(bytes, 0), magic, kind);
  Header header;
  for (size_t i = 0; i < words; ++i) header.counts[i] = word(bytes, i + 1);
  header.bytes = bytes.substr(4 * (words + 1));
  check_counts(where, header, words);
  return header;
}

std::vector<uint8_t> bytes_of(std::string_view text) {
  std::vector<uint8_t> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Drawn digits. Lengths are whole 1/256 of a pixel, factors whole 1/4096.

constexpr int64_t kPixel = 256, kOne = 4096;

struct Point {
  int64_t x, y;
};

/// A quadratic Bézier curve with the control point `bend`, in a box of 100 x 100, y downwards; a straight line has its
/// bend anywhere on it.
struct Curve {
  Point begin, bend, end;
};

using Skeleton = std::vector<Curve>;

constexpr Curve line(Point a, Point b) { return {a, {(a.x + b.x) / 2, (a.y + b.y) / 2}, b}; }

/// The skeletons of each digit, from 0.
const std::array<std::vector<Skeleton>, 10>& skeletons() {
  static const std::array<std::vector<Skeleton>, 10> all{{
      {{{{50, 10}, {80, 10}, {80, 50}},
        {{80, 50}, {80, 90}, {50, 90}},
        {{50, 90}, {20, 90}, {20, 50}},
        {{20, 50}, {20, 10}, {50, 10}}}},
      {{line({36, 28}, {54, 10}), line({54, 10}, {54, 90})},
       {line({34, 30}, {52, 10}), line({52, 10}, {52, 90}), line({34, 90}, {70, 90})},
       {line({50, 10}, {50, 90})}},
      {{{{22, 32}, {24, 10}, {50, 10}},
        {{50, 10}, {78, 10}, {78, 34}},
        {{78, 34}, {76, 54}, {22, 90}},
        line({22, 90}, {80, 90})}},
      {{{{24, 20}, {38, 8}, {54, 10}},
        {{54, 10}, {78, 14}, {74, 32}},
        {{74, 32}, {70, 47}, {46, 47}},
        {{46, 47}, {80, 48}, {79, 68}},
        {{79, 68}, {76, 92}, {50, 91}},
        {{50, 91}, {32, 91}, {22, 78}}}},
      {{line({58, 10}, {20, 62}), line({20, 62}, {84, 62}), line({62, 36}, {62, 92})},
       {line({30, 12}, {24, 54}), line({24, 54}, {78, 54}), line({66, 10}, {62, 92})}},
      {{line({76, 12}, {34, 12}),
        line({34, 12}, {29, 46}),
        {{29, 46}, {50, 34}, {68, 46}},
        {{68, 46}, {86, 62}, {70, 80}},
        {{70, 80}, {48, 98}, {22, 82}}}},
      {{{{68, 12}, {30, 24}, {24, 62}},
        {{24, 62}, {22, 90}, {50, 90}},
        {{50, 90}, {78, 88}, {76, 66}},
        {{76, 66}, {72, 46}, {50, 47}},
        {{50, 47}, {30, 50}, {24, 68}}}},
      {{line({22, 12}, {78, 12}), {{78, 12}, {54, 50}, {42, 90}}},
       {line({22, 12}, {78, 12}), {{78, 12}, {54, 50}, {42, 90}}, line({36, 50}, {70, 50})}},
      {{{{50, 10}, {24, 12}, {28, 30}},
        {{28, 30}, {32, 42}, {50, 48}},
        {{50, 48}, {80, 58}, {76, 72}},
        {{76, 72}, {72, 90}, {50, 90}},
        {{50, 90}, {26, 90}, {24, 72}},
        {{24, 72}, {22, 58}, {50, 48}},
        {{50, 48}, {70, 40}, {72, 28}},
        {{72, 28}, {74, 12}, {50, 10}}}},
      {{{{75, 32}, {70, 56}, {48, 54}},
        {{48, 54}, {24, 50}, {26, 30}},
        {{26, 30}, {30, 10}, {52, 10}},
        {{52, 10}, {76, 12}, {75, 32}},
        {{75, 32}, {76, 64}, {56, 90}}},
       {{{74, 30}, {70, 54}, {48, 52}},
        {{48, 52}, {24, 50}, {26, 30}},
        {{26, 30}, {30, 10}, {52, 10}},
        {{52, 10}, {76, 12}, {74, 30}},
        line({74, 30}, {72, 90})}},
  }};
  return all;
}

/// The random numbers of one image, in the order in which they are requested.
class ImageDraws {
 public:
  ImageDraws(uint64_t seed, uint32_t index) : seed_(seed), index_(index) {}
  uint32_t word() {
    if (next_ % 4 == 0)
      block_ =
          philox_block(next_ / 4, site_of("digits"), index_, static_cast<uint32_t>(Purpose::Corpus), seed_);
    return block_.word[next_++ % 4];
  }
  /// Uniform between both ends, which are included.
  int64_t between(int64_t low, int64_t high) {
    const uint64_t range = static_cast<uint64_t>(high - low + 1);
    return low + static_cast<int64_t>(uint64_t{word()} * range >> 32);
  }

 private:
  uint64_t seed_;
  uint32_t index_, next_ = 0;
  PhiloxBlock block_{};
};

/// How one image is drawn. Its members draw in the order of their declaration.
struct Hand {
  explicit Hand(ImageDraws& draws)
      : bend_x(draws.between(-10, 10)),
        bend_y(draws.between(-10, 10)),
        turn(draws.between(-500, 500)),
        slant(draws.between(-1000, 600)),
        stretch_x(draws.between(3200, 4700)),
        stretch_y(draws.between(3500, 4500)),
        shift_x(draws.between(-2 * kPixel, 2 * kPixel)),
        shift_y(draws.between(-2 * kPixel, 2 * kPixel)),
        radius(draws.between(150, 400)),
        ink(draws.between(180, 255)),
        noise(draws.between(0, 48)) {}

  int64_t bend_x, bend_y;        // percent of the box by which its edges move against its middle
  int64_t turn;                  // tangent of half the angle
  int64_t slant;                 // of y's direction into x's
  int64_t stretch_x, stretch_y;  // 4096: the box is 20 pixels
  int64_t shift_x, shift_y;
  int64_t radius;  // of the pen
  int64_t ink;     // of the darkest pixel
  int64_t noise;   // each pixel gets less than that

  /// Maps a point of the box, in 1/64 percent, to the image.
  Point place(Point p) const {
    constexpr int64_t kUnit = 64, kEdge = 50 * 50 * kUnit;
    const int64_t u = p.x - 50 * kUnit, v = p.y - 50 * kUnit;
    const int64_t x0 = (u + bend_x * v * v / kEdge) * 4 / 5, y0 = (v + bend_y * u * u / kEdge) * 4 / 5;
    const int64_t x1 = x0 * stretch_x / kOne, y1 = y0 * stretch_y / kOne;
    const int64_t x2 = x1 - y1 * slant / kOne;
    // With t the tangent of half the angle: cosine (1 - t²) / (1 + t²), sine 2t / (1 + t²).
    const int64_t t2 = turn * turn / kOne, down = kOne + t2;
    return {(x2 * (kOne - t2) - y1 * 2 * turn) / down + kDigitSide * kPixel / 2 + shift_x,
            (x2 * 2 * turn + y1 * (kOne - t2)) / down + kDigitSide * kPixel / 2 + shift_y};
  }
};

int64_t root(int64_t square) {
  int64_t r = 0;
  for (int64_t bit = int64_t{1} << 20; bit > 0; bit >>= 1)
    if ((r + bit) * (r + bit) <= square) r += bit;
  return r;
}

/// The distance of p from the segment between a and b.
int64_t distance(Point p, Point a, Point b) {
  const int64_t dx = b.x - a.x, dy = b.y - a.y, px = p.x - a.x, py = p.y - a.y;
  const int64_t along = px * dx + py * dy, length = dx * dx + dy * dy;
  if (along <= 0) return root(px * px + py * py);
  if (along >= length) return root((p.x - b.x) * (p.x - b.x) + (p.y - b.y) * (p.y - b.y));
  const int64_t across = px * dy - py * dx;
  return root(across * across / length);
}

using Paper = std::array<int64_t, kDigitSide * kDigitSide>;  // ink, 0 to kPixel

/// Draws with the pen from a to b. An edge is as soft as a pixel is wide.
void stroke(Paper& paper, Point a, Point b, int64_t radius) {
  const int64_t reach = radius + kPixel / 2;
  const auto first = [&](int64_t low) { return std::clamp<int64_t>((low - reach) / kPixel, 0, kDigitSide); };
  const auto last = [&](int64_t high) {
    return std::clamp<int64_t>((high + reach) / kPixel, -1, kDigitSide - 1);
  };
  for (int64_t y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y)); ++y)
    for (int64_t x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x)); ++x) {
      const Point middle{x * kPixel + kPixel / 2, y * kPixel + kPixel / 2};
      int64_t& ink = paper[static_cast<size_t>(y * kDigitSide + x)];
      ink = std::max(ink, std::clamp<int64_t>(reach - distance(middle, a, b), 0, kPixel));
    }
}

/// Point k of a curve cut into `steps` pieces, in 1/64 percent.
Point on_curve(const Curve& c, int64_t k, int64_t steps) {
  const int64_t a = (steps - k) * (steps - k), b = 2 * k * (steps - k), d = k * k, all = steps * steps;
  return {64 * (c.begin.x * a + c.bend.x * b + c.end.x * d) / all,
          64 * (c.begin.y * a + c.bend.y * b + c.end.y * d) / all};
}

/// Draws image `index` of a seed, 28 x 28, into `to`; it shows digit index % 10.
void draw_digit(uint64_t seed, uint32_t index, std::span<uint8_t> to) {
  if (to.size() != static_cast<size_t>(kDigitSide) * kDigitSide)
    fail("digits", "{} bytes for an image: expected {}", to.size(), kDigitSide * kDigitSide);
  ImageDraws draws(seed, index);
  const std::vector<Skeleton>& shapes = skeletons()[index % 10];
  const Skeleton& shape =
      shapes[static_cast<size_t>(draws.between(0, static_cast<int64_t>(shapes.size()) - 1))];
  const Hand hand(draws);
  Paper paper{};
  constexpr int64_t kSteps = 8;  // straight pieces of a curve
  for (const Curve& curve : shape)
    for (int64_t k = 0; k < kSteps; ++k)
      stroke(paper, hand.place(on_curve(curve, k, kSteps)), hand.place(on_curve(curve, k + 1, kSteps)),
             hand.radius);
  for (size_t i = 0; i < to.size(); i += 4) {
    const uint32_t noise = draws.word();
    for (size_t j = 0; j < 4; ++j) {
      const int64_t added = static_cast<int64_t>(noise >> (8 * j) & 255) * hand.noise / 256;
      to[i + j] = static_cast<uint8_t>(std::min<int64_t>(255, paper[i + j] * hand.ink / kPixel + added));
    }
  }
}

}  // namespace

ImageTask::ImageTask(ImageSet set, std::string name)
    : Task("class"), set_(std::move(set)), name_(std::move(name)) {
  if (set_.size() < 2 * kTwelfth)
    fail({"data {}", name_}, "{} images: expected at least {}", set_.size(), 2 * kTwelfth);
  train_ = set_.size() - set_.size() / kTwelfth;
  const auto largest = static_cast<size_t>(*std::ranges::max_element(set_.labels));
  if (largest == 0) fail({"data {}", name_}, "all images have the label 0: expected two classes at least");
  unigram_.assign(largest + 1, 0);
  for (size_t i = 0; i < train_; ++i) unigram_[set_.labels[i]] += 1.0 / static_cast<double>(train_);
  hash_ = hash_bytes(fmt::format("images {} {}", set_.height, set_.width));
  hash_ = hash_bytes(text_of(set_.pixels), hash_bytes(text_of(set_.labels), hash_));
}

BatchShape ImageTask::shape(uint64_t, uint64_t, Split, int32_t B, int32_t) const {
  return {B, 1, static_cast<int32_t>(set_.pixels_of_image()), false};
}

int32_t ImageTask::validation_batches(int32_t B, int32_t) const {
  return batches_of(set_.size() - train_, B);
}

void ImageTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t,
                     const BatchView& to) const {
  const size_t rows = static_cast<size_t>(B), each = set_.pixels_of_image();
  if (to.source.size() != rows * each || to.targets.size() != rows)
    fail({"data {}", name_}, "places for {} pixels and {} classes: expected {} and {}", to.source.size(),
         to.targets.size(), rows * each, rows);
  const size_t before = split == Split::Train ? 0 : train_;
  for (size_t r = 0; r < rows; ++r) {
    const size_t index = before + example_of(seed, step, split, B, r, train_);
    const std::span<int32_t> pixels = to.source.subspan(r * each, each);
    if (index < set_.size()) {
      std::ranges::copy(set_.image(index), pixels.begin());
      to.targets[r] = set_.labels[index];
    } else {  // the last batch of a validation may be short
      std::ranges::fill(pixels, 0);
      to.targets[r] = -1;
    }
  }
}

std::string ImageTask::decode(std::span<const int32_t> pixels) const {
  return fmt::format("an image of {} pixels", pixels.size());
}

constinit const TaskKind kDigitsKind{.name = "digits",
                                     .make = make_digits_task,
                                     .learners = "convolutional",
                                     .unit = "class",
                                     .made_up = "drawn digits",
                                     .seeded = true};
constinit const TaskKind kIdxKind{
    .name = "idx",
    .make = make_idx_task,
    .learners = "convolutional",
    .unit = "class",
    .file = "data.images",
    .path = [](const DataSpec& spec) -> const std::string& { return spec.added.of<ImageData>().images; },
    .check = check_labels};

ImageSet parse_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                   const std::string& labels_name) {
  const Header of_images = header_of(images, images_name, kImages),
               of_labels = header_of(labels, labels_name, kLabels);
  if (of_images.counts[0] != of_labels.counts[0])
    fail("idx " + labels_name, "{} labels for the {} images of {}: expected one each", of_labels.counts[0],
         of_images.counts[0], images_name);
  ImageSet set;
  set.height = static_cast<int32_t>(of_images.counts[1]);
  set.width = static_cast<int32_t>(of_images.counts[2]);
  set.pixels = bytes_of(of_images.bytes);
  set.labels = bytes_of(of_labels.bytes);
  return set;
}

ImageSet read_idx(const std::string& images_path, const std::string& labels_path) {
  return parse_idx(read_input_file(images_path, input::kIdx), images_path,
                   read_input_file(labels_path, input::kIdx), labels_path);
}

ImageSet draw_digits(uint64_t seed, int32_t count) {
  if (count < 1 || count > kMaxDigits) fail("digits", "{} images: expected 1 to {}", count, kMaxDigits);
  ImageSet set;
  set.height = set.width = kDigitSide;
  set.labels.resize(static_cast<size_t>(count));
  set.pixels.resize(set.labels.size() * set.pixels_of_image());
  for (size_t i = 0; i < set.labels.size(); ++i) {
    set.labels[i] = static_cast<uint8_t>(i % 10);
    draw_digit(seed, static_cast<uint32_t>(i),
               std::span(set.pixels).subspan(i * set.pixels_of_image(), set.pixels_of_image()));
  }
  return set;
}

}  // namespace normscope
