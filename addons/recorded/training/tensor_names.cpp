// See tensor_names.h. A name is cut into lower-case words at dots and slashes. The first word that holds layers and is
// followed by a number tells the layer; the rest is looked up in a table.
#include "addons/recorded/training/tensor_names.h"

#include <algorithm>
#include <charconv>

#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/io/toml.h"

namespace normscope::records {
namespace {

using Words = std::vector<std::string>;

/// Words that mean the same, under one name in capitals.
struct Synonyms {
  std::string_view name, words;
};
constexpr Synonyms kSynonyms[] = {
    {"SELF", "self_attn|attn|attention|self_attention|selfattention|mha|multiheaddotproductattention"},
    {"CROSS",
     "cross_attn|cross_attention|encoder_attn|crossattention|encdecattention|multihead_attn|"
     "encoder_decoder_attention"},
    {"FFN", "mlp|ffn|feed_forward|feedforward|ff|densereludense|mlpblock"},
    {"Q", "q|wq|q_proj|query|q_lin|to_q"},
    {"K", "k|wk|k_proj|key|k_lin|to_k"},
    {"V", "v|wv|v_proj|value|v_lin|to_v"},
    {"O", "o|wo|o_proj|out_proj|out|out_lin|to_out|c_proj|proj|dense"},
    {"QKV", "in_proj|c_attn|query_key_value|qkv|wqkv|qkv_proj"},
    {"UP", "fc1|c_fc|fc_in|up_proj|lin1|linear1|w1|wi|wi_1|dense_h_to_4h"},
    {"DOWN", "fc2|c_proj|fc_out|down_proj|lin2|linear2|w2|wo|dense_4h_to_h"},
    {"GATE", "gate_proj|wi_0"},
};

/// Names a part of one layer without its last word (weight, bias); '#' is any number. `of_decoder`: where a
/// decoder's name differs.
struct Rule {
  std::string_view theirs, ours, of_decoder = {};
};

// Sub-layer and matrix: "attn.q" has the weight attn.wq and the bias attn.bq. A gated network has a third matrix,
// ffn.wg, which Meta's own names call w1.
constexpr Rule kMatrices[] = {
    {"SELF.Q", "attn.q"},
    {"SELF.K", "attn.k"},
    {"SELF.V", "attn.v"},
    {"SELF.O", "attn.o"},
    {"SELF.QKV", "attn.qkv"},
    {"CROSS.Q", "cross.q"},
    {"CROSS.K", "cross.k"},
    {"CROSS.V", "cross.v"},
    {"CROSS.O", "cross.o"},
    {"CROSS.QKV", "cross.qkv"},
    {"FFN.UP", "ffn.1"},
    {"FFN.DOWN", "ffn.2"},
    {"FFN.GATE", "ffn.g"},
    {"FFN.w3", "ffn.3"},
    {"UP", "ffn.1"},  // torch.nn, BART
    {"DOWN", "ffn.2"},
    {"SELF.self.Q", "attn.q"},  // BERT; crossattention in its decoders
    {"SELF.self.K", "attn.k"},
    {"SELF.self.V", "attn.v"},
    {"SELF.output.dense", "attn.o"},
    {"CROSS.self.Q", "cross.q"},
    {"CROSS.self.K", "cross.k"},
    {"CROSS.self.V", "cross.v"},
    {"CROSS.output.dense", "cross.o"},
    {"SELF.SELF.Q", "attn.q"},  // ViT
    {"SELF.SELF.K", "attn.k"},
    {"SELF.SELF.V", "attn.v"},
    {"intermediate.dense", "ffn.1"},
    {"output.dense", "ffn.2"},
    {"layer.#.SELF.Q", "attn.q"},  // T5
    {"layer.#.SELF.K", "attn.k"},
    {"layer.#.SELF.V", "attn.v"},
    {"layer.#.SELF.O", "attn.o"},
    {"layer.#.CROSS.Q", "cross.q"},
    {"layer.#.CROSS.K", "cross.k"},
    {"layer.#.CROSS.V", "cross.v"},
    {"layer.#.CROSS.O", "cross.o"},
    {"layer.#.FFN.UP", "ffn.1"},
    {"layer.#.FFN.DOWN", "ffn.2"},
    {"layer.#.FFN.GATE", "ffn.g"},
    {"SELF.#.Q", "attn.q"},  // Flax, names that it made itself
    {"SELF.#.K", "attn.k"},
    {"SELF.#.V", "attn.v"},
    {"SELF.#.O", "attn.o"},
    {"FFN.#.dense.0", "ffn.1"},
    {"FFN.#.dense.1", "ffn.2"},
    {"FFN.dense.0", "ffn.1"},
    {"FFN.dense.1", "ffn.2"},
};

// The norm of a sub-layer, at any place in it: a name alone does not tell Pre-LN from Post-LN.
constexpr Rule kNorms[] = {
    {"input_layernorm|ln_1|ln1|self_attn_layer_norm|attention_norm|sa_layer_norm|norm1", "attn.norm"},
    {"SELF.output.layernorm", "attn.norm"},
    {"layer.0.layer_norm|layernorm.0", "attn.norm"},
    {"encoder_attn_layer_norm|ln_cross_attn", "cross.norm"},
    {"CROSS.output.layernorm", "cross.norm"},
    {"norm2|layer.1.layer_norm|layernorm.1", "ffn.norm", "cross.norm"},
    {"norm3|layer.2.layer_norm|layernorm.2", "ffn.norm"},
    {"post_attention_layernorm|ln_2|ln2|final_layer_norm|ffn_norm|output_layer_norm|output.layernorm",
     "ffn.norm"},
};

// Outside the layers: the end of a name.
constexpr Rule kOutside[] = {
    {"embeddings.layernorm|emb_norm", "emb.norm.gain"},
    {"embed_tokens|wte|word_embeddings|tok_embeddings|token_embedding|embed_in|shared|embed|embed.#",
     "emb.tokens"},
    {"wpe|embed_positions|position_embeddings|pos_embed|posembed_input.pos_embedding", "emb.positions"},
    {"lm_head|embed_out|logitdense|logits_dense", "out.w"},
    {"norm|ln_f|final_layer_norm|final_layernorm|encoder_norm|encoderdecoder_norm", "final.gain"},
};

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_one_of(std::string_view word, std::string_view words) {
  const std::vector<std::string_view> all = split(words, '|');
  return std::ranges::find(all, word) != all.end();
}

bool matches_word(std::string_view pattern, std::string_view word) {
  if (pattern == "#") return is_number(word);
  for (const Synonyms& s : kSynonyms)
    if (pattern == s.name) return is_one_of(word, s.words);
  return pattern == word;
}

/// Whether one of the alternatives matches as a whole: "norm2|layer.1.layer_norm".
bool matches(std::string_view patterns, std::span<const std::string> words, bool tail) {
  for (const std::string_view pattern : split(patterns, '|')) {
    const std::vector<std::string_view> parts = split(pattern, '.');
    if (tail ? parts.size() > words.size() : parts.size() != words.size()) continue;
    const std::span<const std::string> looked_at = words.last(parts.size());
    if (std::equal(parts.begin(), parts.end(), looked_at.begin(), matches_word)) return true;
  }
  return false;
}

bool holds_layers(std::string_view word) {
  return word == "h" || word.ends_with("layer") || word.ends_with("layers") || word.ends_with("block") ||
         word.ends_with("blocks");
}

/// True for words that wrappers put before and between names.
bool is_wrapper(std::string_view word) {
  return is_one_of(word, "module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module|params");
}

/// Cuts "layers_3" and "SelfAttention_0", as Flax counts its modules, into two words.
void add_word(std::string_view word, Words& words) {
  const std::string small = small_letters(word);
  if (is_wrapper(small)) return;
  const size_t line = word.rfind('_');
  const bool counted = line != word.npos && line > 0 && is_number(word.substr(line + 1));
  if (counted && (std::isupper(static_cast<unsigned char>(word[0])) || holds_layers(small.substr(0, line)))) {
    words.push_back(small.substr(0, line));
    words.push_back(small.substr(line + 1));
  } else {
    words.push_back(small);
  }
}

/// "['params']['layers_3']['kernel']", "params/layers_3/kernel", "layers_3.kernel" -> layers, 3, kernel
Words words_of(std::string_view name) {
  Words words;
  size_t begin = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && std::string_view("./[]'\"").find(name[i]) == std::string_view::npos) continue;
    if (i > begin) add_word(name.substr(begin, i - begin), words);
    begin = i + 1;
  }
  return words;
}

