# SPDX-License-Identifier: GPL-2.0
"""help = man = completion = table of commands = contract.

Help is printed from the tables of commands and columns, so that what it says is
what the program takes; everything else is held against it. Each check takes the
program and returns a list of complaints.
"""
import os
import pathlib
import re
import shutil
import subprocess

import yaml

import cases

TOOL = pathlib.Path(__file__).resolve().parent.parent
MAN = TOOL / "man"
COMPLETION = TOOL / "completion/vhost-ctl"
SPEC = cases.TOP / "uapi/netlink/specs/vhost.yaml"
# The object whose columns are the attributes of a get operation.
GETS = {"dev-get": "dev", "worker-get": "worker", "vq-get": "vq", "policy-get": "policy"}
PLACEHOLDER = re.compile(r"^[A-Z]+$")


# --- what help says

def help_text(program, *words):
    return subprocess.run([program, *words, "help"], check=True, text=True,
                          capture_output=True).stdout


def grammars(program):
    """{object: [line of grammar]}, in order."""
    found, current = {}, None
    for line in help_text(program).splitlines():
        if re.match(r"[a-z]+: ", line):
            current = found.setdefault(line.split(":")[0], [])
        elif re.match(r"  [a-z]", line) and current is not None:
            current.append(line.strip())
    return found


def command_of(grammar):
    """The second word, if that is one of a command."""
    words = grammar.split()
    return words[1] if len(words) > 1 and re.match(r"^[a-z]+$", words[1]) else ""


def keywords_of(grammar):
    words = re.findall(r"-*[A-Za-z-]+", grammar)[1:]
    return {word for word in words if re.match(r"^[a-z]+$", word)} - {command_of(grammar)}


def columns(program, *words):
    """[(key, is shown by default, meaning)] for each list of columns in a help text."""
    lists, current = [], None
    for line in help_text(program, *words).splitlines():
        match = re.match(r"  ([* ]) (\w+) +(.*)", line)
        if line.startswith("Columns "):
            current = []
            lists.append(current)
        elif match and current is not None:
            current.append((match[2], match[1] == "*", match[3]))
        elif not line:
            current = None
    return lists


# --- what the manual says

def page_name(topic):
    return MAN / ("vhost-ctl.8" if topic == "version" else f"vhost-ctl-{topic}.8")


def rendered(page, width=400):
    text = subprocess.run(["mandoc", "-T", "ascii", "-O", f"width={width}", page], check=True,
                          text=True, capture_output=True).stdout
    return re.sub(".\b", "", text)


def section(page, title):
    text = rendered(page)
    match = re.search(rf"^{title}\n(.*?)^(?=\S)", text, re.M | re.S)
    return [line for line in match[1].splitlines() if line] if match else []


