// The second half of the glossary's table: what can be set and measured, and what the lessons take for
// granted. See glossary.h.
#include "app/view/glossary.h"

namespace normscope::shell {
namespace {

constexpr Term kSettingTerms[] = {
    {"layer", "layer",
     "Attention followed by a feed-forward network, each with its way back to the stream. More layers "
     "compute more in turn and are harder to train.",
     "Vaswani et al. 2017, section 3.1", "settings/model.layers|settings/model.encoder_layers"},
    {"width", "model width",
     "How many numbers describe a position on its way up. Matrices grow with its square, and so does "
     "most of the cost.",
     "Vaswani et al. 2017, section 3.1", "settings/model.d_model", "width|d_model"},
    {"heads", "attention heads",
     "The width is cut into parts that attend each for itself. One head can look back one letter while"
     " another looks for the last space.",
     "Vaswani et al. 2017, section 3.2.2", "settings/model.heads"},
    {"context", "sequence length",
     "How many symbols the model sees at once. Attention looks back no further, unless there is a memory, "
     "and its cost grows with the square.",
     "Vaswani et al. 2017, section 4", "settings/model.sequence"},
    {"memory", "memory of segments",
     "The states that each layer had for the symbols before the row stay, and attention looks back at them, "
     "though nothing is learned through them. It needs relative positions and a text that goes on from batch to "
     "batch.",
     "Dai et al. 2019, Transformer-XL", "settings/model.memory|settings/data.consecutive|diagram/memory"},
    {"convolution", "convolution",
     "A small matrix that looks at a square of an image, at every place of it alike. Each of its columns makes one "
     "picture of the image, a channel.",
     "LeCun et al. 1998, Gradient-Based Learning Applied to Document Recognition",
     "settings/model.channels|settings/model.channels_2|settings/model.window|settings/data.digits"},
    {"attachment", "attachment score",
     "UAS is the share of words whose head in the tree is right. LAS asks for the relation to it too.",
     "Zeman et al. 2018, CoNLL 2018 Shared Task: Multilingual Parsing", "settings/data.punctuation"},
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
     "settings/train.beta1|settings/train.beta2|settings/train.eps|settings/train.bias_correction",
     "running mean"},
    {"momentum", "momentum",
     "A share of the last update is carried into the next one. Steps in one direction add up and those"
     " that alternate cancel.",
     "Goodfellow, Bengio, Courville 2016, section 8.3.2", "settings/train.momentum"},
    {"weight-decay", "weight decay",
     "Each step takes a small share off every weight. It keeps weights from growing that the loss does"
     " not need.",
     "Loshchilov, Hutter 2019, Decoupled Weight Decay Regularization", "settings/train.weight_decay"},
    {"critical-rate", "critical rate",
     "The learning rate at which the very update of a step would neither lower nor raise the loss of its batch: "
     "shorter steps go down, longer ones overshoot. Two over it is the sharpness of the loss along the update.",
     "Kalra et al. 2026, A Scalable Measure of Loss Landscape Curvature", "settings/train.critical_every",
     "critical rates|$\\eta_c"},
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
     "settings/model.activation", "relu"},
    {"positions", "positional encoding",
     "Attention alone does not know which symbol came first, so each position gets a mark of its "
     "place. It is a fixed wave or a learned vector that is added to the embedding; relative positions tell "
     "attention how far back each symbol is instead.",
     "Vaswani et al. 2017, section 3.5", "settings/model.positions"},
    {"embedding", "embedding",
     "A table with one learned vector a symbol: what enters the stream at the bottom. The output layer "
     "may reuse the same table.",
     "Press, Wolf 2017, Using the Output Embedding to Improve Language Models",
     "settings/model.tied|settings/model.shared_embedding"},
    {"placement", "placement of the norm",
     "Where normalization stands in a layer: on the residual stream, inside the branch, in both, in neither. "
     "It decides how gradients reach the lower layers, and so whether a deep model trains.",
     "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture", "settings/model.placement",
     "placement"},
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
    {"baseline", "baseline",
     "The run that all others of a comparison are held against. Where both trained on the same batches with the "
     "same seed the difference is taken seed by seed, otherwise against all of its seeds together.",
     "This program", "compare/run/A|compare/run/B|compare/run/C|compare/run/D", "-"},
    {"first-place", "first place where runs part",
     "The first step at which the gradient norm of a weight matrix differs from the baseline's by more than the "
     "chosen factor, and that matrix. It says where a difference is seen first, not what causes it.",
     "This program", "First place they part", "-"},
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
     "their number where all are alike. A sudden fall towards zero announces unstable training.",
     "Zhai et al. 2023, Stabilizing Transformer Training by Preventing Attention Entropy Collapse",
     "Attention entropy|Attention entropy over time"},
    // What the lessons' formulas and figures take for granted.
    {"cross-attention", "cross-attention",
     "Attention of a decoder to the states of the encoder: the queries come from the one, the keys and values from "
     "the other. It is the only way in which what is to be translated reaches the decoder.",
     "Vaswani et al. 2017, section 3.2.3; Liu et al. 2020, appendix A.3 (encoder-attention)", "",
     "encoder-attention"},
    {"sgd", "plain SGD",
     "Every weight moves by its gradient times the learning rate, and by nothing else: gradient descent, stochastic "
     "where the gradient is that of a batch. Where the gradient is a thousand times smaller, so is the step.",
     "Goodfellow, Bengio, Courville 2016, section 8.3.1", "", "SGD|gradient descent"},
    {"radam", "RAdam",
     "Adam whose steps are held back while its averages rest on few gradients, by a factor that rises to one. "
     "Its authors made it to do without a warm-up.",
     "Liu, Jiang et al. 2020, On the Variance of the Adaptive Learning Rate and Beyond", ""},
    {"bias-correction", "bias correction",
     "Adam's running means start at zero and are too small at first, so each is divided by how much it has seen so "
     "far. Without that the slower mean, of the squares, lags behind, and the first steps are too long.",
     "Kingma, Ba 2015, section 3", ""},
    {"dilution", "dilution",
     "In Pre-LN every branch joins a sum that has grown, so that a late layer changes little and the next one reads "
     "nearly the same. Such a depth acts as width.",
     "Su 2022, blog of March 29, 2022; Liu et al. 2020, section 4.1", "", "diluted"},
    {"loss", "loss",
     "How badly the model foresees what comes: the mean of minus the logarithm of the probability that it "
     "gave to it. It is measured in nats and falls while the model learns.",
     "Goodfellow, Bengio, Courville 2016, section 6.2", ""},
    {"gradient", "gradient",
     "By how much the loss changes when a weight changes a little, one number for every weight. A step of "
     "training moves the weights against it.",
     "Goodfellow, Bengio, Courville 2016, section 4.3", "", "gradients", 0},
    {"step", "training step",
     "All that is done with one batch: forward to the loss, backward to the gradient of every weight, and each weight "
     "moved against its own. A run is some hundred of them.",
     "Goodfellow, Bengio, Courville 2016, section 8.3.1", "", "", 0},
    {"length", "length ‖·‖",
     "The root of the sum of the squares of all numbers in a vector or a matrix. It says in one number how "
     "large the whole is.",
     "Goodfellow, Bengio, Courville 2016, section 2.5", "", "$\\|\\cdot\\|", 0},
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
     "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits", "", "stream|trunk", 0},
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
    {"weights", "weights",
     "All the numbers of a model that training may change: its matrices, its embedding, the gains and biases of its "
     "norms. What a model has learned is in them and nowhere else.",
     "Goodfellow, Bengio, Courville 2016, section 6.1", ""},
    {"state", "state",
     "The numbers that describe one position at one place of the model, as many as the model is wide. Every "
     "sub-layer reads the states and hands on new ones.",
     "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits", ""},
    {"gain-bias", "gain and bias",
     "Two learned numbers per feature: a norm multiplies its result by the one and adds the other. They start at one "
     "and at zero, where they do nothing.",
     "Ba, Kiros, Hinton 2016, Layer Normalization, section 3", "", "learned gain|learned bias"},
    {"deviation", "standard deviation",
     "The root of the variance: how far numbers usually lie from their mean, in their own unit. A norm "
     "divides by it.",
     "Goodfellow, Bengio, Courville 2016, section 3.8", "", "$\\sigma"},
    {"geometric-mean", "geometric mean",
     "The mean of the logarithms, turned back into a number: of 1 and 100 it is 10. It suits what differs by "
     "factors, where the arithmetic mean hears little but the largest number.",
     "Fleming, Wallace 1986, How not to lie with statistics: the correct way to summarize benchmark results",
     "", "geometrically"},
    {"optimizer", "optimizer",
     "The rule that makes steps out of gradients: plain SGD takes them as they are, with momentum it adds earlier "
     "ones, Adam divides by their recent size. What a given learning rate does depends on it.",
     "Goodfellow, Bengio, Courville 2016, sections 8.3 and 8.5", ""},
    {"overfitting", "overfitting",
     "A model learns what only its training text has, in place of what all such texts have in common. Its training "
     "loss goes on falling while that on unseen text rises.",
     "Goodfellow, Bengio, Courville 2016, section 5.2", "", "overfit"},
    {"edge", "edge of stability",
     "In plain gradient descent on all data the loss curves more and more along the steps, until the critical rate "
     "has fallen to the rate in use. There it stays, while the loss goes on falling, though not at every step.",
     "Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability", ""},
    {"slot", "slot",
     "A place in a layer where a norm can stand: before a branch, behind it, on the stream, on queries and keys. A "
     "placement says what stands in each of them.",
     "This program: docs/configuration.md, wiring", ""},
};

}  // namespace

std::span<const Term> glossary_of_settings() { return kSettingTerms; }

}  // namespace normscope::shell
