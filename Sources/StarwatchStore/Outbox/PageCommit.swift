package import StarwatchCore

/// The changes of one page of a poll, applied in one transaction.
package struct PageCommit: Sendable, Hashable {
    /// The change of the stored walk.
    package enum Walk: Sendable, Hashable {
        case keep
        case save(OpenWalk)
        case clear
    }

    /// The treatment of new items.
    package enum Disposition: Sendable, Hashable {
        case announce
        /// Stored but never announced, because the account opted out. The rows are still acknowledged.
        case suppress
        /// Read while bootstrapping: outside the ledger, never announced, never acknowledged.
        case bootstrap
    }

    /// A walk that this page completes. It settles tombstones in its range that are older than the walk and that the
    /// walk did not see: the server shows only the last change of a plan, so it will never send them again.
    package struct CompletedWalk: Sendable, Hashable {
        /// The exclusive lower end of the walk; `nil` means the beginning.
        package let after: JWTID?
        package let through: JWTID
        package let startedAt: Timestamp

        package init(after: JWTID?, through: JWTID, startedAt: Timestamp) {
            (self.after, self.through, self.startedAt) = (after, through, startedAt)
        }
    }

    package var stream: StreamKey
    /// ``PollState/generation`` from the beginning of the cycle.
    package var expectedGeneration: Int
    /// The account's interests at the beginning of the cycle; `nil` skips the check.
    package var expectedInterests: Interests?
    package var runID: String
    /// The request that brought the page; `nil` if it is not known.
    package var origin: PageOrigin?
    /// The changes in the order of processing.
    package var changes: [FetchedChange]
    /// The move of the fetch cursor, which only rises and never passes a tombstone.
    package var cursor: CursorMove = .unchanged
    package var walk: Walk = .keep
    /// The walk to store instead of ``walk`` if the page finds no room. It continues below the last item that did.
    /// `nil` leaves the stored walk.
    package var interrupted: OpenWalk?
    package var completed: CompletedWalk?
    /// The number of items rejected one by one.
    package var rejectedCount = 0
    /// The rejected items, for the quarantine.
    package var refused: [RefusedItem] = []
    /// The greatest item of the page, if the cursor passes one that is not among ``changes``; `nil` otherwise.
    package var passed: JWTID?
    /// The number of the page in its walk, from 1.
    package var number = 1
    /// The number of new rows that can be stored, from ``PollState/room``.
    package var room: Int
    package var disposition: Disposition = .announce
    /// The priority of the poll. Higher priorities are delivered first and evicted last.
    package var priority = 0
    /// The polls that can have the same claims; the poll itself can be among them. What one of them announces or has
    /// announced is stored and not announced again.
    package var overlapping: [PollName] = []
    /// Changes that only update the plans' snapshots, such as those before the end of a bootstrap. They are not stored.
    package var seenOnly: [FetchedChange] = []
    package var now: Timestamp

    package init(
        stream: StreamKey,
        expectedGeneration: Int,
        runID: String,
        changes: [FetchedChange],
        room: Int,
        now: Timestamp
    ) {
        (self.stream, self.expectedGeneration, self.runID) = (stream, expectedGeneration, runID)
        (self.changes, self.room, self.now) = (changes, room, now)
    }

    /// The kind of the page's identifiers; `nil` for an empty page.
    var idKind: IDKind? {
        if let id = changes.first?.id ?? seenOnly.first?.id ?? passed { return id.kind }
        if case .advance(let id) = cursor { return id.kind }
        return nil
    }
}

/// The numbers of what a page's commit did.
package struct PageCommitCounts: Sendable, Hashable {
    /// The number of processed items: all, or those before the first one without room.
    package internal(set) var handled = 0
    /// The number of rows stored for the first time.
    package internal(set) var inserted = 0
    /// The number of those that are not announced: own claims, and those that another poll announces.
    package internal(set) var suppressed = 0
    /// The number of tombstones and cancelled rows that another poll has announced meanwhile. They count as duplicates
    /// too.
    package internal(set) var settled = 0
    /// The number of cancelled rows among them.
    package internal(set) var settledCancelled = 0
    /// The number of changes that a later one replaced before the poll saw them, as far as the server tells.
    package internal(set) var unseen = 0
    /// The number of known items.
    package internal(set) var duplicates = 0
    /// The number of tombstones and cancelled rows that are pending again. They count as duplicates too.
    package internal(set) var refetched = 0
    /// The number of cancelled rows among them. They are news again, because their identity returned.
    package internal(set) var reopened = 0
    /// The number of settled tombstones, see ``PageCommit/CompletedWalk``.
    package internal(set) var superseded = 0
    /// The number of those that another poll announces now.
    package internal(set) var passedOn = 0
    /// The rejected items that were not known in the quarantine, in the order of the page.
    package internal(set) var quarantined: [RefusedItem] = []
    /// The last processed item; `nil` if there was none.
    package internal(set) var lastHandled: JWTID?
    /// Whether items were left on the server for lack of room.
    package internal(set) var outOfRoom = false
    /// The new position of the fetch cursor.
    package internal(set) var fetchCursor: JWTID?
}
