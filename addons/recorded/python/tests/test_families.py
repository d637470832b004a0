"""Of random configurations of transformers: the sums that are found, their order, the placement and the names."""
from __future__ import annotations

import unittest
from typing import Any

import torch

try:
    import transformers as hf
except ImportError:
    hf = None  # type: ignore[assignment]

from normscope._stream import Found

try:
    from .models import find, names_of
except ImportError:
    from models import find, names_of  # type: ignore[no-redef]

LAYERS = 3
SIZES: dict[str, Any] = dict(vocab_size=96, hidden_size=64, num_hidden_layers=LAYERS, num_attention_heads=4,
                             intermediate_size=128)
IDS = torch.randint(0, 96, (2, 12), generator=torch.Generator().manual_seed(1))


@unittest.skipIf(hf is None, "transformers is not installed")
class Families(unittest.TestCase):
    def check(self, found: Found, placement: str, norms: tuple[str, ...], inner: bool = False) -> None:
        self.assertEqual(names_of(found), [f"L{i + 1:02}.{k}" for i in range(LAYERS) for k in ("attn", "ffn")])
        self.assertEqual(found.placement, placement)
        for s in found.sublayers:
            self.assertEqual(tuple(n for n in s.norms if n != "inner"), norms)
            self.assertEqual("inner" in s.norms, inner and s.kind == "attn")

    def matrices(self, found: Found, gated: bool = True) -> None:
        ours = {f"L{{layer}}.{m}" for m in ("attn.wq", "attn.wk", "attn.wv", "attn.wo", "ffn.w1", "ffn.w2")}
        self.assertLessEqual(ours | ({"L{layer}.ffn.wg"} if gated else set()), set(found.names.values()))

    def causal(self, family: str, model: str = "", **more: Any) -> Found:
        torch.manual_seed(1)
        config = getattr(hf, family + "Config")(**{**SIZES, **more}, pad_token_id=0, bos_token_id=1, eos_token_id=2)
        return find(getattr(hf, (model or family) + "ForCausalLM")(config), input_ids=IDS, labels=IDS)

    def test_llama_mistral_qwen(self) -> None:
        for family in ("Llama", "Mistral"):
            found = self.causal(family, num_key_value_heads=2)
            self.check(found, "pre", ("before",))
            self.matrices(found)
        self.assertEqual(found.names["model.layers.{layer}.mlp.gate_proj.weight"], "L{layer}.ffn.wg")
        self.check(self.causal("Qwen3", num_key_value_heads=2, head_dim=16), "qknorm", ("before",), inner=True)

    def test_olmo2_and_gemma2(self) -> None:
        found = self.causal("Olmo2", num_key_value_heads=2)
        self.check(found, "", ("after",), inner=True)  # res-post, but for the norms of q and k
        self.matrices(found)
        found = self.causal("Gemma2", num_key_value_heads=2, head_dim=16)
        self.check(found, "sandwich", ("before", "after"))
        self.matrices(found)

    def test_gpt2_has_its_fused_matrix_in_three(self) -> None:
        torch.manual_seed(1)
        model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=96, n_embd=64, n_layer=LAYERS, n_head=4, n_positions=32,
                                                 bos_token_id=1, eos_token_id=2))
        found = find(model, input_ids=IDS, labels=IDS)
        self.check(found, "pre", ("before",))
        self.matrices(found, gated=False)
        self.assertEqual(found.names["transformer.h.{layer}.attn.c_attn.weight[k]"], "L{layer}.attn.wk")

    def test_neox_has_a_branch_of_two_parts(self) -> None:
        found = self.causal("GPTNeoX")
        self.assertEqual(names_of(found), [f"L{i + 1:02}.ffn" for i in range(LAYERS)])
        for s in found.sublayers:
            self.assertEqual([kind for kind, _, _ in s.parts], ["attn", "ffn"])
        self.assertEqual(found.names["gpt_neox.layers.{layer}.attention.query_key_value.weight"],
                         "L{layer}.attn.wqkv")  # by heads, so no three parts
        self.assertEqual(found.names["gpt_neox.layers.{layer}.post_attention_layernorm.weight"],
                         "L{layer}.ffn.before.gain")

    def test_post_norm_of_bert_and_opt(self) -> None:
        torch.manual_seed(1)
        found = find(hf.BertForMaskedLM(hf.BertConfig(**SIZES)), input_ids=IDS, labels=IDS)
        self.check(found, "post", ("stream",))
        self.matrices(found, gated=False)
        opt = hf.OPTConfig(vocab_size=96, hidden_size=64, num_hidden_layers=LAYERS, num_attention_heads=4, ffn_dim=128,
                           do_layer_norm_before=False, word_embed_proj_dim=64)
        found = find(hf.OPTForCausalLM(opt), input_ids=IDS, labels=IDS)  # its feed-forward sums are flattened
        self.check(found, "post", ("stream",))
        self.matrices(found, gated=False)

    def test_eager_attention_is_the_same(self) -> None:
        found = self.causal("Llama", num_key_value_heads=4, attn_implementation="eager")
        self.check(found, "pre", ("before",))
        self.matrices(found)

    def test_an_encoder_and_a_decoder(self) -> None:
        torch.manual_seed(1)
        config = hf.T5Config(vocab_size=96, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
                             decoder_start_token_id=0)
        found = find(hf.T5ForConditionalGeneration(config), input_ids=IDS, labels=IDS[:, :7].contiguous())
        self.assertEqual(names_of(found), [f"enc.L0{i}.{k}" for i in (1, 2) for k in ("attn", "ffn")] +
                         [f"dec.L0{i}.{k}" for i in (1, 2) for k in ("attn", "cross", "ffn")])
        self.assertEqual(found.placement, "pre")

    def test_a_mixture_of_experts_is_a_feed_forward_network(self) -> None:
        for family in ("Mixtral", "Qwen3Moe"):
            more = {"num_local_experts": 4} if family == "Mixtral" else {"num_experts": 4, "head_dim": 16,
                                                                         "moe_intermediate_size": 32}
            found = self.causal(family, num_key_value_heads=2, num_experts_per_tok=2, **more)
            self.check(found, "pre" if family == "Mixtral" else "qknorm", ("before",), inner=family != "Mixtral")
            self.assertEqual(found.names["model.layers.{layer}.self_attn.o_proj.weight"], "L{layer}.attn.wo")

    def test_a_mixer_that_is_no_attention(self) -> None:
        found = self.causal("Mamba", state_size=4)
        self.assertEqual((names_of(found), found.placement), ([f"L0{i}.mixer" for i in (1, 2, 3)], "pre"))
        self.assertEqual(found.names["backbone.layers.{layer}.norm.weight"], "L{layer}.mixer.before.gain")
        found = self.causal("Qwen3Next", num_key_value_heads=2, head_dim=16, linear_num_value_heads=2,
                            linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8, num_experts=4,
                            num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16,
                            layer_types=["linear_attention", "linear_attention", "full_attention"])
        self.assertEqual(names_of(found), [f"L0{i}.{k}" for i in (1, 2, 3) for k in ("attn" if i == 3 else "mixer", "ffn")])
        self.assertEqual(found.placement, "")  # norms within mixers have no name of ours

    def test_parallel_branches_that_are_added_one_after_the_other(self) -> None:
        found = self.causal("Cohere", num_key_value_heads=2)  # its norm is written by hand
        self.check(found, "pre", ("before",))
        self.assertEqual(found.names["model.layers.{layer}.mlp.down_proj.weight"], "L{layer}.ffn.w2")

    def test_the_last_sum_of_an_encoder_has_its_norm_on_the_stream(self) -> None:
        torch.manual_seed(1)
        config = hf.BartConfig(vocab_size=96, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                               decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64)
        found = find(hf.BartForConditionalGeneration(config), input_ids=IDS, labels=IDS)
        self.assertEqual(found.placement, "post")

    def test_shared_layers_have_no_names(self) -> None:
        torch.manual_seed(1)
        found = find(hf.AlbertForMaskedLM(hf.AlbertConfig(**SIZES, embedding_size=32)), input_ids=IDS, labels=IDS)
        self.check(found, "post", ("stream",))
        self.assertEqual([n for n in found.names if "albert_layers" in n], [])


if __name__ == "__main__":
    unittest.main()
