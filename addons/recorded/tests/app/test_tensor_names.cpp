// These tests read names of other people's models: each family's own, what no rule knows, and the mapping file.

#include <regex>

#include "addons/recorded/training/tensor_names.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "test_paths.h"

namespace normscope::records {
using test::error_of;

namespace {

struct Named {
  const char *theirs, *ours;
};

/// The engine's name, "" where it is not known.
std::string ours(const char* theirs, bool both = false, NameOf of = NameOf::Parameter) {
  const TensorName name = resolve(theirs, of);
  return name.known() ? engine_name(name, both) : "";
}

/// The texts in quotes that match a pattern.
std::set<std::string> quoted(const std::string& source, const char* pattern) {
  const std::regex text(std::string("\"(") + pattern + ")\"");
  std::set<std::string> all;
  for (std::sregex_iterator it(source.begin(), source.end(), text), end; it != end; ++it)
    all.insert(it->str(1));
  return all;
}

}  // namespace

TEST_CASE("names: what the Python package may write is read here, and it writes nothing else") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/recorded/python/normscope/",
                    table = test::read_all(folder + "_names.py");
  const std::set<std::string> outside = quoted(table, "[a-z]+\\.[a-z]+"), sublayers = quoted(table, "[a-z]+");
  CHECK(outside.contains("out.b"));
  for (const std::string& name : outside) {
    INFO(name);
    CHECK(parse_own_name(name).known());
    CHECK_NOTHROW(name_rule("theirs", name));
  }
  CHECK(sublayers == std::set<std::string>{"attn", "cross", "ffn"});
  for (const std::string& kind : sublayers) CHECK(parse_own_name("enc.L01." + kind + ".before.gain").known());
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".py")
      for (const std::string& name :
           quoted(test::read_all(file.path()), "(?:emb|out|final|class)\\.[a-z.]+")) {
        INFO(file.path() << ": " << name);
        CHECK(outside.contains(name));
      }
}

TEST_CASE("names: single stacks of Hugging Face and of their own authors") {
  const Named names[] = {
      {"model.layers.3.self_attn.q_proj.weight", "L04.attn.wq"},  // Llama, Mistral, Qwen
      {"model.layers.3.self_attn.q_proj.bias", "L04.attn.bq"},
      {"model.layers.10.self_attn.o_proj.weight", "L11.attn.wo"},
      {"model.layers.0.mlp.gate_proj.weight", "L01.ffn.wg"},
      {"model.layers.0.mlp.up_proj.weight", "L01.ffn.w1"},
      {"model.layers.0.mlp.down_proj.weight", "L01.ffn.w2"},
      {"model.layers.0.input_layernorm.weight", "L01.attn.norm.gain"},
      {"model.layers.0.post_attention_layernorm.weight", "L01.ffn.norm.gain"},
      {"model.embed_tokens.weight", "emb.tokens"},
      {"model.norm.weight", "final.gain"},
      {"lm_head.weight", "out.w"},
      {"lm_head.bias", "out.b"},
      {"module._orig_mod.model.layers.3.self_attn.v_proj.weight", "L04.attn.wv"},  // wrapped
      {"h.3.attn.c_attn", "L04.attn.wqkv"},                                        // GPT-2, nanoGPT
      {"transformer.h.3.attn.c_attn.weight", "L04.attn.wqkv"},
      {"transformer.h.3.attn.c_attn.weight[k]", "L04.attn.wk"},
      {"transformer.h.3.attn.c_proj.weight", "L04.attn.wo"},
      {"transformer.h.3.mlp.c_fc.weight", "L04.ffn.w1"},
      {"transformer.h.3.mlp.c_proj.bias", "L04.ffn.b2"},
      {"transformer.h.3.ln_2.bias", "L04.ffn.norm.bias"},
      {"transformer.wte.weight", "emb.tokens"},
      {"transformer.wpe.weight", "emb.positions"},
      {"transformer.ln_f.bias", "final.bias"},
      {"gpt_neox.layers.3.attention.query_key_value.weight", "L04.attn.wqkv"},  // Pythia
      {"gpt_neox.layers.3.attention.dense.weight", "L04.attn.wo"},
      {"gpt_neox.layers.3.mlp.dense_h_to_4h.weight", "L04.ffn.w1"},
      {"bert.encoder.layer.11.attention.self.query.weight", "L12.attn.wq"},  // BERT, RoBERTa
      {"bert.encoder.layer.11.attention.output.dense.weight", "L12.attn.wo"},
      {"bert.encoder.layer.11.attention.output.LayerNorm.weight", "L12.attn.norm.gain"},
      {"bert.encoder.layer.11.intermediate.dense.weight", "L12.ffn.w1"},
      {"bert.encoder.layer.11.output.dense.weight", "L12.ffn.w2"},
      {"bert.encoder.layer.11.output.LayerNorm.bias", "L12.ffn.norm.bias"},
      {"bert.embeddings.word_embeddings.weight", "emb.tokens"},
      {"bert.embeddings.position_embeddings.weight", "emb.positions"},
      {"bert.embeddings.LayerNorm.weight", "emb.norm.gain"},
      {"blocks.3.attn.qkv.weight", "L04.attn.wqkv"},  // timm
      {"blocks.3.attn.proj.weight", "L04.attn.wo"},
      {"blocks.3.norm2.weight", "L04.ffn.norm.gain"},
      {"layers.3.feed_forward.w3.weight", "L04.ffn.w3"},  // Meta
      {"vit.encoder.layer.3.attention.attention.key.weight", "L04.attn.wk"},
  };
  for (const auto& [theirs, expected] : names) {
    INFO(theirs);
    CHECK(ours(theirs) == expected);
  }
}

