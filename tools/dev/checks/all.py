"""Runs the checks and prints what they find."""
import sys
import time

from dev.checks import banned, format as formatting, headers, layers, sizes, texts, tree


def tree_checks(root, files):
    """(name, function that returns findings) of every check that needs nothing but the tree."""
    return [
        ("layers", lambda: layers.check(files, files["src/RANKS"])),
        ("sizes", lambda: sizes.check(files, sizes.load_ratchet(root))),
        ("banned calls", lambda: banned.check(files)),
        ("texts", lambda: texts.check(files) + texts.check_bytes(tree.sizes(root))),
    ]


def run_tree_checks(root):
    """(name, findings) of the checks above."""
    files = tree.texts(root)
    return [(name, function()) for name, function in tree_checks(root, files)]


def fix_format(root):
    formatting.fix(root, tree.texts(root))


def run_all(root, build_folder):
    """Every check, with its time; True when nothing was found. Needs a configured build folder."""
    files = tree.texts(root)
    steps = tree_checks(root, files)
    steps.append(("format", lambda: formatting.check(root, files, build_folder)))
    steps.append(("headers", lambda: headers.check(root, files, build_folder)))
    good = True
    for name, step in steps:
        started = time.monotonic()
        findings = step()
        seconds = time.monotonic() - started
        print(f"{'FAIL' if findings else 'ok'} {name} ({seconds:.1f} s)", file=sys.stderr)
        for finding in findings:
            print(f"  {finding}", file=sys.stderr)
        good = good and not findings
    return good
