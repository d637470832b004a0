// These tests hold the gate: what comes from a file is refused by name, value and range before anything is built from
// it. Each format's table has its fields below and above their range, of a wrong type, and missing.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "answers.h"
#include "engine/core/machine.h"
#include "engine/io/input_file.h"
#include "engine/io/safetensors.h"
#include "refusals/refusals.h"
#include "skip.h"
#include "training/data/text_source.h"
#include "training/io/input_value.h"
#include "training/run/checkpoint.h"
#include "training/session/lab_trainer.h"
#include "training/session/session_file.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr InputKind kSmall{"small", "a small file", 100};

/// A safetensors file in memory, to be changed.
struct Bytes {
  explicit Bytes(const std::string& path) {
    const SafetensorsFile file = SafetensorsFile::load(path);
    metadata = file.metadata();
    for (const std::string& name : file.names()) {
      if (file.type(name) == TensorType::F32) floats[name] = file.floats(name);
      if (file.type(name) == TensorType::F64) doubles[name] = file.doubles(name);
      if (file.type(name) == TensorType::I32) integers[name] = file.int32s(name);
      shapes[name] = file.shape(name);
    }
  }
  /// Writes it as it is now; a tensor whose length was changed becomes a row.
  SafetensorsFile file(const Folder& folder, const std::string& name) const {
    SafetensorsWriter writer;
    for (const auto& [key, value] : metadata) writer.set_metadata(key, value);
    const auto add = [&](const auto& tensors) {
      for (const auto& [tensor, values] : tensors) {
        int64_t count = 1;
        for (const int64_t dim : shapes.at(tensor)) count *= dim;
        const auto length = static_cast<int64_t>(values.size());
        writer.add(tensor, count == length ? shapes.at(tensor) : TensorShape{length}, std::span(values));
      }
    };
    add(floats);
    add(doubles);
    add(integers);
    writer.write(folder.file(name));
    return SafetensorsFile::load(folder.file(name));
  }
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<double>> doubles;
  std::map<std::string, std::vector<int32_t>> integers;
  std::map<std::string, TensorShape> shapes;
};

/// Changes a member in a metadata entry of JSON; `what` is the JSON of its new value, "" takes it out.
std::function<void(Bytes&)> member(const std::string& key, const std::string& at, const std::string& what) {
  return [=](Bytes& bytes) {
    Json json = Json::parse(bytes.metadata.at(key));
    if (what.empty())
      json.erase(at);
    else
      json[at] = Json::parse(what);
    bytes.metadata[key] = json.dump();
  };
}
std::function<void(Bytes&)> entry(const std::string& key, const std::string& text) {
  return [=](Bytes& bytes) { bytes.metadata[key] = text; };
}
std::function<void(Bytes&)> numbers(const std::string& tensor, std::vector<int32_t> values) {
  return [=](Bytes& bytes) { bytes.integers[tensor] = values; };
}

struct Case {
  std::function<void(Bytes&)> change;
  std::string says;  ///< all that follows "[WHERE] "
};

/// The rows KIND WHERE | VALUE | WORDS of tests/refusals/NAME.txt.
std::vector<Case> cases_of(const std::string& name) {
  std::vector<Case> cases;
  for (const std::vector<std::string>& row : refusals(name)) {
    const size_t blank = row[0].find(' '), slash = row[0].find('/');
    const std::string kind = row[0].substr(0, blank), where = row[0].substr(blank + 1);
    if (kind == "entry") cases.push_back({entry(where, row[1]), row[2]});
    if (kind == "numbers") cases.push_back({numbers(where, Json::parse(row[1])), row[2]});
    if (kind == "member")
      cases.push_back(
          {member(row[0].substr(blank + 1, slash - blank - 1), row[0].substr(slash + 1), row[1]), row[2]});
  }
  return cases;
}

void check_all(const Folder& folder, const Bytes& good, const std::string& where,
               const std::vector<Case>& cases, const std::function<void(const SafetensorsFile&)>& read) {
  const std::string name = "changed.safetensors";
  CHECK(error_of([&] { read(good.file(folder, name)); }) == "no error");
  for (const Case& one : cases) {
    Bytes changed = good;
    one.change(changed);
    CHECK(error_of([&] { read(changed.file(folder, name)); }) ==
          fmt::format("[{} {}] {}", where, folder.file(name), one.says));
  }
}

}  // namespace

