// Work over all parameters at once (grad_norm, adam, sgd): each parameter is cut into pieces of kPiece
// floats, a chunk is a few pieces, and every piece leaves its sums of squares in the workspace; the last
// stage adds them per parameter in order. The first stage writes the table of each parameter's first piece.
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_CPU_PIECES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_CPU_PIECES_INL_H_
#undef NORMSCOPE_CPU_PIECES_INL_H_
#else
#define NORMSCOPE_CPU_PIECES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kPiece = 4096, kPiecesInChunk = 4;
constexpr int kPieceSums = 2;  // doubles that a piece may leave

inline int64_t piece_count(const Call& call) {
  int64_t pieces = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) pieces += div_up(call.parameters[p].size, kPiece);
  return pieces;
}

/// Workspace: first piece of every parameter and, last, the number of pieces; then the sums.
inline int64_t* first_pieces(const Call& call) { return reinterpret_cast<int64_t*>(call.workspace); }
inline double* piece_sums(const Call& call, int64_t piece) {
  return doubles(call.workspace) + round_up(call.parameter_count + 1, 8) + piece * kPieceSums;
}

inline void number_pieces(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  int64_t* first = first_pieces(call);
  first[0] = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p)
    first[p + 1] = first[p] + div_up(call.parameters[p].size, kPiece);
}

/// body(parameter, begin, n, sums) for every piece of a chunk.
template <typename Body>
HWY_INLINE void each_piece(const Call& call, int64_t chunk, const Body& body) {
  const int64_t* first = first_pieces(call);
  int64_t piece = chunk * kPiecesInChunk;
  const int64_t end = smaller(piece + kPiecesInChunk, first[call.parameter_count]);
  int64_t low = 0, high = call.parameter_count;  // first[low] <= piece < first[high]
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (first[middle] <= piece ? low : high) = middle;
  }
  for (int64_t p = low; piece < end; ++piece) {
    while (first[p + 1] <= piece) ++p;
    const int64_t begin = (piece - first[p]) * kPiece;
    body(call.parameters[p], begin, smaller(kPiece, call.parameters[p].size - begin),
         piece_sums(call, piece));
  }
}

/// Root of the sum over a parameter's pieces of sums[which].
inline double norm_of(const Call& call, int64_t p, int which) {
  double sum = 0;
  for (int64_t piece = first_pieces(call)[p]; piece < first_pieces(call)[p + 1]; ++piece)
    sum += piece_sums(call, piece)[which];
  return __builtin_sqrt(sum);
}

inline Stages piece_stages(const Call& call, StageFn work, StageFn finish) {
  const int64_t pieces = piece_count(call);
  Stages stages;
  stages.workspace_floats =
      static_cast<size_t>(2 * (round_up(call.parameter_count + 1, 8) + pieces * kPieceSums));
  stages.add(number_pieces, 1);
  stages.add(work, div_up(pieces, kPiecesInChunk));
  stages.add(finish, 1);
  return stages;
}

/// update_norm and weight_norm from sums 0 and 1.
inline void finish_update(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  for (int64_t p = 0; p < call.parameter_count; ++p) {
    call.update_norm[p] = norm_of(call, p, 0);
    call.weight_norm[p] = norm_of(call, p, 1);
  }
}

/// The factor that clip left for the gradients, 1 without clipping.
inline float clip_factor_of(const Call& call) {
  return call.clip_factor ? static_cast<float>(*call.clip_factor) : 1.0f;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
