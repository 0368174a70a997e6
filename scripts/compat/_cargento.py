"""Starts the cargento binary in the place of a script of the same purpose, with the same arguments.

The binary is looked for beside these scripts, then where CARGENTO_BIN says, then on PATH.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "cargento.exe" if os.name == "nt" else "cargento"


def runnable(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def candidates():
    yield os.path.join(HERE, NAME)
    yield os.environ.get("CARGENTO_BIN", "")
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        # What lies in the working directory of some project is not meant.
        if os.path.isabs(folder):
            yield os.path.join(folder, NAME)


def start(path, arguments):
    if os.name == "nt":
        # There exec returns to the caller before the program has ended.
        import subprocess

        sys.exit(subprocess.call([path, *arguments]))
    os.execv(path, [path, *arguments])


def act(*subcommand, answer="", status=0):
    """Become `cargento SUBCOMMAND` with this script's arguments.

    Without a binary: print `answer` and exit with `status`. A hook's is what its harness takes as no opinion; only a
    program that a person or a client waits for says why.
    """
    for path in filter(runnable, candidates()):
        try:
            start(path, [*subcommand, *sys.argv[1:]])
        except OSError:
            continue
    if status or subcommand == ("mcp",):
        print("Cargento: the cargento binary is not beside this script, in CARGENTO_BIN or on PATH", file=sys.stderr)
    sys.stdout.write(answer)
    sys.stdout.flush()
    sys.exit(status)
