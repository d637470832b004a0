"""Of small models without transformers: norms that are written by hand, and sums that cannot all be recorded."""
from __future__ import annotations

import collections
import unittest
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional as F

from normscope._measure import stream_numbers

try:
    from .models import find, names_of
except ImportError:
    from models import find, names_of  # type: ignore[no-redef]

D = 8
Tensor = torch.Tensor


class Norm(nn.Module):
    def __init__(self, of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.g, self.b, self.of = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D)), of

    def forward(self, x: Tensor) -> Tensor:
        return self.of(x, self.g, self.b)


def textbook(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return g * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + b


def of_variance(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return g * ((x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)) + b


def root_mean_square(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return g * x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) + b


def to_length_one(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return F.normalize(x, dim=-1) * g + b


def dynamic_tanh(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return g * torch.tanh(0.5 * x) + b


def nothing(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    return x


class Block(nn.Module):
    def __init__(self, place: str, norm: nn.Module, d: int = D, add: Callable[..., Tensor] = torch.add) -> None:
        super().__init__()
        self.place, self.n, self.add = place, norm, add
        self.f = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, x: Tensor) -> Tensor:
        if self.place == "post":
            return self.n(self.add(x, self.f(x)))
        return self.add(x, self.n(self.f(x)) if self.place == "res-post" else self.f(self.n(x)))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out((q @ k.mT).softmax(-1) @ v)


def feed() -> nn.Module:
    return nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))


def stack(*blocks: nn.Module, d: int = D) -> nn.Module:
    return nn.Sequential(nn.Linear(4, D), *blocks, nn.Linear(d, 1, bias=False))  # a stream that a matrix began


X = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))


class Norms(unittest.TestCase):
    def found(self, place: str, of: Any) -> Any:
        return find(stack(*(Block(place, of if isinstance(of, nn.Module) else Norm(of)) for _ in range(3))), X)

    def test_a_norm_is_told_by_what_it_does(self) -> None:
        for of in (textbook, of_variance, root_mean_square, to_length_one, nn.LayerNorm(D), nn.BatchNorm1d(D)):
            for place in ("pre", "post", "res-post"):
                with self.subTest(f"{of} {place}"):
                    found = self.found(place, of)
                    self.assertEqual(found.placement, place)
                    self.assertEqual(found.notes, [])
                    if not isinstance(of, nn.Module):
                        where = {"pre": "before", "post": "stream", "res-post": "after"}[place]
                        self.assertEqual((found.names["2.n.g"], found.names["2.n.b"]),
                                         (f"L02.ffn.{where}.gain", f"L02.ffn.{where}.bias"))

    def test_no_norm_is_claimed_only_where_nothing_else_stands(self) -> None:
        for place in ("pre", "post", "res-post"):
            self.assertEqual(self.found(place, nothing).placement, "none")
            found = self.found(place, dynamic_tanh)
            self.assertEqual(found.placement, "")
            self.assertFalse(any(s.clear for s in found.sublayers))
            self.assertIn("(tanh): no placement is named", found.notes[0])

    def test_both_stacks_of_a_post_norm_transformer(self) -> None:
        x = torch.randn(2, 5, 16)
        self.assertEqual(find(nn.Transformer(16, 2, 2, 2, 32, batch_first=True), x, x).placement, "post")


