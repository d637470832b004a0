// These tests train on sentence pairs: pieces, buckets, epochs. Without SentencePiece there is one clear refusal.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/translation/training/bleu.h"
#include "addons/translation/training/pairs_task.h"
#include "addons/translation/training/translator.h"
#include "skip.h"
#include "test_paths.h"
#include "training/experiments/result_store.h"
#include "training/measure/look.h"
#include "training/measure/step_metrics.h"
#include "training/run/evaluate.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

/// Sentences of different lengths and their word-by-word translation.
std::vector<TsvRow> some_pairs(size_t count) {
  static const char* const kWords[][2] = {{"Hund", "dog"}, {"Katze", "cat"},      {"Haus", "house"},
                                          {"und", "and"},  {"schläft", "sleeps"}, {"läuft", "runs"},
                                          {"groß", "big"}, {"klein", "small"}};
  std::vector<TsvRow> rows;
  for (size_t i = 0; i < count; ++i) {
    TsvRow row;
    const size_t words = 1 + random_word(i, 1, 1, Purpose::Batch, 1) % 14;
    for (size_t w = 0; w < words; ++w) {
      const auto& word = kWords[random_word(i * 16 + w, 2, 1, Purpose::Batch, 1) % 8];
      row.first += std::string(w ? " " : "") + word[0];
      row.second += std::string(w ? " " : "") + word[1];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Tokenizer some_tokenizer() {
  const auto rows = some_pairs(300);
  std::vector<std::string_view> sentences;
  for (const TsvRow& row : rows) {
    sentences.push_back(row.first);
    sentences.push_back(row.second);
  }
  return Tokenizer::train(sentences, 60);
}

std::string write_pairs(const std::string& path, size_t count) {
  std::ofstream file(path, std::ios::binary);
  for (const TsvRow& row : some_pairs(count)) file << row.first << '\t' << row.second << '\n';
  return path;
}

RunSpec pairs_spec(const std::string& path) {
  return spec_with("pre", {{"model.architecture", "encoder-decoder"},
                           {"model.sequence", "24"},
                           {"data.vocabulary", "60"},
                           {"data.pairs", path},
                           {"train.batch", "8"}});
}

TEST_CASE("pairs: bucket lengths grow to the longest", "[pairs]") {
  CHECK(bucket_lengths(64) == std::vector<int32_t>{8, 12, 16, 24, 32, 48, 64});
  CHECK(bucket_lengths(20) == std::vector<int32_t>{8, 12, 16, 20});
  CHECK(bucket_lengths(8) == std::vector<int32_t>{8});
  CHECK(bucket_lengths(5) == std::vector<int32_t>{5});
}

TEST_CASE("pairs: without SentencePiece there is one clear line", "[pairs]") {
  if (tokenizer_unavailable().empty()) SKIP_CASE("this build has SentencePiece");
  CHECK_THROWS_AS(Tokenizer::train({"a"}, 100), Error);
}

TEST_CASE("pairs: pieces go there and back, the same each time", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Tokenizer a = some_tokenizer(), b = some_tokenizer();
  CHECK(a.model() == b.model());
  CHECK(a.vocabulary() == 60);
  for (const TsvRow& row : some_pairs(20)) {
    auto symbols = a.encode(row.first);
    CHECK(a.decode(symbols) == row.first);
    symbols.push_back(Tokenizer::kEnd);
    symbols.push_back(Tokenizer::kUnknown);
    CHECK(a.decode(symbols) == row.first);
  }
  const std::string path = "pairs.bpe.model";
  a.save(path);
  CHECK(Tokenizer::load(path).model() == a.model());
  std::ofstream(path) << "nonsense";
  CHECK_THROWS_AS(Tokenizer::load(path), Error);
  std::remove(path.c_str());
  CHECK_THROWS_AS(Tokenizer::load(path), Error);
  CHECK_THROWS_AS(Tokenizer::train({"ab", "ba"}, 8000), Error);
}

TEST_CASE("pairs: every pair once an epoch, in batches of one bucket and about as many tokens", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const PairsTask task(some_pairs(300), some_pairs(17), some_tokenizer(), "test", 24);
  constexpr int32_t B = 4, T = 24;
  const int32_t epoch = task.epoch_batches(B, T);
  std::map<std::vector<int32_t>, int> seen[2];
  std::set<BatchShape> shapes;
  for (int e : {0, 1})
    for (int32_t step = 1; step <= epoch; ++step) {
      const auto number = static_cast<uint64_t>(e * epoch + step);
      const BatchShape shape = task.shape(7, number, Split::Train, B, T);
      shapes.insert(shape);
      CHECK(shape.rows * shape.length <= B * T);
      CHECK(shape.rows * shape.length > B * T - shape.length);
      Batch batch(shape), again(shape);
      task.fill(7, number, Split::Train, B, T, batch.view());
      for (size_t r = 0; r < static_cast<size_t>(shape.rows); ++r) {
        const auto n = static_cast<size_t>(batch.key_lengths[r]),
                   m = static_cast<size_t>(batch.target_lengths[r]);
        if (n == 0) continue;  // fills up a last batch
        const auto length = static_cast<size_t>(shape.length);
        const auto at = static_cast<std::ptrdiff_t>(r * length);
        std::vector<int32_t> source(batch.source.begin() + at,
                                    batch.source.begin() + at + static_cast<std::ptrdiff_t>(n));
        CHECK(source.back() == Tokenizer::kEnd);
        CHECK(batch.tokens[r * length] == Tokenizer::kBegin);
        CHECK(batch.targets[r * length + m - 1] == Tokenizer::kEnd);
        for (size_t t = m; t < length; ++t) CHECK(batch.targets[r * length + t] == -1);
        ++seen[e][source];
      }
      task.fill(7, number, Split::Train, B, T, again.view());
      CHECK(again.source == batch.source);
    }
  CHECK(shapes.size() >= 3);
  CHECK(seen[0] == seen[1]);
  int pairs = 0;
  for (const auto& [source, count] : seen[0]) pairs += count;
  CHECK(pairs == static_cast<int>(task.pairs()));
  CHECK(task.pairs() + task.left_out() == 300);
  CHECK_THROWS_AS(PairsTask({{"a", "b"}}, {}, some_tokenizer(), "test", 24), Error);
}

TEST_CASE("pairs: a batch depends on nothing that was drawn before, of another epoch either", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const PairsTask fresh(some_pairs(300), some_pairs(17), some_tokenizer(), "test", 24),
      used(some_pairs(300), some_pairs(17), some_tokenizer(), "test", 24);
  const auto step = static_cast<uint64_t>(fresh.epoch_batches(4, 24) + 2);
  const auto drawn = [](const PairsTask& task, uint64_t at) {
    return task.draw(7, at, Split::Train, 4, 24).source;
  };
  drawn(used, 1);
  CHECK(drawn(used, step) == drawn(fresh, step));
  CHECK(drawn(used, step) != drawn(fresh, 2));
}

TEST_CASE("pairs: a source that is exchanged between rows comes with its own length", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const std::string path = write_pairs("pairs_exchanged.tsv", 200);
  Run run(pairs_spec(path), make_task(pairs_spec(path).data), shared_backend());
  std::remove(path.c_str());
  const RunSpec& spec = run.spec();
  Batch batch = run.task().draw(spec.seed, 1, Split::Validation, spec.train.batch, spec.model.sequence);
  REQUIRE(std::set<int32_t>(batch.key_lengths.begin(), batch.key_lengths.end()).size() > 1);
  Validator validator(run.store(), spec.model, run.task(), spec.seed, spec.train.batch, {}, 1);
  std::rotate(batch.key_lengths.begin(), batch.key_lengths.begin() + 1, batch.key_lengths.end());
  std::rotate(batch.source.begin(),
              batch.source.begin() + static_cast<std::ptrdiff_t>(batch.source.size()) / batch.B,
              batch.source.end());
  Program program = evaluation_program(run.store(), spec.model, shape_of(batch));
  put(batch, program);
  program.replay({});
  CHECK(validator.measure_exchanged() == Approx(program.loss()));
}

TEST_CASE("pairs: the hash tells other pairs apart, those that validate too", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const auto hash = [](size_t train, size_t valid) {
    return PairsTask(some_pairs(train), some_pairs(valid), some_tokenizer(), "test", 24).hash();
  };
  const uint64_t one = hash(300, 17);
  CHECK(hash(300, 17) == one);
  CHECK(hash(299, 17) != one);
  CHECK(hash(300, 18) != one);
}

TEST_CASE("pairs: a run trains on all shapes over one Store and goes on bitwise", "[pairs]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const std::string path = write_pairs("pairs_run.tsv", 200);
  RunSpec spec = pairs_spec(path);
  spec.data.tokenizer_path = "pairs_run.bpe.model";
  std::remove(spec.data.tokenizer_path.c_str());
  const auto task = make_task(spec.data);
  CHECK_FALSE(std::filesystem::exists(spec.data.tokenizer_path));  // a specification only names what is read
  task->save_tokenizer(spec.data.tokenizer_path);
  CHECK(make_task(spec.data)->hash() == task->hash());
  Run straight(spec, task, shared_backend()), stopped(spec, task, shared_backend());
  steps(straight, 40);
  CHECK(std::isfinite(straight.validation_loss()));
  CHECK(test::contains(straight.sample(20), "\u2190"));
  CHECK(straight.mean_loss(5) < static_cast<double>(straight.history()->loss().values.front()));
  steps(stopped, 17);
  stopped.save("pairs_run.safetensors");
  const auto resumed = Run::load("pairs_run.safetensors", task, shared_backend());
  steps(*resumed, 23);
  CHECK(same_bits(straight.history()->loss().values, resumed->history()->loss().values));
  CHECK(first_difference(straight.store(), resumed->store()) == "");

  // Averaging: the mean of one file is that file, of two lies between.
  const std::vector<std::string> files = {"pairs_run.safetensors", "pairs_run.safetensors"};
  Store averaged = straight.store().clone();
  average_weights(files, averaged);
  CHECK(same_bits(averaged.read(0), stopped.store().read(0)));

  const auto& pairs = dynamic_cast<const PairsTask&>(*task);
  std::vector<std::vector<int32_t>> sources;
  for (const TsvRow& row : some_pairs(20)) sources.push_back(pairs.tokenizer().encode(row.first));
  for (auto& source : sources) source.push_back(Tokenizer::kEnd);
  Translator translator(straight.store(), straight.spec().model, task->begin(), task->end());
  const auto found = translator.translate(sources);
  REQUIRE(found.size() == sources.size());
  CHECK(found == translator.translate(sources));
  for (const char* file : {"pairs_run.tsv", "pairs_run.bpe.model", "pairs_run.safetensors"})
    std::remove(file);
}

TEST_CASE("pairs: padding is no part of the measured sequence", "[pairs][measured]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const std::string path = write_pairs("pairs_measured.tsv", 300);
  const RunSpec spec = pairs_spec(path);
  Run run(spec, make_task(spec.data), shared_backend());
  steps(run, 1);
  const ModelConfig& model = run.spec().model;
  Batch row = measured_row(run.task(), model.sequence);
  const auto source = static_cast<size_t>(row.key_lengths.at(0)),
             target = static_cast<size_t>(row.target_lengths.at(0));
  REQUIRE((source < row.source.size() || target < row.tokens.size()));
  Look sequence(run.store(), model, row);
  std::vector<double> expected(sequence.layout().size()), numbers(expected.size());
  sequence.measure(expected);
  CHECK(sequence.residual() < 1e-5);

  std::fill(row.source.begin() + static_cast<std::ptrdiff_t>(source), row.source.end(), 5);
  std::fill(row.tokens.begin() + static_cast<std::ptrdiff_t>(target), row.tokens.end(), 5);
  Tape tape(run.store());
  RecordOptions options = record_options(shape_of(row), false);
  options.probes = true;
  const ModelValues values = record_transformer(tape, model, options);
  Program program = seal(tape, {.loss = values.loss, .backward = false});
  put(row, program);
  program.replay({});
  LiveMeasurements live(program, values, model);
  live.measure(numbers);
  CHECK(numbers == expected);
  std::remove(path.c_str());
}

TEST_CASE("pairs: a file that is no tokenizer, and settings that lack one, are refused", "[gate]") {
  const Folder folder;
  if (tokenizer_unavailable().empty()) {
    const std::string path = folder.write("t.model", "nonsense");
    CHECK(contains(error_of([&] { Tokenizer::load(path); }),
                   "[tokenizer " + path + "] not a SentencePiece model"));
  }
  CHECK(contains(error_of([&] { Tokenizer::load("/dev/zero"); }), "is a device, not a regular file"));
  RunSpec spec = small_spec();
  CHECK(unused_reason(spec, "data.vocabulary") == "data.name is corpus: expected pairs");
  set_field(spec, "model.architecture", "encoder-decoder");
  set_field(spec, "data.name", "pairs");
  CHECK(contains(error_of([&] { validate(spec); }), "[data.pairs] no file is named"));
}

TEST_CASE("pairs: results count them by their content, wherever they lie", "[pairs]") {
  const auto key = [](const char* path) {
    return experiments::key_of({spec_with("post", {{"data.pairs", path}}), {}}, 7, shared_backend());
  };
  CHECK(key("/here/a.tsv") == key("/there/b.tsv"));
  CHECK(key("/here/a.tsv") != experiments::key_of({small_spec(), {}}, 7, shared_backend()));
}

// BLEU against sacreBLEU's numbers (../fixtures/bleu/make_golden.py).

nlohmann::json golden() {
  std::ifstream file(NORMSCOPE_SOURCE_DIR "/addons/translation/tests/fixtures/bleu/golden.json");
  return nlohmann::json::parse(file);
}

}  // namespace

TEST_CASE("bleu: lines are cut into sacreBLEU's 13a tokens", "[bleu]") {
  const auto all = golden().at("tokens");
  CHECK(all.size() >= 15);
  for (const auto& one : all) {
    INFO(one.at("line").get<std::string>());
    CHECK(tokenize_13a(one.at("line").get<std::string>()) ==
          one.at("tokens").get<std::vector<std::string>>());
  }
}

TEST_CASE("bleu: corpus scores are sacreBLEU's to 0.01", "[bleu]") {
  const auto all = golden().at("corpora");
  CHECK(all.size() >= 12);
  size_t longest = 0;  // one of them is as a whole file of package descriptions
  for (const auto& one : all) {
    INFO(one.at("name").get<std::string>());
    const auto hypotheses = one.at("hypotheses").get<std::vector<std::string>>();
    longest = std::max(longest, hypotheses.size());
    const Bleu bleu = corpus_bleu(hypotheses, one.at("references").get<std::vector<std::string>>());
    CHECK(bleu.score == Approx(one.at("score").get<double>()).margin(1e-6));
    CHECK(bleu.brevity_penalty == Approx(one.at("bp").get<double>()).margin(1e-9));
    CHECK(bleu.hypothesis_length == one.at("sys_len").get<int64_t>());
    CHECK(bleu.reference_length == one.at("ref_len").get<int64_t>());
    if (bleu.score > 0)
      for (size_t n = 0; n < 4; ++n)
        CHECK(bleu.precisions[n] == Approx(one.at("precisions")[n].get<double>()).margin(1e-6));
  }
  CHECK(longest >= 500);
}

TEST_CASE("bleu: as many translations as references", "[bleu]") {
  CHECK_THROWS_AS(corpus_bleu({"a"}, {"a", "b"}), Error);
  CHECK_THROWS_AS(corpus_bleu({}, {}), Error);
  CHECK(to_string(corpus_bleu({"a b c d e"}, {"a b c d e"})).find("BLEU 100.00") == 0);
}

}  // namespace normscope::test
