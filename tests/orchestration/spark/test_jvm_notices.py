"""What every JVM prints is left out, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NOISY = """
import subprocess, sys, time
from orchestration.spark.jvm_notices import without_notices
child = '''
import sys, time
sys.stderr.write("WARNING: Using incubator modules: jdk.incubator.vector\\\\n")
sys.stderr.write('Setting default log level to "WARN".\\\\n')
sys.stderr.write("To adjust logging level use sc.setLogLevel(newLevel).\\\\n")
sys.stderr.write("out of memory\\\\n")
sys.stderr.flush()
time.sleep(0.5)
sys.stderr.write("later\\\\n")
'''
with without_notices():
    jvm = subprocess.Popen([sys.executable, "-c", child])
print("my own", file=sys.stderr, flush=True)
jvm.wait()
time.sleep(0.5)
"""


def test_what_every_jvm_says_is_left_out_and_the_rest_is_passed_on(root: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", NOISY], cwd=root, capture_output=True, text=True, check=True
    )
    assert sorted(answer.stderr.splitlines()) == ["later", "my own", "out of memory"]
