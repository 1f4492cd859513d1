#!/usr/bin/env python3
"""What Python names."""

from os import path
import functools

__all__ = ["cached", "Model"]
LIMIT = 10
lower_value: int = 3
"""How low it is."""
FIRST, (second, *others) = 1, (2, 3)
chained = again = None
table["key"] = other.attribute = 1
_ = functools.partial(print)
square = lambda value: value * value if value else 0
type Pair[T] = tuple[T, T]

if path:
    def conditional(): ...
else:
    conditional = None

try:
    import speedups
except ImportError:
    def fallback(): pass

for index in range(3):
    in_loop = index


@functools.cache
def cached(
    number: int,
    *rest,  # a comment: with a colon
) -> dict[str, int]:
    """Returns a thing. And more."""
    local = 1
    negate = lambda x: not x

    def inner(x):
        # A comment before the docstring.
        'Adds one.'
        return x + 1 if x and rest else 0

    class Local:
        field = 1

        def method(self): pass

    for item in rest:
        if item or number:
            continue
    match item:
        case [1, *_] if number: pass
        case _: pass
    return inner(local)


async def fetch[T: int](url: T) -> T:
    b"no docstring"
    return url


def formatted():
    f"no docstring either: {path}"


class Model(Base, metaclass=Meta):
    # A comment first.
    r"""A model.

    With details.
    """

    table = "models"
    name: str
    '''What it is called.'''
    __slots__ = ("a",)
    MAXIMUM = 3
    key = lambda self: self.name

    class Inner:
        VALUE = 1

    def __init__(self, name):
        self.name = name
        self.size, self.weight = 1, 2
        self.size = 3
        self.left = self.right = local = None
        if name:
            self.maybe: bool = True
        self.name.other = other.name = self.table["x"] = 1

        def later(self): self.not_known = 1

    def rename(self, name):
        self.not_a_field_here = name

    @property
    def title(self) -> str:
        """The title, e.g. of a page. Not more."""
        return self.name.title()

    @title.setter
    def title(self, value): self.name = value

    @functools.cached_property
    def length(self): return 1

    @staticmethod
    def build(): return Model("")

    @overload
    def overloaded(self, a: int): ...
    @overload
    async def overloaded(self, a: str): ...


@dataclass(frozen=True)
class Point:
    x: int = 0
    y: "int" = field(default=0)  # a comment
    """How far up."""


class Color(str, enum.Enum):
    RED = "red"
    GREEN, BLUE = "green", "blue"
    _order_ = "RED GREEN"


print "a statement of Python 2"


def broken(:
    pass


def after_the_break():
    return [x for x in y if x]