enum class Leaf : uint8_t { None, Weight, Bias };

Leaf take_leaf(Words& words) {
  if (words.empty()) return Leaf::None;
  std::string& last = words.back();
  const bool fused = last == "in_proj_weight" || last == "in_proj_bias";
  const bool weight = is_one_of(last, "weight|kernel|scale|gamma|embedding|in_proj_weight"),
             bias = is_one_of(last, "bias|beta|in_proj_bias");
  if (!weight && !bias) return Leaf::None;
  if (fused)
    last = "in_proj";
  else
    words.pop_back();
  return weight ? Leaf::Weight : Leaf::Bias;
}

/// Removes the mark of "NAME[q]", a part of a fused matrix, and returns "q".
std::string take_part(std::string_view& name) {
  for (const std::string_view mark : {"[q]", "[k]", "[v]"})
    if (name.ends_with(mark)) {
      name.remove_suffix(mark.size());
      return std::string(1, mark[1]);
    }
  return "";
}

/// "attn.q" -> attn.wq, attn.bq
std::string matrix_name(std::string_view rule, Leaf leaf, const std::string& part) {
  const size_t dot = rule.find('.');
  const std::string_view block = rule.substr(0, dot), which = rule.substr(dot + 1);
  return fmt::format("{}.{}{}", block, leaf == Leaf::Bias ? 'b' : 'w',
                     which == "qkv" && !part.empty() ? std::string_view(part) : which);
}

