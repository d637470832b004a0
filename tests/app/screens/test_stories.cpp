// A story is a window that somebody uses, as a file: what is done stands in lines that begin with '>', and below each
// what it changed on the screen, what it asked of the trainer, and every text that overlaps another. The files are
// tests/stories/*.txt and addons/*/tests/stories/*.txt; `make accept` writes what the program of today answers, and
// tests/stories/README.md explains the lines.
#include <sys/stat.h>

#include <algorithm>
#include <regex>

#include "answers.h"
#include "app/files/small_window.h"
#include "app/headless/raster.h"
#include "app/screens/stages.h"
#include "app/support/both_view.h"
#include "app/support/english.h"
#include "app/support/listing.h"
#include "app/support/task_driver.h"
#include "app/support/text_faults.h"
#include "skip.h"
#include "training/files/placement_file.h"

namespace normscope::test_screens {
namespace {

using namespace session;
namespace fs = std::filesystem;

/// A window in a folder of its own: "file a.txt WORDS" writes a file there, as refusals.h has its bytes, "runs a.toml"
/// one of a run, "runs a.toml WORDS" of other runs of its size, "placement a.toml WORDS" a placement of the user's own,
/// which is read; "folder a" makes a folder, "pipe a" a pipe, "open a.txt" opens what was dropped on the window.
template <class Window>
struct InFolder : Window {
  template <class... Given>
  explicit InFolder(Given&&... given) : Window(std::forward<Given>(given)...) {
    fs::current_path(own.path);
  }
  ~InFolder() override {
    fs::current_path(before);
    forget_added_placements();
  }
  bool obey(const std::string& verb, const std::string& rest) override {
    const size_t space = rest.find(' ');
    const std::string name = rest.substr(0, space);
    const std::string words = space == rest.npos ? "" : test::unescaped(rest.substr(space + 1)) + "\n";
    if (verb == "file")
      own.write(name, words);
    else if (verb == "runs")
      own.write(name, test::kTiny + (words.empty() ? "[run]\nname = \"alone\"\n" : words));
    else if (verb == "placement") {
      fs::create_directories(placements_folder());
      test::write_text(placements_folder() + "/" + name, words);
      for (const Message& notice : load_placements(placements_folder())) throw Error(notice);
    } else if (verb == "pipe")
      mkfifo(name.c_str(), 0600);
    else if (verb == "folder")
      fs::create_directories(rest);
    else if (verb == "open")
      shell::begin_opening(this->state.files, this->state.session, rest, false, this->state.notice);
    else
      return Window::obey(verb, rest);
    return true;
  }
  const test::Folder own;
  const test::Variable placements{"NORMSCOPE_PLACEMENTS", own.file("placements")};
  const fs::path before = fs::current_path();
};

/// A screen over a Lab of one run, which stands at step 2.
template <class Window>
struct OverLab : Window {
  OverLab() {
    this->state.session.lab = &lab;
    RunSpec alone = default_comparison()[2];
    test::make_tiny(alone, 2);
    lab.post(ReplaceRuns{{test::with_fields(alone, {{"run.name", "alone"}})}, {}, false});
    lab.post(PlayTo{2});
    rest();
  }
  ~OverLab() override { this->state.session.lab = nullptr; }
  void rest() override {
    this->driver.frames(1);
    lab.wait_idle();
    Window::rest();
  }
  Lab lab{{.threads = 1, .live_text = false}};
};

/// The stages of the core's own stories.
void add_core_stages(std::vector<Stage>& all) {
  all.push_back({"Lab", [] { return std::make_unique<LabDriver>(fixture::lab_view()); }});
  all.push_back(
      {"Lab at step 150", [] { return std::make_unique<LabDriver>(fixture::lab_view({.step = 150})); }});
  all.push_back({"Lab with a fork", [] { return std::make_unique<LabDriver>(fixture::four_runs()); }});
  all.push_back(
      {"Lab of no runs", [] { return std::make_unique<LabDriver>(std::make_shared<const LabView>()); }});
  all.push_back({"Lab at a first start", [] {
                   auto lab = std::make_unique<LabDriver>(fixture::lab_view());
                   lab->state.shell.offers.welcome = lab->state.shell.offers.lesson = true;
                   lab->driver.frames(3);
                   return lab;
                 }});
  all.push_back({"Lab with few plots", [] {
                   auto lab = std::make_unique<LabDriver>(fixture::lab_view());
                   lab->state.screens.lab.few() = true;
                   lab->driver.frames(3);
                   return lab;
                 }});
  all.push_back({"Lab of two stacks", [] {
                   auto lab = std::make_unique<LabDriver>(fixture::both_view());
                   lab->state.switches.clock = true;
                   return lab;
                 }});
  all.push_back({"Lab that trains", [] { return std::make_unique<fixture::LiveDriver>(); }});
  all.push_back({"Lab of six layers that trains", [] { return std::make_unique<fixture::LiveDriver>(6); }});
  all.push_back({"Lab of instant runs", [] {
                   auto lab = std::make_unique<fixture::LiveDriver>();
                   lab->driver.click("transport/speed/instant");
                   lab->settle();
                   lab->ask(SetBudget{40});
                   return lab;
                 }});
  all.push_back({"Lab with files", [] { return std::make_unique<InFolder<fixture::SmallWindow>>(); }});
  all.push_back({"Lab in a folder", [] {
                   return std::make_unique<InFolder<LabDriver>>(
                       std::shared_ptr<const LabView>(fixture::lab_view()));
                 }});
  all.push_back({"Lab of several streams", [] {
                   return std::make_unique<LabDriver>(
                       fixture::trained_view({"hyper", "post", "resi-dual"}, 3, "train.steps", "60", 4));
                 }});
  all.push_back({"Lessons", [] { return std::make_unique<fixture::PlayerDriver>(); }});
  all.push_back({"Lessons with a task", [] { return std::make_unique<fixture::TaskDriver>(); }});
  all.push_back({"Lessons over a Lab", [] { return std::make_unique<OverLab<fixture::PlayerDriver>>(); }});
  all.push_back(
      {"Lessons with a task over a Lab", [] { return std::make_unique<OverLab<fixture::TaskDriver>>(); }});
  all.push_back({"Lessons of tapes", [] { return std::make_unique<fixture::LessonTapes>(); }});
  all.push_back({"Lessons in German", [] {
                   auto lab = std::make_unique<fixture::PlayerDriver>();
                   lab->state.screens.lessons.player = std::make_shared<lesson_player::Player>(
                       course::read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de"),
                       std::make_unique<fixture::RecordedMeasurer>(), "",
                       std::make_unique<fixture::TrainedMeasurer>());
                   lab->open("warm-up", course::StepKind::Predict);
                   return lab;
                 }});
  all.push_back({"Lessons whose effect vanishes with a warm-up", [] {
                   return std::make_unique<fixture::PlayerDriver>("", ui::Vec{1600, 1000}, 1.f,
                                                                  fixture::without_effect);
                 }});
}

std::string letter(const LabView& view, int run) {
  return run < 0 ? "all runs" : std::string(1, view.runs.at(static_cast<size_t>(run)).letter);
}

std::string settings_between(const RunSpec& from, const RunSpec& to) {
  std::string text;
  for (const Edit& edit : edits_between(from, to, 0)) text += fmt::format(" {}={}", edit.key, edit.value);
  return text;
}

/// A screen asks so, and as often as it has to wait for the answer.
bool asked_by_itself(const Command& command) {
  return std::holds_alternative<Inquire>(command) || std::holds_alternative<PlayStep>(command) ||
         std::holds_alternative<Suppose>(command);
}

/// What a command asks for, with what it names.
std::string told(const Command& command, const LabView& view) {
  std::string text = std::visit([](const auto& c) { return std::string(c.doing()); }, command);
  if (const auto* c = std::get_if<EditField>(&command))
    text += fmt::format(": {} of {} = {}", c->key, letter(view, c->run), c->value);
  if (const auto* c = std::get_if<ForkRequest>(&command))
    text += fmt::format(" {}{}{}, {}:{}", letter(view, c->source), c->from_start ? " from its start" : "",
                        c->step < 0 ? "" : fmt::format(" at step {}", c->step), c->note,
                        settings_between(*view.runs.at(static_cast<size_t>(c->source)).spec, c->spec));
  if (const auto* c = std::get_if<ForkFrom>(&command))
    text += fmt::format(" {} at step {}", letter(view, c->run), c->step);
  if (const auto* c = std::get_if<SetBudget>(&command)) text += fmt::format(" of {} steps", c->steps);
  if (const auto* c = std::get_if<SetSpeed>(&command))
    text += fmt::format(" of {:g} steps a second", c->steps_per_second);
  if (const auto* c = std::get_if<Reset>(&command)) text += c->new_seed ? " with another seed" : "";
  if (const auto* c = std::get_if<ReplaceRuns>(&command))
    for (const RunSpec& run : c->runs) text += "\n        " + default_name(run);
  return text;
}

/// Reads "0.4" and the like; `otherwise` where there is no word.
float number(std::istream& words, float otherwise) {
  float value = otherwise;
  return words >> value ? value : otherwise;
}

/// A window while its story is told.
class Telling {
 public:
  /// `losses` numbers the histories of a file's runs, so that the same losses have one number.
  Telling(const Stage& stage, std::map<std::vector<float>, size_t>& losses)
      : lab_(stage.make()), losses_(losses), first_(lab_->state.session.view) {
    before_ = lines();
    focus_ = lab_->ui.focused();
  }

