# SPDX-License-Identifier: GPL-2.0
"""Make a directory that looks like the files of a host, from a description.

A line of a description is one of
  PATH<tab>TEXT       a file; TEXT may have \\n, \\t and \\0
  PATH -> TARGET      a symbolic link
  PATH := KEY=VALUE;  a kernel module with that in its .modinfo
  include NAME        another description
and # starts a comment.
"""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}


def unescape(text):
    out, chars = [], iter(text)
    for char in chars:
        out.append(ESCAPES[next(chars)] if char == "\\" else char)
    return "".join(out)


def write_module(path, info):
    """An object file is all that libkmod needs."""
    strings = "".join(f'.asciz "{item}"\n' for item in info.split(";") if item)
    subprocess.run(["cc", "-c", "-x", "assembler", "-o", path, "-"], check=True, text=True,
                   input=f'.section .modinfo,"a"\n{strings}')


def write_entry(line, root):
    for mark in ("\t", " -> ", " := "):
        name, found, rest = line.partition(mark)
        if found:
            break
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    if mark == " -> ":
        path.symlink_to(rest)
    elif mark == " := ":
        write_module(path, rest)
    else:
        path.write_text(unescape(rest))


def build(name, root):
    for line in (HERE / "trees" / name).read_text().splitlines():
        if line.startswith("include "):
            build(line.split()[1], root)
        elif line and not line.startswith("#"):
            write_entry(line, root)


def make(name, root):
    """Make the host called NAME below the directory ROOT."""
    build(name, root)
    for order in root.glob("lib/modules/*/modules.order"):
        subprocess.run(["depmod", "-b", root, order.parent.name], check=True,
                       stderr=subprocess.DEVNULL, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
