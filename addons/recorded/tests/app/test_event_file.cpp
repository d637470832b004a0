// Files of other trackers, made by their own writers (tests/fixtures/trackers.py): the same four steps in each.
#include "addons/recorded/training/event_file.h"

#include <bit>

#include "addons/recorded/training/log_reader.h"
#include "addons/recorded/training/recorded_run.h"
#include "app/support/program.h"
#include "training/files/file_kind.h"

using namespace normscope;
using namespace normscope::records;
using test::Folder, test::Outcome, test::read_all, test::run_program;

namespace {

const std::string kFixtures = NORMSCOPE_SOURCE_DIR "/addons/recorded/tests/fixtures/";

std::vector<float> values(const History& history, const std::string& name) {
  const int32_t at = history.find(name);
  return at < 0 ? std::vector<float>{} : history.series(at).values;
}

/// Every number of a file's only run by series and step, as bits.
std::map<std::string, std::map<int32_t, uint32_t>> numbers(const RecordedFile& file) {
  std::map<std::string, std::map<int32_t, uint32_t>> all;
  if (file.runs.size() != 1) return all;
  const auto put = [&](const std::string& name, const Series& series) {
    for (size_t i = 0; i < series.steps.size(); ++i)
      all[name][series.steps[i]] = std::bit_cast<uint32_t>(series.values[i]);
  };
  const History& history = *file.runs[0].seeds.front().history;
  put("loss", history.loss());
  put("rate", history.rate());
  put("validation", history.validation());
  for (size_t i = 0; i < history.layout().size(); ++i)
    put(history.layout()[i].name, history.series(static_cast<int32_t>(i)));
  return all;
}

/// A file of these lines.
std::string events(std::initializer_list<const char*> lines) {
  std::string file = first_event(0);
  for (const char* line : lines) file += event_of(line);
  return file;
}

RecordedFile read(const std::string& file, size_t portion = std::string::npos) {
  LogReader reader("events");
  for (size_t at = 0; at < file.size(); at += std::min(portion, file.size())) {
    reader.take(std::string_view(file).substr(at, portion));
    reader.settle();
  }
  reader.finish();
  return reader.file();
}

}  // namespace

TEST_CASE("files of TensorBoard, Weights & Biases and trackio say the same of a run") {
  for (const char* file : {"events.out.tfevents.1", "run.wandb", "trackio.jsonl"}) {
    INFO(file);
    CHECK(look_at(kFixtures + file).kind == FileKind::Recorded);
    const RecordedFile read = read_recorded(kFixtures + file);
    CHECK(read.broken == 0);
    REQUIRE(read.runs.size() == 1);
    const History& history = *read.runs[0].seeds.front().history;
    CHECK(history.loss().steps == std::vector<int32_t>{1, 2, 3, 4});
    CHECK(history.loss().values[1] == 3.5f);
    CHECK(std::isnan(history.loss().values[2]));
    CHECK(history.rate().values[3] == 0.003f);
    CHECK(values(history, "L02.attn.wq.grad_norm") == std::vector<float>{1 / 2.f, 1 / 3.f, 1 / 4.f, 1 / 5.f});
    CHECK(history.validation().values == std::vector<float>{3.5f});
  }
}

TEST_CASE("a file of another tracker that ends within an event keeps the steps before") {
  const std::string whole = read_all(kFixtures + "events.out.tfevents.1");
  for (size_t length = 0; length < whole.size(); ++length) {
    LogReader reader("events");
    reader.take(std::string_view(whole).substr(0, length));
    reader.finish();
    CHECK(reader.file().broken <= 1);
    if (reader.fault().empty()) CHECK(reader.file().runs.at(0).seeds[0].history->last_step() >= 1);
  }
}

TEST_CASE("room behind the last event that was never used is no event") {
  const std::string whole = read_all(kFixtures + "events.out.tfevents.1");
  for (size_t zeros = 1; zeros < 16; ++zeros) {
    const RecordedFile file = read(whole + std::string(zeros, '\0'));
    CHECK(file.runs.at(0).seeds[0].history->loss().steps.size() == 4);
    CHECK(file.broken == 1);
  }
}

