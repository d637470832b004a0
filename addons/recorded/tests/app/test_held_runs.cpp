// Runs that another program holds: the answer to each request, to the bit what Run and Store say themselves, and one
// line for each request that cannot be answered.
#include "addons/recorded/app/held_runs.h"

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/support/program.h"
#include "training/spec/small_size.h"
#include "training/support/small_runs.h"

namespace normscope::held {
using namespace normscope::test;
using nlohmann::json;

namespace {

/// The numbers of an answer: {"shape": [2, 3], "float32": base64}.
std::vector<float> numbers(const json& told) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int known = 0;
  const std::string text = told.at("float32").get<std::string>();
  REQUIRE(text.size() % 4 == 0);
  for (const char letter : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<uint32_t>(kLetters.find(letter));
    if ((known += 6) < 8) continue;
    known -= 8;
    bytes += static_cast<char>(bits >> known & 255);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  size_t size = 1;
  for (const json& extent : told.at("shape")) size *= extent.get<size_t>();
  CHECK(size == values.size());
  return values;
}

/// The bytes that this process has in memory.
int64_t resident_bytes() {
  int64_t all = 0, own = 0;
  std::ifstream("/proc/self/statm") >> all >> own;
  return own * 4096;
}

struct Held {
  bool interrupted = false;
  std::vector<json> progress;
  HeldRuns runs{make_cpu_backend(1),
                {[this](const std::string& line) { progress.push_back(json::parse(line)); },
                 [this] { return interrupted; }}};
  int64_t id = 0;