  /// Does what a line without '>' says: it tells what the story is about, or asks what is to be seen.
  std::string prepare(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    if (verb == "show") return fixture::controls_with_help(lab_->ui, rest);
    if (verb == "read") {
      const ui::Vec size = lab_->ui.size();
      return fixture::page_of(
          lab_->ui, rest.empty() ? ui::Rect{0, 0, size.x, size.y} : lab_->driver.control(rest).rect);
    }
    if (verb == "print") {  // a configuration from its runs on
      const std::string text = test::read_all(rest);
      const size_t runs = text.find("[run.");
      return text.substr(text.starts_with("# normscope") && runs != text.npos ? runs : 0);
    }
    if (verb == "state") return state();
    if (verb == "asked") return asked();
    if (verb == "yellow") return yellow();
    if (verb == "whole") {
      std::string faults;
      for (const std::string& fault : fixture::text_faults(lab_->ui)) faults += "FAULT " + fault + "\n";
      return faults;
    }
    if (verb == "of") {
      std::istringstream names(rest);
      of_.assign(std::istream_iterator<std::string>(names), {});
    } else if (verb == "language") {
      spoken_.emplace(rest.c_str());
    } else if (verb == "set") {
      set(rest);
    } else {
      act(verb, rest);
    }
    lab_->driver.move_to(ui::Vec{2, 2});
    lab_->rest();
    before_ = lines();
    focus_ = lab_->ui.focused();
    return "";
  }

