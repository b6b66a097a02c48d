import Foundation
public import StarwatchCore

/// A notification destination in the host program.
///
/// It gets the guarantees of a configured sink. Notifications are stored before delivery, are retried under the same id
/// until the sink accepts them, and are counted under its name.
public protocol HostSink: Sendable {
    /// The sink's name: `[a-z][a-z0-9_]{0,62}`, unique among all sinks, and not `server`. It becomes a label value.
    /// Deliveries that are open when the program ends resume under the same name.
    var name: String { get }

    /// Time limit for one notification, at most one minute; the default is 30 s. A notification that exceeds it is
    /// retried later, even if the sink is still working: its task is cancelled, but not awaited.
    var timeout: Duration { get }

    /// Accepts one notification. Returning means that the sink has accepted it.
    ///
    /// The same `id` can come again, with the same content, after a crash or a failure.
    ///
    /// - Throws: ``HostSinkRefusal`` to reject the notification, which costs one of ``OutboxOptions/maxRetries``; any
    ///   other error when the sink is unavailable; `CancellationError` when the task is cancelled.
    func deliver(_ notification: NotificationMessage) async throws
}

extension HostSink {
    public var timeout: Duration { .seconds(30) }
}

/// A host sink's rejection of a notification.
public struct HostSinkRefusal: Error, Sendable, Hashable {
    public init() {}
}

/// A sink that provides its notifications as an `AsyncSequence`.
///
/// A notification counts as delivered when it is in the sequence. If 1,000 are unread, the outbox keeps further ones and
/// retries them. A program that ends before it reads a notification does not see it again. A program that must not lose
/// any implements ``HostSink`` itself.
public final class NotificationFeed: HostSink {
    public let name: String
    /// The notifications, for one reader. The sequence ends with ``finish()``.
    public let notifications: AsyncStream<NotificationMessage>
    private let continuation: AsyncStream<NotificationMessage>.Continuation

    /// - Parameter name: The sink's name; see ``HostSink/name``.
    public init(name: String = "feed") {
        self.name = name
        (notifications, continuation) = AsyncStream.makeStream(
            of: NotificationMessage.self,
            bufferingPolicy: .bufferingOldest(1000)
        )
    }

    /// - Throws: `CancellationError` when the reader has stopped; another error when the sequence is full.
    public func deliver(_ notification: NotificationMessage) async throws {
        switch continuation.yield(notification) {
        case .enqueued: break
        case .dropped: throw Full()
        default: throw CancellationError()
        }
    }

    private struct Full: Error {}

    /// Ends the sequence. Later notifications wait for the next run.
    public func finish() { continuation.finish() }
}

/// Adapts a host's sink to the dispatcher.
struct HostSinkAdapter: NotificationSink {
    /// Maximum time limit, well within a delivery's lease.
    private static let longest = Duration.seconds(60)

    let sink: any HostSink
    let time: any TimeSource

    var name: String { sink.name }

    func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let limit = min(sink.timeout, Self.longest)
        let result = await time.run(within: limit, late: SinkResult.timeout) {
            await hand(over: notification)
        }
        return result ?? .unavailable(.stopping)
    }

    private func hand(over notification: OutgoingNotification) async -> SinkResult {
        do {
            let message = try JSONDecoder().decode(NotificationMessage.self, from: Data(notification.payload))
            try await sink.deliver(message)
            return .ok
        } catch is HostSinkRefusal {
            return .rejected(SinkFailure("The program refuses the notification.", .program))
        } catch {
            // The error's own text can contain personal data.
            return .unavailable(SinkFailure("The program did not take the notification.", .program))
        }
    }
}
