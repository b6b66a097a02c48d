package import StarwatchCore

/// The items of one page of a list, applied in one transaction.
package struct ListCommit: Sendable, Hashable {
    package var stream: StreamKey
    /// ``PollState/generation`` from the beginning of the cycle.
    package var expectedGeneration: Int
    package var runID: String
    /// The request that brought the page; `nil` if it is not known.
    package var origin: PageOrigin?
    /// The number of the page in its walk, from 1.
    package var number = 1
    /// The items in the order in which they are announced, the oldest first.
    package var items: [ListItem]
    /// The ids of all items of the walk, which are never forgotten to make place for others.
    package var listed: [String] = []
    /// The rejected items, for the quarantine.
    package var refused: [RefusedItem] = []
    /// Whether the items are only remembered and not announced, because the poll never ran before.
    package var isBootstrap = false
    /// The number of new rows that can be stored, from ``PollState/room``.
    package var room: Int
    /// The priority of the poll.
    package var priority = 0
    /// The state of the list after this page, which is the walk's last one; `nil` if it stays. It is not stored if an
    /// item found no room.
    package var state: ListState?
    package var now: Timestamp

    package init(
        stream: StreamKey,
        expectedGeneration: Int,
        runID: String,
        items: [ListItem],
        room: Int,
        now: Timestamp
    ) {
        (self.stream, self.expectedGeneration, self.runID) = (stream, expectedGeneration, runID)
        (self.items, self.room, self.now) = (items, room, now)
    }
}
