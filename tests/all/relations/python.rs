//! Python's rules, one test each.

use super::{check, check_imports};

#[test]
fn bare_names_are_those_of_the_innermost_scope() {
    check(
        "--- a.py
def f⟦=f⟧(): ...
def outer():
    def f⟦=g⟧(): ...
    f⟦g⟧()
    def inner(): f⟦g⟧()
f⟦f⟧()
",
    );
}

#[test]
fn a_parameter_hides_a_function() {
    check("--- a.py\ndef f⟦=f⟧(): ...\ndef g(f): f⟦?⟧()\nf⟦f⟧()\n");
}

#[test]
fn methods_do_not_see_the_names_of_their_class() {
    check(
        "--- a.py
def f⟦=f⟧(): ...
class C:
    def f⟦=m⟧(self): f⟦f⟧()
    g = f⟦m⟧
",
    );
}

#[test]
fn imports_are_followed_to_the_definition() {
    check(
        "--- pkg/__init__.py
from .b import f⟦f⟧ as g
--- pkg/b.py
def f⟦=f⟧(): ...
--- main.py
from pkg import g⟦f⟧
import pkg.b as other
import pkg
g⟦f⟧()
other.f⟦f⟧()
pkg.g⟦f⟧()
pkg.b.f⟦f⟧()
",
    );
}

#[test]
fn a_package_may_import_a_module_under_its_own_name() {
    check(
        "--- pkg/__init__.py
from . import json as json
--- pkg/json.py
def dump⟦=dump⟧(): ...
--- main.py
import pkg
pkg.json.dump⟦dump⟧()
",
    );
}

#[test]
fn stars_bind_what_the_module_offers() {
    check(
        "--- a.py
def f⟦=f⟧(): ...
--- b.py
from a import *
--- c.py
from b import *
f⟦f⟧()
",
    );
}

#[test]
fn a_submodule_is_found_in_a_package_that_begins_with_a_star() {
    check(
        "--- base/__init__.py
from base.query import *
--- base/query.py
def q⟦=q⟧(): ...
--- gis/__init__.py
--- gis/models/__init__.py
from base import *
--- gis/models/functions.py
class AsText⟦=t⟧: ...
--- use.py
from gis.models import functions, q⟦q⟧
functions.AsText⟦t⟧()
q⟦q⟧()
",
    );
}

#[test]
fn circular_imports_end() {
    check("--- a.py\nfrom b import x⟦?⟧\n--- b.py\nfrom a import x⟦?⟧\n");
}

#[test]
fn source_layouts_are_found_and_the_standard_library_wins_over_neighbours() {
    check(
        "--- src/pkg/__init__.py
--- src/pkg/m.py
def f⟦=f⟧(): ...
--- tests/json.py
def dumps⟦=dumps⟧(): ...
--- tests/helper.py
def h⟦=h⟧(): ...
--- tests/test_m.py
import json
from pkg.m import f⟦f⟧
from helper import h⟦h⟧
json.dumps⟦?⟧()
f⟦f⟧()
h⟦h⟧()
",
    );
}

#[test]
fn folders_without_an_init_hold_modules_too() {
    check("--- tools/gen/make.py\ndef f⟦=f⟧(): ...\n--- main.py\nimport tools.gen.make\ntools.gen.make.f⟦f⟧()\n");
}

#[test]
fn members_are_found_through_self_and_bases() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
    def g⟦=ag⟧(self): ...
class B(A⟦A⟧):
    def g⟦=bg⟧(self):
        self.f⟦f⟧()
        self.g⟦bg⟧()
        super().g⟦ag⟧()
    @classmethod
    def make(cls):
        cls().f⟦f⟧()
        cls.g⟦bg⟧
",
    );
}

#[test]
fn a_mix_in_uses_what_its_subclasses_have() {
    check(
        "--- a.py
class Mixin⟦=M⟧:
    def run(self):
        self.load⟦?⟧()
        self.only⟦only⟧()
class C(Mixin⟦M⟧):
    def load⟦=load⟧(self): ...
    def only⟦=only⟧(self): ...
class D(Mixin⟦M⟧):
    def load⟦=other⟧(self): ...
",
    );
}

