// The IDX reader reads files such as MNIST's: images and their labels in two files of unsigned bytes.
//
// Format (LeCun, yann.lecun.com/exdb/mnist): big-endian 32-bit words magic, count and, for images, rows and columns;
// magic 2051 for images, 2049 for labels; then the bytes. Every number is checked against the bytes that there are
// before anything is built. Called by make_idx_task.
#pragma once

#include <string>
#include <string_view>

#include "addons/systems/training/image_set.h"
#include "training/io/input_file.h"

namespace normscope {

namespace input {
inline constexpr InputKind kIdx{"idx", "an IDX file, such as train-images-idx3-ubyte", 2'000'000'000};
}

inline constexpr uint32_t kMostImages = 10'000'000;
inline constexpr uint32_t kLongestSide = 1024;  ///< pixels

/// Throws Error as "[idx PATH] ..." for a file that is compressed, of another kind or cut off, for no
/// images or too many, and where the two files do not have the same number.
ImageSet read_idx(const std::string& images_path, const std::string& labels_path);

/// Reads the same from memory; the names begin the messages.
ImageSet parse_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                   const std::string& labels_name);

}  // namespace normscope
