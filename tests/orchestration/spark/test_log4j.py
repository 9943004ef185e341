"""What Spark says of an error at the terminal: its texts hold what records hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark
import pytest

from orchestration.spark.java import find_java

SAYS = r"""
import org.apache.logging.log4j.LogManager;

public class Says {
    public static void main(String[] none) {
        LogManager.getLogger("a.b.Task").error(
            "a\u001b[31m\u202e\u009b\rb\tc\u00e9", new RuntimeException("d\u001b]0;x\u0007"));
    }
}
"""


def test_nothing_in_sparks_own_lines_acts_on_a_terminal(root: Path, tmp_path: Path) -> None:
    java = str(find_java().program)
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True)
    if "jdk.compiler" not in modules.stdout:
        pytest.skip("this Java has no compiler")
    (tmp_path / "Says.java").write_text(SAYS)
    jars = Path(pyspark.__file__).parent / "jars"
    settings = (root / "orchestration/spark/log4j2.properties").as_uri()
    answer = subprocess.run(
        [
            *(java, "-cp", f"{jars}/*", "-Dfile.encoding=UTF-8", "-Dstderr.encoding=UTF-8"),
            *(f"-Dlog4j2.configurationFile={settings}", tmp_path / "Says.java"),
        ],
        capture_output=True,
        check=True,
    )
    first, second, *stack = answer.stderr.decode().splitlines()
    assert first == "spark ERROR Task: a?[31m???b\tcé"
    assert second == "java.lang.RuntimeException: d?]0;x?"
    assert stack[0].startswith("\tat Says.main")
