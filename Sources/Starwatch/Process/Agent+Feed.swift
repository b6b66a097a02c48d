import StarwatchCore
import StarwatchStore

extension Agent {
    package func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry] {
        try await counted(.read) {
            guard (1...NotificationQuery.listLimit).contains(query.limit) else {
                throw ControlError(.invalid, "The limit must be between 1 and \(NotificationQuery.listLimit).")
            }
            try requireFeed()
            return try await process.feed.list(query)
        }
    }

    package func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader {
        try await counted(.notificationsFollow) {
            try requireFeed()
            if let reader = try await process.feed.follow(after: sequence) { return reader }
            throw ControlError(
                .busy,
                "Too many follow the notifications already (\(Feed.readerLimit)); end one of them, or try later."
            )
        }
    }

    private func requireFeed() throws(ControlError) {
        guard feedKeep == nil else { return }
        throw ControlError(.conflict, "Nothing keeps notifications; add a sink of kind feed to the configuration.")
    }

    /// The configured number of notifications to keep; `nil` without a sink of kind `feed`.
    var feedKeep: Int? { options.delivery.feedKeep }
}

extension DeliveryOptions {
    var feedKeep: Int? {
        for sink in sinks {
            if case .feed(let keep) = sink.kind { return keep }
        }
        return nil
    }
}
