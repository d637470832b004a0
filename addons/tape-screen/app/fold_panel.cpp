// The left panel of the Tape screen: the list of the fold and its mouse, the play head on its
// track, the foot of the panel, and the menu. FoldPicture paints the rows.
#include <imgui.h>

#include <algorithm>

#include "addons/tape-screen/app/tape_screen.h"
#include "addons/tape-screen/app/tape_writers.h"
#include "app/ui/widgets.h"

namespace normscope::tape_screen {
using namespace ui;
namespace {

constexpr float kHeads = 24, kFold = 36;

/// The scale at which the longest bar of the closed list fills its column.
float px_per_second(const Fold& fold, float left, float right) {
  double forward = 0, backward = fold.updates.seconds;
  std::vector<bool> inside(fold.lines.size());
  for (const FoldGroup& group : fold.groups) {
    if (group.depth > 0) continue;
    forward = std::max(forward, group.forward.seconds);
    backward = std::max(backward, group.backward.seconds);
    std::fill(inside.begin() + static_cast<std::ptrdiff_t>(group.first),
              inside.begin() + static_cast<std::ptrdiff_t>(group.end), true);
  }
  for (size_t i = 0; i < fold.lines.size(); ++i) {
    if (inside[i]) continue;
    forward = std::max(forward, fold.lines[i].forward.seconds);
    backward = std::max(backward, fold.lines[i].backward.seconds);
  }
  const float most = static_cast<float>(std::max(forward, 1e-9)),
              other = static_cast<float>(std::max(backward, 1e-9));
  return std::min(left / most, right / other);
}

constexpr const char *kMenu = "tape/fold/menu", *kChanges = "tape/changes";
constexpr float kLine = 19;

const char* sign_of(ChangeKind kind) {
  return kind == ChangeKind::Came ? "+" : kind == ChangeKind::Went ? "−" : "≠";
}

}  // namespace

/// Draws the tiles of the Lab's runs and returns their left end. A press plays that run's newest step.
float TapeScreen::draw_run_tiles(Ui& ui, const Rect& row, const LabView& view) {
  float x = row.right();
  for (size_t i = view.runs.size(); i-- > 0;) {
    const RunView& run = view.runs[i];
    x -= 30;
    if (tile_button(
            ui, fmt::format("tape/run/{}", run.letter), {x + 3, row.centre().y - 12, 24, 24},
            run.letter - 'A', run.letter == run_,
            tr("The next step of run {run} as the engine executes it, on a copy.", {{"run", run.letter}})))
      ask_step(view, run.letter);
  }
  return x;
}

void TapeScreen::draw_nothing(Ui& ui, const Rect& rect, const LabView& view) {
  Rect rest = panel(ui, rect, {.title = tr("One training step"), .term = "tape"});
  const Rect middle = centred(rest.centre(), 300, 100);
  const bool runs = !view.runs.empty();
  const std::string words = !state_->error.empty()     ? state_->error
                            : waits_ || worker_.busy() ? tr("The step is being copied.")
                            : runs ? tr("No step yet. A copy of one is played; the run does not notice.")
                                   : tr("No run yet: the Lab (1) has them.");
  ui.mark("tape/nothing", middle, words, tr("What there is to do first."));
  ui.paint().text_wrapped({middle.x, middle.y, middle.w, 60}, {Face::Sans, type::body}, ui.theme().ink2,
                          words, 17);
  if (!runs) return;
  if (button(ui, "tape/once", {middle.x, middle.y + 62, 140, 34}, tr("Play one step"),
             tr("Copies the next step of the run and plays it one instruction at a time."),
             {.enabled = !busy(), .primary = true}))
    ask_step(view, run_);
  draw_run_tiles(ui, {middle.x + 150, middle.y + 62, 150, 34}, view);
}

void TapeScreen::scroll(Ui& ui, FoldPicture& fit) {
  const auto room = static_cast<size_t>(std::max(1.f, std::floor(fit.list.h / fit.at.row)));
  const size_t most = rows_.size() > room ? rows_.size() - room : 0;
  if (fit.list.contains(ui.mouse())) {
    const long turned = std::lround(ImGui::GetIO().MouseWheel * 3);
    const long first = std::clamp<long>(static_cast<long>(scroll_) - turned, 0, static_cast<long>(most));
    scroll_ = static_cast<size_t>(first);
  }
  const std::optional<size_t> row = row_of(rows_, *facts_, head_);
  if (reveal_head_ && row) {
    if (*row < scroll_ + 1) scroll_ = *row > 0 ? *row - 1 : 0;
    if (*row + 1 >= scroll_ + room) scroll_ = *row + 2 > room ? *row + 2 - room : 0;
    reveal_head_ = false;
  }
  scroll_ = std::min(scroll_, most);
  fit.first = scroll_;
  fit.end = std::min(rows_.size(), scroll_ + room);
  if (most == 0) return;
  const float share = static_cast<float>(room) / static_cast<float>(rows_.size());
  const float from = static_cast<float>(scroll_) / static_cast<float>(rows_.size());
  ui.paint().fill({fit.panel.right() - 7, fit.list.y + from * fit.list.h, 3, share * fit.list.h},
                  ui.theme().control, 1.5f);
}

void TapeScreen::draw_fold(Ui& ui, const Rect& rect, const LabView& view, bool clock) {
  if (!facts_) return draw_nothing(ui, rect, view);
  const bool wide = size_ != Size::Compact;
  const StepFacts& facts = *facts_;
  PanelOptions options{.title = tr("One training step"), .term = "tape"};
  options.brief = tr("run {run}, step {step}", {{"run", facts.letter}, {"step", facts.step}});
  options.question = tr(facts.timed && clock ? "run {run} at step {step}, loss {loss}; one thread"
                                             : "run {run} at step {step}, loss {loss}",
                        {{"run", facts.letter}, {"step", facts.step}, {"loss", number(facts.loss, 3)}});
  options.right =
      30.f * static_cast<float>(view.runs.size()) + 100 + (facts.change_from.empty() ? 0.f : 112.f);
  if (wide) options.sentence = state_->error.empty() ? fold_sentence(facts) : state_->error;
  const Rect content = panel(ui, rect, options);
  if (wide)
    ui.mark("tape/sentence", {content.x, rect.y + 30, content.w, 18}, options.sentence,
            state_->error.empty() ? tr("What this one step shows; another step may differ.")
                                  : tr("Why the last request has no result."));
  Rect row{content.x, rect.y, content.w, space::title_row};
  draw_menu(ui, row.take_right(24, 6));
  ButtonOptions small{.selected = follow_, .style = {Face::Sans, type::body}};
  const Rect place = row.take_right(58, 6);
  if (button(ui, "tape/follow", centred(place.centre(), 58, 24), tr("Follow"),
             tr("Takes the newest step again and again while the run trains; it does not notice."), small))
    follow_ = !follow_;
  row.w = draw_run_tiles(ui, row, view) - row.x;
  if (!facts.change_from.empty()) draw_changes(ui, centred({row.right() - 56, row.centre().y}, 104, 24));

  FoldPicture fit{facts, rows_};
  fit.wide = wide;
  fit.clock = clock;
  fit.panel = rect;
  fit.at = wide ? kWideFold : kNarrowFold;
  fit.px_per_second = px_per_second(facts.fold, fit.at.left_room, fit.at.right_room);
  Rect rest{rect.x, content.y, rect.w, content.h};
  const float foot = wide ? 84.f : facts.broken || !state_->error.empty() ? 26.f : 0.f;
  draw_foot(ui, rest.take_bottom(foot).inset(space::pad, 0), clock);
  rest.take_bottom(kFold);
  Rect heads = rest.take_top(kHeads);
  fit.list = rest;
  scroll(ui, fit);
  fit.list.h = static_cast<float>(fit.end - fit.first) * fit.at.row;
  fit.paint_headings(ui.paint(), ui.theme(), heads.centre().y + 4);
  draw_list(ui, fit);
}

void TapeScreen::draw_list(Ui& ui, const FoldPicture& fit) {
  ui.hit("tape/fold", fit.list, tr("{count} row | {count} rows", {{"count", rows_.size()}}),
         tr("Forward runs down, backward up; an op and its gradient stand on one line. Left and "
            "Right take one instruction, Up and Down go along the list, O to the other side, Enter "
            "opens a layer."),
         {.overlap = true, .tooltip = false});
  for (size_t row = fit.first; row < fit.end; ++row) hold_row(ui, fit, row);
  fit.paint(ui.paint(), ui.theme());
  if (fit.folds())
    ui.mark("tape/turn", fit.turn(), fit.turn_words(), tr("Where forward ends and backward begins (F)."));
  draw_linked(ui, fit);
  draw_head(ui, fit);
}

/// Marks the rows that write or read the buffer under the mouse.
void TapeScreen::draw_linked(Ui& ui, const FoldPicture& fit) {
  const Buffer* const buffer = memory_.hovered(*facts_);
  if (!buffer) return;
  std::vector<bool> linked(rows_.size());
  for (const std::vector<int32_t>* list : {&buffer->writers, &buffer->readers})
    for (int32_t instruction : *list)
      if (const auto row = row_of(rows_, *facts_, static_cast<size_t>(instruction))) linked[*row] = true;
  for (size_t row = fit.first; row < fit.end; ++row)
    if (linked[row])
      ui.paint().outline({fit.panel.x + fit.at.name - 6, fit.y(row) - fit.at.row / 2 + 2,
                          fit.at.bytes_right - fit.at.name + 12, fit.at.row - 4},
                         ui.theme().ink, line::outline, 6);
}

/// Puts the head on the pressed side, or with a press on the name opens or closes a group in place.
void TapeScreen::hold_row(Ui& ui, const FoldPicture& fit, size_t row) {
  const FoldRow& at = rows_[row];
  const float y = fit.y(row) - fit.at.row / 2;
  const Rect rect{fit.panel.x + 6, y, fit.panel.w - 18, fit.at.row};
  const std::optional<size_t> here = row_of(rows_, *facts_, head_);
  if (here == row) ui.paint().fill(rect.inset(0, 1), ui.theme().dark ? ui.theme().field : ui.theme().sunk, 6);
  HitOptions options{.focusable = false, .overlap = true, .tooltip = false};
  const Hit hit = ui.hit("tape/row/" + at.name, rect, at.label,
                         tr("Left: its forward instruction. Right: its gradient."), options);
  const bool opens = at.kind == RowKind::Layer || at.kind == RowKind::Sublayer;
  if (opens || !at.opens_with.empty()) {
    HitOptions inner = options;
    inner.overlap = false;
    const float x = fit.panel.x + fit.at.name + (at.kind == RowKind::Layer ? 0.f : opens ? 12.f : -4.f);
    const std::string name = opens ? at.name : at.opens_with;
    const float width = opens ? 110.f : 18.f;
    if (ui.hit("tape/open/" + name, {x, y, width, fit.at.row},
               opens && !at.open ? tr("closed") : tr("open##fold"),
               tr("Opens and closes (Enter, at the head)."), inner)
            .clicked)
      return open_row(at);
  }
  if (!hit.clicked) return;
  const float x = ui.mouse().x;
  const bool forward = x < fit.left() + 12 || (x < fit.right() - 12 && is_forward(facts_->program, head_));
  const int32_t there = forward ? at.forward.instruction : at.backward.instruction;
  const int32_t other = forward ? at.backward.instruction : at.forward.instruction;
  if (there >= 0 || other >= 0) go(static_cast<size_t>(there >= 0 ? there : other));
  reveal_head_ = false;
}

void TapeScreen::draw_head(Ui& ui, const FoldPicture& fit) {
  const std::optional<size_t> row = row_of(rows_, *facts_, head_);
  if (!row || *row < fit.first || *row >= fit.end) return;
  const bool forward = is_forward(facts_->program, head_);
  const Vec at{forward ? fit.left() : fit.right(), fit.y(*row)};
  if (facts_->broken && facts_->broken->instruction == head_)
    ui.paint().dashed_outline({fit.panel.x + 6, at.y - fit.at.row / 2, fit.panel.w - 18, fit.at.row},
                              ui.theme().error, 1.2f, {4, 3}, 6);
  const Hit hit =
      ui.hit("tape/head", centred(at, 24, 24), fmt::format("{}", head_),
             tr("The play head. Drag it, or Left and Right: one instruction in order of execution."),
             {.focusable = false});
  ui.paint().accent_disc(ui.theme(), at, hit.held || hit.hovered ? 9.f : 8.f);
  if (!hit.held) return;
  const Vec mouse = ui.mouse();
  const bool left = mouse.x < (fit.left() + fit.right()) / 2;
  const float rows = (mouse.y - fit.list.y) / fit.at.row;
  const auto over = std::clamp<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(std::floor(rows)) + static_cast<std::ptrdiff_t>(fit.first), 0,
      static_cast<std::ptrdiff_t>(rows_.size()) - 1);
  const FoldRow& target = rows_[static_cast<size_t>(over)];
  if (target.kind == RowKind::Layer && target.open) return;
  const int32_t there = left ? target.forward.instruction : target.backward.instruction;
  if (there >= 0) go(static_cast<size_t>(there));
}