class Sums(unittest.TestCase):
    def test_layers_whose_names_end_in_a_number(self) -> None:
        blocks = [Block("pre", nn.LayerNorm(D)) for _ in range(4)]
        named = collections.OrderedDict((f"layer_{i}", b) for i, b in enumerate(blocks))
        found = find(stack(nn.Sequential(named)), X)
        self.assertEqual(names_of(found), ["L01.ffn", "L02.ffn", "L03.ffn", "L04.ffn"])
        self.assertEqual(found.names["1.layer_{layer}.f.0.weight"], "L{layer}.ffn.w1")

    def test_sums_in_the_forward_of_the_whole(self) -> None:
        class Whole(nn.Module):
            """`how` its layers are kept, none of which has a forward of its own."""

            def __init__(self, how: str) -> None:
                super().__init__()
                self.begin, self.end, self.how = nn.Linear(4, D), nn.Linear(D, 1), how

                def layer() -> Any:
                    if how == "pairs":
                        return nn.ModuleList([nn.Sequential(nn.LayerNorm(D), f) for f in (Attention(), feed())])
                    return nn.ModuleDict({"n": nn.LayerNorm(D), "a": Attention(), "m": nn.LayerNorm(D), "f": feed()})

                self.layers = nn.ModuleList([layer() for _ in range(3)])

            def forward(self, x: Tensor) -> Tensor:
                x = self.begin(x)
                for layer in self.layers:
                    if self.how == "pairs":
                        x = layer[0](x) + x
                        x = layer[1](x) + x
                    else:
                        x = x + layer["a"](layer["n"](x))
                        x = x + layer["f"](layer["m"](x))
                return self.end(x)

        expected = [f"L0{i}.{kind}" for i in (1, 2, 3) for kind in ("attn", "ffn")]
        for how, matrix in (("pairs", "1.1.2"), ("dict", "f.2")):
            found = find(Whole(how), X.expand(2, 5, 4))
            self.assertEqual((names_of(found), found.placement, found.notes), (expected, "pre", []), how)
            self.assertEqual(found.names[f"layers.{{layer}}.{matrix}.weight"], "L{layer}.ffn.w2")

        class Sub(nn.Module):
            """A sub-layer that has its sum in it."""

            def __init__(self, f: nn.Module) -> None:
                super().__init__()
                self.n, self.f = nn.LayerNorm(D), f

            def forward(self, x: Tensor) -> Tensor:
                return x + self.f(self.n(x))

        stages = nn.Sequential(collections.OrderedDict(
            (f"stage_{c}", nn.Sequential(Sub(Attention()), Sub(feed()))) for c in "abc"))
        found = find(stack(stages), X.expand(2, 5, 4))
        self.assertEqual((names_of(found), found.placement, found.notes), (expected, "pre", []))
        self.assertEqual(found.names["1.stage_c.1.f.2.weight"], "L03.ffn.w2")

    def test_older_states_that_are_added(self) -> None:
        class Layer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.f, self.l = Attention(), feed(), nn.Parameter(torch.tensor([1.0, 0.5]))

            def forward(self, x: Tensor, x0: Tensor) -> Tensor:
                x = self.l[0] * x + self.l[1] * x0
                x = x + self.a(F.rms_norm(x, (D,)))
                return x + self.f(F.rms_norm(x, (D,)))

        class Skips(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.begin, self.end = nn.Linear(4, D), nn.Linear(D, 1)
                self.layers, self.s = nn.ModuleList(Layer() for _ in range(4)), nn.Parameter(torch.ones(2))

            def forward(self, x: Tensor) -> Tensor:
                x = x0 = F.rms_norm(self.begin(x), (D,))
                kept: list[Tensor] = []
                for i, layer in enumerate(self.layers):
                    x = layer(x + self.s[i - 2] * kept.pop() if i >= 2 else x, x0)
                    kept.append(x)
                return self.end(x)

        found = find(Skips(), X.expand(2, 5, 4))
        self.assertEqual(names_of(found), [f"L0{i}.{kind}" for i in (1, 2, 3, 4) for kind in ("attn", "ffn")])
        self.assertEqual((found.placement, found.older), ("pre", True))
        self.assertEqual(found.notes, ["older states are added between the residual sums: no shares are told"])
        self.assertEqual(found.names["layers.{layer}.f.2.weight"], "L{layer}.ffn.w2")
        read = {(s.add, i, 80): 1.0 for s in found.sublayers for i in range(5)}
        self.assertNotIn("share", stream_numbers(found, read))
        found.older = False
        self.assertEqual(len(stream_numbers(found, read)["share"]), 8)

    def test_what_puts_positions_together_is_no_feed_forward_network(self) -> None:
        class Convolution(nn.Conv1d):
            def forward(self, x: Tensor) -> Tensor:
                return super().forward(x.mT).mT

        class Retention(Attention):
            def forward(self, x: Tensor) -> Tensor:
                q, k, v = self.qkv(x).chunk(3, -1)
                return self.out((q @ k.mT).tril() @ v)

        class Along(nn.Linear):
            def forward(self, x: Tensor) -> Tensor:
                return super().forward(x.mT).mT

        class Scan(nn.Linear):
            def forward(self, x: Tensor) -> Tensor:
                return super().forward(x).cumsum(1)

        class Experts(nn.Module):
            """Of each token one, whose matrix it chose."""

            def __init__(self) -> None:
                super().__init__()
                self.route, self.w = nn.Linear(D, 3), nn.Parameter(torch.randn(3, D, D))

            def forward(self, x: Tensor) -> Tensor:
                return (x.unsqueeze(-2) @ self.w[self.route(x).argmax(-1)]).squeeze(-2)

        class Sum(nn.Module):
            def __init__(self, f: nn.Module) -> None:
                super().__init__()
                self.n, self.f = nn.LayerNorm(D), f

            def forward(self, x: Tensor) -> Tensor:
                return x + self.f(self.n(x))

        for kind, *branches in (("mixer", Convolution(D, D, 3, padding=1), Retention(), Along(5, 5), Scan(D, D)),
                                ("ffn", Convolution(D, D, 1), Experts(), feed())):
            for branch in branches:
                found = find(stack(Sum(branch), Sum(feed())), X.expand(2, 5, 4))
                self.assertEqual([s.kind for s in found.sublayers], [kind, "ffn"], branch)

    def test_parallel_branches_that_are_added_one_after_the_other(self) -> None:
        class Parallel(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.n, self.f, self.g = nn.LayerNorm(D), nn.Linear(D, D), nn.Linear(D, D)

            def forward(self, x: Tensor) -> Tensor:
                y = self.n(x)
                return x + self.f(y) + self.g(y)

        found = find(stack(Parallel()), X)
        self.assertEqual(len(found.sublayers), 2)
        self.assertEqual([s.norms for s in found.sublayers], [("before",)] * 2)

    def test_sums_of_another_width_are_counted(self) -> None:
        found = find(stack(*(Block("pre", nn.LayerNorm(D)) for _ in range(3)), nn.Linear(D, 6),
                           Block("pre", nn.LayerNorm(6), 6), d=6), X)
        self.assertEqual(len(found.sublayers), 3)
        self.assertEqual(found.notes, ["1 of 4 residual sums have another width than 8 and are left out"])

    def test_images_have_their_features_ahead_of_their_positions(self) -> None:
        class Images(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.b = nn.ModuleList(nn.Conv2d(D, D, 3, padding=1) for _ in range(2))

            def forward(self, x: Tensor) -> Tensor:
                for b in self.b:
                    x = x + b(x)
                    x = F.avg_pool2d(x, 2)
                return x

        found = find(Images(), torch.randn(1, D, 16, 16))
        self.assertEqual((found.width, len(found.sublayers)), (D, 2))

    def test_a_sum_that_is_not_seen_breaks_the_stream(self) -> None:
        def gated(x: Tensor, y: Tensor) -> Tensor:
            return torch.addcmul(x, y, torch.full((), 0.5))

        norms = [nn.LayerNorm(D) for _ in range(3)]
        found = find(stack(Block("pre", norms[0]), Block("pre", norms[1], add=gated), Block("pre", norms[2])), X)
        self.assertEqual((len(found.sublayers), found.placement), (2, ""))
        self.assertIn("in no branch that is recognised", found.notes[0])

    def test_what_is_written_through_a_view_is_no_loss_of_the_branch(self) -> None:
        class Written(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.f = nn.Linear(D, D)

            def forward(self, x: Tensor) -> Tensor:
                y = x.new_zeros(x.shape)
                y[:, :] = self.f(x)
                return x + y

        self.assertEqual(len(find(stack(Written()), X).sublayers), 1)


if __name__ == "__main__":
    unittest.main()
