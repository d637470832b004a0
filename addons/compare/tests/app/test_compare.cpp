// These tests compare histories made by hand, as addons/compare/tests/answers/compare.txt tells them: the difference
// and its band, the place where runs part, maps, the table, the axes, and what is said of a run that lacks something.
#include <fmt/format.h>

#include <algorithm>

#include "addons/compare/app/commands/compare_study.h"
#include "addons/compare/app/figures.h"
#include "addons/compare/app/writers.h"
#include "addons/compare/tests/app/compared_runs.h"
#include "addons/recorded/training/recorded_run.h"
#include "app/plot/plot.h"
#include "app/support/commands.h"
#include "training/files/placement_file.h"
#include "training/measure/history.h"

namespace normscope::compare {
using compared::history, compared::ours;

namespace {

using test::by_step, test::contains, test::digits;

std::string losses_of(const Loss& loss) {
  std::string text = fmt::format("losses of {} steps", loss.shown.steps.size());
  if (!loss.shown.empty()) text += fmt::format(", {}-{}", loss.shown.steps.front(), loss.shown.steps.back());
  if (!loss.seeds.low.empty())
    text += fmt::format(", seeds {} to {}", digits(loss.seeds.low[0]), digits(loss.seeds.high[0]));
  return text + (loss.lacks.empty() ? "" : "; lacks " + loss.lacks);
}

std::string difference_of(const Difference& d) {
  double wide = 0;
  for (size_t i = 0; i < d.smooth.low.size(); ++i) wide = std::max(wide, d.smooth.high[i] - d.smooth.low[i]);
  return fmt::format("difference ({}): {}; range {}{}\nend {} ({} {}), band {} to {}, {}{}: {}\n",
                     kAgainst[static_cast<size_t>(d.against)], by_step(d.smooth.steps, d.smooth.mean),
                     digits(wide), d.smooth.x.empty() ? "" : fmt::format(", to x {}", d.smooth.x.back()),
                     digits(d.end), d.step, d.window, digits(d.band_low), digits(d.band_high),
                     kLuck[static_cast<size_t>(d.luck)], d.early ? ", early" : "", against_words(d));
}

std::string map_of(const RatioMap& map) {
  std::string text = map.lacks.empty() ? "" : "map lacks " + map.lacks + "\n";
  const size_t columns = map.steps.size();
  for (int32_t layer = 0; layer < map.layers; ++layer)
    text += fmt::format(
        "map {}: {}\n", layer + 1,
        by_step(map.steps, std::span(map.cells).subspan(static_cast<size_t>(layer) * columns, columns)));
  return text;
}

std::string place_of(const FirstPlace& place) {
  if (!place.lacks.empty()) return "place lacks " + place.lacks + "\n";
  return fmt::format("place ({}): {}most {} at {}, equal {}\n", kAgainst[static_cast<size_t>(place.against)],
                     place.parts ? fmt::format("{} at {}, {}, layer {}, {}; ", digits(place.ratio),
                                               place.step, place.stat, place.layer, place.matrix)
                                 : "",
                     digits(place.most), place.most_step,
                     place.equal ? "throughout" : fmt::format("until {}", place.equal_until));
}

/// All that a comparison holds, and each of its sentences.
std::string told(const Comparison& all) {
  std::string text;
  for (const Setting& setting : all.settings) {
    text += fmt::format("{} ({}):", setting.key, setting.label);
    for (size_t run = 0; run < all.runs.size(); ++run)
      text += fmt::format(" {}{}", value_words(all, setting, run),
                          run == all.baseline() || !setting.differs(run, all.baseline()) ? "," : " differs,");
    text.back() = '\n';
  }
  text += fmt::format("letter frequencies {}, unit '{}'{}\n", digits(all.unigram), all.unit,
                      all.same ? ", the same" : "");
  for (const EndRow& row : all.rows) {
    text += fmt::format("{} {}: step {}, loss {} ± {}, '{}', leaves {}, update {}, {} tokens/s",
                        all.letter(row.run), all.runs[row.run].name, row.last_step, digits(row.loss),
                        digits(row.deviation), row.verdict(), row.leaves ? std::to_string(*row.leaves) : "-",
                        digits(row.update_ratio), digits(row.tokens_per_second));
    text += "\n" + losses_of(all.losses[row.run]) + "\n";
    if (row.run == all.baseline() && all.runs[row.run].seeds.size() == 1) continue;
    text += difference_of(all.differences[row.run]);
    if (row.run == all.baseline()) continue;
    text += place_of(all.places[row.run]) + map_of(all.maps[row.run]);
    for (const std::string& sentence : {place_sentence(all, row.run), map_sentence(all, row.run)})
      text += "= " + sentence + "\n";
  }
  for (const std::string& sentence : {settings_sentence(all), data_sentence(all), unread_sentence(all),
                                      loss_sentence(all), difference_sentence(all), missing_sentence(all)})
    if (!sentence.empty()) text += "= " + sentence + "\n";
  for (const plot::RefLine& line : loss_plot(all).lines) text += "line: " + line.label + "\n";
  const plot::PlotSpec differences = difference_plot(all, false);
  for (const plot::Series& series : differences.series)
    if (!series.value.empty()) text += fmt::format("label of {}: {}\n", series.letter, series.value);
  // How many settings there are is none of this file's business.
  if (const size_t at = text.find(fmt::format("; {} are shared", all.shared));
      all.shared > 30 && at != text.npos)
    text.replace(at + 2, std::to_string(all.shared).size(), "many");
  return text;
}

/// The runs of compare.txt: a line makes one, or changes the last one.
class MadeRuns {
 public:
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    std::istringstream words(rest);
    if (verb == "new") {
      runs_.clear();
    } else if (verb == "ours" ||
               verb == "theirs") {  // "ours NAME 60 60:3": histories of 60 steps, seeds 1 and 3
      LogFixture& made = runs_.emplace_back();
      std::string name, of;
      words >> name;
      while (words >> of) {
        const size_t colon = of.find(':');
        made.histories.push_back({std::stoi(of), colon == of.npos ? made.histories.size() + 1
                                                                  : std::stoull(of.substr(colon + 1))});
      }
      const size_t seeds = made.histories.size();
      std::replace(name.begin(), name.end(), '_', ' ');
      made.run = verb == "ours" ? ours(name, std::vector<std::shared_ptr<History>>(seeds))
                                : compared::theirs(name, nullptr);
    } else if (verb == "copy") {  // the last run once more, under its own name
      runs_.push_back(runs_.back());
    } else if (verb == "change") {  // "change loss 30-40 add 0.5 [of seed 2]"
      std::string steps, of, seed;
      Change change;
      words >> change.stat >> steps >> change.how >> change.by >> of >> seed >> change.seed;
      const size_t dash = steps.find('-');
      change.from = std::stoi(steps);
      if (dash != steps.npos) change.to = std::stoi(steps.substr(dash + 1));
      runs_.back().changes.push_back(change);
    } else if (verb == "without") {  // no gradients
      runs_.back().gradients = false;
    } else if (verb == "set") {
      Recording& run = runs_.back().run;
      std::string key, value;
      words >> key >> value;
      set_field(*run.spec, key, value);
      run.settings = field_values(*run.spec);
    } else if (verb == "measured") {  // "measured unigram 2.9"
      const size_t space = rest.rfind(' ');
      for (SeedRecord& seed : runs_.back().run.seeds)
        seed.measured[rest.substr(0, space)] = std::stod(rest.substr(space));
    } else if (verb == "said") {
      runs_.back().run.seeds[0].said = rest;
    } else if (verb == "reversed") {
      std::ranges::reverse(runs_.back().histories);
      std::ranges::reverse(runs_.back().run.seeds);
    } else if (verb == "data") {  // "data name, hash, 29, letter"
      const std::vector<std::string> parts = parts_of(rest);
      runs_.back().run.data = parts.size() < 3 ? DataIdentity{}
                                               : DataIdentity{parts[0], parts[1], std::stoi(parts[2]),
                                                              parts.size() > 3 ? parts[3] : ""};
    } else if (verb == "text") {  // trains on a file, and its log does not say what was in it
      Recording& run = runs_.back().run;
      run.data = {};
      run.spec->data.name = "text";
      run.spec->data.text_path = "input.txt";
      run.path = rest;
    } else if (verb == "read") {  // "read 30 10 FAULT"
      records::LinesRead read;
      std::string fault;
      words >> read.lines >> read.broken >> std::ws;
      std::getline(words, fault);
      read.faults = {Message{fault}};
      runs_.back().run.read = read;
    } else if (verb == "metric") {
      Choice choice;
      set_metric(choice, rest);
      return fmt::format("{} of {}", panels::info(choice.metric).id, view::kMatrices[choice.matrix].path);
    } else if (verb == "compare") {
      last_ = compare(made(), choice_from(words));
      return told(last_);
    } else if (verb == "page") {  // of the last comparison, as all below
      return to_markdown(last_, {"loss.svg"});
    } else if (verb == "terminal") {
      return to_text(last_);
    } else if (verb == "csv") {
      return end_csv(last_) + settings_csv(last_) + map_csv(last_, 1);
    } else if (verb == "table") {
      std::string text;
      for (const std::vector<std::string>& row : end_table(last_))
        text += fmt::format("{}\n", fmt::join(row, " | "));
      return text;
    } else {
      throw Error("no line begins with " + verb);
    }
    return "";
  }