void TapeScreen::draw_finite(Ui& ui, const Rect& line) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (!state_->error.empty() && size_ == Size::Compact) {  // otherwise the error is shown above
    ui.mark("tape/error", line, state_->error, tr("Why the last request has no result."));
    p.text_in(line, {Face::Sans, type::body}, t.ink, state_->error);
    return;
  }
  if (!facts_->broken) {
    const std::string words = tr("✓ Every number of this step is finite.");
    ui.mark("tape/finite", line, words, tr("All that the step wrote was looked at."));
    const float w = p.text_in(line, {Face::Bold, type::body}, t.ink, words);
    const std::string more = tr("The first that is not would be named here, and the head would go there.");
    const TextStyle style{Face::Sans, type::body};
    if (w + 12 + p.text_width(style, more) <= line.w)
      p.text_in({line.x + w + 10, line.y, line.w, line.h}, style, t.ink3, more);
    return;
  }
  std::string words = tr("first not finite: {tensor}, instruction {instruction}",
                         {{"tensor", facts_->broken_tensor}, {"instruction", facts_->broken->instruction}});
  const TextStyle style{Face::Bold, type::body};
  if (p.text_width(style, words) + 40 > line.w)
    words = tr("first not finite: instruction {instruction}", {{"instruction", facts_->broken->instruction}});
  const float w = p.text_width(style, words) + 24;
  HitOptions options;
  const Rect place{line.x, line.y + 1, w, line.h - 2};
  if (ui.hit("tape/finite", place, words, tr("The head goes there (N)."), options).clicked) to_broken();
  p.fill(place, t.error, 5);
  p.text_in(place.inset(12, 0), style, t.panel, words);
}

