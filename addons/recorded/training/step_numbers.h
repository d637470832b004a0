// The numbers of another tracker's run by step and name, in whatever order its files have them, until all of a step are
// known.
//
// Promises: steps are given in ascending order; of two values of a name and a step the later one counts. What is not
// kept is counted and named in `read`. Called by event_file.cpp and table_file.cpp.
#pragma once

#include "addons/recorded/training/log_line.h"
#include "addons/recorded/training/recorded_run.h"

namespace normscope::records {

/// What a reader is given with a file; all of it outlives the reader.
struct LogFile {
  const std::string& path;  ///< for errors
  LinesRead& read;
  const NameMapping& mapping;
};

class StepNumbers {
 public:
  /// What a file consists of, for messages.
  enum class Part : uint8_t { Line, Event, Record };

  /// `file.read.lines` is the number of the part that is read now.
  StepNumbers(const LogFile& file, Part part)
      : where_("events {}", file.path), read_(file.read), part_(part), known_(file.mapping) {}

  const ScalarNames& known() const { return known_; }

  /// Names a fault of the part that is read now; broken: it is left out.
  void note(const Message& fault);
  void broken(const Message& fault);
  /// Throws Error where no further number can be held.
  void require_room() const;
  /// A step that cannot be counted leaves its part out.
  void add(int64_t step, const std::string& name, double value);
  /// The time of a step, called after its first number.
  void time(int64_t step, double seconds);
  /// The run was restarted at this step: steps from here on come once more.
  void set_back(int64_t step);
  /// The run goes on in another file. Its first number of a name replaces those of before from this step on.
  void begin_session();
  /// Calls `add` with each new step. Where new numbers change earlier steps, calls `anew`, then `add` with all steps.
  void give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add);

 private:
  struct Number {  // 12 bytes each
    int32_t step = 0;
    uint16_t name = 0, session = 0;
    float value = 0;
  };
  std::optional<uint16_t> place_of(const std::string& name);
  void drop(int64_t step);
  void leave_out();
  void begin_clock();
  void cut();
  void put_step(size_t begin, size_t end, LogStep& step);

  Message where_;
  LinesRead& read_;
  Part part_;
  std::map<std::string, uint16_t> places_;
  std::vector<ScalarName> names_;  ///< whose texts are in `places_`
  std::vector<std::string_view> texts_;
  ScalarNames known_;
  std::vector<Number> all_;  ///< the first `given_` in ascending order of steps
  std::vector<size_t> newest_;
  std::map<uint16_t, int32_t> begun_,
      cuts_;  ///< name -> its first step in this session; those not yet cut at
  size_t given_ = 0;
  bool anew_ = false;  ///< the steps that were given do not hold any more
  bool left_out_ = false;
  int64_t dropped_ = 0;  ///< the last part that was left out
  uint16_t session_ = 0;
  int32_t last_ = -1;   ///< the highest step
  int32_t timed_ = -1;  ///< the one whose time was the last to be kept
  double began_ = NAN;  ///< the clock
  int32_t restarts_ = 0;
};

}  // namespace normscope::records
