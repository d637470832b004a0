normscope_fuzz_target(log 3000)
set(recorded "${PROJECT_SOURCE_DIR}/addons/recorded/tests/fixtures")
normscope_fuzz_target(events 3000 "${recorded}/events.out.tfevents.1" "${recorded}/run.wandb" "${recorded}/trainer.wandb"
  "${recorded}/nested.wandb")
normscope_fuzz_target(hold 500)
