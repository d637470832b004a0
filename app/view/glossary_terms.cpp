// The table of the glossary: what each term of the field means and where it stands in the app. Here norms,
// their placements and how training goes; the rest is in glossary_settings.cpp. See glossary.h.
#include <vector>

#include "app/view/glossary.h"

namespace normscope::shell {
namespace {

constexpr Term kTerms[] = {
    {"norm", "layer normalization",
     "A norm subtracts the mean of a position's features, divides by their standard deviation and applies a "
     "learned gain and bias. It keeps the size of what flows on the same, whatever came before.",
     "Ba, Kiros, Hinton 2016, Layer Normalization", "settings/model.norm|diagram/kind/ln", "norm|LayerNorm",
     0},
    {"rmsnorm", "RMSNorm",
     "A norm that divides by the root mean square and subtracts nothing. It has a gain but no bias, and trains "
     "about as well as layer normalization.",
     "Zhang, Sennrich 2019, Root Mean Square Layer Normalization", "diagram/kind/rms"},
    {"post-ln", "Post-LN",
     "The norm stands on the residual stream, after the branch was added. It is the placement of the original "
     "transformer; deep stacks of it need a warm-up.",
     "Vaswani et al. 2017, Attention Is All You Need", "preset/Post"},
    {"pre-ln", "Pre-LN",
     "The norm stands at the entry of each branch, and the stream has none but a last one before the output. "
     "Gradients do not fade on their way down: lower layers have somewhat larger ones, and it trains without "
     "warm-up.",
     "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture; Liu et al. 2020, appendix "
     "A.1",
     "preset/Pre"},
    {"sandwich", "sandwich norm",
     "Each branch has a norm at its entry and a second one at its end. It keeps what a branch adds to the "
     "stream from growing.",
     "Ding et al. 2021, CogView: Mastering Text-to-Image Generation via Transformers", "preset/Sandwich",
     "sandwich"},
    {"deepnorm", "DeepNorm",
     "Post-LN whose skip path is multiplied by a constant above one before the branch is added, with smaller "
     "initial weights in the branch. It bounds how much one update can change a very deep model.",
     "Wang et al. 2022, DeepNet: Scaling Transformers to 1,000 Layers", "preset/DeepNorm"},
    {"admin", "Admin",
     "Post-LN whose skip paths are scaled by numbers measured on a first batch, so that every branch has a small "
     "share at the start. The scales are learned on afterwards.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers", "preset/Admin"},
    {"rezero", "ReZero",
     "No norm at all: each branch is multiplied by a learned number that starts at zero, here one for each "
     "sub-layer (the authors: one for each layer). At the start the model is the identity and gradients pass "
     "untouched.",
     "Bachlechner et al. 2020, ReZero is All You Need", "preset/ReZero"},
    {"warm-up", "warm-up",
     "The learning rate rises from zero to its peak over the first steps. It keeps the first, badly informed "
     "updates small until Adam's averages are reliable.",
     "Vaswani et al. 2017, section 5.3; Xiong et al. 2020, section 3.2; Liu et al. 2020, On the Variance of "
     "the Adaptive Learning Rate and Beyond",
     "settings/train.warmup"},
    {"learning-rate", "learning rate",
     "How far the weights move against the gradient in one step. Too small a rate learns slowly, too large a one "
     "throws away what was learned.",
     "Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.3", "Learning rate|settings/train.lr",
     "rate", 0},
    {"residual", "residual connection",
     "A sub-layer's result is added to its own input instead of replacing it. The sum gives the gradient a way "
     "back that no weight stands in.",
     "He et al. 2016, Deep Residual Learning for Image Recognition", "Architecture"},
    {"branch", "branch",
     "The detour of a sub-layer: it leaves the stream, passes attention or feed-forward, and is added back. How "
     "much a branch counts is what the placement of the norm decides.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers", "", "branches"},
    {"attention", "attention",
     "Each position looks at the others and takes a weighted mean of what they offer. The weights follow from how "
     "well its query fits their keys.",
     "Vaswani et al. 2017, section 3.2", "", "queries and keys"},
    {"feed-forward", "feed-forward",
     "Two linear maps with a nonlinearity between, applied to each position alone. It holds about two thirds of a "
     "layer's weights.",
     "Vaswani et al. 2017, section 3.3", "settings/model.feed_forward"},
    {"gradient-norm", "gradient norm",
     "The length of the loss's gradient with respect to one weight matrix. Where it is thousands of times smaller "
     "than elsewhere, that layer learns almost nothing of the error: the gradient that it receives is too small.",
     "Xiong et al. 2020, section 3.3", "Gradient by layer|Gradient norm over time|Gradient over time"},
    {"theory", "theory at step 1",
     "What the gradient of W₂ should be before training, computed and not measured. The diamond is the last "
     "layer, from depth, widths and how often letters repeat; the dotted line follows 1/√q in Pre-LN, q the "
     "mean square of the stream, and the measured size of cross-attention in a Post-LN decoder; where an "
     "assumption of a line does not hold it is not drawn.",
     "Ours: docs/theory.md. Bounds of the last layer: Xiong et al. 2020, theorem 1; even layers of Post-LN "
     "at one position: Liu et al. 2020, theorem 1",
     "", "-"},
    {"hidden-state", "hidden-state norm",
     "The mean square of the features of the residual stream. In Pre-LN it grows with depth because every branch "
     "adds to it; in Post-LN each norm sets it back.",
     "Xiong et al. 2020, lemma 2", "Hidden-state norm|Hidden norm|Hidden norm over time"},
    {"nats", "nat",
     "The unit of the loss: minus the natural logarithm of the probability that the model gave to what came. "
     "One nat is "
     "1.44 bits; 2 nats a letter is like choosing among 7 equally likely letters.",
     "Shannon 1948, A Mathematical Theory of Communication", "Loss"},
    {"unigram", "letter frequencies",
     "The loss of a model that knows how often each letter comes and no more: the unigram entropy. A run that "
     "stays on this line has learned no order of letters at all.",
     "Shannon 1951, Prediction and Entropy of Printed English", "", "unigram entropy"},
    {"entropy", "entropy of the text",
     "The part of the text that cannot be foreseen, in nats a letter. No model can come below it on average.",
     "Shannon 1951, Prediction and Entropy of Printed English", ""},
    {"beta2", "β²",
     "Residual dependency, the share of each earlier branch in the state after a sub-layer: the variance of its "
     "part over the variance of the whole. A layer that leans on its newest branch alone is easily shaken by "
     "an update.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers, section 4.1",
     "Who does each layer lean on?|Residual dependency", "share|residual dependency|$\\beta_{ij}^2"},
    {"plateau", "plateau",
     "A stretch of training in which the loss hardly falls. Here it is the line of letter frequencies, and a run is "
     "called stuck when it stays there.",
     "Fukumizu, Amari 2000, Local minima and plateaus in hierarchical structures of multilayer perceptrons",
     ""},
    {"adam", "Adam",
     "An optimizer that divides each gradient's running mean by the root of its running square. So every weight "
     "moves by about the learning rate, however small its gradient is.",
     "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", "settings/train.optimizer"},
    {"seed", "seed",
     "The number that all chance of a run comes from: weights, batches, dropout. Runs with one seed start equal, "
     "so what differs later comes from what was changed; seed variability, the spread over other seeds, is luck.",
     "Bouthillier et al. 2021, Accounting for Variance in Machine Learning Benchmarks",
     "settings/run.seed|lab/luck", "seed variability"},
    {"sweep", "sweep",
     "The same run with one or two settings at every one of several values, each over some seeds. It shows where a "
     "model begins to learn, and where on that border luck decides.",
     "Goodfellow, Bengio, Courville 2016, section 11.4.3", "What is swept|sweep/grid", kNotInText},
    {"tape", "tape",
     "The list of what a model computes in one step, in order: forward down to the loss, backward up again. It is "
     "recorded once and executed in every step, so an operation and its gradient stand on one line.",
     "Baydin et al. 2018, Automatic Differentiation in Machine Learning: a Survey",
     "One training step|tape/fold", "forward pass|forward passes|backward pass"},
    {"finite-difference", "finite difference",
     "The slope of a function from two of its values, a small step h to either side. A large h misses the curve "
     "and a small one drowns in rounding, so the error is least between.",
     "Nocedal, Wright 2006, Numerical Optimization, section 8.1", "Check one element|tape/check", kNotInText},
    {"roofline", "roofline",
     "The least time that a machine could take: its arithmetic or its memory at full speed, whichever lasts longer. "
     "What an instruction takes beyond that is lost to something else.",
     "Williams, Waterman, Patterson 2009, Roofline: An Insightful Visual Performance Model", "tape/key",
     kNotInText},
    {"fork", "fork",
     "A second run that begins with the weights and optimizer state of another and differs in one thing from "
     "there on. "
     "It tells what that thing does to a model that has learned something.",
     "This program: drag a norm in the diagram", "run/D"},
    {"batch", "batch",
     "The texts that one step learns from together. The gradient is their mean, so a larger batch has less noise "
     "and costs more time.",
     "Goodfellow, Bengio, Courville 2016, section 8.1.3", "settings/train.batch"},
    {"clipping", "gradient clipping",
     "When the whole gradient is longer than a limit it is shortened to it, its direction kept. It protects from "
     "single wild steps and does not help a gradient that is too small.",
     "Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks",
     "settings/train.clip"},
    {"lns", "LayerNorm Scaling",
     "Pre-LN whose norms are multiplied by one over the root of the layer's number. It keeps the stream"
     " from growing so much that deep layers hardly change it.",
     "Sun et al. 2025, The Curse of Depth in Large Language Models", "preset/LNS"},
    {"peri", "Peri-LN",
     "A norm at the entry and at the end of each branch, one on the embedding and one before the "
     "output. The stream then grows slowly and evenly with depth.",
     "Kim et al. 2025, Peri-LN: Revisiting Normalization Layer in the Transformer Architecture",
     "preset/Peri|diagram/embedding"},
    {"mix", "Mix-LN",
     "The first quarter of the layers is Post-LN, the rest Pre-LN. The early layers keep what Post-LN "
     "gives them, the deep ones their gradient.",
     "Li et al. 2024, Mix-LN: Unleashing the Power of Deeper Layers by Combining Pre-LN and Post-LN",
     "preset/Mix"},
    {"b2t", "B2T connection",
     "Post-LN in which the input of a layer also joins the sum of its feed-forward sub-layer. It gives"
     " the gradient a way past all norms of the layer but the last.",
     "Takase et al. 2023, B2T Connection: Serving Stability and Performance in Deep Transformers",
     "preset/B2T"},
    {"resi-dual", "ResiDual",
     "Post-LN beside a second stream that adds up all branches without a norm; the normed second "
     "stream joins the output. It has Post-LN's variety of layers and Pre-LN's way back for the "
     "gradient.",
     "Xie et al. 2023, ResiDual: Transformer with Dual Residual Connections", "preset/ResiDual"},
    {"normformer", "NormFormer",
     "Pre-LN with three additions: a norm after attention, a learned scale on each head, a norm inside"
     " the feed-forward network. They even out gradients that in Pre-LN are larger in early layers.",
     "Shleifer et al. 2021, NormFormer: Improved Transformer Pretraining with Extra Normalization",
     "preset/NormFormer"},
    {"sub-ln", "Sub-LN",
     "Pre-LN with a second norm inside each function, before its last matrix. Initial weights are "
     "scaled so that one update changes a deep model by a bounded amount.",
     "Wang et al. 2023, Magneto: A Foundation Transformer", "preset/Sub-LN"},
    {"hybridnorm", "HybridNorm",
     "Attention has norms on its queries, keys and values instead of one before it, and the stream is "
     "normed where the feed-forward sub-layer begins. It aims at Pre-LN's stability and Post-LN's result.",
     "Zhuo et al. 2025, HybridNorm: Towards Stable and Efficient Transformer Training via Hybrid "
     "Normalization",
     "preset/HybridNorm"},
    {"hybridnorm-star", "HybridNorm*",
     "HybridNorm whose first layer is Pre-LN: there a norm at the entry of each branch takes the place of "
     "the one on the stream. The first layer reads the raw embedding, and the norm there steadies it.",
     "Zhuo et al. 2025, HybridNorm", "preset/Hybrid*"},
    {"normformer-scaled", "NormFormer with a scaled skip",
     "NormFormer in which the skip path is multiplied by a learned vector λ before the feed-forward branch is "
     "added. The authors advise it for small models.",
     "Shleifer et al. 2021, NormFormer", "preset/NormF. λ"},
    {"keel", "Keel",
     "Post-LN with a norm inside each branch too and a skip path that is multiplied by the number of "
     "sub-layers. The heavy skip lets the gradient pass a thousand layers.",
     "Chen, Wei 2026, Post-LayerNorm Is Back", "preset/Keel"},
    {"qk-norm", "QK-norm",
     "Each head's queries and keys are normed before they meet, here by layer normalization with gain and "
     "bias (Henry et al.: divided by their length, with a learned scale; Dehghani et al.: without bias). "
     "With gains of one no logit exceeds the root of the head's width; learned gains can still make "
     "attention sharp.",
     "Henry et al. 2020, Query-Key Normalization for Transformers; Dehghani et al. 2023, Scaling Vision "
     "Transformers to 22 Billion Parameters",
     "preset/QK-norm"},
    {"fixup", "FixUp",
     "No norm: initial weights shrink with depth, and each branch has a learned factor and scalar "
     "shifts instead. It shows that a careful start can replace the norm's help early in training.",
     "Zhang et al. 2019, Fixup Initialization: Residual Learning Without Normalization", "preset/FixUp"},
    {"admin-paper", "Admin by the paper's rule",
     "Admin whose skip scales all come from one measurement with every scale at one. The authors' code"
     " instead profiles one sub-layer after the other.",
     "Liu et al. 2020, section 4.3", "preset/Adm. paper"},
    {"rezero-post", "ReZero with Post-LN",
     "ReZero's learned factor from zero in each branch, with Post-LN's norm on the stream. At the start"
     " every norm sees its own input only.",
     "Liu et al. 2020, appendix E", "preset/ReZero+LN"},
    {"no-norm", "no norm",
     "A transformer without any normalization. It trains only with small rates or a start that shrinks"
     " with depth.",
     "Zhang et al. 2019, Fixup Initialization: Residual Learning Without Normalization",
     "preset/None|diagram/kind/off"},
    {"dyt", "dynamic tanh",
     "A tanh with a learned slope in the place of a norm, feature by feature. It squeezes large values"
     " as a norm does and measures no statistics.",
     "Zhu et al. 2025, Transformers without Normalization", "diagram/kind/dyt|settings/model.dyt_alpha",
     "DyT"},
    {"adanorm", "AdaNorm",
     "A norm whose gain and bias are replaced by C(1 − ky) of its own output y. Without parameters of "
     "its own it overfits less.",
     "Xu et al. 2019, Understanding and Improving Layer Normalization, section 4",
     "diagram/kind/adanorm|settings/model.adanorm_scale|settings/model.adanorm_slope"},
    {"detachnorm", "DetachNorm",
     "A norm whose mean and spread count as constants when the gradient goes back. What it fails to "
     "learn shows that the norm's backward pass matters, not its forward pass alone.",
     "Xu et al. 2019, sections 3.2 and 3.3",
     "diagram/kind/detach|diagram/kind/detach-mean|diagram/kind/detach-var",
     "detached|detach|variance detached|mean detached"},
    {"ln-simple", "LN-simple",
     "Layer normalization without its gain and bias. On many tasks it does as well, because gain and "
     "bias mostly overfit.",
     "Xu et al. 2019, section 3.1", "diagram/kind/simple"},
    {"skip-scale", "skip and branch scales",
     "ω multiplies the skip path and α the branch before the two are added. Their ratio decides how much "
     "of a layer's state its newest branch is.",
     "Liu et al. 2020; Bachlechner et al. 2020", "scale", "skip path|skip scale|$\\omega"},
};

}  // namespace

std::span<const Term> glossary() {
  static const std::vector<Term> all = [] {
    std::vector<Term> terms(std::begin(kTerms), std::end(kTerms));
    const std::span<const Term> more = glossary_of_settings();
    terms.insert(terms.end(), more.begin(), more.end());
    return terms;
  }();
  return all;
}

}  // namespace normscope::shell
