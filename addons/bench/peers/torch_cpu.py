#!/usr/bin/env python3
"""The models of `normscope bench` in PyTorch on the CPU: a decoder, Pre-LN, ReLU, learned positions, untied output, Adam;
an encoder-decoder, and the other systems, each in a file of its own (torch_encdec.py, torch_memory.py, ...).

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. Each row is one JSON line with
the keys of `normscope bench --json`:

    torch_cpu.py [lesson] [deep] [wide] [base] [encdec] [memory] [convnet] [parser] [--threads 2] [--modes eager,compiled,chunked] [--seconds 2] [--turns]

--products FILE, a `normscope bench --gemm --json`, adds the sgemm inside PyTorch at the products of that file. --ops
adds the rows of torch_ops.py.
"""

import argparse
import json
import pathlib
import statistics

import torch
import torch_convnet
import torch_encdec
import torch_memory
import torch_ops
import torch_parser
from torch_decoder import CHUNKED, Decoder
from twin import SIZES, Peer, add_arguments, flop, measure


OTHERS = {  # the module, its model, and the targets of a step
    "encdec": (torch_encdec, torch_encdec.EncoderDecoder, torch_encdec.B * torch_encdec.T),
    "memory": (torch_memory, torch_memory.Remembering, torch_memory.B * torch_memory.T),
    "convnet": (torch_convnet, torch_convnet.Convnet, torch_convnet.B),
    "parser": (torch_parser, torch_parser.Parser, torch_parser.B),
}


def model_of(name):
    """Returns the model, a batch, its target tokens, and the FLOP of a step."""
    if name in OTHERS:
        module, model, targets = OTHERS[name]
        return model(), module.batch(), targets, module.flop()
    layers, d, heads, f, t, b, v = SIZES[name]
    batch = list(torch.randint(0, v, (2, b, t)))
    return Decoder(layers, d, heads, f, t, v), batch, b * t, flop(layers, d, heads, f, t, b, v)


def prepare(name, mode):
    torch.manual_seed(1)
    model, batch, tokens, work = model_of(name)
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    if mode == "chunked":
        if not CHUNKED or not hasattr(model, "chunked"):
            raise NotImplementedError("this PyTorch, or this model, has no linear layer with its cross-entropy in chunks")
        model.chunked = True
    loss_of = torch.compile(model) if mode == "compiled" else model

    def step():
        adam.zero_grad(set_to_none=True)
        loss = loss_of(*batch)
        loss.backward()
        numbers = torch.stack([loss.detach(), *torch._foreach_norm([p.grad for p in parameters])])
        adam.step()
        return numbers.tolist()

    return step, tokens, work


def product(m, n, k, layout, seconds=0.25):
    """Returns the median GFLOP/s of torch.mm, whose operands are views as autograd makes them."""
    a = torch.randn(k, m).T if layout == "TN" else torch.randn(m, k)
    b = torch.randn(n, k).T if layout == "NT" else torch.randn(k, n)
    c = torch.empty(m, n)
    batch = max(1, int(1e6 / (m * n * k / 1e2)))  # reads the clock at most about every 0.1 ms

    def step():
        for _ in range(batch):
            torch.mm(a, b, out=c)
        return [c[0, 0].item()]

    times, _ = measure(step, seconds)
    return 2e-9 * m * n * k * batch / statistics.median(times)


def products(path):
    for ours in json.loads(path.read_text())["gemm"]:
        torch.set_num_threads(ours["threads"])
        shape = {key: ours[key] for key in ("m", "n", "k", "layout", "threads", "group")}
        rate = product(ours["m"], ours["n"], ours["k"], ours["layout"])
        print(json.dumps({"framework": f"PyTorch {torch.__version__}", "mode": "sgemm", **shape, "gflops": rate}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, [*SIZES, *OTHERS], "eager,compiled")
    parser.add_argument("--products", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--ops", action="store_true")
    args = parser.parse_args()
    if args.products:
        products(args.products)
    torch.set_num_threads(args.threads)
    Peer(f"PyTorch {torch.__version__}", prepare, args).run()
    if args.ops:
        torch_ops.print_rows(args.threads, args.seconds)


if __name__ == "__main__":
    main()
