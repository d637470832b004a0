// These tests read logs from elsewhere and of our own: what is read, what broken lines cost, and logs that grow.
#include "catch.hpp"

#include <atomic>
#include <ctime>
#include <iterator>

#include "addons/recorded/training/log_reader.h"
#include "addons/recorded/training/recorded_run.h"
#include "app/support/program.h"
#include "app/support/refused_inputs.h"
#include "engine/support/helpers.h"
#include "folder.h"
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

bool says(const std::vector<std::string>& sentences, const std::string& part) {
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

}  // namespace

TEST_CASE("a log with a header tells its maker, settings, norms and hidden states") {
  const Folder folder;
  std::string text = kHeader;
  for (int i = 1; i <= 3; ++i)
    text += step(
        i,
        fmt::format(R"(,"seconds":{},"grad_norm":{{"h.0.attn.c_attn.weight[q]":{},"h.1.mlp.c_fc.weight":2}},)"
                    R"("mean_square":{{"h.1":7}})",
                    0.5 * i, 0.25 * i));
  const RecordedFile file = read_recorded(folder.write("run.jsonl", text));
  CHECK(file.lines == 4);
  CHECK(file.broken == 0);
  REQUIRE(file.runs.size() == 1);
  const Recording& run = file.runs[0];
  CHECK(run.name == "wide");
  CHECK(run.maker == "PyTorch 2.4");
  CHECK(run.placement == "pre");
  using Settings = std::vector<std::pair<std::string, std::string>>;
  CHECK(run.settings == Settings{{"width", "512"}, {"heads", "8"}, {"amp", "true"}});
  CHECK_FALSE(run.spec);
  CHECK(run.layers == 2);
  CHECK(run.seeds[0].number(kTokensPerStep) == 4096);
  CHECK(run.seeds[0].number(kSecondsPerStep) == 0.5);
  CHECK(run.seeds[0].number(kUnigram) == 3.5);
  CHECK(run.seeds[0].history->loss().steps == std::vector<int32_t>{1, 2, 3});
  CHECK(run.seeds[0].history->series(run.seeds[0].history->find("L01.attn.wq.grad_norm")).values ==
        std::vector<float>{0.25f, 0.5f, 0.75f});
  CHECK(last(run, "L02.ffn.w1.grad_norm") == 2);
  CHECK(last(run, "L02.ffn.sum.mean_square") == 7);  // Pre-LN: nothing stands behind the last sum
  CHECK(says(run.missing, "update norms: not in this log"));
  CHECK_FALSE(says(run.missing, "gradient sizes"));
  CHECK_FALSE(says(run.missing, "hidden states"));
}

TEST_CASE("a log tells the numbers of an attention and of its heads under the engine's names") {
  const Folder folder;
  const Recording run =
      read_recorded(
          folder.write("a.jsonl", step(1, R"(,"attention_entropy":{"L02.attn":2,)"
                                          R"("L02.attn.head.1":1.5},)"
                                          R"("largest_logit":{"L02.attn.head.1":9},)"
                                          R"("first_mass":{"dec.L02.attn.head.2":0.5},)"
                                          R"("longest":{"L02.ffn":186},"token_share":{"L02.ffn":0.03})")))
          .runs.at(0);
  CHECK(last(run, "L02.attn.attention_entropy") == 2);
  CHECK(last(run, "L02.attn.head.1.entropy") == 1.5f);
  CHECK(last(run, "L02.attn.head.1.logit") == 9);
  CHECK(last(run, "dec.L02.attn.head.2.first_mass") == 0.5f);
  CHECK(last(run, "L02.ffn.longest") == 186);
  CHECK(last(run, "L02.ffn.token_share") == 0.03f);
  CHECK(run.seeds[0].history->find("L02.attn.head.1.attention_entropy") < 0);
  CHECK_FALSE(says(run.missing, "are not known"));
}

TEST_CASE("where the placement is not said, a layer's output is no state before a norm") {
  const Folder folder;
  const Recording run =
      read_recorded(folder.write("a.jsonl", step(1, R"(,"mean_square":{"h.0":7,"odd":1})"))).runs.at(0);
  CHECK(run.name == "a");
  CHECK(run.maker.empty());
  CHECK(last(run, "L01.ffn.out.mean_square") == 7);
  CHECK(run.seeds[0].history->find("L01.ffn.sum.mean_square") < 0);
  CHECK(last(run, "odd.mean_square") == 1);
  CHECK(says(run.missing, "the log does not say its placement"));
  CHECK(says(run.missing, "1 of 2 names are not known, the first is \"odd\""));
}

