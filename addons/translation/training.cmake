if(TARGET normscope_sentencepiece)
  target_link_libraries(normscope_training PRIVATE normscope_sentencepiece)
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/training/tokenizer.cpp" PROPERTIES
    COMPILE_DEFINITIONS NORMSCOPE_WITH_SENTENCEPIECE)
endif()
