#!/usr/bin/env python3
"""Trains the small models of what-keeps-post-ln-stuck.md again, in PyTorch, and says whether they do what the page says:
  fog_in_pytorch.py [SEEDS]      5 starts for each row and rate, unless you name another number
It shares no code with normscope. The page, which must lie beside this file, gives it the grammar of the built-in sentences
and the bands to compare with; everything else is below."""
import math, pathlib, random, re, sys

import torch
from torch import nn
from torch.nn import functional

PAGE = (pathlib.Path(__file__).parent / "what-keeps-post-ln-stuck.md").read_text()
LAYERS, WIDTH, HEADS, HIDDEN, BATCH, LENGTH, STEPS = 6, 32, 2, 64, 8, 16, 200
RATES = 0.005, 0.00167

# The rows of the page's table, and what each changes.
ARMS = {
    "Pre-LN, for comparison": {"pre": True},
    "Post-LN as it is": {},
    "each token to itself": {"mixing": 0},
    "a quarter of the mixing": {"mixing": 0.25},
    "half of it": {"mixing": 0.5},
    "three quarters": {"mixing": 0.75},
    "$W_O$ begins at 0.3": {"start": 0.3},
    "at 0.1": {"start": 0.1},
    "at 0": {"start": 0},
    "the top layer also reads the embedding": {"reader": LAYERS},
    "the first layer does": {"reader": 1},
}


def written_text(letters, chance):
    """Draws sentences from the page's grammar: a word in capitals stands for one of its alternatives."""
    rules = {}
    for line in re.search(r"```text\n(SENTENCE: .*?)```", PAGE, re.DOTALL)[1].splitlines():
        name, alternatives = line.split(": ")
        pairs = [(alternative.split("*") + ["1"])[:2] for alternative in alternatives.split(" | ")]
        rules[name] = [phrase for phrase, _ in pairs], [float(weight) for _, weight in pairs]

    def spelled(phrase):
        return re.sub("[A-Z]+", lambda name: spelled(chance.choices(*rules[name[0]])[0]), phrase)
    text = ""
    while len(text) < letters:
        text += spelled("SENTENCE") + " "
    return text


def matrix(inputs, outputs, factor=1.0):
    linear = nn.Linear(inputs, outputs)
    nn.init.normal_(linear.weight, std=factor * math.sqrt(2 / (inputs + outputs)))
    nn.init.zeros_(linear.bias)
    return linear


class Layer(nn.Module):
    def __init__(self, pre=False, mixing=1.0, start=1.0, reads=False):
        super().__init__()
        self.pre, self.mixing, self.reads = pre, mixing, reads
        self.queries, self.keys, self.values = (matrix(WIDTH, WIDTH) for _ in range(3))
        self.out = matrix(WIDTH, WIDTH, start)
        self.up, self.down = matrix(WIDTH, HIDDEN), matrix(HIDDEN, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH, eps=1e-5) for _ in range(2))

    def attention(self, x):
        q, k, v = (part(x).view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for part in (self.queries, self.keys, self.values))
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH / HEADS)
        future = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
        heads = scores.masked_fill(future, -math.inf).softmax(-1) @ v
        mixed = self.mixing * heads + (1 - self.mixing) * v
        return self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))

    def feed_forward(self, x):
        return self.down(self.up(x).relu())

    def forward(self, x, embedding):
        for norm, branch in zip(self.norms, (self.attention, self.feed_forward)):
            if self.pre:
                x = x + branch(norm(x))
            else:
                x = norm(x + branch((x + embedding) / math.sqrt(2) if self.reads else x))
        return x


class Decoder(nn.Module):
    def __init__(self, letters, pre=False, reader=None, **change):
        super().__init__()
        self.letters = nn.Parameter(torch.randn(letters, WIDTH) / math.sqrt(WIDTH))
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList(Layer(pre, reads=number == reader, **change) for number in range(1, LAYERS + 1))
        self.final = nn.LayerNorm(WIDTH, eps=1e-5) if pre else nn.Identity()

    def forward(self, tokens):
        x = math.sqrt(WIDTH) * self.letters[tokens] + self.places
        embedding = x.detach()  # a layer that reads it again gives it no gradient
        for layer in self.layers:
            x = layer(x, embedding)
        return self.final(x) @ self.letters.T


def losses_of(text, letters, rate, seed, change):
    """Returns the loss of every step's batch, taken before the step."""
    torch.manual_seed(seed)
    model = Decoder(letters, **change)
    adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(STEPS):
        rows = torch.stack([text[at:at + LENGTH + 1] for at in torch.randint(len(text) - LENGTH, (BATCH,))])
        loss = functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses


def learns(losses, level):
    """The mean of 20 losses has fallen 0.1 nats below the level, and did not come back to 0.02 below it."""
    below = False
    for end in range(20, len(losses) + 1):
        below = sum(losses[end - 20:end]) / 20 < level - (0.02 if below else 0.1)
    return below


def bands_of(arm, column):
    """Returns the page's bands of the share that learns and of the mean loss: "10 [0.72, 1.00], 1.88 [1.80, 1.92]"."""
    row = re.search(rf"(?m)^\| {re.escape(arm)} \|(.*\].*)\|$", PAGE)[1].split("|")[column]
    return [(float(low), float(high)) for low, high in re.findall(r"\[([\d.]+), ([\d.]+)\]", row)]


def main(seeds):
    torch.set_num_threads(1)
    text = written_text(200_000, random.Random(1))
    letters = sorted(set(text))
    shares = [text.count(letter) / len(text) for letter in letters]
    level = -sum(share * math.log(share) for share in shares)
    print(f"PyTorch {torch.__version__}, seeds 1 to {seeds}; {len(letters)} letters, letter frequencies {level:.2f} nats")
    numbers = torch.tensor([letters.index(letter) for letter in text])
    for arm, change in ARMS.items():
        for column, rate in enumerate(RATES):
            runs = [losses_of(numbers, len(letters), rate, seed, change) for seed in range(1, seeds + 1)]
            count, loss = sum(learns(run, level) for run in runs), sum(sum(run[-25:]) / 25 for run in runs) / seeds
            found = zip((round(count / seeds, 2), round(loss, 2)), bands_of(arm, column))
            word = "agrees" if all(low <= value <= high for value, (low, high) in found) else "DIFFERS"
            print(f"{arm}, {rate}: {count} of {seeds}, {loss:.2f} {word}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
