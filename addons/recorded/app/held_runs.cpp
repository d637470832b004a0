#include "addons/recorded/app/held_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "app/cli/options.h"
#include "engine/core/boundary.h"
#include "engine/core/machine.h"
#include "engine/core/text.h"
#include "engine/ops/registry.h"
#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/measure/step/step_player.h"
#include "training/run/footprint.h"
#include "training/run/run.h"
#include "training/spec/small_size.h"

namespace normscope::held {
namespace {

using nlohmann::json;

constexpr int64_t kLastId = int64_t{1} << 53;
constexpr size_t kMostRuns = 1000, kMostTexts = 1000, kLongestSetting = 2 * kLongestText,
                 kLongestPattern = 256, kLongestError = 2000;
constexpr std::string_view kSizes[] = {"usual", "small"};
constexpr auto kBetweenProgress = std::chrono::seconds(1);

std::string base64(std::span<const float> numbers) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bytes = std::as_bytes(numbers);
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += 6) {
    const size_t i = bit / 8;
    const auto next = i + 1 < bytes.size() ? std::to_integer<unsigned>(bytes[i + 1]) : 0u;
    text[bit / 6] = kLetters[(std::to_integer<unsigned>(bytes[i]) << 8 | next) >> (10 - bit % 8) & 63];
  }
  return text;
}

json shape_of(const Shape& shape) { return std::vector<int64_t>(shape.dim, shape.dim + shape.rank); }

json numbers_json(json shape, std::span<const float> numbers) {
  return {{"shape", std::move(shape)}, {"float32", base64(numbers)}};
}

/// What every answer on a run says of it. A loss that is not finite is null, as JSON has no such number.
json state_of(const Run& run) {
  const Verdict verdict = run.verdict();
  return {{"step", run.steps_done()},         {"loss", run.last_loss()}, {"state", to_string(run.state())},
          {"verdict", word_of(verdict.kind)}, {"since", verdict.since},  {"budget", run.spec().train.steps}};
}

std::vector<std::string> texts_of(const InputValue& request, std::string_view member, size_t least = 0) {
  std::vector<std::string> texts;
  if (const auto given = least > 0 ? request.at(member) : request.find(member))
    for (const InputValue& one : given->list(least, kMostTexts)) texts.push_back(one.text(kLongestSetting));
  return texts;
}

/// Sets in `spec` what the request sets. `require` refuses the key of a setting that cannot change now.
template <typename Require>
void set_in(RunSpec& spec, const InputValue& request, const Require& require) {
  std::vector<std::string> keys;
  for (const std::string& text : texts_of(request, "set")) {
    const size_t equals = text.find('=');
    if (equals == text.npos) fail("set", "{}: expected KEY=VALUE such as train.lr=1e-3", shown_text(text));
    const std::string& key = keys.emplace_back(text.substr(0, equals));
    if (key != "train.steps") require(key);
    set_field(spec, key, text.substr(equals + 1));
  }
  for (const std::string& key : keys)
    if (const Message why = unused_reason(spec, key); !why.empty())
      fail(key, "would change nothing: {}", why);
  validate(spec);
}

/// Refuses what the machine has no memory for, before anything is allocated.
void require_memory(RunSpec spec, const Task& task, Backend& backend) {
  fit_to_data(spec, task);
  require_bytes("memory", static_cast<int64_t>(footprint_of(spec, task, backend).peak()));
}

[[noreturn]] void refuse_name(const char* where, const std::string& name,
                              const std::vector<std::string_view>& names, std::string_view expected) {
  const std::string_view meant = likely(name, names);
  fail(where, "there is no {}: {}expected {}", shown_text(name),
       meant.empty() ? std::string() : fmt::format("did you mean {}? ", meant), expected);
}

/// By the name that the tape gave, or the one of its mean square: L03.attn.out, whichever op made that.
ValueId value_named(const ProgramData& data, const std::string& name) {
  const auto at = std::ranges::find(data.values, name, &ValueInfo::name);
  if (at != data.values.end()) return static_cast<int32_t>(at - data.values.begin());
  for (const Instruction& one : data.instructions)
    if (one.stat >= 0 && data.stats[static_cast<size_t>(one.stat)].name == name + ".mean_square")
      return one.in[0];
  std::vector<std::string_view> names;
  for (const ValueInfo& value : data.values) names.push_back(value.name);
  refuse_name("value", name, names, "a name of the parameters or the tape");
}

