// Draws the stream of a model as a map: a row for each sub-layer, the embedding at the bottom, a column for
// each token, and beside each row what belongs to its sub-layer. The cells show how long the state is, how strongly the
// loss depends on it, what the model would say if it ended there, or what the sub-layer adds to the logit of the right
// symbol. Or it draws all heads, a small picture of each head's attention.
#pragma once

#include <optional>
#include <string>

#include "addons/inside/training/inside.h"
#include "app/ui/ui.h"

namespace normscope::inside {

enum class Shows : uint8_t { Length, Gradient, Says, Attribution, Heads };

/// A row and a token. Row 0 is the embedding, row i the i-th sub-layer.
struct Selection {
  int row = -1, token = -1;  ///< -1: none yet
};

/// The ends of the colours, of states or of their gradients, so that two models share them. They lie at
/// least a factor of two apart: where norms make all states equally long, no difference is to be seen.
struct Lengths {
  float low = 0, high = 0;
  void take(const Inside& found, Shows shows);
  Lengths apart() const;
  float share(float length) const;
};

struct GridInput {
  const RunInside& inside;
  Shows shows = Shows::Length;
  Lengths lengths;
  Selection selected;
  char letter = 'A';
  int columns = 4;  ///< beside the map, at most
  int head = 0;     ///< the chosen one
};

/// A token as it is shown, on one line.
std::string word_of(const RunInside& inside, int32_t token);
/// "embedding" or the sub-layer's name.
std::string row_name(const Inside& found, int row);
int rows_of(const Inside& found);
/// Says which token the model foresaw worst and which sub-layer turned its stream most.
std::string sentence_of(const RunInside& inside);
/// The layer of a row's sub-layer; 0: the embedding's row.
int layer_of(const Inside& found, int row);

/// Queries down and keys across, `side` of each; the colour is the square root, so that small ones are seen.
void draw_probabilities(ui::Ui& ui, const ui::Rect& square, const float* of_head, size_t side);
/// Draws every head's attention small: the layers across, the heads down. The user's choice has a row, and a head.
struct HeadChoice {
  int row = 0, head = 0;
};
std::optional<HeadChoice> draw_all_heads(ui::Ui& ui, ui::Rect rest, const GridInput& given);
/// What a head does at the chosen token, in words.
std::string head_words(const GridInput& given, const Inside::Attention& attention, int head);
/// The change of the loss without a head of a sub-layer; NaN where that was not measured.
double without_head(const Inside& found, const std::string& sublayer, int head);

/// What the user chose in this frame.
std::optional<Selection> draw_grid(ui::Ui& ui, ui::Rect rest, const GridInput& given);

/// Draws what belongs to each sub-layer in `rest`, a line of bars beside its row of the map in `cells`.
void draw_columns(ui::Ui& ui, const ui::Rect& rest, const ui::Rect& cells, const GridInput& given);
float columns_width(const GridInput& given);

inline constexpr float kHeadOfGrid = 30;
inline constexpr ui::TextStyle kTick{ui::Face::Sans, ui::type::tick}, kMono{ui::Face::Mono, ui::type::tick},
    kBody{ui::Face::Sans, ui::type::body};

}  // namespace normscope::inside
