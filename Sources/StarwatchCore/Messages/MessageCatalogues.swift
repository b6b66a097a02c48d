/// The catalogues that there are, one a locale; English has every message.
public struct MessageCatalogues: Sendable, Hashable {
    private var catalogues: [LocaleTag: MessageCatalogue]

    /// Those of the program.
    public static let builtIn: MessageCatalogues = {
        let texts = [("en", englishMessages), ("pl", polishMessages), ("ja", japaneseMessages)]
        // A test reads each and finds every message in it.
        let read = texts.compactMap { tag, json in
            LocaleTag(tag).flatMap { try? MessageCatalogue($0, json: json.utf8) }
        }
        return MessageCatalogues(catalogues: Dictionary(uniqueKeysWithValues: read.map { ($0.locale, $0) }))
    }()

    /// These, with the messages of `others` before their own.
    public func adding(_ others: [MessageCatalogue]) -> MessageCatalogues {
        var result = self
        for other in others {
            result.catalogues[other.locale] = catalogues[other.locale]?.overridden(by: other) ?? other
        }
        return result
    }

    public var locales: [LocaleTag] { catalogues.keys.sorted { $0.description < $1.description } }

    /// The catalogue of a locale itself; `nil` when there is none.
    public subscript(_ locale: LocaleTag) -> MessageCatalogue? { catalogues[locale] }

    /// What to say in a locale: its own messages, else those of its language, else the English ones.
    public func messages(for locale: LocaleTag) -> Messages {
        let own = locale.chain.compactMap { catalogues[$0] }
        return Messages(
            locale: own.isEmpty ? .english : locale,
            chain: own + [catalogues[.english]].compactMap { $0 }
        )
    }
}

/// The messages in one language.
public struct Messages: Sendable, Hashable {
    /// The locale that was asked for, or English where nothing is known of its language.
    public let locale: LocaleTag
    fileprivate let chain: [MessageCatalogue]

    /// English, as the program has it.
    public static let english = MessageCatalogues.builtIn.messages(for: .english)

    /// A message with its variables filled in.
    public func text(_ key: MessageKey, _ arguments: [MessageVariable: MessageArgument] = [:]) -> String {
        let named = Dictionary(uniqueKeysWithValues: arguments.map { ($0.key.rawValue, $0.value) })
        for catalogue in chain {
            if let text = catalogue.text(key, named) { return text }
        }
        return key.rawValue
    }
}