  json ask(json request) {
    request["id"] = ++id;
    const std::string line = runs.answer(request.dump());
    CHECK(line.find('\n') == line.npos);
    json answer = json::parse(line);
    INFO(request.dump() << "\n" << line.substr(0, 500));
    CHECK(answer.at("id") == id);
    CHECK_FALSE(answer.contains("error"));
    return answer;
  }
  int open(const std::string& preset, json more = json::object()) {
    more.update({{"do", "open"}, {"runs", {"A=" + preset}}, {"set", tiny_set()}, {"steps", 60}});
    return ask(more).at("run").get<int>();
  }
  json step(int run, int steps) { return ask({{"do", "step"}, {"run", run}, {"steps", steps}}); }
  std::vector<float> losses(int run) { return numbers(ask({{"do", "losses"}, {"run", run}}).at("values")); }
  std::vector<float> value(int run, const std::string& name) {
    return numbers(ask({{"do", "value"}, {"run", run}, {"name", name}}));
  }
  std::vector<float> gradient(int run, const std::string& name) {
    return numbers(ask({{"do", "gradient"}, {"run", run}, {"name", name}}));
  }
  int fork(int run, const json& set) {
    return ask({{"do", "fork"}, {"run", run}, {"set", set}}).at("run").get<int>();
  }
};

/// The run that a request to open with the same preset makes.
std::unique_ptr<Run> alone(const std::string& preset, int32_t count) {
  return make_run(tiny_spec(preset, 60), count);
}

}  // namespace

TEST_CASE("a run that is held makes the steps of the run itself, and is read as its Store is") {
  Held held;
  const int run = held.open("post");
  const auto own = alone("post", 20);
  CHECK(held.ask({{"do", "state"}, {"run", run}})["loss"].is_null());
  const json after = held.step(run, 20);
  CHECK(after.at("step") == 20);
  CHECK(after.at("interrupted") == false);
  CHECK(after.at("budget") == 60);
  CHECK(after.at("verdict") == word_of(own->verdict().kind));
  CHECK(after.at("state") == to_string(own->state()));
  CHECK(same_bits(held.losses(run), own->losses()));

  const json names = held.ask({{"do", "names"}, {"run", run}}).at("parameters");
  REQUIRE(names.size() == own->store().parameters().size());
  for (const json& one : names) {
    const std::string name = one.at("name").get<std::string>();
    INFO(name);
    CHECK(same_bits(held.value(run, name), own->store().read(own->store().find(name))));
    CHECK(same_bits(held.gradient(run, name), own->program().read(name, true)));
  }
  CHECK(same_bits(held.value(run, "L01.attn.heads"), own->program().read("L01.attn.heads")));
  CHECK(same_bits(held.value(run, "L01.attn.out"),
                  own->program().read("L01.attn.stream")));  // Post-LN's output
  const json rows = held.ask({{"do", "tape"}, {"run", run}}).at("rows");
  CHECK(rows.size() == own->program().data().nodes.size());
  CHECK(rows[0].at("op") == to_string(own->program().data().nodes[0].op));
}

TEST_CASE("series are those of the history, columns by name") {
  Held held;
  const int run = held.open("pre");
  held.step(run, 12);
  const auto own = alone("pre", 12);
  const json loss = held.ask({{"do", "series"}, {"run", run}, {"name", "loss"}});
  CHECK(loss.at("names") == json{"loss"});
  CHECK(same_bits(numbers(loss.at("values")), own->losses()));
  const json norms = held.ask({{"do", "series"}, {"run", run}, {"name", "L*.ffn.w2.grad_norm"}});
  REQUIRE(norms.at("names") == json{"L01.ffn.w2.grad_norm", "L02.ffn.w2.grad_norm"});
  CHECK(norms.at("steps").get<std::vector<int32_t>>() == own->history()->loss().steps);
  const std::vector<float> values = numbers(norms.at("values"));
  for (size_t column = 0; column < 2; ++column) {
    const Series series =
        own->history()->series(own->history()->find(norms["names"][column].get<std::string>()));
    REQUIRE(2 * series.values.size() == values.size());
    for (size_t i = 0; i < series.values.size(); ++i) CHECK(values[2 * i + column] == series.values[i]);
  }
}

TEST_CASE("a fork has the bits of the Run's own, and one without changes goes on as its run does") {
  Held held;
  const int run = held.open("post");
  held.step(run, 10);
  const auto own = alone("post", 10);
  const auto forked = own->fork(with_fields(own->spec(), {{"model.placement", "pre"}}));
  const int other = held.fork(run, {"model.placement=pre"}), same = held.fork(run, json::array());
  held.step(other, 15);
  held.step(same, 15);
  held.step(run, 15);
  steps(*forked, 15);
  steps(*own, 15);
  CHECK(same_bits(held.losses(other), forked->losses()));
  CHECK(same_bits(held.losses(same), own->losses()));
  CHECK(same_bits(held.losses(run), own->losses()));
  CHECK(same_bits(held.value(other, "L02.ffn.w2"), forked->store().read(forked->store().find("L02.ffn.w2"))));
}

TEST_CASE("a run goes back to any step, and from there makes the same steps again") {
  Held held;
  const int run = held.open("post");
  held.step(run, 20);
  CHECK(held.ask({{"do", "set"}, {"run", run}, {"set", {"train.lr=1e-4", "train.steps=70"}}}).at("budget") ==
        70);
  held.step(run, 20);
  const auto own = make_run(tiny_spec("post", 60));
  own->schedule_edits({{21, "train.lr", "1e-4"}});
  steps(*own, 40);
  CHECK(same_bits(held.losses(run), own->losses()));
  const std::vector<float> whole = held.losses(run);
  for (const int step : {0, 7, 20, 33, 40}) {
    INFO(step);
    const json back = held.ask({{"do", "at"}, {"run", run}, {"step", step}});
    CHECK(back.at("step") == step);
    const int at = back.at("run").get<int>();
    if (step <= 20)
      held.ask({{"do", "set"}, {"run", at}, {"set", {step == 20 ? "train.lr=1e-4" : "train.steps=60"}}});
    const int to = step < 20 ? 20 : 40;
    held.step(at, to - step);
    CHECK(same_bits(held.losses(at), std::vector<float>(whole.begin(), whole.begin() + to)));
  }
  CHECK(same_bits(held.losses(run), whole));
}

TEST_CASE("tensors of the last step are those of its own moment, whatever was replayed since") {
  Held held;
  const int run = held.open("post"), other = held.open("pre");
  held.step(run, 5);
  held.ask({{"do", "set"}, {"run", run}, {"set", {"train.label_smoothing=0.2"}}});
  held.step(run, 1);
  const std::vector<float> out = held.value(run, "L01.attn.out"),
                           gradient = held.gradient(run, "L01.attn.out");
  const int without = held.open("post");
  held.step(without, 6);
  CHECK_FALSE(same_bits(gradient, held.gradient(without, "L01.attn.out")));  // the setting is in it
  held.step(other, 3);
  CHECK(same_bits(held.value(run, "L01.attn.out"), out));
  CHECK(same_bits(held.gradient(run, "L01.attn.out"), gradient));

  const int forked = held.fork(run, {"model.placement=pre"});  // a step of another network
  held.step(forked, 1);
  const std::vector<float> first = held.value(forked, "L02.ffn.out");
  held.step(other, 1);
  CHECK(same_bits(held.value(forked, "L02.ffn.out"), first));

  const int back = held.ask({{"do", "at"}, {"run", run}, {"step", 6}}).at("run").get<int>();
  CHECK(same_bits(held.value(back, "L01.attn.out"), out));
}

TEST_CASE("a run that is saved and loaded goes on to the bit, and shows its last step") {
  const Folder folder;
  const std::string path = folder.file("m.safetensors");
  Held held;
  const int run = held.open("post");
  held.step(run, 10);
  held.ask({{"do", "save"}, {"run", run}, {"path", path}});
  const std::vector<float> out = held.value(run, "L01.ffn.out");
  const json loaded = held.ask({{"do", "load"}, {"path", path}});
  CHECK(loaded.at("step") == 10);
  const int again = loaded.at("run").get<int>();
  CHECK(same_bits(held.value(again, "L01.ffn.out"), out));
  held.step(run, 10);
  held.step(again, 10);
  CHECK(same_bits(held.losses(again), held.losses(run)));
}

TEST_CASE("an interruption keeps the steps that are done, and a request that goes back changes nothing") {
  Held held;
  const int run = held.open("post");
  held.step(run, 10);
  held.interrupted = true;
  const json ended = held.step(run, 10);
  CHECK(ended.at("interrupted") == true);
  CHECK(ended.at("step") == 10);
  const std::string back = held.runs.answer(json{{"id", 1}, {"do", "at"}, {"run", run}, {"step", 9}}.dump());
  CHECK(contains(back, "interrupted on the way to step 9"));
  held.interrupted = false;
  held.step(run, 5);
  CHECK(same_bits(held.losses(run), alone("post", 15)->losses()));
}

TEST_CASE("one of several runs is opened as compare trains it, at either size") {
  Held held;
  const json two = {
      {"do", "open"},    {"runs", {"A=post", "B=pre"}},
      {"letter", "B"},   {"seed", 3},
      {"size", "small"}, {"set", {"train.momentum=0.8", "A:train.optimizer=momentum", "B:model.layers=2"}}};
  const json opened = held.ask(two);
  CHECK(opened.at("budget") == 200);
  const int run = opened.at("run").get<int>();
  held.step(run, 3);
  RunSpec spec = preset_run("pre");
  set_field(spec, "model.layers", "2");
  spec = at_small_size(spec);
  spec.seed = 3;
  CHECK(same_bits(held.losses(run), make_run(spec, 3)->losses()));
}

TEST_CASE("a request that cannot be answered gets one line and changes nothing") {
  Held held;
  const int run = held.open("post");
  held.step(run, 5);
  const int changed = held.fork(run, {"model.placement=pre"});
  const std::string state = held.ask({{"do", "state"}, {"run", run}}).dump();
  const Folder folder;
  std::ofstream(folder.file("none.safetensors")) << "nothing";
  const auto with = [&](const char* what, json more) {
    more["do"] = what;
    if (!more.contains("run") && !more.contains("runs")) more["run"] = run;
    more["id"] = 9;
    return more.dump();
  };
  const auto deep = std::string(1000, '[');
  for (const auto& [line, words] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "no JSON"},
           {"{\"id\":1", "no JSON"},
           {"\xff\xfe", "no JSON"},
           {deep, "no JSON"},
           {"[]", "expected an object"},
           {R"({"do":"state","run":1})", "id"},
           {R"({"id":-1,"do":"state","run":1})", "id"},
           {R"({"id":1,"do":"dance","run":1})", "expected one of open, load, step"},
           {R"({"id":1,"run":1})", "do"},
           {with("state", {{"run", 77}}), "a run that is open"},
           {with("state", {{"run", "1"}}), "run"},
           {with("open", {{"runs", json::array()}}), "runs"},
           {with("open", {{"runs", {"A=psot"}}}), "did you mean post?"},
           {with("open", {{"runs", {"A=post"}}, {"letter", "B"}}), "the letter of one of the runs"},
           {with("open", {{"runs", {"A=post"}}, {"set", {"model.layers=-1"}}}), "model.layers"},
           {with("open", {{"runs", {"A=post"}}, {"set", {"model.layers=2", "nothing"}}}), "nothing"},
           {with("open", {{"runs", {"A=post"}}, {"set", {"train.momentum=0.8"}}}), "would change nothing"},
           {with("open", {{"runs", {"A=post"}}, {"size", "huge"}}), "usual, small"},
           {with("open", {{"runs", {"A=post"}}, {"steps", 0}}), "steps"},
           {with("open", {{"runs", {"A=post"}},
                          {"set",
                           {"model.layers=256", "model.d_model=8192", "model.heads=128",
                            "model.feed_forward=65536", "train.batch=1024"}}}),
            "memory"},
           {with("load", {{"path", folder.file("nowhere")}}), "nowhere"},
           {with("load", {{"path", folder.file("none.safetensors")}}), "none.safetensors"},
           {with("step", {{"steps", -1}}), "steps"},
           {with("step", {{"steps", kMaxSteps}}), "steps"},
           {with("step", {{"steps", "many"}}), "steps"},
           {with("at", {{"step", 6}}), "from 0 to 5"},
           {with("at", {{"step", 2.5}}), "step"},
           {with("fork", {{"set", {"model.placement=psot"}}}), "did you mean post?"},
           {with("fork", {{"set", {"data.name=copy"}}}), "other data"},
           {with("fork", {{"set", {"run.seed=2"}}}), "expected the seed 1"},
           {with("fork", {{"set", {"model.d_model=17"}}}), "model"},
           {with("fork", {{"set", "train.lr=1"}}), "set"},
           {with("set", {{"set", {"train.lr=1e-4", "model.placement=pre"}}}), "expected a fork"},
           {with("set", {{"set", {"train.lr=1e-4", "train.lr=fast"}}}), "train.lr"},
           {with("set", {{"set", {"train.lr=1e-4", "train.nothing=1"}}}), "train.nothing"},
           {with("set", {{"set", {"train.lr"}}}), "KEY=VALUE"},
           {with("value", {{"name", "L01.attn.hads"}}), "did you mean L01.attn.heads?"},
           {with("value", {{"name", "tokens"}}), "whole numbers"},
           {with("value", {{"name", "\n\x1b[2J"}}), "there is no"},
           {with("value", {{"run", changed}, {"name", "L01.attn.out"}}), "known after a step"},
           {with("gradient", {{"name", "L01.attn.hads"}}), "there is no"},
           {with("series", {{"name", "L*.ffn.w3.grad_norm"}}), "expected a name such as"},
           {with("series", {{"name", std::string(257, '*')}}), "name"},
           {with("save", {{"path", folder.file("no/folder/m.safetensors")}}), "no/folder"},
           {with("close", {{"run", 0}}), "run"}}) {
    INFO(line.substr(0, 200));
    const std::string said = held.runs.answer(line);
    INFO(said);
    const json answer = json::parse(said);
    REQUIRE(answer.contains("error"));
    const std::string error = answer["error"].get<std::string>();
    CHECK(contains(error, words));
    CHECK(std::ranges::none_of(error, [](unsigned char letter) { return letter < ' '; }));
    CHECK(answer.size() == (answer.contains("id") ? 2u : 1u));
    CHECK(json::parse(held.runs.answer(with("state", json::object()))).at("step") == 5);
  }
  json now = held.ask({{"do", "state"}, {"run", run}}), before = json::parse(state);
  now.erase("id"), before.erase("id");
  CHECK(now == before);
  CHECK(held.open("pre") == changed + 1);  // none of them made a run
  held.step(run, 5);
  CHECK(same_bits(held.losses(run), alone("post", 10)->losses()));
}