void TapeScreen::draw_foot(Ui& ui, Rect foot, bool clock) {
  if (foot.h < 10) return;
  if (size_ == Size::Compact) return draw_finite(ui, foot.take_top(22));
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Fold& fold = facts_->fold;
  p.hairline({foot.x, foot.y}, {foot.right(), foot.y}, t.border);
  foot.take_top(6);
  Rect line = foot.take_top(22);
  const TextStyle figure{Face::MonoMedium, type::body}, word{Face::Sans, type::body};
  if (facts_->timed && clock) {
    const std::array<std::pair<double, std::string>, 3> sums{
        std::pair{fold.forward.seconds, tr("ms forward")},
        std::pair{fold.backward.seconds, tr("ms backward")},
        std::pair{fold.updates.seconds, tr("ms update")}};
    for (const auto& [seconds, what] : sums) {
      line.take_left(p.text_in(line, figure, t.ink, ui::significant(1e3 * seconds, 3)) + 5);
      line.take_left(p.text_in(line, word, t.ink2, what) + 22);
    }
  } else if (clock) {  // until then the columns of times are empty
    line.take_left(
        p.text_in(line, word, t.ink2, tr("The times are being measured, each instruction alone.")) + 22);
  }
  p.text_in(line, word, t.ink3, tr("{count} probes are not listed", {{"count", fold.probes}}));
  line = foot.take_top(22);
  const bool roof = facts_->timed && clock && facts_->roof.flops > 0;
  if (roof) {
    p.fill({line.x, line.centre().y - 5, 48, 10}, t.trough, 1);
    p.fill({line.x, line.centre().y - 5, 24, 10}, t.ink2, 1);
    line.take_left(56);
  }
  const std::string key =
      roof ? tr("Dark: the time at this core's peak of {rate} GFLOP/s; light: the rest. Track: as wide "
                "as the gradient (log).",
                {{"rate", fmt::format("{:.0f}", 1e-9 * facts_->roof.flops)}})
           : tr("The track is as wide as the gradient (log).");
  ui.mark("tape/key", line, key,
          tr("Each instruction is timed alone, and the fastest of several passes counts. Whatever "
             "trains meanwhile slows it."));
  p.text_in(line, word, t.ink2, key);
  draw_finite(ui, foot.take_top(24));
}

