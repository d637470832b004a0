// What the command line asks for, as plain values, and the commands. cli.cpp fills the options in and calls
// one of them; each returns the exit code or throws Error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/exit_code.h"

namespace normscope::cli {

/// Where runs train; changes no run's identity.
struct BackendOptions {
  std::string backend;  ///< cpu, cuda; empty: cpu, or as the window remembers
  bool tf32 = false;
};

/// normscope without a command, and normscope compare: the three runs of the default comparison.
struct MainOptions {
  bool window = false;  ///< demand the window: no headless job in its place
  std::string text;     ///< the path of a text; empty: the built-in corpus
  std::string config;   ///< the runs of a configuration file instead
  std::string theme;    ///< light, dark; empty: as remembered
  double scale = 0;     ///< 0: as remembered
  bool safe_mode = false;
  std::string frame_log;  ///< what every frame of the window costs, as CSV; empty: no log
  std::vector<std::string> runs, set, edits;
  int32_t steps = 0;    ///< 0: the runs' own budget
  int32_t seeds = 1;    ///< headless: seeds 1..seeds
  int32_t threads = 0;  ///< 0: one per physical core
  BackendOptions backend;
  std::string out = "out";
};

struct TrainOptions {
  std::string config, preset, text, log, save, resume;
  std::vector<std::string> runs, set, edits;
  std::string pairs, labels, valid, init_from;
  int32_t steps = 0;   ///< 0: as configured
  int32_t tokens = 0;  ///< of a batch; 0: train.batch rows
  int32_t validate_every = 50;
  int32_t save_every = 0;  ///< 0: at the end only
  int32_t keep = 0;        ///< how many of the last saved states are kept under names of their own
  int64_t seed = -1;       ///< -1: as configured
  int32_t threads = 0;
  bool plan = false;     ///< print what memory the runs need, train nothing
  bool profile = false;  ///< time every node of a step instead of training
  BackendOptions backend;
};

struct BenchOptions {
  /// None of them and no model: all but `crowded`, which wants cores of its own.
  bool gemm = false, ops = false, sweep = false, crowded = false;
  std::string model;
  bool json = false;
  double budget = 0.25;  ///< seconds a timing
  BackendOptions backend;
  int32_t threads = 0;
};

struct TranslateOptions {
  std::vector<std::string> runs;  ///< several: their weights are averaged
  std::string input, reference, out;
  int32_t beam = 5, limit = 0, threads = 0;
  double penalty = 1.2;
};

struct MeasureOptions {
  std::string file, what = "ablation";
  std::vector<std::string> without;     ///< ablation, loss: layers and sub-layers left out together
  int32_t batches = 8;                  ///< gradients
  double epsilon = 0.1, delta = 0.125;  ///< concentration
  bool json = false;
  int32_t threads = 0;
};

struct AverageOptions {
  std::vector<std::string> files;
  std::string out;
};

struct BleuOptions {
  std::string translations, references;
};

struct ScreenshotOptions {
  std::string screen = "lab", theme = "light", size = "1600x1000", script, out, text, config;
  double scale = 1;
  int32_t steps = 200;
  int64_t seed = -1;
  int32_t threads = 0;
};

struct VerifyOptions {
  std::vector<std::string> files;
  BackendOptions backend;
  int32_t threads = 0;
};

struct LessonOptions {
  std::string command;  ///< list, show, check, report
  std::string id;       ///< of one lesson; empty: all
  std::string folder;   ///< of the lessons; empty: the course's
  std::string out = "out/lessons";
  std::string page{};  ///< report: a page into which the claim table goes, between its markers
  bool all = false, full = false, write = false;
  int32_t threads = 0;
};

struct ZooOptions {
  bool list = false;    ///< name the entries and train nothing
  bool stored = false;  ///< show what is there and train nothing
  std::string only;     ///< names of entries and groups, with commas; empty: all
  std::vector<int32_t> depths;
  std::vector<std::string> set;   ///< on the model that the entries change
  int32_t seeds = 3;              ///< seeds 1..seeds
  int32_t steps = 0, warmup = 0;  ///< 0: as the depth has it
  std::string json, csv, svg, markdown, out;
  int32_t threads = 0;  ///< runs at a time
};

struct AdminFoldOptions {
  std::string in, out;
};

Exit open_window(const MainOptions& options);
Exit compare(const MainOptions& options);
Exit train(const TrainOptions& options);
Exit screenshot(const ScreenshotOptions& options);
Exit verify(const VerifyOptions& options);
Exit translate(const TranslateOptions& options);
Exit bleu(const BleuOptions& options);
Exit measure(const MeasureOptions& options);
std::vector<std::string> measurement_names();
Exit average(const AverageOptions& options);
Exit admin_fold(const AdminFoldOptions& options);
Exit lesson(const LessonOptions& options);
Exit bench(const BenchOptions& options);
Exit zoo(const ZooOptions& options);

}  // namespace normscope::cli