#[test]
fn types_come_from_annotations_constructors_and_returns() {
    check(
        "--- a.py
from typing import Optional
class A⟦=A⟧:
    def f⟦=f⟧(self) -> \"A⟦A⟧ | None\": ...
def make(): return A⟦A⟧()
def go(x: A⟦A⟧, y: Optional[A⟦A⟧] = None, *rest: A⟦A⟧):
    x.f⟦f⟧().f⟦f⟧()
    y.f⟦f⟧()
    z = A⟦A⟧()
    z.f⟦f⟧()
    make().f⟦f⟧()
    for r in rest: r.f⟦f⟧()
    (y or z).f⟦f⟧()
",
    );
}

#[test]
fn attributes_have_the_type_of_what_is_assigned() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
class B⟦=B⟧:
    def __init__(self):
        self.a⟦=a⟧ = A⟦A⟧()
    def go(self): self.a⟦a⟧.f⟦f⟧()
B⟦B⟧().a⟦a⟧.f⟦f⟧()
",
    );
}

#[test]
fn a_declared_type_counts_for_more_than_what_is_assigned() {
    check(
        "--- a.py
from elsewhere import Group
class Mine⟦=Mine⟧(Group):
    def f⟦=f⟧(self): ...
class Base⟦=Base⟧:
    x: Group
class C(Base⟦Base⟧):
    def __init__(self): self.x = Mine⟦Mine⟧()
    def go(self): self.x.f⟦?⟧()
",
    );
}

#[test]
fn containers_give_what_they_hold() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
def go(many: list[A⟦A⟧], named: dict[str, A⟦A⟧], pair: tuple[int, A⟦A⟧]):
    many[0].f⟦f⟧()
    for a in many: a.f⟦f⟧()
    for i, a in enumerate(many): a.f⟦f⟧()
    for k, v in named.items(): v.f⟦f⟧()
    for k in named: k.f⟦?⟧()
    named.get(\"x\").f⟦f⟧()
    [a.f⟦f⟧() for a in named.values()]
    n, a = pair
    a.f⟦f⟧()
    made = [A⟦A⟧()]
    made[0].f⟦f⟧()
    next(iter(many)).f⟦f⟧()
",
    );
}

#[test]
fn properties_are_read_without_a_call() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
class B⟦=B⟧:
    @property
    def a⟦=a⟧(self) -> A⟦A⟧: ...
B⟦B⟧().a⟦a⟧.f⟦f⟧()
",
    );
}

#[test]
fn with_binds_what_enter_gives() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
    def __enter__(self): return self
class B⟦=B⟧:
    def __enter__(self) -> A⟦A⟧: ...
with A⟦A⟧() as a: a.f⟦f⟧()
with B⟦B⟧() as b: b.f⟦f⟧()
",
    );
}

#[test]
fn isinstance_narrows() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
def go(x):
    if isinstance(x, A⟦A⟧): x.f⟦f⟧()
",
    );
}

#[test]
fn a_callback_gets_what_its_callee_passes() {
    check(
        "--- a.py
from typing import Callable
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
Handler⟦=H⟧ = Callable[[A⟦A⟧], None]
def on⟦=on⟧(handler: Handler⟦H⟧): ...
on⟦on⟧(lambda a: a.f⟦f⟧())
",
    );
}

#[test]
fn an_overriding_method_gets_what_the_overridden_one_does() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
class Base⟦=B⟧:
    def handle(self, a: A⟦A⟧): ...
class C(Base⟦B⟧):
    def handle(self, a): a.f⟦f⟧()
",
    );
}

#[test]
fn a_cycle_of_types_ends_and_hides_nothing() {
    check(
        "--- a.py
class A⟦=A⟧:
    def f⟦=f⟧(self): ...
def one⟦=one⟧(n): return two⟦two⟧(n) if n else A⟦A⟧()
def two⟦=two⟧(n): return one⟦one⟧(n)
two⟦two⟧(1).f⟦f⟧()
one⟦one⟧(1).f⟦f⟧()
",
    );
}

#[test]
fn names_of_strangers_are_not_ours() {
    check("--- a.py\nimport os\nclass A:\n    def join⟦=j⟧(self): ...\nos.path.join⟦?⟧()\nunknown().join⟦?⟧()\n");
}

#[test]
fn imports_of_files() {
    check_imports(
        "--- pkg/__init__.py
from . import a
from .b import thing
--- pkg/a.py
--- pkg/b.py
from . import nothing
--- main.py
import pkg.a
import os
",
        &[
            "pkg/__init__.py -> pkg/a.py",
            "pkg/__init__.py -> pkg/b.py",
            "pkg/b.py -> pkg/__init__.py",
            "main.py -> pkg/a.py",
        ],
    );
}

