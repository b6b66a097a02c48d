import NIOCore
import Synchronization

/// The open connections of a server, and the ones that it can close to make room.
///
/// A simple limit is not enough: a client that opens many connections and sends nothing would block scrapes and health
/// checks.
final class ConnectionBook: Sendable {
    /// A connection's place. Its own event loop writes it, and others read it.
    final class Place: Sendable {
        fileprivate let channel: any Channel
        /// The quiet time's start in nanoseconds; `max` while an answer is in progress.
        private let nanoseconds: Atomic<UInt64>

        fileprivate init(_ channel: any Channel, quietSince: NIODeadline) {
            self.channel = channel
            nanoseconds = Atomic(quietSince.uptimeNanoseconds)
        }

        fileprivate var quietSince: UInt64 { nanoseconds.load(ordering: .relaxed) }

        /// - Parameter time: The start of the quiet time; `nil` while an answer is in progress.
        func note(quietSince time: NIODeadline?) {
            nanoseconds.store(time?.uptimeNanoseconds ?? .max, ordering: .relaxed)
        }
    }

    private let limit: Int
    private let places = Mutex<[ObjectIdentifier: Place]>([:])

    init(limit: Int) { self.limit = limit }

    var count: Int { places.withLock(\.count) }

    /// Accepts a new connection. If there are too many, it closes the one that has been quiet for longest.
    ///
    /// - Returns: `nil` if all others wait for an answer; the new one must then close.
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

    func close(_ place: Place) {
        places.withLock { $0[ObjectIdentifier(place)] = nil }
    }
}
