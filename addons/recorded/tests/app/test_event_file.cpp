// Files of other trackers, made by their own writers (tests/fixtures/trackers.py): the same four steps in each.
#include "addons/recorded/training/event_file.h"

#include <fmt/format.h>

#include <bit>

#include "addons/recorded/tests/app/zlib_checksum.h"
#include "addons/recorded/training/log_reader.h"
#include "addons/recorded/training/recorded_run.h"
#include "addons/recorded/training/run_files.h"
#include "app/support/program.h"
#include "app/support/refused.h"
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

std::string as_bytes(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

/// A part of a record of Weights & Biases: 1 a whole one, 2 its first, 4 its last.
std::string fragment(char kind, const std::string& content) {
  const auto length = static_cast<uint32_t>(content.size());
  return as_bytes(zlib_checksum(kind + content)) + as_bytes(length).substr(0, 2) + kind + content;
}

/// A field of a message, of bytes.
std::string field(int number, const std::string& content) {
  std::string length;
  for (size_t left = content.size();; left >>= 7) {
    length += static_cast<char>(left > 0x7f ? left | 0x80 : left);
    if (left <= 0x7f) break;
  }
  return static_cast<char>(number << 3 | 2) + length + content;
}

/// A record of history with these values, each as JSON.
std::string history_record(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string items;
  for (const auto& [name, json] : values)
    items += field(1, field(2, name) + "\x82\x01" + field(0, json).substr(1));
  return fragment(1, field(2, items));
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

auto losses(const RecordedFile& file) { return file.runs.at(0).seeds[0].history->loss(); }

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
    const std::string length = bytes(uint64_t{content.size()});
    return length + bytes(checksum(length)) + content + bytes(checksum(content));
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
  const RecordedFile cut = read(":W&B\0\0\0"s + fragment(2, "abc"));  // the first part of a record
  CHECK(cut.broken == 1);
  CHECK(test::contains(cut.faults.at(0), "record 1: the file ends within it"));
  const std::string name(1001, 'x');
  const RecordedFile named =
      read(events({R"({"step":1,"loss":3})"}) + event_of("{\"step\":2,\"loss\":2,\"" + name + "\":1}"));
  CHECK(named.broken == 0);
  CHECK(named.runs.at(0).seeds[0].history->loss().values == std::vector<float>{3, 2});
  CHECK(test::contains(named.faults.at(0), "or of more than 1000 bytes, are left out"));
}

TEST_CASE("every reader counts and names what it leaves out, and keeps all other steps") {
  // Each writes a loss for every step.
  using Steps = std::vector<std::string>;
  const auto joined = [](const Steps& steps, const std::string& before, const char* line) {
    std::string text = before;
    for (const std::string& step : steps) text += fmt::format(fmt::runtime(line), step);
    return text;
  };
  const std::vector<std::pair<const char*, std::function<std::string(const Steps&)>>> writers{
      {"lines", [&](const Steps& all) { return joined(all, "", "{{\"step\": {}, \"loss\": 2}}\n"); }},
      {"lines of the Trainer",
       [&](const Steps& all) {
         return joined(all, "", "{{\"step\": 1, \"train/global_step\": {}, \"loss\": 2}}\n");
       }},
      {"CSV", [&](const Steps& all) { return joined(all, "epoch,step,train_loss\n", "0,{},2\n"); }},
      {"CSV with semicolons", [&](const Steps& all) { return joined(all, "step;train_loss\n", "{};2,0\n"); }},
      {"trainer_state.json",
       [&](const Steps& all) {
         return "{\n \"log_history\": [" + joined(all, "", "{{\"step\": {}, \"loss\": 2}},\n") +
                "{\"step\": 0, \"loss\": 2}]}";
       }},
      {"TensorBoard",
       [](const Steps& all) {
         std::string text = first_event(0);
         for (const std::string& step : all) {
           uint64_t left = static_cast<uint64_t>(std::stoll(step));
           std::string event = "\x10";
           for (; left > 0x7f; left >>= 7) event += static_cast<char>(left | 0x80);
           event += static_cast<char>(left);
           event += field(5, field(1, field(1, "loss") + std::string("\x15\0\0\0\x40", 5)));
           const uint64_t size = event.size();
           const std::string length(reinterpret_cast<const char*>(&size), sizeof size);
           text += length + as_bytes(checksum(length)) + event + as_bytes(checksum(event));
         }
         return text;
       }},
      {"Weights & Biases",
       [](const Steps& all) {
         std::string text(":W&B\0\0\0", 7);
         for (const std::string& step : all) text += history_record({{"_step", step}, {"loss", "2"}});
         return text;
       }},
      {"Weights & Biases, its step declared", [](const Steps& all) {
         std::string text(":W&B\0\0\0", 7);
         text += fragment(1, field(12, field(2, "*") + field(4, "samples")));
         for (const std::string& step : all)
           text += history_record({{"_step", "7"}, {"loss", "2"}, {"samples", step}});
         return text;
       }}};
  for (const auto& [name, write] : writers) {
    INFO(name);
    const RecordedFile file =
        read(write({"0", "1", "-1", "2", "10000001", "2000000000", "2000000001", "3000000000000"}));
    REQUIRE(file.runs.size() == 1);
    CHECK(file.runs[0].seeds[0].history->loss().steps == std::vector<int32_t>{0, 1, 2, 10000001, 2000000000});
    CHECK(file.broken == 3);
    REQUIRE(file.faults.size() == 3);
    for (const Message& fault : file.faults) {
      CHECK(test::contains(fault, "a whole number from 0 to 2000000000"));
      CHECK(test::contains(fault, "step"));
    }
  }
}

TEST_CASE("what a training printed is read, and Keras' history") {
  const auto losses = [](const std::string& text) {
    const RecordedFile file = read(text);
    REQUIRE(file.runs.size() == 1);
    return file.runs[0].seeds[0].history->loss();
  };
  const std::vector<int32_t> tens{0, 10, 20};
  Series found = losses(
      "tokens per iteration will be: 16,384\nnumber of parameters: 10.65M\nstep 0: train loss 4.28, val loss 4.27\n"
      "iter 0: loss 4.25, time 120.5ms, mfu -100.00%\niter 10: loss 3.5, time 10ms, mfu 1.00%\nsaving\n"
      "iter 20: loss 3.25, time 10ms, mfu 1.00%\n");
  CHECK(found.steps == tens);
  CHECK(found.values == std::vector<float>{4.25f, 3.5f, 3.25f});
  found = losses("[INFO] step=0 | loss=4.25 | lr=1e-3\n[INFO] step=10 | loss=3.5 | lr=1e-3\n");
  CHECK(found.steps == std::vector<int32_t>{0, 10});
  const std::string trainer =
      "{'loss': 4.25, 'grad_norm': 0.5, 'learning_rate': 0.001, 'epoch': 0.1}\n{'eval_loss': 4.5, 'epoch': 0.1}\n"
      "  0%|  | 1/10\n{'loss': '3.5', 'grad_norm': 'nan', 'learning_rate': '0.002', 'epoch': '0.2'}\n";
  const RecordedFile file = read(trainer);
  REQUIRE(file.runs.size() == 1);
  const auto& history = *file.runs[0].seeds[0].history;
  CHECK(history.loss().steps == std::vector<int32_t>{1, 2});
  CHECK(history.loss().values == std::vector<float>{4.25f, 3.5f});
  CHECK(history.rate().values == std::vector<float>{0.001f, 0.002f});
  CHECK(history.validation().steps == std::vector<int32_t>{1});
  CHECK(file.broken == 0);
  REQUIRE(file.faults.size() == 1);
  CHECK(test::contains(file.faults[0], "has no step: such lines are counted"));
  for (const char* keras : {"{\"loss\": [3, 2.5, 2], \"val_loss\": [3, 2.75, 2.5]}",
                            "{\n  \"loss\": [\n    3,\n    2.5,\n    2\n  ]\n}\n"}) {
    found = losses(keras);
    CHECK(found.steps == std::vector<int32_t>{1, 2, 3});
    CHECK(found.values == std::vector<float>{3, 2.5f, 2});
  }
  // In one line, with a step of its own beside the list.
  found = losses(
      "{\"global_step\": 2, \"log_history\": [{\"step\": 1, \"loss\": 3}, {\"step\": 2, \"loss\": 2}]}");
  CHECK(found.values == std::vector<float>{3, 2});
  for (const char* prose :
       {"At step 3 we lost.\n", "A loss of 3 in 2 steps\n", "iter 3\n", "{'name': 'x'}\n"})
    CHECK(format_of(prose) == LogFormat::Unknown);
}

TEST_CASE("a damaged byte makes no other number: what its checksum does not fit is left out and counted") {
  for (const char* name : {"events.out.tfevents.1", "run.wandb"}) {
    const std::string whole = read_all(kFixtures + name);
    const auto all = numbers(read(whole));
    for (size_t at = 0; at < whole.size(); ++at)
      for (const char change : {'\x01', '\x80'}) {
        INFO(name << " at " << at);
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        if (!is_event_file(damaged.substr(0, 64))) continue;
        const RecordedFile file = read(damaged);
        if (at >= 7) CHECK(file.broken > 0);
        for (const auto& [series, by_step] : numbers(file))
          for (const auto& [step, bits] : by_step) {
            if (std::isnan(std::bit_cast<float>(bits))) continue;  // left out
            INFO(series << " at step " << step);
            REQUIRE(all.contains(series));
            REQUIRE(all.at(series).contains(step));
            CHECK(all.at(series).at(step) == bits);
          }
      }
  }
  // Behind a damaged event of TensorBoard the others count, and so they do behind a record of Weights & Biases.
  for (const char* name : {"events.out.tfevents.1", "run.wandb"}) {
    std::string damaged = read_all(kFixtures + name);
    damaged[damaged.find("train/loss") + 2] ^= 1;
    const RecordedFile file = read(damaged);
    CHECK(file.broken == 1);
    CHECK(test::contains(file.faults.at(0), "it is damaged, by its checksum"));
    CHECK(file.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{2, 3, 4});
  }
}

TEST_CASE("the step that a run declares is its step, whatever its tracker counts") {
  const RecordedFile trainer = read_recorded(kFixtures + "trainer.wandb");
  CHECK(trainer.broken == 0);
  const Recording& run = trainer.runs.at(0);
  const History& history = *run.seeds[0].history;
  CHECK(history.loss().steps == std::vector<int32_t>{500, 1000, 1500, 2000, 2500, 3000, 3500, 4000});
  CHECK(history.loss().values.back() == 2);
  CHECK(history.validation().steps == std::vector<int32_t>{2000, 4000});
  CHECK(values(history, "total.grad_norm") == std::vector<float>(8, 1.5f));
  CHECK(run.name == "warm-up 200");
  CHECK(run.settings == std::vector<std::pair<std::string, std::string>>{
                            {"lr", "0.003"}, {"model.layers", "6"}, {"model.norm", "pre"}});
  const RecordedFile lightning = read_recorded(kFixtures + "lightning.wandb");
  CHECK(lightning.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{0, 49, 99, 149, 199});
  CHECK(lightning.runs[0].seeds[0].history->rate().steps == std::vector<int32_t>{0, 49, 99, 149, 199});
  // A dictionary within another; and a step declared for the validation alone is not the run's.
  const RecordedFile nested = read_recorded(kFixtures + "nested.wandb");
  CHECK(nested.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(values(*nested.runs[0].seeds[0].history, "L01.attn.wq.grad_norm").size() == 4);
  CHECK(nested.runs[0].seeds[0].history->validation().steps == std::vector<int32_t>{2, 3});
  // trackio's lines, which count the calls as well.
  LogReader trackio("a.jsonl");
  for (int call = 0; call < 4; ++call)
    trackio.take(
        fmt::format("{{\"step\": {}, \"train/loss\": 2, \"train/global_step\": {}}}\n"
                    "{{\"step\": {}, \"gpu/power\": 7}}\n",
                    2 * call, 500 * (call + 1), 2 * call + 1));
  CHECK(trackio.file().runs.at(0).seeds[0].history->loss().steps ==
        std::vector<int32_t>{500, 1000, 1500, 2000});
}

TEST_CASE("a step that is no whole number is said, and the number of the call counts") {
  std::string text(":W&B\0\0\0", 7);
  text += fragment(1, field(12, field(2, "*") + field(4, "epoch")));
  for (const char* epoch : {"0", "0.5", "1"})
    text += history_record({{"_step", "3"}, {"loss", "2"}, {"epoch", epoch}});
  const RecordedFile file = read(text);
  CHECK(file.broken == 0);
  CHECK(file.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{0, 3});
  CHECK(test::contains(file.faults.at(0), "record 3: its step, \"epoch\", is 0.5"));
}

TEST_CASE("a folder of event files is one run, a later session from its steps on") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("tb"));
  folder.write("tb/events.out.tfevents.1",
               events({R"({"step":1,"loss":9})", R"({"step":2,"loss":8})", R"({"step":3,"loss":7,"lr":0.5})",
                       R"({"step":4,"loss":6})"}));
  LogFollower follower(folder.file("tb"));
  CHECK(follower.poll());
  CHECK(losses(follower.file()).values == std::vector<float>{9, 8, 7, 6});
  // The second session began again at step 3, and a third file has the evaluation alone.
  const std::string second = events({R"({"step":3,"loss":5})", R"({"step":4,"loss":4})"});
  folder.write("tb/events.out.tfevents.2", second.substr(0, second.size() - 5));
  CHECK(follower.poll());
  CHECK(losses(follower.file()).values == std::vector<float>{9, 8, 5});
  std::ofstream(folder.file("tb/events.out.tfevents.2"), std::ios::app | std::ios::binary)
      << second.substr(second.size() - 5);
  folder.write("tb/events.out.tfevents.3", events({R"({"step":1,"validation":3})"}));
  CHECK(follower.poll());
  CHECK_FALSE(follower.poll());
  for (const RecordedFile& file :
       {follower.file(), read_recorded(folder.file("tb")), read_recorded(folder.file("tb/"))}) {
    CHECK(file.broken == 0);
    CHECK(file.runs.at(0).name == "tb");
    CHECK(losses(file).steps == std::vector<int32_t>{1, 2, 3, 4});
    CHECK(losses(file).values == std::vector<float>{9, 8, 5, 4});
    CHECK(file.runs[0].seeds[0].history->rate().steps.size() == 4);
    CHECK(file.runs[0].seeds[0].history->validation().steps == std::vector<int32_t>{1});
  }
  CHECK(joined_files({folder.file("tb/events.out.tfevents.1"), "other.jsonl",
                      folder.file("tb/events.out.tfevents.2")}) ==
        std::vector<std::string>{folder.file("tb"), "other.jsonl"});
  CHECK(joined_files({folder.file("tb/events.out.tfevents.1")}).front().ends_with(".1"));
}