  /// Does something; returns what came of it.
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    act(verb, rest);
    return happened();
  }

 private:
  std::vector<std::string> lines() const { return fixture::lines_of(lab_->ui, of_); }

  /// The steps of the session and of each run, where it was forked, what is set in it that was not when the story
  /// began, and its edits.
  std::string state() {
    const LabView& view = *lab_->state.session.view;
    std::string text = fmt::format("step {} of {}{}{}{}{}", view.step, view.budget,
                                   view.playing ? ", playing" : "", view.instant ? ", instant" : "",
                                   view.can_undo ? ", undo" : "", view.can_redo ? ", redo" : "");
    for (const int step : lab_->state.screens.lab.transport().bookmarks)
      text += fmt::format(", bookmark {}", step);
    text += "\n";
    if (!view.message.empty()) text += "says: " + std::string(view.message) + "\n";
    for (const RunView& run : view.runs) {
      const int before = view::find_run(*first_, run.letter);
      const RunView& then = before >= 0            ? first_->runs[static_cast<size_t>(before)]
                            : run.forked_from >= 0 ? view.runs[static_cast<size_t>(run.forked_from)]
                                                   : view.runs.front();
      text += fmt::format("{} {}: step {}", run.letter, run.name, run.step);
      if (const std::vector<float>& all = run.history->loss().values; !all.empty())
        text += fmt::format(", losses {}", losses_.try_emplace(all, losses_.size() + 1).first->second);
      if (run.spread) text += fmt::format(", {} other seeds", run.spread->seeds);
      if (run.forked_from >= 0)
        text +=
            fmt::format(", from {} at {}, {}", letter(view, run.forked_from), run.fork_step, run.fork_note);
      text += settings_between(*then.spec, *run.spec);
      for (const Edit& edit : run.edits) text += fmt::format("; {} {}={}", edit.step, edit.key, edit.value);
      text += "\n";
    }
    return text;
  }

