"""What all nodes of a plan have in common: what follows from their fields is found once."""

from __future__ import annotations


class Part:
    """What every node is: it finds its hash, its columns and which of them are certain only once.

    Nodes share parts, as what an OPTIONAL hangs on is read twice; without this, each question would be asked again on every
    way that leads to a part, and there are twice as many with every OPTIONAL.
    """

    __slots__ = ("_certain", "_hash", "_variables")
    __match_args__: tuple[str, ...] = ()
    _hash: int

    def __init_subclass__(cls) -> None:
        # In the class itself, or the dataclass would bring its own.
        cls.__hash__ = Part.__hash__  # type: ignore[method-assign]
        for name in ("variables", "certain"):
            found = cls.__dict__.get(name)
            if isinstance(found, property) and not isinstance(found, _Once):
                setattr(cls, name, _Once(found))

    def __hash__(self) -> int:
        try:
            known = self._hash
        except AttributeError:
            known = hash((type(self), *(getattr(self, name) for name in self.__match_args__)))
            object.__setattr__(self, "_hash", known)
        return known


class _Once(property):
    """A property of a node that is found when it is first asked for."""

    def __init__(self, found: property) -> None:
        ask = found.fget
        assert ask is not None
        place = f"_{ask.__name__}"

        def known(node: object) -> object:
            try:
                return getattr(node, place)
            except AttributeError:
                value = ask(node)
                object.__setattr__(node, place, value)
                return value

        super().__init__(known)
