"""Builds the kernels, one extension module for every `.pyx` below `millstream/kernels`, and the tables of the grammar.

`MILLSTREAM_BUILD=checked` keeps bounds and wrap-around checks, `MILLSTREAM_BUILD=asan` adds AddressSanitizer to those;
the same tests run in every build. A release has no debug symbols: they are five sixths of its size. With
`MILLSTREAM_BUILD=none` nothing is compiled: an editable installation finds the kernels that were built in place.

`MILLSTREAM_BUILD=trained` is a release with profile-guided optimisation, as wheels have it: kernels are compiled to record
which way they go, led through `packaging/training.py`, and compiled again by what they recorded. It takes GCC, three times
as long, and what millstream needs to run.
"""

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, "src")
from millstream.language.parser import tables

BUILD = os.environ.get("MILLSTREAM_BUILD", "release")
CHECKED = BUILD in ("checked", "asan")
SANITIZE = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"] if BUILD == "asan" else []
COMPILE = ["-O1", *SANITIZE] if SANITIZE else ["-O3", "-g0"]
RECORDING = ["-fprofile-generate", "-fprofile-update=prefer-atomic"]
# What training did not reach is compiled as in any release, not for size.
BY_RECORD = ["-fprofile-use", "-fprofile-correction", "-fprofile-partial-training", "-Wno-missing-profile"]
CORES = os.cpu_count() or 1

# What Cython needs for memory views is compiled once instead of in each kernel.
SHARED = "millstream.kernels._cyutility"


class BuildKernels(build_ext):
    """Says which kernel it is at."""

    def build_extensions(self) -> None:
        if BUILD == "trained":
            self.train()
        self.started = count(1)
        super().build_extensions()

    def train(self) -> None:
        """Leaves records beside the objects, where the compiler looks for them, and extensions that ask for these."""
        if b"Free Software Foundation" not in subprocess.check_output([self.compiler.compiler[0], "--version"]):
            raise SystemExit("MILLSTREAM_BUILD=trained needs GCC")
        inplace, self.inplace, self.force = self.inplace, True, True
        for ext in self.extensions:
            ext.extra_compile_args, ext.extra_link_args = [*COMPILE, *RECORDING], RECORDING
        self.started = count(1)
        super().build_extensions()
        print("training ...", flush=True)
        subprocess.run([sys.executable, "packaging/training.py"], env={**os.environ, "PYTHONPATH": "src"}, check=True)
        for ext in self.extensions:
            Path(self.get_ext_fullpath(ext.name)).unlink()
            ext.extra_compile_args, ext.extra_link_args = [*COMPILE, *BY_RECORD], []
        self.inplace = inplace

    def build_extension(self, ext: Extension) -> None:
        name = ext.name.removeprefix("millstream.kernels.")
        print(f"compiling kernel {next(self.started)} of {len(self.extensions)}: {name}", flush=True)
        super().build_extension(ext)


def extension(name: str, source: Path) -> Extension:
    return Extension(
        name,
        [source.as_posix()],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=COMPILE,
        extra_link_args=SANITIZE,
    )


kernels = Path("src/millstream/kernels")
extensions = [
    extension(".".join(source.relative_to("src").with_suffix("").parts), source) for source in sorted(kernels.rglob("*.pyx"))
]
extensions.append(extension(SHARED, kernels / "_cyutility.c"))

tables.keep()

setup(
    cmdclass={"build_ext": BuildKernels},
    options={"build_ext": {"parallel": CORES}},
    ext_modules=[]
    if BUILD == "none"
    else cythonize(
        extensions,
        include_path=["src"],
        build_dir=f"build/cython-{BUILD}",
        shared_utility_qualified_name=SHARED,
        # Processes, which must not import this file again: on Linux they are copies.
        nthreads=CORES if sys.platform == "linux" else 0,
        show_all_warnings=False,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
        },
    ),
)