  /// What a hand that hovers asks for.
  std::string asked() {
    const LabView& view = *lab_->state.session.view;
    std::string text;
    for (const LabView::Supposition& supposed : view.supposed)
      text += "a run:" + settings_between(*view.runs.front().spec, *supposed.spec) + "\n";
    return text;
  }

  /// The yellow ones of the buttons that are followed, read from their pixels left of their words.
  std::string yellow() {
    lab_->driver.move_to(ui::Vec{2, 2});
    lab_->rest();
    const ui::Theme& theme = lab_->ui.theme();
    const headless::Image image = headless::rasterise(*lab_->loop.draw_data(), theme.bg.packed());
    std::string text;
    for (const ui::Control& button : lab_->ui.registry().all())
      if (std::ranges::any_of(of_, [&](const std::string& name) { return button.name.starts_with(name); }) &&
          image.at(static_cast<int>(button.rect.x + 4), static_cast<int>(button.rect.centre().y)) ==
              theme.accent.packed())
        text += button.name + "\n";
    return text.empty() ? "none\n" : text;
  }

  /// "train.lr 0.01" gives all runs another setting, "train.lr 0.01 B" one of them.
  void set(const std::string& rest) {
    std::istringstream words(rest);
    std::string key, value, letter;
    words >> key >> value >> letter;
    auto view = std::make_shared<LabView>(*lab_->state.session.view);
    for (RunView& run : view->runs) {
      if (!letter.empty() && letter[0] != run.letter) continue;
      RunSpec spec = test::with_fields(*run.spec, {{key, value}});
      run.spec = std::make_shared<const RunSpec>(spec);
    }
    lab_->state.session.view = view;
  }

  void act(const std::string& verb, const std::string& rest) {
    headless::UiDriver& driver = lab_->driver;
    std::istringstream words(rest);
    std::string name;
    const auto next = [&] {
      if (!(words >> name)) throw Error("'" + verb + "' lacks a name");
      return name;
    };
    if (verb == "size") {
      const float width = number(words, 1600), height = number(words, 1000);
      lab_->loop.resize({width, height});
    } else if (verb == "scale") {
      lab_->state.look.scale = number(words, 1);
    } else if (verb == "cursor") {
      lab_->state.screens.lab.transport().pinned_step = static_cast<int>(number(words, 0));
    } else if (verb == "clock") {  // figures that depend on the machine are shown
      lab_->state.switches.clock = true;
    } else if (verb == "edit") {  // somebody sets a setting, of all runs or of one
      const std::string key = next(), value = next();
      const int run = words >> name ? view::find_run(*lab_->state.session.view, name[0]) : -1;
      lab_->state.session.asked.emplace_back(session::EditField{run, key, value});
    } else if (verb == "says" || verb == "refuses") {  // the trainer, of something else or in answer
      auto view = std::make_shared<LabView>(*lab_->state.session.view);
      const size_t colon = rest.find(": ");
      view->version += 20;
      view->message = {"[{}] {}", rest.substr(0, colon), rest.substr(colon + 2)};
      if (verb == "refuses") view->answered = lab_->state.session.last_ticket;
      lab_->state.session.view = view;
    } else if (verb == "focus") {
      lab_->ui.focus(next());
    } else if (verb == "find") {
      fixture::run_by_name(*lab_, rest);
    } else if (verb == "poke") {  // a click at a place of a control, which may be greyed
      const std::string at = next();
      const float x = number(words, 0.5f), y = number(words, 0.5f);
      driver.click(at, {x, y});
    } else if (verb == "pull") {  // a drag by px, from a place of a control
      const std::string from = next();
      const float dx = number(words, 0), dy = number(words, 0), x = number(words, 0.5f),
                  y = number(words, 0.5f);
      driver.drag_by(from, {dx, dy}, "", 6, {x, y});
    } else if (!lab_->obey(verb, rest)) {
      driver.script(verb + " " + rest);
    }
    lab_->rest();
  }

