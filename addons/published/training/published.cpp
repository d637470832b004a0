#include "addons/published/training/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "addons/published/training/family.h"
#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/token_task.h"
#include "addons/published/training/torch_file.h"
#include "engine/core/error.h"
#include "engine/model/transformer.h"
#include "engine/tape/backend.h"
#include "training/io/text.h"
#include "training/run/checkpoint.h"

namespace normscope::published {
namespace {

constexpr size_t kAtOnce = size_t{1} << 18;  // numbers that are converted before they go into the Store

/// The files of the weights by name, since a folder may have more than those that are read.
std::string files_read(const Weights& weights) {
  std::set<std::string> files;
  for (const std::string& name : weights.names())
    files.insert(std::filesystem::path(weights.tensor(name).file).filename().string());
  return files.size() < 3 ? fmt::format("{}", fmt::join(files, " and "))
                          : fmt::format("the {} files of the weights", files.size());
}

Message where(const PublishedModel& model) { return {"published {}", model.folder}; }

/// A name without its layer: "L03.attn.wq" is "L*.attn.wq" of layer 3.
struct Pattern {
  std::string name;
  int layer = 0;
};
Pattern pattern_of(const ParameterInfo& parameter) {
  const size_t dot = parameter.name.find('.');
  if (parameter.layer == 0 || dot == std::string::npos) return {parameter.name};
  return {"L*" + parameter.name.substr(dot), parameter.layer};
}

/// Replaces the star by the number of a layer (ours from 1, theirs from 0).
std::string in_layer(std::string name, int layer) {
  if (const size_t star = name.find('*'); star != name.npos) name.replace(star, 1, std::to_string(layer - 1));
  return name;
}

/// The names of a row that the files have, with the family's prefix or without it.
std::vector<std::string> names_in_file(const PublishedModel& model, const Row& row, int layer) {
  std::vector<std::string> names;
  for (const std::string& pattern : row.theirs) {
    const std::string name = in_layer(pattern, layer);
    for (const std::string& tried : {model.family->prefix + name, name})
      if (model.weights.contains(tried) && std::ranges::find(names, tried) == names.end())
        names.push_back(tried);
  }
  return names;
}

const Row& row_of(const PublishedModel& model, const std::string& name) {
  const auto at = model.family->rows.find(name);
  if (at == model.family->rows.end())
    fail(where(model), "{} models have no {}, which these settings ask for", model.family->title, name);
  return at->second;
}

bool has(const PublishedModel& model, const char* ours) {
  const auto row = model.family->rows.find(ours);
  return row != model.family->rows.end() && !names_in_file(model, row->second, 0).empty();
}

/// Takes what a training puts around a model from the names of its tensors: Lightning's attribute ("model."), and what
/// torch.compile adds ("_orig_mod."). It is what stands before the name of the token table.
void unwrap(PublishedModel& model) {
  const Row& table = row_of(model, "emb.tokens");
  if (!names_in_file(model, table, 0).empty()) return;
  for (const std::string& name : model.weights.names())
    for (const std::string& pattern : table.theirs)
      for (const std::string& tried : {model.family->prefix + pattern, pattern})
        if (name.ends_with("." + tried))
          return model.weights.unwrap(name.substr(0, name.size() - tried.size()));
}

/// Whether the files lack the head of a model that has one: then all names have the prefix. Models without a head have
/// names without the prefix, or next to prefixed names a head of another kind.
bool lost_its_head(const PublishedModel& model) {
  const std::string& prefix = model.family->prefix;
  return !prefix.empty() && std::ranges::all_of(model.weights.names(), [&](const std::string& name) {
    return name.starts_with(prefix);
  });
}

/// Ties the head to the token table where a model has none (headless); unties it where the files have another matrix.
void settle_head(PublishedModel& model) {
  ModelConfig& config = model.spec.model;
  model.headless = (config.masked_head && !(has(model, "head.w") && has(model, "out.b"))) ||
                   (!config.tied_output && !has(model, "out.w") && !lost_its_head(model));
  if (model.headless) {
    config.masked_head = config.output_bias = false;
    config.tied_output = true;
    return;
  }
  const auto head = model.family->rows.find("out.w"), table = model.family->rows.find("emb.tokens");
  if (!config.tied_output || head == model.family->rows.end()) return;
  const std::vector<std::string> heads = names_in_file(model, head->second, 0),
                                 tables = names_in_file(model, table->second, 0);
  if (!heads.empty() && !tables.empty() && !model.weights.same(heads[0], tables[0]))
    config.tied_output = false;
}

/// Copies rows of one of our parameters from their tensor, in ranges that are contiguous in the file.
void gather(const Place& place, const WeightTensor& theirs, int64_t first_row, std::span<float> ours) {
  const size_t columns = place.column.size(), rows = ours.size() / columns;
  const auto before = static_cast<size_t>(place.first + first_row * place.row_step);
  std::vector<float> room;
  if (place.row_step == 1) {
    for (size_t c = 0; c < columns; ++c) {
      const auto column = theirs.numbers(before + static_cast<size_t>(place.column[c]), rows, room);
      for (size_t r = 0; r < rows; ++r) ours[r * columns + c] = column[r];
    }
    return;
  }
  const auto [low, high] = std::ranges::minmax(place.column);
  for (size_t r = 0; r < rows; ++r) {
    const auto row =
        theirs.numbers(before + r * static_cast<size_t>(place.row_step) + static_cast<size_t>(low),
                       static_cast<size_t>(high - low + 1), room);
    for (size_t c = 0; c < columns; ++c)
      ours[r * columns + c] = row[static_cast<size_t>(place.column[c] - low)];
  }
}

/// Refuses a tensor that nothing reads.
void check_leftovers(const PublishedModel& model, const std::set<std::string>& read) {
  for (const std::string& name : model.weights.names()) {
    const auto covers = [&](const std::string& pattern) { return matches(name, pattern); };
    if (!read.contains(name) && std::ranges::none_of(model.family->passed, covers))
      fail(where(model), "tensor {}: a {} model with these settings has no place for it", shown_text(name),
           model.family->title);
  }
}

/// Adds the names that a row reads. Two names for one tensor must have the same numbers.
void read_by(const PublishedModel& model, const Row& row, int layer, std::set<std::string>& read) {
  const std::vector<std::string> names = names_in_file(model, row, layer);
  for (const std::string& name : names) {
    if (name != names[0] && !model.weights.same(names[0], name))  // which reads both whole
      fail(where(model), "tensors {} and {} are the same parameter with other numbers: expected equal ones",
           shown_text(names[0]), shown_text(name));
    read.insert(name);
  }
}

/// The number of columns of each part of a fused matrix; `ours`: the columns of our matrix.
std::vector<int64_t> widths_of(const PublishedModel& model, const Row& row, int64_t ours) {
  const ModelConfig& c = model.spec.model;
  if (row.parts.size() != 3) return std::vector<int64_t>(std::max<size_t>(row.parts.size(), 1), ours);
  std::vector<int64_t> widths;
  for (const char part : row.parts)
    widths.push_back(int64_t{part == 'q' ? c.heads : kv_heads(c)} * head_width(c));
  return widths;
}

/// The shape that a tensor must have for one of our parameters, and its rows before ours.
struct FileTensor {
  TensorShape shape;
  int64_t skipped = 0;
};
FileTensor file_tensor_of(const PublishedModel& model, const Row& row, const std::string& pattern,
                          const ParameterInfo& parameter) {
  const auto first = model.family->first_row.find(pattern);
  const int64_t skipped = first == model.family->first_row.end() ? 0 : first->second;
  const std::vector<int64_t> widths = widths_of(model, row, parameter.shape.cols());
  const int64_t rows = parameter.shape.rows(),
                all = std::accumulate(widths.begin(), widths.end(), int64_t{0});
  if (parameter.shape.rank == 1) return {{all}, skipped};
  return {row.linear ? TensorShape{all, rows} : TensorShape{rows + skipped, all}, skipped};
}

/// The position in their file of number c of our heads. Our rotary pairs are half a head apart; theirs may be
/// neighbours, or have the halves swapped.
int64_t in_their_order(const Family& family, const std::string& name, int64_t c, int64_t head) {
  const int64_t i = c % head, half = head / 2;
  const auto in = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (in(family.neighbours)) return c - i + i % half * 2 + i / half;
  return in(family.swapped) ? c - i + (i + half) % head : c;
}

/// The place of a parameter in a tensor, whose shape fits.
Place place_in(const PublishedModel& model, const Row& row, const std::string& tensor,
               const ParameterInfo& parameter, const FileTensor& theirs) {
  const int64_t columns = parameter.shape.cols(), rows = parameter.shape.rows();
  const std::vector<int64_t> widths = widths_of(model, row, columns);
  const int64_t all = std::accumulate(widths.begin(), widths.end(), int64_t{0}),
                before = std::accumulate(widths.begin(),
                                         widths.begin() + static_cast<std::ptrdiff_t>(row.part), int64_t{0});
  Place place{
      .tensor = tensor, .first = theirs.skipped * all, .row_step = row.linear ? 1 : all, .column = {}};
  const int64_t step = row.linear && parameter.shape.rank != 1 ? rows : 1;
  // Each group has a range of every part; without groups each part is contiguous.
  const int64_t heads_of_keys = kv_heads(model.spec.model),
                groups = widths.size() < 3          ? 1
                         : model.family->groups > 0 ? model.family->groups
                                                    : heads_of_keys,
                stretch = columns / groups;
  if (columns % groups != 0)
    fail(where(model), "{} has {} columns, no multiple of the {} groups of tensor {}", parameter.name,
         columns, groups, shown_text(tensor));
  const std::string name = pattern_of(parameter).name;
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t at = in_their_order(*model.family, name, c, head_width(model.spec.model));
    place.column.push_back(step * ((at / stretch * all + before) / groups + at % stretch));
  }
  return place;
}

/// Where a parameter of another model lies; nothing: the files have none of its shape. Of a longer
/// table of positions it is the first rows.
std::optional<Place> fitting_place(const PublishedModel& model, const ParameterInfo& parameter) {
  if (!has_place(model, parameter)) return std::nullopt;
  const Pattern pattern = pattern_of(parameter);
  const auto row = model.family->rows.find(pattern.name);
  if (row == model.family->rows.end()) return std::nullopt;
  const std::vector<std::string> names = names_in_file(model, row->second, pattern.layer);
  if (names.empty()) return std::nullopt;
  const FileTensor theirs = file_tensor_of(model, row->second, pattern.name, parameter);
  TensorShape shape = model.weights.tensor(names[0]).shape;
  if (pattern.name.ends_with(".positions") && !shape.empty()) shape[0] = std::min(shape[0], theirs.shape[0]);
  if (shape != theirs.shape) return std::nullopt;
  return place_in(model, row->second, names[0], parameter, theirs);
}

/// The file of a tensor, to begin an error with.
Message where(const WeightTensor& tensor) {
  return is_gguf_file(tensor.file)    ? Message("gguf {}", tensor.file)
         : is_torch_file(tensor.file) ? Message("torch {}", tensor.file)
                                      : Message("safetensors {}", tensor.file);
}

/// The tensor of a place. Throws Error for a type that holds no floats.
const WeightTensor& floats_of(const PublishedModel& model, const Place& place) {
  const WeightTensor& theirs = model.weights.tensor(place.tensor);
  if (theirs.type->read) return theirs;
  fail(where(theirs), "tensor {}: dtype {}, expected F32, F64, F16 or BF16", shown_text(place.tensor),
       theirs.type->name);
}

/// Fills a parameter of the Store from its place, part by part, each of whole blocks. Throws Error for numbers that are
/// not finite, which would make every number of the model so without a word of where it began.
void convert(const PublishedModel& model, const Place& place, const ParameterInfo& parameter, Store& store) {
  const WeightTensor& theirs = floats_of(model, place);
  const int64_t columns = parameter.shape.cols(), rows = parameter.shape.rows(),
                block = static_cast<int64_t>(theirs.type->numbers);
  const int64_t at_once =
      std::min(rows, std::max(block, static_cast<int64_t>(kAtOnce) / columns / block * block));
  std::vector<float> part;
  std::ptrdiff_t broken = 0;
  for (int64_t row = 0; row < rows; row += at_once) {
    part.resize(static_cast<size_t>(std::min(at_once, rows - row) * columns));
    gather(place, theirs, row, part);
    broken += std::ranges::count_if(part, [](float number) { return !std::isfinite(number); });
    store.backend().upload(store.block(Store::Block::Value),
                           parameter.offset + static_cast<size_t>(row * columns), part);
  }
  InputFile::forget(theirs.bytes);
  if (broken > 0)
    fail(where(theirs), "tensor {}: {} of {} numbers are not finite: expected a model that is whole",
         shown_text(place.tensor), broken, parameter.shape.size());
}

}  // namespace

