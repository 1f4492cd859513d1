//! Name resolution of PHP.

use crate::facts::{ClassNames, Effect, IterationItem, OutsideCalls, Semantics};
use crate::languages::namespaces::Namespaces;

/// Name resolution of PHP.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Hidden,
    looks_down: true,
    includes: true,
    call: &["__invoke()"],
    element: &[("offsetGet()", false), ("current()", false), ("getIterator()", true)],
    each: IterationItem::Last,
    enter: &[],
    constructor: super::classes::CONSTRUCTOR,
    constructs: "",
    any_key: "",
    lends: false,
    shallowest: false,
    gives_argument: false,
    typed: false,
    outside_calls: OutsideCalls::Inferred,
    calls_tell: false,
    default_export: "",
    splits_types: false,
    functions: &[
        ("array_filter()", Effect::Same),
        ("array_merge()", Effect::Same),
        ("array_pop()", Effect::Element),
        ("array_reverse()", Effect::Same),
        ("array_shift()", Effect::Element),
        ("array_slice()", Effect::Same),
        ("array_unique()", Effect::Same),
        ("array_values()", Effect::Values),
        ("current()", Effect::Element),
        ("end()", Effect::Element),
        ("reset()", Effect::Element),
    ],
    methods: &[],
    above: &[],
    other_methods: None,
    modules: |project| Box::new(Namespaces::new(project, "\\")),
};
