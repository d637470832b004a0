normscope_fuzz_target(zoo 2000)
