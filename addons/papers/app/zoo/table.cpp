#include "addons/papers/app/zoo/table.h"

namespace normscope::zoo {
namespace {

const EntryRow kRows[] = {
    {"fixup", {"model.placement=fixup", "model.init=fixup"}, Group::Placements},
    {"b2t-init", {"model.placement=b2t", "model.init=b2t"}, Group::Placements},
    {"post-qk", {"wiring.L*.attn=trunk=ln q=ln k=ln"}, Group::Placements},
    {"whisper", {"model.placement=pre", "wiring.L*=before=ln after=ln branch=scalar:0.2"}, Group::Placements},
    {"t-fixup", {"model.placement=none", "model.init=t-fixup"}, Group::Inits},
    {"none-fixup", {"model.placement=none", "model.init=fixup"}, Group::Inits},
    {"none-looklinear", {"model.placement=none", "model.init=looklinear"}, Group::Inits},
    {"post-looklinear", {"model.placement=post", "model.init=looklinear"}, Group::Inits},
    {"post-sgd", {"model.placement=post", "train.optimizer=sgd", "train.lr=0.3"}, Group::Optimizers},
    {"pre-sgd", {"model.placement=pre", "train.optimizer=sgd", "train.lr=0.3"}, Group::Optimizers},
    {"post-momentum",
     {"model.placement=post", "train.optimizer=momentum", "train.lr=0.1"},
     Group::Optimizers},
    {"pre-momentum", {"model.placement=pre", "train.optimizer=momentum", "train.lr=0.1"}, Group::Optimizers},
    {"post-adam-999", {"train.beta2=0.999"}, Group::Optimizers},
    {"post-adam-raw", {"train.bias_correction=false"}, Group::Optimizers},
    {"pre-adam-raw", {"model.placement=pre", "train.bias_correction=false"}, Group::Optimizers},
    {"pre-adam-999-raw",
     {"model.placement=pre", "train.beta2=0.999", "train.bias_correction=false"},
     Group::Optimizers},
    {"post-adamw", {"train.optimizer=adamw", "train.weight_decay=0.1"}, Group::Optimizers},
    {"pre-adamw",
     {"model.placement=pre", "train.optimizer=adamw", "train.weight_decay=0.1"},
     Group::Optimizers},
    {"post-radam", {"train.optimizer=radam", "train.beta2=0.999"}, Group::Optimizers},
    {"post-radam-98", {"train.optimizer=radam", "train.beta2=0.98"}, Group::Optimizers},
    {"post-radam-code", {"train.optimizer=radam-code", "train.beta2=0.999"}, Group::Optimizers},
    {"post-radam-code-98", {"train.optimizer=radam-code", "train.beta2=0.98"}, Group::Optimizers},
    {"pre-radam", {"model.placement=pre", "train.optimizer=radam", "train.beta2=0.999"}, Group::Optimizers},
    {"inverse-sqrt", {"train.schedule=inverse-sqrt", "train.reference=100"}, Group::Schedules},
    {"inverse-sqrt-1", {"train.schedule=inverse-sqrt", "train.reference=1"}, Group::Schedules},
    {"linear", {"train.schedule=linear"}, Group::Schedules},
    {"cosine", {"train.schedule=cosine"}, Group::Schedules},
    {"step", {"train.schedule=step", "train.milestones=225"}, Group::Schedules},
    {"clip-1", {"train.clip=1"}, Group::Remedies},
    {"clip-0.1", {"train.clip=0.1"}, Group::Remedies},
    {"rate-1e-3", {"train.lr=1e-3"}, Group::Remedies},
    {"rate-3e-4", {"train.lr=3e-4"}, Group::Remedies},
    {"post-completep", {"model.transfer=completep"}, Group::Remedies},
    {"pre-completep", {"model.placement=pre", "model.transfer=completep"}, Group::Remedies},
    {"post-depth-mup", {"model.transfer=depth-mup"}, Group::Remedies},
    {"post-qk-clip", {"train.qk_clip=5"}, Group::Remedies},
    {"pre-qk-clip", {"model.placement=pre", "train.qk_clip=5"}, Group::Remedies},
    {"mix-alternate", {"layers.cycle=post,pre"}, Group::Remedies},
    {"mix-pre-post", {"layers.halves=pre,post"}, Group::Remedies},
    {"mix-post-pre", {"layers.halves=post,pre"}, Group::Remedies},
};

constexpr System kSystems[] = {
    {Group::Images, "convnet", "image",
     "a convolutional network on drawn digits, norms before the activations", "", "accuracy, %", 300, 100},
    {Group::Parsing, "parser", "parse", "a parser on the made-up treebank, norms before the activations", "",
     "UAS, %", 200, 100},
    {Group::Memory, "pre", "memory", "a Pre-LN decoder that remembers 64 states", "model.memory=64",
     "bits a letter", 300, 200},
};

using enum Expected::Expect;

// Comes from an independent implementation in PyTorch: rate 3e-3, 300 steps, two or three seeds, licence
// texts, letter frequencies at 3.29 nats.
constexpr Expected kClaims[] = {
    {6, "post", false, Stuck, "", "3.301 (5 seeds)"},
    {6, "post", true, Learns, "", "2.640 (5 seeds)"},
    {6, "pre", false, Learns, "", "2.360 (5 seeds)"},
    {6, "sandwich", false, Learns, "", "2.376"},
    {6, "peri", false, Learns, "", "2.376"},
    {6, "rezero", false, Learns, "", "2.478"},
    {6, "admin", false, Learns, "", "2.591"},
    {6, "admin-paper", false, Learns, "", "2.550"},
    {6, "deepnorm", false, Stuck, "", "3.292"},
    {6, "deepnorm", true, Learns, "", "2.617, warm-up 100"},
    {6, "none", false, Stuck, "", "78 to 161"},
    {6, "post-normal002", false, Stuck, "", "3.292"},
    {6, "clip-1", false, Stuck, "", "3.292"},
    {6, "clip-0.1", false, Stuck, "", "3.292"},
    {6, "post-adam-999", false, Stuck, "", "3.292"},
    {6, "post-radam-98", false, Stuck, "", "3.25"},
    {6, "post-radam", false, Learns, "", "2.684"},
    {6, "inverse-sqrt", false, Stuck, "", "3.288"},
    {6, "inverse-sqrt-1", false, Partly, "", "3.302 and 3.059"},
    {6, "rate-1e-3", false, Learns, "", "2.67"},
    {6, "rate-3e-4", false, Learns, "", "2.81"},
    {6, "mix-alternate", false, Stuck, "", "3.293"},
    {6, "mix-pre-post", false, Stuck, "", "3.289"},
    {6, "mix-post-pre", false, Partly, "", "3.05 and 2.82"},
    {6, "post-sgd", false, Stuck, "", "3.281"},
    {6, "pre-sgd", false, Learns, "", "2.732"},
    {6, "pre-simple", false, AsGoodAs, "pre", "2.435 beside 2.432, rate 2e-3"},
    {6, "pre-rms", false, AsGoodAs, "pre", "2.433 beside 2.432, rate 2e-3"},
    {6, "pre-adanorm", false, AsGoodAs, "pre", "2.441 beside 2.432, rate 2e-3"},
    {6, "pre-detach-mean", false, AsGoodAs, "pre", "2.443 beside 2.432, rate 2e-3"},
    {6, "pre-detach-var", false, WorseThan, "pre", "2.725 beside 2.432, rate 2e-3"},
    {6, "pre-detach", false, WorseThan, "pre", "2.728 beside 2.432, rate 2e-3"},
    {6, "post-detach-mean", true, Learns, "", "2.63, rate 2e-3, warm-up 100"},
    {6, "post-detach-var", true, Stuck, "", "3.25, rate 2e-3, warm-up 100"},
    {6, "post-detach", true, Stuck, "", "3.25, rate 2e-3, warm-up 100"},
    {12, "post", false, Stuck, "", "3.309"},
    {12, "post", true, Stuck, "", "3.311, warm-up 400"},
    {12, "pre", false, Learns, "", "2.432"},
    {12, "admin", false, Learns, "", "2.503"},
    {12, "deepnorm", false, Learns, "", "2.655"},
    {18, "post", false, Stuck, "", "3.307, width 32"},
    {18, "post", true, Stuck, "", "3.309, width 32, warm-up 400"},
    {18, "pre", false, Learns, "", "2.629, width 32"},
    {18, "admin", false, Learns, "", "2.657, width 32"},
    {18, "deepnorm", false, Learns, "", "2.723, width 32"},
};

}  // namespace

std::span<const EntryRow> rows() { return kRows; }
std::span<const System> systems() { return kSystems; }
std::span<const Expected> claims() { return kClaims; }

}  // namespace normscope::zoo
