// The Python file that `normscope record --python` prints; what it writes is docs/log-format.md's. A test runs it
// where PyTorch is, and holds it to 60 lines.
#include "app/records/recorders.h"

namespace normscope::records {

const char* const kTorchRecorder =
    R"py("""Records a PyTorch training run for normscope, a JSON line a step; needs nothing beyond PyTorch 2.

    recorder = Recorder(model, optimizer, "run.jsonl", name="wide", placement="pre", width=512)  # and settings to show
    recorder.step(loss)  # once a step: after backward() and unscaling, before clipping and optimizer.step()
Each `every`-th step, each `update_every`-th of these with norms of update and weights; after `first` steps it goes on."""
import json, math, re, time, torch

LAYER = re.compile(r"(^|\.)(h|\w*layers?|\w*blocks?)\.\d+$")  # modules whose outputs are the hidden states
FUSED = re.compile(r"(in_proj_weight|c_attn\.weight)$")  # W_Q, W_K and W_V in one: recorded as three

class Recorder:
    def __init__(self, model, optimizer, path, every=1, update_every=20, first=0, name="", placement="", **settings):
        self.optimizer, self.every, self.update_every, self.count = optimizer, every, update_every, first
        self.states, self.copies, self.line, self.start = {}, {}, None, time.perf_counter()
        self.parts = [q for n, p in model.named_parameters() if p.requires_grad and p.dim() > 1 for q in self.parts_of(n, p)]
        layers = {n: m for n, m in model.named_modules() if LAYER.search(n)}
        for n in (n for n in layers if not any(n.startswith(outer + ".") for outer in layers)):
            layers[n].register_forward_hook(lambda _, __, out, n=n: self.keep(n, out))
        optimizer.register_step_post_hook(lambda *_: self.write())
        self.file = open(path, "a" if first else "w", buffering=1)
        head = {"format": "normscope log 2", "maker": "PyTorch " + torch.__version__, "name": name, "placement": placement}
        self.file.write(json.dumps({**head, "settings": {k: str(v) for k, v in settings.items()}}) + "\n")

    def parts_of(self, name, p):  # name, parameter and what to take of it
        across = [d for d in (0, 1) if FUSED.search(name) and p.shape[d] == 3 * p.shape[1 - d]]
        thirds = [(f"{name}[{c}]", p, lambda t, i=i: t.chunk(3, across[0])[i]) for i, c in enumerate("qkv") if across]
        return thirds or [(name, p, lambda t: t)]

    def keep(self, name, out):
        if torch.is_grad_enabled() and (self.count + 1) % self.every == 0:
            x = (out[0] if isinstance(out, tuple) else out).detach()
            self.states["mean_square", name] = torch.linalg.vector_norm(x, dtype=torch.float32) ** 2 / x.numel()

    def norms(self, field, of):
        found = [(name, cut(of(p))) for name, p, cut in self.parts if of(p) is not None]
        self.numbers.update(zip([(field, name) for name, _ in found], torch._foreach_norm([t for _, t in found])))

    def step(self, loss, **more):
        self.write()  # the line before, if the optimizer left its step out
        self.count += 1
        if self.count % self.every == 0:
            lr, now = float(self.optimizer.param_groups[0]["lr"]), time.perf_counter()
            self.line = {"step": self.count, "lr": lr, "seconds": now - self.start, **more}
            self.numbers, self.states = {("", "loss"): loss.detach(), **self.states}, {}
            self.norms("grad_norm", lambda p: p.grad)
            self.due = (self.count // self.every - 1) % self.update_every == 0
            if self.due:
                self.copies = self.copies or {p: torch.empty_like(p) for _, p, _ in self.parts}
                torch._foreach_copy_([*self.copies.values()], [p.detach() for p in self.copies])

    def write(self):
        if self.line and self.due:
            torch._foreach_sub_([*self.copies.values()], [p.detach() for p in self.copies])
            self.norms("update_norm", lambda p: self.copies[p])
            self.norms("weight_norm", torch.Tensor.detach)
        if self.line:
            for (field, name), v in zip(self.numbers, torch.stack([v.float() for v in self.numbers.values()]).tolist()):
                (self.line.setdefault(field, {}) if field else self.line)[name] = float(f"{v:.9g}") if math.isfinite(v) else None
            self.file.write(json.dumps(self.line) + "\n")
        self.line = None
)py";

}  // namespace normscope::records
