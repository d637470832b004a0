// Whatever goes wrong while a recorder of `normscope record` runs, the training goes on, and one line says what
// happened. The recorders run on stand-ins for PyTorch and JAX (tests/fixtures/recorder/stand_in).
#include <vector>

#include "app/records/recorder_script.h"
#include "catch.hpp"
#include "training/records/recorded_run.h"
#include "training/records/recorders.h"

namespace normscope::records {
using test::first_of, test::Folder, test::run_python;
namespace {

// `kTorchFailures` runs on a stand-in for PyTorch (tests/fixtures/recorder/stand_in): each failure must leave the
// training alone and say one line; what is checked in Python is what no log shows.
constexpr const char* kTorchFailures = R"(
import contextlib, functools, io, json, os, resource, sys, torch
from recorder import Recorder


class Module:
    def register_forward_hook(self, hook):
        self.hook = hook


class Model:
    def __init__(self, device="cpu"):
        self.layer = Module()
        self.p = {"wte.weight": torch.Tensor([1.0, 1.0], 2, 1), "layers.0.attn.q.weight": torch.Tensor([3.0, 4.0], 1, 2, device=device),
                  "layers.0.norm1.weight": torch.Tensor([1.0, 1.0], 2), "layers.0._flat_param": torch.Tensor([1.0], 1)}

    named_parameters = lambda self: self.p.items()
    named_modules = lambda self: [("layers.0", self.layer)]


class OldSgd:  # PyTorch 1's: no hooks
    def __init__(self, model):
        self.parameters, self.param_groups, self.steps = list(model.p.values()), [{"lr": 0.1}], 0

    def step(self, closure=None):
        for p in self.parameters:
            p.numbers = [0.9 * x for x in p.numbers]
        self.steps += 1
        return "the loss"

    step._with_counter = True  # as a scheduler marks it


class Sgd(OldSgd):
    hook = staticmethod(lambda *_: None)

    def register_step_post_hook(self, hook):
        self.hook = hook

