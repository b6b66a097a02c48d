import Starwatch
import StarwatchCore
import StarwatchStore

/// Quarantine of one poll.
struct Quarantine: Sendable {
    /// Place of a change.
    enum Place {
        case none, unpassed, passed
    }

    var ids: Set<String> = []
    /// Whether it has items without an identifier that could be read.
    var hasNameless = false
    var hasUnreadable = false
    var cursor = ""

    /// Returns the place of a change that was not announced.
    ///
    /// - Parameter isUnreadable: Whether the agent could not read its page.
    func place(of row: FeedRow, isUnreadable: Bool) -> Place {
        if row.form.isNameless, hasNameless { return .passed }
        guard ids.contains(row.id) || isUnreadable && hasUnreadable else { return .none }
        return cursor >= row.id ? .passed : .unpassed
    }
}

extension Auditor {
    /// Returns `true` if the agent can put the change into quarantine, so that it comes late or never.
    func canBeSetAside(_ row: FeedRow) -> Bool { row.form.canBeSetAside || isUnreadable(row) }

    func isUnreadable(_ row: FeedRow) -> Bool { network.server.state.value.feed.isUnreadable(row) }

    private func items(in agent: Agent) async throws(StoreError) -> [QuarantinedItem] {
        try await agent.store.quarantine.list(limit: 100_000)
    }

    func quarantine(of stream: StreamKey, in agent: Agent) async throws(StoreError) -> Quarantine {
        var quarantine = Quarantine()
        let state = try await agent.store.polls.state(stream, maxUndelivered: agent.options.outbox.maxUndelivered)
        quarantine.cursor = state.fetchCursor?.rawValue ?? ""
        for item in try await items(in: agent) where item.stream == stream {
            if let id = item.jwtID {
                quarantine.ids.insert(id.rawValue)
            } else if item.isUnreadable {
                quarantine.hasUnreadable = true
            } else {
                quarantine.hasNameless = true
            }
        }
        return quarantine
    }

    /// Checks that only items that the server sent invalid are in quarantine.
    func checkQuarantine(of agent: Agent) async throws(StoreError) {
        for item in try await items(in: agent) {
            guard let id = item.jwtID?.rawValue else { continue }
            guard let row = network.server.state.value.feed[id], row.form.canBeSetAside else {
                violations.record(
                    .quarantineTruthful,
                    "\(id) is in quarantine for \(item.issues), and the server never sent it invalid"
                )
                continue
            }
        }
    }

    /// Checks that the sinks that changes do not wait for know a delivered row too.
    func checkNamed(_ row: OutboxRow) {
        let id = row.change.id.rawValue
        // Exempt: rows of a former identity or star, whose deliveries were cancelled, and those that the operator ended.
        guard row.state == .delivered || row.state == .acknowledged, row.reason == nil,
            row.stream.account == truth.value.account, !truth.value.discarded.contains(id),
            // A sign-out cancels what optional sinks still wait for.
            let item = network.server.state.value.feed[id], item.createdAt >= truth.value.since,
            truth.value.mustHave(item, in: row.stream.poll, bootstrap: settings.bootstrap == .beginning)
        else { return }
        for receiver in network.receivers
        where !receiver.isRequired && !receiver.wasGone && !receiver.hasAccepted(id)
            && !row.undeliveredTo.contains(receiver.name)
        {
            violations.record(.namedToAll, "\(receiver.name) does not know \(id), which is \(row.state.rawValue)")
        }
    }
}

extension QuarantinedItem {
    fileprivate var isUnreadable: Bool { issues.contains { $0.problem == .unreadable } }
}
