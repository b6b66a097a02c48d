import StarwatchCore
import StarwatchStore

extension Agent {
    package func feed(_ query: NotificationQuery) async throws(ControlError) -> [FeedEntry] {
        try await counted(.notificationsList) { () async throws(ControlError) in
            guard (1...NotificationQuery.listLimit).contains(query.limit) else {
                throw ControlError(.invalid, "The limit must be between 1 and \(NotificationQuery.listLimit).")
            }
            try requireFeed()
            do throws(StoreError) { return try await process.feed.list(query) } catch { throw ControlError(error) }
        }
    }

    package func followFeed(after sequence: Int64?) async throws(ControlError) -> FeedReader {
        try await counted(.notificationsFollow) { () async throws(ControlError) in
            try requireFeed()
            do throws(StoreError) {
                if let reader = try await process.feed.follow(after: sequence) { return reader }
            } catch { throw ControlError(error) }
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
