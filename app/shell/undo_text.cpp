// The undo log becomes JSON for the session file. A specification is stored once however many entries refer to it, and
// as what differs from the first one.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/shell/undo.h"
#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/kept_spec.h"
#include "training/spec/limits.h"

namespace normscope::shell {

using namespace session;

namespace {

using codec::Json;
using Spec = std::shared_ptr<const RunSpec>;

constexpr size_t kKept = 100;  // newest entries of each direction
constexpr size_t kMostCommands = 1000, kMostSpecs = 10'000;

// Has the specifications that commands name by their place in a list. The first is whole: [[key, value]
// ...]. Others with the same keys are {place in that list: value}.
class SpecTable {
 public:
  int place(const Spec& spec) {
    const auto [at, fresh] = places_.try_emplace(spec.get(), static_cast<int>(places_.size()));
    if (fresh) list_.push_back(json_of(*spec));
    return at->second;
  }
  const Json& list() const { return list_; }

  void read(const InputValue& list) {
    for (const InputValue& item : list.list(0, kMostSpecs)) {
      Settings settings = first_;
      if (item.is_list())
        kSettings.read(item, settings);
      else
        change(settings, item);
      if (first_.empty()) first_ = settings;
      RunSpec spec;
      for (const auto& [key, value] : settings) set_field(spec, key, value);
      specs_.push_back(std::make_shared<const RunSpec>(std::move(spec)));
    }
  }
  const Spec& at(const InputValue& place) const {
    return specs_[static_cast<size_t>(place.whole(0, static_cast<int32_t>(specs_.size()) - 1))];
  }

 private:
  using Settings = decltype(field_values(RunSpec{}));
  static constexpr codec::List kSettings{1, kMostFields, kSetting};

  static void change(Settings& settings, const InputValue& own) {
    for (const auto& [place, value] : own.members(kMostFields)) {
      const auto at = InputValue::parse(place, "undo log", "place").whole64(0, kMostFields);
      if (static_cast<size_t>(at) >= settings.size()) value.refuse("a value of one of the first's fields");
      settings[static_cast<size_t>(at)].second = value.text(kLongestText);
    }
  }

  Json json_of(const RunSpec& spec) {
    const Settings values = field_values(spec);
    const bool alike = std::equal(values.begin(), values.end(), first_.begin(), first_.end(),
                                  [](const auto& a, const auto& b) { return a.first == b.first; });
    if (first_.empty()) first_ = values;
    if (!alike) return kSettings.write(values);
    Json changed = Json::object();
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i].second != first_[i].second) changed[std::to_string(i)] = values[i].second;
    return changed;
  }

  std::map<const RunSpec*, int> places_;
  Settings first_;
  Json list_ = Json::array();
  std::vector<Spec> specs_;
};

struct SpecPlace {
  SpecTable& specs;
  Json write(const Spec& spec) const { return specs.place(spec); }
  void read(const InputValue& json, Spec& spec) const { spec = specs.at(json); }
};

// `kCommandWords` name the commands that take back or repeat.
constexpr std::string_view kCommandWords[] = {
    "edit", "spec", "text", "budget", "before reset", "after reset", "pause", "remove fork", "restore fork"};
constexpr size_t kFields[] = {3, 3, 1, 1, 0, 0, 0, 0, 0};
static_assert(std::size(kFields) == std::size(kCommandWords));

const std::vector<Command>& kinds() {
  static const std::vector<Command> all{EditField{}, SetSpec{},           LoadText{},
                                        SetBudget{}, ExchangeReset{true}, ExchangeReset{false},
                                        Pause{},     RemoveFork{},        RestoreFork{}};
  return all;
}

size_t kind_of(const Command& command) {
  const auto* reset = std::get_if<ExchangeReset>(&command);
  size_t kind = 0;
  while (kind + 1 < kinds().size() && kinds()[kind].index() != command.index()) ++kind;
  return reset && !reset->back ? kind + 1 : kind;
}

// A list of a command's word and its fields.
struct CommandRow {
  SpecTable& specs;

  void fields(auto& io, auto& command) const {
    constexpr codec::Whole kRun{-1, 3};
    constexpr codec::Text kText{kLongestText};
    std::visit(
        [&](auto& c) {
          using Kind = std::remove_cvref_t<decltype(c)>;
          if constexpr (std::is_same_v<Kind, EditField>) {
            io("run", c.run, kRun);
            io("key", c.key, SettingKey{});
            io("value", c.value, kText);
          } else if constexpr (std::is_same_v<Kind, SetSpec>) {
            io("run", c.run, kRun);
            io("spec", c.spec, SpecPlace{specs});
            io("edits", c.edits, codec::Whole{-1, kMostSteps});
          } else if constexpr (std::is_same_v<Kind, LoadText>) {
            io("path", c.path, kText);
          } else if constexpr (std::is_same_v<Kind, SetBudget>) {
            io("steps", c.steps, codec::Whole{1, kMostSteps});
          }
        },
        command);
  }

  Json write(const Command& command) const {
    Json list = Json::array({kCommandWords[kind_of(command)]});
    codec::Writer writer(list);
    fields(writer, command);
    return list;
  }
  void read(const InputValue& json, Command& command) const {
    const size_t kind = json.list(1, 4)[0].choice(kCommandWords);
    command = kinds()[kind];
    codec::Reader reader(json, 1 + kFields[kind], 1);
    fields(reader, command);
  }
};

auto entries_rule(SpecTable& specs) {
  return codec::List{0, kKept, codec::Object{[&specs](auto& io, auto& done) {
                       const codec::List commands{0, kMostCommands, CommandRow{specs}};
                       io("undo", done.change.undo, commands);
                       io("redo", done.change.redo, commands);
                       io("before", done.selected_before, codec::Words{kLetters});
                       io("after", done.selected_after, codec::Words{kLetters});
                     }}};
}

}  // namespace

codec::Json UndoLog::to_json() const {
  SpecTable specs;
  const auto newest = [&](const std::vector<Done>& entries) {
    std::vector<Done> kept;
    for (size_t i = entries.size() - std::min(entries.size(), kKept); i < entries.size(); ++i) {
      if (entries[i].replaces)
        kept.clear();
      else if (!entries[i].open())  // written when the trainer has answered
        kept.push_back({entries[i].change, entries[i].selected_before, entries[i].selected_after});
    }
    return entries_rule(specs).write(kept);
  };
  Json json = {{"done", newest(done_)}, {"undone", newest(undone_)}};
  json["specs"] = specs.list();
  return json;
}

void UndoLog::restore(const InputValue& json) {
  clear();
  try {
    SpecTable specs;
    specs.read(json.at("specs"));
    entries_rule(specs).read(json.at("done"), done_);
    entries_rule(specs).read(json.at("undone"), undone_);
  } catch (const Error&) {  // of another version, or damaged: the session itself is what counts
    clear();
  }
}

}  // namespace normscope::shell
