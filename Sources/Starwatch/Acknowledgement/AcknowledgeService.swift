package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Acknowledges delivered changes, and moves the watermark only afterwards.
package final class AcknowledgeService: Worker {
    /// Result of one pass.
    package struct Pass: WorkerPass, Hashable {
        package var acknowledged = 0
        package var watermarkMoved = false
        package var next: Timestamp?
        /// Number of attempts of the batch that failed most often, with this pass; 0 if no batch failed.
        fileprivate var failedAttempts = 0
        /// The reason for the last of these failures.
        fileprivate var failure: FailureReason?
        /// Whether a batch waits for a later pass without having failed in this one.
        fileprivate var leavesBatch = false

        package init() {}
    }

    package static let storeUser = StoreUser.acknowledgement
    package static let storeFailed = AgentEvent.acknowledgeStoreFailed

    private let polls: [Poll]
    let options: AcknowledgeOptions
    /// Maximum number of identifiers per minute, and therefore per request.
    private let limit: Int
    package let account: Account
    package let passes = PassRunner()
    private let failures = Mutex<(passes: Int, reason: FailureReason?)>((0, nil))

    package init(polls: [Poll], options: AcknowledgeOptions, limit: Int, account: Account) {
        (self.polls, self.options, self.limit, self.account) = (polls, options, limit, account)
    }

    package var now: Timestamp { clock.now }

    /// Number of passes in a row that tried to acknowledge and failed, whatever the reason; 0 after a success. After a
    /// restart the first failed pass counts the stored attempts of its batch too. A pass without a token has failed. A wait
    /// for a limit or for the next attempt is no failure.
    package var failedPasses: Int { failures.withLock(\.passes) }

    /// The reason for the last failed pass; `nil` after a success.
    package var lastFailure: FailureReason? { failures.withLock(\.reason) }

    /// Continues the count of `former`, the service before a reload.
    func keepFailures(of former: AcknowledgeService) {
        let known = former.failures.withLock { $0 }
        failures.withLock { $0 = known }
    }

    /// Cancels the current pass because the identity changed, and returns when the pass has ended.
    package func abort() async {
        await passes.abort()
        failures.withLock { $0 = (0, nil) }
    }

    /// Acknowledges everything that can be acknowledged now.
    package func work(_ pass: inout Pass) async throws(StoreError) {
        // Acknowledged changes cannot be fetched again, so damage must be found before.
        guard store.status.pageCheckPhase != .running else { return pass.tryAgain(at: now + .seconds(1)) }
        guard let did = try await account.identity.current().identity.did else { return countFailure(of: pass) }
        let configured = polls.map { account.stream(of: $0, for: did) }
        for (poll, stream) in zip(polls, configured) {
            try await acknowledge(stream, of: poll, &pass)
            // Dead and discarded rows let the watermark move too.
            count(try await store.acknowledgements.advanceWatermark(stream, now: now), of: poll, &pass)
        }
        countFailure(of: pass)
        // The agent sends no requests for a poll that is no longer configured. Its rows are done once they are delivered.
        for stream in try await store.deliveries.streams(of: did, with: .delivered, except: configured) {
            _ = try await acknowledgeLocally(stream, &pass)
        }
    }

    /// Counts a pass for ``failedPasses``.
    private func countFailure(of pass: Pass) {
        failures.withLock { failures in
            if pass.failedAttempts > 0 {
                failures = (max(failures.passes + 1, pass.failedAttempts), pass.failure)
            } else if !pass.leavesBatch {
                failures = (0, nil)
            }
        }
    }

    private func acknowledge(_ stream: StreamKey, of poll: Poll, _ pass: inout Pass) async throws(StoreError) {
        while !Task.isCancelled {
            let dialect = account.gate.known.dialect
            guard poll.kind.isOfPlans, asksServer(dialect: dialect) else {
                let completion = try await Trace.span(.acknowledge) { span throws(StoreError) in
                    let completion = try await acknowledgeLocally(stream, &pass)
                    span?.set(.poll, poll.name)
                    span?.set(.count, completion.acknowledged)
                    span?.set(.outcome, AcknowledgementResult.local)
                    return completion
                }
                return count(completion.watermark, of: poll, &pass)
            }
            let batch = try await store.acknowledgements.nextBatch(
                stream,
                limit: min(options.batchSize, limit),
                now: now,
                newKey: { RandomID.uuid() }
            )
            guard let batch else {
                guard let next = try await store.acknowledgements.nextAt(stream) else { return }
                pass.leavesBatch = true
                return pass.tryAgain(at: next)
            }
            // The batch was created under a larger limit than the current one.
            guard batch.ids.count <= limit else {
                try await store.acknowledgements.halve(batch, until: now, newKey: RandomID.uuid())
                continue
            }
            let attempt = AcknowledgeAttempt(batch: batch, dialect: dialect ?? .canonical, service: self)
            let end = try await Trace.span(.acknowledge) { span throws(StoreError) in
                let end = try await attempt.run()
                span?.set(.poll, poll.name)
                span?.set(.count, batch.ids.count)
                if end.isDone {
                    span?.set(.outcome, AcknowledgementResult.ok)
                } else {
                    span?.fail(AcknowledgementResult.failed)
                }
                return end
            }
            switch end {
            case .done(let acknowledged, let watermark):
                pass.acknowledged += acknowledged
                count(watermark, of: poll, &pass)
                continue
            case .failed(let next, let reason):
                pass.failure = reason
                pass.failedAttempts = max(pass.failedAttempts, batch.attempts + 1)
                pass.tryAgain(at: next)
            case .waits(let next):
                pass.leavesBatch = true
                pass.tryAgain(at: next)
            case .cancelled: pass.leavesBatch = true
            }
            return
        }
    }

    private func acknowledgeLocally(_ stream: StreamKey, _ pass: inout Pass) async throws(StoreError) -> AckCompletion {
        let completion = try await store.acknowledgements.completeLocally(stream, now: now)
        metrics.outbox.acknowledgements[.local].increment(by: UInt64(completion.acknowledged))
        pass.acknowledged += completion.acknowledged
        return completion
    }

    /// Returns `true` if acknowledgements go to the server. Its endpoint accepts changes of plans only, not
    /// offers.
    private func asksServer(dialect: Dialect?) -> Bool {
        switch options.mode {
        case .server: true
        case .local: false
        case .auto: account.gate.known.acknowledges(now: time.now) ?? dialect?.hasAcknowledgement ?? false
        }
    }

    private func count(_ outcome: WatermarkOutcome, of poll: Poll, _ pass: inout Pass) {
        switch outcome {
        case .unchanged: break
        case .advanced(let to):
            metrics.outbox.watermarkAdvances[poll.label].increment()
            metrics.outbox.watermark[poll.label].set(to.timestamp.seconds)
            pass.watermarkMoved = true
        case .conflict: metrics.outbox.watermarkConflicts[poll.label].increment()
        }
    }
}
