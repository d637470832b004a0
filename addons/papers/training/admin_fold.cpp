#include "addons/papers/training/admin_fold.h"

#include "training/run/run.h"
#include "training/spec/kept_spec.h"

namespace normscope {
namespace {

constexpr const char* kFold = "admin-fold";

struct Weight {
  TensorShape shape;
  std::vector<float> values;
  int64_t cols() const { return shape.back(); }
};
using Weights = std::map<std::string, Weight>;

bool is_record(const std::string& name) {
  for (const char* prefix : {"history/", "validation/", "losses", "plateau/", "frames/"})
    if (name.starts_with(prefix)) return true;
  return false;
}
bool is_moment(const std::string& name) { return name.starts_with("m/") || name.starts_with("v/"); }
// States of earlier segments: the folded network has other states, and begins with an empty memory.
bool is_memory(const std::string& name) { return name.starts_with("memory/"); }

Weights weights_of(const SafetensorsFile& file) {
  Weights weights;
  for (const std::string& name : file.names())
    if (!is_record(name) && !is_moment(name) && !is_memory(name))
      weights[name] = {file.shape(name), file.floats(name)};
  return weights;
}

class AdminFolder {
 public:
  AdminFolder(const std::string& path, Weights& weights) : path_(path), weights_(weights) {}

  /// Removes omega of a sub-layer from the weights, and returns it.
  std::vector<float> take_omega(const std::string& sublayer) {
    const std::string name = sublayer + ".skip";
    std::vector<float> omega = at(name).values;
    for (float w : omega)
      if (w == 0 || !std::isfinite(w))
        fail(kFold, "{}: {} holds {}: nothing can be divided by it", path_, name, w);
    weights_.erase(name);
    return omega;
  }
  /// Multiplies every row of the last dimension by omega. A gain may be stored minus `offset`.
  void multiply(const std::string& name, const std::vector<float>& omega, float offset = 0) {
    Weight& t = at(name);
    for (size_t i = 0; i < t.values.size(); ++i)
      t.values[i] = (t.values[i] + offset) * omega[i % omega.size()] - offset;
  }
  void divide_rows(const std::string& name, const std::vector<float>& omega) {
    Weight& t = at(name);
    const size_t cols = static_cast<size_t>(t.cols());
    for (size_t i = 0; i < t.values.size(); ++i) t.values[i] /= omega[i / cols];
  }
  void copy(const std::string& from, const std::string& to) {
    const Weight tensor = at(from);
    weights_[to] = tensor;
  }
  void transpose(const std::string& from, const std::string& to) {
    const Weight& t = at(from);
    const size_t rows = static_cast<size_t>(t.shape[0]), cols = static_cast<size_t>(t.shape[1]);
    Weight turned{{t.shape[1], t.shape[0]}, std::vector<float>(t.values.size())};
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < cols; ++c) turned.values[c * rows + r] = t.values[r * cols + c];
    weights_[to] = std::move(turned);
  }
  bool has(const std::string& name) const { return weights_.count(name) > 0; }
  void erase(const std::string& name) { weights_.erase(name); }

 private:
  Weight& at(const std::string& name) {
    const auto found = weights_.find(name);
    if (found == weights_.end()) fail(kFold, "{} lacks {}: expected a saved run", path_, name);
    return found->second;
  }