TEST_CASE("the command answers each line of its input, however long, and ends with it") {
  const Folder folder;
  const std::string begin =
      R"({"id":1,"do":"open","runs":["A=post"],"set":["model.layers=1","model.d_model=16"]})";
  folder.write("input", begin + "\n\nnothing\n" + std::string(kLongestRequest + 1, ' ') + "{}\n" +
                            std::string(3 << 20, '[') + "\n" +
                            R"({"id":2,"do":"step","run":1})");  // no line break
  const Outcome outcome = run_program("hold --stdio --threads 1", "", folder.file("input"));
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  std::vector<json> answers;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  REQUIRE(answers.size() == 6);
  CHECK(answers[0].at("run") == 1);
  for (const size_t i : {1, 2}) CHECK(contains(answers[i].at("error").get<std::string>(), "no JSON"));
  for (const size_t i : {3, 4})
    CHECK(contains(answers[i].at("error").get<std::string>(), "expected a shorter line"));
  CHECK(answers[5].at("step") == 1);
}

TEST_CASE("a thousand runs are opened and closed without growth") {
  Held held;
  const auto open_and_close = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const int run = held.open("post");
      if (i % 100 == 0) held.step(run, 1);
      held.ask({{"do", "close"}, {"run", run}});
    }
  };
  open_and_close(100);
  const int64_t before = resident_bytes();
  open_and_close(1000);
  CHECK(resident_bytes() - before < int64_t{8} << 20);
}

}  // namespace normscope::held
