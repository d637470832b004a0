// The row "data": what the runs learn from. Its list has the tasks that fit their architecture, and a field
// for the user's own file, which may also be dropped on the window.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/settings/settings_rows.h"
#include "engine/core/error.h"
#include "training/files/places.h"

namespace normscope::lab {

using namespace ui;

namespace {

struct Source {
  const char *name, *label, *help;
};
constexpr std::array<Source, 9> kSources{{
    {"corpus", "built-in sentences", "Endless made-up sentences whose entropy is known exactly."},
    {"copy", "copy a row", "Symbols to say again after a mark: attention has to look back."},
    {"reverse", "reverse a row", "Symbols to say again backwards."},
    {"sort", "sort a row", "Symbols to put in order."},
    {"translation", "made-up translation", "A small grammar into another one, for an encoder-decoder."},
    {"word-order", "word order", "Made-up sentences, two words swapped in every other one, for an encoder."},
    {"mood", "mood", "Made-up sentences in five classes by their adjectives, for an encoder."},
    {"digits", "drawn digits", "Images of ten digits, drawn by the program, for a convolutional network."},
    {"treebank", "made-up treebank", "Sentences of a small grammar with their trees, for a parser."},
}};

struct FileKind {
  const char *key, *label, *help;
};
constexpr std::array<FileKind, 4> kFiles{{
    {"data.text", "a text file of yours",
     "A UTF-8 text to learn from: type its path, or drop it on the window."},
    {"data.pairs", "a file of sentence pairs",
     "One pair a line, a tab between the languages: type its path."},
    {"data.labels", "a file of labelled texts", "One label and text a line, a tab between: type its path."},
    {"data.treebank", "a treebank of yours", "Sentences with their trees in CoNLL-U: type its path."},
}};

bool fits(const RunSpec& spec, std::string_view key, std::string_view value) {
  try {
    RunSpec trial = spec;
    set_field(trial, key, value);
    validate(trial);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void Rows::data(const Rect& rect) {
  const std::string name = "settings/data.name";
  const Field& field = *find_field("data.name");
  const std::string help = fmt::format("{} A change restarts all runs from step 0.", field.help);
  const TextStyle mono{Face::Mono, type::body};
  const float room = rect.w - 34 - ui.paint().text_width({Face::Sans, type::body}, "data");
  const std::string shown =
      view.data_name == "built-in sentences" && ui.paint().text_width(mono, view.data_name) > room
          ? "built-in"
          : ui.paint().fit(mono, view.data_name, room);
  if (row(ui, name, rect, "data", "", shown, help, true)) {
    ui.open_popup(name);
    const RunSpec& spec = *view.runs[0].spec;
    state.path = spec.data.name == "text" ? spec.data.text_path : "";
  }
  data_list(rect, name);
}

void Rows::data_list(const Rect& place, const std::string& name) {
  if (!ui.popup_open(name)) return;
  const RunSpec& spec = *view.runs[0].spec;
  std::vector<const Source*> sources;
  for (const Source& source : kSources)
    if (source.name == spec.data.name || fits(spec, "data.name", source.name)) sources.push_back(&source);
  std::vector<const FileKind*> files;
  for (const FileKind& file : kFiles)
    if (fits(spec, file.key, "file")) files.push_back(&file);
  constexpr float h = 26, caption = 20, field = 30;
  const float height =
      12 + h * static_cast<float>(sources.size()) + (caption + field) * static_cast<float>(files.size());
  Rect list{place.right() - 300, place.bottom() + 4, 300, height};
  list.x = std::max(list.x, 8.f);
  if (list.bottom() > ui.size().y - 4) list.y = place.y - 4 - list.h;
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  for (const Source* source : sources) {
    const bool own =
        spec.data.name == "treebank" && !spec.data.treebank_path.empty();  // a file under that name
    const bool now = spec.data.name == source->name && !own;
    ButtonOptions o;
    o.quiet = o.left = true;
    o.style = {now ? Face::Bold : Face::Sans, type::body};
    if (!button(ui, fmt::format("{}/{}", name, source->name), rest.take_top(h).inset(0, 1), source->label,
                source->help, o))
      continue;
    if (!now)
      commands.emplace_back(own ? EditField{-1, "data.treebank", ""}
                                : EditField{-1, "data.name", source->name});
    ui.close_popup();
  }
  for (const FileKind* file : files) {
    ui.paint().text_in(rest.take_top(caption).inset(9, 0), {Face::Sans, type::tick}, ui.theme().ink3,
                       file->label);
    const Rect box = rest.take_top(field).inset(0, 3);
    if (!text_field(ui, fmt::format("{}/{}", name, file->key), box, "path, then Enter", state.path,
                    file->help))
      continue;
    if (!state.path.empty()) commands.emplace_back(EditField{-1, file->key, with_home(state.path)});
    ui.close_popup();
  }
  ui.end_popup();
}

}  // namespace normscope::lab