TEST_CASE("a file of another tracker may come in any portions, and be in any order") {
  for (const char* name : {"events.out.tfevents.1", "run.wandb"}) {
    INFO(name);
    const std::string whole = read_all(kFixtures + name);
    const auto all = numbers(read(whole));
    CHECK(all.size() == 5);
    for (const size_t portion : {1, 7, 100}) CHECK(numbers(read(whole, portion)) == all);
  }
  const std::string file =
      events({R"({"step":4,"train/loss_step":9})", R"({"step":2,"train/loss_step":8,"lr":0.1})",
              R"({"step":4,"loss":3,"lr":0.2})", R"({"step":2,"loss":4})", R"({"step":4,"loss":1})"});
  for (const size_t portion : {size_t{20}, std::string::npos}) {
    const RecordedFile read_file = read(file, portion);
    const History& history = *read_file.runs.at(0).seeds[0].history;
    CHECK(history.loss().steps == std::vector<int32_t>{2, 4});
    CHECK(history.loss().values == std::vector<float>{4, 1});
    CHECK(history.rate().values == std::vector<float>{0.1f, 0.2f});
  }
}

TEST_CASE("a run that was set back goes on from there") {
  const std::string before = events(
                        {R"({"step":1,"loss":3})", R"({"step":2,"loss":2})", R"({"step":3,"loss":1})"}),
                    file = before + first_event(1) + event_of(R"({"step":2,"loss":5})");
  for (const size_t portion : {before.size(), file.size()}) {
    const RecordedFile read_file = read(file, portion);
    CHECK(read_file.runs.at(0).seeds[0].history->loss().values == std::vector<float>{3, 5});
  }
}

