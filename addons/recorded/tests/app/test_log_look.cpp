// A file that is a log is known by its first line, whatever it is called.
#include <string>

#include "catch.hpp"
#include "folder.h"
#include "training/files/file_kind.h"

using namespace normscope;

TEST_CASE("a log is known by its header, or by a line that has a step") {
  const test::Folder folder;
  const auto kind = [&](const char* name, const std::string& content) {
    return look_at(folder.write(name, content)).kind;
  };
  CHECK(kind("log.txt", "{\"run\":\"A\",\"seed\":1,\"step\":1,\"loss\":4.1,\"lr\":0.003}\n") ==
        FileKind::Recorded);
  const FileLook header = look_at(folder.write("header.txt", "{\"format\":\"normscope log 2\"}\n"));
  CHECK(header.words.starts_with("A training log"));
  CHECK(kind("bare.jsonl", "{\"step\":1,\"loss\":3.2}\n") == FileKind::Recorded);
  CHECK(kind("nan.jsonl", "{\"step\":1,\"loss\":NaN,\"lr\":-Infinity}\n") == FileKind::Recorded);
  const std::string wide = "{\"grad_norm\":{\"step\":1,\"" + std::string(70'000, 'a') + "\":1},\"step\":1}\n";
  CHECK(kind("wide.jsonl", "{\"step\":1," + wide.substr(1)) == FileKind::Recorded);
  CHECK(kind("inner.json", "{\"a\":{\"step\":1},\"b\":\"step\"}\n") == FileKind::Numbers);
}
