// The files that TensorBoard and Weights & Biases keep on disk: both are sequences of protobuf messages, TensorBoard's
// in records of TensorFlow, an offline run's of Weights & Biases in LevelDB's log format. Scalars by step are read;
// pictures, histograms and texts are skipped. Only TensorBoard's files are written.
//
// Promises: steps come in ascending order, whatever order the file has them in; of two values of a step the later one
// counts. A step that cannot be counted, and a part that is damaged by its checksum, are left out, counted and named.
// The step is the one that a run declares. Called by foreign_file.cpp; `train --tensorboard`
// writes by app/commands/record.cpp.
#pragma once

#include "addons/recorded/training/foreign_file.h"
#include "engine/io/input_file.h"

namespace normscope::records {

bool is_event_file(std::string_view head);
/// Whether `head` is too short to decide, and may begin an event file.
bool may_be_event_file(std::string_view head);

/// The reader of a file that begins with `head`.
std::unique_ptr<ForeignReader> event_reader(std::string_view head, const LogFile& file);

/// The event of a log's line: its numbers under names that are read back, "loss", "grad_norm/L03.attn.wq". Empty where
/// the line is of no step.
std::string event_of(std::string_view line);
/// The checksum behind an event's length and behind the event.
uint32_t checksum(std::string_view bytes);
/// The first event of a file; for a resumed run, the event that voids all events after `steps`.
std::string first_event(int32_t steps);
/// The end of the last whole event of a file; nothing: it is not an event file of TensorBoard.
std::optional<uint64_t> end_of_events(InputFile& file);

}  // namespace normscope::records