    def step(self, closure=None):
        out = super().step()
        self.hook(self, (), {})
        return out


def train(path, sgd=Sgd, device="cpu", steps=3, more=lambda i: {}, loss=lambda i: torch.Tensor([0.5 * i]), change=lambda r, i: None, **settings):
    """Every step is done, whatever the recorder does; what it said."""
    model, said = Model(device), io.StringIO()
    model.p["wte.weight"].grad = torch.Sparse([2.0], 1)
    optimizer = sgd(model)
    with contextlib.redirect_stderr(said):
        recorder = Recorder(model, optimizer, path, update_every=1, **settings)
        for i in range(steps):
            for name, p in model.p.items():
                p.grad = p.grad if p.grad and p.grad.is_sparse else torch.Tensor([2 * x**0 for x in p.numbers][:1] + [0.0] * (len(p.numbers) - 1), device=p.device)
            model.p["layers.0.attn.q.weight"].grad.numbers = [3.0, 4.0]
            if hasattr(model.layer, "hook"):
                model.layer.hook(model.layer, (), (torch.Tensor([1.0, 2.0], 2, device=device), None) if i else {"no": "tensor"})
            recorder.step(loss(i), **more(i))
            change(recorder, i)
            assert optimizer.step() == "the loss"
    assert optimizer.steps == steps
    return said.getvalue()


def lines(path):
    def refuse(text):
        raise ValueError(text)
    return [json.loads(line, parse_constant=refuse) for line in open(path) if line.strip()]


def warns_once(said, path, what):
    assert said.count("\n") == 1 and said.startswith(f"normscope: {path}: nothing more is recorded: ") and what in said, said


# With hooks and without: the same log but for the time; a scheduler's mark on step stays; on two devices.
assert train("devices.jsonl", device="cuda:1") == train("old.jsonl", OldSgd, device="cuda:1") == ""
timeless = lambda path: [{**line, "seconds": 0} for line in lines(path)]
assert timeless("devices.jsonl") == timeless("old.jsonl") and len(lines("old.jsonl")) == 4, lines("old.jsonl")
assert "layers.0._flat_param" not in lines("old.jsonl")[1]["grad_norm"]
assert lines("old.jsonl")[2]["mean_square"] == {"layers.0": 2.5}
old = OldSgd(Model())
Recorder(Model(), old, "mark.jsonl")
assert old.step._with_counter and old.step.__self__ is old

# A full disk, and a limit on a file's size, as a quota is.
if os.path.exists("/dev/full"):
    warns_once(train("/dev/full"), "/dev/full", "No space left")
    warns_once(train("/dev/full", OldSgd), "/dev/full", "No space left")
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
warns_once(train("quota.jsonl", steps=40), "quota.jsonl", "File too large")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
whole = open("quota.jsonl").read().split("\n")[:-1]
assert len(whole) > 5 and all(json.loads(line) for line in whole)
assert train("quota.jsonl", first=len(whole) - 1) == ""  # goes on on a line of its own
assert [json.loads(line).get("step", 0) for line in open("quota.jsonl").read().split("\n")[len(whole) + 1:-1]] == [0, len(whole), len(whole) + 1, len(whole) + 2]

# Of several processes the first one writes.
for rank, environment, written in ((1, "0", False), (0, "1", True), (None, "3", False), (None, "0", True)):
    torch.RANK, os.environ["RANK"] = rank, environment
    assert train("rank.jsonl") == ""
    assert os.path.exists("rank.jsonl") == written, (rank, environment)
    if written:
        os.remove("rank.jsonl")
torch.RANK = None
del os.environ["RANK"]

# Odd values.
class Scalar:
    item = lambda self: float("inf")
odd = [{"validation": torch.Tensor([0.5])}, {"validation": torch.Tensor([1.0, 2.0])}, {"validation": float("nan")}, {"validation": Scalar()},
       {"validation": object(), "note": "so", "of": {"a": Scalar(), "b": [1]}, "big": 10**400, "none": None, "is": True}]
said = train("odd.jsonl", steps=6, more=lambda i: odd[min(i, 4)], loss=lambda i: 1 if i else torch.Tensor([1.0, 2.0]))
assert said == "", said
assert lines("odd.jsonl")[1]["loss"] == 1.5 and lines("odd.jsonl")[5]["of"] == {"a": None, "b": None}

# What cannot be recorded, wherever it is noticed.
warns_once(train("a.jsonl", loss=lambda i: "low"), "a.jsonl", "Error")
warns_once(train("a.jsonl", more=lambda i: {"grad_norm": 1}), "a.jsonl", "TypeError")
warns_once(train("a.jsonl", every=0), "a.jsonl", "ZeroDivisionError")
warns_once(train("a.jsonl", change=lambda r, i: setattr(r, "numbers", None)), "a.jsonl", "Error")
Model.named_parameters, kept = lambda self: 1 / 0, Model.named_parameters
warns_once(train("a.jsonl"), "a.jsonl", "division by zero")
Model.named_parameters = kept
class Closed:
    write = lambda self, text: 1 / 0
with contextlib.redirect_stderr(Closed()):  # nowhere to warn
    recorder = Recorder(Model(), Sgd(Model()), "a.jsonl")
    recorder.step("low")

# But a wrong path is said at once.
try:
    train("no/such/folder.jsonl")
    sys.exit("a wrong path was taken")
except FileNotFoundError:
    pass
)";

// `kJaxFailures` does the same on a stand-in for JAX: each failure must leave the training alone and say one line.
constexpr const char* kJaxFailures = R"(
import contextlib, io, json, os, resource, sys, jax, jax.numpy as jnp
from recorder import Recorder


def train(path, steps=3, grads={"layers_0": {"mlp": {"wi": {"kernel": jnp.Array([3.0, 4.0])}}}}, more=lambda i: {}, **settings):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        recorder = Recorder(path, **settings)
        for i in range(steps):
            recorder.step(i + 1, jnp.Array([1.5]), 0.25, grads, states={"layers_0": jnp.Array([1.0, 2.0])}, **more(i))
    return said.getvalue()


def warns_once(said, path, what):
    assert said.count("\n") == 1 and said.startswith(f"normscope: {path}: nothing more is recorded: ") and what in said, said


assert train("plain.jsonl", data={"name": "noise", "hash": "0123456789abcdef", "symbols": 29}) == ""
header, *steps = [json.loads(line) for line in open("plain.jsonl")]
assert header["data"] == {"name": "noise", "hash": "0123456789abcdef", "symbols": 29}, header
assert [line["grad_norm"] for line in steps] == 3 * [{"layers_0/mlp/wi/kernel": 5.0}] and steps[0]["mean_square"] == {"layers_0": 2.5}

if os.path.exists("/dev/full"):
    warns_once(train("/dev/full"), "/dev/full", "No space left")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
warns_once(train("quota.jsonl", steps=40), "quota.jsonl", "File too large")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

odd = [{"validation": jnp.Array([0.5])}, {"validation": jnp.Array([1.0, 2.0])}, {"validation": float("inf"), "of": object()}]
assert train("odd.jsonl", more=lambda i: odd[i]) == ""
assert [json.loads(line).get("validation") for line in open("odd.jsonl")] == [None, 0.5, None, None]
assert train("leaves.jsonl", grads={"count": 3, "key": jnp.Array([1], "key"), "w": jnp.Array([1.0])}) == ""
assert json.loads(open("leaves.jsonl").readlines()[1])["grad_norm"] == {"w": 1.0}
warns_once(train("a.jsonl", grads={"w": jnp.Array(["low"])}), "a.jsonl", "TypeError")

# Every process computes, one writes; it goes on computing when its disk is full, as the others wait for it otherwise.
computed = []
device_get, jax.device_get = jax.device_get, lambda tree: computed.append(jax.INDEX) or device_get(tree)
for jax.INDEX in (1, 0):
    jax.COUNT = 2
    assert train("rank.jsonl") == ""
    assert os.path.exists("rank.jsonl") == (jax.INDEX == 0)
if os.path.exists("/dev/full"):
    warns_once(train("/dev/full"), "/dev/full", "No space left")
    assert computed == 3 * [1] + 6 * [0], computed

try:
    train("no/such/folder.jsonl")
    sys.exit("a wrong path was taken")
except FileNotFoundError:
    pass
)";