std::string part_in_layer(std::span<const std::string> rest, Leaf leaf, Stack stack,
                          const std::string& part) {
  for (const Rule& rule : kMatrices)
    if (matches(rule.theirs, rest, false)) return matrix_name(rule.ours, leaf, part);
  for (const Rule& rule : kNorms)
    if (matches(rule.theirs, rest, false)) {
      const bool decoder = stack == Stack::Decoder && !rule.of_decoder.empty();
      return fmt::format("{}.{}", decoder ? rule.of_decoder : rule.ours,
                         leaf == Leaf::Bias ? "bias" : "gain");
    }
  return "";
}

/// Norms outside the layers have biases, and so may the output; other parts are matrices.
std::string part_outside(std::span<const std::string> words, Leaf leaf) {
  for (const Rule& rule : kOutside)
    if (matches(rule.theirs, words, true)) {
      const std::string_view ours = rule.ours;
      if (leaf != Leaf::Bias) return std::string(ours);
      const std::string module(ours.substr(0, ours.rfind('.')));
      return ours.ends_with(".gain") ? module + ".bias" : ours.ends_with(".w") ? module + ".b" : "";
    }
  return "";
}

/// Reads the words before a layer's number: "encoderdecoderblock" is the decoder's.
Stack stack_of(std::span<const std::string> words) {
  Stack stack = Stack::Only;
  for (const std::string& word : words) {
    if (word.find("decoder") != word.npos) return Stack::Decoder;
    if (word.find("encoder") != word.npos) stack = Stack::Encoder;
  }
  return stack;
}

int32_t layer_number(std::string_view digits) {
  int32_t number = kMaxLayers;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool mapped(std::string_view name, const NameMapping& mapping, TensorName& found) {
  for (const NameRule& rule : mapping.rules) {
    if (!name.starts_with(rule.before)) continue;
    std::string_view rest = name.substr(rule.before.size());
    found = rule.target;
    if (!rule.layered && rest.empty()) return true;
    if (!rule.layered || rest.size() <= rule.after.size() || !rest.ends_with(rule.after)) continue;
    rest.remove_suffix(rule.after.size());
    if (!is_number(rest)) continue;
    const int64_t layer = int64_t{layer_number(rest)} - mapping.first_layer + 1;
    if (layer < 1 || layer > kMaxLayers) continue;
    found.layer = static_cast<int32_t>(layer);
    return true;
  }
  return false;
}

/// True for "beta2.3.3" and "beta2.3.sum" (measure/step_metrics.h).
bool is_share(std::string_view name) {
  const std::vector<std::string_view> words = split(name, '.');
  return words.size() == 3 && words[0] == "beta2" && is_number(words[1]) &&
         (is_number(words[2]) || words[2] == "sum");
}

constexpr std::string_view kLayer = "{layer}";

constexpr const char* kExpected =
    "expected a name of ours such as \"L{layer}.attn.wq\", \"enc.L{layer}.ffn.w2\" or \"emb.tokens\"";

/// File and line of a mapping, to begin errors with.
struct Place {
  const std::string& file;
  toml::source_index line;
  [[noreturn]] void refuse(const Message& what) const { throw Error("{}:{}: {}", file, line, what); }
};

int32_t first_layer_of(const toml::node& node, const Place& place) {
  const auto number = node.value_exact<int64_t>();
  if (!number || *number < 0 || *number > 1)
    place.refuse("first_layer: expected 0 or 1, what their first layer is called");
  return static_cast<int32_t>(*number);
}

}  // namespace

TensorName parse_own_name(std::string_view name) {
  TensorName own{.ours = true};
  std::string_view rest = name;
  for (const auto& [prefix, stack] : {std::pair("enc.", Stack::Encoder), std::pair("dec.", Stack::Decoder)})
    if (rest.starts_with(prefix)) {
      own.stack = stack;
      rest.remove_prefix(4);
    }
  if (rest.starts_with('L')) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view digits = rest.substr(1, dot - 1);
    if (digits.size() < 2 || !is_number(digits) || dot + 1 >= rest.size()) return {};
    own.layer = layer_number(digits);
    if (own.layer < 1 || own.layer >= kMaxLayers) return {};
    rest.remove_prefix(dot + 1);
    if (!is_one_of(rest.substr(0, rest.find('.')), "attn|cross|ffn|mixer")) return {};
  } else if (!is_share(rest) &&
             !is_one_of(rest,
                        "emb.tokens|emb.positions|emb.norm.gain|emb.norm.bias|out.w|out.b|class.w|class.b|"
                        "final.gain|final.bias|total")) {
    return {};
  }
  own.part = rest;
  return own;
}