TEST_CASE("broken lines are counted, named and skipped") {
  const Folder folder;
  std::string text = kHeader + step(1);
  const std::pair<const char*, const char*> broken[] = {
      {"{\"step\":2,\"loss\"", "is damaged: no JSON at byte 17"},
      {"[]", "the whole is a list of 0: expected an object with format"},
      {"{\"loss\":2}", "has no step, no result and no format"},
      {"{\"step\":-1}", "step is -1: expected a whole number from 0 to 10000000"},
      {"{\"step\":2.5}", "step is 2.5: expected a whole number from 0 to 10000000"},
      {"{\"step\":2,\"loss\":\"low\"}", "loss is \"low\": expected a number"},
      {"{\"step\":2,\"grad_norm\":{\"a\":[]}}", "grad_norm.a is a list of 0: expected a number"},
      {"{\"step\":2,\"grad_norm\":7}", "grad_norm is 7: expected an object"},
      {"{\"format\":\"normscope log 9\"}", "format is \"normscope log 9\": expected \"normscope log 2\""},
      {"\xff", "is damaged: no JSON at byte 1"},
      {"{\"step\":3}}", "is damaged"},
  };
  for (const auto& [line, what] : broken) text += std::string(line) + "\n";
  text += "\n  \n" + step(2, R"(,"loss2":1,"note":"fine \"so\"","more":[1,{"a":2}])") + step(4);
  const RecordedFile file = read_recorded(folder.write("a.jsonl", text));
  CHECK(file.broken == std::ssize(broken));
  CHECK(file.lines == 2 + std::ssize(broken) + 4);
  REQUIRE(file.faults.size() == 10);
  for (size_t i = 0; i < file.faults.size(); ++i)
    CHECK(contains(file.faults[i], fmt::format("line {}: {}", i + 3, broken[i].second)));
  CHECK(file.runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{1, 2, 4});
}

TEST_CASE("numbers that are not finite are NaN, as JSON, Python and others write them") {
  const Folder folder;
  const RecordedFile file = read_recorded(folder.write(
      "a.jsonl",
      "{\"step\": 1, \"loss\": NaN, \"lr\": null, \"grad_norm\": {\"h.0.attn.q.weight\": Infinity}}\r\n"
      "{\"step\": 2, \"loss\": 1e400}\n{\"step\": 3, \"loss\": 1e300}\n{\"step\": 4, \"loss\": \"nan\"}\n"));
  CHECK(file.broken == 0);
  const Series loss = file.runs.at(0).seeds[0].history->loss();
  REQUIRE(loss.steps == std::vector<int32_t>{1, 2, 3, 4});
  for (const size_t i : {0, 1, 3}) CHECK(std::isnan(loss.values[i]));
  CHECK(std::isnan(last(file.runs[0], "L01.attn.wq.grad_norm")));
}

TEST_CASE("a number is read alike whatever stands beside it, and so is a step") {
  const auto read = [](const std::string& line) {
    LogStep step;
    LogAbout about;
    REQUIRE(read_line(line, 1, step, about) == LineKind::Step);
    return step;
  };
  struct Number {
    const char* text;
    double value;
  };
  for (const Number& number :
       {Number{"NaN", NAN}, Number{"Infinity", NAN}, Number{"-Infinity", NAN}, Number{"null", NAN},
        Number{"\"NaN\"", NAN}, Number{"\"-inf\"", NAN}, Number{"1e999", NAN}, Number{"-1e999", NAN},
        Number{"2.5", 2.5}, Number{"\"2.5\"", 2.5}, Number{"-7", -7}, Number{"1e-999", 0},
        Number{"1.7e308", 1.7e308}})
    for (const char* beside :
         {"0", "true", "\"done\"", "[1, NaN, {\"a\": Infinity}]", "{\"name\": \"NaN, \\\" Infinity\"}",
          "\"a\\\\\"", "\"ü\"", "\"m\\u00fcnchen\"", "\"\x7f\"", "1e999"})
      for (const char* at : {"7", "7.0", "\"7\""}) {
        INFO(number.text << " beside " << beside);
        const LogStep step = read(fmt::format(
            R"({{"note":{1},"step":{2},"loss":{0},"validation": {0},"grad_norm":{{"a":{0},"b":1}},"more":{1}}})",
            number.text, beside, at));
        CHECK(step.step == 7);
        for (const std::optional<double>& read_as : {step.loss, step.validation}) {
          REQUIRE(read_as);
          CHECK((*read_as == number.value || (std::isnan(*read_as) && std::isnan(number.value))));
        }
        CHECK_FALSE(step.rate);
        REQUIRE(step.stats.size() == 2);
        CHECK(step.stats[1].value == 1);
      }
}

