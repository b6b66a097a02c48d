import NIOCore
import Synchronization

/// The open connections of a server, and which of them can be closed to make room.
///
/// Not accepting more would be simpler, but then whoever opens enough of them and says nothing keeps a scrape and a
/// health check out.
final class ConnectionBook: Sendable {
    /// A connection's place. Its own event loop writes, any other reads.
    final class Place: Sendable {
        fileprivate let channel: any Channel
        /// In nanoseconds; `max` while an answer is being made.
        private let nanoseconds: Atomic<UInt64>

        fileprivate init(_ channel: any Channel, quietSince: NIODeadline) {
            self.channel = channel
            nanoseconds = Atomic(quietSince.uptimeNanoseconds)
        }

        fileprivate var quietSince: UInt64 { nanoseconds.load(ordering: .relaxed) }

        /// - Parameter time: `nil` while an answer is being made.
        func note(quietSince time: NIODeadline?) {
            nanoseconds.store(time?.uptimeNanoseconds ?? .max, ordering: .relaxed)
        }
    }

    private let limit: Int
    private let places = Mutex<[ObjectIdentifier: Place]>([:])

    init(limit: Int) { self.limit = limit }

    var count: Int { places.withLock(\.count) }

    /// Takes a new connection in, and closes the one that has been quiet for longest if there are too many.
    ///
    /// - Returns: `nil` if all others are being answered; the new one then has to go.
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
