# SPDX-License-Identifier: GPL-2.0
"""Cases: commands, what they print, and how they end, on a host that is played by stage.so.

A case file has lines
  @ recording NAME    answers of the kernel, from recordings/NAME.rec
  @ tree NAME         files of the host, from trees/NAME
  = a_sentence        a test begins
  % COMMAND           the next one gets the answers of that command
  $ COMMAND           run by a shell in maps/; see record-inside for what may stand before it
  | TEXT              a line of stdout
  ! TEXT              a line of stderr
  ? CODE              how it ended, unless 0
and # starts a comment.
"""
import collections
import difflib
import pathlib
import re
import subprocess
import tempfile

import tree

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent.parent
STAGE = TOP / "build/vhost-ctl/tests/stage.so"


def read_recording(name):
    """Sections of a recording: a list of texts for each command."""
    sections, current, common = {}, [], {}
    for line in (HERE / "recordings" / f"{name}.rec").read_text().splitlines(True):
        mark, _, rest = line.partition(" ")
        if mark == "$":
            current = []
            sections.setdefault(rest.strip(), []).append(current)
        elif mark == "=":
            number, _, message = rest.partition(" ")
            common[number] = message
        elif mark == "&":
            current.append(common[rest.strip()])
        elif mark in ("<", ">"):
            current.append(line)
    return sections


def neutral(line):
    """The same message with sequence number and port that do not depend on who recorded it."""
    if line[0] not in "<>":
        return line
    head, seq, rest = line[:18], line[18:26], line[34:]
    return head + ("00000000" if seq == "00000000" else "01000000") + "00000000" + rest


def pack(path):
    """Write messages that come again and again once: "= NUMBER MESSAGE", then "& NUMBER"."""
    lines = [neutral(line) for line in path.read_text().splitlines(True) if line[0] in "$<>"]
    counts = collections.Counter(line for line in lines if line[0] != "$")
    numbers = {}
    out = ["# SPDX-License-Identifier: GPL-2.0\n", "# Written by tools/vhost-ctl/tests/record.\n"]
    for line in lines:
        if counts[line] > 1 and line not in numbers:
            numbers[line] = len(numbers)
            out.append(f"= {numbers[line]} {line}")
        out.append(f"& {numbers[line]}\n" if line in numbers else line)
    path.write_text("".join(out))


class Host:
    """What the commands of a case file run on."""

    def __init__(self, work, program):
        self.work, self.program, self.root = work, program, work / "empty"
        self.recording, self.uses = {}, {}
        self.stage, self.like = self.preload(), None
        self.root.mkdir()

    def direct(self, what, name):
        if what == "recording":
            self.recording, self.uses = read_recording(name), {}
        else:
            self.root = self.work / name
            if not self.root.exists():
                self.root.mkdir()
                tree.make(name, self.root)

    def answers(self, command):
        """The next section of that command, the last again where there are no more."""
        sections = self.recording.get(command) or self.recording.get("*", [[]])
        use = self.uses.get(command, 0)
        self.uses[command] = use + 1
        return "".join(sections[min(use, len(sections) - 1)])

    def run(self, command):
        replay = self.work / "replay"
        answers = self.answers(self.like or command)
        replay.write_text(answers)
        mark = self.work / "replay.at"
        mark.unlink(missing_ok=True)
        env = {
            "PATH": f"{self.work / 'bin'}:/usr/bin:/bin", "LC_ALL": "C",
            "VHOST_CTL_REPLAY": replay, "VHOST_CTL_ROOT": self.root,
            "VHOST_CTL_PROGRAM": self.program, "VHOST_CTL_STAGE": self.stage,
        }
        result = subprocess.run(["sh", "-c", re.sub(r"^\[[^]]*\] ", "", command)], env=env,
                                cwd=HERE / "maps", text=True, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=60)
        left = answers[int(mark.read_text()):] if mark.exists() else answers
        if ">" in left and not self.like and "*" not in self.recording:
            result.stderr += "stage: not all requests came that were recorded\n"
        self.like = None
        return result

    def preload(self):
        """A sanitizer, where the program has one, wants to be the first."""
        libraries = subprocess.run(["ldd", self.program], capture_output=True, text=True).stdout
        found = re.search(r"(/\S*libasan\S*)", libraries)
        return f"{found[1]}:{STAGE}" if found else str(STAGE)


WRAPPER = '#!/bin/sh\nLD_PRELOAD=$VHOST_CTL_STAGE exec "$VHOST_CTL_PROGRAM" "$@"\n'


def result_lines(result):
    lines = [f"| {line}".rstrip() + "\n" for line in result.stdout.splitlines()]
    lines += [f"! {line}".rstrip() + "\n" for line in result.stderr.splitlines()]
    return lines + ([f"? {result.returncode}\n"] if result.returncode else [])


def test_names(path):
    return re.findall(r"^= (\S+)", path.read_text(), re.M)


def split_commands(lines):
    """Pairs of a line that is no result and the results behind it."""
    pairs = []
    for line in lines:
        if line.startswith(("|", "!", "?")) and pairs:
            pairs[-1][1].append(line)
        else:
            pairs.append((line, []))
    return pairs


def run_file(path, program, update=False):
    """Yield (name, list of complaints) for each test of a case file; rewrite it if UPDATE."""
    out, name, complaints = [], None, []
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "bin").mkdir()
        (work / "bin/vhost-ctl").write_text(WRAPPER)
        (work / "bin/vhost-ctl").chmod(0o755)
        host = Host(work, program)
        for line, expected in split_commands(path.read_text().splitlines(True)):
            out.append(line)
            if line.startswith("@ "):
                host.direct(*line.split()[1:])
            elif line.startswith("= "):
                if name:
                    yield name, complaints
                name, complaints = line[2:].strip(), []
            elif line.startswith("% "):
                host.like = line[2:].strip()
            elif line.startswith("$ "):
                real = result_lines(host.run(line[2:].strip()))
                complaints += compare(line, [text.rstrip() + "\n" for text in expected], real)
                expected = real
            out += expected
        if name:
            yield name, complaints
    if update:
        path.write_text("".join(out))


def compare(command, expected, real):
    if expected == real:
        return []
    return [command] + list(difflib.ndiff(expected, real))
