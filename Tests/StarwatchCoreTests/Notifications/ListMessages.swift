import Testing

@testable import StarwatchCore

/// Notifications of items of lists.
enum ListMessages {
    static let time = Timestamp(seconds: 1_767_225_600)

    static func change(
        _ number: Int,
        name: String? = "v2",
        link: String? = nil,
        fields: [String: String] = [:],
        isEdition: Bool = false
    ) -> Change {
        let id = JWTID.floor(.ulid, at: time + .seconds(number))
        var change = Change(id: id, plan: "id \(number)", name: name, isEdition: isEdition)
        change.details = ItemDetails(link: link, fields: fields)
        return change
    }

    static func message(
        _ changes: [Change],
        poll: String = "releases",
        kind: PollKind = .json,
        texts: [String: PollTexts] = [:],
        locale: String = "en",
        part: NotificationPart? = nil
    ) throws -> NotificationMessage {
        NotificationMessage(
            id: "ntf_\(poll)",
            runID: "run_1",
            poll: try #require(PollName(poll)),
            kind: kind,
            changes: changes,
            context: try context(texts, locale: locale, part: part),
            createdAt: time
        )
    }

    static func context(
        _ texts: [String: PollTexts] = [:],
        locale: String = "en",
        part: NotificationPart? = nil
    ) throws -> NotificationContext {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        var context = NotificationContext(messages: messages, part: part)
        for (poll, texts) in texts { context.texts[try #require(PollName(poll))] = OwnTexts(texts) }
        return context
    }
}
