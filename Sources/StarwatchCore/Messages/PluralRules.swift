/// CLDR's plural rules for cardinal numbers, one case for each set of rules.
public enum PluralRules: Sendable, CaseIterable {
    case uniform, english, oneIsOne, danish, french, portuguese, italian, spanish
    case polish, russian, czech, arabic, hebrew, romanian, croatian, lithuanian, latvian, slovenian

    private static let languages: [String: PluralRules] = [
        "id": .uniform, "ja": .uniform, "ko": .uniform, "ms": .uniform, "th": .uniform, "vi": .uniform, "zh": .uniform,
        "de": .english, "en": .english, "et": .english, "fi": .english, "nl": .english, "sv": .english,
        "bg": .oneIsOne, "el": .oneIsOne, "eo": .oneIsOne, "eu": .oneIsOne, "hu": .oneIsOne, "nb": .oneIsOne,
        "nn": .oneIsOne, "no": .oneIsOne, "tr": .oneIsOne,
        "da": .danish, "fr": .french, "pt": .portuguese, "ca": .italian, "it": .italian, "es": .spanish,
        "pl": .polish, "ru": .russian, "uk": .russian, "cs": .czech, "sk": .czech, "ar": .arabic, "he": .hebrew,
        "ro": .romanian, "bs": .croatian, "hr": .croatian, "sr": .croatian, "lt": .lithuanian, "lv": .latvian,
        "sl": .slovenian,
    ]

    /// The rules of a locale's language; `nil` for an unknown language.
    public init?(_ locale: LocaleTag) {
        // Portugal uses the rules of Italian.
        if locale.parts.prefix(2) == ["pt", "pt"] {
            self = .italian
        } else if let rules = Self.languages[locale.language] {
            self = rules
        } else {
            return nil
        }
    }

    /// The category of a whole number.
    public func category(of number: Int) -> PluralCategory { category(of: PluralOperands(number)) }

    /// The category of a displayed number.
    public func category(of x: PluralOperands) -> PluralCategory {
        switch self {
        case .uniform: .other
        case .english: x.i == 1 && x.v == 0 ? .one : .other
        case .oneIsOne: x.n(1...1) ? .one : .other
        case .danish: x.n(1...1) || (x.t != 0 && x.i <= 1) ? .one : .other
        case .french, .portuguese: x.i <= 1 ? .one : Self.isMillions(x) ? .many : .other
        case .italian: x.i == 1 && x.v == 0 ? .one : Self.isMillions(x) ? .many : .other
        case .spanish: x.n(1...1) ? .one : Self.isMillions(x) ? .many : .other
        case .polish: Self.polish(x)
        case .russian: Self.russian(x)
        case .czech: x.v != 0 ? .many : x.i == 1 ? .one : (2...4).contains(x.i) ? .few : .other
        case .arabic: Self.arabic(x)
        case .hebrew: Self.hebrew(x)
        case .romanian:
            x.i == 1 && x.v == 0 ? .one : x.v != 0 || x.n(0...0) || x.n(mod: 100, 2...19) ? .few : .other
        case .croatian: Self.croatian(x)
        case .lithuanian: Self.lithuanian(x)
        case .latvian: Self.latvian(x)
        case .slovenian: Self.slovenian(x)
        }
    }

    private static func isMillions(_ x: PluralOperands) -> Bool {
        x.e > 5 || (x.e == 0 && x.i != 0 && x.i(mod: 1_000_000, 0...0))
    }

    private static func polish(_ x: PluralOperands) -> PluralCategory {
        if x.v != 0 { return .other }
        if x.i == 1 { return .one }
        return x.i(mod: 10, 2...4) && !x.i(mod: 100, 12...14) ? .few : .many
    }

    private static func russian(_ x: PluralOperands) -> PluralCategory {
        if x.v != 0 { return .other }
        if x.i(mod: 10, 1...1), !x.i(mod: 100, 11...11) { return .one }
        return x.i(mod: 10, 2...4) && !x.i(mod: 100, 12...14) ? .few : .many
    }

    private static func arabic(_ x: PluralOperands) -> PluralCategory {
        if x.n(0...0) { return .zero }
        if x.n(1...1) { return .one }
        if x.n(2...2) { return .two }
        if x.n(mod: 100, 3...10) { return .few }
        return x.n(mod: 100, 11...99) ? .many : .other
    }

    private static func hebrew(_ x: PluralOperands) -> PluralCategory {
        if x.v != 0 { return .other }
        if x.i == 1 { return .one }
        if x.i == 2 { return .two }
        return x.i > 10 && x.i % 10 == 0 ? .many : .other
    }

    private static func croatian(_ x: PluralOperands) -> PluralCategory {
        // The last displayed digits decide, before or after the point.
        let last = x.v == 0 ? x.i : x.f
        if last % 10 == 1, last % 100 != 11 { return .one }
        return (2...4).contains(last % 10) && !(12...14).contains(last % 100) ? .few : .other
    }

    private static func lithuanian(_ x: PluralOperands) -> PluralCategory {
        if x.f != 0 { return .many }
        if x.n(mod: 100, 11...19) { return .other }
        return x.n(mod: 10, 1...1) ? .one : x.n(mod: 10, 2...9) ? .few : .other
    }

    private static func latvian(_ x: PluralOperands) -> PluralCategory {
        if x.n(mod: 10, 0...0) || x.n(mod: 100, 11...19) || (x.v == 2 && (11...19).contains(x.f % 100)) { return .zero }
        if x.n(mod: 10, 1...1) { return .one }
        let isOne = x.v == 2 ? x.f % 10 == 1 && x.f % 100 != 11 : x.f % 10 == 1
        return isOne ? .one : .other
    }

    private static func slovenian(_ x: PluralOperands) -> PluralCategory {
        if x.v != 0 { return .few }
        switch x.i % 100 {
        case 1: return .one
        case 2: return .two
        case 3, 4: return .few
        default: return .other
        }
    }
}
