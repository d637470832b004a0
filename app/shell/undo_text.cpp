// The undo log as JSON text, for the session file. A specification is stored once however many entries refer to
// it, and as what differs from the first one.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "app/shell/undo.h"
#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "training/spec/limits.h"

namespace normscope::shell {

using namespace lab;

namespace {

using Json = nlohmann::json;
using Spec = std::shared_ptr<const RunSpec>;

constexpr size_t kKept = 100;  // newest entries of each direction
constexpr size_t kMostCommands = 1000, kMostSpecs = 10'000, kMostFields = 4096;
constexpr int32_t kMostRuns = 4;
constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
constexpr std::string_view kKinds[] = {"edit",        "spec",  "text",        "budget",      "before reset",
                                       "after reset", "pause", "remove fork", "restore fork"};

class SpecTable {
 public:
  int place(const Spec& spec) {
    const auto [at, fresh] = places_.try_emplace(spec.get(), static_cast<int>(places_.size()));
    if (fresh) list_.push_back(text_of(*spec));
    return at->second;
  }
  const Json& list() const { return list_; }

  // Whole: [[key, value] ...]. The others: {place in that list: value}, where the keys are the same.
  static std::vector<Spec> read(const InputValue& list) {
    std::vector<Spec> specs;
    Pairs first;
    for (const InputValue& item : list.list(0, kMostSpecs)) {
      Pairs pairs = item.is_list() ? pairs_of(item) : changed(first, item);
      if (first.empty()) first = pairs;
      RunSpec spec;
      for (const auto& [key, value] : pairs) set_field(spec, key, value);
      specs.push_back(std::make_shared<const RunSpec>(std::move(spec)));
    }
    return specs;
  }

 private:
  using Pairs = decltype(field_values(RunSpec{}));

  static Pairs pairs_of(const InputValue& list) {
    Pairs pairs;
    for (const InputValue& item : list.list(1, kMostFields)) {
      const auto both = item.list(2, 2);
      pairs.emplace_back(both[0].text(kLongestText), both[1].text(kLongestText));
    }
    return pairs;
  }

  static Pairs changed(Pairs pairs, const InputValue& own) {
    for (const auto& [place, value] : own.members(kMostFields)) {
      const auto at = InputValue::parse(place, "undo log", "place").whole64(0, kMostFields);
      if (static_cast<size_t>(at) >= pairs.size()) value.refuse("a value of one of the first's fields");
      pairs[static_cast<size_t>(at)].second = value.text(kLongestText);
    }
    return pairs;
  }

  Json text_of(const RunSpec& spec) {
    const auto values = field_values(spec);
    if (first_.empty()) first_ = values;
    bool alike = values.size() == first_.size() && !list_.empty();
    for (size_t i = 0; alike && i < values.size(); ++i) alike = values[i].first == first_[i].first;
    Json text = alike ? Json::object() : Json::array();
    for (size_t i = 0; i < values.size(); ++i) {
      if (!alike)
        text.push_back({values[i].first, values[i].second});
      else if (values[i].second != first_[i].second)
        text[std::to_string(i)] = values[i].second;
    }
    return text;
  }

  std::map<const RunSpec*, int> places_;
  Pairs first_;
  Json list_ = Json::array();
};

Json text_of(const Command& command, SpecTable& specs) {
  if (const auto* edit = std::get_if<EditField>(&command)) return {"edit", edit->run, edit->key, edit->value};
  if (const auto* spec = std::get_if<SetSpec>(&command)) return {"spec", spec->run, specs.place(spec->spec)};
  if (const auto* text = std::get_if<LoadText>(&command)) return {"text", text->path};
  if (const auto* budget = std::get_if<SetBudget>(&command)) return {"budget", budget->steps};
  if (const auto* reset = std::get_if<ExchangeReset>(&command))
    return {reset->back ? "before reset" : "after reset"};
  if (std::holds_alternative<Pause>(command)) return {"pause"};
  return {std::holds_alternative<RemoveFork>(command) ? "remove fork" : "restore fork"};
}

Command command_of(const InputValue& text, const std::vector<Spec>& specs) {
  const std::vector<InputValue> parts = text.list(1, 4);
  const size_t kind = parts[0].choice(kKinds);
  const size_t wanted[] = {4, 3, 2, 2, 1, 1, 1, 1, 1};
  static_assert(std::size(wanted) == std::size(kKinds));
  if (parts.size() != wanted[kind]) text.refuse(fmt::format("a list of {}", wanted[kind]));
  const auto run = [&] { return parts[1].whole(-1, kMostRuns - 1); };
  switch (kind) {
    case 0:
      return EditField{run(), std::string(current_key(parts[2].text(kLongestText))),
                       parts[3].text(kLongestText)};
    case 1: {
      const auto last = static_cast<int32_t>(specs.size()) - 1;
      return SetSpec{run(), specs[static_cast<size_t>(parts[2].whole(0, last))]};
    }
    case 2:
      return LoadText{parts[1].text(kLongestText)};
    case 3:
      return SetBudget{parts[1].whole(1, kMostSteps)};
    case 4:
    case 5:
      return ExchangeReset{kind == 4};
    case 6:
      return Pause{};
    case 7:
      return RemoveFork{};
    default:
      return RestoreFork{};
  }
}

Json text_of(const std::vector<Command>& commands, SpecTable& specs) {
  Json list = Json::array();
  for (const Command& command : commands) list.push_back(text_of(command, specs));
  return list;
}

std::vector<Command> commands_of(const InputValue& list, const std::vector<Spec>& specs) {
  std::vector<Command> commands;
  for (const InputValue& text : list.list(0, kMostCommands)) commands.push_back(command_of(text, specs));
  return commands;
}

}  // namespace

std::string UndoLog::to_text() const {
  SpecTable specs;
  const auto newest = [&](const std::vector<Done>& entries) {
    Json list = Json::array();
    size_t from = entries.size() - std::min(entries.size(), kKept);
    for (size_t i = from; i < entries.size(); ++i)
      if (entries[i].replaces) from = i + 1;
    for (size_t i = from; i < entries.size(); ++i) {
      if (entries[i].open()) continue;  // written when the trainer has answered
      list.push_back({{"undo", text_of(entries[i].change.undo, specs)},
                      {"redo", text_of(entries[i].change.redo, specs)},
                      {"before", std::string(1, entries[i].selected_before)},
                      {"after", std::string(1, entries[i].selected_after)}});
    }
    return list;
  };
  Json text;
  text["done"] = newest(done_);
  text["undone"] = newest(undone_);
  text["specs"] = specs.list();
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void UndoLog::from_text(std::string_view text) {
  clear();
  try {
    const InputValue json = InputValue::parse(text, "undo log");
    const std::vector<Spec> specs = SpecTable::read(json.at("specs"));
    const auto read = [&](const InputValue& list, std::vector<Done>& entries) {
      for (const InputValue& item : list.list(0, kKept))
        entries.push_back({{commands_of(item.at("undo"), specs), commands_of(item.at("redo"), specs)},
                           kLetters[item.at("before").choice(kLetters)][0],
                           kLetters[item.at("after").choice(kLetters)][0]});
    };
    read(json.at("done"), done_);
    read(json.at("undone"), undone_);
  } catch (const Error&) {  // of another version, or damaged: the session itself is what counts
    clear();
  }
}

}  // namespace normscope::shell
