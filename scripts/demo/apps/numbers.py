"""Writes numbered lines without end."""

import itertools
import time

for number in itertools.count(1):
    print(number, flush=True)
    time.sleep(0.01)
