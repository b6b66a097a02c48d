/// CLDR's plural rules for whole cardinal numbers, one case for each set of rules.
public enum PluralRules: Sendable, CaseIterable {
    case uniform, english, french, italian
    case polish, russian, czech, arabic, hebrew, romanian, croatian, lithuanian, latvian, slovenian

    private static let languages: [String: PluralRules] = [
        "id": .uniform, "ja": .uniform, "ko": .uniform, "ms": .uniform, "th": .uniform, "vi": .uniform, "zh": .uniform,
        "de": .english, "en": .english, "et": .english, "fi": .english, "nl": .english, "sv": .english,
        "bg": .english, "el": .english, "eo": .english, "eu": .english, "hu": .english, "nb": .english, "nn": .english,
        "no": .english, "tr": .english, "da": .english,
        "fr": .french, "pt": .french, "ca": .italian, "it": .italian, "es": .italian,
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
    public func category(of number: Int) -> PluralCategory {
        let n = number.magnitude
        let (ten, hundred) = (n % 10, n % 100)
        let isOne = ten == 1 && hundred != 11
        let isFew = (2...4).contains(ten) && !(12...14).contains(hundred)
        let isMillions = n != 0 && n % 1_000_000 == 0
        return switch self {
        case .uniform: .other
        case .english: n == 1 ? .one : .other
        case .french: n <= 1 ? .one : isMillions ? .many : .other
        case .italian: n == 1 ? .one : isMillions ? .many : .other
        case .polish: n == 1 ? .one : isFew ? .few : .many
        case .russian: isOne ? .one : isFew ? .few : .many
        case .croatian: isOne ? .one : isFew ? .few : .other
        case .czech: n == 1 ? .one : (2...4).contains(n) ? .few : .other
        case .arabic where n < 3: n == 0 ? .zero : n == 1 ? .one : .two
        case .arabic: (3...10).contains(hundred) ? .few : hundred > 10 ? .many : .other
        case .hebrew: n == 1 ? .one : n == 2 ? .two : n > 10 && ten == 0 ? .many : .other
        case .romanian: n == 1 ? .one : n == 0 || (2...19).contains(hundred) ? .few : .other
        case .lithuanian: (11...19).contains(hundred) ? .other : ten == 1 ? .one : ten > 1 ? .few : .other
        case .latvian: ten == 0 || (11...19).contains(hundred) ? .zero : ten == 1 ? .one : .other
        case .slovenian: hundred == 1 ? .one : hundred == 2 ? .two : (3...4).contains(hundred) ? .few : .other
        }
    }
}

/// CLDR's six plural categories.
public enum PluralCategory: String, Sendable, CaseIterable { case zero, one, two, few, many, other }
