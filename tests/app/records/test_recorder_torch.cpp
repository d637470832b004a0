// These tests run the recorder that `normscope record --python` prints, on small models, where there is PyTorch. What
// may go wrong is in test_recorder_failures.cpp.
#include <string>

#include "app/records/recorder_script.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/records/log_reader.h"
#include "training/records/recorded_run.h"
#include "training/records/recorders.h"

namespace normscope::records {
using test::first_of, test::Folder, test::read_all, test::run_python;

namespace {

// `kTorchScript` has two models with names of torch.nn and GPT-2, a few steps each. The first's are checked by hand.
constexpr const char* kTorchScript = R"(
import json, torch
from torch import nn
from recorder import Recorder

torch.set_num_threads(1)
torch.manual_seed(1)


def train(model, run, optimizer, steps, **more):
    recorder = Recorder(model, optimizer, **more)
    for i in range(steps):
        optimizer.zero_grad()
        loss = run(model)
        loss.backward()
        recorder.step(loss, **({"validation": 0.5} if i == 1 else {}))
        optimizer.step()


model = nn.Transformer(16, 2, 2, 2, 32, batch_first=True)
source, target = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
head = torch.randn(16)
before = model.encoder.layers[0].linear1.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
train(model, lambda m: (m(source, target) @ head).square().mean(), optimizer, 1, path="one.jsonl", name="nn")
p, q = model.encoder.layers[0].linear1.weight, model.decoder.layers[1].multihead_attn.in_proj_weight.grad[:16]
expected = {"grad": p.grad.norm().item(), "update": (p - before).norm().item(), "weight": p.norm().item(), "q": q.norm().item()}
json.dump(expected, open("expected.json", "w"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.hc_mix = nn.Parameter(torch.ones(2))
        self.attn, self.mlp = nn.ModuleDict({"c_attn": nn.Linear(8, 24), "c_proj": nn.Linear(8, 8)}), nn.ModuleDict(
            {"c_fc": nn.Linear(8, 32), "c_proj": nn.Linear(32, 8)})

    def forward(self, x):
        a, b, c = self.attn["c_attn"](self.ln_1(x)).chunk(3, -1)
        x = self.hc_mix[0] * x + self.attn["c_proj"](a * b + c)
        return x + self.mlp["c_proj"](self.mlp["c_fc"](self.ln_2(x)).relu()), None


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.ModuleDict({"wte": nn.Embedding(7, 8), "h": nn.ModuleList([Block(), Block()])})
        self.lm_head = nn.Linear(8, 7)

    def forward(self, x):
        h = self.transformer["wte"](x)
        for block in self.transformer["h"]:
            h, _ = block(h)
        return self.lm_head(h)


gpt, tokens = Gpt(), torch.randint(0, 7, (3, 4))
adam = torch.optim.AdamW(gpt.parameters(), lr=1e-2)
loss_of = lambda m: nn.functional.cross_entropy(m(tokens).flatten(0, 1), tokens.flatten())
data = {"name": "seven letters", "symbols": 7}
train(gpt, loss_of, adam, 6, path="gpt.jsonl", every=2, update_every=2, placement="pre", data=data, width=8)
train(gpt, loss_of, adam, 2, path="gpt.jsonl", first=6, placement="pre", data=data)

# In a half-wide type, on two devices at once where there are two, under a scheduler made before and one made after.
lines = lambda path: [json.loads(line) for line in open(path) if line.strip()]
small = nn.Sequential(nn.Linear(4, 4).double(), nn.Embedding(5, 4, sparse=True)).double()
sgd = torch.optim.SGD(small.parameters(), lr=0.1)
before = torch.optim.lr_scheduler.ExponentialLR(sgd, 0.5)
recorder = Recorder(small, sgd, "small.jsonl", data="noise")
after = torch.optim.lr_scheduler.ExponentialLR(sgd, 0.5)
for i in range(3):
    sgd.zero_grad()
    loss = small[0](small[1](torch.tensor([i]))).square().sum()
    loss.backward()
    recorder.step(loss, validation=torch.tensor([1.5, 2]), note=float("nan"))
    sgd.step()
    before.step(), after.step()
header, *steps = lines("small.jsonl")
assert header["data"] == {"name": "noise"}, header
assert [line["lr"] for line in steps] == [0.1, 0.025, 0.00625], steps
assert all(line["grad_norm"]["1.weight"] > 0 and line["validation"] is None for line in steps), steps
)";

}  // namespace

TEST_CASE("the recorder for PyTorch writes what the models' tensors are") {
  NEEDS_PYTHON(python, "torch", "Python with PyTorch");
  const Folder folder;
  REQUIRE(run_python(python, folder, kTorchRecorder, kTorchScript) == "");

  const RecordedRun run = read_recorded(folder.file("one.jsonl")).runs.at(0);
  const nlohmann::json expected = nlohmann::json::parse(read_all(folder.file("expected.json")));
  CHECK(run.name == "nn");
  CHECK(run.layers == 2);
  CHECK(run.history->rate().values == std::vector<float>{0.5f});
  const auto is = [&](const char* stat, const char* key) {
    INFO(stat);
    CHECK(first_of(run, stat) == Approx(expected[key].get<double>()).epsilon(1e-5));
  };
  is("enc.L01.ffn.w1.grad_norm", "grad");
  is("enc.L01.ffn.w1.update_norm", "update");
  is("enc.L01.ffn.w1.weight_norm", "weight");
  is("dec.L02.cross.wq.grad_norm", "q");
  // Behind its last norm, whose gains are 1 and biases 0, a state's mean square is 1.
  CHECK(first_of(run, "dec.L02.ffn.out.mean_square") == Approx(1).epsilon(1e-3));
  for (const LogName& name : names_in(folder.file("one.jsonl"))) {
    INFO(name.theirs);
    CHECK(name.tensor.known());
  }

  const RecordedFile file = read_recorded(folder.file("gpt.jsonl"));
  CHECK(file.broken == 0);
  const RecordedRun& gpt = file.runs.at(0);
  CHECK(gpt.history->loss().steps == std::vector<int32_t>{2, 4, 6, 7, 8});
  CHECK(gpt.history->validation().steps == std::vector<int32_t>{2, 8});
  CHECK(gpt.settings == std::vector<std::pair<std::string, std::string>>{{"width", "8"}});
  for (const char* stat : {"L02.attn.wq.grad_norm", "L02.attn.wo.weight_norm", "L01.ffn.w2.update_norm",
                           "L02.ffn.sum.mean_square", "emb.tokens.grad_norm", "out.w.grad_norm"}) {
    INFO(stat);
    CHECK(first_of(gpt, stat) > 0);
  }
  for (const char* stat : {"L01.attn.norm.gain.grad_norm", "L02.ffn.norm.bias.update_norm",
                           "L01.ffn.b1.weight_norm", "transformer.h.1.hc_mix.grad_norm"}) {
    INFO(stat);
    CHECK(first_of(gpt, stat) >= 0);
  }
  REQUIRE(gpt.missing.size() == 1);
  INFO(gpt.missing[0]);
  CHECK(gpt.missing[0].starts_with("6 of "));
  CHECK(test::contains(gpt.missing[0], "\"transformer.h.0.hc_mix\""));
  const std::string log = read_all(folder.file("gpt.jsonl"));
  CHECK(nlohmann::json::parse(log.substr(0, log.find('\n')))["data"] ==
        nlohmann::json({{"name", "seven letters"}, {"symbols", 7}}));
}

}  // namespace normscope::records
