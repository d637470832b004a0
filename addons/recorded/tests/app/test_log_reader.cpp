// These tests read logs from elsewhere and of our own: what is read, what broken lines cost, and logs that grow.
#include <algorithm>
#include <regex>

#include "addons/recorded/training/log_reader.h"
#include "addons/recorded/training/recorded_run.h"
#include "addons/recorded/training/tensor_names.h"
#include "answers.h"
#include "app/support/refused.h"
#include "app/words/words.h"
#include "training/files/file_kind.h"
#include "training/io/input_kinds.h"

namespace normscope::records {
using test::contains, test::error_of, test::Folder;

namespace {

const std::string kHeader =
    R"({"format":"normscope log 2","maker":"PyTorch 2.4","name":"wide","placement":"pre",)"
    R"("settings":{"width":512,"heads":"8","amp":true},"tokens_per_step":4096,"unigram":3.5})"
    "\n";

std::string step(int number, const std::string& more = "", double loss = 2) {
  return fmt::format("{{\"step\":{},\"loss\":{},\"lr\":0.001{}}}\n", number, loss, more);
}

/// The newest number of a stat; NaN where there is none.
float last(const Recording& run, const char* stat) {
  const Series series = run.seeds[0].history->series(run.seeds[0].history->find(stat));
  return series.values.empty() ? NAN : series.values.back();
}

bool says(const std::vector<Message>& sentences, const std::string& part) {
  for (const std::string& sentence : sentences)
    if (contains(sentence, part)) return true;
  return false;
}

/// A line a step with twelve gradient norms; a spike of 77 at step 5000.
std::string long_log(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) {
    std::string more = ",\"grad_norm\":{";
    for (int layer = 0; layer < 12; ++layer)
      more += fmt::format("{}\"h.{}.mlp.c_fc.weight\":{}", layer ? "," : "", layer,
                          i == 5000 ? 77 : 0.125 + 1e-6 * i);
    text += step(i, more + "}", 2 + 1e-6 * i);
  }
  return text;
}

/// Line by line in logs.txt a log is written, and read when it is whole.
class WrittenLog {
 public:
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    if (verb == "new") {
      text_ = mapping_ = "";
      if (!rest.empty()) name_ = rest;
    } else if (verb == "log") {
      text_ += rest + "\n";
    } else if (verb == "bytes") {
      text_ += test::unescaped(rest);
    } else if (verb == "steps") {  // "steps 1-9 MORE": lines of a loss of 2, and what stands beside it
      const size_t space = rest.find(' '), dash = rest.find('-');
      for (int i = std::stoi(rest); i <= std::stoi(rest.substr(dash + 1)); ++i)
        text_ += step(i, space == rest.npos ? "" : rest.substr(space + 1));
    } else if (verb == "mapping") {
      mapping_ = folder_.write("mapping.toml", rest + "\n");
    } else if (verb == "names") {
      std::string text;
      for (const auto& name : names_in(folder_.write(name_, text_)))
        text += fmt::format("{}: {}\n", name.theirs, name.stat);
      return text;
    } else if (verb == "read") {
      return told(read_recorded(folder_.write(name_, text_), mapping_));
    } else if (verb == "follow") {
      follower_.emplace(folder_.write(name_, text_));
      return polled();
    } else if (verb == "written" || verb == "renamed") {  // over what is followed, of which nothing stays
      const std::string next = folder_.file(verb == "renamed" ? "next" : name_);
      std::ofstream(next, std::ios::trunc | std::ios::binary) << text_;
      std::filesystem::rename(next, folder_.file(name_));
      return polled();
    } else if (verb == "grown") {
      std::ofstream(folder_.file(name_), std::ios::app | std::ios::binary) << text_.substr(read_);
      return polled();
    } else if (verb == "removed") {
      std::filesystem::remove(folder_.file(name_));
      return test::replaced(error_of([&] { follower_->poll(); }), folder_.path.string(), "FOLDER");
    } else {
      throw Error("no line begins with " + verb);
    }
    return "";
  }

