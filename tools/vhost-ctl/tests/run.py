#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tests of vhost-ctl that need neither root nor a VM. Prints TAP.

usage: run.py [--sanitized] [PATTERN]    the tests whose name has PATTERN in it
       run.py --update [NAME]...         write what the cases of these files print now
       run.py --pack FILE...             shorten recordings

`make ctl-check` builds what is run. --sanitized runs the cases on the program
that was built with address and undefined behaviour sanitizers.
"""
import argparse
import pathlib
import sys

import cases
import sync

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = cases.TOP / "build/vhost-ctl/vhost-ctl"
SANITIZED = cases.TOP / "build/vhost-ctl/asan/vhost-ctl"


def case_files():
    return sorted((HERE / "cases").glob("*.t"))


def results(program, prefix, pattern):
    """Pairs of a name with the pattern in it, and complaints."""
    for path in case_files():
        if any(pattern in f"{prefix}.{path.stem}.{name}" for name in cases.test_names(path)):
            for name, complaints in cases.run_file(path, program):
                yield f"{prefix}.{path.stem}.{name}", complaints
    for name, check in sync.checks() if program == PROGRAM else []:
        if pattern in f"{prefix}.sync.{name}":
            yield f"{prefix}.sync.{name}", check(program)


def report(program, prefix, pattern):
    number = failed = 0
    for name, complaints in results(program, prefix, pattern):
        if pattern not in name:
            continue
        number += 1
        failed += bool(complaints)
        for line in complaints:
            print(f"# {line.rstrip()}")
        print(f"{'not ok' if complaints else 'ok'} {number} - {name}", flush=True)
    print(f"1..{number}")
    return 1 if failed or not number else 0


def update(names):
    for path in case_files():
        if not names or path.stem in names:
            for _ in cases.run_file(path, PROGRAM, update=True):
                pass
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("words", nargs="*", metavar="PATTERN")
    args = parser.parse_args()
    if args.pack:
        for name in args.words:
            cases.pack(pathlib.Path(name))
        return 0
    if args.update:
        return update(args.words)
    program, prefix = (SANITIZED, "tool.asan") if args.sanitized else (PROGRAM, "tool")
    return report(program, prefix, "".join(args.words))


if __name__ == "__main__":
    sys.exit(main())
