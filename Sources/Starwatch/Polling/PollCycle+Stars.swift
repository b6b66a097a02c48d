import StarwatchCore
import StarwatchStore

extension PollCycle {
    /// Fetches, and once more from where it stands for every change of the stars on the way.
    func fetchAll(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) {
        var snapshot = snapshot
        while true {
            do throws(Stop) { return try await fetch(stream, state: &state, snapshot: snapshot, into: &result) } catch {
                guard case .starsChanged = error else { throw error }
            }
            let former = snapshot.identity
            do { (snapshot, state) = (try await identity.current(), try await readState(stream)) } catch {
                throw .store(error)
            }
            guard snapshot.identity == former else { throw .staleIdentity }
            if snapshot.stars.isEmpty { return }
        }
    }

    func stars(are snapshot: IdentityContext.Snapshot) async throws(Stop) -> Bool {
        guard poll.kind == .starredProjects else { return true }
        do { return try await identity.current().stars == snapshot.stars } catch { throw .store(error) }
    }
}
