// safetensors: what is written comes back bit for bit; no file, however broken, does worse than an Error.
#include "engine/io/input_file.h"
#include "engine/io/output_file.h"
#include "engine/io/safetensors.h"
#include "test_paths.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;
namespace fs = std::filesystem;

namespace {

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The message for a file with these bytes; every one names the file and is one line.
std::string load_message(const std::string& bytes) {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  write(path, bytes);
  const std::string message = error_of([&] { SafetensorsFile::load(path); });
  if (message != "no error") CHECK(message.rfind("[safetensors " + path + "] ", 0) == 0);
  CHECK_FALSE(test::contains(message, "\n"));
  return message;
}

// Loads and touches everything; true if it loaded. Anything else than Error escapes and fails the test.
bool loads(const std::string& path) {
  try {
    const SafetensorsFile file = SafetensorsFile::load(path);
    for (const std::string& name : file.names()) {
      if (file.type(name) == TensorType::F32 || file.type(name) == TensorType::F64) {
        file.doubles(name);
      } else {
        file.int64s(name);
      }
    }
    return true;
  } catch (const Error& error) {
    CHECK(contains(error.what(), path));
    return false;
  }
}

struct Tensors {
  std::vector<float> f32{1.5f, -0.0f, std::numeric_limits<float>::infinity(), 1e-45f, 3.0f, 4.0f};
  std::vector<double> f64{0.1, -1e300};
  std::vector<int32_t> i32{-2147483647 - 1, 7, 2147483647};
  std::vector<int64_t> i64{int64_t{1} << 40, -5};
  std::vector<uint8_t> u8{0, 255, 3};
  std::vector<float> none, scalar{std::nanf("")};

  void write(const std::string& path) const {
    SafetensorsWriter writer;
    writer.set_metadata("step", "12");
    writer.set_metadata("note", "two\nlines \"quoted\" \xc3\xa9");
    writer.add("bytes", {3}, u8);
    writer.add("L03.attn.wq", {2, 3}, f32);
    writer.add("wide", {2, 1}, f64);
    writer.add("ids", {3}, i32);
    writer.add("long", {2}, i64);
    writer.add("none", {0, 4}, none);
    writer.add("scalar", {}, scalar);
    writer.write(path);
  }
};

}  // namespace

TEST_CASE("safetensors: what is written comes back bit for bit") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  const Tensors sample;
  sample.write(path);
  CHECK(folder.files() == 1);  // no temporary file is left
  const SafetensorsFile file = SafetensorsFile::load(path);
  CHECK(file.names() ==
        std::vector<std::string>{"wide", "long", "L03.attn.wq", "ids", "none", "scalar", "bytes"});
  CHECK(same_bits(file.floats("L03.attn.wq"), sample.f32));
  CHECK(same_bits(file.doubles("wide"), sample.f64));
  CHECK(same_bits(file.int32s("ids"), sample.i32));
  CHECK(same_bits(file.int64s("long"), sample.i64));
  CHECK(file.int32s("bytes") == std::vector<int32_t>{0, 255, 3});
  CHECK(file.floats("none").empty());
  CHECK(same_bits(file.floats("scalar"), sample.scalar));
  CHECK(file.shape("L03.attn.wq") == TensorShape{2, 3});
  CHECK(file.shape("scalar").empty());
  CHECK(file.type("long") == TensorType::I64);
  CHECK(file.metadata("step") == "12");
  CHECK(file.metadata("note") == "two\nlines \"quoted\" \xc3\xa9");
  CHECK(file.metadata().size() == 2);
  CHECK(file.contains("none"));
  CHECK_FALSE(file.contains("__metadata__"));
  CHECK(file.bytes("ids").size() == 12);
}