 private:
  static std::string told(const RecordedFile& file) {
    std::string text = fmt::format("{} lines, {} broken\n", file.lines, file.broken);
    for (const Message& fault : file.faults) text += "fault: " + fault + "\n";
    for (const Recording& run : file.runs) {
      CHECK(run.read.faults == file.faults);
      const SeedRecord& seed = run.seeds[0];
      text += fmt::format(
          "run '{}' by '{}', placement '{}', {} layers; unigram {}, {} tokens and {} s a step{}\n", run.name,
          run.maker, run.placement, run.layers, test::digits(seed.number(kUnigram)),
          test::digits(seed.number(kTokensPerStep)), test::digits(seed.number(kSecondsPerStep)),
          run.spec ? ", a specification" : "");
      for (const auto& [key, value] : run.settings) text += fmt::format("{} = {}\n", key, value);
      const History& history = *seed.history;
      const auto series = [&](const std::string& name, const Series& of) {
        if (!of.steps.empty()) text += fmt::format("{}: {}\n", name, test::by_step(of.steps, of.values));
      };
      series("loss", history.loss());
      series("rate", history.rate());
      series("validation", history.validation());
      for (const StatInfo& stat : history.layout())
        series(stat.name, history.series(history.find(stat.name)));
      for (const Message& missing : run.missing) {
        text += "missing: " + missing + "\n";
        CHECK(words::spoken(missing, words::language("de")) != missing);  // it stands in a German screen
      }
    }
    return text;
  }

  std::string polled() {
    const bool news = follower_->poll();
    CHECK_FALSE(follower_->poll());
    read_ = text_.size();
    static const std::regex absent("missing: .* not in this log\n");
    return news ? std::regex_replace(told(follower_->file()), absent, "") : "nothing new";
  }

  const Folder folder_;
  std::string name_, text_, mapping_;
  std::optional<LogFollower> follower_;
  size_t read_ = 0;
};

}  // namespace

TEST_CASE("logs are read as they are told", "[listing]") {
  WrittenLog log;
  test::check_answers("logs", [&](const std::string& line) { return log.obey(line); });
}

TEST_CASE("a number is read alike whatever stands beside it, and so is a step") {
  const auto read = [](const std::string& line) {
    LogStep step;
    LogAbout about;
    REQUIRE(read_line(line, 1, step, about) == LineKind::Step);
    return step;
  };
  using Number = std::pair<const char*, double>;
  for (const auto& [text, value] :
       {Number{"NaN", NAN}, Number{"Infinity", NAN}, Number{"-Infinity", NAN}, Number{"null", NAN},
        Number{"\"NaN\"", NAN}, Number{"\"-inf\"", NAN}, Number{"1e999", NAN}, Number{"-1e999", NAN},
        Number{"2.5", 2.5}, Number{"\"2.5\"", 2.5}, Number{"-7", -7}, Number{"1e-999", 0},
        Number{"1.7e308", 1.7e308}})
    for (const char* beside :
         {"0", "true", "\"done\"", "[1, NaN, {\"a\": Infinity}]", "{\"name\": \"NaN, \\\" Infinity\"}",
          "\"a\\\\\"", "\"ü\"", "\"m\\u00fcnchen\"", "\"\x7f\"", "1e999"})
      for (const char* at : {"7", "7.0", "\"7\""}) {
        INFO(text << " beside " << beside);
        const LogStep step = read(fmt::format(
            R"({{"note":{1},"step":{2},"loss":{0},"validation": {0},"grad_norm":{{"a":{0},"b":1}},"more":{1}}})",
            text, beside, at));
        CHECK(step.step == 7);
        for (const std::optional<double>& read_as : {step.loss, step.validation}) {
          REQUIRE(read_as);
          CHECK((*read_as == value || (std::isnan(*read_as) && std::isnan(value))));
        }
        CHECK_FALSE(step.rate);
        REQUIRE(step.stats.size() == 2);
        CHECK(step.stats[1].value == 1);
      }
}

