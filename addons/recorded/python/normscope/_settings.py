"""The settings of a run, by their whole keys, as `normscope settings --json` has them. Made by `python -m
normscope._stubs`: write nothing here. Where only one key ends in a word, that word stands for it."""
from __future__ import annotations

from typing import Literal, TypedDict, Union

Whole = TypedDict("Whole", {
    "preset": str,  # a preset's name, the settings of which these change
    # architecture (by default decoder). A decoder predicts the next symbol, an encoder sees the whole row and fills
    # in what is hidden or names its class, an encoder-decoder writes one row after reading another. Two are no
    # transformers: a convolutional network names the class of an image, a parser is a feed-forward network that
    # chooses the transitions which build a dependency tree.
    "model.architecture": Literal["decoder", "encoder", "encoder-decoder", "convolutional", "parser"],
    # layers, 1 to 256 (by default 6). How many layers are stacked; each is attention followed by a feed-forward
    # network. Of a parser, each is a hidden layer.
    "model.layers": int,
    # encoder layers, 0 to 256 (by default 0). Depth of the encoder of an encoder-decoder; 0 makes it as deep as the
    # decoder.
    "model.encoder_layers": int,
    # width, 2 to 8192 features (by default 64). How many numbers describe a symbol on its way through the model:
    # d_model. Must be a multiple of the heads.
    "model.d_model": int,
    # heads, 1 to 128 (by default 4). Into how many parallel attentions the width is cut.
    "model.heads": int,
    # feed-forward, 1 to 65536 features (by default 256). Width of the hidden layer of each feed-forward network; four
    # times the width is usual.
    "model.feed_forward": int,
    # sequence, 2 to 4096 symbols (by default 64). How many symbols the model sees at once; attention looks back no
    # further, unless there is a memory.
    "model.sequence": int,
    # memory, 0 to 4096 symbols (by default 0). How many symbols before the row a decoder still sees, as the states
    # that each layer had for them; nothing is learned through them (Transformer-XL). It needs relative positions and
    # consecutive text, and asks for both. 0 is none.
    "model.memory": int,
    # norm (by default ln). Which normalization stands in the slots. ln centres, scales and has a learned gain and
    # bias, rms only scales; the glossary explains every kind.
    "model.norm": Literal[
        "ln", "simple", "rms", "detach", "detach-mean", "detach-var", "undivided", "adanorm", "dyt", "derf",
        "rms-simple"],
    # placement (by default post). Where the norms stand, for all layers at once. Post-LN puts them on the residual
    # stream, Pre-LN inside the branches.
    "model.placement": Literal[
        "none", "post", "pre", "sandwich", "deepnorm", "admin", "rezero", "admin-paper", "rezero-post", "peri",
        "mix", "lns", "b2t", "normformer", "subln", "hybridnorm", "keel", "qknorm", "fixup", "normformer-res",
        "hybridnorm-star", "res-post", "simple", "ngpt", "resi-dual", "gpas", "siamese", "hyper", "mhc", "mhc-lite",
        "attn-res", "depth-average", "span", "prores", "gated-attention", "gated-norm", "delta", "custom"],
    # encoder placement (by default same). Where the norms of an encoder-decoder's encoder stand; same follows the
    # decoder. Set apart they make the hybrids of Liu et al. (2020), Table 1.
    "model.encoder_placement": Literal[
        "same", "none", "post", "pre", "sandwich", "deepnorm", "admin", "rezero", "admin-paper", "rezero-post",
        "peri", "mix", "lns", "b2t", "normformer", "subln", "hybridnorm", "keel", "qknorm", "fixup",
        "normformer-res", "hybridnorm-star", "res-post", "simple", "ngpt", "resi-dual", "gpas", "siamese", "hyper",
        "mhc", "mhc-lite", "attn-res", "depth-average", "span", "prores", "gated-attention", "gated-norm", "delta",
        "custom"],
    # channels, 1 to 1024 (by default 20). Convolutional network: how many pictures the first convolution makes of an
    # image.
    "model.channels": int,
    # channels, layer 2, 1 to 1024 (by default 50). Convolutional network: how many pictures the second convolution
    # makes of those.
    "model.channels_2": int,
    # window, 1 to 31 pixels (by default 5). Convolutional network: height and width of the part of an image that a
    # convolution looks at.
    "model.window": int,
    # init (by default xavier). How the weights start. xavier fits each matrix's size; theory is the setting of Xiong
    # et al. (2020) with silent attention; normal002 is a fixed spread of 0.02, as in BERT; fixup and t-fixup shrink
    # them with depth, for models without norms; looklinear makes each feed-forward network start as a linear map; b2t
    # shrinks every matrix of the layers by the root of their number.
    "model.init": Literal["xavier", "theory", "normal002", "fixup", "t-fixup", "looklinear", "b2t"],
    # activation (by default relu). The nonlinearity inside the feed-forward networks.
    "model.activation": Literal["relu", "gelu", "silu", "gelu_erf", "relu2"],
    # gated feed-forward (by default false). The hidden layer is a product of two: the activation of one matrix's
    # output times that of another (SwiGLU with silu, GeGLU with gelu). It has half as many weights again; two thirds
    # of the hidden width make up for them.
    "model.gated": bool,
    # biases (by default every). Which matrices of the layers have a bias: every one, only those of queries, keys and
    # values, only those of the feed-forward networks, none, only those of attention, or all but those of queries,
    # keys and values.
    "model.biases": Literal["every", "qkv", "ffn", "none", "attention", "but-qkv"],
    # positions (by default learned). How the model is told the place of a symbol in the sequence. rotary adds nothing
    # to the symbols: queries and keys turn with their place, so that attention compares distances. With relative,
    # which is for decoders, nothing is added to the symbols: attention is told how far back each one is.
    "model.positions": Literal["learned", "sinusoidal", "none", "rotary", "alibi", "relative"],
    # tied output (by default true). The output layer reuses the embedding table instead of a matrix of its own.
    "model.tied": bool,
    # output bias (by default false). Every symbol has a bias in the output layer (GPT-J).
    "model.output_bias": bool,
    # masked symbol head (by default false). Before an encoder's output layer come a matrix, the activation and a
    # norm, and every symbol has a bias, as in BERT.
    "model.masked_head": bool,
    # pooling (by default first). What a classifier reads the class off: the state of the first position, as BERT
    # does, or the mean over all positions.
    "model.pooling": Literal["first", "mean"],
    # shared embedding (by default true). Encoder and decoder read one embedding table; off, each has its own.
    "model.shared_embedding": bool,
    # output projection (by default true). Attention ends in a matrix that mixes its heads. The theory setting has
    # none.
    "model.output_projection": bool,
    # head width, 0 to 1024 features (by default 0). How many numbers a head's queries and keys have. 0 cuts the width
    # evenly among the heads.
    "model.head_width": int,
    # heads of keys, 0 to 128 (by default 0). How many heads of keys and values there are; the heads of queries share
    # them evenly (grouped-query attention). 0 gives every head its own.
    "model.kv_heads": int,
    # attention scale, 0 to 100 (by default 0). What the scores of attention are multiplied by. 0 is one over the root
    # of the head width.
    "model.attention_scale": float,
    # attention cap, 0 to 1000 (by default 0). Bends the scores of attention with a tanh, so that none exceeds this
    # (Gemma 2). 0 is no cap.
    "model.attention_cap": float,
    # attention window, 0 to 4096 symbols (by default 0). A symbol attends to this many symbols, the last of which is
    # itself; in an encoder also to as many that begin with it. 0 is all.
    "model.attention_window": int,
    # window pattern. Which layers have the window, a letter a layer and from the start again: w has it, f sees all.
    # wf is Gemma 2's, wwwwwf Gemma 3's; nothing gives all of them the window.
    "model.attention_pattern": Union[str, int, float],
    # rotary base, 1.001 to 1000000000 (by default 10000). Pair i of the n numbers of a head that turn does so by
    # base^(-2i/n) radians a symbol: the larger the base, the slower the last pairs.
    "model.rotary_base": float,
    # rotary base in windows, 0 to 1000000000 (by default 0). The rotary base of the layers whose attention has a
    # window (Gemma 3). 0 is that of the others.
    "model.rotary_local_base": float,
    # rotary share, 0 to 1 (by default 1). The share of a head's numbers that turn, from the first on; the others know
    # no place (Pythia: 0.25).
    "model.rotary_share": float,
    # rotary pairs (by default halves). Which two numbers turn together: halves pairs the first half with the second
    # (Llama), neighbours each with the next (GPT-J).
    "model.rotary_pairing": Literal["halves", "neighbours"],
    # rotary pattern. Which layers turn queries and keys, a letter a layer and from the start again: r does, n does
    # not and knows no places. rrrn is SmolLM3's; nothing has all of them turn.
    "model.rotary_pattern": Union[str, int, float],
    # rotary scaling (by default none). How turning is slowed for texts longer than those trained on: linear slows
    # every pair, llama3 and yarn only the slow ones; yarn sharpens attention too.
    "model.rotary_scaling": Literal["none", "linear", "llama3", "yarn"],
    # rotary factor, 1 to 1000 (by default 1). By how much the scaling slows the pairs.
    "model.rotary_factor": float,
    # rotary positions, 0 to 10000000 symbols (by default 0). The length of the texts before the scaling, in which a
    # pair's turns are counted. 0 is model.sequence.
    "model.rotary_trained": int,
    # rotary low, 0.001 to 1000 turns (by default 1). Pairs that turn less often are slowed by the whole factor.
    "model.rotary_low": float,
    # rotary high, 0.001 to 1000 turns (by default 4). Pairs that turn more often are not slowed: 4 is usual for
    # llama3, 32 for yarn.
    "model.rotary_high": float,
    # mixing, 0 to 1 (by default 1). How much of what self-attention hands on it has mixed from all symbols that it
    # sees; the rest is each symbol's own. 1 mixes as ever, 0 leaves each symbol to itself. Cross-attention always
    # mixes.
    "model.attention_mixing": float,
    # start of attention, 0 to 1000 (by default 1). The matrix W_O behind self-attention starts so many times as large
    # as the rule says, so that attention says less at first.
    "model.attention_start": float,
    # transfer (by default none). How start and steps follow the size of the model, so that a learning rate that was
    # best for the base serves this one too. mup minds its width; depth-mup its layers too, with branches and rates
    # divided by their root; completep divides branches by the layers and leaves the rate. The base is
    # model.base_width and model.base_layers.
    "model.transfer": Literal["none", "mup", "depth-mup", "completep"],
    # base width, 1 to 65536 features (by default 64). The width of the model that model.transfer starts from: as wide
    # as this, nothing changes.
    "model.base_width": int,
    # base layers, 1 to 1024 (by default 6). The layers of the model that model.transfer starts from: as deep as this,
    # nothing changes.
    "model.base_layers": int,
    # init scale, 0 to 1000 (by default 1). The matrices of attention and feed-forward networks start so many times as
    # large as the rule says.
    "model.init_scale": float,
    # norm epsilon, 0 to 1 (by default 1e-05). Added to the variance inside each norm, against division by zero.
    "model.eps": float,
    # gains from 1 (by default false). A norm's gain is stored as what it has beyond 1 (Gemma), so that weight decay
    # draws it to 1 and not to 0.
    "model.gain_offset": bool,
    # embedding scale, 0 to 1000 (by default 0). What the rows of the embedding table are multiplied by. 0 is the root
    # of the width.
    "model.embedding_scale": float,
    # embedding width, 0 to 8192 features (by default 0). How wide the rows of the embedding table are; a matrix makes
    # them as wide as the model, and another the last states as wide as they (OPT-350m). In an encoder positions and
    # norm are as narrow (ALBERT). 0 is the width of the model, without the matrices.
    "model.embedding_width": int,
    # token types, 0 to 16 (by default 0). How many kinds of symbols have a learned vector of their kind added, as the
    # two sentences of BERT. What follows the [SEP] of a published tokenizer is of the next kind; all else is of the
    # first. 0 is none.
    "model.token_types": int,
    # logit scale, 0 to 1000 (by default 1). The factor of the last states before they become logits (Granite).
    "model.logit_scale": float,
    # logit cap, 0 to 1000 (by default 0). Bends the logits with a tanh, so that none exceeds this (Gemma 2). 0 is no
    # cap.
    "model.logit_cap": float,
    # AdaNorm C, 0 to 100 (by default 1). adanorm multiplies its output by C (1 - k y).
    "model.adanorm_scale": float,
    # AdaNorm k, 0 to 1 (by default 0.1). adanorm: how much less it lets large values through.
    "model.adanorm_slope": float,
    # DyT alpha, 0 to 100 (by default 0.5). dyt and derf: where the learned slope inside the tanh or the erf starts.
    "model.dyt_alpha": float,
    # streams mixed at the start, 0 to 0.99 (by default 0). Share that each residual stream takes from the others at
    # the start; 0: the placement's own start.
    "model.streams_mixed": float,
    # ProRes, 1 to 100000 steps a layer (by default 10). The branches of layer l come in over this many steps times l.
    "model.prores_steps": int,
    # norm gate rank, 1 to 4096 (by default 16). Width of the hidden layer of the gate that a norm's output is
    # multiplied by.
    "model.norm_gate_rank": int,
    # dropout, 0 to 0.99 (by default 0). Share of each branch's output that is set to zero at random in training.
    "model.dropout_residual": float,
    # attention dropout, 0 to 0.99 (by default 0). Share of the attention weights that is set to zero at random.
    "model.dropout_attention": float,
    # activation dropout, 0 to 0.99 (by default 0). Share of the feed-forward hidden layer that is set to zero at
    # random.
    "model.dropout_activation": float,
    # batch, 1 to 4096 sequences (by default 16). How many sequences each step learns from.
    "train.batch": int,
    # steps, 1 to 10000000 (by default 300). After so many updates training rests.
    "train.steps": int,
    # start from. A saved run of the same sizes, whose weights this one starts with, by name: fine-tuning. Empty
    # starts afresh. It may also be the folder of a published model.
    "train.init_from": Union[str, int, float],
    # reuse gradients (by default true). Gradients of activations give their memory to later ones, and cannot be
    # looked at after the step. The same numbers in less memory. Only on the CPU: a GPU computes gradients side by
    # side.
    "train.reuse_gradients": bool,
    # learning rate, 0 to 100 (by default 0.003). Size of each update; with warm-up, the rate at its end.
    "train.lr": float,
    # warm-up, 0 to 100000 steps (by default 0). Over so many steps the learning rate grows evenly from zero to its
    # peak. 0 starts at full rate.
    "train.warmup": int,
    # warm-up to a loss, 0 to 1000 nats (by default 0). Above 0 the warm-up has no fixed length: the learning rate
    # grows as the loss falls towards this value, and is the whole one when the loss has come near it (Riabinin et al.
    # 2026). 0 is off.
    "train.warmup_target": float,
    # schedule (by default constant). What the learning rate does after warm-up.
    "train.schedule": Literal["constant", "inverse-sqrt", "linear", "step", "cosine"],
    # decay from, 1 to 10000000 step (by default 100). The inverse square root schedule starts to decay here, or at
    # the end of warm-up if that is later.
    "train.reference": int,
    # decay to zero at, 1 to 10000000 step (by default 300). The linear and the cosine schedule reach zero at this
    # step.
    "train.decay_end": int,
    # decay factor, 0 to 1 (by default 0.1). The step schedule multiplies the rate by it at each milestone.
    "train.decay_factor": float,
    # milestones steps. Steps at which the step schedule cuts the rate, such as 100,200.
    "train.milestones": Union[str, int, float],
    # optimizer (by default adam). sgd follows the gradient as it is, momentum its running sum. adam rescales each
    # weight's update by the size of its recent gradients; adamw takes weight decay off the weights instead of adding
    # it to the gradient. radam holds Adam back while its averages are young, by the paper's rule or that of its
    # authors' code. muon makes the momentum of each matrix of the layers orthogonal, so that no direction is left
    # behind, and treats everything else as adamw does. adam-less-leading takes the strongest direction out of adamw's
    # step of each of these matrices. adamw2 shortens adamw's step of such a matrix where the step's largest singular
    # value is too large a share of the matrix's.
    "train.optimizer": Literal[
        "adam", "adamw", "radam", "radam-code", "sgd", "momentum", "muon", "adam-less-leading", "adamw2"],
    # beta 1, 0 to 0.999999 (by default 0.9). Adam: how much of the running mean of the gradient is kept each step.
    "train.beta1": float,
    # beta 2, 0 to 0.999999 (by default 0.98). Adam: how much of the running mean of the squared gradient is kept each
    # step.
    "train.beta2": float,
    # Adam epsilon, 0 to 1 (by default 1e-09). Adam: added to the divisor; tiny gradients below it make no large
    # updates.
    "train.eps": float,
    # bias correction (by default true). Adam and AdamW: the running means, which start at zero, are divided by what
    # they have seen so far. Without it the first steps are too large when beta 2 is near 1.
    "train.bias_correction": bool,
    # momentum, 0 to 0.999999 (by default 0.9). Momentum: how much of the last update is carried into the next.
    "train.momentum": float,
    # update bound, 0 to 100 (by default 0.004). AdamW, bounded: the largest singular value of a step may be so many
    # times as large as the matrix's. A longer step is shortened, which holds the first steps back without a warm-up.
    # 0 is off.
    "train.update_bound": float,
    # weight decay, 0 to 100 (by default 0). Share of every weight, times the rate, that is taken away each step; adam
    # adds that share to the gradient instead.
    "train.weight_decay": float,
    # decayed gains (by default every). Which gains of norms weight decay draws to zero: all, none, or those before a
    # matrix, which nothing else reads.
    "train.decayed_gains": Literal["every", "before", "none"],
    # gradient clip, 0 to 1000000000 (by default 0). A gradient longer than this is shortened to it. 0 is off.
    "train.clip": float,
    # QK-clip, 0 to 1000000000 (by default 0). After each step the queries and keys of a head whose largest logit of
    # the batch was above this are scaled down to it. 0 is off.
    "train.qk_clip": float,
    # label smoothing, 0 to 0.99 (by default 0). Share of the target's probability that is spread evenly over all
    # symbols.
    "train.label_smoothing": float,
    # critical rate, 0 to 100000 steps apart (by default 0). Measures the learning rate at which the step would no
    # longer lower the loss of its own batch. Six forward passes on a copy each time, about two steps; every 10 steps,
    # a fifth more time. 0 is off. No other number of the run changes.
    "train.critical_every": int,
    # text file. A UTF-8 text file to learn from; leave empty for the built-in sentences.
    "data.text": Union[str, int, float],
    # sentence pairs. A UTF-8 file of sentences and their translations, one pair a line with a tab between, for an
    # encoder-decoder.
    "data.pairs": Union[str, int, float],
    # passage. A text to learn from, spelled out, in the tokens of a published model (data.tokenizer).
    "data.passage": Union[str, int, float],
    # labelled texts. A UTF-8 file of texts to classify, one label and text a line with a tab between, for an encoder.
    "data.labels": Union[str, int, float],
    # images. An IDX file of images, such as MNIST's train-images-idx3-ubyte, for a convolutional network.
    "data.images": Union[str, int, float],
    # image labels. The IDX file with the labels of the images, such as MNIST's train-labels-idx1-ubyte.
    "data.image_labels": Union[str, int, float],
    # treebank. A CoNLL-U file of sentences with their dependency trees, for a parser; empty, data treebank is made
    # up.
    "data.treebank": Union[str, int, float],
    # validation file. Pairs, labelled texts or trees to validate on; empty takes the end of the training file.
    "data.valid": Union[str, int, float],
    # tokenizer. What cuts the data into tokens, where they are not its characters or words. For a text or passage,
    # the folder of a published model whose tokenizer cuts it. For pairs, a SentencePiece model; where there is no
    # such file their pieces are learned.
    "data.tokenizer": Union[str, int, float],
    # vocabulary, 20 to 100000 pieces (by default 8000). How many pieces both languages of the pairs are cut into
    # together; fewer where the text has no more.
    "data.vocabulary": int,
    # digits, 24 to 200000 images (by default 6000). How many digits are drawn; the last twelfth of them validates.
    "data.digits": int,
    # punctuation counts (by default true). Whether attachment scores count punctuation, as the evaluation of CoNLL-U
    # does; off, they leave it out, as is usual on the Penn Treebank. What is learned is the same.
    "data.punctuation": bool,
    # data (by default corpus). What is learned: built-in sentences, a text file, to copy, reverse or sort a row of
    # symbols, a small made-up translation, or labels; whether two words of a made-up sentence are swapped, or its
    # mood, in five classes. Or a passage, in a published model's tokens. Or the class of drawn digits, or of images
    # in IDX files, or the dependency trees of sentences. Or pairs of sentences and their translations.
    "data.name": Literal[
        "corpus", "text", "copy", "reverse", "sort", "translation", "labels", "word-order", "mood", "interleaved",
        "passage", "digits", "idx", "treebank", "pairs"],
    # consecutive (by default false). Each row of a batch goes on where it ended in the step before, instead of
    # anywhere in the text; a memory needs it.
    "data.consecutive": bool,
    # data seed, 0 to 9.00719925474099e+15 (by default 1). Which of the endless built-in texts, made-up labels or
    # treebanks, or sets of drawn digits is used.
    "data.seed": int,
    # name. What the run is called; empty names it after its settings.
    "run.name": Union[str, int, float],
    # seed, 0 to 9.00719925474099e+15 (by default 1). Decides all chance: initial weights, batches, dropout. Runs with
    # one seed differ only by their settings.
    "run.seed": int,
}, total=False)

