"""Build hook: compiles the kernels at install, so that the first run of a mechanism starts at once.

A wheel carries the objects and is tagged for its platform; an editable install finds them in `src/index3/kernels`. On
Linux (x86-64) the tag is manylinux's, after a look at what the objects need (`index3.compiled.symbols`). An
installation whose kernels cannot be built fails and says why: pip shows nothing of what a build that succeeds has to
say. `INDEX3_BUILD_KERNELS=0` leaves them out: each is then built when a run first needs it.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelBuildHook(BuildHookInterface):
    """Adds the kernel objects to wheels and to editable installs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the kernels; `version` is "standard" for a wheel, "editable" for a development install."""
        if os.environ.get("INDEX3_BUILD_KERNELS", "1") == "0":
            return
        root = Path(self.root)
        if version == "editable":
            build_kernels(root / "src", root / "src" / "index3" / "kernels")
            return
        files = build_kernels(root / "src", root / "build" / "kernels")  # those of an editable install stay as they are
        build_data["pure_python"] = False
        tag = wheel_tag(root / "src", files)
        build_data.update({"tag": tag} if tag else {"infer_tag": True})
        build_data["force_include"].update({str(file): f"index3/kernels/{file.name}" for file in files})


def wheel_tag(sources: Path, files: list[Path]) -> str | None:
    """The tag of a wheel with these kernels: manylinux on Linux (x86-64) with glibc, None for what hatchling infers.

    Raises
    ------
    RuntimeError : a kernel needs something that not every system of that tag has.
    """
    if (sys.platform, platform.machine(), platform.libc_ver()[0]) != ("linux", "x86_64", "glibc"):
        return None
    from packaging.tags import sys_tags

    sys.path.insert(0, str(sources))
    try:
        from index3.compiled.symbols import MANYLINUX, check_portable
    finally:
        sys.path.remove(str(sources))
    check_portable(files)
    here = next(sys_tags())
    return f"{here.interpreter}-{here.abi}-{MANYLINUX}"


def build_kernels(sources: Path, folder: Path) -> list[Path]:
    """Object files of all kernels, in a folder.

    Raises
    ------
    RuntimeError : they cannot be built here.
    """
    sys.path.insert(0, str(sources))
    try:
        from index3.compiled.build import build_all

        return build_all(folder, os.cpu_count() or 1)
    except Exception as problem:
        raise RuntimeError(
            f"The kernels of index3 could not be built: {problem}\n"
            "Set INDEX3_BUILD_KERNELS=0 to install without them; each is then built when a run first needs it."
        ) from problem
    finally:
        sys.path.remove(str(sources))