/// `rows` has the numbers of a step after those of the one before.
json columns_json(const std::vector<std::string_view>& names, const std::vector<int32_t>& steps,
                  std::span<const float> rows) {
  return {{"names", names}, {"steps", steps}, {"values", numbers_json({steps.size(), names.size()}, rows)}};
}

/// The columns of the frames whose names fit, by name.
json frames_json(const History& history, const std::string& pattern) {
  const std::vector<StatInfo>& layout = history.layout();
  std::map<std::string_view, size_t> columns;
  std::vector<std::string_view> all{"loss", "lr", "validation"};
  for (size_t i = 0; i < layout.size(); ++i) {
    all.push_back(layout[i].name);
    if (matches(layout[i].name, pattern)) columns[layout[i].name] = i;
  }
  if (columns.empty()) refuse_name("series", pattern, all, "a name such as L*.ffn.w2.grad_norm or loss");
  const FrameBlock block = history.frames(std::numeric_limits<int32_t>::max(), history.bytes() + 1);
  std::vector<float> rows;
  for (size_t frame = 0; frame < block.steps.size(); ++frame)
    for (const auto& [name, place] : columns) rows.push_back(block.stats[frame * layout.size() + place]);
  std::vector<std::string_view> names;
  for (const auto& [name, place] : columns) names.push_back(name);
  return columns_json(names, block.steps, rows);
}

}  // namespace

/// Each kind of request is a member, which returns what its answer says.
struct HeldRuns::Impl {
  /// A run, and the copy of its last step that is made for what the run's own memory no longer has.
  struct HeldRun {
    std::unique_ptr<Run> run;
    bool stepped = false;  ///< its program has made its last step
    std::unique_ptr<StepPlayer> last{};
  };

  json answer(const InputValue& request) {
    static constexpr std::pair<std::string_view, json (Impl::*)(const InputValue&)> kKinds[] = {
        {"open", &Impl::open},     {"load", &Impl::load},     {"step", &Impl::step},
        {"at", &Impl::at},         {"fork", &Impl::fork},     {"set", &Impl::set},
        {"state", &Impl::state},   {"losses", &Impl::losses}, {"names", &Impl::names},
        {"tape", &Impl::tape},     {"value", &Impl::value},   {"gradient", &Impl::gradient},
        {"series", &Impl::series}, {"save", &Impl::save},     {"close", &Impl::close},
        {"sync", &Impl::sync}};
    std::vector<std::string_view> names;
    for (const auto& [name, work] : kKinds) names.push_back(name);
    return (this->*kKinds[request.at("do").choice(names)].second)(request);
  }

  HeldRun& held(const InputValue& request) { return runs.at(number(request)); }

  int32_t number(const InputValue& request) const {
    const InputValue number = request.at("run");
    const int32_t run = number.whole(1, std::numeric_limits<int32_t>::max());
    if (!runs.contains(run)) number.refuse("a run that is open");
    return run;
  }

  std::shared_ptr<const Task> task_for(const RunSpec& spec) const {
    for (const auto& [number, one] : runs)
      if (one.run->spec().data == spec.data) return one.run->shared_task();
    return make_task(spec.data);
  }

  json added(HeldRun made) {
    if (runs.size() >= kMostRuns)
      fail("run", "{} are open: expected one of them to be closed first", runs.size());
    json answer = state_of(*made.run);
    runs[++opened] = std::move(made);
    answer["run"] = opened;
    return answer;
  }

  // The runs of the command line: the same words make the same run, and the same are refused.
  json open(const InputValue& request) {
    std::vector<ConfigRun> asked;
    cli::apply_arguments(asked, texts_of(request, "runs", 1), texts_of(request, "set"), {});
    if (const auto letter = request.find("letter")) {
      std::erase_if(asked, [&](const ConfigRun& run) { return !letter->is(std::string(1, run.letter)); });
      if (asked.empty()) letter->refuse("the letter of one of the runs");
    }
    asked.resize(1);
    RunSpec& spec = asked[0].spec;
    if (const auto size = request.find("size"); size && size->choice(kSizes) == 1) {
      if (const Message why = without_small_size(spec); !why.empty()) fail("size", why);
      spec = at_small_size(std::move(spec));
    }
    const auto steps = request.find("steps"), seed = request.find("seed");
    cli::override_runs(asked, "", steps ? steps->whole(1, kMaxSteps) : 0,
                       seed ? seed->whole64(0, kLastId) : -1);
    const auto task = task_for(spec);
    require_memory(spec, *task, *backend);
    return added({std::make_unique<Run>(spec, task, *backend)});
  }