 private:
  struct Change {
    std::string stat, how;  ///< "times", "add", "is" and "slope", which adds so much a step
    int32_t from = 1, to = std::numeric_limits<int32_t>::max();
    double by = 0;
    uint64_t seed = 0;  ///< 0: of all
    double of(double value, int32_t step) const {
      if (how == "times") return value * by;
      if (how == "bit") return std::nextafter(static_cast<float>(value), 1.F);
      if (how == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (how == "infinite") return std::numeric_limits<double>::infinity();
      return how == "is" ? by : how == "slope" ? value + by * step : value + by;
    }
  };
  struct LogFixture {
    Recording run;
    std::vector<std::pair<int32_t, uint64_t>> histories;
    std::vector<Change> changes;
    bool gradients = true;
  };

  static std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in >> std::ws, part, ',');) parts.push_back(part);
    return parts;
  }

  static Choice choice_from(std::istream& words) {
    Choice choice;
    for (std::string word, value; words >> word >> value;) {
      if (word == "baseline") choice.baseline = std::stoi(value) - 1;
      if (word == "factor") choice.factor = std::stod(value);
      if (word == "by") choice.align = alignment_from(value);
      if (word == "from") choice.range = {{std::stoi(value), 0}};
      if (word == "to") choice.range->second = std::stoi(value);
      if (word == "metric") set_metric(choice, value);
    }
    return choice;
  }

  std::vector<Recording> made() const {
    std::vector<Recording> all;
    for (const LogFixture& made : runs_) {
      all.push_back(made.run);
      if (made.histories.empty()) all.back().seeds.clear();
      for (size_t i = 0; i < made.histories.size(); ++i) {
        const auto& [steps, seed] = made.histories[i];
        const auto changed = [&](const std::string& stat, int32_t step, double value) {
          for (const Change& change : made.changes)
            if (change.stat == stat && change.from <= step && step <= change.to &&
                (change.seed == 0 || change.seed == seed))
              value = change.of(value, step);
          return value;
        };
        all.back().seeds[i].history = history(steps, seed, changed, made.gradients);
      }
    }
    return all;
  }

  std::vector<LogFixture> runs_;
  Comparison last_;
};

