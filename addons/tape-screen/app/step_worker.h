// The step worker plays the step that the Tape screen shows, on a thread of its own. It owns the StepPlayer, times the
// instructions, measures the roof of this machine, and makes the fold, the memory maps and the record of what a change
// of the wiring did. The screen reads a shared immutable state each frame and never waits. TapeScreen calls it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "addons/tape-screen/app/shown.h"
#include "addons/tape-screen/training/fold.h"
#include "addons/tape-screen/training/listing.h"
#include "addons/tape-screen/training/memory_map.h"
#include "training/run/network.h"
#include "training/session/played_step.h"

namespace normscope::tape_screen {

/// A step without its tensors.
struct StepFacts {
  uint64_t number = 0;  ///< of its copy: PlayedStep::ticket
  char letter = 'A';
  int32_t step = 1;
  std::shared_ptr<const RunSpec> spec;
  ProgramData program;  ///< the player's program, without its store
  Fold fold;            ///< with the norms of the gradients
  bool timed = false;   ///< the fold has seconds: each instruction alone, the fastest of kPasses
  Roofline roof;
  double loss = 0;
  std::optional<NotFinite> broken;
  std::string broken_tensor;  ///< its name
  std::shared_ptr<const MemoryMap> readable,
      shared;  ///< readable: each gradient has its own memory; shared: memory is reused
  ProgramChange change;
  std::string change_from;  ///< the wiring compared with: "run A", "run A before the change"; empty: none
};
inline constexpr int kPasses = 7;

struct TapeState {
  std::shared_ptr<const StepFacts> facts;        ///< null: no step yet
  std::shared_ptr<const InstructionView> shown;  ///< the instruction requested last, or an earlier one
  std::shared_ptr<const ElementCheck> checked;
  std::string error;  ///< why the last request failed, one line
};

/// The program of a step of a specification, on a store of its own: for its memory plan and times, and for comparing
/// it with the program before a change of the wiring.
class StepProgram {
 public:
  /// `spec` must be completed for its data. Throws Error as recording and sealing do.
  StepProgram(const RunSpec& spec, const BatchShape& shape, bool reuse_gradients, Backend& backend);
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  Program& program() { return *program_; }
  const ProgramData& data() const { return program_->data(); }

 private:
  Store store_;
  std::optional<Program> program_;
};

class StepWorker {
 public:
  /// `on_change` is called from the worker's thread (a window wakes its event loop there). With `times` false nothing
  /// is timed, so that what is shown depends on the step alone.
  explicit StepWorker(std::function<void()> on_change = {}, bool times = true);
  ~StepWorker();
  StepWorker(const StepWorker&) = delete;
  StepWorker& operator=(const StepWorker&) = delete;

  void time(bool times) { times_ = times; }
  /// Receives another step; from now on only the worker plays it.
  void take(std::shared_ptr<PlayedStep> step);
  /// Plays through this instruction and looks at it. An instruction beyond the end of the step becomes its last one.
  void show(size_t instruction, int64_t sequence = 0);
  /// Checks an element of the instruction that is shown; nullopt: the element with the largest gradient.
  void check(std::optional<Element> element);
  std::shared_ptr<const TapeState> state() const;
  /// Whether a request is not finished; times do not count.
  bool busy() const;
  void wait();  ///< waits until all work is finished, times included

 private:
  struct At {
    size_t instruction = 0;
    int64_t sequence = 0;
  };
  struct Todo {
    std::shared_ptr<PlayedStep> step;
    std::optional<At> at;
    std::optional<std::optional<Element>> check;
    bool any() const { return step || at || check; }
  };
  /// The specifications of a run: the present one, and the one before its wiring changed.
  struct KnownStep {
    RunSpec last;
    std::optional<RunSpec> before;
    std::string from;
  };

  void loop();
  void carry_out(Todo& todo);
  void begin(std::shared_ptr<PlayedStep> step);
  void leave_step();
  bool newer() const;
  void plan(const PlayedStep& step, StepFacts& facts);
  void note_change(const PlayedStep& step, StepFacts& facts);
  void look();
  void time_pass();
  void prepare_timing();
  bool wants_pass() const { return times_ && step_ && passes_left_ > 0; }
  void publish();

  std::function<void()> on_change_;
  std::atomic<bool> times_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::shared_ptr<const TapeState> state_ = std::make_shared<TapeState>();
  Todo todo_;
  bool working_ = false, asked_ = false, quit_ = false;
  // The members from here on belong to the worker's thread alone.
  std::shared_ptr<PlayedStep> step_;
  TapeState made_;
  At at_;
  std::map<char, KnownStep> known_;
  uint64_t generation_ = 0;         ///< of the runs in known_
  std::optional<RunSpec> planned_;  ///< the specification of the maps and times
  BatchShape planned_shape_;
  std::shared_ptr<const MemoryMap> readable_, shared_;
  std::unique_ptr<StepProgram> timing_;  ///< on the step's backend
  std::vector<double> seconds_;          ///< by instruction, the least so far
  int passes_left_ = 0;
  std::optional<Roofline> roof_;
  std::jthread thread_;
};

}  // namespace normscope::tape_screen