PublishedModel open(const std::string& at, int32_t positions) {
  const std::string folder = require_folder(at);
  PublishedModel model{.folder = folder, .family = nullptr, .spec = {}, .weights = {}};
  const InputValue config = *config_of(folder);
  model.family = &family_of(config, [&] { return Weights::open(folder).names(); });
  model.spec = spec_of(*model.family, config, Message("published {}", config_path(folder)), positions);
  model.weights = Weights::open(folder);
  unwrap(model);
  settle_head(model);
  model.one_layer = std::ranges::any_of(model.family->rows, [](const auto& row) {
    return row.first.starts_with("L*") && row.second.theirs[0].find('*') == std::string::npos;
  });
  validate(model.spec.model);
  return model;
}

Place place_of(const PublishedModel& model, const ParameterInfo& parameter) {
  const Pattern pattern = pattern_of(parameter);
  const Row& row = row_of(model, pattern.name);
  const std::vector<std::string> names = names_in_file(model, row, pattern.layer);
  if (names.empty())
    fail(where(model), "tensor {} is missing in {}: expected it for {}",
         shown_text(in_layer(row.theirs[0], pattern.layer)), files_read(model.weights), parameter.name);
  const FileTensor theirs = file_tensor_of(model, row, pattern.name, parameter);
  if (const WeightTensor& found = model.weights.tensor(names[0]); found.shape != theirs.shape)
    fail(where(found), "tensor {}: shape {} in the file, expected {}", shown_text(names[0]),
         shape_text(found.shape), shape_text(theirs.shape));
  return place_in(model, row, names[0], parameter, theirs);
}

