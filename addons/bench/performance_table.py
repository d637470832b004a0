#!/usr/bin/env python3
"""Makes a processor's performance table from the output of `normscope bench --json` and of `make bench-peers`.

    performance_table.py engine.json peers.jsonl [--crowded crowded.json] [--before before.json]
                         [--section AMD --write docs/performance/zen5.md] [--readme README.md]
    performance_table.py

Both files must be of one machine. It prints Markdown, or with --write puts it between the lines <!-- performance AMD
--> and <!-- /performance AMD --> of a processor's page; --readme puts a short table between <!-- performance --> and
<!-- /performance -->. Lines of the second file that are no JSON objects are skipped, so a log of the whole command
serves. The table that opens docs/performance.md is made of the pages in docs/performance, and made anew with --write,
or without any file.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import sys

OPENING = pathlib.Path(__file__).resolve().parents[2] / "docs/performance.md"  # its pages are in the folder of its name
SIZES = {
    "lesson": "decoder L6 d64 f256 T64 B16 V96",
    "deep": "decoder L18 d64 f256 T64 B16 V96",
    "wide": "decoder L6 d256 f1024 T128 B16 V256",
    "base": "decoder L6 d512 f2048 T128 B32 V10000",
    "encdec": "encoder-decoder 6-6 d512 f1024 T64 B64 V10000",
    "memory": "`lesson` with relative positions over a memory of 64",
    "convnet": "two 5 × 5 convolutions and a linear layer, B32; images/s",
    "parser": "MLP of 48·50, 512, 512, 75, B1024 V10000; transitions/s",
}


def peer_rows(path):
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    for row in rows:
        if "error" in row:
            print(f"{path}: {row['framework']} {row['mode']} {row['name']}: {row['error']}", file=sys.stderr)
    return [row for row in rows if "error" not in row]


def split(rows):
    """Returns the peers' rows, and by name our rows between them: models, and the best product of a library."""
    ours = {row["name"]: row for row in rows if row["framework"].startswith("normscope")}
    return [row for row in rows if not row["framework"].startswith("normscope")], ours


def in_turn(engine, ours):
    """Returns the engine's results, with the models that were measured between the peers in place of the others."""
    models = [model | ours.get(model["name"], {}) for model in engine.get("models", [])]
    return engine | {"models": models, "sgemm_in_turn": ours.get("sgemm", {}).get("gflops")}


def columns(peers):
    """Returns (framework, mode) in the order in which they were measured."""
    return list(dict.fromkeys((row["framework"], row["mode"]) for row in peers if "name" in row))


def shape(row):
    return row["m"], row["n"], row["k"], row["layout"], row["threads"]


def products(engine, peers):
    """Returns (our row, its ratio to the fastest library) for every product, and the best rate of any library."""
    theirs = {shape(row): row["gflops"] for row in peers if row["mode"] == "sgemm"}
    rows, best = [], 0
    for row in engine.get("gemm", []):
        rates = [row[key] for key in ("onednn_gflops", "openblas_gflops") if key in row]
        rates += [theirs[shape(row)]] if shape(row) in theirs else []
        if rates:
            rows.append((row, row["gflops"] / max(rates)))
            best = max(best, *rates) if row["threads"] == engine["machine"]["threads"] else best
    return rows, best


def model_table(engine, peers):
    if not engine.get("models"):
        return []
    heads = columns(peers)
    best = engine["sgemm_in_turn"] or products(engine, peers)[1]
    lines = ["| model | normscope, ms a step | tokens/s | GFLOP/s | of the best sgemm | "
             + "".join(f"{framework.split('+')[0]} {mode}, tokens/s | " for framework, mode in heads) + "fastest peer |",
             "|--|--:|--:|--:|--:|" + "--:|" * len(heads) + "--:|"]
    for model in engine["models"]:
        if "tokens_per_s" not in model:
            continue
        name = model["name"]
        rows = {(row["framework"], row["mode"]): row for row in peers if row.get("name") == name}
        rates = {head: row["tokens_per_s"] for head, row in rows.items()}
        ahead = [row.get("ours_ahead", model["tokens_per_s"] / row["tokens_per_s"]) for row in rows.values()]
        share = f"{model['gflops'] / best:.2f}" if best else "–"
        lines.append(
            f"| `{name}`: {SIZES.get(name, '')} | {model['ms']:.1f} | {model['tokens_per_s']:,.0f} | {model['gflops']:.0f} | "
            f"{share} | "
            + "".join(f"{rates[head]:,.0f} | " if head in rates else "– | " for head in heads)
            + (f"**{min(ahead):.2f}×** |" if ahead else "– |"))
    rounds = [row["rounds"] for row in peers if "rounds" in row]
    if rounds:
        lines += ["", f"Each peer ran right after normscope, in {max(rounds)} round{'s' if max(rounds) > 1 else ''}; numbers are medians, in the last column of the ratios."
                  + (f" The best sgemm of any library in these rounds: {best:.0f} GFLOP/s." if engine["sgemm_in_turn"] else "")]
    return lines


