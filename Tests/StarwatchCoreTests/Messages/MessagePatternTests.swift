import StarwatchCore
import Testing

@Suite struct MessagePatternTests {
    private func format(
        _ text: String,
        _ arguments: [String: MessageArgument] = [:],
        _ rules: PluralRules = .english
    ) throws -> String {
        try MessagePattern(text).format(arguments, rules)
    }

    @Test func variablesAreFilledIn() throws {
        #expect(try format("{name} has {count}", ["name": .text("Ann {x}"), "count": .number(3)]) == "Ann {x} has 3")
        #expect(try format("{ name }!", ["name": .text("Ann")]) == "Ann!")
        #expect(try format("") == "")
    }

    @Test func aVariableWithoutAValueStaysVisible() throws {
        #expect(try format("{name} is here") == "{name} is here")
    }

    @Test(arguments: [(0, "none"), (1, "just one"), (2, "2 of them"), (12, "12 of them")])
    func exactNumbersPrecedePluralCategories(_ count: Int, _ text: String) throws {
        let pattern = "{n, plural, =0 {none} =1{just one} one {# thing} other {# of them}}"
        #expect(try format(pattern, ["n": .number(count)]) == text)
    }

    @Test(arguments: [(1, "1 plik"), (3, "3 pliki"), (5, "5 plików"), (22, "22 pliki")])
    func pluralsFollowTheLanguage(_ count: Int, _ text: String) throws {
        let pattern = "{n, plural, one {# plik} few {# pliki} many {# plików} other {# pliku}}"
        #expect(try format(pattern, ["n": .number(count)], .polish) == text)
    }

    @Test func selectUsesTheMatchingBranchOrOther() throws {
        let pattern = "{who, select, her {she} him {he} other {they}} came"
        #expect(try format(pattern, ["who": .text("him")]) == "he came")
        #expect(try format(pattern, ["who": .text("nobody")]) == "they came")
        #expect(try format(pattern) == "they came")
    }

    @Test func branchesNest() throws {
        let pattern = "{who, select, me {{n, plural, one {my # thing} other {my # things}}} other {{who}: {n}}}"
        #expect(try format(pattern, ["who": .text("me"), "n": .number(2)]) == "my 2 things")
        #expect(try format(pattern, ["who": .text("Ann"), "n": .number(2)]) == "Ann: 2")
    }

    /// As in ICU, the number belongs to the directly enclosing plural.
    @Test func numberSignsAreSpecialOnlyInPlurals() throws {
        #expect(try format("# {n}", ["n": .number(2)]) == "# 2")
        let pattern = "{n, plural, other {{w, select, other {# in a select}}, # outside}}"
        #expect(try format(pattern, ["n": .number(2)]) == "# in a select, 2 outside")
    }

    @Test(arguments: [
        ("it's", "it's"), ("it''s", "it's"), ("'{name}'", "{name}"), ("'{' and '}'", "{ and }"),
        ("'{it''s}'", "{it's}"), ("a 'b' c", "a 'b' c"), ("'{open", "{open"), ("{n, plural, other {'#'#}}", "#2"),
        ("'#'", "'#'"), ("end'", "end'"),
    ])
    func apostrophesQuote(_ pattern: String, _ text: String) throws {
        #expect(try format(pattern, ["n": .number(2)]) == text)
    }

    @Test(arguments: [
        ("{", 2), ("}", 1), ("a}", 2), ("{}", 2), ("{a", 3), ("{a b}", 4), ("{a,}", 4), ("{a, plural}", 11),
        ("{a, number}", 11), ("{a, number, x}", 5), ("{a, plural, one {x}}", 21),
        ("{a, plural, some {x} other {y}}", 13),
        ("{a, plural, other {x} other {y}}", 23), ("{a, plural, =x {y} other {z}}", 13),
        ("{a, plural, offset:1 other {x}}", 13), ("{a, select, b {x}}", 19), ("{a, plural, other {x}", 22),
        ("{a, plural, other x}", 19), ("{a, plural, =1 {x} =1 {y} other {z}}", 20),
        ("{a, select, b {x} b {y} other {z}}", 19), ("{é}", 2),
    ])
    func errorsHaveTheirPosition(_ pattern: String, _ position: Int) {
        let error = #expect(throws: MessageError.self) { try MessagePattern(pattern) }
        #expect(error?.position == position, "\(error.debugDescription)")
    }

    @Test func nestingIsLimited() {
        let deep = String(repeating: "{a, select, other {", count: 9) + String(repeating: "}}", count: 9)
        #expect(throws: MessageError.self) { try MessagePattern(deep) }
        let endless = String(repeating: "{a, select, other {", count: 100_000)
        #expect(throws: MessageError.self) { try MessagePattern(endless) }
    }

    @Test func usesOfVariablesAreListed() throws {
        let pattern = try MessagePattern("{a} {b, plural, one {{c}} other {#}} {d, select, other {}}")
        #expect(pattern.uses == ["a": [.value], "b": [.plural], "c": [.value], "d": [.select]])
    }

    /// Any text gives a message or an error, and any message gives a text.
    @Test(.timeLimit(.minutes(5))) func arbitraryTextNeverTraps() throws {
        var random = SplitMix64(seed: 7)
        let pieces = ["{", "}", "'", "#", ",", "plural", "select", "other", "one", "=1", " ", "n", "x", "é", "🌻"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            guard let pattern = try? MessagePattern(text) else { continue }
            _ = pattern.format(["n": .number(1), "x": .text("y")], .english)
        }
    }
}
