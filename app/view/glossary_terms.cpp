// The table of the glossary: what each term of the field means and where it stands in the app. See glossary.h.
#include "app/view/glossary.h"

namespace normscope::shell {
namespace {

constexpr Term kTerms[] = {
    {"norm", "layer normalization",
     "A norm subtracts the mean of a position's features, divides by their standard deviation and applies a "
     "learned gain and bias. It keeps the size of what flows on the same, whatever came before.",
     "Ba, Kiros, Hinton 2016, Layer Normalization", "settings/model.norm|diagram/kind/ln", "norm"},
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
     "Ding et al. 2021, CogView: Mastering Text-to-Image Generation via Transformers", "preset/Sandwich"},
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
     "Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.3", "Learning rate|settings/train.rate",
     "rate"},
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
     "Vaswani et al. 2017, section 3.2", ""},
    {"feed-forward", "feed-forward",
     "Two linear maps with a nonlinearity between, applied to each position alone. It holds about two thirds of a "
     "layer's weights.",
     "Vaswani et al. 2017, section 3.3", "settings/model.feed_forward"},
    {"gradient-norm", "gradient norm",
     "The length of the loss's gradient with respect to one weight matrix. Where it is thousands of times smaller "
     "than elsewhere, that layer hears almost nothing of the error: it receives too small a gradient.",
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
    {"unigram", "unigram entropy",
     "The loss of a model that knows letter frequencies only. A run that stays on this line has learned no "
     "order of letters at all.",
     "Shannon 1951, Prediction and Entropy of Printed English", "", "letter frequencies"},
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
     "A stretch of training in which the loss hardly falls. Here it is the unigram entropy, and a run is "
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
     "Zhu et al. 2025, Transformers without Normalization", "diagram/kind/dyt|settings/model.dyt_alpha"},
    {"adanorm", "AdaNorm",
     "A norm whose gain and bias are replaced by C(1 - ky) of its own output y. Without parameters of "
     "its own it overfits less.",
     "Xu et al. 2019, Understanding and Improving Layer Normalization, section 4",
     "diagram/kind/adanorm|settings/model.adanorm_scale|settings/model.adanorm_slope"},
    {"detachnorm", "DetachNorm",
     "A norm whose mean and spread count as constants when the gradient goes back. What it fails to "
     "learn shows that the norm's backward pass matters, not its forward pass alone.",
     "Xu et al. 2019, sections 3.2 and 3.3",
     "diagram/kind/detach|diagram/kind/detach-mean|diagram/kind/detach-var"},
    {"ln-simple", "LN-simple",
     "Layer normalization without its gain and bias. On many tasks it does as well, because gain and "
     "bias mostly overfit.",
     "Xu et al. 2019, section 3.1", "diagram/kind/simple"},
    {"skip-scale", "skip and branch scales",
     "ω multiplies the skip path and α the branch before the two are added. Their ratio decides how much "
     "of a layer's state its newest branch is.",
     "Liu et al. 2020; Bachlechner et al. 2020", "scale", "skip path|skip scale|$\\omega"},
    {"layer", "layer",
     "Attention followed by a feed-forward network, each with its way back to the stream. More layers "
     "compute more in turn and are harder to train.",
     "Vaswani et al. 2017, section 3.1", "settings/model.layers|settings/model.encoder_layers"},
    {"width", "width d_model",
     "How many numbers describe a position on its way up. Matrices grow with its square, and so does "
     "most of the cost.",
     "Vaswani et al. 2017, section 3.1", "settings/model.width", "width|d_model"},
    {"heads", "attention heads",
     "The width is cut into parts that attend each for itself. One head can look back one letter while"
     " another looks for the last space.",
     "Vaswani et al. 2017, section 3.2.2", "settings/model.heads"},
    {"context", "sequence length",
     "How many symbols stand before the model at once. Attention can look back no further, and its "
     "cost grows with the square.",
     "Vaswani et al. 2017, section 4", "settings/model.sequence"},
    {"init", "initialization",
     "How the weights start, before the first step: their size decides how signals and gradients grow or "
     "shrink from layer to layer. Here normal(0.02) leaves the embedding at unit variance, unlike BERT, and "
     "T-Fixup’s (9N)^(−1/4), derived for decoders with cross-attention, serves every decoder.",
     "Glorot, Bengio 2010, Understanding the difficulty of training deep feedforward neural networks",
     "settings/model.init", "initialisation"},
    {"schedule", "learning rate schedule",
     "What the learning rate does after its warm-up: stay, or fall in a curve. A falling rate lets the"
     " weights settle at the end.",
     "Vaswani et al. 2017, section 5.3; Loshchilov, Hutter 2017, SGDR: Stochastic Gradient Descent with Warm "
     "Restarts",
     "settings/train.schedule|settings/train.reference|settings/train.decay_end|settings/train.decay_factor|"
     "settings/train.milestones"},
    {"moments", "Adam's averages",
     "Adam keeps a running mean of each gradient and one of its square; beta 1 and beta 2 say how "
     "slowly they forget. A beta 2 near one averages over many steps and is late to notice a change.",
     "Kingma, Ba 2015, section 2",
     "settings/train.beta1|settings/train.beta2|settings/train.eps|settings/train.bias_correction"},
    {"momentum", "momentum",
     "A share of the last update is carried into the next one. Steps in one direction add up and those"
     " that alternate cancel.",
     "Goodfellow, Bengio, Courville 2016, section 8.3.2", "settings/train.momentum"},
    {"weight-decay", "weight decay",
     "Each step takes a small share off every weight. It keeps weights from growing that the loss does"
     " not need.",
     "Loshchilov, Hutter 2019, Decoupled Weight Decay Regularization", "settings/train.weight_decay"},
    {"label-smoothing", "label smoothing",
     "A little of the target's probability is given to all other symbols. The model is not driven to "
     "be certain, and the loss cannot reach zero.",
     "Szegedy et al. 2016, Rethinking the Inception Architecture; Vaswani et al. 2017, section 5.4",
     "settings/train.label_smoothing"},
    {"dropout", "dropout",
     "In training a random share of the numbers is set to zero and the rest scaled up. No single path "
     "can be relied on, so the model memorises less.",
     "Srivastava et al. 2014, Dropout: A Simple Way to Prevent Neural Networks from Overfitting",
     "settings/model.dropout_residual|settings/model.dropout_attention|settings/model.dropout_activation"},
    {"activation", "activation",
     "The bent function between the two matrices of a feed-forward network, without which the two would be "
     "one matrix. GELU is computed in its tanh form.",
     "Hendrycks, Gimpel 2016, Gaussian Error Linear Units, section 2 (the tanh form)",
     "settings/model.activation"},
    {"positions", "positional encoding",
     "Attention alone does not know which symbol came first, so each position gets a mark of its "
     "place. It is a fixed wave or a learned vector that is added to the embedding.",
     "Vaswani et al. 2017, section 3.5", "settings/model.positions"},
    {"embedding", "embedding",
     "A table with one learned vector a symbol: what enters the stream at the bottom. The output layer "
     "may reuse the same table.",
     "Press, Wolf 2017, Using the Output Embedding to Improve Language Models",
     "settings/model.tied|settings/model.shared_embedding"},
    {"placement", "placement of the norm",
     "Where normalization stands in a layer: on the residual stream, inside the branch, in both, in neither. "
     "It decides how gradients reach the lower layers, and so whether a deep model trains.",
     "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture", "settings/model.placement"},
    {"architecture", "encoder and decoder",
     "A decoder sees only what came before and predicts the next symbol; an encoder sees the whole "
     "row. An encoder-decoder reads one row with the one and writes another with the other.",
     "Vaswani et al. 2017, section 3.1", "settings/model.architecture|settings/model.encoder_placement",
     "decoder|encoder"},
    {"pooling", "pooling",
     "How a classifier gets one vector from a whole row: the first position's, or the mean of all. The"
     " class is read off that vector.",
     "Devlin et al. 2019, BERT (first position); Reimers, Gurevych 2019, Sentence-BERT (mean)",
     "settings/model.pooling"},
    {"output-projection", "output projection",
     "The matrix at the end of attention that mixes what its heads found. It decides what each head "
     "adds to the stream.",
     "Vaswani et al. 2017, section 3.2.2", "settings/model.output_projection"},
    {"epsilon", "norm epsilon",
     "A tiny number added to the variance before a norm divides by its root. It matters only where a "
     "state is almost constant.",
     "Ioffe, Szegedy 2015, Batch Normalization, algorithm 1", "settings/model.eps"},
    {"data", "training data",
     "What the runs learn from, the same batches for each of them. The built-in sentences have a known"
     " entropy, so that how much is left to learn is known too.",
     "This program", "settings/data.name|settings/data.seed", "-"},
    {"pieces", "byte-pair pieces",
     "Frequent groups of letters that count as one symbol. A larger vocabulary makes rows shorter and "
     "the embedding larger.",
     "Sennrich, Haddow, Birch 2016, Neural Machine Translation of Rare Words with Subword Units",
     "settings/data.vocabulary|settings/data.tokenizer"},
    {"validation", "validation",
     "Text that the run never learns from, and a loss measured on it. It shows whether what was learned holds "
     "beyond the training text.",
     "Goodfellow, Bengio, Courville 2016, section 5.3", "settings/data.valid"},
    {"fine-tuning", "fine-tuning",
     "A run that begins with the weights of another, trained on something else, instead of by chance. What was "
     "learned there need not be learned again.",
     "Devlin et al. 2019, BERT, section 3.2", "settings/train.init_from"},
    {"run", "run",
     "One training from a specification, a seed and the edits made on the way; the same three give the same "
     "numbers again. Unless it is given a name it is called after its settings.",
     "This program", "settings/run.name", "-"},
    {"gradient-memory", "gradients of activations",
     "Going back, each intermediate value has a gradient that takes as much memory as the value. Once "
     "it has been handed on, its memory can serve another.",
     "Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost", "settings/train.reuse_gradients"},
    {"update-ratio", "update-to-weight ratio",
     "The length of the last step of a matrix over the length of the matrix itself. It is the learning"
     " rate that the matrix feels, about one in a thousand in healthy training.",
     "CS231n course notes, Neural Networks Part 3: ratio of weights to updates",
     "Update by layer|Update ratio over time|Update-to-weight ratio over time", "update ratio"},
    {"branch-variance", "branch variance",
     "How strongly the numbers of a branch vary over positions and features as they are added. Against"
     " the variance of the skip path it says how much the branch changes.",
     "Liu et al. 2020, Understanding the Difficulty of Training Transformers, section 4.1",
     "Branch variance|Branch variance over time"},
    {"trunk-variance", "residual stream variance",
     "How strongly the numbers on the skip path vary over positions and features where a branch joins."
     " In Pre-LN it grows with every branch, after a norm it is one.",
     "Xiong et al. 2020, lemma 2",
     "Trunk variance|Trunk variance over time|Stream variance|Stream variance over time|"
     "Residual stream variance|Residual stream variance over time|Residual variance|Residual variance over time"},
    {"token-cosine", "token cosine",
     "The mean cosine of the angle between the states of different positions. Near one all positions "
     "say the same, and attention has nothing to choose from.",
     "Dong, Cordonnier, Loukas 2021, Attention is not all you need; Noci et al. 2022, Signal Propagation in "
     "Transformers",
     "Token cosine|Token cosine over time", "token states"},
    {"layer-cosine", "layer cosine",
     "The cosine between what enters a sub-layer and what leaves it. Near one the sub-layer hardly "
     "turns anything and could almost be left out.",
     "Men et al. 2024, ShortGPT: Layers in Large Language Models are More Redundant Than You Expect",
     "Layer cosine|Layer cosine over time"},
    {"attention-entropy", "attention entropy",
     "How widely a head spreads its attention, in nats: zero looks at one position, the logarithm of "
     "their number at all alike. A sudden fall towards zero announces unstable training.",
     "Zhai et al. 2023, Stabilizing Transformer Training by Preventing Attention Entropy Collapse",
     "Attention entropy|Attention entropy over time"},
    // What the lessons' formulas and figures take for granted.
    {"loss", "loss",
     "How badly the model foresees what comes: the mean of minus the logarithm of the probability that it "
     "gave to it. It is measured in nats and falls while the model learns.",
     "Goodfellow, Bengio, Courville 2016, section 6.2", ""},
    {"gradient", "gradient",
     "By how much the loss changes when a weight changes a little, one number for every weight. A step of "
     "training moves the weights against it.",
     "Goodfellow, Bengio, Courville 2016, section 4.3", "", "gradients"},
    {"length", "length ‖·‖",
     "The root of the sum of the squares of all numbers in a vector or a matrix. It says in one number how "
     "large the whole is.",
     "Goodfellow, Bengio, Courville 2016, section 2.5", "", "$\\|\\cdot\\|"},
    {"w2", "W₂",
     "The second matrix of a feed-forward network: it brings the widened state back to the width of the "
     "stream. The theorem of lesson 3 bounds its gradient.",
     "Vaswani et al. 2017, section 3.3", "", "$W_2"},
    {"widths", "widths D and F",
     "D, also called d_model, is the width of the state that flows through the model, F the width of the "
     "feed-forward network between its two matrices. F is usually four times D.",
     "Vaswani et al. 2017, section 3.3", "", "$D|$F"},
    {"variance", "variance",
     "The mean squared distance of numbers from their mean, written Var. When independent numbers are added "
     "their variances add up.",
     "Goodfellow, Bengio, Courville 2016, section 3.8", "", "variances|$\\mathrm{Var}"},
    {"mean-square", "mean square",
     "The mean of the squares of the numbers of a state, which says in one number how large it is. A norm "
     "without gain and bias sets it to one.",
     "Xiong et al. 2020, lemma 2", "", "mean squares"},
    {"stream", "residual stream",
     "The running sum from embedding to output: the embedding and everything that the branches have added to "
     "it so far. Every branch reads it, and so does the output.",
     "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits", "", "stream|trunk"},
    {"root-depth", "1/√depth",
     "When parts that know nothing of each other are added, the mean square of the sum grows like their "
     "number, so its length grows like the root of it. A last norm that divides by this length makes the "
     "last layer's gradient at one position fall in proportion to one over the root of the depth.",
     "Xiong et al. 2020, theorem 1 and the proof of it (an upper bound); the value: docs/theory.md", "",
     "$\\sqrt{N}|$1/\\sqrt{N}"},
    {"cosine", "cosine",
     "The cosine of the angle between two vectors: one when they point the same way, zero at a right angle. "
     "It compares directions and leaves lengths out.",
     "Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 6.3", ""},
    {"log-axis", "logarithmic axis",
     "An axis on which equal distances are equal factors, as from 1 to 10 and from 10 to 100. Where both axes are "
     "logarithmic a power is a straight line, and its slope is the exponent.",
     "Cleveland 1985, The Elements of Graphing Data", "",
     "logarithmic axes|logarithmic|log scale|log scales"},
    {"number-by-number", "⊙",
     "A product of two vectors number by number, each with its partner. A learned scale for every feature acts on "
     "a state in this way.",
     "Goodfellow, Bengio, Courville 2016, section 2.2", "", "$\\odot"},
};

}  // namespace

std::span<const Term> glossary() { return kTerms; }

}  // namespace normscope::shell