TEST_CASE("a name that comes late widens what is there, and nothing of before is lost") {
  const Folder folder;
  std::string text;
  for (int i = 1; i <= 40; ++i) {
    std::string more = R"(,"grad_norm":{"encoder.layers.0.linear1.weight":1)";
    if (i >= 10) more += R"(,"decoder.layers.0.linear1.weight":2)";
    more += "}";
    if (i % 20 == 0) more += R"(,"weight_norm":{"encoder.layers.0.linear1.weight":3},"validation":2.5)";
    text += step(i, more, 4 - 0.05 * i);
  }
  const Recording run = read_recorded(folder.write("a.jsonl", text)).runs.at(0);
  CHECK(run.seeds[0].history->loss().steps.size() == 40);
  CHECK(run.seeds[0].history->validation().steps == std::vector<int32_t>{20, 40});
  // From step 10 on there are two stacks, so the first one has its prefix too.
  const Series encoder = run.seeds[0].history->series(run.seeds[0].history->find("enc.L01.ffn.w1.grad_norm")),
               decoder = run.seeds[0].history->series(run.seeds[0].history->find("dec.L01.ffn.w1.grad_norm")),
               weight =
                   run.seeds[0].history->series(run.seeds[0].history->find("enc.L01.ffn.w1.weight_norm"));
  REQUIRE(encoder.values.size() == 40);
  CHECK(encoder.values.front() == 1);
  REQUIRE(decoder.values.size() == 40);
  CHECK(std::isnan(decoder.values[8]));
  CHECK(decoder.values[9] == 2);
  CHECK(std::isnan(weight.values[18]));
  CHECK(weight.values[19] == 3);
}