#[test]
fn type_arguments_reach_members_of_the_class_and_of_its_bases() {
    check(
        "--- a.py
from typing import Generic, TypeVar
K = TypeVar('K')
T⟦=T⟧ = TypeVar('T')
class Item⟦=Item⟧:
    def price⟦=price⟧(self): ...
class Box⟦=Box⟧(Generic[K, T⟦T⟧]):
    value⟦=value⟧: T⟦T⟧
    def get⟦=get⟧(self) -> T⟦T⟧: ...
    def all⟦=all⟧(self) -> list[T⟦T⟧]: ...
class Items⟦=Items⟧(Box⟦Box⟧[str, Item⟦Item⟧]): ...
class New⟦=New⟧[U]:
    def first⟦=first⟧(self) -> U: ...
def same⟦=same⟧(one: T⟦T⟧) -> T⟦T⟧: ...
def f⟦=f⟧(box: Box⟦Box⟧[str, Item⟦Item⟧], items: Items⟦Items⟧, new: New⟦New⟧[Item⟦Item⟧], other: Box⟦Box⟧[Item⟦Item⟧, str]):
    box.value⟦value⟧.price⟦price⟧()
    box.get⟦get⟧().price⟦price⟧()
    items.get⟦get⟧().price⟦price⟧()
    for one in items.all⟦all⟧():
        one.price⟦price⟧()
    new.first⟦first⟧().price⟦price⟧()
    other.get⟦get⟧().price⟦?⟧()
",
    );
}

#[test]
fn an_object_made_from_self_is_of_its_class() {
    check(
        "--- a.py
import copy
from collections import deque
class Q⟦=Q⟧:
    def again⟦=again⟧(self):
        self.__class__().m⟦m⟧()
        return type(self)()
    def m⟦=m⟧(self): ...
    def chain(self):
        self.again⟦again⟧().m⟦m⟧()
        copy.copy(self).m⟦m⟧()
        for one in deque([self]): one.m⟦m⟧()
        max([self]).m⟦m⟧()
",
    );
}

#[test]
fn functions_assign_names_of_the_module() {
    check(
        "--- a.py
state⟦=state⟧ = None
class Item⟦=Item⟧:
    def go⟦=go⟧(self): ...
def start⟦=start⟧():
    global state⟦state⟧
    if state⟦state⟧ is None:
        state⟦state⟧ = Item⟦Item⟧()
    state⟦state⟧.go⟦go⟧()
def other⟦=other⟧():
    state = 1
    return state
",
    );
}

#[test]
fn branches_know_what_their_conditions_say() {
    check(
        "--- a.py
from collections import abc
from typing import TypeIs, TypeGuard
class Many⟦=Many⟧(dict):
    def items⟦=items⟧(self): ...
class Other⟦=Other⟧:
    def items⟦=other⟧(self): ...
def is_many⟦=is_many⟧(x: object) -> TypeIs[Many⟦Many⟧]: ...
def has_items⟦=has_items⟧(x: object) -> TypeGuard[Other⟦Other⟧]: ...
def declared(a: Many⟦Many⟧ | abc.Mapping[str, str], b: Many⟦Many⟧ | Other⟦Other⟧):
    if isinstance(a, Many⟦Many⟧): a.items⟦items⟧()
    elif isinstance(a, abc.Mapping): a.items⟦?⟧()
    else: a.items⟦?⟧()
    if isinstance(b, Many⟦Many⟧): b.items⟦items⟧()
    elif isinstance(b, Other⟦Other⟧): b.items⟦other⟧()
    c = b.items⟦items⟧() if isinstance(b, Many⟦Many⟧) else b.items⟦other⟧()
    isinstance(b, Other⟦Other⟧) and b.items⟦other⟧()
    not isinstance(b, Other⟦Other⟧) or b.items⟦other⟧()
    [one.items⟦other⟧() for one in [b] if isinstance(one, Other⟦Other⟧)]
    if is_many⟦is_many⟧(b): b.items⟦items⟧()
    else: b.items⟦other⟧()
    if not isinstance(b, Many⟦Many⟧):
        b = Many⟦Many⟧()
        return b.items⟦items,other⟧()
    b.items⟦items⟧()
def guarded(x, y: object):
    if is_many⟦is_many⟧(x): x.items⟦items⟧()
    elif has_items⟦has_items⟧(x): x.items⟦other⟧()
    assert has_items⟦has_items⟧(y)
    y.items⟦other⟧()
def matched(x):
    match x:
        case Many⟦Many⟧(): x.items⟦items⟧()
        case Other⟦Other⟧() as y if y.items⟦other⟧(): y.items⟦other⟧()
def both(x: Many⟦Many⟧):
    if isinstance(x, abc.Mapping):
        x.items⟦items⟧()
        y = x
    y.items⟦items⟧()
",
    );
}