void TapeScreen::save(const std::string& ending) {
  const StepFacts& facts = *facts_;
  std::string text;
  if (ending == "csv") {
    text = fold_csv(facts.fold, facts.roof);
  } else if (ending == "svg") {
    text = fold_svg(facts);
  } else {
    nlohmann::json all = to_json(facts.fold, facts.roof);
    all["run"] = std::string(1, facts.letter);
    all["step"] = facts.step;
    all["loss"] = facts.loss;
    if (!facts.change_from.empty()) all["changes"] = to_json(facts.change);
    text = all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  asked_.files.push_back({fmt::format("tape-{}-{}.{}", facts.letter, facts.step, ending), std::move(text)});
}

void TapeScreen::draw_menu(Ui& ui, const Rect& place) {
  const std::string& help = tr("Writes every line of the fold into the pictures folder.");
  const std::vector<FileRow> rows{
      {"svg", tr("Save as SVG"), help}, {"csv", tr("Save as CSV"), help}, {"json", tr("Save as JSON"), help}};
  FileMenuOptions options{.shortcut = "Ctrl+E"};
  if (size_ == Size::Compact) {  // the compact bar has no room for the speed
    options.foot_height = 36;
    options.foot = [&](const Rect& foot) { draw_speed(ui, centred(foot.centre(), 118, 28)); };
  }
  const Rect icon = centred(place.centre(), 24, 24);
  const std::string chosen =
      file_menu(ui, kMenu, icon, tr("Save the fold as SVG, CSV or JSON (Ctrl+E)."), rows, options);
  if (!chosen.empty()) save(chosen);
}

/// Draws "+12 −12 ≠6", which opens the list.
void TapeScreen::draw_changes(Ui& ui, const Rect& place) {
  const ProgramChange& change = facts_->change;
  const ChangeCounts counts = change_counts(*facts_);
  if (button(ui, kChanges, place, fmt::format("+{} −{} ≠{}", counts.came, counts.went, counts.rewired),
             change_sentence(*facts_), {.style = {Face::Mono, type::tick}}))
    ui.open_popup(kChanges);
  std::vector<const InstructionChange*> listed;
  for (const InstructionChange& one : change.all)
    if (one.op != OpKind::Probe) listed.push_back(&one);
  const float width = std::min(640.f, ui.size().x - 24);
  const auto room = static_cast<size_t>((ui.size().y - place.bottom() - 120) / kLine);
  const size_t shown = std::min(listed.size(), room);
  const float left = std::min(place.x, ui.size().x - width - 12);
  const Rect box{left, place.bottom() + 4, width, kLine * static_cast<float>(shown) + 76};
  if (!ui.begin_popup(kChanges, box)) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect rest = box.inset(14, 10);
  const std::string words = change_sentence(*facts_);
  p.text_wrapped(rest.take_top(36), {Face::Sans, type::body}, t.ink, words, 17);
  ui.mark("tape/changes/list", rest, words, tr("The instructions that the change of the wiring touched."));
  const TextStyle mono{Face::Mono, type::tick}, sans{Face::Sans, type::tick};
  for (size_t i = 0; i < shown; ++i) {
    const InstructionChange& one = *listed[i];
    Rect row = rest.take_top(kLine);
    p.text_in(row.take_left(16), mono, t.ink, sign_of(one.kind));
    p.text_in(row.take_left(64), sans, t.ink3, tr(to_string(one.phase)));
    const float w = std::max(150.f, p.text_width(mono, one.name) + 10);
    p.text_in(row.take_left(w), mono, t.ink, one.name);
    const std::string& what = one.words.empty() ? std::string(to_string(one.op)) : one.words;
    if (p.text_width(sans, what) <= row.w) p.text_in(row, sans, t.ink2, what);
  }
  if (shown < listed.size())
    p.text_in(
        rest.take_top(kLine), sans, t.ink3,
        tr("and {count} more; all are in the JSON that the menu saves", {{"count", listed.size() - shown}}));
  ui.end_popup();
}

}  // namespace normscope::tape_screen
