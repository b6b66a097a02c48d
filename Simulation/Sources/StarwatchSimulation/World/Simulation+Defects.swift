import Starwatch
import StarwatchCore
import StarwatchStore

extension Simulation {
    /// Moves every watermark to the newest row, even if it is unfinished.
    func forgeWatermark(_ agent: Agent) async {
        do throws(StoreError) {
            guard let did = try await agent.store.activeIdentity().did else { return }
            var filter = OutboxFilter()
            filter.limit = 100_000
            let rows = try await agent.store.outbox(filter)
            for poll in agent.polls {
                let stream = StreamKey(account: did, server: Settings.server, poll: poll.name)
                let ids = rows.filter { $0.stream == stream }.map(\.change.id)
                guard let newest = ids.max(by: { $0.rawValue < $1.rawValue }) else { continue }
                _ = try await agent.store.compareAndSwapWatermark(
                    stream,
                    expected: try await agent.store.watermark(stream),
                    new: newest,
                    now: clock.now
                )
            }
        } catch {
            trace.note("no forgery")
        }
    }
}