TEST_CASE("names: encoder and decoder") {
  const Named names[] = {
      {"transformer.encoder.layers.0.norm1", "enc.L01.attn.norm.gain"},  // torch.nn.Transformer
      {"encoder.layers.0.self_attn.in_proj_weight", "enc.L01.attn.wqkv"},
      {"encoder.layers.0.self_attn.in_proj_weight[q]", "enc.L01.attn.wq"},
      {"encoder.layers.0.self_attn.in_proj_bias", "enc.L01.attn.bqkv"},
      {"encoder.layers.0.self_attn.out_proj.weight", "enc.L01.attn.wo"},
      {"encoder.layers.0.linear1.weight", "enc.L01.ffn.w1"},
      {"encoder.layers.0.norm2.weight", "enc.L01.ffn.norm.gain"},
      {"encoder.norm.weight", "enc.final.gain"},
      {"decoder.layers.1.multihead_attn.in_proj_weight[v]", "dec.L02.cross.wv"},
      {"decoder.layers.1.multihead_attn.out_proj.weight", "dec.L02.cross.wo"},
      {"decoder.layers.1.linear2.bias", "dec.L02.ffn.b2"},
      {"decoder.layers.1.norm2.weight", "dec.L02.cross.norm.gain"},
      {"decoder.layers.1.norm3.bias", "dec.L02.ffn.norm.bias"},
      {"encoder.block.0.layer.0.SelfAttention.q.weight", "enc.L01.attn.wq"},  // T5
      {"encoder.block.0.layer.1.DenseReluDense.wi.weight", "enc.L01.ffn.w1"},
      {"encoder.block.0.layer.1.layer_norm.weight", "enc.L01.ffn.norm.gain"},
      {"decoder.block.2.layer.1.EncDecAttention.k.weight", "dec.L03.cross.wk"},
      {"decoder.block.2.layer.1.layer_norm.weight", "dec.L03.cross.norm.gain"},
      {"decoder.block.2.layer.2.DenseReluDense.wi_0.weight", "dec.L03.ffn.wg"},
      {"decoder.block.2.layer.2.DenseReluDense.wo.weight", "dec.L03.ffn.w2"},
      {"shared.weight", "emb.tokens"},
      {"model.decoder.layers.3.encoder_attn.out_proj.weight", "dec.L04.cross.wo"},  // BART
      {"model.decoder.layers.3.encoder_attn_layer_norm.weight", "dec.L04.cross.norm.gain"},
      {"model.encoder.layers.3.fc2.weight", "enc.L04.ffn.w2"},
      {"decoder/layers_3/encoder_decoder_attention/query/kernel", "dec.L04.cross.wq"},  // T5X
  };
  for (const auto& [theirs, expected] : names) {
    INFO(theirs);
    CHECK(ours(theirs, true) == expected);
  }
  // A stack that stands alone has no prefix.
  CHECK(ours("encoder.layers.0.linear1.weight") == "L01.ffn.w1");
}

