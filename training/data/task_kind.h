// A row of tasks.def: what is to be known of the data of one data.name before they are read. A new kind of
// data is one constant beside its Task, and a row. Called by the specification, by the settings and by links.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "training/data/task.h"

namespace normscope {

struct TaskKind {
  std::string_view name;  ///< of data.name
  std::shared_ptr<const Task> (*make)(const DataSpec&) = nullptr;
  /// The architectures that learn it, as model.architecture names them, with a blank between: "encoder decoder".
  std::string_view learners;
  std::string_view unit;              ///< "letter", as Task::unit()
  std::string_view masked_unit = {};  ///< the same for an encoder that fills in; empty: no other
  /// What data that the program makes itself are called; empty: they are read from a file alone.
  std::string_view made_up = {};
  std::string_view file = {};  ///< the field that names the file, "data.text"; empty: there is none
  const std::string& (*path)(const DataSpec&) = nullptr;  ///< the value of that field
  bool seeded = false;                                    ///< data.seed decides which data are made up
  bool labelled = false;                                  ///< each row of text has a class
  bool takes_tokenizer = false;                           ///< data.tokenizer says how its text is cut
  bool learns_tokenizer = false;                          ///< and is learned where it names no file
  bool takes_validation = false;                          ///< data.valid is read, with data from a file
  bool by_content = false;                   ///< results count by the hash of its files, wherever these lie
  bool goes_on = false;                      ///< data.consecutive may be set
  std::string_view flag_help = {};           ///< of normscope train --NAME FILE; empty: there is no such flag
  std::string_view preset = "pre";           ///< the run that --NAME trains where nothing else is said
  void (*check)(const DataSpec&) = nullptr;  ///< throws Error where the settings do not suffice
  /// Whether this kind makes the task of data of another name: of a text in the tokens of a published model.
  bool (*also)(const DataSpec&) = nullptr;
};

#define TASK(kind) extern const TaskKind kind;
#include "training/data/tasks.def"
#undef TASK

/// All kinds, in the order of tasks.def.
std::span<const TaskKind* const> task_kinds();
/// nullptr where there is none of that name.
const TaskKind* find_kind(std::string_view name);
/// The kind that makes the task of these data. Throws Error for an unknown name.
const TaskKind& kind_of(const DataSpec& data);
/// Whether an architecture learns such data.
bool learns(std::string_view architecture, const TaskKind& kind);
/// The file that the data are read from; empty for data that the program makes.
std::string path_of(const DataSpec& data);

}  // namespace normscope