TEST_CASE("no field of another shape costs a line's loss") {
  std::vector<std::string> fields{"run",
                                  "seed",
                                  "loss",
                                  "lr",
                                  "validation",
                                  "seconds",
                                  "epoch",
                                  "format",
                                  "result",
                                  "name",
                                  "names",
                                  "notes",
                                  "data",
                                  "settings",
                                  "spec",
                                  "edits",
                                  "unigram",
                                  "verdict",
                                  "train",
                                  "train/loss",
                                  "eval_loss",
                                  "learning_rate",
                                  "train/grad_norm",
                                  "grad_norm/h.0.mlp.c_fc.weight"};
  for (const Number* field : numbers())
    if (field->field) fields.emplace_back(field->field);
  for (const std::string& field : fields)
    for (const char* shape :
         {"null", "true", "7", "-1", "1.5", "1e999", "\"text\"", "\"7\"", "\"\"", "[]", "[1, 2]", "[[1]]",
          "{}", "{\"a\": 1}", "{\"a\": []}", "{\"a\": \"x\"}", "{\"a\": {\"b\": [1]}}", "{\"loss\": 3}"}) {
      INFO(field << ": " << shape);
      LogReader reader("a.jsonl");
      reader.take(
          fmt::format("{{\"step\":1,\"{0}\":{1},\"mean_square\":{{\"L01.ffn.sum\":5}},\"loss\":2}}\n"
                      "{{\"step\":2,\"{0}\":{1},\"mean_square\":{{\"L01.ffn.sum\":5}},\"loss\":2}}\n",
                      field, shape));
      reader.finish();
      const RecordedFile file = reader.file();
      CHECK(file.broken == 0);
      REQUIRE(file.runs.size() == 1);
      CHECK(file.faults.size() <= 1);
      const History& history = *file.runs[0].seeds[0].history;
      CHECK(history.loss().steps == std::vector<int32_t>{1, 2});
      if (field != "loss") CHECK(history.loss().values == std::vector<float>{2, 2});
      if (field != "mean_square") CHECK(last(file.runs[0], "L01.ffn.sum.mean_square") == 5);
      for (const Message& fault : file.faults) CHECK(contains(fault, "it is passed over 2 times"));
    }
}

TEST_CASE("a file is read as a whole would be, wherever it is cut and looked at") {
  const std::string printed = "tokens per iteration: 4,096\ncompiling the model...\n";
  for (const std::string& text :
       {printed + "iter 1: loss 3.5, time 1ms\niter 2: loss 2.5, time 1ms\n",
        printed + "{'loss': 3.5, 'epoch': 0.1}\n{'loss': 2.5, 'epoch': 0.2}\n",
        std::string("{\"global_step\": 2, \"log_history\": [{\"step\": 1, "
                    "\"loss\": 3.5}, {\"step\": 2, \"loss\": 2.5}]}"),
        std::string("{\n\"epoch\": 1,\n\"log_history\": [\n{\"step\": 1, "
                    "\"loss\": 3.5},\n{\"step\": 2, \"loss\": 2.5}\n]\n}\n"),
        std::string("\"step\",\"loss\"\n1,3.5\n2,2.5\n"), step(1, "") + "iter 1: loss 3.5\n" + step(2, "")}) {
    const auto read = [&](size_t cut) {
      LogReader reader("a.log");
      reader.take(text.substr(0, cut));
      reader.settle();
      reader.file();
      reader.take(text.substr(cut));
      reader.finish();
      return reader.file();
    };
    const RecordedFile whole = read(0);
    INFO(text);
    REQUIRE(whole.runs.size() == 1);
    const History& history = *whole.runs[0].seeds[0].history;
    CHECK(history.loss().values.size() == 2);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      INFO("cut at " << cut);
      const RecordedFile parts = read(cut);
      CHECK((parts.lines == whole.lines && parts.broken == whole.broken));
      REQUIRE(parts.runs.size() == 1);
      CHECK(parts.runs[0].seeds[0].history->loss().values == history.loss().values);
    }
  }
}

