#include "verify/fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace normscope {
namespace {

constexpr int32_t kMaxAdamSteps = 1000;
constexpr size_t kLongestName = 64;

InputValue metadata(const SafetensorsFile& file, const std::string& key) {
  return InputValue::parse(file.metadata(key), "fixture " + file.path(), key);
}

/// Reads one name for all layers, or one for each layer.
std::vector<Placement> placements(const InputValue& value, int32_t layers) {
  const auto count = static_cast<size_t>(layers);
  if (value.is_text()) return std::vector(count, placement_from(value.text(kLongestName)));
  std::vector<Placement> list;
  for (const InputValue& name : value.list(count, count))
    list.push_back(placement_from(name.text(kLongestName)));
  return list;
}

/// Takes the norms of the stack from its last layer's placement: a final norm behind pre and sandwich.
StackWiring wire(const std::vector<Placement>& placement, NormKind norm, const StackContext& context) {
  StackWiring stack = preset_stack(placement.back(), norm, context);
  for (size_t l = 0; l < placement.size(); ++l)
    stack.layers[l] = preset_layer(placement[l], norm, context, static_cast<int>(l) + 1);
  return stack;
}

// The limits of the settings (spec/spec_fields.cpp).
void read_transformer(const SafetensorsFile& file, const InputValue& c, ModelConfig& m) {
  constexpr std::string_view kNames[] = {"learned", "sin", "relative"};
  m.heads = c.at("heads").whole(1, 128);
  m.sequence = c.at("max_len").whole(1, 4096);
  m.tied_output = c.at("tie").flag();
  const InputValue positions = c.at("pos");
  const auto relative = std::ranges::find(kPositions, "relative", &PositionsRow::name) - kPositions;
  m.positions = std::array{Positions::Learned, Positions::Sinusoidal,
                           static_cast<Positions>(relative)}[positions.choice(kNames)];
  if (m.positions == static_cast<Positions>(std::size(kPositions))) positions.refuse("one of this build");
  if (const auto memory = c.find("memory")) m.memory = memory->whole(0, kMaxMemory);
  const double root = std::sqrt(static_cast<double>(m.d_model));
  const InputValue scale = metadata(file, "emb_scale");
  if (std::abs(scale.number(0, 1e6) - root) > 1e-9 * root) scale.refuse(fmt::format("sqrt(d) = {}", root));
}

constexpr const FixtureForm* kForms[] = {
    nullptr,
#define ARCHITECTURE(Name, name) &name##_fixture,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};
const FixtureForm* form_of(Architecture architecture) {
  if (is_transformer(architecture)) return nullptr;
  return kForms[static_cast<size_t>(architecture) - static_cast<size_t>(Architecture::EncoderDecoder)];
}

Architecture architecture_of(const InputValue& name) {
  std::vector<std::string_view> names{"dec", "enc", "encdec"};
  for (const FixtureForm* form : std::span(kForms).subspan(1)) names.push_back(form->name);
  return static_cast<Architecture>(name.choice(names));
}

ModelConfig model_config(const SafetensorsFile& file, const InputValue& c) {
  ModelConfig m;
  m.architecture = architecture_of(c.at("arch"));
  if (const FixtureForm* form = form_of(m.architecture)) {
    form->read(c, m);
  } else {
    read_sizes(c, m);
    read_transformer(file, c, m);
  }
  m.norm = norm_from(c.at("norm").text(kLongestName));
  m.eps = static_cast<float>(metadata(file, "layer_norm_eps").number(0, 1));
  return m;
}

/// Names the batch as the program does and as the file does.
void name_inputs(Fixture& f) {
  const ModelConfig& m = f.config;
  const int64_t B = f.batch;
  if (const FixtureForm* form = form_of(m.architecture)) {
    f.inputs = {form->input(f), {"targets", "input/y", {B}, -1, m.classes - 1}};
    return;
  }
  f.inputs = {{"tokens", "input/x", {B, f.length}, 0, m.vocabulary - 1},
              {"targets", "input/y", {B, f.length}, -1, m.vocabulary - 1}};
  if (f.source_length > 0)
    f.inputs.push_back({"source", "input/src", {B, f.source_length}, 0, m.vocabulary - 1});
  if (f.key_lengths) f.inputs.push_back({"key_lengths", "input/key_len", {B}, 0, m.sequence});
  if (m.memory > 0) f.before = {{"tokens", "input/before", {B, f.length}, 0, m.vocabulary - 1}};
}

/// "post", or "mixed" where the layers differ.
std::string placement_text(const std::vector<Placement>& list) {
  for (Placement p : list)
    if (p != list.front()) return "mixed";
  return to_string(list.front());
}

std::string describe(const Fixture& f) {
  const ModelConfig& c = f.config;
  if (const FixtureForm* form = form_of(c.architecture))
    return form->describe(c, fmt::format("{}, {}", to_string(placement_of(c.stack(), context_of(c, true))),
                                         short_name(c.norm)));
  const std::string kind =
      c.architecture == Architecture::Decoder ? "decoder, " + placement_text(f.decoder)
      : c.architecture == Architecture::Encoder
          ? "encoder, " + placement_text(f.encoder)
          : "encoder-decoder, " + placement_text(f.encoder) + " and " + placement_text(f.decoder);
  const std::string memory = c.memory > 0 ? fmt::format(", memory {}", c.memory) : "";
  return fmt::format("{}, {}{}{}, L={} d={} heads={} V={}", kind, short_name(c.norm),
                     f.key_lengths ? ", padded" : "", memory, c.layers, c.d_model, c.heads, c.vocabulary);
}

/// Gain or bias of a norm in the given place.
std::string norm_part(const std::string& place, char part) {
  return place + (part == 'g' ? ".gain" : ".bias");
}

/// Reads the wiring of a transformer and the lengths of its rows.
void read_stacks(const SafetensorsFile& file, const InputValue& c, Fixture& f) {
  ModelConfig& m = f.config;
  const InputValue placement = c.at("placement"), other = c.find("placement_dec").value_or(placement);
  const bool both = m.architecture == Architecture::EncoderDecoder;
  if (m.architecture != Architecture::Decoder) {
    f.encoder = placements(placement, m.layers);
    m.encoder = wire(f.encoder, m.norm, context_of(m, false));
  }
  if (m.architecture != Architecture::Encoder) {
    f.decoder = placements(both && !other.is_null() ? other : placement, m.layers);
    m.decoder = wire(f.decoder, m.norm, context_of(m, true));
  }
  f.length = metadata(file, "length").whole(1, m.sequence);
  f.source_length = both ? metadata(file, "source_length").whole(1, m.sequence) : 0;
  f.key_lengths = file.contains("input/key_len");
}

}  // namespace

void read_sizes(const InputValue& c, ModelConfig& m) {
  m.layers = c.at("L").whole(1, 256);
  m.d_model = c.at("d").whole(2, 8192);
  m.feed_forward = c.at("dff").whole(1, 65536);
  m.vocabulary = c.at("vocab").whole(2, 1'000'000);
}

Fixture read_fixture(const SafetensorsFile& file) {
  const InputValue c = metadata(file, "config"), adam = metadata(file, "adam");
  Fixture f;
  f.config = model_config(file, c);
  if (is_transformer(f.config.architecture)) {
    read_stacks(file, c, f);
  } else {
    set_placement(f.config, placements(c.at("placement"), 1)[0]);
    f.length = f.config.sequence;
  }
  validate(f.config);
  f.batch = metadata(file, "batch").whole(1, 4096);
  name_inputs(f);
  f.adam_steps = adam.at("steps").whole(1, kMaxAdamSteps);
  const auto real = [](const InputValue& value, double low, double high) {
    return static_cast<float>(value.number(low, high));
  };
  f.step.lr = real(adam.at("lr"), 0, 1000);
  f.step.eps = real(adam.at("eps"), 0, 1);
  f.step.beta1 = real(adam.at("beta1"), 0, 1);
  f.step.beta2 = real(adam.at("beta2"), 0, 1);
  f.step.label_smoothing = real(c.at("label_smoothing"), 0, 1);
  f.description = describe(f);
  return f;
}

std::string Fixture::parameter(const std::string& name) const {
  if (name == "emb") return "emb.tokens";
  if (name == "pos") return "emb.positions";
  if (name == "out") return "out.w";
  // Files of the younger placements use the engine's own names.
  if (name.find('.') != std::string::npos && name.find(".subs.") == std::string::npos &&
      !name.ends_with(".final.g") && !name.ends_with(".final.b"))
    return name;
  const bool both = config.architecture == Architecture::EncoderDecoder,
             in_decoder = name.starts_with("dec.");
  const std::vector<Placement>& placement = in_decoder ? decoder : encoder;
  const std::string prefix = both ? name.substr(0, 4) : "", rest = name.substr(4);
  if (rest.starts_with("final.")) return norm_part(prefix + "final", rest.back());

  const size_t first = std::string("subs.").size(), dot = rest.find('.', first);
  // Self-attention, cross-attention (in the decoder of an encoder-decoder) and feed-forward alternate.
  const std::vector<const char*> kinds =
      both && in_decoder ? std::vector{"attn", "cross", "ffn"} : std::vector{"attn", "ffn"};
  const size_t k = std::stoul(rest.substr(first)), layer = k / kinds.size();
  if (layer >= placement.size()) fail("fixture", "'{}' is not a parameter of a {}", name, description);
  const std::string place = fmt::format("{}L{:02}.{}", prefix, layer + 1, kinds[k % kinds.size()]);
  const bool before = row_of(placement[layer]).sublayer.before != NormKind::None;
  const std::string part = rest.substr(dot + 1);
  if (part.starts_with("f.")) return place + "." + part.substr(2);
  if (part.starts_with("norm.")) return norm_part(place + (before ? ".before" : ".stream"), part.back());
  if (part.starts_with("norm2.")) return norm_part(place + ".after", part.back());
  if (part == "omega") return place + ".skip";
  if (part == "res") return place + ".branch";
  fail("fixture", "'{}' is not a parameter of a {}", name, description);
}

}  // namespace normscope
