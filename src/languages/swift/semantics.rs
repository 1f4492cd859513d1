//! Name resolution of Swift.

use super::modules::Targets;
use crate::facts::{ClassNames, Effect, IterationItem, Semantics};

/// Name resolution of Swift.
pub static SEMANTICS: Semantics = Semantics {
    class_names: ClassNames::Inherited,
    looks_down: false,
    includes: true,
    call: &["callAsFunction"],
    element: &[(super::members::SUBSCRIPT, false), ("makeIterator", true)],
    each: IterationItem::Pair,
    enter: &[],
    constructor: super::members::CONSTRUCTOR,
    constructs: "",
    any_key: "",
    shallowest: false,
    gives_argument: false,
    default_export: "",
    splits_types: false,
    functions: &[("max", Effect::Same), ("min", Effect::Same), ("zip", Effect::Wrap)],
    methods: &[
        ("dropFirst", Effect::Same),
        ("dropLast", Effect::Same),
        ("filter", Effect::Same),
        ("lazy", Effect::Same),
        ("prefix", Effect::Same),
        ("reversed", Effect::Same),
        ("shuffled", Effect::Same),
        ("sorted", Effect::Same),
        ("suffix", Effect::Same),
        ("union", Effect::Same),
        ("first", Effect::Element),
        ("last", Effect::Element),
        ("max", Effect::Element),
        ("min", Effect::Element),
        ("popFirst", Effect::Element),
        ("popLast", Effect::Element),
        ("randomElement", Effect::Element),
        ("remove", Effect::Element),
        ("removeFirst", Effect::Element),
        ("removeLast", Effect::Element),
        ("removeValue", Effect::Element),
        ("get", Effect::Key),
        ("compactMap", Effect::Map),
        ("map", Effect::Map),
        ("keys", Effect::Keys),
        ("values", Effect::Values),
        ("enumerated", Effect::Numbered),
    ],
    above: &[
        ("Array", COLLECTIONS),
        ("ArraySlice", COLLECTIONS),
        ("Data", COLLECTIONS),
        ("String", TEXTS),
        ("Substring", TEXTS),
        ("Dictionary", &["Sequence", "Collection"]),
        ("Set", &["Sequence", "Collection"]),
        ("Int", INTEGERS),
        ("UInt", INTEGERS),
        ("UInt8", INTEGERS),
        ("UInt16", INTEGERS),
        ("UInt32", INTEGERS),
        ("UInt64", INTEGERS),
        ("Double", FLOATS),
        ("Float", FLOATS),
        ("CGFloat", FLOATS),
        ("Codable", &["Encodable", "Decodable"]),
        ("Comparable", &["Equatable"]),
        ("Hashable", &["Equatable"]),
        ("LocalizedError", &["Error"]),
    ],
    other_methods: None,
    modules: |project| Box::new(Targets::new(project)),
};

const COLLECTIONS: &[&str] = &[
    "Sequence",
    "Collection",
    "BidirectionalCollection",
    "RandomAccessCollection",
    "MutableCollection",
    "RangeReplaceableCollection",
];
const TEXTS: &[&str] =
    &["StringProtocol", "Sequence", "Collection", "BidirectionalCollection", "RangeReplaceableCollection"];
const INTEGERS: &[&str] = &["BinaryInteger", "FixedWidthInteger", "Numeric", "Comparable", "Equatable", "Hashable"];
const FLOATS: &[&str] = &["BinaryFloatingPoint", "FloatingPoint", "Numeric", "Comparable", "Equatable", "Hashable"];
