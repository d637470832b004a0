normscope_fuzz_target(log 3000)
