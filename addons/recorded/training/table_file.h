// A run as a table, a row a step: CSV with the names of its columns in its first line (Lightning's metrics.csv, Keras'
// CSVLogger, what Weights & Biases exports, a spreadsheet of one's own), separated by commas, tabs or semicolons; the list
// of objects that the Trainer of Hugging Face keeps as "log_history" in trainer_state.json; Keras' history, a list for each
// name; and what a training printed, where its lines have a loss: nanoGPT's "iter 12: loss 3.1", the Trainer's
// dictionaries.
//
// Promises: a row that cannot be read is counted and named. Called by foreign_file.cpp.
#pragma once

#include "addons/recorded/training/foreign_file.h"

namespace normscope::records {

/// Whether the first line names columns, and one of them is the step; or lines of numbers follow it.
bool is_table(std::string_view head, const NameMapping& mapping);
/// Whether the first two lines have numbers alone, more than one in each.
bool is_of_numbers(std::string_view head);
std::unique_ptr<ForeignReader> table_reader(const LogFile& file);

/// Whether a line of a training is there, between any others.
bool is_printed(std::string_view head);
std::unique_ptr<ForeignReader> printed_reader(const LogFile& file);

/// Whether a file begins as JSON over several lines, or as a list; and whether numbers of a run are to be seen there.
bool is_history(std::string_view head);
bool has_history(std::string_view head);
std::unique_ptr<ForeignReader> history_reader(const LogFile& file);

}  // namespace normscope::records
