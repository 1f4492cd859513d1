//! Lua: functions, also those that are given to a name, and the values of modules.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "lua",
    extensions: &["lua"],
    interpreters: &["lua", "luajit", "texlua"],
    grammar: grammar!("lua", tree_sitter_lua, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_declaration"]),
        (
            Rule::BySign {
                signs: &[
                    ("expression_list/value:function_definition", Kind::Function, Detail::Function),
                    ("../variable_declaration", Kind::Constant, Detail::Variable),
                ],
                name: "variable_list/name",
                body: "expression_list/value:function_definition/body",
            },
            &["assignment_statement"],
        ),
        (
            Rule::BySign {
                signs: &[("value:function_definition", Kind::Function, Detail::Function)],
                name: "name:identifier",
                body: "value:function_definition/body",
            },
            &["field"],
        ),
        (
            Rule::Branch,
            &["if_statement", "elseif_statement", "while_statement", "repeat_statement", "for_statement", "and", "or"],
        ),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments {
        line: &["--"],
        block: &[("--[[", "]]"), ("--[=[", "]=]")],
        silent: &["---@diagnostic", "-- luacheck", "--luacheck"],
        ..Comments::NONE
    },
    around: &["variable_declaration"],
    qualified: &[("dot_index_expression", "table", "field"), ("method_index_expression", "table", "method")],
    conventions: &Conventions {
        starts: &[(Kind::Function, "main")],
        constructors: &["new"],
        tests: &["test"],
        test_files: &["*_spec", "*_test", "test_*", "*.spec", "*.test"],
        public: Public::Unless("_"),
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};
