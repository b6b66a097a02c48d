import StarwatchCore
import StarwatchStore
import Synchronization

/// The rhythms of the active identity's polls: read from the database once, and continued by each look at its state.
final class ChangeRhythms: Sendable {
    private let store: Store
    private let known = Mutex<[StreamKey: ChangeRhythm]>([:])

    init(store: Store) { self.store = store }

    /// The silences of a snapshot's streams, of which enough is known.
    func silences(in snapshot: StoreSnapshot) async -> [PollName: ChangeRhythm.Silence] {
        var silences: [PollName: ChangeRhythm.Silence] = [:]
        for (stream, state) in snapshot.streams {
            // A silence counts up to the last success: a poll that fails has seen nothing.
            guard let new = state.lastNew, let success = state.lastSuccess,
                let known = await rhythm(of: stream, until: new)
            else { continue }
            silences[stream.poll] = known.silence(until: success)
        }
        return silences
    }

    private func rhythm(of stream: StreamKey, until last: Timestamp) async -> ChangeRhythm? {
        if known.withLock({ $0[stream] }) == nil {
            guard let times = try? await store.polls.changeTimes(of: stream, since: last - ChangeRhythm.window) else {
                return nil
            }
            var rhythm = ChangeRhythm()
            for time in times { rhythm.note(time) }
            known.withLock { $0[stream] = rhythm }
        }
        return known.withLock { known in
            known[stream]?.note(last)
            return known[stream]
        }
    }
}