  json load(const InputValue& request) {
    const std::string path = request.at("path").text(kLongestText);
    return added({Run::load(path, task_for(Run::saved_spec(path)), *backend)});
  }

  // A number that is not finite ends it, and an interruption, which keeps the steps that are done.
  json step(const InputValue& request) {
    HeldRun& one = held(request);
    Run& run = *one.run;
    const auto wanted = request.find("steps");
    const int32_t steps = wanted ? wanted->whole(0, kMaxSteps - run.steps_done()) : 1;
    auto told = std::chrono::steady_clock::now();
    int32_t done = 0;
    for (; done < steps && !run.non_finite() && !caller.interrupted(); ++done) {
      one.last.reset();
      run.step();
      one.stepped = true;
      if (const auto now = std::chrono::steady_clock::now(); now - told >= kBetweenProgress) {
        told = now;
        caller.progress(json{{"id", answering}, {"progress", {{"done", done + 1}, {"of", steps}}}}.dump());
      }
    }
    json answer = state_of(run);
    answer["interrupted"] = done < steps && !run.non_finite();
    return answer;
  }

  /// A copy of the run as it was after `step`, trained again from the nearest keyframe as the Lab's is.
  HeldRun gone_back(const Run& from, int32_t step) const {
    require_memory(from.spec(), from.task(), *backend);
    HeldRun made{from.at(step)};
    for (; made.run->catching_up() && !made.run->non_finite(); made.stepped = true) {
      if (caller.interrupted())
        fail("run", "interrupted on the way to step {}: expected the request again", step);
      made.run->step();
    }
    return made;
  }

  json at(const InputValue& request) {
    const Run& from = *held(request).run;
    return added(gone_back(from, request.at("step").whole(0, from.steps_done())));
  }

  json fork(const InputValue& request) {
    const Run& from = *held(request).run;
    RunSpec wanted = from.spec();
    set_in(wanted, request, require_editable);
    if (wanted.seed != from.spec().seed)
      fail("run.seed", "a fork goes on with the batches of its run: expected the seed {}", from.spec().seed);
    if (wanted.name == from.spec().name) wanted.name.clear();  // a new name says what it is
    require_memory(wanted, from.task(), *backend);
    const int32_t budget = std::exchange(wanted.train.steps, from.spec().train.steps);  // it is no event
    HeldRun made{from.fork(wanted)};
    made.run->set_budget(budget);
    return added(std::move(made));
  }

  json set(const InputValue& request) {
    Run& run = *held(request).run;
    RunSpec wanted = run.spec();
    set_in(wanted, request, [](const std::string& key) {
      if (!is_live(key))
        fail(key, "is part of the network: expected a fork, or a live setting such as train.lr");
    });
    const int32_t budget = std::exchange(wanted.train.steps, run.spec().train.steps);
    run.schedule_edits(edits_between(run.spec(), wanted, run.steps_done() + 1));  // all of them, or none
    run.begin_edits();
    run.set_budget(budget);
    return state_of(run);
  }

  json state(const InputValue& request) { return state_of(*held(request).run); }

  json losses(const InputValue& request) {
    const std::vector<float>& losses = held(request).run->losses();
    return {{"values", numbers_json({losses.size()}, losses)}};
  }

  json names(const InputValue& request) {
    json all = json::array();
    for (const ParameterInfo& one : held(request).run->store().parameters())
      all.push_back({{"name", one.name}, {"shape", shape_of(one.shape)}, {"trainable", one.trainable}});
    return {{"parameters", all}};
  }

  json tape(const InputValue& request) {
    const ProgramData& data = held(request).run->program().data();
    json rows = json::array();
    for (const Node& node : data.nodes) {
      const ValueInfo& out = data.values[static_cast<size_t>(node.out)];
      rows.push_back({{"op", to_string(node.op)}, {"name", out.name}, {"shape", shape_of(out.shape)}});
    }
    return {{"rows", rows}};
  }

