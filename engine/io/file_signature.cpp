#include "engine/io/file_signature.h"

#include <algorithm>

namespace normscope {
namespace {

struct FileSignature {
  size_t at = 0;
  std::string_view first;  ///< its bytes there
  Message words;
  bool text = false;
};

const FileSignature* find(std::string_view head) {
  static const Message kTorch(
      "was written by torch.save: expected safetensors, or the folder with the config.json of its model"),
      kGgml("is of ggml's time before GGUF: expected a GGUF file, or safetensors of the same model"),
      kPage("is a web page, often an error that was saved in place of the file: expected the file itself");
  static const FileSignature kAll[] = {
      {0, "GGUF",
       "is a GGUF file, whose weights are quantized: expected safetensors, which "
       "AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=NAME).save_pretrained(OTHER) of the library transformers "
       "writes"},
      {0, "PK\x03\x04",
       "is a zip archive, as torch.save and numpy.savez write: expected safetensors, or the folder with "
       "the config.json of its model"},
      {0, "\x80\x02", kTorch},
      {0, "\x80\x03", kTorch},
      {0, "\x80\x04", kTorch},
      {0, "\x89HDF", "is an HDF5 file, as Keras writes: expected safetensors of the same model"},
      {4, "TFL3", "is a model of TFLite: expected safetensors of the same model"},
      {0, "\x93NUMPY",
       "is an array of numpy: expected safetensors, which safetensors.numpy.save_file writes"},
      {0, "lmgg", kGgml},
      {0, "fmgg", kGgml},
      {0, "tjgg", kGgml},
      {0, "\x1f\x8b", "is compressed: gunzip unpacks it"},
      {0, "version ", "is a pointer of git-lfs in place of the file: git lfs pull fetches the file itself"},
      {0, "<!DOCTYP", kPage, true},
      {0, "<!doctyp", kPage, true},
      {0, "<html", kPage, true},
      {0, "{\"", "is JSON: expected the file that holds the weights", true},
      {0, "{\n", "is JSON: expected the file that holds the weights", true}};
  static const FileSignature kOnnx{
      0, "\x08",
      "is an ONNX graph, whose matrices have lost their names: expected safetensors of the same model"};
  const auto* known = std::ranges::find_if(kAll, [&](const FileSignature& one) {
    return head.substr(std::min(one.at, head.size())).starts_with(one.first);
  });
  if (known != std::end(kAll)) return known;
  // Its version, then who made it.
  const bool onnx = head.size() > 3 && head.starts_with(kOnnx.first) && head[1] < 32 && head[2] == 0x12;
  return onnx ? &kOnnx : nullptr;
}

}  // namespace

Message signature_words(std::string_view head) {
  const FileSignature* known = find(head);
  return known ? known->words : Message();
}

bool is_data_signature(std::string_view head) {
  const FileSignature* known = find(head);
  return known && !known->text;
}

}  // namespace normscope
