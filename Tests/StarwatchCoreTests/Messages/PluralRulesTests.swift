import StarwatchCore
import Testing

/// CLDR's sample numbers for its rules, in CLDR's notation.
@Suite struct PluralRulesTests {
    struct Samples: Sendable, CustomTestStringConvertible {
        let language: String
        let category: PluralCategory
        let numbers: String

        init(_ language: String, _ category: PluralCategory, _ numbers: String) {
            (self.language, self.category, self.numbers) = (language, category, numbers)
        }

        var testDescription: String { "\(language) \(category)" }

        /// `2~4` is 2, 3, 4; `0.0~0.3` has steps of 0.1.
        var texts: [String] {
            numbers.split(separator: ", ").flatMap { part -> [String] in
                let ends = part.split(separator: "~").map(String.init)
                guard ends.count == 2 else { return ends }
                let fraction = ends[0].split(separator: ".").dropFirst().first?.count ?? 0
                func units(_ text: String) -> Int { Int(text.replacing(".", with: ""))! }
                return (units(ends[0])...units(ends[1])).map { value in
                    guard fraction > 0 else { return String(value) }
                    let digits = String(value)
                    let padded = String(repeating: "0", count: max(0, fraction + 1 - digits.count)) + digits
                    return padded.dropLast(fraction) + "." + padded.suffix(fraction)
                }
            }
        }
    }

    private static let round = "10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0"
    private static let millions = "1000000, 1c6, 2c6, 6c6, 1.0000001c6, 1.1c6, 3.1c6"
    private static let thousands = "100, 1000, 10000, 100000, 1c3, 6c3, 1.0001c3, 3.1c3"
    private static let ones = "1, 21, 31, 41, 51, 61, 71, 81, 101, 1001"
    private static let fews = "2~4, 22~24, 32~34, 42~44, 52~54, 62, 102, 1002"
    private static let manys = "0, 5~19, 100, 1000, 10000, 100000, 1000000"

