"""The jars that Spark needs beyond its own: pinned, fetched once by Ivy, and kept beside the environment.

They are fetched one by one, without what Maven lists behind them: `spark.jars.packages` would fetch hundreds of
megabytes, and look at no digest. The Ivy that pyspark carries does it, so that a mirror is named as for Spark.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestration.spark.java import JavaMissing, find_java
from transforms.addresses import without_credentials

IVY_SETTINGS = "WEIR_IVY_SETTINGS"
"""The environment variable that names an ivysettings.xml, for machines that reach only a mirror."""


class Jar(NamedTuple):
    """One jar by its coordinates, and the digest that says that it is the right one."""

    organisation: str
    name: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        """The name that Maven, Ivy and Spark know it by."""
        return f"{self.organisation}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        """Its file name."""
        return f"{self.name}-{self.version}.jar"

    def is_at(self, path: Path) -> bool:
        """True where the file is there and is this very jar."""
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


def _pinned(pins: str) -> tuple[Jar, ...]:
    return tuple(Jar._make(pin.replace(":", " ").split()) for pin in pins.splitlines())


DELTA = _pinned("""\
io.delta:delta-spark_4.2_2.13:4.4.0 27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead
io.delta:delta-storage:4.4.0 c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc
""")
"""What Delta tables need, and no more."""

# What hadoop-aws (of the Hadoop that pyspark carries) and the parts of the AWS SDK that it was built with need, less
# what pyspark brings already and less the SDK's bundle of all services. No other SDK release will do: 2.29.52, for
# one, lacks a checksum that hadoop-aws names.
S3A = _pinned("""\
org.apache.hadoop:hadoop-aws:3.5.0 66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa
software.amazon.awssdk:annotations:2.35.4 6f36bd87155d1dd85d6efbdd29e532e3759a022211feb71affebee1aa34f04b8
software.amazon.awssdk:apache-client:2.35.4 6eade21b482724ed0a4613eaa95d20e47e7a81304bd28538ac427fece94a7740
software.amazon.awssdk:arns:2.35.4 c63cc29f76a8527e9e10b621703163df541dc5cb315508dc2898518602c75380
software.amazon.awssdk:auth:2.35.4 6b601323004833fb4a857ffc95db4795e0e6320eb93e64b1246c655c9ff04994
software.amazon.awssdk:aws-core:2.35.4 fdb5fc8f1a48d97fa7d04d3460fb42f6973c7b1bbe1b9d317871ef0162bcb623
software.amazon.awssdk:aws-query-protocol:2.35.4 9b4cf9b78977cc9f5b4ceae9c435dedbde6a055a0f8d9e053eaca945715e2a9f
software.amazon.awssdk:aws-xml-protocol:2.35.4 4f59176da2522c357b1993e4a890fde529f12f365795ef86269bde4a3984cd0d
software.amazon.awssdk:checksums:2.35.4 94464af4374d08ecf33ca06ed4d03e1615529e547726e26b56abacefbeee7948
software.amazon.awssdk:checksums-spi:2.35.4 88b5af85ac2d3c862be8856be4e683ab31932e4a5a3c1c45af864d2671ac7cec
software.amazon.awssdk:crt-core:2.35.4 2c6aaa17bf9ccbb9d962dded4351e73decb197e3c5519970e0dae17e05d3df62
software.amazon.awssdk:endpoints-spi:2.35.4 ef02441bda916959b8341290b49c68cc35538e1ad6f8629b75d8334dc6653e00
software.amazon.awssdk:http-auth:2.35.4 3ec933a06e751a05e195eb3589209e23c44e1897263b6fcae34ef4cc63cd4491
software.amazon.awssdk:http-auth-aws:2.35.4 c4acb92fdec90bfd9b67bfab8e41b69cd152c03cacc10281a8ab464791856e01
software.amazon.awssdk:http-auth-aws-eventstream:2.35.4 709107552f302be3fa9e05969a3779f5c0f07fb809e6fa1fa571a6f0c61326dd
software.amazon.awssdk:http-auth-spi:2.35.4 4495463406bb98eb136f2c3f3604ed5f08ec9974ebc3f34f2121b20679f61d5c
software.amazon.awssdk:http-client-spi:2.35.4 728be89b2a07b595edb0adee3a2cbbbdd4cb1f4caddde0d08c3979fe2620dedb
software.amazon.awssdk:identity-spi:2.35.4 188d73db7d4e2361654bc3c5a1b3eaeb445d0500fb012cc46c5d67975adf97bf
software.amazon.awssdk:json-utils:2.35.4 80d67a6bb3e7eb49c7d4b6e4ba4c1463ed7da0192b795158328602dc131c5ecc
software.amazon.awssdk:metrics-spi:2.35.4 c2a4ee90a21081317e2e6eba0c414d05d3d518aed2f86b1c1710a7367b450487
software.amazon.awssdk:netty-nio-client:2.35.4 b82f8b33e5c85273a47da45ede884d7ccb31c9c2f69e6910a76c5c48fa1275dc
software.amazon.awssdk:profiles:2.35.4 0f4ef7ca72ccd80dd49ebeaf7f3ce60a7d7a00da59a91aeeae6e91052bbacbd8
software.amazon.awssdk:protocol-core:2.35.4 f2532eca6ba2142fe4821d5decb03c83a3e15dc8bfae2240e7f2efa75f9868b5
software.amazon.awssdk:regions:2.35.4 77eae87b34ce96ecdf916a9bc06684dbeafcb6d38ef0513285fa5d5d6d41f5ca
software.amazon.awssdk:retries:2.35.4 f99fb2f8c66d7e859955b3542d3af8f9de8f23a21d5e3250f0f2c5f18487e469
software.amazon.awssdk:retries-spi:2.35.4 668638751d059c527ddd41ffa4dcebe36a7c14860ed56776df09b861c14dc7dd
software.amazon.awssdk:s3:2.35.4 f23532c5223be9b0bfec0d72837ed09ed34dbdf8022818ba145b20076a78b4bc
software.amazon.awssdk:s3-transfer-manager:2.35.4 0eec78870b3d0abc509a847072cf963cb2ae6e360dc6161a9449b3398c470476
software.amazon.awssdk:sdk-core:2.35.4 fa559a4ce598852f3519c8f3b36250f583b0858a7611eedc4a81997778c617f4
software.amazon.awssdk:sts:2.35.4 8d0f7816d3f96e3f00249f5d054d926e939a104bcf9ef57676ee0b16c59684d2
software.amazon.awssdk:third-party-jackson-core:2.35.4 32f4252c6c2df8f3a4aff885e6dc77024ad6b4cb48455d07b461ec30c41643ea
software.amazon.awssdk:utils:2.35.4 642aeef536a071668f0b772f05f9d21573abf6955e7b6fb5fdb893760cca10e8
software.amazon.awssdk:utils-lite:2.35.4 e004806def5e22ec98edc48a133ff3317166255e1ba29d93d129e9fdfa64a7be
software.amazon.eventstream:eventstream:1.0.1 0c37d8e696117f02c302191b8110b0d0eb20fa412fce34c3a269ec73c16ce822
software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1 4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e
org.reactivestreams:reactive-streams:1.0.4 f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28
org.wildfly.openssl:wildfly-openssl:2.2.5.Final 71fb7932f99a727edb23c5a2cb8c6855ac7196fad41aa0669b3998e277165154
""")  # noqa: E501
"""What tables on ``s3a://`` need besides: fetched only when they are asked for."""


