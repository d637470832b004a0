// Reads scalars by step from the files that TensorBoard and Weights & Biases keep on disk. Both are sequences of protobuf
// messages: TensorBoard's in records of TensorFlow, those of an offline run of Weights & Biases in LevelDB's log format.
// Pictures, histograms and texts are passed over.
//
// Promises: steps come in ascending order, whatever order the file has them in; of two values of a step the later one
// counts. A part that cannot be read is counted and named. Called by read_recorded (recorded_run.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "addons/recorded/training/log_line.h"
#include "addons/recorded/training/recorded_run.h"

namespace normscope::records {

bool is_event_file(std::string_view head);

/// Calls `add` with each step; `path` is for errors. Throws Error where there is none, or more than can be held.
void read_events(std::string_view file, const std::string& path, LinesRead& read,
                 const std::function<void(const LogStep&)>& add);

}  // namespace normscope::records