TEST_CASE("a folder leads to the run in it, and says what is missing or too much") {
  const Folder folder;
  const std::string line = "{\"step\":1,\"loss\":2}\n";
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(path)).parent_path());
    folder.write(path, text);
  };
  put("lightning_logs/version_0/metrics.csv",
      "epoch,lr,step,train_loss,val_loss\n0,0.1,49,3,\n0,,49,,4\n1,0.1,99,2,\n");
  put("out/checkpoint-60/trainer_state.json", "{\n \"log_history\": [{\"step\": 60, \"loss\": 2.5}]\n}\n");
  put("out/checkpoint-120/trainer_state.json",
      "{\n \"global_step\": 120, \"log_history\": [{\"step\": 60, \"loss\": 2.5, \"grad_norm\": 1.5, \"learning_rate\": 0.1},"
      "{\"step\": 120, \"eval_loss\": 3}, {\"step\": 120, \"loss\": NaN}, {\"step\": 120, \"train_loss\": 9}]\n}\n");
  put("runs/a/run.jsonl", line);
  put("runs/b/run.jsonl", line);
  std::filesystem::create_directory(folder.file("empty"));
  const auto history = [&](const std::string& path) {
    CHECK(look_at(folder.file(path)).kind == FileKind::Recorded);
    return read_recorded(folder.file(path)).runs.at(0).seeds[0].history;
  };
  for (const char* path : {"lightning_logs", "lightning_logs/version_0/metrics.csv"}) {
    INFO(path);
    CHECK(history(path)->loss().steps == std::vector<int32_t>{49, 99});
    CHECK(history(path)->validation().steps == std::vector<int32_t>{49});
    CHECK(history(path)->rate().values == std::vector<float>{0.1f, 0.1f});
  }
  for (const char* path : {"out", "out/checkpoint-120/trainer_state.json"}) {
    INFO(path);
    CHECK(history(path)->loss().steps == std::vector<int32_t>{60, 120});
    CHECK(std::isnan(history(path)->loss().values[1]));
    CHECK(history(path)->validation().values == std::vector<float>{3});
    CHECK(values(*history(path), "total.grad_norm").front() == 1.5f);
  }
  CHECK(read_recorded(folder.file("runs/a")).runs.at(0).name == "a");
  const auto refused = [&](const std::string& path) {
    return test::error_of([&] { read_recorded(folder.file(path)); });
  };
  CHECK(test::contains(refused("runs"), "is a folder with 2 runs: expected one of them, the newest first: "));
  CHECK(test::contains(refused("runs"), "runs/a/run.jsonl"));
  CHECK(test::contains(refused("empty"), "is a folder without a run"));
  CHECK(look_at(folder.file("empty")).kind == FileKind::Folder);
}

