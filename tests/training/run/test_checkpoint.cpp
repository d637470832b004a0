// These tests cover saved runs: bitwise continuation, and files that are refused with a clear line.
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "engine/io/safetensors.h"
#include "training/run/checkpoint.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

std::unique_ptr<Run> load(const std::string& path) { return Run::load(path, small_task(), shared_backend()); }

std::string load_error(const std::string& path, std::shared_ptr<const Task> task = small_task()) {
  return test::error_of([&] { Run::load(path, std::move(task), shared_backend()); });
}

// Changes one tensor or metadata entry of the saved file; `change(name, values)` of every tensor.
template <typename Change>
void rewrite(const std::string& from, const std::string& to, const std::string& skip_tensor,
             const std::string& key, const std::string& value, Change&& change) {
  const SafetensorsFile file = SafetensorsFile::load(from);
  SafetensorsWriter writer;
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int32_t>> integers;
  std::vector<std::vector<double>> doubles;
  const size_t count = file.names().size() + 1;
  floats.reserve(count);
  integers.reserve(count);
  doubles.reserve(count);
  const auto add = [&](const std::string& name, auto& values) {
    const size_t before = values.size();
    change(name, values);
    const TensorShape row{static_cast<int64_t>(values.size())};
    writer.add(name, values.size() == before ? file.shape(name) : row, std::span(values));
  };
  for (const std::string& name : file.names()) {
    if (name == skip_tensor) continue;
    if (file.type(name) == TensorType::F32) add(name, floats.emplace_back(file.floats(name)));
    if (file.type(name) == TensorType::I32) add(name, integers.emplace_back(file.int32s(name)));
    if (file.type(name) == TensorType::F64) add(name, doubles.emplace_back(file.doubles(name)));
  }
  if (key == "shape") writer.add(skip_tensor, {2, 3}, std::span(floats.emplace_back(6)));
  for (const auto& [name, text] : file.metadata()) writer.set_metadata(name, name == key ? value : text);
  writer.write(to);
}

void rewrite(const std::string& from, const std::string& to, const std::string& skip_tensor,
             const std::string& key = "", const std::string& value = "") {
  rewrite(from, to, skip_tensor, key, value, [](const std::string&, auto&) {});
}

// Writes as a version did whose frames have these numbers alone, under the names in `stats`.
void rewrite_frames(const std::string& from, const std::string& to, const std::vector<size_t>& kept,
                    const std::string& stats) {
  const SafetensorsFile file = SafetensorsFile::load(from);
  const size_t width = file.floats("frames/stats").size() / file.int32s("frames/steps").size();
  rewrite(from, to, "", "stats", stats, [&](const std::string& name, auto& values) {
    const size_t each = name == "frames/stats" ? 1 : name.starts_with("frames/gone_") ? 2 : 0;
    if (each == 0) return;
    const auto all = std::exchange(values, {});
    for (size_t row = 0; row < all.size(); row += width * each)
      for (const size_t i : kept)
        for (size_t k = 0; k < each; ++k) values.push_back(all[row + i * each + k]);
  });
}

std::string names_of(const std::vector<StatInfo>& layout, const std::vector<size_t>& kept) {
  std::string names;
  for (const size_t i : kept) names += (names.empty() ? "[\"" : ",\"") + layout[i].name + "\"";
  return names + "]";
}

}  // namespace

TEST_CASE("a resumed run goes on bit for bit") {
  for (const std::string& preset : preset_names()) {
    INFO(preset);
    RunSpec spec = with_fields(small_spec(preset), {{"model.dropout_residual", "0.1"}});
    const auto straight = make_run(spec, 30), first = make_run(spec, 13);
    const double validation = first->validation_loss();
    const auto resumed = reloaded(*first);
    CHECK(resumed->steps_done() == 13);
    CHECK(resumed->last_validation_loss() == Approx(validation).epsilon(1e-6));
    CHECK(first_difference(first->store(), resumed->store()) == "");
    steps(*resumed, 17);
    CHECK(first_difference(straight->store(), resumed->store()) == "");
    CHECK(same_bits(straight->history()->loss().values, resumed->history()->loss().values));
    CHECK(same_bits(straight->history()->rate().values, resumed->history()->rate().values));
    CHECK(resumed->state() == straight->state());
    CHECK(resumed->learning_since() == straight->learning_since());
    CHECK(resumed->spec() == straight->spec());
  }
}