def unroff(text):
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").replace("\\(dq", '"')


def man_tables(page):
    """[(column, key, meaning)] for each table in the source of a page."""
    tables = re.findall(r"^\.TS\n.*?\n.*?\nCOLUMN\t.*?\n(.*?)^\.TE", page.read_text(), re.M | re.S)
    row = re.compile(r"(\w+\*?)\t(\w+)\tT\{\n(.*?)\nT\}", re.S)
    return [[(a, b, unroff(c.replace("\n", " "))) for a, b, c in row.findall(table)]
            for table in tables]


def examples(page):
    """[(command, [line of output])] of a page."""
    found = []
    for block in re.findall(r"^\.EX\n(.*?)^\.EE", page.read_text(), re.M | re.S):
        for line in unroff(block).splitlines():
            if line.startswith("# "):
                found.append((line[2:], []))
            elif not line.startswith("."):
                found[-1][1].append(line)
    return found


# --- the checks

def synopsis_is_grammar(program):
    complaints = []
    for topic, lines in grammars(program).items():
        expected = [f"vhost-ctl [OPTION]... {line}" for line in lines]
        found = [line.strip() for line in section(page_name(topic), "SYNOPSIS")]
        if topic == "version":
            found = [line for line in found if line.endswith("version")]
        if found != expected:
            complaints += [f"{topic}: synopsis {found}, help {expected}"]
    return complaints


def main_page_lists_all(program):
    text = [line.strip() for line in rendered(MAN / "vhost-ctl.8").splitlines()]
    return [f"vhost-ctl.8 lacks '{line}'" for topic, lines in grammars(program).items()
            for line in lines if topic != "version" and line not in text]


def no_page_is_left_over(program):
    known = {page_name(topic).name for topic in grammars(program)} | {"vhost-ctl.8"}
    return [f"{page.name} is about nothing" for page in MAN.iterdir() if page.name not in known]


def man_tables_are_columns(program):
    complaints = []
    for topic, lines in grammars(program).items():
        tables = man_tables(page_name(topic)) if topic != "version" else []
        lists = []
        for part in columns(program, topic):
            if part not in lists:
                lists.append(part)
        expected = [[(key.upper() + "*" * default, key, meaning) for key, default, meaning in part]
                    for part in lists]
        if tables != expected:
            complaints += [f"{topic}: the manual has {tables}", f"{topic}: help has {expected}"]
    return complaints


def every_page_has_its_sections(program):
    titles = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    complaints = []
    for page in sorted(MAN.iterdir()):
        found = re.findall(r"^\.SH (.*)$", page.read_text(), re.M)
        complaints += [f"{page.name} lacks {title}" for title in titles if title not in found]
        codes = [line.split()[0] for line in section(page, "EXIT STATUS")
                 if re.match(r"\s+\d ", line)]
        if codes != ["0", "1", "2", "3"]:
            complaints.append(f"{page.name}: exit status {codes}")
    return complaints


def examples_are_real(_program):
    """Each stands in a case with just this output."""
    real = {}
    for path in sorted((cases.HERE / "cases").glob("*.t")):
        for line, results in cases.split_commands(path.read_text().splitlines()):
            if line.startswith("$ "):
                command = re.sub(r"^\[[^]]*\] ", "", line[2:])
                real.setdefault(command, []).append([text[2:] for text in results])
    return [f"{page.name}: not the output of a case: {command}" for page in sorted(MAN.iterdir())
            for command, output in examples(page) if output not in real.get(command, [])]


def pages_are_clean(_program):
    complaints = []
    for page in sorted(MAN.iterdir()):
        commands = [["mandoc", "-T", "lint", "-W", "style", page],
                    ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page]]
        for command in commands:
            result = subprocess.run(command, text=True, capture_output=True,
                                    env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            said = result.stderr if command[0] == "man" else result.stdout + result.stderr
            complaints += said.splitlines()
    return complaints


def complete(program, line, behind=""):
    """What bash offers at the end of LINE."""
    script = ('. "$1"; COMP_LINE=$2$3; COMP_POINT=${#2}; _vhost_ctl; '
              '[ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"')
    env = {"PATH": f"{program.parent}:/usr/bin:/bin", "LC_ALL": "C"}
    result = subprocess.run(["bash", "-uc", script, "-", COMPLETION, line, behind], text=True,
                            capture_output=True, env=env, cwd=MAN)
    return set(result.stdout.split()) | set(result.stderr.splitlines())


def differ(what, found, expected):
    return [] if found == expected else [f"{what}: {sorted(found)}, but {sorted(expected)}"]


def completion_has_objects_and_commands(program):
    known = grammars(program)
    complaints = differ("objects", complete(program, "vhost-ctl "), set(known) | {"help"})
    for topic, lines in known.items():
        commands = {command_of(line) for line in lines} - {""}
        if commands:
            found = complete(program, f"vhost-ctl {topic} ")
            complaints += differ(topic, found, commands | {"help"})
    return complaints


def completion_has_keywords(program):
    """Each keyword is offered somewhere in the arguments of its command."""
    complaints = []
    for topic, lines in grammars(program).items():
        for grammar in lines:
            start = f"vhost-ctl {topic} {command_of(grammar)}".rstrip()
            offered = set()
            for words in ("", " 1", " 1 2", " 1 spread 2", " 1 by", " interval 1"):
                offered |= complete(program, f"{start}{words} ")
            if keywords_of(grammar) - offered:
                complaints.append(f"{grammar}: not offered: {keywords_of(grammar) - offered}")
            if ("--dry-run" in grammar) != ("--dry-run" in complete(program, f"{start} 1 --")):
                complaints.append(f"{grammar}: --dry-run")
    return complaints


def completion_has_columns(program):
    complaints = []
    for topic in grammars(program):
        keys = {key for part in columns(program, topic) for key, *_ in part}
        complaints += differ(topic, complete(program, "vhost-ctl -o ", f" {topic}"), keys)
    return complaints


def columns_are_the_attributes(program):
    """Every attribute of a reply is a column of that name, in the contract's order."""
    spec = yaml.safe_load(SPEC.read_text())
    complaints = []
    for operation in spec["operations"]["list"]:
        topic = GETS.get(operation["name"])
        if not topic:
            continue
        attributes = [name.replace("-", "_") for name in operation["do"]["reply"]["attributes"]]
        keys = [key for key, *_ in columns(program, topic, "show")[0]]
        if keys[:len(attributes)] != attributes:
            complaints.append(f"{topic}: columns {keys}, but the contract has {attributes}")
    return complaints


def monitor_tells_all_events(program):
    spec = yaml.safe_load(SPEC.read_text())
    names = [op["name"].removesuffix("-ntf") for op in spec["operations"]["list"]
             if "notify" in op or "event" in op]
    texts = {"help": help_text(program, "monitor"), "man": rendered(page_name("monitor"))}
    return [f"{where} does not tell of {name}" for where, text in texts.items()
            for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", text)]


def help_lists_the_options(program):
    """Those that it lists are taken, in help and manual."""
    complaints = []
    for option in re.findall(r"--[a-z-]+", help_text(program).split("Options,")[1]):
        if option not in rendered(MAN / "vhost-ctl.8"):
            complaints.append(f"vhost-ctl.8 lacks {option}")
        result = subprocess.run([program, option], text=True, capture_output=True)
        if "is unknown" in result.stderr:
            complaints.append(f"{option} is not taken")
    return complaints


def everything_is_installed(program):
    dest = program.parent / "tests/dest"
    shutil.rmtree(dest, ignore_errors=True)
    subprocess.run(["make", "-s", "install", f"DESTDIR={dest}", "PREFIX=/usr"], check=True,
                   cwd=cases.TOP, capture_output=True)
    found = {str(path.relative_to(dest)) for path in dest.rglob("*") if path.is_file()}
    expected = {"usr/sbin/vhost-ctl", "usr/share/bash-completion/completions/vhost-ctl"}
    expected |= {f"usr/share/man/man8/{page.name}" for page in MAN.iterdir()}
    return differ("installed", found, expected)


def checks():
    """(name, check) of each, the name being a sentence."""
    return [
        ("synopsis_of_the_manual_is_the_grammar_of_help", synopsis_is_grammar),
        ("the_first_page_lists_every_command", main_page_lists_all),
        ("no_page_is_left_over", no_page_is_left_over),
        ("columns_of_the_manual_are_those_of_help", man_tables_are_columns),
        ("every_page_has_its_sections", every_page_has_its_sections),
        ("examples_of_the_manual_are_real", examples_are_real),
        ("manual_pages_are_clean", pages_are_clean),
        ("completion_knows_objects_and_commands", completion_has_objects_and_commands),
        ("completion_knows_the_keywords", completion_has_keywords),
        ("completion_knows_the_columns", completion_has_columns),
        ("columns_are_the_attributes_of_the_contract", columns_are_the_attributes),
        ("monitor_tells_of_all_events_of_the_contract", monitor_tells_all_events),
        ("options_are_those_of_help", help_lists_the_options),
        ("everything_is_installed", everything_is_installed),
    ]