bool has_place(const PublishedModel& model, const ParameterInfo& parameter) {
  const auto may_lack = [&](const std::string& pattern) { return matches(parameter.name, pattern); };
  if (!parameter.trainable || std::ranges::none_of(model.family->zeros, may_lack)) return parameter.trainable;
  const Pattern pattern = pattern_of(parameter);
  const auto row = model.family->rows.find(pattern.name);
  return row != model.family->rows.end() && !names_in_file(model, row->second, pattern.layer).empty();
}

void declare(const PublishedModel& model, Store& store) {
  Tape tape(store);
  record_transformer(tape, model.spec.model, {.batch = 1, .sequence = 1, .training = false, .probes = false});
}

int64_t bytes_of(const PublishedModel& model, const Store& declared, int32_t positions) {
  constexpr int64_t kMoments = 2 * sizeof(float);  // which only training has
  ModelConfig read = model.spec.model;             // whose table may have far more positions
  read.sequence = positions;
  return estimated_bytes(read, 1) - kMoments * static_cast<int64_t>(declared.size());
}

void load(const PublishedModel& model, Store& store) {
  std::vector<Place> places;
  std::set<std::string> read;
  for (const ParameterInfo& parameter : store.parameters()) {
    places.emplace_back();
    if (!has_place(model, parameter)) continue;
    places.back() = place_of(model, parameter);
    const Pattern pattern = pattern_of(parameter);
    read_by(model, row_of(model, pattern.name), pattern.layer, read);
    floats_of(model, places.back());
  }
  if (const auto head = model.family->rows.find("out.w"); head != model.family->rows.end())
    read_by(model, head->second, 0, read);  // of a tied model it has been compared with the table
  check_leftovers(model, read);
  store.materialize_values();
  for (size_t i = 0; i < places.size(); ++i) {
    const ParameterInfo& parameter = store.parameters()[i];
    if (has_place(model, parameter))
      convert(model, places[i], parameter, store);
    else if (parameter.trainable)
      store.write(static_cast<int32_t>(i), std::vector<float>(static_cast<size_t>(parameter.shape.size())));
  }
}