TEST_CASE("edits, scheduled edits, forks and custom wirings survive") {
  const Folder folder;
  const std::string path = folder.file("b.safetensors");
  const auto source = make_run(spec_with(
      "post", {{"wiring.L01.attn", "before=ln after=rms"}, {"run.name", "a \"name\"\nof two lines"}}));
  source->schedule_edits(
      {{4, "train.lr", "0.001"}, {20, "train.clip", "0.25"}, {22, "model.placement", "sandwich"}});
  steps(*source, 9);
  const auto fork = source->fork(with_fields(source->spec(), {{"wiring.L02.ffn", "before=ln"}}));
  steps(*fork, 3);
  fork->save(path);
  CHECK(Run::saved_spec(path) == fork->spec());
  const auto resumed = load(path);
  CHECK(resumed->edits() == fork->edits());
  CHECK(resumed->spec() == fork->spec());
  CHECK(resumed->origin() == fork->origin());
  CHECK(resumed->mean_loss(12) == fork->mean_loss(12));
  steps(*fork, 15);
  steps(*resumed, 15);
  CHECK(first_difference(fork->store(), resumed->store()) == "");
  CHECK(same_bits(fork->history()->loss().values, resumed->history()->loss().values));
  CHECK(resumed->spec() == fork->spec());
  CHECK(get_field(resumed->spec(), "model.placement") == "sandwich");
}

TEST_CASE("what a run remembers of its plateau survives") {
  const Folder folder;
  const auto run = make_run(small_spec(), 45);
  run->save(folder.file("a.safetensors"));
  load(folder.file("a.safetensors"))->save(folder.file("b.safetensors"));
  const auto first = SafetensorsFile::load(folder.file("a.safetensors")),
             second = SafetensorsFile::load(folder.file("b.safetensors"));
  const std::vector<double> blocks = first.doubles("plateau/blocks");
  CHECK(std::ranges::count(blocks, 0.0) ==
        static_cast<std::ptrdiff_t>(blocks.size()) - 2);  // of steps 20 and 40
  CHECK(second.doubles("plateau/blocks") == blocks);
  CHECK(second.doubles("plateau/window") == first.doubles("plateau/window"));
}

TEST_CASE("the verdict stuck survives") {
  const Folder folder;
  const auto run = make_run(spec_with("pre", {{"train.lr", "0"}}), 155);
  run->save(folder.file("c.safetensors"));
  const auto resumed = load(folder.file("c.safetensors"));
  CHECK(resumed->state() == RunState::Stuck);
  CHECK(resumed->mean_loss(20) == run->mean_loss(20));
}

TEST_CASE("a run that is not finite stays so") {
  const Folder folder;
  const auto run = make_run(spec_with("none", {{"train.optimizer", "sgd"}, {"train.lr", "100"}}), 60);
  REQUIRE(run->state() == RunState::NonFinite);
  run->save(folder.file("d.safetensors"));
  const auto resumed = load(folder.file("d.safetensors"));
  REQUIRE(resumed->state() == RunState::NonFinite);
  CHECK(resumed->non_finite()->tensor == run->non_finite()->tensor);
}