class JarsMissing(Exception):
    """A jar is not on this machine and could not be fetched: the text says which, why and what to do."""


def jar_folder() -> Path:
    """Where the jars of this environment are kept."""
    return Path(sys.prefix) / "share" / "weir" / "jars"


def ensure_jars(*, s3a: bool = False) -> list[Path]:
    """The jars of Delta, and of ``s3a://`` if asked for, fetching what is missing.

    Raises:
        JarsMissing: One is missing and cannot be fetched.
        JavaMissing: One is missing, and there is no Java to fetch it with.
    """
    folder, jars = jar_folder(), DELTA + (S3A if s3a else ())
    missing = [jar for jar in jars if not jar.is_at(folder / jar.file)]
    if missing:
        _fetch(missing, folder)
    return [folder / jar.file for jar in jars]


def _fetch(jars: Sequence[Jar], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the target, because renaming within one file system is atomic: processes that
        # fetch the same jar at the same time never see each other's halves. Ivy's cache is in it
        # too, because a shared one remembers failed look-ups.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as scratch:
            for number, jar in enumerate(jars, 1):
                print(f"fetching {jar.coordinates} ({number} of {len(jars)})", file=sys.stderr)
                _fetch_one(jar, Path(scratch), folder)
    except OSError as fault:
        raise JarsMissing(_instead(jars, folder, str(fault))) from fault


def _fetch_one(jar: Jar, scratch: Path, folder: Path) -> None:
    answer = subprocess.run(
        _ivy_command(jar, scratch), capture_output=True, text=True, check=False, cwd=scratch
    )
    fetched = scratch / jar.file
    if not fetched.is_file():
        raise JarsMissing(_instead([jar], folder, _reason(answer.stdout + answer.stderr)))
    if not jar.is_at(fetched):
        found = hashlib.sha256(fetched.read_bytes()).hexdigest()
        raise JarsMissing(_instead([jar], folder, f"what came has the sha256 {found}"))
    fetched.replace(folder / jar.file)


def _ivy_command(jar: Jar, scratch: Path) -> list[str]:
    pyspark = importlib.util.find_spec("pyspark")
    places = pyspark.submodule_search_locations if pyspark else None
    ivy = next(
        (found for place in places or [] for found in Path(place).glob("jars/ivy-*.jar")), None
    )
    if ivy is None:
        raise JarsMissing("pyspark is not installed here, or came without its jars/ivy-*.jar.")
    settings = os.environ.get(IVY_SETTINGS)
    if settings and not Path(settings).is_file():
        raise JarsMissing(f"{IVY_SETTINGS} names {settings}, which is not a file.")
    return [
        *(str(find_java().program), "-cp", str(ivy), "org.apache.ivy.Main"),
        *(("-settings", str(Path(settings).resolve())) if settings else ()),
        *("-cache", str(scratch / "cache"), "-notransitive", "-confs", "default"),
        *("-dependency", jar.organisation, jar.name, jar.version),
        *("-types", "jar", "bundle"),
        *("-retrieve", str(scratch / "[artifact]-[revision].[ext]")),
    ]


def _reason(output: str) -> str:
    """Pick the lines about the cause from the many that Ivy prints."""
    signs = ("ERROR", "not found", "UnknownHost", "refused", "timed out", "Exception")
    lines = [
        line.strip(" \t:") for line in output.splitlines() if any(sign in line for sign in signs)
    ]
    # A mirror's address may have its password in it.
    return without_credentials("; ".join(dict.fromkeys(lines[:3]))) or "Ivy gave no reason"


def _instead(jars: Iterable[Jar], folder: Path, reason: str) -> str:
    """Which jars could not be fetched and why, and what a person can do instead."""
    wanted = "\n".join(f"  {jar.coordinates}  sha256 {jar.sha256}" for jar in jars)
    return (
        f"these jars are needed and could not be fetched ({reason}):\n{wanted}\n"
        "With a network that reaches Maven's central repository, run the command again. "
        f"With a mirror, set {IVY_SETTINGS} to an ivysettings.xml that names it. "
        f"Without either, put each jar into {folder} as NAME-VERSION.jar."
    )


def fetch_missing() -> int:
    """Fetch Delta's jars where they are missing, as a step of set-up; returns the exit code."""
    try:
        ensure_jars()
    except (JarsMissing, JavaMissing) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(fetch_missing())
