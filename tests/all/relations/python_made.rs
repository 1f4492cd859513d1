//! How Python's classes make instances, and what fixtures give: one test for each rule.

use super::{check, check_imports};

#[test]
fn a_metaclass_makes_instances_of_its_classes() {
    check(
        "--- meta.py
from abc import ABCMeta
from typing import TypeVar
T⟦=T⟧ = TypeVar('T')
class Private⟦=Private⟧(ABCMeta):
    def __call__⟦=call⟧(cls): raise TypeError
    def _create⟦=create⟧(cls: type[T⟦T⟧]) -> T⟦T⟧:
        return super().__call__()
    def open⟦=open⟧(cls): return super().__call__()
    def itself⟦=itself⟧(cls): return cls
    @property
    def known⟦=known⟧(cls) -> 'Box⟦Box⟧': ...
class Box⟦=Box⟧(metaclass=Private⟦Private⟧):
    def put⟦=put⟧(self): ...
class Small⟦=Small⟧(Box⟦Box⟧):
    def shake⟦=shake⟧(self): ...
--- old.py
import six
from meta import Private⟦Private⟧, Box⟦Box⟧
class Old⟦=Old⟧(six.with_metaclass(Private⟦Private⟧, Box⟦Box⟧)):
    def rust⟦=rust⟧(self): ...
--- use.py
from meta import Box⟦Box⟧, Small⟦Small⟧
from old import Old⟦Old⟧
Box⟦Box⟧._create⟦create⟧().put⟦put⟧()
small⟦=small⟧ = Small⟦Small⟧._create⟦create⟧()
small⟦small⟧.put⟦put⟧()
small⟦small⟧.shake⟦shake⟧()
Box⟦Box⟧.open⟦open⟧().put⟦put⟧()
Box⟦Box⟧.itself⟦itself⟧()().put⟦put⟧()
Box⟦Box⟧.known⟦known⟧.put⟦put⟧()
Old⟦Old⟧._create⟦create⟧().rust⟦rust⟧()
Old⟦Old⟧._create⟦create⟧().put⟦put⟧()
",
    );
}

#[test]
fn a_method_gives_an_instance_of_the_class_that_it_is_called_on() {
    check(
        "--- a.py
from typing import Self, TypeVar
T⟦=T⟧ = TypeVar('T', bound='Base⟦Base⟧')
class Base⟦=Base⟧:
    def __new__⟦=new⟧(cls):
        one = super().__new__(cls)
        one.go⟦base⟧()
        return one
    @classmethod
    def make⟦=make⟧(cls: type[T⟦T⟧]) -> T⟦T⟧: ...
    def copy⟦=copy⟧(self: T⟦T⟧) -> T⟦T⟧: ...
    def same⟦=same⟧(self) -> Self | None: ...
    def other⟦=other⟧(self) -> 'Base⟦Base⟧': ...
    def go⟦=base⟧(self): ...
class Sub⟦=Sub⟧(Base⟦Base⟧):
    def go⟦=sub⟧(self): ...
Sub⟦Sub⟧.make⟦make⟧().go⟦sub⟧()
Sub⟦Sub⟧().copy⟦copy⟧().go⟦sub⟧()
Sub⟦Sub⟧().same⟦same⟧().go⟦sub⟧()
Sub⟦Sub⟧().other⟦other⟧().go⟦base⟧()
Base⟦Base⟧.make⟦make⟧().go⟦base⟧()
",
    );
}

#[test]
fn a_call_of_a_class_gives_what_its_new_says() {
    check(
        "--- a.py
class One⟦=One⟧:
    def go⟦=one⟧(self): ...
class Pair⟦=Pair⟧(tuple):
    def __new__⟦=new⟧(cls) -> 'tuple[One⟦One⟧, Two⟦Two⟧]': ...
class Two⟦=Two⟧:
    def __new__⟦=own⟧(cls) -> 'Two⟦Two⟧': ...
    def go⟦=two⟧(self): ...
a⟦=a⟧, b⟦=b⟧ = Pair⟦Pair⟧()
a⟦a⟧.go⟦one⟧()
b⟦b⟧.go⟦two⟧()
Two⟦Two⟧().go⟦two⟧()
",
    );
}