TEST_CASE("names: Flax, with slashes, brackets and numbers that it gave itself") {
  const Named names[] = {
      {"layers_3/attn/query/kernel", "L04.attn.wq"},
      {"params/layers_3/attn/query/bias", "L04.attn.bq"},
      {"['params']['layers_3']['mlp']['wi']['kernel']", "L04.ffn.w1"},
      {"params/h_3/attn/c_attn/kernel", "L04.attn.wqkv"},
      {"params/Transformer/encoderblock_3/MultiHeadDotProductAttention_0/out/kernel", "L04.attn.wo"},
      {"params/Transformer/encoderblock_3/MlpBlock_0/Dense_0/kernel", "L04.ffn.w1"},
      {"params/Transformer/encoderblock_3/MlpBlock_0/Dense_1/kernel", "L04.ffn.w2"},
      {"params/Transformer/encoderblock_3/LayerNorm_0/scale", "L04.attn.norm.gain"},
      {"params/decoder/encoderdecoderblock_3/SelfAttention_0/value/kernel", "L04.attn.wv"},
      {"params/Embed_0/embedding", "emb.tokens"},
  };
  for (const auto& [theirs, expected] : names) {
    INFO(theirs);
    CHECK(ours(theirs) == expected);
  }
}

TEST_CASE("names: what a layer gives out, our own names, and what nobody knows") {
  CHECK(ours("model.layers.3", false, NameOf::Output) == "L04.ffn.out");
  CHECK(ours("encoder.block.0", true, NameOf::Output) == "enc.L01.ffn.out");
  CHECK(ours("params/layers_3", false, NameOf::Output) == "L04.ffn.out");
  CHECK(ours("model.layers.3.self_attn", false, NameOf::Output).empty());
  CHECK(ours("model.layers.3").empty());
  for (const char* own :
       {"L03.attn.wq", "enc.L03.attn.wq", "dec.L120.cross.wo", "L01.ffn.sum", "emb.tokens", "out.w"})
    CHECK(ours(own) == own);
  for (const char* unknown :
       {"blob", "", "net.3.0.weight", "L3.attn.wq", "L03.other.wq", "L03.", "model.layers.weight",
        "model.layers.99999999999.self_attn.q_proj.weight", "layers.3", ".....", "weight"})
    CHECK(ours(unknown).empty());
  const TensorName half = resolve("model.layers.3.mixer.in.weight", NameOf::Parameter);
  CHECK_FALSE(half.known());
  CHECK(half.layer == 4);
}

TEST_CASE("names: a mapping goes before the rules") {
  const NameMapping mapping = parse_name_mapping(R"(first_layer = 1
"net.stage{layer}.att.query" = "L{layer}.attn.wq"
"net.stage{layer}" = "L{layer}.ffn.out"
"model.layers.{layer}.self_attn.q_proj.weight" = "dec.L{layer}.attn.wk"
"net.table" = "emb.tokens"
)",
                                                 "m.toml");
  const auto mapped = [&](const char* name) {
    return engine_name(resolve(name, NameOf::Parameter, mapping), false);
  };
  CHECK(mapped("net.stage1.att.query") == "L01.attn.wq");
  CHECK(mapped("net.stage12.att.query") == "L12.attn.wq");
  CHECK(mapped("net.table") == "emb.tokens");
  CHECK(mapped("model.layers.2.self_attn.q_proj.weight") == "dec.L02.attn.wk");
  CHECK(resolve("net.stage3", NameOf::Output, mapping).output);
  for (const char* other :
       {"net.stage0.att.query", "net.stageX.att.query", "net.stage.att.query", "net.tables"})
    CHECK_FALSE(resolve(other, NameOf::Parameter, mapping).known());
  // A number that is none of a layer, where the first is called 0.
  const NameMapping from_nought =
      parse_name_mapping("\"net.stage{layer}.att.query\" = \"L{layer}.attn.wq\"\n", "m.toml");
  CHECK(resolve("net.stage0.att.query", NameOf::Parameter, from_nought).layer == 1);
  CHECK(resolve("net.stage9999.att.query", NameOf::Parameter, from_nought).layer == 10'000);
  for (const char* other : {"net.stage10000.att.query", "net.stage2147483647.att.query"})
    CHECK_FALSE(resolve(other, NameOf::Parameter, from_nought).layer > 0);
}

TEST_CASE("names: a mapping that is wrong is refused with its line") {
  const auto says = [](const std::string& text) {
    return error_of([&] { parse_name_mapping("# names\n" + text, "m.toml"); });
  };
  CHECK(says("\"a.{layer}\" = \"L{layer}.attn.query\"") == "no error");
  for (const std::vector<std::string>& row : test::refusals("name-mapping")) CHECK(says(row[0]) == row[1]);
  CHECK(test::contains(says("\"a\" ="), "m.toml:2: not valid TOML"));
  CHECK(test::contains(error_of([] { read_name_mapping("/nowhere/m.toml"); }), "/nowhere/m.toml"));
}

}  // namespace normscope::records
