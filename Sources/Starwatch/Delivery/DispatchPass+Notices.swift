import StarwatchCore
import StarwatchStore
import StarwatchTransport

extension DispatchPass {
    /// Creates notifications for the new-feature notices that the account has not received yet.
    ///
    /// Each notice already has its id, so a crash cannot create two notifications from one notice.
    func announceFeatures() async throws(StoreError) {
        guard !sinks.isEmpty else { return }
        for notice in try await store.notifications.openNotices(of: account) {
            guard let feature = FeatureNotification(rawValue: notice.feature), let poll = PollName(notice.feature)
            else { continue }
            let message = NotificationMessage(
                feature: feature,
                id: notice.token,
                runID: RandomID.runID(of: notice.token),
                messages: service.renderer.messages,
                createdAt: notice.createdAt
            )
            try await store.notifications.announce(
                notice,
                on: service.account.stream(poll, of: account),
                service.renderer.outgoing(message),
                sinks: sinkNames,
                now: service.now
            )
        }
    }

    /// Notifies the user once when a poll is stale, and takes the notification back when the poll recovers (R-NOT-14).
    func announceStaleness() async throws(StoreError) {
        let streams = service.polls.map(stream)
        let known = store.status.rememberedSnapshot(streams)
        let snapshot: StoreSnapshot
        if let known { snapshot = known } else { snapshot = try await store.status.snapshot(streams) }
        // Ages are measured by the local clock: a server's clock that jumps must not make data look fresh.
        let (now, local) = (service.now, service.time.now)
        for (poll, stream) in zip(service.polls, streams) {
            let success = (snapshot.streams[stream]?.lastSuccess).map { min($0, local) }
            let notice = try await store.notifications.stalenessNotice(stream)
            let isStale: Bool
            if !current.expects(poll.options) {
                isStale = false
            } else if success == nil, notice != nil {
                // A restart does not count as a success.
                isStale = true
            } else {
                let begin = current.ageBegins(poll.kind, lastSuccess: success, startedAt: service.startedAt)
                isStale = local - begin > poll.staleAfter
            }
            guard isStale != (notice != nil) else { continue }
            var message = NotificationMessage(
                staleness: RandomID.notificationID(),
                runID: RandomID.runID(),
                poll: poll.name,
                lastSuccess: success,
                isOver: !isStale,
                messages: service.renderer.messages,
                createdAt: now
            )
            if isStale {
                let problems = service.metrics.problems.all
                message.problem = Problem.cause(ofStale: poll.name, among: problems)?.kind.rawValue
            }
            let outgoing = service.renderer.outgoing(message)
            if let notice {
                let takers = sinks.filter { notice.takenBy.contains($0.name) && $0.slot.sink.takesBack }.map(\.name)
                try await store.notifications.clearStalenessNotice(stream, outgoing, sinks: takers, now: now)
            } else if !sinks.isEmpty {
                try await store.notifications.raiseStalenessNotice(stream, outgoing, sinks: sinkNames, now: now)
            }
        }
    }
}
