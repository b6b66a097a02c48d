import StarwatchCore
import Testing

/// CLDR's whole sample numbers for its rules, in CLDR's notation.
@Suite struct PluralRulesTests {
    struct Samples: Sendable, CustomTestStringConvertible {
        let language: String
        let category: PluralCategory
        let numbers: String

        init(_ language: String, _ category: PluralCategory, _ numbers: String) {
            (self.language, self.category, self.numbers) = (language, category, numbers)
        }

        var testDescription: String { "\(language) \(category)" }

        /// `2~4` is 2, 3, 4.
        var values: [Int] {
            numbers.split(separator: ", ").flatMap { part -> [Int] in
                let ends = part.split(separator: "~").map { Int($0)! }
                return Array(ends[0]...ends[ends.count - 1])
            }
        }
    }

    private static let millions = "1000000"
    private static let thousands = "100, 1000, 10000, 100000"
    private static let ones = "1, 21, 31, 41, 51, 61, 71, 81, 101, 1001"
    private static let fews = "2~4, 22~24, 32~34, 42~44, 52~54, 62, 102, 1002"
    private static let manys = "0, 5~19, 100, 1000, 10000, 100000, 1000000"

    static let samples: [Samples] = [
        .init("ja", .other, "0~15, 100, 1000, 10000, 100000, 1000000"),
        .init("en", .one, "1"),
        .init("en", .other, "0, 2~16, 100, 1000, 10000, 100000, 1000000"),
        .init("pl", .one, "1"),
        .init("pl", .few, fews),
        .init("pl", .many, manys),
        .init("tr", .one, "1"),
        .init("tr", .other, "0, 2~16, 100, 1000000"),
        .init("da", .one, "1"),
        .init("da", .other, "0, 2~16, 100, 1000000"),
        .init("fr", .one, "0, 1"),
        .init("fr", .many, millions),
        .init("fr", .other, "2~17, " + thousands),
        .init("pt", .one, "0, 1"),
        .init("pt", .many, millions),
        .init("pt", .other, "2~17, " + thousands),
        .init("pt-PT", .one, "1"),
        .init("it", .one, "1"),
        .init("it", .many, millions),
        .init("it", .other, "0, 2~16, " + thousands),
        .init("es", .one, "1"),
        .init("es", .many, millions),
        .init("es", .other, "0, 2~16, " + thousands),
        .init("ru", .one, ones),
        .init("ru", .few, fews),
        .init("ru", .many, manys),
        .init("cs", .one, "1"),
        .init("cs", .few, "2~4"),
        .init("cs", .other, manys),
        .init("ar", .zero, "0"),
        .init("ar", .one, "1"),
        .init("ar", .two, "2"),
        .init("ar", .few, "3~10, 103~110, 1003"),
        .init("ar", .many, "11~26, 111, 1011"),
        .init("ar", .other, "100~102, 200~202, 300~302, 600, 1000, 1000000"),
        .init("he", .one, "1"),
        .init("he", .two, "2"),
        .init("he", .many, "20, 30, 40, 50, 60, 70, 80, 90, 100, 1000, 10000, 100000, 1000000"),
        .init("he", .other, "0, 3~17, 101, 1001"),
        .init("ro", .one, "1"),
        .init("ro", .few, "0, 2~16, 102, 1002"),
        .init("ro", .other, "20~35, 100, 1000, 10000, 100000, 1000000"),
        .init("hr", .one, ones),
        .init("hr", .few, fews),
        .init("hr", .other, manys),
        .init("lt", .one, ones),
        .init("lt", .few, "2~9, 22~29, 102, 1002"),
        .init("lt", .other, "0, 10~20, 30, 40, 50, 60, 100, 1000000"),
        .init("lv", .zero, "0, 10~20, 30, 40, 50, 60, 100, 1000000"),
        .init("lv", .one, ones),
        .init("lv", .other, "2~9, 22~29, 102, 1002"),
        .init("sl", .one, "1, 101, 201, 301, 401, 501, 601, 701, 1001"),
        .init("sl", .two, "2, 102, 202, 302, 402, 502, 602, 702, 1002"),
        .init("sl", .few, "3, 4, 103, 104, 203, 204, 703, 704, 1003"),
        .init("sl", .other, manys),
    ]

    @Test(arguments: samples)
    func everyPublishedNumberHasItsCategory(_ sample: Samples) throws {
        let rules = try #require(LocaleTag(sample.language).flatMap { PluralRules($0) })
        for number in sample.values {
            #expect(rules.category(of: number) == sample.category, "\(number)")
        }
    }

    @Test func everyRuleSetHasSamples() {
        let tested = Set(Self.samples.compactMap { LocaleTag($0.language).flatMap { PluralRules($0) } })
        #expect(tested == Set(PluralRules.allCases))
    }

    @Test func unknownLanguagesHaveNoRules() throws {
        #expect(LocaleTag("tlh").flatMap { PluralRules($0) } == nil)
        #expect(LocaleTag("PL_pl").flatMap { PluralRules($0) } == .polish)
    }
}
