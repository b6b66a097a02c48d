package import StarwatchCore

/// Lists of servers without cursors: what was seen of them is remembered, and a change gets its identifier where it is stored.
extension StoreOutbox {
    /// What a poll knows of its list; `nil` before its first complete walk.
    package func listState(of stream: StreamKey) async throws(StoreError) -> ListState? { nil }

    /// The items that the poll has not seen, or only in an earlier version, in their order.
    package func news(among items: [ListItem], of stream: StreamKey) async throws(StoreError) -> [ListItem] { items }

    /// Stores a page of a list: new rows, ledger, fetch cursor, what was seen and the state of the list, in one transaction.
    ///
    /// Stops before the first new item without room, which stays unseen.
    ///
    /// - Returns: `nil` if nothing was written, because the identity changed since the cycle began.
    package func commit(list: ListCommit) async throws(StoreError) -> PageCommitCounts? { nil }
}