/// `check_odd_values` reads what the script of either framework recorded with values that JSON does not have.
void check_odd_values(const Folder& folder) {
  const RecordedFile odd = read_recorded(folder.file("odd.jsonl"));
  CHECK(odd.broken == 0);
  CHECK(odd.runs.at(0).history->validation().values == std::vector<float>{0.5f});
}

}  // namespace

TEST_CASE("a recorder of PyTorch runs goes quiet, and the training that it records goes on") {
  NEEDS_PYTHON(python, "json", "Python");
  const Folder folder;
  REQUIRE(run_python(python, folder, kTorchRecorder, kTorchFailures, test::kStandIns) == "");
  check_odd_values(folder);
  const RecordedRun devices = read_recorded(folder.file("devices.jsonl")).runs.at(0);
  CHECK(first_of(devices, "L01.attn.wq.grad_norm") == 5);
  CHECK(first_of(devices, "emb.tokens.grad_norm") == 2);
  CHECK(first_of(devices, "L01.attn.norm.gain.grad_norm") == 2);
  CHECK(first_of(devices, "L01.attn.wq.update_norm") == Approx(0.5));
}

TEST_CASE("a recorder of JAX runs goes quiet, and the training that it records goes on") {
  NEEDS_PYTHON(python, "json", "Python");
  const Folder folder;
  REQUIRE(run_python(python, folder, kJaxRecorder, kJaxFailures, test::kStandIns) == "");
  check_odd_values(folder);
}

}  // namespace normscope::records