TEST_CASE("safetensors: a header alone has names, shapes and metadata, and no elements") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  Tensors().write(path);
  const SafetensorsFile whole = SafetensorsFile::load(path), header = SafetensorsFile::load_header(path);
  CHECK(header.names() == whole.names());
  CHECK(header.metadata() == whole.metadata());
  CHECK(header.shape("L03.attn.wq") == whole.shape("L03.attn.wq"));
  CHECK_THROWS_WITH(header.floats("L03.attn.wq"), Catch::Contains("only the header was read"));
  CHECK_THROWS_WITH(header.bytes("ids"), Catch::Contains("only the header was read"));
}

TEST_CASE("safetensors: types widen, doubles round to floats, nothing else converts") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  Tensors().write(path);
  const SafetensorsFile file = SafetensorsFile::load(path);
  CHECK(file.doubles("L03.attn.wq")[0] == 1.5);
  CHECK(file.floats("wide")[0] == 0.1f);
  CHECK(file.int64s("ids")[0] == -2147483648LL);
  const auto where = [&](const std::string& rest) { return "[safetensors " + path + "] tensor " + rest; };
  CHECK(error_of([&] { file.floats("ids"); }) == where("\"ids\": dtype I32, expected F32, F64, F16 or BF16"));
  CHECK(error_of([&] { file.int32s("wide"); }) == where("\"wide\": dtype F64, expected I32, I64 or U8"));
  CHECK(error_of([&] { file.int32s("long"); }) == where("\"long\": element 0 does not fit into 32 bits"));
  CHECK(error_of([&] { file.doubles("nope"); }) == where("\"nope\": not in the file"));
  CHECK(error_of([&] {
          file.require_shape("L03.attn.wq", {3, 2});
        }) == where("\"L03.attn.wq\": shape (2,3) in the file, expected (3,2)"));
  CHECK(error_of([&] { file.require_shape("L03.attn.wq", {2, 3}); }) == "no error");
  CHECK(contains(error_of([&] { file.metadata("config"); }), "the metadata has no \"config\""));
}

TEST_CASE("safetensors: the data begins aligned, a file written elsewhere need not") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  Tensors().write(path);
  uint64_t length = 0;
  std::memcpy(&length, test::read_all(path).data(), 8);
  CHECK(length % 8 == 0);
  // Float data at an odd offset, no metadata, spaces in the header.
  std::string data = "\7" + std::string("\0\0\x80\x3f", 4);
  write(path, with_header(R"( {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
      "b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}  )",
                          data));
  CHECK(SafetensorsFile::load(path).floats("b") == std::vector<float>{1.0f});
  write(path, with_header("{}", ""));
  CHECK(SafetensorsFile::load(path).names().empty());
}

TEST_CASE("safetensors: every fixture in the folder reads") {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(NORMSCOPE_FIXTURES)) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().string());
    CHECK(loads(entry.path().string()));
    ++count;
  }
  CHECK(count > 0);
}

