import Foundation
public import StarwatchCore

/// A place of the host program's own where notifications go.
///
/// It has what a configured sink has: notifications are stored before it sees them, come again under the same id until
/// it has taken them, and are counted under its name.
public protocol HostSink: Sendable {
    /// `[a-z][a-z0-9_]{0,62}`, unlike every other sink's, and not `server`: it becomes a label value. Deliveries that
    /// are open when the program ends go on under the same name.
    var name: String { get }

    /// How long one notification may take, at most a minute; 30 s unless said otherwise. One that takes longer is tried
    /// again later, also if the sink goes on with it: its task is cancelled, but not waited for.
    var timeout: Duration { get }

    /// Takes one notification. Returning means that it is taken.
    ///
    /// The same `id` may come again, with the same content, after a crash or a failure.
    ///
    /// - Throws: ``HostSinkRefusal`` for a notification that it will not take, which costs one of
    ///   ``OutboxOptions/maxRetries``; anything else when it cannot take any now. `CancellationError` when the task is.
    func deliver(_ notification: NotificationMessage) async throws
}

extension HostSink {
    public var timeout: Duration { .seconds(30) }
}

/// Why a host's sink does not want a notification.
public struct HostSinkRefusal: Error, Sendable, Hashable {
    public init() {}
}

/// A sink whose notifications are an `AsyncSequence`.
///
/// A notification counts as delivered when it is in the sequence: a program that ends before it has read it does not
/// see it again, and one that does not keep up loses the oldest of more than 1,000. One that must not lose any is a
/// ``HostSink`` itself.
public final class NotificationFeed: HostSink {
    public let name: String
    /// For one reader. Ends with ``finish()``.
    public let notifications: AsyncStream<NotificationMessage>
    private let continuation: AsyncStream<NotificationMessage>.Continuation

    /// - Parameter name: As ``HostSink/name``.
    public init(name: String = "feed") {
        self.name = name
        (notifications, continuation) = AsyncStream.makeStream(
            of: NotificationMessage.self,
            bufferingPolicy: .bufferingNewest(1000)
        )
    }

    /// - Throws: `CancellationError` when nobody reads any more.
    public func deliver(_ notification: NotificationMessage) async throws {
        if case .terminated = continuation.yield(notification) { throw CancellationError() }
    }

    /// Ends the sequence; what is delivered from then on waits for the next run.
    public func finish() { continuation.finish() }
}

/// A host's sink as the dispatcher uses it.
struct HostSinkAdapter: NotificationSink {
    /// Well within a delivery's lease.
    private static let longest = Duration.seconds(60)

    let sink: any HostSink
    let time: any TimeSource

    var name: String { sink.name }

    func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let limit = min(sink.timeout, Self.longest)
        let result = await TimeLimit.run(within: limit, on: time, late: SinkResult.timeout) {
            await hand(over: notification)
        }
        return result ?? .unavailable("The agent is stopping.", retryAfter: nil)
    }

    private func hand(over notification: OutgoingNotification) async -> SinkResult {
        do {
            let message = try JSONDecoder().decode(NotificationMessage.self, from: Data(notification.payload))
            try await sink.deliver(message)
            return .ok
        } catch is HostSinkRefusal {
            return .rejected("The program refuses the notification.")
        } catch {
            // Its own text may hold anything.
            return .unavailable("The program did not take the notification.", retryAfter: nil)
        }
    }
}
