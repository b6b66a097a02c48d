import StarwatchCore
import StarwatchStore

extension PollCycle {
    /// Fetches all pages. If the account's interests change during the fetch, it continues from the stored cursor.
    ///
    /// - Returns: `false` if it stopped because the account no longer wants this poll, or because the server answered
    ///   without content before anything is known of it.
    func fetchAll(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) -> Bool {
        var snapshot = snapshot
        while true {
            do throws(Stop) {
                return try await fetch(stream, state: &state, snapshot: snapshot, into: &result)
            } catch {
                guard case .interestsChanged = error else { throw error }
            }
            let former = snapshot.identity
            do { (snapshot, state) = (try await identity.current(), try await readState(stream)) } catch {
                throw .store(error)
            }
            guard snapshot.identity == former else { throw .staleIdentity }
            if !snapshot.expects(poll.kind) { return false }
        }
    }

    /// Returns `true` if the account's interests are the same as in `snapshot`.
    func interests(are snapshot: IdentityContext.Snapshot) async throws(Stop) -> Bool {
        do {
            let current = try await identity.current()
            let (now, then) = (current.interests, snapshot.interests)
            return poll.kind == .starredProjects ? now == then : now?.preferences == then?.preferences
        } catch {
            throw .store(error)
        }
    }
}
