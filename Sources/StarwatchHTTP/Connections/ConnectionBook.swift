import NIOCore
import Starwatch
import Synchronization

/// The open connections of a server. If there are too many, the quietest one is closed.
///
/// Refusing new connections would be simpler, but then a client with many silent connections would lock out scrapes
/// and health checks.
final class ConnectionBook: Sendable {
    /// The place of a connection. Only the connection's own event loop writes it.
    final class Place: Sendable {
        fileprivate let channel: any Channel
        /// The start of the silence in nanoseconds; `max` while the server works on an answer.
        private let nanoseconds: Atomic<UInt64>

        fileprivate init(_ channel: any Channel, quietSince: NIODeadline) {
            self.channel = channel
            nanoseconds = Atomic(quietSince.uptimeNanoseconds)
        }

        fileprivate var quietSince: UInt64 { nanoseconds.load(ordering: .relaxed) }

        /// - Parameter time: The start of the silence; `nil` while the server works on an answer.
        func note(quietSince time: NIODeadline?) {
            nanoseconds.store(time?.uptimeNanoseconds ?? .max, ordering: .relaxed)
        }
    }

    private let limit: Int
    private let places = Mutex<[ObjectIdentifier: Place]>([:])

    init(limit: Int) { self.limit = limit }

    var count: Int { places.withLock(\.count) }

    /// Adds a connection, and closes the quietest one if there are too many.
    ///
    /// - Returns: `nil` if the server works on answers for all others; the new connection must then be closed.
    func open(_ channel: any Channel, at now: NIODeadline) -> Place? {
        let place = Place(channel, quietSince: now)
        let (isOpen, victim) = places.withLock { places -> (Bool, Place?) in
            var victim: Place?
            if places.count >= limit {
                victim = places.values.min { $0.quietSince < $1.quietSince }
                guard let victim, victim.quietSince < .max else { return (false, nil) }
                places[ObjectIdentifier(victim)] = nil
            }
            places[ObjectIdentifier(place)] = place
            return (true, victim)
        }
        victim?.channel.close(promise: nil)
        return isOpen ? place : nil
    }

    func close(_ place: Place) { places.withLock { $0[ObjectIdentifier(place)] = nil } }
}

/// Limits of a server's connections.
///
/// Well-behaved clients stay far below them. The server's own work on an answer has no limit, because a poll cycle that
/// the control API runs takes as long as it takes.
struct ConnectionLimits: Sendable {
    /// The maximum number of connections. Another one replaces the quietest.
    var connections = Self.connections(ofFiles: OpenFiles.limit)
    /// The time limit without a request. Longer than any sensible scrape interval.
    var idle = Duration.seconds(150)
    /// The time limit from a request's first byte to its last, and of a TLS handshake.
    var request = Duration.seconds(30)
    /// The time limit for a client to take a piece of an answer.
    var answer = Duration.seconds(30)
    /// The pause before a request that a client sent before it had the previous answer.
    var turn = Duration.milliseconds(1)

    /// The number of connections for a limit on open files. Three full servers must leave files for everything else,
    /// because without a free file no connection is accepted and none makes room.
    static func connections(ofFiles files: Int) -> Int { min(256, max(8, files / 4)) }

    var shortest: Duration { min(idle, request, answer) }
}