def cells_of(lines):
    """Returns the cells of the first table of models, row by row, its heads first."""
    rows = itertools.dropwhile(lambda line: not line.startswith("| model |"), lines)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in itertools.takewhile(lambda line: line.startswith("|"), rows)]
    return rows[:1] + rows[2:]


def short_table(engine, peers):
    lines = ["| model | ms a step | tokens/s | over the fastest of PyTorch, TensorFlow and JAX |", "|--|--:|--:|--:|"]
    lines += [f"| {cells[0]} | {cells[1]} | {cells[2]} | {cells[-1]} |" for cells in cells_of(model_table(engine, peers))[1:]]
    return "\n".join(lines)


def opening_table():
    """Lists four models on each processor, by the numbers on its page, the newest processor of a maker first. Pages without
    a section that this script makes, those of GPUs, are left out."""
    lines = ["| processor | model | normscope, tokens/s | fastest peer, tokens/s | normscope over the nearest peer | of the best sgemm | products alone over that peer |", "|--|--|--:|--:|--:|--:|--:|"]
    for page in sorted(OPENING.with_suffix("").glob("*.md"), reverse=True):
        text = page.read_text().splitlines()
        if not any(line.startswith("<!-- performance") for line in text):
            continue
        heads, *rows = cells_of(text) or [[]]
        name = text[0].removeprefix("# Speed: ")
        for cells in rows:
            model = cells[0].split(":")[0]
            peers = [(int(rate.replace(",", "")), head) for head, rate in zip(heads[5:-1], cells[5:-1]) if rate != "–"]
            if model in ("`lesson`", "`deep`", "`wide`", "`base`") and peers:
                rate, peer = max(peers)
                framework, _, mode = peer.removesuffix(", tokens/s").split()
                most = float(cells[-1].strip("*×")) / float(cells[4])
                lines.append(f"| [{name}]({page.parent.name}/{page.name}) | {model} | {cells[2]} | {framework} {mode} {rate:,} | {cells[-1]} | {cells[4]} | {most:.2f}× |")
    return "\n".join(lines)


def put(path, section, text):
    """Replaces what is between the lines that begin and end the section of a page."""
    begin, end = f"<!-- performance{section} -->", f"<!-- /performance{section} -->"
    page = path.read_text()
    if begin not in page or end not in page:
        sys.exit(f"{path}: expected the lines {begin} and {end}")
    before, rest = page.split(begin, 1)
    path.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}")


def gemm_lines(engine, peers):
    rows, best = products(engine, peers)
    if not rows:
        return []

    def span(what, chosen):
        ratios = sorted(ratio for _, ratio in chosen)
        return f"{what} {ratios[0]:.2f} to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f}" if ratios else None

    listed = [pair for pair in rows if pair[0]["group"] == "listed"]
    spans = [span(layout, [pair for pair in listed if pair[0]["layout"] == layout]) for layout in ("NN", "NT", "TN")]
    spans += [span("weight gradients", [pair for pair in rows if pair[0]["group"] == "gradients"]),
              span("attention's of one head, on one core,", [pair for pair in rows if pair[0]["group"] == "per-head"])]
    return [f"The best sgemm of any library here: {best:.0f} GFLOP/s. Matrix products over the fastest library at each shape, "
            f"rate over rate: {'; '.join(filter(None, spans))}.", *below_goal(rows), *transposed(listed)]


def below_goal(rows):
    """Names the products that reach less than 0.95 of the fastest library, the slowest first."""
    below = sorted((ratio, *shape(row)) for row, ratio in rows if ratio < 0.95)
    named = [f"{layout} {m} × {n} × {k} {ratio:.2f}{' on one core' if threads == 1 else ''}" for ratio, m, n, k, layout, threads in below]
    return ["", f"Below 0.95, as rows × columns × length of the sums: {', '.join(named)}."] if named else []