#[test]
fn arguments_with_names_set_the_fields_of_classes_without_a_constructor() {
    check(
        "--- a.py
import attrs
from dataclasses import dataclass
from typing import NamedTuple
from pydantic import BaseModel, Field
from django.db import models
@dataclass(frozen=True)
class Point⟦=Point⟧:
    x⟦=x⟧: int
    y⟦=y⟧: int = 0
    def move⟦=move⟧(cls): return Point⟦Point⟧(x⟦x⟧=1, y⟦y⟧=2, z⟦?⟧=3)
class Far⟦=Far⟧(Point⟦Point⟧):
    @classmethod
    def make⟦=make⟧(cls): return cls(x⟦x⟧=1)
@attrs.define
class Scope⟦=Scope⟧:
    _shield⟦=_shield⟧: bool = attrs.field(alias='shield')
    _name⟦=_name⟧: str = ''
    _size⟦=_size⟧: int = attrs.field(alias='large')
    @property
    def shield⟦=shield⟧(self): ...
Scope⟦Scope⟧(shield⟦shield⟧=True, name⟦_name⟧='', large⟦_size⟧=1)
class Row⟦=Row⟧(NamedTuple):
    id⟦=id⟧: int
class Model⟦=Model⟧(BaseModel):
    id⟦=id2⟧: int = Field()
    limit⟦=limit⟧ = 3
class Person⟦=Person⟧(models.Model):
    name⟦=name⟧ = models.CharField()
Row⟦Row⟧(id⟦id⟧=1)
Model⟦Model⟧(id⟦id2⟧=1, limit⟦?⟧=2)
Person⟦Person⟧(name⟦name⟧='a')
class Plain⟦=Plain⟧:
    size⟦=size⟧ = 1
    def __init__⟦=init⟧(self, size): ...
Plain⟦Plain⟧(size⟦?⟧=1)
",
    );
}

#[test]
fn a_mix_in_says_what_its_self_is() {
    check(
        "--- a.py
from typing import Protocol
class Has⟦=Has⟧(Protocol):
    def acquire⟦=has⟧(self): ...
class Mixin⟦=Mixin⟧:
    def enter⟦=enter⟧(self: Has⟦Has⟧): self.acquire⟦has⟧()
class Lock⟦=Lock⟧(Mixin⟦Mixin⟧):
    def acquire⟦=own⟧(self): ...
",
    );
}

#[test]
fn generators_give_what_they_yield() {
    check(
        "--- a.py
from contextlib import contextmanager
class Item⟦=Item⟧:
    def go⟦=go⟧(self): ...
def items⟦=items⟧():
    yield Item⟦Item⟧()
def all⟦=all⟧():
    yield from items⟦items⟧()
@contextmanager
def opened⟦=opened⟧():
    item = Item⟦Item⟧()
    try:
        yield item
    finally: ...
for one⟦=one⟧ in items⟦items⟧(): one⟦one⟧.go⟦go⟧()
for two⟦=two⟧ in all⟦all⟧(): two⟦two⟧.go⟦go⟧()
with opened⟦opened⟧() as three⟦=three⟧: three⟦three⟧.go⟦go⟧()
",
    );
}