TensorName resolve(std::string_view name, NameOf of, const NameMapping& mapping) {
  TensorName found;
  if (mapped(name, mapping, found)) return found;
  found = parse_own_name(name);
  if (found.known()) return found;
  const std::string part = take_part(name);
  Words words = words_of(name);
  const Leaf leaf = of == NameOf::Parameter ? take_leaf(words) : Leaf::None;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!holds_layers(words[i]) || !is_number(words[i + 1])) continue;
    const int32_t number = layer_number(words[i + 1]);
    if (number >= kMaxLayers) return found;
    const std::span<const std::string> all(words);
    found.layer = number + 1;
    found.stack = stack_of(all.first(i + 1));
    found.output = of == NameOf::Output && i + 2 == words.size();
    if (found.output) found.part = "ffn.out";
    if (of == NameOf::Parameter) found.part = part_in_layer(all.subspan(i + 2), leaf, found.stack, part);
    return found;
  }
  if (of == NameOf::Parameter) found.part = part_outside(words, leaf);
  if (found.known()) found.stack = stack_of(words);
  return found;
}

std::string engine_name(const TensorName& name, bool both) {
  const char* prefix = "";
  if (name.ours || both)
    prefix = name.stack == Stack::Encoder ? "enc." : name.stack == Stack::Decoder ? "dec." : "";
  if (name.layer == 0) return prefix + name.part;
  return fmt::format("{}L{:02}.{}", prefix, name.layer, name.part);
}

NameRule name_rule(std::string_view theirs, std::string_view ours) {
  const auto complain = [](std::string_view what, const char* expected) {
    throw Error("{} {}", shown_text(what), expected);
  };
  if (theirs.empty() || theirs.size() > kLongestName)
    throw Error("a name of {} bytes: expected 1 to {}", theirs.size(), kLongestName);
  NameRule rule;
  const size_t at = theirs.find(kLayer), here = ours.find(kLayer);
  rule.layered = at != theirs.npos;
  rule.before = theirs.substr(0, at);
  if (rule.layered) rule.after = theirs.substr(at + kLayer.size());
  if (rule.before.find_first_of("{}") != rule.before.npos ||
      rule.after.find_first_of("{}") != rule.after.npos)
    complain(theirs, "has braces: expected {layer}, once, for the number of the layer");
  std::string example(ours);
  if (here != ours.npos) example.replace(here, kLayer.size(), "01");
  rule.target = parse_own_name(example);
  const bool plain = example.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.L") == example.npos &&
                     example.size() < 80;
  if (!rule.target.known() || !plain) complain(ours, kExpected);
  if (rule.layered && here == ours.npos)
    complain(ours, "has no {layer} and the name on the left has one: expected it on both sides");
  if (!rule.layered && here != ours.npos)
    complain(ours, "has {layer} and the name on the left has none: expected it on both sides");
  rule.target.output = rule.target.part == "ffn.out";
  return rule;
}

namespace {

/// "loss" = "my/name"; false for the line of a tensor.
bool take_series(std::string_view ours, const std::string& theirs, NameMapping& mapping) {
  if (ours == "step") return !(mapping.step = theirs).empty();
  if (ours != "loss" && ours != "lr" && ours != "validation") return false;
  mapping.series[theirs] = ours;
  return true;
}

}  // namespace

NameMapping parse_name_mapping(std::string_view text, const std::string& file) {
  const toml::table table = parse_toml(text, file);
  if (table.size() > kMaxNameRules)
    throw Error("{}: {} names: expected at most {}", file, table.size(), kMaxNameRules);
  NameMapping mapping;
  for (const auto& [key, node] : table) {
    const Place place{file, node.source().begin.line};
    const std::string_view theirs = key.str();
    if (theirs == "first_layer") {
      mapping.first_layer = first_layer_of(node, place);
      continue;
    }
    const auto ours = node.value_exact<std::string>();
    if (ours && take_series(theirs, *ours, mapping)) continue;
    if (!ours)
      place.refuse(
          {"{}: expected = \"L{{layer}}.attn.wq\", and a name with dots in quotes", shown_text(theirs)});
    try {
      mapping.rules.push_back(name_rule(theirs, *ours));
    } catch (const Error& error) {
      place.refuse({"{}", error.message});
    }
  }
  return mapping;
}

NameMapping read_name_mapping(const std::string& path) {
  return parse_name_mapping(read_input_file(path, kNamesFile), path);
}

}  // namespace normscope::records