    static let samples: [Samples] = [
        .init("ja", .other, "0~15, 100, 1000, 10000, 100000, 1000000, 0.0~1.5, " + round),
        .init("en", .one, "1"),
        .init("en", .other, "0, 2~16, 100, 1000, 10000, 100000, 1000000, 0.0~1.5, " + round),
        .init("pl", .one, "1"),
        .init("pl", .few, fews),
        .init("pl", .many, manys),
        .init("pl", .other, "0.0~1.5, " + round),
        .init("tr", .one, "1, 1.0, 1.00, 1.000, 1.0000"),
        .init("tr", .other, "0, 2~16, 100, 1000000, 0.0~0.9, 1.1~1.6, " + round),
        .init("da", .one, "1, 0.1~1.6"),
        .init("da", .other, "0, 2~16, 100, 1000000, 0.0, 2.0~3.4, " + round),
        .init("fr", .one, "0, 1, 0.0~1.5"),
        .init("fr", .many, millions),
        .init("fr", .other, "2~17, 2.0~3.5, " + thousands + ", " + round),
        .init("pt", .one, "0, 1, 0.0~1.5"),
        .init("pt", .many, millions),
        .init("pt", .other, "2~17, 2.0~3.5, " + thousands + ", " + round),
        .init("pt-PT", .one, "1"),
        .init("it", .one, "1"),
        .init("it", .many, millions),
        .init("it", .other, "0, 2~16, 0.0~1.5, " + thousands + ", " + round),
        .init("es", .one, "1, 1.0, 1.00, 1.000, 1.0000"),
        .init("es", .many, millions),
        .init("es", .other, "0, 2~16, 0.0~0.9, 1.1~1.6, " + thousands + ", " + round),
        .init("ru", .one, ones),
        .init("ru", .few, fews),
        .init("ru", .many, manys),
        .init("ru", .other, "0.0~1.5, " + round),
        .init("cs", .one, "1"),
        .init("cs", .few, "2~4"),
        .init("cs", .many, "0.0~1.5, " + round),
        .init("cs", .other, manys),
        .init("ar", .zero, "0, 0.0, 0.00, 0.000, 0.0000"),
        .init("ar", .one, "1, 1.0, 1.00, 1.000, 1.0000"),
        .init("ar", .two, "2, 2.0, 2.00, 2.000, 2.0000"),
        .init("ar", .few, "3~10, 103~110, 1003, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 103.0, 1003.0"),
        .init("ar", .many, "11~26, 111, 1011, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 111.0, 1011.0"),
        .init("ar", .other, "100~102, 200~202, 300~302, 600, 1000, 1000000, 0.1~0.9, 1.1~1.7, 10.1, 100.0, 1000.0"),
        .init("he", .one, "1"),
        .init("he", .two, "2"),
        .init("he", .many, "20, 30, 40, 50, 60, 70, 80, 90, 100, 1000, 10000, 100000, 1000000"),
        .init("he", .other, "0, 3~17, 101, 1001, 0.0~1.5, " + round),
        .init("ro", .one, "1"),
        .init("ro", .few, "0, 2~16, 102, 1002, 0.0~1.5, " + round),
        .init("ro", .other, "20~35, 100, 1000, 10000, 100000, 1000000"),
        .init("hr", .one, ones + ", 0.1, 1.1, 2.1, 3.1, 7.1, 10.1, 100.1, 1000.1"),
        .init("hr", .few, fews + ", 0.2~0.4, 1.2~1.4, 2.2~2.4, 5.2, 10.2, 100.2, 1000.2"),
        .init("hr", .other, manys + ", 0.0, 0.5~1.0, 1.5~2.0, 2.5~2.7, " + round),
        .init("lt", .one, ones + ", 1.0, 21.0, 31.0, 101.0, 1001.0"),
        .init("lt", .few, "2~9, 22~29, 102, 1002, 2.0, 3.0, 9.0, 22.0, 102.0, 1002.0"),
        .init("lt", .many, "0.1~0.9, 1.1~1.7, 10.1, 100.1, 1000.1"),
        .init("lt", .other, "0, 10~20, 30, 40, 50, 60, 100, 1000000, 0.0, 11.0, 16.0, " + round),
        .init("lv", .zero, "0, 10~20, 30, 40, 50, 60, 100, 1000000, 0.0, 11.0, 16.0, " + round),
        .init("lv", .one, ones + ", 0.1, 1.0, 1.1, 2.1, 7.1, 10.1, 100.1, 1000.1"),
        .init("lv", .other, "2~9, 22~29, 102, 1002, 0.2~0.9, 1.2~1.9, 10.2, 100.2, 1000.2"),
        .init("sl", .one, "1, 101, 201, 301, 401, 501, 601, 701, 1001"),
        .init("sl", .two, "2, 102, 202, 302, 402, 502, 602, 702, 1002"),
        .init("sl", .few, "3, 4, 103, 104, 203, 204, 703, 704, 1003, 0.0~1.5, " + round),
        .init("sl", .other, manys),
    ]

    @Test(arguments: samples)
    func everyPublishedNumberHasItsCategory(_ sample: Samples) throws {
        let rules = try #require(LocaleTag(sample.language).flatMap { PluralRules($0) })
        for text in sample.texts {
            let operands = try #require(PluralOperands(text), "\(text)")
            #expect(rules.category(of: operands) == sample.category, "\(text)")
            if let number = Int(text) {
                #expect(rules.category(of: number) == sample.category)
            }
        }
    }

    @Test func everyRuleSetHasSamples() {
        let tested = Set(Self.samples.compactMap { LocaleTag($0.language).flatMap { PluralRules($0) } })
        #expect(tested == Set(PluralRules.allCases))
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "1c", "1c99", "x", "1.2.3", "1234567890123456789"])
    func invalidNumbersHaveNoOperands(_ text: String) {
        #expect(PluralOperands(text) == nil)
    }

    @Test func unknownLanguagesHaveNoRules() throws {
        #expect(LocaleTag("tlh").flatMap { PluralRules($0) } == nil)
        #expect(LocaleTag("PL_pl").flatMap { PluralRules($0) } == .polish)
    }
}