def transposed(listed):
    """Compares a product of a transposed A with that of the same shape whose A lies as it is read."""
    rates = {shape(row): row["gflops"] for row, _ in listed}
    ratios = [rate / rates[m, n, k, "NN", threads] for (m, n, k, layout, threads), rate in rates.items()
              if layout == "TN" and (m, n, k, "NN", threads) in rates]
    return ["", f"TN over NN at the same shape, both ours: {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}."] if ratios else []


def op_lines(now, before, page):
    """Says how every op of two layers stands beside its roofline, before and now, whose rows are a file of their own."""
    if not before:
        return []
    roofs = [f"{file['machine']['peak_gflops']:.0f} GFLOP/s and {file['machine']['bandwidth_gb_per_s']:.0f} GB/s" for file in (before, now)]
    return [f"[Every op]({ops_file(page).name}) inside a step of two layers, all instances together, before and now, beside the roofline of "
            f"{roofs[0]} before, {roofs[1]} now; above 1 the data comes from cache."]


def ops_file(page):
    return page.with_name(page.stem + "-ops.csv")


def op_rows(now, before):
    """Lists every op of two layers beside its roofline, before and now; nothing where a program has no such op."""
    files = [{(row["size"], row["op"], row["phase"]): row for row in file["ops"]} for file in (before, now)]
    sizes = list(dict.fromkeys(size for file in files for size, _, _ in file))
    lines = ["op,size,phase,ms before,ms now,share of its roofline before,share now"]
    for key in sorted({**files[1], **files[0]}, key=lambda key: sizes.index(key[0])):
        cells = [f"{file[key][what]:.{digits}f}" if key in file else ""
                 for what, digits in (("ms", 3), ("share_of_roofline", 2)) for file in files]
        lines.append(",".join([key[1], key[0], key[2], *cells]))
    return "\n".join(lines) + "\n"


def peer_op_lines(engine, peers):
    """Lists the ops that a peer has too (torch_ops.py), ours beside the peer's fastest way of doing them."""
    ours = {(row["size"], row["op"], row["phase"]): row for row in engine.get("ops", [])}
    theirs = {}
    for row in peers:
        key = row.get("size"), row.get("op"), row.get("phase")
        if key in ours and row["threads"] == engine["machine"]["threads"] and row["ms"] < theirs.get(key, {"ms": float("inf")})["ms"]:
            theirs[key] = row
    if not theirs:
        return []
    lines = ["| op | size | phase | instances | ms | the peer's, ms | theirs over ours |", "|--|--|--|--:|--:|--:|--:|"]
    for key, row in theirs.items():
        if row["count"] != ours[key]["count"]:
            sys.exit(f"{key[1]}, {key[2]}: {row['count']} instances in {row['framework']}, expected {ours[key]['count']}")
        lines.append(f"| {key[1]} | {key[0]} | {key[2]} | {row['count']} | {ours[key]['ms']:.3f} | {row['ms']:.3f} ({row['framework'].split('+')[0]}, "
                     f"{row['mode']}) | **{row['ms'] / ours[key]['ms']:.2f}×** |")
    return ["Ops of the other systems, all instances together, each alone:", "", *lines]


def check_comparable(path, before, now):
    if "ops" not in before or "ops" not in now:
        sys.exit(f"{path}: expected ops in it and in what it is compared with; make both with normscope bench --ops --json")
    for key in ("processor", "instruction_set", "threads"):
        if before["machine"][key] != now["machine"][key]:
            sys.exit(f"{path}: {key} {before['machine'][key]}, expected {now['machine'][key]} as of what it is compared with")


def crowd_lines(engine):
    rows = engine.get("crowded", [])
    if not rows:
        return []
    busy = sorted({row["busy"] for row in rows} - {0})
    lines = [f"| a step's time over its time alone, beside busy processes | {' | '.join(str(n) for n in busy)} |", "|--|" + "--:|" * len(busy)]
    for model, group in dict.fromkeys((row["model"], row["group"]) for row in rows if row["busy"]):
        cells = {row["busy"]: f"{row['ratio']:.2f} ({row['over_fair']:.2f})" for row in rows if (row["model"], row["group"]) == (model, group)}
        lines.append(f"| `{model}`, {'of the same session' if group == 'same' else 'of another session'} | {' | '.join(cells[n] for n in busy)} |")
    more = ", ".join(f"`{row['model']}` {row['ratio']:.2f}" for row in rows if not row["busy"])
    return [*lines, "", f"In brackets: over an equal share for every thread and process; the goal is at most {rows[0]['goal']}. "
            f"With one thread more than cores: {more}."]