// What is wrong with a header stands in tests/refusals/tensors-header.txt.
TEST_CASE("safetensors: files that are none are refused") {
  CHECK(contains(error_of([] { SafetensorsFile::load("/no/such.safetensors"); }), "no such file"));
  CHECK(contains(error_of([] { SafetensorsFile::load("/"); }), "not a regular file"));
  CHECK(contains(load_message(""), "0 bytes, expected at least 8"));
  CHECK(contains(load_message("1234567"), "7 bytes, expected at least 8"));
  CHECK(contains(load_message(std::string(8, '\xff')),
                 "a header of 18446744073709551615 bytes, 0 bytes follow"));
  CHECK(contains(load_message("\x89PNG\r\n\x1a\n and so on"), "not a safetensors file"));
  CHECK(contains(load_message("GGUF\3" + std::string(20, '\0')),
                 "is a GGUF file, whose weights are quantized"));
  CHECK(contains(load_message(with_header("{}", "").substr(0, 9)), "a header of 2 bytes, 1 bytes follow"));
  for (const std::string begin : {"", "{\"a\":"})
    CHECK(contains(load_message(with_header(begin + std::string(100'000, '['), "")), "nested too deeply"));
  CHECK(load_message(with_header("{\"__metadata__\":null}", "")) == "no error");
  CHECK(load_message(with_header(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                                 std::string(8, '\1'))) == "no error");
}

TEST_CASE("safetensors: the header's strings are JSON's, escapes and all") {
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})",
                    whole = "{\"a\":" + entry + "}";
  const auto named = [&](const std::string& name) {
    return with_header("{\"" + name + "\":" + entry + "}", "x");
  };
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  const std::string wide = "\xf0\x9f\x98\x80", accent = "\xc3\xa9";
  for (const auto& [written, read] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"(a\"\\\/\b\f\n\r\t)", "a\"\\/\b\f\n\r\t"},
           {R"(\u00E9\u00e9)", accent + accent},
           {accent, accent},
           {R"(\ud83d\ude00)", wide},
           {wide, wide},
           {R"(\u0000)", std::string(1, '\0')}}) {
    INFO(written);
    write(path, named(written));
    CHECK(SafetensorsFile::load(path).names() == std::vector<std::string>{read});
  }
  for (const std::string wrong : {R"(\ud83d)", R"(\ude00)", R"(\ud83dx)", R"(\ud83d\u0041)", R"(\u12)",
                                  R"(\u12g4)", R"(\x)", "\n", "\x01", "\xff", "\xc3", "\xed\xa0\x80"}) {
    INFO(wrong);
    CHECK(contains(load_message(named(wrong)), "the header is not a JSON object"));
  }
  CHECK(load_message(with_header("\xef\xbb\xbf" + whole, "x")) == "no error");  // a byte order mark
  CHECK(load_message(with_header(whole + std::string(3, '\0'), "x")) == "no error");
  for (const std::string wrong :
       {"", "[]", "7", "{", "{}}", "{} x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}"}) {
    INFO(wrong);
    CHECK(contains(load_message(with_header(wrong, "")), "the header is not a JSON object"));
  }
}

TEST_CASE("safetensors: a file of another program says what it is and what to do") {
  const std::string rest(40, '\7');
  for (const auto& [begin, says] : std::initializer_list<std::pair<std::string, const char*>>{
           {"PK\x03\x04", "is a zip archive"},
           {"\x80\x02}q", "was written by torch.save"},
           {"\x89HDF\r\n\x1a\n", "is an HDF5 file"},
           {std::string("\x1c\0\0\0TFL3", 8), "is a model of TFLite"},
           {"\x93NUMPY\1", "is an array of numpy"},
           {"lmgg", "before GGUF"},
           {"\x1f\x8b\x08", "gunzip unpacks it"},
           {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull fetches the file itself"},
           {"<!DOCTYPE html>", "is a web page"},
           {"{\"weight_map\": {}}", "is JSON"},
           {"\x08\x07\x12\x07pytorch", "is an ONNX graph"}}) {
    INFO(says);
    CHECK(contains(load_message(begin + rest), says));
  }
}

TEST_CASE("safetensors: cut at every byte, a file is refused") {
  const Folder folder;
  const std::string whole = folder.file("whole.safetensors"), cut = folder.file("cut.safetensors");
  Tensors().write(whole);
  const std::string bytes = test::read_all(whole);
  for (size_t size = 0; size < bytes.size(); ++size) {
    write(cut, bytes.substr(0, size));
    CAPTURE(size);
    CHECK_FALSE(loads(cut));
  }
  write(cut, bytes + "x");
  CHECK_FALSE(loads(cut));
}

TEST_CASE("safetensors: with damaged bytes a file loads or is refused, nothing else") {
  const Folder folder;
  const std::string path = folder.file("damaged.safetensors");
  Tensors().write(path);
  const std::string bytes = test::read_all(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  size_t refused = 0, tried = 0;
  const auto attempt = [&](const std::string& damaged) {
    write(path, damaged);
    ++tried;
    refused += loads(path) ? 0 : 1;
  };
  for (size_t at = 0; at < 8 + length; ++at) {
    for (unsigned char value : {0x00, 0xff, 0x39, 0x22, 0x7d}) {  // NUL, 0xff, '9', '"', '}'
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      attempt(damaged);
    }
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    attempt(flipped);
  }
  for (uint32_t round = 0; round < 1000; ++round) {  // several bytes at once
    std::string damaged = bytes;
    const auto random = philox({round, 0, 0, 0}, 5);
    for (uint32_t word : {random[0], random[1], random[2]})
      damaged[word % (8 + length)] = static_cast<char>(word >> 24);
    attempt(damaged);
  }
  CHECK(tried > 3000);
  CHECK(refused > tried / 2);
  CHECK(refused < tried);  // a digit of the metadata may change unseen
}

TEST_CASE("safetensors: the writer refuses what could not be read back") {
  const std::vector<float> six(6);
  SafetensorsWriter writer;
  writer.add("w", {2, 3}, six);
  CHECK(error_of([&] { writer.add("w", {6}, six); }) == "[safetensors] tensor w: added twice");
  CHECK(error_of([&] {
          writer.add("v", {2, 2}, six);
        }) == "[safetensors] tensor v: shape (2,2) does not match 6 elements");
  CHECK(contains(error_of([&] { writer.add("v", {-2, -3}, six); }), "negative dimension"));
  CHECK(contains(error_of([&] { writer.add("__metadata__", {6}, six); }), "reserved"));
  writer.add("\xff", {6}, six);
  const Folder folder;
  CHECK(contains(error_of([&] { writer.write(folder.file("a")); }), "not valid UTF-8"));
  CHECK(folder.files() == 0);
}

TEST_CASE("safetensors: a save replaces the old file whole or leaves it") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  write(path, "old");
  CHECK(contains(error_of([&] { Tensors().write(folder.file("missing/a")); }), "cannot be written"));
  CHECK(contains(error_of([&] { Tensors().write(""); }), "the path is empty"));
  CHECK(contains(error_of([&] { Tensors().write(folder.file("")); }), "not a regular file"));
  {
    AtomicFile file(path, "test");
    file.write("half", 4);
    CHECK(folder.files() == 2);
    CHECK(test::read_all(path) == "old");
  }  // without commit()
  CHECK(folder.files() == 1);
  CHECK(test::read_all(path) == "old");
  Tensors().write(path);
  CHECK(loads(path));
  CHECK(folder.files() == 1);
}

#ifdef __unix__
TEST_CASE("safetensors: a link stays a link, a full device is said") {
  const Folder folder;
  const std::string target = folder.file("target"), link = folder.file("link");
  write(target, "old");
  fs::create_symlink(target, link);
  Tensors().write(link);
  CHECK(fs::is_symlink(link));
  CHECK(loads(target));
  CHECK(folder.files() == 2);
  CHECK(contains(error_of([] { Tensors().write("/dev/full"); }), "No space left"));
}
#endif

#ifdef __linux__
TEST_CASE("safetensors: a mapped tensor that is forgotten takes no memory, and reads the same again") {
  const Folder folder;
  const std::string path = folder.file("large.safetensors");
  const std::vector<float> numbers(size_t{1} << 20, 1.5f);
  SafetensorsWriter writer;
  writer.add("t", {1024, 1024}, numbers);
  writer.write(path);
  const SafetensorsFile file = SafetensorsFile::map(path);
  /// The bytes of files that this process has in memory.
  const auto resident = [] {
    int64_t all = 0, own = 0, of_files = 0;
    std::ifstream("/proc/self/statm") >> all >> own >> of_files;
    return of_files * 4096;
  };
  const auto sum = [&] {
    double total = 0;
    for (const float number : file.floats("t")) total += static_cast<double>(number);
    return total;
  };
  const int64_t before = resident();
  const double first = sum();
  const int64_t read = resident();
  InputFile::forget(file.bytes("t"));
  const int64_t after = resident();
  CHECK(read - before > 3'000'000);
  CHECK(after - before < 1'000'000);
  CHECK(sum() == first);
}
#endif
