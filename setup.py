"""Builds the kernels: every `.pyx` below `millstream/kernels` is one extension module.

`MILLSTREAM_BUILD=checked` keeps bounds and wrap-around checks, `MILLSTREAM_BUILD=asan` adds AddressSanitizer to those;
the same tests run in every build.
"""

import os
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

BUILD = os.environ.get("MILLSTREAM_BUILD", "release")
CHECKED = BUILD in ("checked", "asan")
SANITIZE = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"] if BUILD == "asan" else []

extensions = [
    Extension(
        f"millstream.kernels.{source.stem}",
        [source.as_posix()],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=["-O1" if SANITIZE else "-O3", *SANITIZE],
        extra_link_args=SANITIZE,
    )
    for source in sorted(Path("src/millstream/kernels").glob("*.pyx"))
]

setup(
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        extensions,
        include_path=["src"],
        build_dir=f"build/cython-{BUILD}",
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
