normscope_fuzz_target(tokenizer 200)
