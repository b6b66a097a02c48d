import Starwatch
import StarwatchCore

/// Outbox rows for a person.
extension OutboxCommand {
    static func list(_ rows: [OutboxEntry]) -> String {
        guard !rows.isEmpty else { return "No rows." }
        // An agent of one identity has no accounts to name.
        let isOfMany = rows.contains { $0.account != nil }
        return TextTable(
            titles: ["ID", "STATE", "POLL", "TRIES", "CREATED"] + (isOfMany ? ["ACCOUNT"] : []) + ["NAME"],
            right: [0, 3],
            rows: rows.map {
                ["\($0.id)", state($0), $0.poll, "\($0.attempts)", $0.createdAt]
                    + (isOfMany ? [$0.account ?? "-"] : []) + [$0.name.map { BidiText.isolated($0) } ?? "-"]
            }
        ).text
    }

    /// The state, with the reason why nobody gets it, `dead (unreadable)`, or with the sinks that did not get a finished
    /// row, `acknowledged (not hook)`, or with those that hold it, `claimed (phone from 2026-01-02T07:00:00Z)`.
    private static func state(_ row: OutboxEntry) -> String {
        if let reason = row.reason { return "\(row.state.rawValue) (\(reason.phrase))" }
        guard row.state != .dead, let sinks = row.undeliveredTo else {
            guard let holders = row.heldBy, let until = row.heldUntil else { return row.state.rawValue }
            return "\(row.state.rawValue) (\(holders.joined(separator: ", ")) from \(until))"
        }
        return "\(row.state.rawValue) (not \(sinks.joined(separator: ", ")))"
    }

    /// A note that the list of rows or items can be incomplete; `nil` if it is complete.
    static func limitNote(_ noun: String, ids: [Int64], limit: Int) -> String? {
        guard ids.count >= limit, let last = ids.last else { return nil }
        return "starwatch: There can be older \(noun) than these \(ids.count); list them with --before \(last)."
    }

    static func details(_ row: OutboxEntry) -> String {
        var pairs = [
            ("Id", "\(row.id)"), ("State", row.state.rawValue), ("Poll", row.poll), ("Tries", "\(row.attempts)"),
            ("Created", row.createdAt), ("Name", row.name.map { BidiText.isolated($0) } ?? "-"), ("Plan", row.plan),
            ("Claim", row.jwtID),
            ("Notification", row.notificationID ?? "-"),
        ]
        if let account = row.account { pairs.insert(("Account", account), at: 1) }
        if let reason = row.reason {
            let sentence = reason.sentence(announcedBy: row.announcedBy, discardedBy: row.discardedBy)
            pairs.insert(("Reason", sentence), at: row.account == nil ? 2 : 3)
        }
        for delivery in row.deliveries ?? [] {
            pairs.append(("Sink \(delivery.sink)", self.delivery(delivery)))
        }
        return TextTable.pairs(pairs)
    }

    static func delivery(_ delivery: OutboxEntry.Delivery) -> String {
        "\(delivery.state), tries \(delivery.attempts), refused \(delivery.rejections)"
            + (delivery.reason.map { ", last \(FailureReason($0)?.phrase ?? $0)" } ?? "")
            + (delivery.nextAttemptAt.map { ", next \($0)" } ?? ", since \(delivery.updatedAt)")
    }
}

/// The outcome of a poll for a person.
extension PollArguments {
    static func line(_ report: PollReport) -> String {
        var text = TerminalText.printable("\(report.poll): \(report.outcome)")
        if let reason = report.reason { text += TerminalText.printable(" (\(reason))") }
        guard report.outcome != "skipped" else { return text }
        return text
            + ": \(report.fetched) fetched, \(report.new) new, \(report.notifications) notified, "
            + "\(report.acknowledged) acknowledged, watermark \(report.watermarkMoved ? "moved" : "unmoved")"
            + waiting(report)
    }

    /// The changes that the command did not wait for.
    private static func waiting(_ report: PollReport) -> String {
        let parts = [(report.undelivered, "delivery"), (report.unacknowledged, "acknowledgement")]
            .compactMap { count, step in count.flatMap { $0 > 0 ? "\($0) waiting for \(step)" : nil } }
        return parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")
    }
}

/// The active identity for its owner.
extension IdentityCommand {
    static func details(_ report: IdentityReport) -> String {
        var pairs = [
            ("DID", report.did ?? "none: signed out"), ("In logs", report.pseudonym ?? "-"),
            ("Generation", "\(report.generation)"),
        ]
        if let off = report.optedOut { pairs.append(("Opted out of", off.map(\.rawValue).joined(separator: ", "))) }
        return TextTable.pairs(pairs)
    }

    static func removal(_ report: IdentityRemovalReport) -> String {
        let time = TerminalText.printable(report.keptUntil)
        return "Its data is deleted after \(time). Setting the identity again before then keeps it; "
            + "changes of the time between are not announced."
    }

    static func kinds(_ choice: KindListing) -> String {
        choice.optedOut.isEmpty
            ? "The identity is opted out of no kind."
            : "The identity is opted out of \(choice.optedOut.map(\.rawValue).joined(separator: ", "))."
    }

    /// - Parameter noun: The word for what was erased.
    static func erasure(_ report: IdentityErasureReport, of noun: String) -> String {
        report.purged
            ? "Everything stored of the \(noun) is erased."
            : "The \(noun) is erased. Another program reads the database, so copies stay in its write-ahead log until "
                + "that program has closed it and the agent's next cleanup."
    }
}
