import StarwatchCore
import StarwatchStore
import StarwatchTransport

extension DispatchService {
    /// Notifies the user once when a poll is stale, and takes the notification back when the poll recovers (R-NOT-14).
    func noticeStaleness(of current: IdentityContext.Snapshot) async throws(StoreError) {
        guard let did = current.identity.did else { return }
        let streams = polls.map { StreamKey(account: did, server: server, poll: $0.name) }
        let known = store.rememberedSnapshot(streams)
        let snapshot: StoreSnapshot
        if let known { snapshot = known } else { snapshot = try await store.snapshot(streams) }
        // Ages are measured by the local clock: a server's clock that jumps must not make data look fresh.
        let (now, local) = (clock.now, environment.time.now)
        for (poll, stream) in zip(polls, streams) {
            let success = (snapshot.streams[stream]?.lastSuccess).map { min($0, local) }
            let notice = try await store.stalenessNotice(stream)
            let isStale: Bool
            if !current.expects(poll.kind) {
                isStale = false
            } else if success == nil, notice != nil {
                // A restart does not count as a success.
                isStale = true
            } else {
                let begin = current.ageBegins(poll.kind, lastSuccess: success, startedAt: startedAt)
                isStale = local - begin > poll.options.staleAfter
            }
            guard isStale != (notice != nil) else { continue }
            let runID = RandomID.runID()
            let message = NotificationMessage(
                staleness: RandomID.notificationID(),
                runID: runID,
                poll: poll.name,
                lastSuccess: success,
                isOver: !isStale,
                messages: messages,
                createdAt: now
            )
            let outgoing = OutgoingNotification(message)
            let active = sinks.filter { !$0.isDisabled }
            if let notice {
                let sinks = active.filter {
                    notice.takenBy.contains($0.name) && $0.sink.takesBack
                }
                try await store.clearStalenessNotice(
                    stream,
                    outgoing,
                    sinks: sinks.map(\.name),
                    now: now
                )
            } else if !active.isEmpty {
                try await store.raiseStalenessNotice(
                    stream,
                    outgoing,
                    sinks: active.map(\.name),
                    now: now
                )
            }
        }
    }
}