const EndRow& row_of_run(const Comparison& all, size_t run) {
  return *std::ranges::find(all.rows, run, &EndRow::run);
}

}  // namespace

TEST_CASE("compare: made runs are compared as told", "[listing]") {
  MadeRuns runs;
  test::check_answers("compare", [&](const std::string& line) { return runs.obey(line); });
}

TEST_CASE("compare: an event comes before the losses") {
  const auto of_events = history(60);
  of_events->add_event({33, RunEvent::Kind::LeftPlateau, "leaves"});
  Recording live = ours("live", {of_events});
  live.seeds[0].measured[records::kUnigram] = 9;
  CHECK(*row_of_run(compare({live, live}), 0).leaves == 33);
}

TEST_CASE("compare: what some seeds do is said of some, in whatever order a file has them") {
  const auto seed = [](RunEvent::Kind kind, int32_t step) {
    const auto made = history(200);
    made->add_event({step, kind, "told"});
    return made;
  };
  std::vector<std::shared_ptr<History>> seeds{seed(RunEvent::Kind::Stuck, 151),
                                              seed(RunEvent::Kind::LeftPlateau, 113),
                                              seed(RunEvent::Kind::LeftPlateau, 140)};
  const Recording other = ours("other", {seed(RunEvent::Kind::LeftPlateau, 44)});
  for (int turn = 0; turn < 3; ++turn) {
    std::ranges::rotate(seeds, seeds.begin() + 1);
    const Comparison all = compare({ours("mixed", seeds), other});
    CHECK(
        loss_sentence(all) ==
        "B leaves the line of letter frequencies at step 44. A leaves it in 2 of 3 seeds, at step 113 (median).");
    const EndRow& row = row_of_run(all, 0);
    CHECK(*row.leaves == 113);
    CHECK(row.verdict() == "learns 2 of 3, stuck 1 of 3");
    CHECK(row.short_verdict() == "learns 2 of 3");
    CHECK(row.known().count(Verdict::Stuck) == 1);
    CHECK(row.known(150).count(Verdict::Stuck) == 0);  // by then it was not known
  }
  const Comparison alone = compare({ours("mixed", seeds), ours("stuck", {seeds[0], seeds[0]})});
  CHECK(contains(loss_sentence(alone), "A leaves"));
  const Comparison none =
      compare({ours("stuck", {seed(RunEvent::Kind::Stuck, 151)}), ours("open", {history(200)})});
  CHECK(loss_sentence(none) == "A has not left the line of letter frequencies by step 200.");
}

