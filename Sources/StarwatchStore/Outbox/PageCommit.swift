package import StarwatchCore

/// What one page of a poll changes, in one transaction.
package struct PageCommit: Sendable, Hashable {
    /// What becomes of the stored position of an interrupted walk.
    package enum Walk: Sendable, Hashable {
        case keep
        case save(OpenWalk)
        case clear
    }

    /// What becomes of new items.
    package enum Disposition: Sendable, Hashable {
        case announce
        /// Known but not to be announced: opted out. Acknowledged all the same (C-049).
        case suppress
        /// Read while bootstrapping: outside the ledger, never announced, never acknowledged.
        case bootstrap
    }

    /// A walk that this page completes: what was evicted before it began, lies inside it and was not met again is no
    /// longer given by the server, which shows only the last change of a plan.
    package struct CompletedWalk: Sendable, Hashable {
        /// Where the walk ended; `nil`: at the beginning.
        package let after: JWTID?
        package let through: JWTID
        package let startedAt: Timestamp

        package init(after: JWTID?, through: JWTID, startedAt: Timestamp) {
            self.after = after
            self.through = through
            self.startedAt = startedAt
        }
    }

    package var stream: StreamKey
    /// ``PollState/generation`` as read when the cycle began.
    package var expectedGeneration: Int
    /// What the account wanted to hear of when the cycle read it; `nil`: not looked at.
    package var expectedInterests: Interests?
    package var runID: String
    /// In the order in which they are to be handled.
    package var changes: [Change]
    /// Where the fetch cursor goes: only upwards, and never over an evicted tombstone.
    package var cursor: CursorMove = .unchanged
    package var walk: Walk = .keep
    /// What is stored in place of ``walk`` when the page finds no room: the walk goes on below the last item that did.
    /// `nil`: what is stored stays.
    package var interrupted: OpenWalk?
    package var completed: CompletedWalk?
    /// Items refused one by one.
    package var rejectedCount = 0
    /// New rows that may be stored, from ``PollState/room``.
    package var room: Int
    package var disposition: Disposition = .announce
    /// Of the poll; the higher is delivered first, and evicted last.
    package var priority = 0
    /// What the server gave of the plans, by JWT.
    package var details: [JWTID: PlanDetails] = [:]
    /// Changes that are not stored and yet tell what a plan is like, as those before a bootstrap's end.
    package var seenOnly: [Change] = []
    package var now: Timestamp

    package init(
        stream: StreamKey,
        expectedGeneration: Int,
        runID: String,
        changes: [Change],
        room: Int,
        now: Timestamp
    ) {
        self.stream = stream
        self.expectedGeneration = expectedGeneration
        self.runID = runID
        self.changes = changes
        self.room = room
        self.now = now
    }

    /// The kind of the page's identifiers; `nil` when it has none.
    var idKind: IDKind? {
        if let change = changes.first ?? seenOnly.first { return change.id.kind }
        if case .advance(let id) = cursor { return id.kind }
        return nil
    }
}

/// What a commit came to.
package enum PageCommitResult: Sendable, Hashable {
    case committed(PageCommitCounts)
    /// The identity or what it wants to hear of changed since the cycle read it, or another poll found that the server
    /// has changed its dialect; nothing was written.
    case stale
}

package struct PageCommitCounts: Sendable, Hashable {
    /// Items that were looked at: all, or those before the first for which there was no room.
    package internal(set) var handled = 0
    /// Rows stored for the first time.
    package internal(set) var inserted = 0
    /// Items known already.
    package internal(set) var duplicates = 0
    /// Evicted tombstones and cancelled rows that are pending again; counted among the duplicates too.
    package internal(set) var refetched = 0
    /// The cancelled ones among them: news again, because their identity is back.
    package internal(set) var reopened = 0
    /// Tombstones given up, see ``PageCommit/CompletedWalk``.
    package internal(set) var superseded = 0
    /// The last item handled; `nil` if there was none.
    package internal(set) var lastHandled: JWTID?
    /// Whether items were left on the server for want of room.
    package internal(set) var outOfRoom = false
    /// Where the fetch cursor stands now.
    package internal(set) var fetchCursor: JWTID?
}