int32_t fill(const PublishedModel& model, Store& store) {
  std::vector<std::pair<Place, const ParameterInfo*>> found;
  for (const ParameterInfo& parameter : store.parameters()) {
    if (!parameter.trainable) continue;
    std::optional<Place> place = fitting_place(model, parameter);
    if (!place) continue;
    floats_of(model, *place);
    found.emplace_back(std::move(*place), &parameter);
  }
  for (const auto& [place, parameter] : found) convert(model, place, *parameter, store);
  return static_cast<int32_t>(found.size());
}

namespace fs = std::filesystem;

namespace {

/// The passage, or without a tokenizer token numbers spread over the vocabulary.
std::string passage_for(const TextTokens& symbols, std::string_view passage) {
  if (symbols.has_words() || passage.find_first_not_of("0123456789, ") == passage.npos)
    return std::string(passage);
  constexpr int32_t kNumbers = 16;
  std::string numbers;
  for (int32_t i = 0; i < kNumbers; ++i)
    numbers += fmt::format("{}{}", i ? " " : "", i * symbols.vocabulary() / kNumbers);
  return numbers;
}

}  // namespace

bool is_published(const std::string& path) {
  const std::string folder = folder_of(path);
  if (is_model_file(folder)) return true;
  std::error_code none;
  if (!fs::is_regular_file(fs::path(folder) / "config.json", none)) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") || name.ends_with(".bin"))
      return true;
  }
  return false;
}

