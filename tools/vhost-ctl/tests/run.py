#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tests of vhost-ctl that need neither root nor a VM. Prints TAP.

usage: run.py [--sanitized] [PATTERN]    the tests with PATTERN, which may be a glob, in their name
       run.py --list [PATTERN]           their names
       run.py --update [NAME]...         write what the cases of these files print now
       run.py --pack FILE...             shorten recordings

`make ctl-check` builds what is run. --sanitized runs the cases on the program
that was built with address and undefined behaviour sanitizers.
"""
import argparse
import fnmatch
import pathlib
import sys

import cases
import sync

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = cases.TOP / "build/vhost-ctl/vhost-ctl"
SANITIZED = cases.TOP / "build/vhost-ctl/asan/vhost-ctl"


def case_files():
    return sorted((HERE / "cases").glob("*.t"))


def is_wanted(name, pattern):
    return fnmatch.fnmatchcase(name, f"*{pattern}*")


def names(prefix, path):
    return [f"{prefix}.{path.stem}.{name}" for name in cases.test_names(path)]


def all_names():
    lists = [names(prefix, path) for prefix in ("tool", "tool.asan") for path in case_files()]
    return sum(lists, [f"tool.sync.{name}" for name, _ in sync.checks()])


def results(program, prefix, pattern):
    """Pairs of a wanted name and complaints. A file of cases is run as a whole."""
    for path in case_files():
        if any(is_wanted(name, pattern) for name in names(prefix, path)):
            for name, complaints in cases.run_file(path, program):
                yield f"{prefix}.{path.stem}.{name}", complaints
    for name, check in sync.checks() if program == PROGRAM else []:
        if is_wanted(f"{prefix}.sync.{name}", pattern):
            yield f"{prefix}.sync.{name}", check(program)


def report(program, prefix, pattern):
    number = failed = 0
    for name, complaints in results(program, prefix, pattern):
        if not is_wanted(name, pattern):
            continue
        number += 1
        failed += bool(complaints)
        for line in complaints:
            print(f"# {line.rstrip()}")
        print(f"{'not ok' if complaints else 'ok'} {number} - {name}", flush=True)
    print(f"1..{number}")
    return 1 if failed else 0


def update(stems):
    for path in case_files():
        if not stems or path.stem in stems:
            for _ in cases.run_file(path, PROGRAM, update=True):
                pass
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--list", action="store_true")
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
    if args.list:
        print(*(name for name in all_names() if is_wanted(name, "".join(args.words))), sep="\n")
        return 0
    program, prefix = (SANITIZED, "tool.asan") if args.sanitized else (PROGRAM, "tool")
    return report(program, prefix, "".join(args.words))


if __name__ == "__main__":
    sys.exit(main())
