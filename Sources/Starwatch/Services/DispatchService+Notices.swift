import StarwatchCore
import StarwatchStore
import StarwatchTelemetry

extension DispatchService {
    /// Hands the notices of new features that the account is still to get to the sinks that do not have them yet.
    ///
    /// A notice has its id before it is sent, and is marked after: a crash in between sends it again under the same id.
    /// One that a sink refuses is offered to it as often as a notification is.
    func deliverNotices(to account: DID, _ pass: inout Pass) async throws(StoreError) {
        for notice in try await store.openNotices(of: account) {
            guard let feature = FeatureNotification(rawValue: notice.feature) else { continue }
            let message = outgoing(feature, notice)
            var done = notice.sinksDone
            var wasTried = false
            for slot in sinks where !done.contains(slot.name) && !slot.isDisabled {
                let admission = slot.admit(at: clock.now)
                if let changed = admission.changed { note(changed, of: slot) }
                if let until = admission.waitUntil {
                    pass.next = min(pass.next ?? until, until)
                    continue
                }
                wasTried = true
                let result = await deliver(message, to: slot)
                if Task.isCancelled, result.isNoAnswer {
                    if let changed = slot.abandon(at: clock.now) { note(changed, of: slot) }
                    return
                }
                let (changed, nextTry) = slot.note(result, at: clock.now)
                if let changed { note(changed, of: slot) }
                count(slot, SinkAttemptResult(result))
                switch result {
                case .ok, .gone: done.insert(slot.name)
                case .rejected where notice.attempts + 1 >= maxRetries: done.insert(slot.name)
                case .rejected:
                    let again = clock.now + Backoff.rejectedDelivery.delay(afterFailures: notice.attempts + 1)
                    pass.next = min(pass.next ?? again, again)
                case .unavailable, .timeout: pass.next = min(pass.next ?? nextTry, nextTry)
                }
            }
            let isFinished = sinks.allSatisfy { done.contains($0.name) || $0.isDisabled } && !done.isEmpty
            guard wasTried || isFinished else { continue }
            try await store.noteNotice(notice, done: done, isFinished: isFinished, now: clock.now)
        }
    }

    /// The same bytes at every try: everything in it is stored, or of the configured language.
    private func outgoing(_ feature: FeatureNotification, _ notice: FeatureNotice) -> OutgoingNotification {
        let runID = "run_" + notice.token.dropFirst("ntf_".count).prefix(16)
        let message = NotificationMessage(
            feature: feature,
            id: notice.token,
            runID: runID,
            messages: messages,
            createdAt: notice.createdAt
        )
        return OutgoingNotification(
            id: message.id,
            runID: message.runID,
            poll: message.poll,
            group: message.group,
            count: message.count,
            title: message.title,
            body: message.body,
            payload: message.json()
        )
    }
}

extension SinkAttemptResult {
    fileprivate init(_ result: SinkResult) {
        self =
            switch result {
            case .ok: .ok
            case .rejected, .gone: .rejected
            case .unavailable: .unavailable
            case .timeout: .timeout
            }
    }
}