#[test]
fn parameters_of_tests_mean_fixtures() {
    check(
        "--- conftest.py
import pytest
@pytest.fixture
def shop⟦=outer⟧(): ...
--- tests/conftest.py
import pytest
from pytest import fixture
@fixture(name='cart')
def make⟦=cart⟧(shop⟦outer⟧): ...
--- tests/unit/test_a.py
import pytest
@pytest.fixture()
def own⟦=own⟧(cart⟦cart⟧): ...
@pytest.fixture()
def shop⟦=inner⟧(): ...
def cart⟦=other⟧(): ...
class TestAll:
    def test_all(self, own⟦own⟧, shop⟦inner⟧, cart⟦cart⟧, none⟦?⟧):
        own(shop)
def helper(own): ...
",
    );
}

#[test]
fn brackets_after_a_called_class_are_its_type_arguments() {
    check(
        "--- a.py
class Queue⟦=Queue⟧:
    def get⟦=get⟧(self): ...
q⟦=q⟧ = Queue⟦Queue⟧[int]()
q⟦q⟧.get⟦get⟧()
",
    );
}

#[test]
fn a_class_that_is_named_is_none_of_those_below_it() {
    check(
        "--- a.py
class Base⟦=Base⟧(dict):
    @classmethod
    def make⟦=make⟧(cls):
        cls.sub⟦sub⟧()
class Sub⟦=Sub⟧(Base⟦Base⟧):
    def __init__⟦=init⟧(self):
        Base⟦Base⟧.__init__⟦?⟧(self)
    @classmethod
    def sub⟦=sub⟧(cls): ...
Base⟦Base⟧.sub⟦?⟧()
",
    );
}

#[test]
fn a_type_variable_stands_for_its_bound() {
    check(
        "--- a.py
from typing import TypeVar
class Stream⟦=Stream⟧:
    def read⟦=read⟧(self): ...
T⟦=T⟧ = TypeVar('T', bound=Stream⟦Stream⟧)
S⟦=S⟧ = TypeVar('S', bound='Stream⟦Stream⟧')
def f(a: T⟦T⟧, b: S⟦S⟧):
    a.read⟦read⟧()
    b.read⟦read⟧()
",
    );
}

#[test]
fn all_bases_of_the_first_base_come_before_the_second() {
    check(
        "--- a.py
class Old⟦=Old⟧:
    def f⟦=old⟧(self): ...
class First⟦=First⟧(Old⟦Old⟧): ...
class Second⟦=Second⟧:
    def f⟦=second⟧(self): ...
class Both⟦=Both⟧(First⟦First⟧, Second⟦Second⟧): ...
Both⟦Both⟧().f⟦old⟧()
class Top⟦=Top⟧:
    def g⟦=top⟧(self): ...
class Left⟦=Left⟧(Top⟦Top⟧): ...
class Right⟦=Right⟧(Top⟦Top⟧):
    def g⟦=right⟧(self): ...
class Diamond⟦=Diamond⟧(Left⟦Left⟧, Right⟦Right⟧): ...
Diamond⟦Diamond⟧().g⟦right⟧()
",
    );
}

#[test]
fn a_class_calls_what_it_names_anew() {
    check(
        "--- a.py
def unique⟦=unique⟧(): return 1
class Maker⟦=Maker⟧:
    unique⟦=own⟧ = unique⟦unique⟧()
Maker⟦Maker⟧.unique⟦own⟧
",
    );
}

#[test]
fn patterns_and_calls_name_the_fields_of_a_class() {
    check(
        "--- a.py
from dataclasses import dataclass
@dataclass
class Point⟦=Point⟧:
    x⟦=x⟧: int
    y⟦=y⟧: int = 0
class Plain⟦=Plain⟧:
    def __init__(self): self.x⟦=other⟧ = 1
def read(shape, x):
    match shape:
        case Point⟦Point⟧(x⟦x⟧=0, y⟦y⟧=yy): return yy
        case Plain⟦Plain⟧(x⟦other⟧=Point⟦Point⟧(x⟦x⟧=n)): return n
        case x: return x
    return Point⟦Point⟧(x⟦x⟧=1)
",
    );
}
