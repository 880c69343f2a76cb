"""Names of a package that are imported when somebody asks for them.

Spark starts many small processes that each need little of millstream, and a command's help needs none of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def exported(package: str, modules: Mapping[str, str], extra: str | None = None) -> Callable[[str], Any]:
    """What a package has as `__getattr__`: names, each with the module that has it.

    `extra` is what must be installed with millstream for these.
    """

    class Package(ModuleType):
        """A function that is named like its module stays what the name means, also once the module is imported."""

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in modules or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Package

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(modules[name]), name)
        except ModuleNotFoundError as error:
            if extra is None or str(error.name).startswith("millstream"):
                raise
            raise missing(package, error, extra) from None
        # Next time it is there.
        setattr(sys.modules[package], name, value)
        return value

    return get


def missing(package: str, error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    """The same error, saying how to get what is missing."""
    name = str(error.name).partition(".")[0]
    return ModuleNotFoundError(f"{package} needs {name}: pip install 'millstream[{extra}]'", name=error.name)
