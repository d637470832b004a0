# What every command that trains a study does: it counts, trains what is missing, shows what is stored and prints itself;
# its shards, copied together, are the study to the byte. `study normscope NAME OPTION...` prints what was found.
study() {
  name=$2
  trained() { grep -o '[0-9]* runs trained, [0-9]* taken'; }
  "$@" --dry-run --out out --store runs 2>/dev/null | grep -o '[0-9]* runs: .* trained'
  [ -e out ] && echo "a dry run made a folder"
  "$@" --out out --store runs | trained
  json 'd["complete"]' <out/$name.json
  grep -c . out/$name.csv
  head -1 out/$name.md
  cp -r out before
  "$@" --stored --out out --store runs | trained
  cmp out/$name.json before/$name.json
  cmp out/$name.csv before/$name.csv
  "$@" --print-command command >line
  sed 's/$/ --print-command command/' line | bash | cmp - line
  "$@" --print-command slurm | grep '#SBATCH --array'
  "$@" --store none --out shards --json whole.json >/dev/null
  for shard in 0 1; do "$@" --shard $shard/2 --store part$shard --out shards >/dev/null; done
  cp -r part0 all
  cp -rn part1/. all
  "$@" --store all --out shards --json merged.json | trained
  cmp merged.json whole.json
}
