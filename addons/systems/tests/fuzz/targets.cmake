normscope_fuzz_target(conllu 3000)
normscope_fuzz_target(idx 10000)
