file(GLOB configs CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../fixtures/transformers/*/config.json")
normscope_fuzz_target(published 300 ${configs})
file(GLOB indexes CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../fixtures/transformers/*/*.index.json")
normscope_fuzz_target(published_index 2000 ${indexes})
normscope_fuzz_target(published_tokenizer 2000)
normscope_fuzz_target(published_older 2000)
file(GLOB gguf_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../fixtures/gguf/*.gguf")
normscope_fuzz_target(published_gguf 2000 ${gguf_files})
file(GLOB torch_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../fixtures/torch/*.bin"
  "${CMAKE_CURRENT_LIST_DIR}/../fixtures/torch/*.pt" "${CMAKE_CURRENT_LIST_DIR}/../fixtures/torch/*/*.pt"
  "${CMAKE_CURRENT_LIST_DIR}/../fixtures/torch/*.ckpt")
normscope_fuzz_target(published_torch 2000 ${torch_files})
