// This is the Python file that `normscope record --python` prints; docs/log-format.md describes what it writes. Tests
// run it where PyTorch is, and on a stand-in for PyTorch everywhere, and hold it to 120 lines.
#include "training/records/recorders.h"

namespace normscope::records {

const char* const kTorchRecorder =
    R"py("""Records a PyTorch training run for normscope, a JSON line a step; needs nothing beyond PyTorch 1.13.

    recorder = Recorder(model, optimizer, "run.jsonl", name="wide", placement="pre", width=512)  # and settings to show
    recorder.step(loss)  # once a step: after backward() and unscaling, before clipping and optimizer.step()
Each `every`-th step, each `update_every`-th of these with norms of update and weights; after `first` steps it goes on.
`data`: the data's name, or {"name", "hash", "symbols"}. Of several processes the first one writes."""
import contextlib, functools, json, math, os, re, sys, time, torch, types
LAYER = re.compile(r"(^|\.)(h|\w*layers?|\w*blocks?)\.\d+$")  # modules whose outputs are the hidden states
FUSED = re.compile(r"(in_proj_weight|c_attn\.weight)$")  # W_Q, W_K and W_V in one: recorded as three
)py"
#include "training/records/recorder_shared.def"
    R"py(
class Recorder:
    together = False  # a process that writes nothing measures nothing

    def __init__(self, model, optimizer, path, every=1, update_every=20, first=0, name="", placement="", data=None,
                 **settings):
        ranks = torch.distributed.is_available() and torch.distributed.is_initialized()
        rank = torch.distributed.get_rank() if ranks else os.environ.get("RANK", "0")
        self.file = open(path, "a" if first else "w", buffering=1) if str(rank) == "0" else None
        self.optimizer, self.every, self.update_every, self.count = optimizer, every, update_every, first
        self.begin(model, optimizer, ("PyTorch " + torch.__version__, name, placement, data, settings))

    @guarded
    def begin(self, model, optimizer, about):
        self.states, self.copies, self.line, self.start = {}, {}, None, time.perf_counter()
        self.parts = [q for n, p in model.named_parameters() if p.requires_grad for q in self.parts_of(n, p)]
        layers = {n: m for n, m in model.named_modules() if LAYER.search(n)}
        for n in (n for n in layers if not any(n.startswith(outer + ".") for outer in layers)):
            layers[n].register_forward_hook(lambda _, __, out, n=n: self.keep(n, out))
        if hasattr(optimizer, "register_step_post_hook"):
            optimizer.register_step_post_hook(lambda *_: self.write())
        else:  # PyTorch 1
            inner = optimizer.step
            def step(_, *values, **more):
                out = inner(*values, **more)
                self.write()
                return out
            optimizer.step = types.MethodType(functools.wraps(inner)(step), optimizer)
        self.file.write("\n" * (self.count > 0) + header(*about))  # the log before may end within a line

    def parts_of(self, name, p):  # name, parameter and what to take of it
        if hasattr(p, "to_local") or "_fsdp_wrapped_module" in name or "_flat_param" in name:
            return []  # a piece of a parameter, whose norm is another number
        across = [d for d in (0, 1) if FUSED.search(name) and p.dim() == 2 and p.shape[d] == 3 * p.shape[1 - d]]
        thirds = [(f"{name}[{c}]", p, lambda t, i=i: t.chunk(3, across[0])[i]) for i, c in enumerate("qkv") if across]
        return thirds or [(name, p, lambda t: t.coalesce().values() if t.is_sparse else t)]

    @guarded
    def keep(self, name, out):
        x = out[0] if isinstance(out, tuple) else out
        if torch.is_grad_enabled() and (self.count + 1) % self.every == 0 and torch.is_tensor(x):
            dtype = torch.promote_types(x.dtype, torch.float32)
            self.states["mean_square", name] = torch.linalg.vector_norm(x.detach(), dtype=dtype) ** 2 / x.numel()

    def norms(self, field, of):
        found = [(name, cut(of(p))) for name, p, cut in self.parts if of(p) is not None]
        if found:
            self.numbers.update(zip([(field, name) for name, _ in found], torch._foreach_norm([t for _, t in found])))

    @guarded
    def step(self, loss, **more):
        self.write()  # the line before, if the optimizer left its step out
        self.count += 1
        if self.count % self.every == 0:
            lr, now = plain(self.optimizer.param_groups[0]["lr"]), time.perf_counter()
            self.line = {"step": self.count, "lr": lr, "seconds": now - self.start, **plain(more)}
            self.numbers, self.states = {("", "loss"): torch.as_tensor(loss).detach().float().mean(), **self.states}, {}
            self.norms("grad_norm", lambda p: p.grad)
            self.due = (self.count // self.every - 1) % self.update_every == 0
            if self.due:
                self.copies = self.copies or {p: torch.empty_like(p) for _, p, _ in self.parts}
                for p, copy in self.copies.items():
                    copy.copy_(p.detach())

    @guarded
    def write(self):
        line, self.line = self.line, None
        if line and self.due and self.copies:
            torch._foreach_sub_([*self.copies.values()], [p.detach() for p in self.copies])
            self.norms("update_norm", lambda p: self.copies[p])
            self.norms("weight_norm", torch.Tensor.detach)
        if line:
            devices = {}  # a transfer from each
            for place, v in self.numbers.items():
                devices.setdefault(v.device, {})[place] = v.float()
            for numbers in devices.values():
                for (field, name), v in zip(numbers, torch.stack([*numbers.values()]).tolist()):
                    (line.setdefault(field, {}) if field else line)[name] = plain(v)
            self.file.write(json.dumps(line) + "\n")
)py";

}  // namespace normscope::records