TEST_CASE("a name of nothing is no step where the mapping names none") {
  LogReader reader("a.jsonl");
  reader.take("{\"\":7,\"loss\":3}\n{\"\":9,\"step\":2,\"loss\":2,\"ü\":1}\n");
  reader.finish();
  CHECK(reader.file().broken == 1);
  CHECK(reader.file().runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{2});
}

TEST_CASE("a number where numbers by tensor may stand is the whole model's") {
  LogReader reader("a.jsonl");
  reader.take(step(1, ",\"grad_norm\":0.5") + step(2, ",\"grad_norm\":1.5,\"ü\":1"));
  const Recording run = reader.file().runs.at(0);
  CHECK(reader.file().faults.empty());
  CHECK(run.seeds[0].history->series(run.seeds[0].history->find("total.grad_norm")).values ==
        std::vector<float>{0.5f, 1.5f});
  CHECK(says(run.missing, "gradient sizes: not in this log"));
  CHECK_FALSE(says(run.missing, "names are not known"));
}

TEST_CASE("the rate may be one a group of parameters, and numbers may be nested") {
  LogReader reader("a.jsonl");
  reader.take(
      "{\"step\":1,\"lr\":[0.5,0.1],\"train\":{\"loss\":3,\"grad_norm\":{\"h.0.mlp.c_fc.weight\":7}},"
      "\"validation\":{\"loss\":4}}\n");
  const Recording run = reader.file().runs.at(0);
  const History& history = *run.seeds[0].history;
  CHECK(reader.file().faults.empty());
  CHECK(history.rate().values == std::vector<float>{0.5f});
  CHECK(history.loss().values == std::vector<float>{3});
  CHECK(history.validation().values == std::vector<float>{4});
  CHECK(last(run, "L01.ffn.w1.grad_norm") == 7);
}