TEST_CASE("what is no fitting checkpoint is refused in one line") {
  const Folder folder;
  const std::string good = folder.file("good.safetensors"), bad = folder.file("bad.safetensors");
  const auto run = make_run(small_spec(), 3);
  run->save(good);

  DataSpec other = small_spec().data;
  other.data_seed = 2;
  CHECK_THAT(load_error(good, small_task(other)), Catch::Contains("was trained on other data"));
  CHECK_THAT(load_error(folder.file("none.safetensors")), Catch::Contains("none.safetensors"));

  const auto size = std::filesystem::file_size(good);
  for (const auto cut : {size - 1, size / 2, size / 100, uintmax_t{9}, uintmax_t{3}, uintmax_t{0}}) {
    std::filesystem::copy_file(good, bad, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(bad, cut);
    INFO(cut);
    CHECK_THAT(load_error(bad), Catch::Contains("bad.safetensors"));
  }
  std::ofstream(bad) << "this is a letter to my aunt, and no model";
  CHECK_THAT(load_error(bad), Catch::Contains("bad.safetensors"));

  rewrite(good, bad, "L01.attn.wq", "shape");
  CHECK_THAT(load_error(bad),
             Catch::Contains("L01.attn.wq") && Catch::Contains("(2,3)") && Catch::Contains("(16,16)"));
  rewrite(good, bad, "m/L02.ffn.w1");
  CHECK_THAT(load_error(bad), Catch::Contains("m/L02.ffn.w1"));
  rewrite(good, bad, "", "format", "somebody else's");
  CHECK_THAT(load_error(bad), Catch::Contains("is no saved run"));
  rewrite(good, bad, "", "step", "-4");
  CHECK_THAT(load_error(bad), Catch::Contains("step is -4: expected a whole number from 0 to 10000000"));
  rewrite(good, bad, "", "origin", "{\"a\":");
  CHECK_THAT(load_error(bad), Catch::Contains("metadata origin is damaged"));
  rewrite(good, bad, "", "origin", "[[\"model.layers\",\"many\"]]");
  CHECK_THAT(load_error(bad), Catch::Contains("[model.layers] 'many'"));
  rewrite(good, bad, "", "plateau", "[]");
  CHECK_THAT(load_error(bad),
             Catch::Contains("metadata plateau is a list of 0: expected an object with count"));
  CHECK(load_error(good) == "no error");
}

TEST_CASE("frames of a version that measured less are kept, and of one that measured otherwise left out") {
  const Folder folder;
  const std::string now = folder.file("now.safetensors"), other = folder.file("other.safetensors");
  RunSpec spec = small_spec();
  spec.train.critical_every = 1;
  const auto run = make_run(spec, 40);
  const std::vector<StatInfo> layout = run->history()->layout();
  REQUIRE(layout.back().name == kCriticalStat);
  run->save(now, 30 * layout.size() * sizeof(float));  // some frames stand for others, which went
  REQUIRE_FALSE(SafetensorsFile::load(now).int32s("frames/gone").empty());
  const auto whole = load(now);

  std::vector<size_t> before(layout.size() - 1), gaps;
  std::iota(before.begin(), before.end(), size_t{0});  // as without the critical rate
  for (size_t i = 1; i < layout.size(); i += 3) gaps.push_back(i);
  for (const std::vector<size_t>& kept : {before, gaps}) {
    rewrite_frames(now, other, kept, names_of(layout, kept));
    const auto old = load(other);
    REQUIRE(old->history()->layout().size() == layout.size());
    for (size_t i = 0; i < layout.size(); ++i) {
      INFO(layout[i].name);
      const auto stat = static_cast<int32_t>(i);
      const Series is = old->history()->series(stat), was = whole->history()->series(stat);
      REQUIRE_FALSE(was.steps.empty());
      if (std::ranges::find(kept, i) != kept.end()) {
        CHECK(is.steps == was.steps);
        CHECK(same_bits(is.values, was.values));
      } else {
        CHECK_FALSE(is.steps.empty());
        CHECK(std::ranges::all_of(is.values, [](float v) { return std::isnan(v); }));
      }
    }
    steps(*old, 2);  // what comes is measured again
    CHECK(std::isfinite(old->history()->series(old->history()->find(kCriticalStat)).values.back()));
  }

  std::vector<size_t> twice = before;
  twice.insert(twice.end(), {layout.size() - 1, layout.size() - 1});
  const std::string names = names_of(layout, before);
  const std::string renamed = "[\"another number\"" + names.substr(names.find(','));
  for (const auto& [kept, stats] : {std::pair{before, renamed},
                                    {before, std::string("[]")},
                                    {twice, names_of(layout, twice)},
                                    {before, names_of(layout, gaps)}}) {
    INFO(stats);
    rewrite_frames(now, other, kept, stats);
    const auto old = load(other);
    CHECK(old->history()->series(0).steps.empty());
    CHECK(old->history()->loss().steps.size() == 40);
  }
}

TEST_CASE("frames that would be larger than any history in this version's layout are left out") {
  const Folder folder;
  const std::string now = folder.file("now.safetensors"), longer = folder.file("longer.safetensors"),
                    other = folder.file("other.safetensors");
  const auto run = make_run(small_spec(), 3);
  run->save(now);
  const std::vector<StatInfo> layout = run->history()->layout();
  const size_t most = kHistoryBudget / (layout.size() * sizeof(float));
  for (const size_t count : {most, most + 1}) {
    rewrite(now, longer, "", "step", std::to_string(count), [&](const std::string& name, auto& values) {
      if (name == "losses") values.resize(count);
    });
    rewrite(longer, other, "", "stats", names_of(layout, {0}), [&](const std::string& name, auto& values) {
      if (name != "frames/steps" && name != "frames/stats") return;
      values.resize(count);
      std::iota(values.begin(), values.end(), static_cast<decltype(values[0] + values[0])>(1));
    });
    CHECK(load(other)->history()->series(0).steps.empty() == (count > most));
  }
}

TEST_CASE("saving is atomic: a failed save leaves the old file") {
  const Folder folder;
  const std::string path = folder.file("e.safetensors");
  const auto run = make_run(small_spec());
  run->save(path);
  CHECK_THROWS_AS(run->save(folder.file("no/such/folder/e.safetensors")), Error);
  steps(*run, 2);
  run->save(path);
  CHECK(load(path)->steps_done() == 2);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) files += entry.is_regular_file();
  CHECK(files == 1);
}

// The header is written anew with the word that names of parameters, statistics and wirings had before.
TEST_CASE("a run that was saved with \"trunk\" in its names opens") {
  const Folder folder;
  const auto run = make_run(small_spec(), 2);
  const std::string path = folder.file("now.safetensors");
  run->save(path);
  std::string bytes = read_all(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::string header =
      std::regex_replace(bytes.substr(8, length), std::regex(R"(stream(=|\.))"), "trunk$1");
  REQUIRE(header.size() < length);
  bytes.replace(8, length, header);
  length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  const std::string former = folder.file("before.safetensors");
  std::ofstream(former, std::ios::binary) << bytes;

  const SafetensorsFile file = SafetensorsFile::load(former);
  CHECK(file.contains("m/L01.attn.stream.gain"));
  CHECK(!file.contains("m/L01.attn.trunk.gain"));
  CHECK(read_checkpoint(file).spec() == run->spec());
  const auto again = load(former);
  steps(*run, 3), steps(*again, 3);
  CHECK(again->last_loss() == run->last_loss());
  CHECK(to_string(wiring_from("trunk=ln")) == "stream=ln");
}