TEST_CASE("gate: only regular files are read, and none waits") {
  const Folder folder;
  const auto says = [](const std::string& path) { return error_of([&] { read_input_file(path, kSmall); }); };
  const auto refused = [](const std::string& path, const char* what) {
    return fmt::format("[small {}] is {}, not a regular file: expected a small file", path, what);
  };
  CHECK(says(folder.file("none")) ==
        fmt::format("[small {}] no such file: check the path", folder.file("none")));
  CHECK(says("") == "[small ] no such file: check the path");
  CHECK(says(folder.path.string()) == refused(folder.path.string(), "a folder"));
  CHECK(says("/dev/zero") == refused("/dev/zero", "a device"));
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(says(pipe) == refused(pipe, "a pipe"));
  fs::create_symlink(pipe, folder.path / "link");
  CHECK(says(folder.file("link")) == refused(folder.file("link"), "a pipe"));
  fs::create_symlink("circle", folder.path / "circle");
  CHECK(contains(says(folder.file("circle")), "cannot be read (Too many levels of symbolic links)"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.file("s").copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(says(folder.file("s")) == refused(folder.file("s"), "a socket"));
  ::close(socket);
  CHECK(read_input_file(folder.write("a", "words"), kSmall) == "words");
  CHECK(read_input_file(folder.write("empty", ""), kSmall).empty());
  CHECK_FALSE(read_input_file_if_there(folder.file("none"), kSmall));
  CHECK(contains(error_of([&] { read_input_file_if_there(pipe, kSmall); }), "a pipe"));
}

TEST_CASE("gate: a file above its limit is refused, one that has no size is read to its end") {
  const Folder folder;
  CHECK(read_input_file(folder.write("full", std::string(100, 'x')), kSmall).size() == 100);
  const std::string more = folder.write("more", std::string(101, 'x'));
  CHECK(error_of([&] { read_input_file(more, kSmall); }) ==
        fmt::format("[small {}] is too large (101 bytes): expected at most 100 bytes", more));
  // A sparse file of a terabyte costs neither memory nor time.
  fs::resize_file(more, uintmax_t{1} << 40);
  CHECK(contains(error_of([&] { read_input_file(more, kSmall); }), "is too large (1099.5 GB)"));
  CHECK(contains(error_of([&] { SafetensorsFile::load(more); }), "a header of 8680820740569200760 bytes"));
  constexpr InputKind kAny{"", "anything", 1'000'000};
  CHECK_FALSE(read_input_file("/proc/self/status", kAny).empty());  // st_size 0
  CHECK(contains(error_of([&] { read_input_file("/proc/self/status", kSmall); }), "is too large"));
  CHECK(error_of([&] { read_input_file("none", kAny); }) == "none: no such file: check the path");
}

TEST_CASE("gate: what cannot be used stays beside, and no older one is lost") {
  const Folder folder;
  for (const std::string to : {"x.bad", "x.bad-2", "x.bad-3"}) {
    const std::string path = folder.write("x", to);
    CHECK(stash(path) == folder.file(to));
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(read_input_file(folder.file("x.bad"), kSmall) == "x.bad");
  fs::create_symlink("nowhere", folder.path / "y.bad");
  CHECK(stash(folder.write("y", "")) == folder.file("y.bad-2"));
  CHECK(stash(folder.file("none")) == folder.file("none"));
}

TEST_CASE("gate: values of JSON say where they stand, what they are and what was expected", "[listing]") {
  constexpr std::string_view kWords[] = {"no", "yes"};
  const auto read = [&](const std::string& kind, const std::string& json) -> std::string {
    const InputValue v = InputValue::parse(json, "file", "a");
    if (kind == "whole") v.whole(-3, 7);
    if (kind == "number") v.number(0, 1);
    if (kind == "list") v.list(3, 4);
    if (kind == "text") v.text(10);
    if (kind == "choice") return fmt::format("number {}", v.choice(kWords));
    if (kind == "member") v.at("b").list(2, 2)[1].flag();
    return "read";
  };
  check_answers("values-of-json", [&](const std::string& line) -> std::string {
    const auto [kind, json] = verb_and_rest(line);
    return read(kind, unescaped(json));
  });
  const auto says = [&](const std::string& json) { return error_of([&] { read("whole", json); }); };
  const std::string opened(100'000, '['), closed(100'000, ']');
  CHECK(says(opened) == "[file] a is damaged: no JSON at byte 100001");
  CHECK(says(opened + closed) == "[file] a is nested too deeply: expected at most 32 levels");
  CHECK(says("\"" + std::string(1000, 'x') + "\"").size() < 150);
}

TEST_CASE("gate: every field of a checkpoint") {
  const Folder folder;
  const auto run = make_run(small_spec());
  run->schedule_edits({{3, "train.lr", "0.001"}, {20, "train.clip", "0.5"}});
  steps(*run, 6);
  run->validation_loss();
  run->save(folder.file("good.safetensors"));
  const Bytes good(folder.file("good.safetensors"));
  const size_t frames = good.integers.at("frames/steps").size();
  std::vector<Case> cases = cases_of("fields-of-checkpoint");
  cases.insert(
      cases.end(),
      {{[](Bytes& b) { b.doubles["plateau/window"].pop_back(); },
        "plateau/window has 19 numbers: expected 20"},
       {[](Bytes& b) { b.floats["history/rates"].push_back(0); }, "history/rates has 7 numbers: expected 6"},
       {[](Bytes& b) { b.floats["losses"].pop_back(); }, "losses has 5 numbers: expected 6"},
       {[=](Bytes& b) { b.integers["frames/steps"] = std::vector<int32_t>(frames, INT_MIN); },
        "frames/steps[0] is -2147483648: expected a whole number from 1 to 10000000"},
       {[](Bytes& b) { b.floats["frames/stats"].pop_back(); },
        fmt::format("frames/stats has {} numbers for 6 frames: expected as many each",
                    good.floats.at("frames/stats").size() - 1)},
       {numbers("frames/gone", {1}), fmt::format("frames/gone_values has 0 numbers: expected {}",
                                                 2 * good.floats.at("frames/stats").size() / frames)}});
  check_all(folder, good, "checkpoint", cases, [](const SafetensorsFile& file) { read_checkpoint(file); });
  // And none of them becomes a run.
  for (const Case& one : {cases[1], cases[7], cases[35]}) {
    Bytes changed = good;
    one.change(changed);
    CHECK(contains(error_of([&] {
                     changed.file(folder, "c.safetensors");
                     Run::load(folder.file("c.safetensors"), small_task(), shared_backend());
                   }),
                   one.says));
  }
}

TEST_CASE("gate: a history of more steps than are kept is refused before it is thinned") {
  const Folder folder;
  const auto run = make_run(small_spec(), 2);
  run->save(folder.file("good.safetensors"));
  Bytes bytes(folder.file("good.safetensors"));
  // Unsorted and of any sign, this doubled the stride of the thinning until it was zero.
  auto& history = bytes.integers["history/steps"];
  history.clear();
  for (int32_t i = 0; i < static_cast<int32_t>(kDenseSteps) + 7; ++i)
    history.push_back((i % 2 ? -1 : 1) * static_cast<int32_t>(i * 7919LL % 2147483647));
  bytes.floats["history/losses"].assign(history.size(), 1);
  bytes.floats["history/rates"].assign(history.size(), 1);
  CHECK(contains(error_of([&] { read_checkpoint(bytes.file(folder, "a")); }),
                 "history/steps[0] is 0: expected a whole number from 1"));
  for (size_t i = 0; i < history.size(); ++i) history[i] = static_cast<int32_t>(i) + 1;
  CHECK(contains(error_of([&] { read_checkpoint(bytes.file(folder, "b")); }),
                 "history/steps has 131079 numbers: expected at most 131072"));
}

TEST_CASE("gate: a session is read whole; what is refused stands in tests/refusals") {
  const SavedSession whole = parse_session(refusal_base("session"), "s");
  CHECK(whole.budget == 300);
  CHECK(whole.portion == 200);
  REQUIRE(whole.runs.size() == 1);
  CHECK(whole.runs[0].file == "A-3.safetensors");
  CHECK_FALSE(whole.runs[0].unscored);
  CHECK(contains(error_of([] { parse_session("[run]\nseed = 1\n", "s"); }),
                 "there is no table [window]: expected a session"));
}

TEST_CASE("gate: a session that needs more memory than there is builds nothing") {
  const size_t machine = machine_memory();
  if (machine == 0) SKIP_CASE("this system does not tell how much memory it has");
  const Folder folder;
  const auto run = make_run(small_spec(), 1);
  run->save(folder.file("good.safetensors"));
  Bytes bytes(folder.file("good.safetensors"));
  Json origin = Json::parse(bytes.metadata["origin"]);
  for (Json& pair : origin) {
    if (pair[0] == "train.batch") pair[1] = "4096";
    if (pair[0] == "model.sequence") pair[1] = "4096";
    if (pair[0] == "model.feed_forward") pair[1] = "65536";
  }
  bytes.metadata["origin"] = origin.dump();
  bytes.file(folder, "A-3.safetensors");
  folder.write("session.toml", refusal_base("session"));
  LabTrainer trainer({.threads = 1, .sample_text = false});
  CHECK(contains(error_of([&] {
                   trainer.carry_out(session::RestoreSession{folder.path.string(), false});
                 }),
                 "a run of this size needs about"));
  CHECK(contains(error_of([&] { Run::load(folder.file("A-3.safetensors"), small_task(), shared_backend()); }),
                 "a run of this size needs about"));
  CHECK(trainer.empty());
}

TEST_CASE("gate: tables have a limit of lines") {
  CHECK(contains(error_of([&] { read_tsv("/dev/zero", "x"); }), "is a device, not a regular file"));
  std::string many;
  many.resize(kMaxTextLines + 1, '\n');
  CHECK(contains(error_of([&] { parse_tsv(many, "t.tsv", "a<TAB>b"); }), "has more than 20000000 lines"));
}

TEST_CASE("gate: the limits of a setting belong to it, and a wiring of 256 layers is quick") {
  RunSpec spec;
  for (const char* key : {"train.label_smoothing", "model.dropout_residual", "model.dropout_attention"}) {
    CHECK_NOTHROW(set_field(spec, key, "0.99"));
    CHECK(get_field(spec, key) == "0.99");
    CHECK(contains(error_of([&] { set_field(spec, key, "0.991"); }),
                   "0.991 is out of range: expected 0 to 0.99"));
    CHECK(contains(error_of([&] { set_field(spec, key, "-0.01"); }), "expected 0 to 0.99"));
  }
  CHECK(contains(error_of([&] { set_field(spec, "run.name", std::string(5000, 'x')); }),
                 "a value of 5000 bytes: expected at most 4096"));
  CHECK(error_of([&] { set_field(spec, std::string(5000, 'x'), "1"); }).size() < 200);
  // Keys of a wiring stand for places by themselves: nothing is searched for.
  set_field(spec, "model.layers", "256");
  set_field(spec, "wiring.L200.attn", "before=ln");
  const auto values = field_values(spec);
  CHECK(values.size() > 512);
  CHECK(get_field(spec, "wiring.L200.attn") == "before=ln");
  for (const char* wrong :
       {"wiring.L0.attn", "wiring.L257.attn", "wiring.L2.attn", "wiring.L002.attn", "wiring.L", "wiring.L02",
        "wiring.L02.cross", "wiring.", "wiring.L 2.ffn", "wiring.enc.L01.attn"})
    CHECK(contains(error_of([&] { set_field(spec, wrong, "before=ln"); }), "no such place"));
  set_field(spec, "model.architecture", "encoder-decoder");
  CHECK_NOTHROW(set_field(spec, "wiring.dec.L02.cross", "before=ln"));
  CHECK_NOTHROW(set_field(spec, "wiring.enc.L256.ffn", "before=ln"));
}
