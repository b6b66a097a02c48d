package import StarwatchCore

/// A selection of outbox rows, newest first. `nil` does not restrict.
package struct OutboxQuery: Sendable, Hashable {
    /// Rows in this state only.
    package var state: String?
    /// Rows of this poll only.
    package var poll: String?
    /// Whether to list only rows whose change a sink accepted more than once.
    package var twice = false
    /// The last id of the previous page; only rows with smaller ids are listed.
    package var before: Int64?
    /// The size of a page.
    package var limit = OutboxEntry.listLimit

    package init() {}
}

/// A row of the outbox, as its operator sees it. Served only by the control API.
package struct OutboxEntry: Sendable, Codable, Hashable {
    /// The maximum number of rows in a list.
    package static let listLimit = 1000

    package var id: Int64
    /// The pseudonym of its account, as in logs; `nil` from an agent of one identity.
    package var account: String?
    package var poll: String
    package var state: OutboxState
    package var jwtID: String
    package var plan: String
    package var name: String?
    package var attempts: Int
    package var createdAt: TimeText
    package var notificationID: String?
    /// The sinks that rejected it too often or were given up; `nil` if there are none.
    package var undeliveredTo: [String]?
    /// The sinks that hold it by their `quiet_hours` or `deliver_at`; `nil` if there are none.
    package var heldBy: [String]?
    /// The moment when the first of ``heldBy`` opens.
    package var heldUntil: TimeText?
    /// The reason why nobody gets it; `nil` if its state tells.
    package var reason: RowReason?
    /// The operator who discarded it, as the journal has it; `nil` for another reason.
    package var discardedBy: String?
    /// The poll that announced the same claim; `nil` for another reason, or if that row is gone.
    package var announcedBy: String?
    /// The result of every sink; `nil` in lists.
    package var deliveries: [Delivery]?

    /// The result of one sink.
    package struct Delivery: Sendable, Codable, Hashable {
        package var sink: String
        /// `pending`, `ok`, `rejected`, `given_up`, `gone` or `cancelled`.
        package var state: String
        package var attempts: Int
        /// The number of attempts that the sink rejected.
        package var rejections: Int
        /// The time of the next attempt; `nil` if there is none.
        package var nextAttemptAt: TimeText?
        package var updatedAt: TimeText
        /// The reason for the last failed attempt, such as `http_404`; `nil` if the last attempt succeeded.
        package var reason: String?
    }
}

/// The rows.
package struct OutboxListing: Sendable, Codable {
    package var entries: [OutboxEntry]
}

/// Rows to change: `{"ids": [1, 2]}`, or `{"all": true}` for every dead row, with `"poll": "…"` for those of one poll.
package struct RowSelection: Sendable, Codable {
    package var ids: [Int64]?
    package var all: Bool?
    package var poll: String?

    package init(ids: [Int64]) { self.ids = ids }

    package init(allOf poll: String?) { (all, self.poll) = (true, poll) }

    func check() throws(ControlError) {
        guard ids?.isEmpty == false || all == true else {
            throw ControlError(.invalid, "Name at least one outbox id, or all.")
        }
        guard ids == nil || all != true && poll == nil else {
            throw ControlError(.invalid, "Name outbox ids or all, not both; poll goes with all.")
        }
        guard ids?.allSatisfy({ $0 > 0 }) != false else {
            throw ControlError(.invalid, "An outbox id is a number from 1; see \"starwatch outbox list\".")
        }
    }
}

/// Rows to discard, as a ``RowSelection``. `"state": "claimed"` with `all` selects claimed rows instead of dead ones.
package struct DiscardSelection: Sendable, Codable {
    package var ids: [Int64]?
    package var all: Bool?
    package var poll: String?
    /// By default `dead`.
    package var state: DiscardableState?

    package init(_ rows: RowSelection, in state: DiscardableState? = nil) {
        (ids, all, poll, self.state) = (rows.ids, rows.all, rows.poll, state)
    }

    func check() throws(ControlError) {
        var rows = RowSelection(allOf: poll)
        (rows.ids, rows.all) = (ids, all)
        try rows.check()
        guard state == nil || ids == nil else { throw ControlError(.invalid, "state goes with all.") }
    }
}

/// The rows that an operator can discard.
package enum DiscardableState: String, Sendable, Codable, CaseIterable {
    /// Dead letters.
    case dead
    /// Rows that wait for a sink.
    case claimed
}

/// The number of changed rows.
package struct ChangeCount: Sendable, Codable {
    package var changed: Int
}

/// A selection of quarantined items, newest first. `nil` does not restrict.
package struct QuarantineQuery: Sendable, Hashable {
    /// Items of this poll only.
    package var poll: String?
    /// The last id of the previous page; only items with smaller ids are listed.
    package var before: Int64?
    /// The size of a page.
    package var limit = OutboxEntry.listLimit

    package init() {}
}

/// An invalid item of the server. It has nothing of the item but its identifier.
package struct QuarantineEntry: Sendable, Codable, Hashable {
    /// A fault of the item.
    package struct Issue: Sendable, Codable, Hashable {
        /// A JSON path in the page, such as `$.data[3].planSummary.handleId`.
        package var path: String
        /// `missing`, `wrong_type`, `invalid` or `unreadable`.
        package var problem: String
    }

    package var id: Int64
    package var poll: String
    /// `schema` or `id_kind`.
    package var kind: String
    /// The item's identifier; `nil` if it has no valid one.
    package var jwtID: String?
    /// The faults, at most 20.
    package var issues: [Issue]
    /// The number of the page in its cycle, from 1, when the item came last.
    package var page: Int
    /// The cycle in which the item came last.
    package var runID: String
    /// The number of times that the item came.
    package var times: Int
    package var createdAt: TimeText
    package var seenAt: TimeText
}

/// The items.
package struct QuarantineListing: Sendable, Codable {
    package var entries: [QuarantineEntry]
}
