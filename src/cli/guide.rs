//! Texts that tell agents about the commands: the skill, the sub-agent, and the section for an instructions file. They
//! share one table of examples with the help.

use crate::setup::Texts;

/// Examples in the help and in the texts for agents: command, arguments and purpose.
pub(super) const EXAMPLES: [(&str, &str, &str); 5] = [
    ("search", "\"round up a total\"", "a question or an issue, in its words: where to look"),
    ("refs", "Cart.total", "every use, with its line"),
    ("calls", "Cart.total", "who calls it; --callees: what it calls"),
    ("outline", "shop/cart.py Cart", "what a file or a class defines"),
    ("get", "Cart.total", "source; also of a place: shop/cart.py:12"),
];

const DESCRIPTION: &str = "Finds the code that a question or an issue is about, and definitions, uses and callers of a name, from an index \
    of the repository. Start with it for \"which files does this change\", \"where is the code that does X\" and who uses or calls what.";

/// The facts at the end of every text, and when to use something else.
const FACTS: &str = "A symbol is a name, `Owner.name`, `path:line` or an id; narrow it with `kind:`, `lang:` and `file:`. Uses that cannot \
    be resolved are listed separately, as possible. For one known file or one exact text use `sed` or `rg`: they are \
    cheaper.";

/// The section for a file of instructions, in five lines: it is read in every session and by every sub-agent.
const GUIDE: &str = "## Finding code

Before you search or read files, ask codelode, which has an index of the repository, with its MCP tools or in a shell; sub-agents too:

- where the code for a question or an issue is: `codelode search \"round up a total\"`
- who uses or calls a name: `codelode refs Cart.total`, `codelode calls Cart.total`
- what a file or a class defines, and source: `codelode outline shop/cart.py Cart`, `codelode get Cart.total`

Not for one known file or one exact text: `sed` and `rg` are cheaper.
";

/// The examples, one per line.
pub(super) fn examples() -> String {
    let lines = EXAMPLES.map(|(command, arguments, purpose)| {
        let line = format!("codelode {command} {arguments}");
        format!("{line:36} # {purpose}\n")
    });
    lines.concat()
}

/// The example of a command.
pub(super) fn example_of(command: &str) -> Option<String> {
    let (_, arguments, _) = EXAMPLES.iter().find(|(name, ..)| *name == command)?;
    Some(format!("Example: codelode {command} {arguments}"))
}

/// All texts.
pub(super) fn texts() -> Texts {
    let examples = examples();
    Texts {
        skill: format!(
            "---\nname: codelode\ndescription: {DESCRIPTION}\n---\n\nThe MCP tools of the server `codelode`, or in a \
             shell:\n\n```sh\n{examples}```\n\n{FACTS}\n"
        ),
        agent: format!(
            "---\nname: codelode\ndescription: Searches a repository by name or by description and reports places with their \
             signatures. Use it to find where something is defined, who uses or calls it, and which code does X.\n---\n\nYou find code \
             and report where it is; you change nothing. Ask the index before you read files: with the MCP tools of the server \
             `codelode`, or in a shell:\n\n```sh\n{examples}```\n\n{FACTS}\n\nAnswer with `path:line`, the signature, and a sentence on each place \
             that matters. Read a file only for what an outline and a symbol's source leave open.\n"
        ),
        guide: GUIDE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codelode_service::answer::tokens;

    #[test]
    fn each_text_has_all_examples_and_says_when_not_in_few_tokens() {
        let Texts { skill, agent, guide } = texts();
        for (text, most) in [(skill, 400), (agent, 400), (guide, 200)] {
            assert!(tokens::estimate(&text) <= most, "{} tokens: {text}", tokens::estimate(&text));
            for (command, arguments, _) in EXAMPLES {
                assert!(text.contains(&format!("codelode {command} {arguments}")), "{command} is not in {text}");
            }
            let when_not = ["one known file or one exact text", "`sed`", "`rg`", "cheaper"];
            assert!(when_not.iter().all(|words| text.contains(words)), "it does not say when not: {text}");
        }
        let lines = texts().guide.lines().skip(1).filter(|line| !line.is_empty()).count();
        assert_eq!(lines, 5, "every session reads them");
    }

    #[test]
    fn the_plugin_holds_the_same_texts() {
        let plugin = |path: &str| expect_test::expect_file![format!("../../editors/claude-code/{path}")];
        plugin("skills/codelode/SKILL.md").assert_eq(&texts().skill);
        plugin("agents/codelode.md").assert_eq(&texts().agent);
        // A separate test runs the manual's commands.
        let manual = include_str!("../../docs/agents.md");
        assert!(manual.contains(&examples()), "docs/agents.md has other examples than\n{}", examples());
        assert!(manual.contains(GUIDE), "docs/agents.md has other instructions than\n{GUIDE}");
    }
}