TEST_CASE("compare: a verdict of a file's own words counts as none of ours") {
  Recording run = ours("own", {history(40)});
  run.seeds[0].said = "ignores the source";
  const Comparison all = compare({run, ours("other", {history(40)})});
  const EndRow& row = row_of_run(all, 0);
  CHECK(row.verdict() == "ignores the source, 1 seed");
  CHECK_FALSE(row.leaves.has_value());
  CHECK(row.known().seeds() == 0);
}

TEST_CASE("compare: the size of updates is that of the newest step at which a log has it") {
  const auto every_twenty = [](const std::string& stat, int32_t step, double value) {
    return stat.ends_with("update_norm") && step % 20 != 1 ? NAN : value;
  };
  const Comparison all =
      compare({ours("sparse", {history(50, 1, every_twenty)}), ours("dense", {history(50)})});
  CHECK(row_of_run(all, 0).update_ratio == Approx(row_of_run(all, 1).update_ratio));
  CHECK(std::ranges::count(row_of_run(all, 0).missing, "update ÷ weight") == 0);
}

TEST_CASE("compare: a log that has norms of parameters without a layer is not said to lack them") {
  const auto named = std::make_shared<History>(
      std::vector<StatInfo>{{"decoder.mixer.update_norm", 0}, {"decoder.mixer.weight_norm", 0}});
  for (int32_t step = 1; step <= 20; ++step) named->append(step, 3.0, 1e-3, std::vector<double>{0.1, 1});
  Recording run = compared::theirs("named", named);
  run.seeds[0].measured[records::kSecondsPerStep] = 0.1;
  const Comparison all = compare({run, ours("ours", {history(20)})});
  CHECK(contains(missing_sentence(all), "update ÷ weight of a parameter named as layer 1's"));
  CHECK(contains(missing_sentence(all), "tokens a step, which tokens/s needs"));
}

TEST_CASE("compare: steps that are counted from 0 and from 1 are compared by number, which is said") {
  const auto from = [](int32_t first) {
    const auto made = std::make_shared<History>(std::vector<StatInfo>{});
    for (int32_t step = first; step < first + 30; ++step) made->append(step, 3.0, 1e-3, {});
    return compared::theirs("run", made);
  };
  CHECK(contains(missing_sentence(compare({from(1), from(0)})),
                 "B counts its steps from 0, A from 1: equal numbers are compared, which are a step apart."));
  for (const int32_t first : {0, 1})
    CHECK_FALSE(contains(missing_sentence(compare({from(first), from(first)})), "counts"));
  CHECK_FALSE(contains(missing_sentence(compare({from(0), from(10)})), "counts"));  // it is not known
}

