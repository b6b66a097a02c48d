/// The available catalogues, one per locale. English has every message.
public struct MessageCatalogues: Sendable, Hashable {
    private(set) var catalogues: [LocaleTag: MessageCatalogue]

    /// The program's own catalogues.
    public static let builtIn: MessageCatalogues = {
        let texts = [("en", englishMessages), ("pl", polishMessages), ("ja", japaneseMessages)]
        // A test parses each catalogue and checks that no message is missing.
        let read = texts.compactMap { tag, json in
            LocaleTag(tag).flatMap { try? MessageCatalogue($0, json: json.utf8) }
        }
        return MessageCatalogues(catalogues: Dictionary(uniqueKeysWithValues: read.map { ($0.locale, $0) }))
    }()

    /// These catalogues, with the messages of `others` taking precedence.
    public func adding(_ others: [MessageCatalogue]) -> MessageCatalogues {
        var result = self
        for other in others {
            result.catalogues[other.locale] = catalogues[other.locale]?.overridden(by: other) ?? other
        }
        return result
    }

    /// The messages for a locale. Each falls back to the locale's language, then to English.
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
    /// The requested locale; English if its language is unknown.
    public let locale: LocaleTag
    fileprivate let chain: [MessageCatalogue]

    /// The program's English messages.
    public static let english = MessageCatalogues.builtIn.messages(for: .english)

    /// The message with its variables replaced.
    public func text(_ key: MessageKey, _ arguments: [MessageVariable: MessageArgument] = [:]) -> String {
        let named = Dictionary(uniqueKeysWithValues: arguments.map { ($0.key.rawValue, $0.value) })
        for catalogue in chain {
            if let text = catalogue.text(key, named) { return text }
        }
        return key.rawValue
    }
}