TEST_CASE("the surest name of a step counts, and a step within an epoch is counted on") {
  const auto steps = [](const std::string& text) {
    LogReader reader("a.jsonl");
    reader.take(text);
    CHECK(reader.file().broken == 0);
    return reader.file().runs.at(0).seeds[0].history->loss().steps;
  };
  for (const char* name : {"_step", "global_step", "trainer/global_step", "iter", "iteration"})
    CHECK(steps(fmt::format("{{\"{0}\":3,\"loss\":2}}\n{{\"{0}\":5.0,\"loss\":2}}\n", name)) ==
          std::vector<int32_t>{3, 5});
  CHECK(
      steps("{\"step\":1,\"global_step\":301,\"loss\":2}\n{\"global_step\":null,\"step\":4,\"loss\":2}\n") ==
      std::vector<int32_t>{301});
  const auto epochs = [&](int first, int last, int every) {
    std::string text;
    for (int epoch = 0; epoch < 3; ++epoch)
      for (int step = first; step <= last; step += every)
        text += fmt::format("{{\"epoch\":{},\"step\":{},\"loss\":2}}\n", epoch, step);
    return steps(text);
  };
  CHECK(epochs(1, 3, 1) == std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(epochs(0, 2, 1) == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(epochs(10, 30, 10) == std::vector<int32_t>{10, 20, 30, 40, 50, 60, 70, 80, 90});
  // Set back within the second epoch, the later lines count.
  CHECK(steps("{\"epoch\":0,\"step\":1,\"loss\":2}\n{\"epoch\":0,\"step\":2,\"loss\":2}\n"
              "{\"epoch\":1,\"step\":1,\"loss\":2}\n{\"epoch\":1,\"step\":2,\"loss\":2}\n"
              "{\"epoch\":1,\"step\":1,\"loss\":2}\n") == std::vector<int32_t>{1, 2, 3});
}

TEST_CASE("steps that went back many times are counted") {
  const Folder folder;
  std::string unsorted;
  for (int i = 0; i < 900; i += 3) unsorted += step(i + 3) + step(i + 1) + step(i + 2);
  CHECK(says(read_recorded(folder.write("b.jsonl", unsorted)).runs.at(0).missing,
             "steps went back 300 times, first from 3 to 1"));
}

TEST_CASE("steps that went back add up to more than a step can be") {
  LogReader reader("a.jsonl");
  for (int i = 0; i < 600; ++i)
    reader.take(fmt::format("{{\"step\":{},\"loss\":1,\"seconds\":{}}}\n", i % 2 == 0 ? 0 : kLastLogStep, i));
  CHECK(reader.file().runs.at(0).seeds[0].number(kSecondsPerStep) == 1.0 / kLastLogStep);
}

TEST_CASE("a saved run is read anew where another of its size took its place") {
  const Folder folder;
  const std::string config = folder.write("one.toml", std::string(test::kTiny) + "[run.A]\n"),
                    saved = folder.file("a.safetensors");
  const auto rate = [&](const char* value) {
    REQUIRE(test::run_program("train --config " + config + " --steps 2 --set train.lr=" + value + " --save " +
                              saved)
                .code == 0);
    return std::filesystem::file_size(saved);
  };
  const auto size = rate("0.01");
  FollowedFile file(saved, {});
  REQUIRE(file.now()->version == 1);
  CHECK(file.now()->version == 1);
  REQUIRE(rate("0.02") == size);
  CHECK(file.now()->version == 2);
  CHECK(file.now()->file.runs.at(0).seeds[0].history->rate().values.back() == 0.02f);
}

TEST_CASE("a further line of a step adds to it; what no line says is no number") {
  LogReader reader("a.jsonl");
  std::string text;
  for (int i = 1; i <= 2000; ++i) {
    text += step(i, R"(,"grad_norm":{"h.0.attn.q.weight":1})", 9);
    for (const double loss : {8., 7., 2.}) text += fmt::format("{{\"step\":{},\"loss\":{}}}\n", i, loss);
    text += fmt::format(R"({{"step":{},"grad_norm":{{"h.1.attn.q.weight":2}}}})", i) + "\n";
    if (i % 50 == 0) text += fmt::format("{{\"step\":{},\"validation\":3}}\n", i);
    if (i % 50 == 1 && i > 1) text += fmt::format("{{\"step\":{},\"validation\":4}}\n", i - 1);  // late
  }
  text += R"({"step":2001,"grad_norm":{"h.0.attn.q.weight":5}})"
          "\n";
  reader.take(text);
  const RecordedFile file = reader.file();
  CHECK(file.broken == 0);
  const Recording& run = file.runs.at(0);
  const Series loss = run.seeds[0].history->loss(), validation = run.seeds[0].history->validation(),
               rate = run.seeds[0].history->rate();
  CHECK(loss.values == std::vector<float>(2000, 2));
  CHECK(rate.values == std::vector<float>(2000, 0.001f));
  CHECK(loss.steps.back() == 2000);
  CHECK(run.seeds[0].history->last_step() == 2001);
  CHECK(validation.steps.size() == 40);
  CHECK(validation.values.front() == 4);
  CHECK(validation.values.back() == 3);
  const Series first = run.seeds[0].history->series(run.seeds[0].history->find("L01.attn.wq.grad_norm")),
               second = run.seeds[0].history->series(run.seeds[0].history->find("L02.attn.wq.grad_norm"));
  CHECK(first.values == [] {
    std::vector<float> all(2000, 1);
    all.push_back(5);
    return all;
  }());
  REQUIRE(second.values.size() == 2001);
  CHECK(second.values[1999] == 2);
  CHECK(std::isnan(second.values[2000]));
  CHECK_FALSE(says(run.missing, "went back"));
  CHECK_FALSE(says(run.missing, "loss"));
}

TEST_CASE("a log of ours from before, runs and seeds in turns, still opens") {
  const Folder folder;
  std::string text;
  for (int i = 1; i <= 3; ++i)
    for (const char* run : {"A", "B"})
      for (int seed : {1, 2})
        text += fmt::format(
            R"({{"run":"{}","seed":{},"step":{},"loss":{},"lr":0.003,)"
            R"("grad_norm":{{"emb.tokens":0.5,"L01.attn.wq":0.1}},"mean_square":{{"L01.ffn.sum":2}}}})"
            "\n",
            run, seed, i, 4.0 - seed);
  RunSpec spec;
  std::string fields;
  for (const Field& field : spec_fields())
    fields += fmt::format("{}\"{}\":\"{}\"", fields.empty() ? "" : ",", field.key, field.get(spec));
  text +=
      R"({"run":"B","seed":2,"name":"Pre-LN, no warm-up","state":"finished","result":{"step":3,"verdict":"stuck",)"
      R"("window":3,"loss":2,"unigram":3.4,"validation":null,"ms_per_step":20},"spec":{)" +
      fields + R"(},"edits":[{"step":2,"key":"train.lr","value":"0.1"}]})" + "\n";
  const RecordedFile file = read_recorded(folder.write("runs.jsonl", text));
  CHECK(file.broken == 0);
  REQUIRE(file.runs.size() == 4);
  CHECK(file.runs[0].name == "runs A");
  CHECK(file.runs[0].log_letter == "A");
  CHECK(file.runs[0].settings.empty());
  const Recording& last_run = file.runs[3];
  CHECK(last_run.name == "Pre-LN, no warm-up");
  CHECK(last_run.log_letter == "B");
  CHECK(last_run.seeds[0].origin.seed == 2);
  CHECK(last_run.seeds[0].said == "stuck");
  CHECK(last_run.seeds[0].number(kUnigram) == 3.4);
  CHECK(last_run.seeds[0].number(kSecondsPerStep) == 0.02);
  CHECK(last_run.edits == std::vector<Edit>{{2, "train.lr", "0.1"}});
  REQUIRE(last_run.spec);
  CHECK(*last_run.spec == spec);
  CHECK(last_run.maker.empty());          // which only a header says
  CHECK(last_run.data.unit == "letter");  // which this log does not say, and its settings do
  CHECK(last_run.seeds[0].number(kTokensPerStep) ==
        static_cast<double>(spec.train.batch) * spec.model.sequence);
  CHECK(last_run.settings.front().first == spec_fields().front().key);
  CHECK(last_run.seeds[0].history->loss().values == std::vector<float>{2, 2, 2});
  CHECK(last(last_run, "L01.attn.wq.grad_norm") == 0.1f);
  CHECK(last(last_run, "emb.tokens.grad_norm") == 0.5f);
  CHECK(last(last_run, "L01.ffn.sum.mean_square") == 2);
}

TEST_CASE("a file that is no log by its name, or that is not there, is refused") {
  const Folder folder;
  CHECK(contains(error_of([&] { read_recorded(folder.write("x.safetensors", step(1))); }), "safetensors"));
  CHECK(contains(error_of([&] { read_recorded(folder.file("none")); }), "none"));
}

TEST_CASE("a reader that is told to stop leaves the rest of a long log to the next look") {
  const Folder folder;
  std::string text;
  for (int i = 1; text.size() < (size_t{5} << 19); ++i) text += step(i);
  LogFollower follower(folder.write("a.jsonl", text));
  const std::atomic<bool> stop{true};
  CHECK(follower.poll(&stop));
  const int64_t part = follower.file().lines;
  CHECK(follower.poll());
  CHECK(follower.file().lines > part);
  CHECK(follower.file().broken == 0);
}

TEST_CASE("bytes may come in any portions") {
  const std::string text = kHeader + step(1) + "broken\n" + step(2) + step(3);
  for (size_t portion : {size_t{1}, size_t{7}, text.size()}) {
    LogReader reader("a.jsonl");
    for (size_t at = 0; at < text.size(); at += portion)
      reader.take(std::string_view(text).substr(at, portion));
    CHECK(reader.file().lines == 5);
    CHECK(reader.file().broken == 1);
    CHECK(reader.file().runs.at(0).seeds[0].history->last_step() == 3);
  }
}

TEST_CASE("a line without end takes no memory, and the log goes on after it") {
  LogReader reader("a.jsonl");
  const std::string part(size_t{1} << 20, 'x');
  for (int i = 0; i < 20; ++i) reader.take(part);
  reader.take("\n" + step(1));
  const RecordedFile file = reader.file();
  CHECK(file.broken == 1);
  CHECK(file.faults.at(0) == "line 1: is longer than 16777216 bytes");
  CHECK(file.runs.at(0).seeds[0].history->last_step() == 1);
}

TEST_CASE("a file that begins with a line beyond all length is refused there, and not read to its end") {
  const test::Folder folder;
  const std::string path = folder.file("big"), log = folder.file("log.jsonl");
  std::ofstream(path) << "";
  std::filesystem::resize_file(path, uintmax_t{64} << 20);  // sparse
  LogReader reader(path);
  InputFile in(path, input::kLog);
  CHECK_THROWS_WITH(read_log(in, reader),
                    Catch::Contains("is no log") && Catch::Contains("line 1: is longer than"));
  char next = 0;
  in.read(&next, 1);  // there is something left
  CHECK(reader.file().lines == 1);
  // One that began as a log is read to its end.
  std::ofstream(log) << kHeader << step(1) << std::string(size_t{17} << 20, 'x') << "\n" << step(2);
  LogReader whole(log);
  InputFile all(log, input::kLog);
  read_log(all, whole);
  CHECK(whole.file().runs.at(0).seeds[0].history->last_step() == 2);
}

TEST_CASE("a long log is read in bounded memory, and keeps its spikes") {
  LogReader reader("a.jsonl");
  constexpr int kLines = 200'000;
  reader.take(long_log(kLines));
  const Recording run = reader.file().runs.at(0);
  CHECK(run.seeds[0].history->last_step() == kLines);
  CHECK(run.seeds[0].history->bytes() < kHistoryBudget + kDenseSteps * 12 + 1000);
  const Series norm = run.seeds[0].history->series(run.seeds[0].history->find("L07.ffn.w1.grad_norm"));
  CHECK(*std::ranges::max_element(norm.values) == 77);
}

TEST_CASE("many runs of one log share one budget, and there are not more than a thousand") {
  LogReader reader("a.jsonl");
  for (int run = 1; run <= static_cast<int>(kMaxRuns) + 5; ++run)
    reader.take(fmt::format("{{\"seed\":{},\"step\":1,\"loss\":1}}\n", run));
  const RecordedFile file = reader.file();
  CHECK(file.runs.size() == kMaxRuns);
  CHECK(file.broken == 5);
  CHECK(file.faults.at(0) == "line 1001: begins one run more than 1000");
}

}  // namespace normscope::records

// A file that is a log is known by its first line, whatever it is called.

using namespace normscope;

TEST_CASE("a log is known by its header, or by a line that has a step") {
  const test::Folder folder;
  const auto kind = [&](const char* name, const std::string& content) {
    return look_at(folder.write(name, content)).kind;
  };
  CHECK(kind("log.txt", "{\"run\":\"A\",\"seed\":1,\"step\":1,\"loss\":4.1,\"lr\":0.003}\n") ==
        FileKind::Recorded);
  const FileLook header = look_at(folder.write("header.txt", "{\"format\":\"normscope log 2\"}\n"));
  CHECK(header.words.starts_with("A training log"));
  CHECK(kind("bare.jsonl", "{\"step\":1,\"loss\":3.2}\n") == FileKind::Recorded);
  CHECK(kind("nan.jsonl", "{\"step\":1,\"loss\":NaN,\"lr\":-Infinity}\n") == FileKind::Recorded);
  const std::string wide = "{\"grad_norm\":{\"step\":1,\"" + std::string(70'000, 'a') + "\":1},\"step\":1}\n";
  CHECK(kind("wide.jsonl", "{\"step\":1," + wide.substr(1)) == FileKind::Recorded);
  CHECK(kind("inner.json", "{\"a\":{\"step\":1},\"b\":\"step\"}\n") == FileKind::Numbers);
}

// The rows of tests/refusals/log.txt: what a log is refused with.

using namespace normscope::test;

TEST_CASE("refusals: a log says in one line what is wrong with it") {
  check_reader({"log", [](const std::string& text) {
                  const Folder folder;
                  normscope::records::read_recorded(folder.write("x", text));
                }});
}

// These tests read names of other people's models: each family's own, what no rule knows, and the mapping file.

namespace normscope::records {
using test::error_of;

namespace {

/// The texts in quotes that match a pattern.
std::set<std::string> quoted(const std::string& source, const char* pattern) {
  const std::regex text(std::string("\"(") + pattern + ")\"");
  std::set<std::string> all;
  for (std::sregex_iterator it(source.begin(), source.end(), text), end; it != end; ++it)
    all.insert(it->str(1));
  return all;
}

}  // namespace

TEST_CASE("names: what the Python package may write is read here, and it writes nothing else") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/recorded/python/normscope/",
                    table = test::read_all(folder + "_names.py");
  const std::set<std::string> outside = quoted(table, "[a-z]+\\.[a-z]+"), sublayers = quoted(table, "[a-z]+");
  CHECK(outside.contains("out.b"));
  for (const std::string& name : outside) {
    INFO(name);
    CHECK(parse_own_name(name).known());
    CHECK_NOTHROW(name_rule("theirs", name));
  }
  CHECK(sublayers == std::set<std::string>{"attn", "cross", "ffn", "mixer"});
  for (const std::string& kind : sublayers) CHECK(parse_own_name("enc.L01." + kind + ".before.gain").known());
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".py")
      for (const std::string& name :
           quoted(test::read_all(file.path()), "(?:emb|out|final|class)\\.[a-z.]+")) {
        INFO(file.path() << ": " << name);
        CHECK(outside.contains(name));
      }
}

TEST_CASE("names: each has the engine's name, or none", "[listing]") {
  std::string rules;
  test::check_answers("tensor-names", [&](const std::string& line) -> std::string {
    const auto [verb, theirs] = test::verb_and_rest(line);
    if (verb == "mapping") {  // another rule, or none any more
      rules = theirs.empty() ? "" : rules + theirs + "\n";
      return "";
    }
    const TensorName name = resolve(theirs, verb.starts_with("output") ? NameOf::Output : NameOf::Parameter,
                                    rules.empty() ? NameMapping{} : parse_name_mapping(rules, "m.toml"));
    if (!name.known()) return name.layer > 0 ? fmt::format("unknown, of layer {}", name.layer) : "unknown";
    return engine_name(name, verb == "both" || verb == "outputs") + (name.output ? ", an output" : "");
  });
}

TEST_CASE("names: a mapping that is wrong is refused with its line") {
  const auto says = [](const std::string& text) {
    return error_of([&] { parse_name_mapping("# names\n" + text, "m.toml"); });
  };
  CHECK(says("\"a.{layer}\" = \"L{layer}.attn.query\"") == "no error");
  for (const std::vector<std::string>& row : test::refusals("name-mapping")) CHECK(says(row[0]) == row[1]);
  CHECK(test::contains(says("\"a\" ="), "m.toml:2: not valid TOML"));
  CHECK(test::contains(error_of([] { read_name_mapping("/nowhere/m.toml"); }), "/nowhere/m.toml"));
}

}  // namespace normscope::records

// These tests run normscope record: the table of a log's names.

TEST_CASE("the log that train writes begins with a header and is read as a recorded run's") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n");
  REQUIRE(run_program("train --config " + config + " --steps 3 --log " + folder.file("log")).code == 0);
  CHECK(read_all(folder.file("log")).starts_with("{\"format\":\"normscope log 2\",\"maker\":\"normscope "));
  const Outcome names = run_program("record --names " + folder.file("log"));
  CHECK(names.code == 0);
  CHECK(contains(names.out, " 0 of them not known"));
}
