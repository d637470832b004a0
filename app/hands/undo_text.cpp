// The undo log as JSON text, for the session file. A specification stands once however many entries speak of
// it, and as what differs from the first one.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "app/hands/undo.h"
#include "engine/core/error.h"

namespace normscope::hands {

using namespace lab;

namespace {

using Json = nlohmann::json;
using Spec = std::shared_ptr<const RunSpec>;

constexpr size_t kKept = 100;  // newest entries of each direction

class SpecTable {
 public:
  int place(const Spec& spec) {
    const auto [at, fresh] = places_.try_emplace(spec.get(), static_cast<int>(places_.size()));
    if (fresh) list_.push_back(text_of(*spec));
    return at->second;
  }
  const Json& list() const { return list_; }

  // Whole: [[key, value] ...]. The others: {place in that list: value}, where the keys are the same.
  static Spec read(const Json& list, size_t place) {
    Json pairs = list.at(0);
    const Json& own = list.at(place);
    if (own.is_array())
      pairs = own;
    else
      for (const auto& [at, value] : own.items()) pairs.at(std::stoul(at)).at(1) = value;
    RunSpec spec;
    for (const Json& pair : pairs)
      set_field(spec, pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
    return std::make_shared<const RunSpec>(std::move(spec));
  }

 private:
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
  decltype(field_values(RunSpec{})) first_;
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

Command command_of(const Json& text, const Json& specs) {
  const std::string kind = text.at(0).get<std::string>();
  if (kind == "edit")
    return EditField{text.at(1).get<int>(), text.at(2).get<std::string>(), text.at(3).get<std::string>()};
  if (kind == "spec") return SetSpec{text.at(1).get<int>(), SpecTable::read(specs, text.at(2).get<size_t>())};
  if (kind == "text") return LoadText{text.at(1).get<std::string>()};
  if (kind == "budget") return SetBudget{text.at(1).get<int>()};
  if (kind == "before reset" || kind == "after reset") return ExchangeReset{kind == "before reset"};
  if (kind == "pause") return Pause{};
  if (kind == "remove fork") return RemoveFork{};
  return RestoreFork{};
}

Json text_of(const std::vector<Command>& commands, SpecTable& specs) {
  Json list = Json::array();
  for (const Command& command : commands) list.push_back(text_of(command, specs));
  return list;
}

std::vector<Command> commands_of(const Json& list, const Json& specs) {
  std::vector<Command> commands;
  for (const Json& text : list) commands.push_back(command_of(text, specs));
  return commands;
}

}  // namespace

std::string UndoLog::to_text() const {
  SpecTable specs;
  const auto newest = [&](const std::vector<Done>& entries) {
    Json list = Json::array();
    size_t from = entries.size() - std::min(entries.size(), kKept);
    for (size_t i = from; i < entries.size(); ++i)
      if (entries[i].swap) from = i + 1;
    for (size_t i = from; i < entries.size(); ++i)
      list.push_back({{"undo", text_of(entries[i].undo, specs)},
                      {"redo", text_of(entries[i].redo, specs)},
                      {"before", std::string(1, entries[i].selected_before)},
                      {"after", std::string(1, entries[i].selected_after)}});
    return list;
  };
  Json text;
  text["done"] = newest(done_), text["undone"] = newest(undone_);
  text["specs"] = specs.list();
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void UndoLog::from_text(std::string_view text) {
  clear();
  try {
    const Json json = Json::parse(text);
    const auto read = [&](const Json& list, std::vector<Done>& entries) {
      for (const Json& item : list)
        entries.push_back({commands_of(item.at("undo"), json.at("specs")),
                           commands_of(item.at("redo"), json.at("specs")),
                           item.at("before").get<std::string>().at(0),
                           item.at("after").get<std::string>().at(0),
                           false,
                           {}});
    };
    read(json.at("done"), done_);
    read(json.at("undone"), undone_);
  } catch (const std::exception&) {  // of another version, or damaged: the session itself is what counts
    clear();
  }
}

}  // namespace normscope::hands
