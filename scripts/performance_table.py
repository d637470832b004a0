#!/usr/bin/env python3
"""A processor's performance table from the output of `normscope bench --json` and of `make bench-peers`, both of one machine.

    performance_table.py engine.json peers.jsonl [--crowded crowded.json] [--section AMD --write docs/performance.md]
                         [--readme README.md]

Prints Markdown, or with --write puts it between the file's lines <!-- performance AMD --> and <!-- /performance AMD -->;
--readme puts a short table between <!-- performance --> and <!-- /performance -->.
Lines of the second file that are no JSON objects are skipped, so a log of the whole command serves.
"""

import argparse
import json
import pathlib
import sys

SIZES = {
    "lesson": "decoder L6 d64 f256 T64 B16 V96",
    "deep": "decoder L18 d64 f256 T64 B16 V96",
    "wide": "decoder L6 d256 f1024 T128 B16 V256",
    "base": "decoder L6 d512 f2048 T128 B32 V10000",
    "encdec": "encoder-decoder 6-6 d512 f1024 T64 B64 V10000",
}


def peer_rows(path):
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    for row in rows:
        if "error" in row:
            print(f"{path}: {row['framework']} {row['mode']} {row['name']}: {row['error']}", file=sys.stderr)
    return [row for row in rows if "error" not in row]


def columns(peers):
    """(framework, mode) in the order in which they were measured."""
    return list(dict.fromkeys((row["framework"], row["mode"]) for row in peers))


def model_table(engine, peers):
    heads = columns(peers)
    lines = ["| model | normscope, ms a step | tokens/s | GFLOP/s | of oneDNN's best sgemm | "
             + "".join(f"{framework.split('+')[0]} {mode}, tokens/s | " for framework, mode in heads) + "fastest peer |",
             "|--|--:|--:|--:|--:|" + "--:|" * len(heads) + "--:|"]
    for model in engine["models"]:
        if "tokens_per_s" not in model:
            continue
        name = model["name"]
        rates = {(row["framework"], row["mode"]): row["tokens_per_s"] for row in peers if row["name"] == name}
        share = model.get("share_of_sgemm")
        lines.append(
            f"| `{name}`: {SIZES.get(name, '')} | {model['ms']:.1f} | {model['tokens_per_s']:,.0f} | {model['gflops']:.0f} | "
            f"{'–' if share is None else f'{share:.2f}'} | "
            + "".join(f"{rates[head]:,.0f} | " if head in rates else "– | " for head in heads)
            + (f"**{model['tokens_per_s'] / max(rates.values()):.2f}×** |" if rates else "– |"))
    return lines


def short_table(engine, peers):
    lines = ["| model | ms a step | tokens/s | over the fastest of PyTorch and JAX |", "|--|--:|--:|--:|"]
    for row in model_table(engine, peers)[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        lines.append(f"| {cells[0]} | {cells[1]} | {cells[2]} | {cells[-1]} |")
    return "\n".join(lines)


def put(path, section, text):
    """Between the lines that begin and end the section of a page."""
    begin, end = f"<!-- performance{section} -->", f"<!-- /performance{section} -->"
    page = path.read_text()
    if begin not in page or end not in page:
        sys.exit(f"{path}: expected the lines {begin} and {end}")
    before, rest = page.split(begin, 1)
    path.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}")


def gemm_lines(engine):
    rows = [row for row in engine.get("gemm", []) if "ratio" in row]
    if not rows:
        return []

    def span(chosen):
        ratios = sorted(row["ratio"] for row in chosen)
        return f"{ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}"

    threads = engine["machine"]["threads"]
    listed = [row for row in rows if row["threads"] == threads and row.get("group", "listed") == "listed"]
    heads = [row for row in rows if row["threads"] == 1]
    return [f"Matrix products over oneDNN's sgemm, rate over rate: {span(listed)} at {len(listed)} shapes of training "
            f"({threads} threads); {span(heads)} at attention's {len(heads)} products of one head (one core)."]


def crowd_lines(engine):
    rows = [row for row in engine.get("crowded", []) if row["what"] != "alone"]
    parts = [f"`{row['model']}` {row['what']} {row['ratio']:.2f}×" for row in rows]
    return [f"A step's time over its time alone: {', '.join(parts)}."] if parts else []


def machine_line(engine, peers):
    m = engine["machine"]
    versions = [m["compiler"]] if "compiler" in m else []
    versions += [f"{name} {m[name]}" for name in ("oneDNN", "OpenBLAS") if name in m]
    versions += list(dict.fromkeys(row["framework"] for row in peers))
    return (f"{m['processor']}, instruction set {m['instruction_set']}, {m['threads']} threads: FMA peak "
            f"{m['peak_gflops']:.0f} GFLOP/s, triad {m['bandwidth_gb_per_s']:.0f} GB/s. {', '.join(versions)}.")


def table(engine, peers):
    lines = [machine_line(engine, peers), "", *model_table(engine, peers)]
    for more in (gemm_lines(engine), crowd_lines(engine)):
        if more:
            lines += ["", *more]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", type=pathlib.Path)
    parser.add_argument("peers", type=pathlib.Path)
    parser.add_argument("--crowded", type=pathlib.Path, metavar="FILE", help="output of normscope bench --crowded --json")
    parser.add_argument("--section", metavar="NAME", help="the processor, as the page's markers name it")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--readme", type=pathlib.Path, metavar="FILE", help="the page of the short table")
    args = parser.parse_args()
    engine = json.loads(args.engine.read_text())
    if args.crowded:
        engine["crowded"] = json.loads(args.crowded.read_text())["crowded"]
    peers = peer_rows(args.peers)
    if args.write:
        put(args.write, f" {args.section}" if args.section else "", table(engine, peers))
    if args.readme:
        put(args.readme, "", short_table(engine, peers))
    if not args.write and not args.readme:
        print(table(engine, peers))


if __name__ == "__main__":
    main()
