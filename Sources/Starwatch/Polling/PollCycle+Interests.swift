import StarwatchCore
import StarwatchStore

extension PollCycle {
    /// Fetches, and once more from where it stands for every change on the way of what the account wants to hear of.
    ///
    /// - Returns: `false` when it was given up, because the account wants to hear of nothing any more.
    func fetchAll(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) -> Bool {
        var snapshot = snapshot
        while true {
            do throws(Stop) {
                try await fetch(stream, state: &state, snapshot: snapshot, into: &result)
                return true
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

    /// Whether the account wants to hear of the same as when `snapshot` was read.
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