TEST_CASE("a folder with a file for each number is a run of MLflow or DVCLive, which grows") {
  for (const auto& [folder, number] : {std::pair("mlflow", "mlflow/metrics/train/loss"),
                                       {"dvclive", "dvclive/plots/metrics/train/loss.tsv"}}) {
    INFO(folder);
    const RecordedFile file = read_recorded(kFixtures + folder);
    CHECK((file.broken == 0 && file.runs.size() == 1));
    CHECK(numbers(file) == numbers(read_recorded(kFixtures + "trackio.jsonl")));
    CHECK(numbers(read_recorded(kFixtures + number)) == numbers(file));
    CHECK(look_at(kFixtures + folder).kind == FileKind::Recorded);
  }
  const Recording run = read_recorded(kFixtures + "mlflow").runs.at(0);
  CHECK(run.name == "warm-up 200");
  CHECK(run.maker == "MLflow");
  CHECK(run.settings ==
        std::vector<std::pair<std::string, std::string>>{{"lr", "0.003"}, {"model/layers", "6"}});

  const Folder folder;
  std::filesystem::create_directories(folder.file("mlruns/0"));
  std::filesystem::copy(kFixtures + "mlflow", folder.file("mlruns/0/run"),
                        std::filesystem::copy_options::recursive);
  LogFollower follower(folder.file("mlruns"));
  CHECK(follower.poll());
  CHECK_FALSE(follower.poll());
  std::ofstream(folder.file("mlruns/0/run/metrics/train/loss"), std::ios::app)
      << "1700000002500 2.5 5\nno number\n1700000003000 nan 6\n";
  CHECK(follower.poll());
  const RecordedFile grown = follower.file();
  CHECK(losses(grown).steps == std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  CHECK((losses(grown).values[4] == 2.5f && std::isnan(losses(grown).values[5])));
  CHECK(grown.broken == 1);
}

TEST_CASE("a mapping names the step and the series of a file; a table without a step asks for one") {
  const Folder folder;
  const std::string table = folder.write("own.csv", "samples,my loss,loss,acc\n10,4,1,0.5\n20,3,2,0.5\n");
  const std::string lines = folder.write("own.jsonl",
                                         "{\"samples\":10,\"step\":1,\"my loss\":4,\"loss\":1}\n"
                                         "{\"samples\":20,\"step\":2,\"my loss\":3,\"loss\":2}\n");
  const std::string mapping = folder.write("names.toml", "step = \"samples\"\nloss = \"my loss\"\n");
  for (const std::string& path : {table, lines}) {
    INFO(path);
    const RecordedFile file = read_recorded(path, mapping);
    CHECK(losses(file).steps == std::vector<int32_t>{10, 20});
    CHECK(losses(file).values == std::vector<float>{4, 3});
  }
  CHECK(test::contains(test::error_of([&] { read_recorded(table); }),
                       "no column is the step: expected one called step, or in a mapping (compare --mapping) "
                       "\"step\" = \"samples\""));
  CHECK(look_at(table).kind == FileKind::Recorded);
  for (const char* numbers : {"1 2 3\n4 5 6\n", "0.5\t1e-3\n1\t2\n"})
    CHECK(look_at(folder.write("numbers.txt", numbers)).kind == FileKind::Numbers);
  for (const char* text : {"1\n2\n", "one, two\n3 men\n", "12+30=42\n1+1=2\n"})
    CHECK(look_at(folder.write("text.txt", text)).kind == FileKind::Text);
}

TEST_CASE("names that mean nothing here are said where there is no loss") {
  const RecordedFile file = read(events({R"({"step":1,"train/ppl":3,"accuracy":2})"}));
  CHECK(test::contains(file.runs.at(0).missing.at(0), "this log has \"accuracy\" and \"train/ppl\""));
  LogReader lines("a.jsonl");
  lines.take("{\"step\":1,\"train\":{\"ppl\":3}}\n{\"step\":2,\"my loss\":3,\"note\":\"fine\"}\n");
  CHECK(test::contains(lines.file().runs.at(0).missing.at(0), "this log has \"my loss\" and \"train/ppl\""));
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
  for (const char* name : {"grad_norm", "train/grad_norm", "Gradient norm"}) {  // of the whole model
    CHECK(scalar_name(name).of == Of::Tensor);
    CHECK(scalar_name(name).tensor == "total");
  }
  for (const char* name : {"train.loss", "epoch_loss", "loss_metrics/global_avg_loss"})
    CHECK(scalar_name(name).of == Of::Loss);
  for (const char* name : {"throughput/tokens", "accuracy", "weight", "grad", ""})
    CHECK(scalar_name(name).of == Of::Other);
}
