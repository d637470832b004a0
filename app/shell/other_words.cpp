// The other names of what the palette lists: what a person calls it who does not know our word for it.
#include <algorithm>
#include <iterator>

#include "app/panels/panels.h"
#include "app/shell/palette.h"

namespace normscope::shell {
namespace {

struct OfAct {
  Act act;
  std::string_view words;
};
constexpr OfAct kActs[] = {
    {Act::Back, "previous backward earlier cursor"},
    {Act::Newest, "latest now live follow last end"},
    {Act::Bookmark, "mark remember flag pin"},
    {Act::MeasureBatch, "dependency triangles all sequences"},
    {Act::Undo, "back revert cancel mistake"},
    {Act::Redo, "again repeat forward"},
    {Act::Save, "write keep store file toml"},
    {Act::SaveAs, "write keep store file toml copy rename"},
    {Act::OpenFile, "load import file text corpus recent session toml read"},
    {Act::CopyCommand, "share clipboard reproduce terminal shell cli script"},
    {Act::CopyLink, "share url address web send permalink fragment"},
    {Act::Bigger, "zoom in scale font size increase"},
    {Act::Smaller, "zoom out scale font size decrease"},
    {Act::NaturalSize, "zoom reset scale font normal"},
    {Act::Theme, "dark light night colours colors mode"},
    {Act::ReducedMotion, "animation accessibility transitions"},
    {Act::Restore, "recover crash previous reopen load"},
    {Act::GuessingGame, "game play human entropy shannon"},
    {Act::FirstLesson, "course tutorial learn begin introduction"},
    {Act::Present, "projector beamer demonstration talk slides larger full screen"},
    {Act::Teacher, "class classroom lock hide controls school prepare students"},
};

// By the whole name of a control, or by its end after a '*'.
struct OfControl {
  std::string_view name, words;
};
constexpr OfControl kControls[] = {
    {"app/help", "help shortcuts keyboard manual mouse cheat"},
    {"app/theme", "dark light night colours colors mode"},
    {"app/scale", "zoom font size larger smaller dpi"},
    {"app/tab/lab", "laboratory experiment runs"},
    {"app/tab/compare", "difference baseline side by side log recorded jsonl"},
    {"app/tab/lessons", "course tutorial learn teach exercises"},
    {"app/tab/sweep", "grid search hyperparameters scan range border"},
    {"app/tab/tape", "step instructions program profile autodiff gradient backward memory debugger"},
    {"sweep/play", "train run start go pause stop resume begin"},
    {"sweep/copy", "clipboard shell terminal slurm parallel cluster script"},
    {"sweep/metric", "measure quantity colour color"},
    {"tape/play", "run start go pause stop execute instructions"},
    {"tape/next", "step forward advance single"},
    {"tape/first", "beginning rewind zero home"},
    {"tape/timeline", "scrub seek instruction head"},
    {"tape/follow", "live newest train update"},
    {"tape/once", "copy instructions execute"},
    {"tape/fold/menu", "export image data download"},
    {"app/backend", "gpu device hardware"},
    {"app/backend/CPU", "processor device hardware"},
    {"app/backend/CUDA", "gpu nvidia device hardware"},
    {"app/tf32", "gpu precision"},
    {"transport/play", "train run start go pause stop resume begin"},
    {"transport/step", "next single one forward advance iteration"},
    {"transport/first", "beginning rewind zero home cursor"},
    {"transport/reset", "restart again anew begin zero scratch start over"},
    {"transport/budget", "steps length duration longer more iterations epochs end"},
    {"transport/speed", "tempo pace velocity"},
    {"transport/speed/slow", "slower tempo pace"},
    {"transport/speed/1×", "normal tempo pace"},
    {"transport/speed/max", "faster fast full tempo pace"},
    {"transport/pace", "tempo length"},
    {"timeline", "scrub time history seek cursor"},
    {"timeline/fork", "branch copy continue go on"},
    {"lab/luck", "luck seeds chance random noise significance error bars variance confidence"},
    {"*/menu", "save image data copy"},
    {"*/menu/svg", "export image picture vector figure download"},
    {"*/menu/png", "export image picture bitmap figure screenshot download"},
    {"*/menu/csv", "export data numbers table spreadsheet values download"},
    {"*/menu/text", "export clipboard values accessibility screen reader"},
    {"*/menu/log", "log scale linear symlog decades"},
    {"*/menu/reset", "zoom pan home fit all"},
    {"*/quantity", "metric measure variable show what"},
    {"settings/data.name", "text corpus file own dataset open load"},
    {"settings/train.lr", "lr step size eta"},
    {"settings/train.warmup", "warmup ramp schedule"},
    {"settings/train.schedule", "decay cosine annealing scheduler"},
    {"settings/train.optimizer", "adam sgd adamw momentum update"},
    {"settings/train.clip", "clipping norm limit exploding"},
    {"settings/train.batch", "batch size minibatch"},
    {"settings/train.weight_decay", "regularisation regularization l2"},
    {"settings/model.layers", "depth deep stack"},
    {"settings/model.d_model", "hidden d_model dimension embedding"},
    {"settings/model.heads", "attention"},
    {"settings/model.norm", "layernorm rmsnorm normalization normalisation kind"},
    {"settings/model.placement", "pre post norm position architecture"},
    {"settings/model.init", "initialisation initialization weights xavier"},
    {"settings/run.seed", "random rng"},
    {"settings/run.name", "label title rename"},
};

}  // namespace

std::string_view other_words(Act act) {
  const auto at =
      std::find_if(std::begin(kActs), std::end(kActs), [&](const OfAct& a) { return a.act == act; });
  return at == std::end(kActs) ? std::string_view{} : at->words;
}

std::string other_words(std::string_view control) {
  if (const lab::PanelControl* own = lab::panel_control(control)) return std::string(own->words);
  constexpr std::string_view kTab = "plot/tab/";
  if (control.starts_with(kTab))
    for (const lab::Panel* panel : lab::tab_panels())
      if (control.substr(kTab.size()) == panel->place.tab) return panel->words;
  const lab::Panel* panel = lab::panel_of(control);
  const std::string more = panel && control.ends_with("/menu") ? std::string(" ") + panel->words : "";
  const auto is_it = [&](const OfControl& c) {
    return c.name.starts_with('*') ? control.ends_with(c.name.substr(1)) : c.name == control;
  };
  const auto at = std::find_if(std::begin(kControls), std::end(kControls), is_it);
  return at == std::end(kControls) ? "" : std::string(at->words) + more;
}

}  // namespace normscope::shell