TEST_CASE("a run that was set back counts the later line, and says so") {
  const Folder folder;
  const Recording run = read_recorded(folder.write("a.jsonl", step(1) + step(2, "", 9) + step(3, "", 9) +
                                                                  step(2, "", 1) + step(3, "", 1)))
                            .runs.at(0);
  CHECK(run.seeds[0].history->loss().values == std::vector<float>{2, 1, 1});
  CHECK(says(run.missing, "some lines do not count: steps went back once, from 3 to 2"));
  std::string unsorted;
  for (int i = 0; i < 900; i += 3) unsorted += step(i + 3) + step(i + 1) + step(i + 2);
  CHECK(says(read_recorded(folder.write("b.jsonl", unsorted)).runs.at(0).missing,
             "steps went back 300 times, first from 3 to 1"));
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

TEST_CASE("time of a step: of lines whose clock went on, whatever stands between them") {
  const auto per_step = [](const std::vector<std::pair<int, double>>& lines, const std::string& last = "") {
    LogReader reader("a.jsonl");
    for (const auto& [number, seconds] : lines)
      reader.take(number == 0 ? kHeader : step(number, fmt::format(",\"seconds\":{}", seconds)));
    reader.take(last);
    return reader.file().runs.at(0).seeds[0].number(kSecondsPerStep);
  };
  CHECK(per_step({{1, 10}, {2, 12}, {4, 16}}) == 2);
  CHECK(per_step({{0, 0}, {1, 1}, {2, 3}, {0, 0}, {3, 100}, {4, 102}}) ==
        2);                                                        // gone on, with a header of its own
  CHECK(per_step({{1, 5}, {2, 7}, {3, 0.5}, {4, 2.5}}) == 2);      // and without
  CHECK(per_step({{1, 1}, {2, 3}, {3, 5}, {2, 1}, {3, 3}}) == 2);  // set back
  CHECK(std::isnan(per_step({{1, 9}, {2, 7}, {3, 5}})));
  CHECK(std::isnan(per_step({{1, 9}})));
  const auto result = [](const char* ms) {
    return fmt::format(R"({{"result":{{"step":1,"ms_per_step":{}}}}})"
                       "\n",
                       ms);
  };
  CHECK(per_step({{1, 1}, {2, 3}}, result("-5000")) == 2);
  CHECK(per_step({{1, 1}, {2, 3}}, result("500")) == 0.5);
}

TEST_CASE("what cannot be read of a header costs itself alone, and is said") {
  const Folder folder;
  const RecordedFile file = read_recorded(folder.write(
      "a.jsonl",
      R"({"format":"normscope log 3","maker":7,"name":"two\nlines","placement":"pre","unigram":"2.5",)"
      R"("names":{"head.bias":"out.b","head.scale":"out.z","body.{layer}.q":"L{layer}.attn.wq","x":"L{layer}.y"},)"
      R"("settings":{"clip":Infinity,"betas":[0.9,0.95],"width":64},"tokens_per_step":-4,"data":{"hash":"?"}})"
      "\n" +
          step(1, R"(,"grad_norm":{"head.bias":1,"body.0.q":2})")));
  CHECK(file.broken == 0);
  REQUIRE(file.faults.size() == 3);
  CHECK(contains(file.faults[0], "line 1: maker is 7: expected a text"));
  CHECK(contains(file.faults[1], "line 1: data.hash is \"?\": expected 16 hexadecimal digits"));
  CHECK(contains(file.faults[2], "line 1: 2 of 4 names left out: \"out.z\" expected a name of ours"));
  CHECK(file.fault() == file.faults[0]);
  const Recording& run = file.runs.at(0);
  CHECK(run.read.faults == file.faults);
  CHECK(run.name == "two lines");
  CHECK(run.placement == "pre");
  CHECK(run.seeds[0].number(kUnigram) == 2.5);
  CHECK(std::isnan(run.seeds[0].number(kTokensPerStep)));
  CHECK(run.settings ==
        std::vector<std::pair<std::string, std::string>>{{"betas", "[0.9,0.95]"}, {"width", "64"}});
  CHECK(last(run, "out.b.grad_norm") == 1);
  CHECK(last(run, "L01.attn.wq.grad_norm") == 2);
  const std::string wide =
      "{\"format\":\"normscope log 2\",\"name\":\"" + std::string(118, 'x') + "ülang\"}\n";
  CHECK(read_recorded(folder.write("b.jsonl", wide + step(1))).runs.at(0).name ==
        std::string(118, 'x') + "ü…");
}

TEST_CASE("a log without a step that can be read names its first fault") {
  const Folder folder;
  const std::string path = folder.write("a.jsonl", kHeader + "{\"step\":1.5}\n{\"step\":2.5}\n");
  CHECK(contains(error_of([&] { read_recorded(path); }),
                 "3 lines and none is of a step: expected a log that has begun; line 2: step is 1.5"));
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
  CHECK(last_run.maker == "normscope");
  CHECK(last_run.data.unit == "letter");  // which this log does not say, and its settings do
  CHECK(last_run.seeds[0].number(kTokensPerStep) ==
        static_cast<double>(spec.train.batch) * spec.model.sequence);
  CHECK(last_run.settings.front().first == spec_fields().front().key);
  CHECK(last_run.seeds[0].history->loss().values == std::vector<float>{2, 2, 2});
  CHECK(last(last_run, "L01.attn.wq.grad_norm") == 0.1f);
  CHECK(last(last_run, "emb.tokens.grad_norm") == 0.5f);
  CHECK(last(last_run, "L01.ffn.sum.mean_square") == 2);
}

TEST_CASE("a header may say what its own names are, and a mapping file goes before it") {
  const Folder folder;
  const std::string log =
      folder.write("a.jsonl", R"({"format":"normscope log 2","names":{"net.{layer}.q":"L{layer}.attn.wq"}})"
                              "\n" +
                                  step(1, R"(,"grad_norm":{"net.0.q":1,"net.1.q":2})"));
  CHECK(last(read_recorded(log).runs.at(0), "L02.attn.wq.grad_norm") == 2);
  const std::string mapping = folder.write("m.toml", "\"net.{layer}.q\" = \"L{layer}.attn.wk\"\n");
  CHECK(last(read_recorded(log, mapping).runs.at(0), "L02.attn.wk.grad_norm") == 2);
  CHECK(names_in(log).at(1).stat == "L02.attn.wq.grad_norm");
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

TEST_CASE("a log that grows is followed: half a line waits, and a shorter file is another one") {
  const Folder folder;
  const std::string path = folder.write("a.jsonl", kHeader);
  LogFollower follower(path);
  CHECK(follower.poll());
  CHECK(follower.file().runs.empty());
  CHECK_FALSE(follower.poll());
  const auto grow = [&](const std::string& text) {
    std::ofstream(path, std::ios::app | std::ios::binary) << text;
  };
  grow(step(1) + "{\"step\":2,\"lo");
  CHECK(follower.poll());
  CHECK(follower.file().runs.at(0).seeds[0].history->last_step() == 1);
  CHECK(follower.file().broken == 0);
  grow("ss\":1}\n");
  CHECK(follower.poll());
  CHECK(follower.file().runs.at(0).seeds[0].history->loss().values == std::vector<float>{2, 1});
  folder.write("a.jsonl", step(7));
  CHECK(follower.poll());
  CHECK(follower.file().lines == 1);
  CHECK(follower.file().runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{7});
  std::filesystem::remove(path);
  CHECK_THROWS_AS(follower.poll(), Error);
  folder.write("a.jsonl", step(7) + step(8));
  CHECK(follower.poll());
  CHECK(follower.file().runs.at(0).seeds[0].history->last_step() == 8);
}

TEST_CASE("a log that another run replaced is never shown as one run") {
  const Folder folder;
  const std::string path = folder.file("a.jsonl"), next = folder.file("next.jsonl");
  const auto log = [](const std::string& name, int steps, double from, bool finite = true) {
    std::string text = fmt::format("{{\"format\":\"normscope log 2\",\"name\":\"{}\"}}\n", name);
    for (int i = 1; i <= steps; ++i)
      text += finite ? step(i, "", from + i) : fmt::format("{{\"step\":{},\"loss\":null}}\n", i);
    return text;
  };
  const auto write = [](const std::string& to, const std::string& text) {
    std::ofstream(to, std::ios::trunc | std::ios::binary) << text;
  };
  const auto losses = [](const LogFollower& follower) {
    return follower.file().runs.at(0).seeds[0].history->loss().values;
  };
  const std::string first = log("first", 10, 0), long_one = log("other", 14, 1000);
  struct Replaced {
    const char* how;
    std::string text;
    bool renamed;
  };
  std::string same_size = log("other", 10, 0);
  same_size[same_size.find("\"loss\":4") + 7] = '9';
  REQUIRE(same_size.size() == first.size());
  for (const Replaced& by : {Replaced{"truncated and written anew, longer", long_one, false},
                             Replaced{"renamed over it, longer", long_one, true},
                             Replaced{"of equal length, in place", same_size, false},
                             Replaced{"of equal length, renamed over it", same_size, true},
                             Replaced{"shorter", log("other", 2, 5), false}}) {
    INFO(by.how);
    write(path, first);
    LogFollower follower(path);
    REQUIRE(follower.poll());
    REQUIRE_FALSE(follower.poll());
    CHECK_FALSE(says(follower.file().runs.at(0).missing, kReplaced));
    write(by.renamed ? next : path, by.text);
    if (by.renamed) std::filesystem::rename(next, path);
    CHECK(follower.poll());
    const RecordedFile file = follower.file();
    REQUIRE(file.runs.size() == 1);
    CHECK(file.runs[0].name == "other");
    CHECK(file.broken == 0);
    CHECK(losses(follower) == read_recorded(path).runs.at(0).seeds[0].history->loss().values);
    CHECK(says(file.runs[0].missing, kReplaced));
    CHECK_FALSE(follower.poll());
  }

  // Runs that end alike, in null, for more than is remembered of the end.
  write(path, log("first", 400, 0, false));
  LogFollower follower(path);
  CHECK(follower.poll());
  write(path, log("other", 400, 0, false) + step(401));
  CHECK(follower.poll());
  CHECK(follower.file().runs.at(0).name == "other");
  CHECK(says(follower.file().runs.at(0).missing, kReplaced));
}

TEST_CASE("a log that is copied anew while it grows stays one run") {
  const Folder folder;
  const std::string path = folder.write("a.jsonl", kHeader + step(1) + step(2));
  LogFollower follower(path);
  CHECK(follower.poll());
  std::filesystem::rename(folder.write("next.jsonl", kHeader + step(1) + step(2) + step(3)), path);
  CHECK(follower.poll());
  CHECK(follower.file().lines == 4);
  CHECK(follower.file().runs.at(0).seeds[0].history->loss().steps == std::vector<int32_t>{1, 2, 3});
  CHECK_FALSE(says(follower.file().runs.at(0).missing, kReplaced));
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

TEST_CASE("time to read a million lines", "[.bench]") {
  const std::string text = long_log(1'000'000);
  LogReader reader("a.jsonl");
  const std::clock_t begin = std::clock();
  reader.take(text);
  fmt::print("a million lines of twelve norms: {:.2f} s of this processor\n",
             static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
}

TEST_CASE("many runs of one log share one budget, and there are not more than a thousand") {
  LogReader reader("a.jsonl");
  for (int run = 1; run <= static_cast<int>(kMostRuns) + 5; ++run)
    reader.take(fmt::format("{{\"seed\":{},\"step\":1,\"loss\":1}}\n", run));
  const RecordedFile file = reader.file();
  CHECK(file.runs.size() == kMostRuns);
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