TEST_CASE("compare: logs with nothing but equal losses are not the same to the bit") {
  const auto bare = std::make_shared<History>(std::vector<StatInfo>{});
  for (int32_t step = 1; step <= 30; ++step) bare->append(step, 3.0, 1e-3, {});
  const Recording log = compared::theirs("log", bare);
  CHECK(settings_sentence(compare({log, log})) ==
        "The losses of these runs are equal; their logs have nothing else to compare.");
  const Recording run = ours("run", {history(30)});
  CHECK(settings_sentence(compare({run, run})) == "These runs are the same to the bit.");
}

TEST_CASE("compare: steps whose loss was not measured have no point, and take nothing from the verdict") {
  const auto sparse = std::make_shared<History>(std::vector<StatInfo>{});
  for (int32_t step = 1; step <= 400; ++step)
    sparse->append(step, step % 10 == 0 ? std::optional(step < 100 ? 3.0 : 1.0) : std::nullopt, 1e-3, {});
  sparse->append_validation(395, 1.5);
  Recording run = compared::theirs("sparse", sparse);
  run.seeds[0].measured[records::kUnigram] = 2.9;
  const Comparison all = compare({run, compared::theirs("other", history(400))});
  const EndRow& row = row_of_run(all, 0);
  CHECK(row.verdict() == "learns, 1 seed");
  CHECK(row.loss == 1);
  CHECK(row.last_step == 400);
  CHECK(all.losses[0].shown.steps.size() == 40);
}

TEST_CASE("compare: updates and weights that are measured now and then count as last measured") {
  const auto rarely = history(40, 1, [](const std::string& name, int32_t step, double value) {
    const bool rare = name.ends_with("update_norm") || name.ends_with("weight_norm");
    return rare && step % 20 != 1 ? NAN : name.ends_with("update_norm") && step > 1 ? 2 * value : value;
  });
  const Comparison all =
      compare({compared::theirs("recorded", rarely), compared::theirs("other", history(40))});
  CHECK(row_of_run(all, 0).update_ratio == Approx(0.01));
  CHECK(row_of_run(all, 1).update_ratio == Approx(0.005));
}

TEST_CASE("compare: a log without a verdict gets the one that training would have given") {
  const auto said = [](const std::function<double(int32_t)>& loss) {
    const auto losses = std::make_shared<History>(std::vector<StatInfo>{});
    for (int32_t step = 1; step <= 220; ++step) losses->append(step, loss(step), 1e-3, {});
    Recording run = compared::theirs("a", losses);
    run.data.symbols = 29;
    run.seeds[0].measured[records::kUnigram] = 2.9;
    return row_of_run(compare({run, compared::theirs("other", history(220))}), 0).verdict();
  };
  CHECK(said([](int32_t step) { return step < 9 ? 3.6 : 63 + std::sin(step); }) == "diverges, 1 seed");
  CHECK(said([](int32_t step) { return 2.9 + 0.9 * std::exp(-step / 150.0); }) == "too slow to tell, 1 seed");
  CHECK(said([](int32_t) { return 2.9; }) == "stuck, 1 seed");
}

TEST_CASE("compare: a run with edits has the settings that train now, and says what was changed when") {
  const Recording base = ours("base", {history(40)});
  Recording fork = ours("fork", {history(40)});
  fork.origin = fork.spec;
  RunSpec target = *fork.spec;
  for (LayerWiring& layer : target.model.stack().layers)
    for (Wiring* wiring : {&layer.attention, &layer.feed_forward}) std::swap(wiring->before, wiring->stream);
  fork.edits = edits_between(*fork.origin, target, 31);
  fork.edits.push_back({36, "train.lr", "0.001"});
  for (const Edit& edit : fork.edits) set_field(*fork.spec, edit.key, edit.value);
  fork.settings = field_values(*fork.spec);
  const Comparison all = compare({base, fork});
  const auto setting = [&](const std::string& key) {
    return *std::ranges::find(all.settings, key, &Setting::key);
  };
  CHECK(setting("model.placement").values[1] == "custom");
  CHECK(setting("model.placement").differs(1, 0));
  CHECK(setting("edits").label == "edits");
  CHECK(setting("edits").values[0] == "none");
  CHECK(setting("edits").values[1] == "12 norms moved at 30; learning rate 0.001 at 35");
  CHECK(all.rows[1].loss == Approx(3.1).epsilon(1e-5));
  fork.origin.reset();  // a log does not say what was there before
  CHECK(compare({base, fork}).settings.back().values.size() == 2);
}

