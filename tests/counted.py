"""Runs the unit tests of the program, and closes with the line that run.sh reads."""

import signal
import sys
import unittest


def main(verbosity=0):
    # what a script starts in the background is deaf to it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = unittest.main("__main__", exit=False, verbosity=verbosity).result
    bad = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{result.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bad > 0)