RunSpec run_of(const std::string& folder, std::string_view passage) {
  const std::string place = fs::weakly_canonical(fs::absolute(require_folder(folder))).string();
  const TextTokens symbols(place);
  const std::string text = passage_for(symbols, passage);
  const size_t tokens = symbols.encode(text).size();
  if (tokens < 2) fail("text", "{} tokens: expected a text of at least 2 tokens of {}", tokens, place);
  const PublishedModel model = open(place, kFewest);
  RunSpec run = model.spec;
  run.name =
      title_of(place) + (model.headless ? ", no head" : "") + (model.one_layer ? ", layers untied" : "");
  run.data.name = "passage";
  run.data.added.of<PassageData>().text = text;
  run.data.tokenizer_path = place;
  const int32_t table = run.model.sequence;
  run.model.sequence = table > kFewest ? std::min(table, kMaxRow) : kMaxRow;
  run.data.context = run.model.sequence;
  run.train.init_from = place;
  run.train.batch = 1;
  run.train.steps = 50;
  run.train.optimizer = Optimizer::Adam;
  run.train.beta2 = 0.999f;
  run.train.eps = 1e-8f;
  run.train.schedule.peak = 1e-5f;
  complete(run);
  validate(run);
  return run;
}

}  // namespace normscope::published

namespace normscope {

// Published models as one of the formats that a run may start from.

namespace {

namespace fs = std::filesystem;

std::optional<ModelFormat::Look> look_at_published(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (published::is_torch_file(published::folder_of(path))) try {
      if (const Message why = published::why_none(path); !why.empty())
        return ModelFormat::Look{false, Message("{} {}.", name, why)};
    } catch (const Error& error) {
      return ModelFormat::Look{false, error.message};
    }
  if (published::is_published(path))
    return ModelFormat::Look{
        true,
        "A published model: it takes the place of all runs that are shown, and nothing trains "
        "until you say so."};
  std::error_code none;
  if (!fs::exists(fs::path(path) / "adapter_config.json", none)) return std::nullopt;
  return ModelFormat::Look{false,
                           fmt::format("{} {}.", name.empty() ? path : name, published::why_none(path))};
}

}  // namespace

constinit const ModelFormat kPublishedFormat{
    .look = look_at_published,
    .place = published::folder_of,
    .run = [](const std::string& path) { return published::run_of(path); },
    .check = [](const std::string& path) { published::open(path, published::kFewest); },
    .fill = [](const std::string& path,
               Store& store) { return published::fill(published::open(path, published::kFewest), store); }};

}  // namespace normscope