TEST_CASE("compare: a placement of a file has its name, and its wiring is no row") {
  struct Forgetting {
    ~Forgetting() { forget_added_placements(); }
  } forgetting;
  offer(parse_placement("name = \"mine\"\nlabel = \"My own\"\nsublayer = \"before=ln after=ln stream=ln\"\n",
                        "mine.toml"));
  Recording own = ours("own", {history(40)});
  set_field(*own.spec, "model.placement", "mine");
  own.settings = field_values(*own.spec);
  const Comparison all = compare({ours("post", {history(40)}), own});
  bool named = false;
  for (size_t row = 0; row < all.settings.size(); ++row) {
    CHECK_FALSE(all.settings[row].key.starts_with("wiring."));
    named = named || value_words(all, all.settings[row], 1) == "My own";
  }
  CHECK(named);
}

TEST_CASE("compare: norms that were moved in an encoder are told of") {
  const Recording base = ours("base", {history(40)});
  Recording fork = base;
  fork.origin = preset_run("post");
  set_field(*fork.origin, "model.architecture", "encoder-decoder");
  set_field(*fork.origin, "model.layers", "2");
  RunSpec target = *fork.origin;
  Wiring& first = target.model.encoder.layers[0].attention;
  std::swap(first.before, first.stream);
  fork.edits = edits_between(*fork.origin, target, 31);
  CHECK(edits_words(fork) == "1 norm moved at 30");
}

TEST_CASE("compare: seeds of one log are one run, runs of two logs are two") {
  const auto recorded = [](const char* path, const char* letter, uint64_t seed) {
    records::Recording run;
    run.name = std::string("run ") + letter;
    run.path = path;
    run.maker = "normscope";
    run.log_letter = letter;
    run.seeds.emplace_back().origin.seed = seed;
    run.settings = {{"train.lr", "0.003"}, {"run.seed", std::to_string(seed)}};
    run.seeds[0].history = history(3, seed);
    return run;
  };
  std::vector<records::Recording> runs{recorded("/a/x.jsonl", "A", 1), recorded("/a/x.jsonl", "B", 1),
                                       recorded("/a/x.jsonl", "A", 2), recorded("/b/x.jsonl", "A", 3)};
  std::vector<Recording> all = grouped(runs);
  REQUIRE(all.size() == 3);
  CHECK(all[0].seeds.size() == 2);
  CHECK(all[0].seeds[1].origin.seed == 2);
  CHECK(all[0].source() == "x.jsonl");
  CHECK(all[1].name == "run B");
  CHECK(all[2].seeds.size() == 1);
  runs[2].settings[0].second = "0.001";  // no seed of it then
  CHECK(grouped(runs).size() == 4);
}

TEST_CASE("compare: a map shows nothing where one of the two was not measured") {
  Comparison all = compare({ours("long", {history(60)}), ours("short", {history(60, 3)})});
  RatioMap& map = all.maps[1];
  REQUIRE(map.lacks.empty());
  const size_t columns = map.steps.size();
  for (int32_t layer = 0; layer < map.layers; ++layer)
    for (size_t i = columns / 2; i < columns; ++i)
      map.cells[static_cast<size_t>(layer) * columns + i] = std::numeric_limits<float>::quiet_NaN();
  const plot::PlotSpec plot = ratio_plot(all, 1);
  REQUIRE(plot.heat);
  const int width = plot.heat->columns;
  const auto& cells = plot.heat->cells.values;
  CHECK(std::isfinite(cells[0]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) - 1]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) * 3 / 4]));
}

TEST_CASE("compare counts the histories of all seeds, each as far as it is kept") {
  const auto bytes = [](int32_t steps, int32_t seeds) {
    ConfigRun run{'A', test::tiny_spec("post", steps), {}};
    return commands::CompareStudy({run}, seeds, false).history_bytes();
  };
  CHECK(bytes(20, 1) > 20 * 100);
  CHECK(bytes(20, 7) == 7 * bytes(20, 1));
  CHECK(bytes(10'000'000, 2) == 2 * static_cast<int64_t>(kHistoryBudget));
}

TEST_CASE("commands: compare", "[listing]") { test::check_commands("commands"); }

}  // namespace normscope::compare
