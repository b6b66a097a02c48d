import StarwatchCore

extension FuzzTarget {
    /// A digest's content is read or refused; a text that is filled from it is filled in one go.
    static let content = FuzzTarget(
        name: "content",
        words: [
            "{", "}", "[", "]", ",", ":", "\"", "null", "true", "false", "1e999", "-0.5", "9223372036854775808",
            "\"items\":", "\"title\":", "\"count\":", "\"{{count}}\"", "\\u0000", "\\ud83d",
        ],
        tries: 8000
    ) { input in
        let template = TextTemplate("{{count}} of {{ items.0.title }}: {{items.1}}, {{title}} {{")
        _ = DigestContent.isNothing(input)
        guard let content = DigestContent(json: input) else { return nil }
        func value(_ path: String, _ written: String) -> String { content[path] ?? written }
        let expected =
            value("count", "{{count}}") + " of " + value("items.0.title", "{{ items.0.title }}") + ": "
            + value("items.1", "{{items.1}}") + ", " + value("title", "{{title}}") + " {{"
        return template.render(content).text == expected ? nil : "not filled in one go"
    }
}