  /// The last step again, on a copy that keeps every tensor.
  StepPlayer& last_step(HeldRun& one) const {
    if (one.last) return *one.last;
    const Run& run = *one.run;
    const HeldRun before = gone_back(run, run.steps_done() - 1);
    std::vector<Edit> due;
    std::ranges::copy_if(run.edits(), std::back_inserter(due),
                         [&](const Edit& edit) { return edit.step == run.steps_done(); });
    before.run->schedule_edits(due);
    before.run->begin_edits();
    require_bytes("memory", static_cast<int64_t>(played_bytes(run.spec(), run.task(), *backend)));
    auto player = before.run->play_next();
    player->seek(player->size());
    one.last = std::move(player);
    return *one.last;
  }

  /// A tensor of the last step: from the run's own program where that still has it, or else from last_step().
  json tensor(HeldRun& one, const std::string& name, bool gradient) const {
    Run& run = *one.run;
    const ProgramData& data = run.program().data();
    const ValueInfo& info = data.values[static_cast<size_t>(value_named(data, name))];
    if (info.dtype != DType::F32) fail("value", "{} holds whole numbers: expected one of reals", name);
    const bool changed = std::ranges::any_of(
        run.edits(), [&](const Edit& edit) { return edit.step > run.steps_done() && !is_live(edit.key); });
    if (run.steps_done() == 0 || changed)
      fail("value", "{} is known after a step: expected one to be made first", name);
    std::vector<float> numbers;
    if (one.stepped && guarded("value", [&] { numbers = run.program().read(info.name, gradient); }).empty())
      return numbers_json(shape_of(info.shape), numbers);
    StepPlayer& player = last_step(one);
    const TensorId tensor{value_named(player.data(), name), gradient};
    return numbers_json(shape_of(player.shape(tensor)), player.read(tensor));
  }

  json value(const InputValue& request) {
    HeldRun& one = held(request);
    const std::string name = request.at("name").text(kLongestText);
    const Store& store = one.run->store();
    if (const int32_t parameter = store.find(name); parameter >= 0)
      return numbers_json(shape_of(store.at(parameter).shape), store.read(parameter));
    return tensor(one, name, false);
  }

  json gradient(const InputValue& request) {
    return tensor(held(request), request.at("name").text(kLongestText), true);
  }

  json series(const InputValue& request) {
    const History& history = *held(request).run->history();
    const std::string pattern = request.at("name").text(kLongestPattern);
    for (const auto& [name, read] : {std::pair("loss", &History::loss), std::pair("lr", &History::rate),
                                     std::pair("validation", &History::validation)})
      if (pattern == name) {
        const Series series = (history.*read)();
        return columns_json({name}, series.steps, series.values);
      }
    return frames_json(history, pattern);
  }

  json save(const InputValue& request) {
    const Run& run = *held(request).run;
    run.save(request.at("path").text(kLongestText));
    return state_of(run);
  }

  json close(const InputValue& request) {
    runs.erase(number(request));
    return {{"open", runs.size()}};
  }

  /// Behind it a signal that was meant for an earlier request has come, and ends none of the later ones.
  json sync(const InputValue&) { return {{"open", runs.size()}}; }

  std::shared_ptr<Backend> backend;
  Caller caller;
  std::map<int32_t, HeldRun> runs{};
  int32_t opened = 0;     ///< runs so far
  int64_t answering = 0;  ///< the id of the request under way
};

HeldRuns::HeldRuns(std::shared_ptr<Backend> backend, Caller caller)
    : impl_(new Impl{std::move(backend), std::move(caller)}) {}

HeldRuns::~HeldRuns() = default;

std::string HeldRuns::answer(std::string_view line) noexcept {
  std::string text = R"({"error":"[request] out of memory"})";
  json answer;
  const Message error = guarded("request", [&] {
    if (line.size() > kLongestRequest)
      fail("request", "is longer than {} bytes: expected a shorter line", kLongestRequest);
    const InputValue request = InputValue::parse(line, "request");
    answer["id"] = impl_->answering = request.at("id").whole64(0, kLastId);
    answer.update(impl_->answer(request));
  });
  (void)guarded("request", [&] {
    if (!error.empty()) answer["error"] = on_one_line(error, kLongestError);
    text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  });
  return text;
}

}  // namespace normscope::held