def scaling_lines(engine):
    rows = engine.get("scaling", [])
    if not rows:
        return []
    threads = list(dict.fromkeys(row["threads"] for row in rows))
    lines = [f"| times as fast as on one thread | {' | '.join(str(n) for n in threads)} |", "|--|" + "--:|" * len(threads)]
    for model in dict.fromkeys(row["model"] for row in rows):
        cells = [f"{row['faster']:.2f}" + (f" (measured {row['measured_faster']:.2f})" if row["threads"] > 1 and "measured_faster" in row else "")
                 for row in rows if row["model"] == model]
        lines.append(f"| `{model}`, simulated | {' | '.join(cells)} |")
    memory = ", ".join(f"`{row['model']}` {row['memory_ms']:.1f} ms" for row in rows if row["threads"] == 1)
    return [*lines, "", "Simulated: the chunks of a step, timed on one thread and dealt out by the pool's rule and cost; cores do not slow each "
            f"other down. All bytes of a step from memory: {memory}."]


def machine_line(engine, peers):
    m = engine["machine"]
    versions = [m["compiler"]] if "compiler" in m else []
    versions += [f"{name} {m[name]}" for name in ("oneDNN", "OpenBLAS") if name in m]
    versions += list(dict.fromkeys(row["framework"] for row in peers))
    return (f"{m['processor']}, instruction set {m['instruction_set']}, {m['threads']} threads: FMA peak "
            f"{m['peak_gflops']:.0f} GFLOP/s, triad {m['bandwidth_gb_per_s']:.0f} GB/s. {', '.join(versions)}.")


def table(engine, peers, ops):
    lines = [machine_line(engine, peers)]
    for more in (model_table(engine, peers), peer_op_lines(engine, peers), gemm_lines(engine, peers), scaling_lines(engine), crowd_lines(engine), ops):
        if more:
            lines += ["", *more]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", type=pathlib.Path, nargs="?")
    parser.add_argument("peers", type=pathlib.Path, nargs="?")
    parser.add_argument("--crowded", type=pathlib.Path, metavar="FILE", help="output of normscope bench --crowded --scaling --json (and --ops, measured again)")
    parser.add_argument("--before", type=pathlib.Path, metavar="FILE", help="output of an earlier program's normscope bench --ops --json on this machine, to compare its ops")
    parser.add_argument("--section", metavar="NAME", help="the processor, as the page's markers name it")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="the processor's page, docs/performance/NAME.md")
    parser.add_argument("--readme", type=pathlib.Path, metavar="FILE", help="the page of the short table")
    args = parser.parse_args()
    if not args.engine:
        return put(OPENING, "", opening_table())
    if not args.peers:
        parser.error("expected the output of make bench-peers as the second file")
    engine = json.loads(args.engine.read_text())
    if (args.write or args.readme) and not engine.get("models"):
        sys.exit(f"{args.engine}: expected whole steps, which the page's table is of; make it with normscope bench --json")
    again = json.loads(args.crowded.read_text()) if args.crowded else {}
    engine |= {key: rows for key, rows in again.items() if key in ("crowded", "scaling")}
    before = json.loads(args.before.read_text()) if args.before else None
    now = again if "ops" in again else engine
    if before:
        check_comparable(args.before, before, now)
    peers, ours = split(peer_rows(args.peers))
    engine = in_turn(engine, ours)
    text = table(engine, peers, op_lines(now, before, args.write or OPENING))
    if args.write:
        if before:
            ops_file(args.write).write_text(op_rows(now, before))
        put(args.write, f" {args.section}" if args.section else "", text)
        put(OPENING, "", opening_table())
    if args.readme:
        put(args.readme, "", short_table(engine, peers))
    if not args.write and not args.readme:
        print(text + ("\n\n" + op_rows(now, before) if before else ""))


if __name__ == "__main__":
    main()
