"""Runs the checks and prints what they find."""
import sys
import time

from dev.checks import banned, format as formatting, headers, layers, sizes, texts, tree


def run_tree_checks(root):
    """(name, findings) of every check that needs nothing but the tree."""
    files = tree.texts(root)
    yield "layers", layers.check(files, files["src/RANKS"])
    yield "sizes", sizes.check(files, sizes.load_ratchet(root))
    yield "banned calls", banned.check(files)
    yield "texts", texts.check(files) + texts.check_bytes(tree.sizes(root))


def fix_format(root):
    formatting.fix(root, tree.texts(root))


def run_all(root, build_folder):
    """Every check, with its time; True when nothing was found. Needs a configured build folder."""
    files = tree.texts(root)
    good = True
    steps = [(name, lambda found=found: found) for name, found in run_tree_checks(root)]
    steps.append(("format", lambda: formatting.check(root, files)))
    steps.append(("headers", lambda: headers.check(root, files, build_folder)))
    for name, step in steps:
        started = time.monotonic()
        findings = step()
        seconds = time.monotonic() - started
        print(f"{'FAIL' if findings else 'ok'} {name} ({seconds:.1f} s)", file=sys.stderr)
        for finding in findings:
            print(f"  {finding}", file=sys.stderr)
        good = good and not findings
    return good
