/// The polls of a notification: one, or those that it joins after a sink held them.
package struct NotificationPolls {
    /// The key of a notification of several polls. It has an underscore, so it is no poll's, and no number, so it is no part's.
    private static let keyOfSeveral = "several_polls"
    private static let lineBreak = "\n"

    private let message: NotificationMessage

    package init(_ message: NotificationMessage) { self.message = message }

    package var names: [String] { message.polls ?? [message.poll] }

    /// The thread of its mails: the poll's, or one for all notifications of several.
    package var thread: String { message.polls == nil ? message.poll : Self.keyOfSeveral }

    /// The line that tells a notification apart in a list: those of a poll all have the same title.
    package var headline: String { message.changes.isEmpty ? message.title : Self.inOneLine(message.body) }

    /// A body in one line, where its kinds of polls cannot have lines of their own.
    package static func inOneLine(_ body: String) -> String { body.replacing(lineBreak, with: "; ") }

    /// Groups its changes by their polls, in the order of the names.
    ///
    /// - Parameter ids: The changes. Those that it does not list belong to the poll of the notification.
    package func grouped(_ ids: [JWTID]) -> [(poll: String, ids: [JWTID])] {
        let polls = Dictionary(message.changes.map { ($0.jwtID, $0.poll ?? message.poll) }) { $1 }
        let groups = Dictionary(grouping: ids) { polls[$0.rawValue] ?? message.poll }
        return groups.sorted { $0.key < $1.key }.map { (poll: $0.key, ids: $0.value) }
    }
}

/// Composition of notifications of several polls.
extension NotificationPolls {
    /// Returns the changes of several notifications under a new id, with the poll and the run of the last one; `nil` for none.
    /// ``NotificationMessage/without(_:offers:poll:kind:context:)`` makes its texts. A single one gets another key, and keeps
    /// its place in a group.
    ///
    /// - Parameters:
    ///   - messages: The oldest first, of one poll each.
    ///   - taken: The keys of those that come to the same sinks at the same moment. With one of them it would replace that one
    ///     on a phone, unseen.
    package static func joining(
        _ messages: [NotificationMessage],
        id: String,
        createdAt: Timestamp,
        besides taken: Set<String> = []
    ) -> NotificationMessage? {
        guard var joined = messages.last else { return nil }
        joined.id = id
        joined.createdAt = createdAt.iso8601
        if messages.count > 1 { (joined.part, joined.parts, joined.total) = (nil, nil, nil) }
        joined.changes = messages.flatMap(\.changes)
        if messages.contains(where: { $0.poll != messages[0].poll }) {
            let polls = messages.flatMap { message in message.changes.map { _ in message.poll } }
            for (index, poll) in zip(joined.changes.indices, polls) { joined.changes[index].poll = poll }
            joined.polls = named(by: joined.changes)
            joined.collapseKey = keyOfSeveral
        }
        let key = joined.collapseKey
        var number = 1
        while taken.contains(joined.collapseKey) {
            number += 1
            joined.collapseKey = "\(key)_\(number)"
        }
        return joined
    }

    /// Sorts changes of several polls by the kinds of these, and lists by their names, each of these in its order.
    static func sorted(
        _ items: [NotificationMessage.Item],
        _ context: NotificationContext
    ) -> [NotificationMessage.Item] {
        guard named(by: items) != nil else { return items }
        return lines(of: items, context).flatMap { line in line.places.map { items[$0] } }
    }

    /// The changes of each line, as places in `items`. Polls of a kind share a line, but each list has its own.
    private static func lines(
        of items: [NotificationMessage.Item],
        _ context: NotificationContext
    ) -> [(kind: PollKind, places: [Int])] {
        let kinds = Dictionary(grouping: items.indices) { context.kind(of: items[$0]) }
        return PollKind.allCases.flatMap { kind -> [(PollKind, [Int])] in
            guard let places = kinds[kind] else { return [] }
            guard kind.isList else { return [(kind, places)] }
            let lists = Dictionary(grouping: places) { items[$0].poll ?? "" }
            return lists.sorted { $0.key < $1.key }.map { (kind, $0.value) }
        }
    }

    /// Tells of each kind of poll, and of each list, in a line of its own, if the changes are of several polls.
    ///
    /// - Parameters:
    ///   - items: The changes, which name their polls.
    ///   - changes: The same.
    static func tell(
        of items: [NotificationMessage.Item],
        _ changes: [Change],
        in message: inout NotificationMessage,
        _ context: NotificationContext
    ) {
        guard let polls = named(by: items) else { return }
        message.polls = polls
        for (index, item) in zip(message.changes.indices, items) { message.changes[index].poll = item.poll }
        let lines = lines(of: items, context)
        let texts = lines.map { line in
            let poll = items[line.places[0]].poll.flatMap { PollName($0) }
            return context.announcement(of: line.places.map { changes[$0] }, poll, line.kind, part: nil)
        }
        message.title = texts.count == 1 ? texts[0].title : context.messages.text(.severalPollsTitle)
        message.body = texts.map { $0.body }.joined(separator: lineBreak)
        guard lines.contains(where: \.kind.isList) else { return }
        let known = lines.filter { !$0.kind.isList }.flatMap(\.places).map { changes[$0] }
        if !known.isEmpty {
            let group = NotificationGroup(count: known.count, largest: context.largestGroup)
            message.deepLink = NotificationLink.to(known, of: group, context.shortlink)
        }
    }

    /// The polls that changes name, in their order; `nil` if they name none.
    private static func named(by items: [NotificationMessage.Item]) -> [String]? {
        var known: Set<String> = []
        let polls = items.compactMap(\.poll).filter { known.insert($0).inserted }
        return polls.isEmpty ? nil : polls
    }
}

extension NotificationContext {
    /// The kind of the poll that a change names.
    func kind(of item: NotificationMessage.Item) -> PollKind {
        guard let poll = item.poll.flatMap({ PollName($0) }) else { return .starredProjects }
        return kinds[poll] ?? PollKind(former: poll, isList: item.isListed)
    }
}
