import StarwatchCore
import StarwatchStore

extension PollCycle {
    /// Fetches, and once more from where it stands for every change on the way of what the account wants to hear of.
    func fetchAll(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) {
        var snapshot = snapshot
        while true {
            do throws(Stop) { return try await fetch(stream, state: &state, snapshot: snapshot, into: &result) } catch {
                guard case .interestsChanged = error else { throw error }
            }
            let former = snapshot.identity
            do { (snapshot, state) = (try await identity.current(), try await readState(stream)) } catch {
                throw .store(error)
            }
            guard snapshot.identity == former else { throw .staleIdentity }
            if !snapshot.expects(poll.kind) { return }
        }
    }

    /// Whether the account wants to hear of the same as when `snapshot` was read.
    func interests(are snapshot: IdentityContext.Snapshot) async throws(Stop) -> Bool {
        do {
            let current = try await identity.current()
            return current.expects(poll.kind) && (poll.kind != .starredProjects || current.stars == snapshot.stars)
        } catch {
            throw .store(error)
        }
    }
}