#[test]
fn parameters_have_what_fixtures_give() {
    check(
        "--- shop.py
class Shop⟦=Shop⟧:
    def open⟦=open⟧(self): ...
    def close⟦=close⟧(self): ...
--- conftest.py
import pytest
from collections.abc import Iterator
from shop import Shop⟦Shop⟧
pytest_plugins⟦=plugins⟧ = ['tests.more']
@pytest.fixture
def shop⟦=shop⟧():
    shop = Shop⟦Shop⟧()
    yield shop
    shop.close⟦close⟧()
@pytest.fixture
def other⟦=other⟧() -> Iterator[Shop⟦Shop⟧]:
    yield Shop⟦Shop⟧()
--- tests/more.py
import pytest
from shop import Shop⟦Shop⟧
@pytest.fixture(name='third')
def make⟦=make⟧(): return Shop⟦Shop⟧()
@pytest.fixture
def factory⟦=factory⟧():
    def inner():
        yield 1
        return Shop⟦Shop⟧()
    return Shop⟦Shop⟧
--- tests/unit/test_a.py
class TestAll:
    def test_all(self, shop⟦shop⟧, other⟦other⟧, third⟦make⟧, factory⟦factory⟧, none):
        shop.open⟦open⟧()
        other.open⟦open⟧()
        third.open⟦open⟧()
        factory().open⟦open⟧()
        none.open⟦?⟧()
def helper(shop): shop.open⟦?⟧()
",
    );
    check_imports(
        "--- conftest.py
pytest_plugins = ('tests.more', 'pytester')
--- tests/more.py
",
        &["conftest.py -> tests/more.py"],
    );
}

#[test]
fn a_fixture_in_a_class_is_for_the_tests_of_that_class() {
    check(
        "--- shop.py
class Shop⟦=Shop⟧:
    def open⟦=open⟧(self): ...
class Stall⟦=Stall⟧(Shop⟦Shop⟧):
    def open⟦=stall.open⟧(self): ...
--- conftest.py
import pytest
from shop import Shop⟦Shop⟧
@pytest.fixture
def shop⟦=shop⟧(): return Shop⟦Shop⟧()
--- test_a.py
import pytest
from shop import Stall⟦Stall⟧
def test_before(shop⟦shop⟧): shop.open⟦open⟧()
class TestStall⟦=TestStall⟧:
    def test_early(self, shop⟦own⟧): shop.open⟦stall.open⟧()
    @pytest.fixture
    def shop⟦=own⟧(self, shop⟦shop⟧):
        shop.open⟦open⟧()
        return Stall⟦Stall⟧()
    def test_late(self, shop⟦own⟧): shop.open⟦stall.open⟧()
class TestDerived(TestStall⟦TestStall⟧):
    def test_derived(self, shop⟦own⟧): shop.open⟦stall.open⟧()
def test_after(shop⟦shop⟧): shop.open⟦open⟧()
",
    );
}

#[test]
fn what_is_awaited_is_what_an_async_function_says() {
    check(
        "--- a.py
from collections.abc import Awaitable
class Item⟦=Item⟧:
    def go⟦=go⟧(self): ...
async def one⟦=one⟧() -> Item⟦Item⟧: ...
async def many⟦=many⟧() -> list[Item⟦Item⟧]: ...
async def made⟦=made⟧(): return [Item⟦Item⟧()]
def later⟦=later⟧() -> Awaitable[Item⟦Item⟧]: ...
async def use():
    (await one⟦one⟧()).go⟦go⟧()
    for item in await many⟦many⟧(): item.go⟦go⟧()
    (await many⟦many⟧())[0].go⟦go⟧()
    for item in await made⟦made⟧(): item.go⟦go⟧()
    (await later⟦later⟧()).go⟦go⟧()
",
    );
}

#[test]
fn a_name_may_stand_for_a_container() {
    check(
        "--- a.py
from typing import Dict, FrozenSet
class Item⟦=Item⟧:
    def go⟦=go⟧(self): ...
State⟦=State⟧ = FrozenSet[Item⟦Item⟧]
Named⟦=Named⟧ = Dict[str, 'Item⟦Item⟧']
def f(a: State⟦State⟧, b: Named⟦Named⟧):
    for one in a: one.go⟦go⟧()
    b['x'].go⟦go⟧()
",
    );
}