  const std::string& path_;
  Weights& weights_;
};

struct Stack {
  std::string prefix;  ///< "", "enc." or "dec."
  StackWiring* wiring;
  StackContext context;
  bool admin() const {
    const Placement p = placement_of(*wiring, context);
    return p == Placement::Admin || p == Placement::AdminPaper;
  }
};

std::vector<Stack> stacks_of(ModelConfig& model) {
  if (model.architecture != Architecture::EncoderDecoder)
    return {{"", &model.stack(), context_of(model, model.architecture == Architecture::Decoder)}};
  return {{"enc.", &model.encoder, context_of(model, false)},
          {"dec.", &model.decoder, context_of(model, true)}};
}

/// Unties the output's table and the stacks' embeddings, because omega will change them separately.
void part_tables(AdminFolder& fold, AdminFold& result) {
  ModelConfig& model = result.spec.model;
  if (model.tied_output && model.classes == 0) {
    fold.transpose(output_table(model), "out.w");
    model.tied_output = false;
    result.untied = true;
  }
  if (model.architecture != Architecture::EncoderDecoder || !model.shared_embedding) return;
  for (const char* table : {"emb.tokens", "emb.positions"}) {
    if (!fold.has(table)) continue;
    for (const char* prefix : {"enc.", "dec."}) fold.copy(table, prefix + std::string(table));
    fold.erase(table);
  }
  model.shared_embedding = false;
  result.unshared = true;
}

void fold_stack(AdminFolder& fold, const Stack& stack_layout, const ModelConfig& model, int32_t& count) {
  const std::string tables =
      model.architecture == Architecture::EncoderDecoder ? stack_layout.prefix + "emb" : std::string("emb");
  std::vector<std::string> sources = {tables + ".tokens"};  // what makes x, tables or a norm
  if (fold.has(tables + ".positions")) sources.push_back(tables + ".positions");
  for (int layer = 1; layer <= stack_layout.context.layers; ++layer)
    for (const char* kind : {"attn", "cross", "ffn"}) {
      if (kind[0] == 'c' && !stack_layout.context.has_cross()) continue;
      const std::string name = fmt::format("{}L{:02}.{}", stack_layout.prefix, layer, kind);
      const std::vector<float> omega = fold.take_omega(name);
      for (const std::string& source : sources)
        fold.multiply(source, omega, source.ends_with(".gain") && model.gain_offset ? 1 : 0);
      for (const char* matrix : {"wq", "wk", "wv", "w1", "wg"})
        if (fold.has(name + "." + matrix) &&
            (kind[0] != 'c' || matrix[1] == 'q'))  // cross-attention reads its keys elsewhere
          fold.divide_rows(name + "." + matrix, omega);
      sources = {name + ".stream.gain"};
      if (fold.has(name + ".stream.bias")) sources.push_back(name + ".stream.bias");
      ++count;
    }
}

void check(const std::string& path, ModelConfig& model) {
  bool any = false;
  for (const Stack& stack_layout : stacks_of(model)) any = any || stack_layout.admin();
  if (!any) {
    const Stack stack_layout = stacks_of(model).back();
    fail(kFold, "{} is a run of {}: expected model.placement admin or admin-paper", path,
         label(placement_of(*stack_layout.wiring, stack_layout.context)));
  }
  if (!has_gain(model.norm))
    fail(kFold, "{} has norms of kind {}, which have no gain to fold into: expected ln, rms, dyt or derf",
         path, short_name(model.norm));
}

void write(const SafetensorsFile& from, const Weights& weights, const AdminFold& result,
           const std::string& out) {
  SafetensorsWriter file;
  std::vector<std::vector<float>> zeros;
  zeros.reserve(weights.size());
  for (const auto& [name, tensor] : weights) {
    zeros.emplace_back(tensor.values.size(), 0.0f);
    file.add(name, tensor.shape, std::span(tensor.values));
    for (const char* moment : {"m/", "v/"}) file.add(moment + name, tensor.shape, std::span(zeros.back()));
  }
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int32_t>> integers;
  std::vector<std::vector<double>> doubles;
  floats.reserve(from.names().size());
  integers.reserve(from.names().size());
  doubles.reserve(from.names().size());
  for (const std::string& name : from.names()) {
    if (!is_record(name) || name.starts_with("frames/")) continue;  // frames measure the former tensors
    if (from.type(name) == TensorType::F64)
      file.add(name, from.shape(name), std::span(doubles.emplace_back(from.doubles(name))));
    else if (from.type(name) == TensorType::F32)
      file.add(name, from.shape(name), std::span(floats.emplace_back(from.floats(name))));
    else
      file.add(name, from.shape(name), std::span(integers.emplace_back(from.int32s(name))));
  }
  for (const auto& [key, value] : from.metadata()) file.set_metadata(key, value);
  file.set_metadata("origin", codec::text_of(WholeSpec{}.write(result.spec)));
  file.set_metadata("edits", "[]");
  file.set_metadata("scheduled", "[]");
  file.write(out);
}

}  // namespace

AdminFold fold_admin(const std::string& in, const std::string& out) {
  AdminFold result;
  result.spec = Run::saved_spec(in);
  ModelConfig& model = result.spec.model;
  check(in, model);
  const SafetensorsFile file = SafetensorsFile::load(in);
  Weights weights = weights_of(file);
  AdminFolder fold(in, weights);
  const std::vector<Stack> stack_layouts = stacks_of(model);
  part_tables(fold, result);
  for (const Stack& stack_layout : stack_layouts) {
    if (!stack_layout.admin()) continue;
    fold_stack(fold, stack_layout, model, result.sublayers);
    *stack_layout.wiring = preset_stack(Placement::Post, model.norm, stack_layout.context);
  }
  complete(result.spec);
  result.spec.train.init_from.clear();
  if (!result.spec.name.empty()) result.spec.name += ", folded";
  write(file, weights, result, out);
  return result;
}

}  // namespace normscope