TEST_CASE("the seconds of a step leave out the pause before a run went on") {
  using std::string_literals::operator""s;
  const auto bytes = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto event = [&](double time, char step) {  // and the loss under the name "loss"
    const std::string content =
        "\x09" + bytes(time) + "\x10" + step + "\x2a\x0d\x0a\x0b\x0a\x04loss\x15" + bytes(1.0f);
    return bytes(uint64_t{content.size()}) + "\0\0\0\0"s + content + "\0\0\0\0"s;
  };
  const std::string one = first_event(0) + event(100, 1), two = one + event(102, 2),
                    after = event(9000, 3) + event(9002, 4) + event(9003, 4);
  const RecordedFile file = read(two + first_event(2) + after);
  CHECK(file.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(file.runs[0].seeds[0].number(kSecondsPerStep) == 2);
  CHECK(read(one + first_event(2) + after).runs.at(0).seeds[0].number(kSecondsPerStep) == 2);
}

TEST_CASE("what is cut or left out of another tracker's file is said") {
  using std::string_literals::operator""s;
  const RecordedFile cut = read(":W&B\0\0\0"s +
                                "\0\0\0\0\x03\0\x02"
                                "abc"s);  // the first part of a record
  CHECK(cut.broken == 1);
  CHECK(test::contains(cut.faults.at(0), "record 1: the file ends within it"));
  const std::string name(1001, 'x');
  const RecordedFile named =
      read(events({R"({"step":1,"loss":3})"}) + event_of("{\"step\":2,\"loss\":2,\"" + name + "\":1}"));
  CHECK(named.broken == 0);
  CHECK(named.runs.at(0).seeds[0].history->loss().values == std::vector<float>{3, 2});
  CHECK(test::contains(named.faults.at(0), "or of more than 1000 bytes, are left out"));
}

TEST_CASE("a file of TensorBoard is followed from its first byte on, and only what is new is read") {
  const std::string whole = read_all(kFixtures + "events.out.tfevents.1");
  const Folder folder;
  const std::string path = folder.write("events.out.tfevents.1", "");
  LogFollower follower(path);
  for (const size_t length : {size_t{1}, size_t{24}, size_t{200}, whole.size() / 2, whole.size()}) {
    const size_t before = std::filesystem::file_size(path);
    std::ofstream(path, std::ios::app | std::ios::binary) << whole.substr(before, length - before);
    CHECK(follower.poll());
    CHECK_FALSE(follower.poll());
    CHECK(follower.file().broken == 0);
  }
  CHECK(numbers(follower.file()) == numbers(read_recorded(path)));
  CHECK(follower.file().lines == read_recorded(path).lines);
}

TEST_CASE("the file of TensorBoard's own writer begins with its name too") {
  using std::string_literals::operator""s;
  const std::string head =
      "H\0\0\0\0\0\0\0\xfe\x92H\x9d\t\xc0\xc6\xe9\x9f"
      "B\xc3\xda"
      "A\x1a\rbrain.Event:2R.\n,tensorboard.summary.writer.event_file_writer\x1aQ\"\xca"s;
  CHECK(is_event_file(head));
  CHECK(read(head + event_of(R"({"step":1,"loss":2})")).broken == 0);
  // TensorBoard does not read an event whose checksum is another than its own.
  CHECK(first_event(0).substr(8, 4) == "\x12\x9b\xd8-"s);
}

TEST_CASE("train writes the numbers of its log for TensorBoard, to the bit") {
  const Folder folder;
  const std::string two = folder.write("two.toml", std::string(test::kTiny) +
                                                       "[run.A]\n[run.B]\nmodel.placement = \"pre\"\n"),
                    one = folder.write("one.toml", std::string(test::kTiny) + "[run.A]\n"),
                    log = folder.file("run.jsonl"), board = folder.file("board"),
                    events = board + "/events.out.tfevents.normscope";
  REQUIRE(
      run_program("train --config " + one + " --steps 60 --log " + log + " --tensorboard " + board).code ==
      0);
  CHECK(look_at(events).kind == FileKind::Recorded);
  const auto all = numbers(read_recorded(log));
  CHECK(all.at("validation").size() == 2);
  CHECK(all.contains("L02.attn.wq.grad_norm"));
  CHECK(read_recorded(events).runs[0].name == "board");
  CHECK(numbers(read_recorded(events)) == all);

  // A resumed run goes on behind the last whole event, and what came after its checkpoint does not count.
  const std::string saved = folder.file("x.safetensors");
  REQUIRE(run_program("train --config " + one + " --steps 20 --save " + saved).code == 0);
  std::filesystem::resize_file(events, std::filesystem::file_size(events) - 5);
  const std::string resume = "train --resume " + saved + " --set train.lr=0.01 --steps 40 --log " + log;
  REQUIRE(run_program(resume + " --tensorboard " + board).code == 0);
  const auto resumed = numbers(read_recorded(log));
  CHECK(resumed != all);
  CHECK(resumed.at("loss").size() == 40);
  CHECK(numbers(read_recorded(events)) == resumed);
  CHECK(read_recorded(events).broken == 0);

  // Of several runs each has a folder.
  REQUIRE(run_program("train --config " + two + " --steps 2 --tensorboard " + board).code == 0);
  for (const char* letter : {"A", "B"})
    CHECK(read_recorded(board + "/" + letter + "/events.out.tfevents.normscope")
              .runs.at(0)
              .seeds[0]
              .history->last_step() == 2);

  // What cannot be written is said before the training, or ends the events alone.
  const auto says = [&](const std::string& arguments, int code, const std::string& what) {
    const Outcome refused = run_program("train " + arguments);
    CHECK(refused.code == code);
    CHECK(test::is_one_error_line(refused));
    CHECK(test::contains(refused.err, what));
  };
  says("--config " + one + " --tensorboard /proc/none", 5, "/proc/none cannot be made");
  says("--config " + one + " --tensorboard " + one, 5, "one.toml");
  says("--config " + one + " --log " + events + " --tensorboard " + board, 2, "--log writes this file");
  std::filesystem::create_directory(folder.file("other"));
  folder.write("other/events.out.tfevents.normscope", "mine");
  says("--resume " + saved + " --steps 21 --tensorboard " + folder.file("other"), 2,
       "is no log that could be continued: expected another name");
  CHECK(read_all(folder.file("other/events.out.tfevents.normscope")) == "mine");
  std::filesystem::create_directory(folder.file("full"));
  std::filesystem::create_symlink("/dev/full", folder.file("full/events.out.tfevents.normscope"));
  says("--config " + one + " --steps 2 --log " + log + " --tensorboard " + folder.file("full"), 5,
       "No space left");
  CHECK(test::read_log(log).size() == 3);
}

TEST_CASE("of several names of a series in a line the likeliest counts") {
  LogStep step;
  LogAbout about;
  REQUIRE(
      read_line(
          R"({"step": 3, "eval/loss": 2, "test/loss": 4, "train/loss_step": 7, "train/loss": 3, "x/y": "text"})",
          1, step, about) == LineKind::Step);
  CHECK(step.loss == 3);
  CHECK(step.validation == 2);
}

TEST_CASE("names of scalars tell series and tensors") {
  using Of = ScalarName::Of;
  CHECK(scalar_name("Loss/train").of == Of::Loss);
  CHECK(scalar_name("lm loss").of == Of::Loss);
  CHECK(scalar_name("learning-rate").of == Of::Rate);
  CHECK(scalar_name("val_loss").of == Of::Validation);
  for (const char* name : {"grad_norm/h.3.mlp.c_fc.weight", "train/grad_norm/h.3.mlp.c_fc.weight",
                           "h.3.mlp.c_fc.weight/grad_norm", "grad_2.0_norm/h.3.mlp.c_fc.weight"}) {
    INFO(name);
    CHECK(scalar_name(name).of == Of::Tensor);
    CHECK(scalar_name(name).tensor == "h.3.mlp.c_fc.weight");
  }
  for (const char* name : {"train/grad_norm", "throughput/tokens", "accuracy", ""})
    CHECK(scalar_name(name).of == Of::Other);
}
