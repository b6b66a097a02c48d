package import StarwatchCore

/// Stores the last notifications of each account for the control API. A repeated delivery is stored once.
package struct FeedSink: NotificationSink {
    package let name: String
    /// The account; `nil` before ``sink(of:at:)``.
    private(set) var account: DID?
    package var pseudonym: (@Sendable (DID) -> String)?
    let append: @Sendable (OutgoingNotification, DID?) async -> SinkResult

    package var host: String { account.flatMap { pseudonym?($0) } ?? "" }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await append(notification, account)
    }

    package func sink(of account: DID, at address: SinkAddress) -> FeedSink {
        var sink = self
        sink.account = account
        return sink
    }
}

extension FeedSink: ConfiguredSink {
    package static let kind = "feed"
    package static let settings = [SinkSetting("keep", .number(1...10_000), "notifications", standard: 100)]
    package static let setups = [SetupSink(kind, .feed(keep: 100), rank: 1)]
    package static var examples: [(comment: String, sink: SinkOptions)] {
        [("The latest notifications, for the control API's /feed:", SinkOptions(name: "feed", kind: .feed(keep: 100)))]
    }

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) -> any NotificationSink {
        FeedSink(name: sink.name) { [keep = sink["keep"]?.number ?? 0] in await factory.feed($0, $1, keep) }
    }
}

extension SinkOptions.Kind {
    /// The last `keep` notifications of each account in the database, for the control API and its feed page. At most one such
    /// sink.
    public static func feed(keep: Int) -> Self { Self(FeedSink.self, ["keep": .number(keep)]) }
}

extension DeliveryOptions {
    /// The number of notifications that the sink of kind `feed` keeps; `nil` without one.
    package var feedKeep: Int? { sinks.first { $0.kind.type == FeedSink.self }?["keep"]?.number }
}
