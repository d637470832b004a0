// How weights start, as data: the factor by which each rule multiplies each matrix of a sub-layer; and
// `Transfer` how start and steps follow a model's size. The tape builder (model/transformer.cpp) reads them; the wiring's
// own gain (DeepNorm, Sub-LN) is applied on top.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/model/wiring.h"

namespace normscope {

/// The rules of `InitRule`:
/// Xavier: normal, variance 2/(fan_in+fan_out) (Glorot and Bengio 2010, as in Xiong et al. 2020, section 3.1).
/// Theory: Xavier with W_Q = W_K = 0 (Xiong et al. 2020, section 3.2).
/// Normal002: matrices N(0, 0.02^2) (BERT).
/// FixUp (Zhang et al. 2019) with B branches in the model: W_O = W_2 = 0, W_1 times B^(-1/2), W_Q, W_K, W_V B^(-1/6).
/// TFixup (Huang et al. 2020) with N layers: W_V, W_O, W_1, W_2 and the embeddings times 0.67 N^(-1/4) in an encoder,
/// (9N)^(-1/4) in a decoder.
/// LookLinear (Balduzzi et al. 2017): W_1 = [A, -A], W_2 = [B; -B]; feed-forward networks start as the linear map AB.
/// B2T (Takase et al. 2023, the authors' code) with L layers: every matrix of the layers times L^(-1/2).
/// Always: token table N(0,1/D) times sqrt(D), learned positions N(0,1), gains 1, biases 0.
enum class InitRule : uint8_t {
#define INIT_RULE(Name, text, gains) Name,
#include "engine/model/init_rules.def"
#undef INIT_RULE
};
inline constexpr std::string_view kInitRules[] = {
#define INIT_RULE(Name, text, gains) text,
#include "engine/model/init_rules.def"
#undef INIT_RULE
};

/// What a rule makes of the matrices of a sub-layer in a stack.
struct InitGains {
  double query = 1, key = 1, value = 1, output = 1, first = 1, second = 1;  ///< W_Q W_K W_V W_O W_1 W_2
  double embedding = 1;   ///< token table and learned positions
  double deviation = 0;   ///< of every matrix; 0: Xavier's, by its shape
  bool mirrored = false;  ///< the second half of W_1's columns and W_2's rows is minus the first
};
InitGains init_gains(InitRule rule, const StackContext& context);

/// Makes what a small model learned best with serve a larger one: of `width` times the base's width and
/// `depth` times its layers, by Adam and its kin, start and steps become
///                  branch        rate, layers          and matrices   epsilon
///   Mup            1             1                     1 / width      1 / width
///   DepthMup       depth^(-1/2)  depth^(-1/2)          1 / width      1 / width depth^(-1/2)
///   CompleteP      1 / depth     1                     1 / width      1 / width / depth
/// the weight decay of the layers' matrices is multiplied by width, and what is read off the last state is divided by it
/// (Yang et al. 2021, arXiv 2203.03466; with depth Yang et al. 2023, arXiv 2310.02244; Dey et al. 2025, arXiv
/// 2505.01618, table 1, read in programs that cite it). Heads keep their width: 1 / sqrt(head width) stays.
enum class Transfer : uint8_t { None, Mup, DepthMup, CompleteP };
inline constexpr std::string_view kTransfers[] = {"none", "mup", "depth-mup", "completep"};

/// How much larger than the base a stack is, as far as its transfer minds, and what follows from that.
struct Growth {
  double width = 1, depth = 1;
  double branch = 1;  ///< every branch is multiplied by it
  double rate = 1;    ///< of all parameters of the layers
  double eps = 1;
  double matrix_rate() const { return rate / width; }
};
Growth growth_of(Transfer transfer, double width, double depth);

}  // namespace normscope