Words = TypedDict("Words", {  # each stands for the one key above that ends in it
    "architecture": Literal["decoder", "encoder", "encoder-decoder", "convolutional", "parser"],
    "layers": int,
    "encoder_layers": int,
    "d_model": int,
    "heads": int,
    "feed_forward": int,
    "sequence": int,
    "memory": int,
    "norm": Literal[
        "ln", "simple", "rms", "detach", "detach-mean", "detach-var", "undivided", "adanorm", "dyt", "derf",
        "rms-simple"],
    "placement": Literal[
        "none", "post", "pre", "sandwich", "deepnorm", "admin", "rezero", "admin-paper", "rezero-post", "peri",
        "mix", "lns", "b2t", "normformer", "subln", "hybridnorm", "keel", "qknorm", "fixup", "normformer-res",
        "hybridnorm-star", "res-post", "simple", "ngpt", "resi-dual", "gpas", "siamese", "hyper", "mhc", "mhc-lite",
        "attn-res", "depth-average", "span", "prores", "gated-attention", "gated-norm", "delta", "custom"],
    "encoder_placement": Literal[
        "same", "none", "post", "pre", "sandwich", "deepnorm", "admin", "rezero", "admin-paper", "rezero-post",
        "peri", "mix", "lns", "b2t", "normformer", "subln", "hybridnorm", "keel", "qknorm", "fixup",
        "normformer-res", "hybridnorm-star", "res-post", "simple", "ngpt", "resi-dual", "gpas", "siamese", "hyper",
        "mhc", "mhc-lite", "attn-res", "depth-average", "span", "prores", "gated-attention", "gated-norm", "delta",
        "custom"],
    "channels": int,
    "channels_2": int,
    "window": int,
    "init": Literal["xavier", "theory", "normal002", "fixup", "t-fixup", "looklinear", "b2t"],
    "activation": Literal["relu", "gelu", "silu", "gelu_erf", "relu2"],
    "gated": bool,
    "biases": Literal["every", "qkv", "ffn", "none", "attention", "but-qkv"],
    "positions": Literal["learned", "sinusoidal", "none", "rotary", "alibi", "relative"],
    "tied": bool,
    "output_bias": bool,
    "masked_head": bool,
    "pooling": Literal["first", "mean"],
    "shared_embedding": bool,
    "output_projection": bool,
    "head_width": int,
    "kv_heads": int,
    "attention_scale": float,
    "attention_cap": float,
    "attention_window": int,
    "attention_pattern": Union[str, int, float],
    "rotary_base": float,
    "rotary_local_base": float,
    "rotary_share": float,
    "rotary_pairing": Literal["halves", "neighbours"],
    "rotary_pattern": Union[str, int, float],
    "rotary_scaling": Literal["none", "linear", "llama3", "yarn"],
    "rotary_factor": float,
    "rotary_trained": int,
    "rotary_low": float,
    "rotary_high": float,
    "attention_mixing": float,
    "attention_start": float,
    "transfer": Literal["none", "mup", "depth-mup", "completep"],
    "base_width": int,
    "base_layers": int,
    "init_scale": float,
    "gain_offset": bool,
    "embedding_scale": float,
    "embedding_width": int,
    "token_types": int,
    "logit_scale": float,
    "logit_cap": float,
    "adanorm_scale": float,
    "adanorm_slope": float,
    "dyt_alpha": float,
    "streams_mixed": float,
    "prores_steps": int,
    "norm_gate_rank": int,
    "dropout_residual": float,
    "dropout_attention": float,
    "dropout_activation": float,
    "batch": int,
    "init_from": Union[str, int, float],
    "reuse_gradients": bool,
    "lr": float,
    "warmup": int,
    "warmup_target": float,
    "schedule": Literal["constant", "inverse-sqrt", "linear", "step", "cosine"],
    "reference": int,
    "decay_end": int,
    "decay_factor": float,
    "milestones": Union[str, int, float],
    "optimizer": Literal[
        "adam", "adamw", "radam", "radam-code", "sgd", "momentum", "muon", "adam-less-leading", "adamw2"],
    "beta1": float,
    "beta2": float,
    "bias_correction": bool,
    "momentum": float,
    "update_bound": float,
    "weight_decay": float,
    "decayed_gains": Literal["every", "before", "none"],
    "clip": float,
    "qk_clip": float,
    "label_smoothing": float,
    "critical_every": int,
    "text": Union[str, int, float],
    "pairs": Union[str, int, float],
    "passage": Union[str, int, float],
    "labels": Union[str, int, float],
    "images": Union[str, int, float],
    "image_labels": Union[str, int, float],
    "treebank": Union[str, int, float],
    "valid": Union[str, int, float],
    "tokenizer": Union[str, int, float],
    "vocabulary": int,
    "digits": int,
    "punctuation": bool,
    "consecutive": bool,
}, total=False)


class Settings(Whole, Words, total=False):
    """The settings of a run."""

    steps: int  # a word as those above; functions have it as an argument of their own