  /// What has changed since the last line.
  std::string happened() {
    std::vector<std::string> now = lines();
    std::string text = fixture::changes(before_, now);
    before_ = std::move(now);
    for (; commands_ < lab_->log.size(); ++commands_)
      if (!asked_by_itself(lab_->log[commands_]))
        text += "asks: " + told(lab_->log[commands_], *lab_->state.session.view) + "\n";
    for (; saved_ < lab_->saved.size(); ++saved_)
      text += "saves: " + lab_->saved[saved_].plots->front().id + "\n";
    if (lab_->ui.focused() != focus_)
      text += "focus: " + ((focus_ = lab_->ui.focused()).empty() ? "none" : focus_) + "\n";
    if (lab_->state.shell.clipboard != clipboard_)
      text += "copied:\n" + (clipboard_ = lab_->state.shell.clipboard) + "\n";
    for (const std::string& fault : fixture::overlaps(lab_->ui)) text += "FAULT " + fault + "\n";
    for (const std::string& name : lab_->ui.registry().duplicates()) text += "FAULT twice: " + name + "\n";
    static const std::pair<std::regex, const char*> kPlaces[] = {
        {std::regex("/\\S*/normscope-test-\\d+-\\d+/"), "FOLDER/"},
        {std::regex("/\\S*/normscope_app_tests"), "normscope"},
        {std::regex(NORMSCOPE_SOURCE_DIR), "SOURCE"}};
    for (const auto& [place, word] : kPlaces) text = std::regex_replace(text, place, word);
    return text;
  }

  std::optional<fixture::Spoken> spoken_;
  std::unique_ptr<LabDriver> lab_;
  std::map<std::vector<float>, size_t>& losses_;
  std::shared_ptr<const LabView> first_;
  std::vector<std::string> of_{"|"}, before_;
  size_t commands_ = 0, saved_ = 0;
  std::string focus_, clipboard_;
};

const Stage& stage_of(const std::vector<Stage>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Stage::name);
  if (found != all.end()) return *found;
  std::string names;
  for (const Stage& stage : all) names += " " + stage.name + ",";
  throw Error("no stage is called '" + name + "':" + names);
}

/// The text of a file of stories with what the program answers to it today.
std::string told_again(const std::string& file, const std::vector<Stage>& stages) {
  std::optional<Telling> telling;
  std::map<std::vector<float>, size_t> losses;
  return test::answered(file, [&](const std::string& line) -> std::string {
    try {
      if (line.starts_with("stage "))
        telling.emplace(stage_of(stages, line.substr(6)), losses);
      else if (!telling)
        throw Error("a story begins with 'stage NAME'");
      else
        return line.starts_with("> ") ? telling->obey(line.substr(2)) : telling->prepare(line);
    } catch (const std::exception& error) {
      return "FAULT " + line + ": " + error.what();
    }
    return "";
  });
}

/// The stories of the core and of the chosen add-ons.
std::vector<fs::path> story_files() {
  std::vector<fs::path> files;
  std::vector<std::string> folders = test::addon_folders();
  folders.emplace_back(".");
  for (const std::string& folder : folders) {
    const fs::path place = fs::path(NORMSCOPE_SOURCE_DIR) / folder / "tests/stories";
    if (!fs::is_directory(place)) continue;
    for (const auto& entry : fs::directory_iterator(place))
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST_CASE("stories: every screen answers as its stories tell", "[listing]") {
  if (!NORMSCOPE_EVERY_ADDON) SKIP_CASE("an add-on is left out, whose words stand in other screens too");
  std::vector<Stage> stages = all_stages();
  add_core_stages(stages);
  const char* only = std::getenv("NORMSCOPE_STORY");  // one file, while somebody works on it
  for (const fs::path& file : story_files()) {
    if (only && file.stem() != only) continue;
    INFO(file);
    const std::string text = told_again(test::read_all(file), stages);
    test::check_file(file.string(), text);
    if (const size_t fault = text.find("\n    FAULT "); fault != text.npos)
      FAIL_CHECK(text.substr(fault + 5, text.find('\n', fault + 5) - fault - 5));
  }
}

}  // namespace normscope::test_screens
