"""The platform tag of a wheel, from what readelf shows of its kernels."""

import platform
import runpy
from pathlib import Path

import pytest

WHEEL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "wheel.py"))
ALPINE = f"libc.musl-{platform.machine()}.so.1"


@pytest.mark.parametrize(
    ("libraries", "versions", "tag"),
    [
        (["libc.so.6", "libm.so.6"], ["GLIBC_2.2.5", "GLIBC_2.29", "GLIBC_2.14"], "manylinux_2_29"),
        (["libc.so.6"], ["GLIBC_2.2.5"], "manylinux_2_17"),
        (["libc.so"], [], "musllinux_1_2"),
        ([ALPINE], [], "musllinux_1_2"),
        (["libc.so.6", "libgomp.so.1"], [], None),
        (["libc.so", "libgomp.so.1"], [], None),
        (["libc.so", "libc.so.6"], [], None),
    ],
)
def test_tag_follows_the_c_library(
    libraries: list[str], versions: list[str], tag: str | None
) -> None:
    lines = [f" 0x0000000000000001 (NEEDED)  Shared library: [{name}]" for name in libraries]
    shown = "\n".join(lines + [f"  0x0010:   Name: {name}  Flags: none" for name in versions])
    if tag:
        assert WHEEL["oldest_system"](shown) == tag
    else:
        with pytest.raises(SystemExit, match="the kernels need"):
            WHEEL["oldest_system"](shown)
