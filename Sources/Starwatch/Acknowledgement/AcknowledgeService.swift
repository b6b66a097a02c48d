import Foundation
import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Acknowledges delivered changes, and moves the watermark only afterwards.
package final class AcknowledgeService: Service {
    /// Result of one pass.
    package struct Pass: Sendable, Hashable {
        package var acknowledged = 0
        package var watermarkMoved = false
        /// Time of the next retry of a batch; `nil` if only a delivery can create work.
        package var next: Timestamp?
        /// Number of attempts of the batch that failed most often, with this pass; 0 if no batch failed.
        fileprivate var failedAttempts = 0
        /// Whether a batch waits for a later pass without having failed in this one.
        fileprivate var leavesBatch = false
    }

    /// Number of rejections before a batch is halved, to find the identifier that the server rejects (C-044).
    static let triesBeforeHalving = 3
    /// Number of rejections before a single acknowledgement is given up, if the last one is a 200 that rejects it.
    static let triesOfOne = 5

    private let polls: [Poll]
    private let store: Store
    private let account: Account
    private let options: AcknowledgeOptions
    /// Maximum number of identifiers per minute, and therefore per request.
    private let limit: Int
    private let environment: Environment
    private let wakes: Wakes
    private let passes = PassRunner()
    private let failures = Atomic<Int>(0)

    package init(
        polls: [Poll],
        store: Store,
        account: Account,
        options: AcknowledgeOptions,
        limit: Int,
        environment: Environment,
        wakes: Wakes
    ) {
        self.polls = polls
        self.store = store
        self.account = account
        self.options = options
        self.limit = limit
        self.environment = environment
        self.wakes = wakes
    }

    private var clock: ServerClock { environment.clock }
    private var logger: Logger { environment.logger }

    /// Number of passes in a row that tried to acknowledge and failed, whatever the reason; 0 after a success. After a
    /// restart the first failed pass counts the stored attempts of its batch too. A wait for a limit, for a token or for
    /// the next attempt is no failure.
    package var failedPasses: Int { failures.load(ordering: .relaxed) }

    /// Runs a pass whenever something was delivered or is due. On shutdown it runs one more.
    package func run() async throws {
        await PassLoop(wake: wakes.acknowledge, time: environment.time, finishes: true).run {
            self.environment.idleTime(until: await self.pass().next)
        }
    }

    /// Acknowledges everything that can be acknowledged now. Passes never overlap.
    package func pass() async -> Pass {
        await passes.run { await self.passOnce() } ?? Pass()
    }

    /// Cancels the current pass because the identity changed, and returns when the pass has ended.
    package func abort() async {
        await passes.abort()
        failures.store(0, ordering: .relaxed)
    }

    private func passOnce() async -> Pass {
        var pass = Pass()
        // Acknowledged changes cannot be fetched again, so damage must be found before.
        guard store.pageCheckPhase != .running else {
            pass.next = clock.now + .seconds(1)
            return pass
        }
        do throws(StoreError) {
            guard let did = try await account.identity.current().identity.did else {
                count(pass)
                store.health.ended(.acknowledgement, failed: false)
                return pass
            }
            let configured = polls.map { StreamKey(account: did, server: account.server, poll: $0.name) }
            for (poll, stream) in zip(polls, configured) {
                try await acknowledge(poll, stream, &pass)
                // Dead and discarded rows let the watermark move too.
                note(try await store.advanceWatermark(stream, now: clock.now), poll, &pass)
            }
            count(pass)
            // The agent sends no requests for a poll that is no longer configured. Its rows are done once they are
            // delivered.
            for stream in try await store.streams(of: did, with: .delivered, except: configured) {
                let completion = try await store.acknowledgeLocally(stream, now: clock.now)
                environment.metrics.outbox.acknowledgements[.local].increment(by: UInt64(completion.acknowledged))
                pass.acknowledged += completion.acknowledged
            }
            store.health.ended(.acknowledgement, failed: false)
        } catch {
            logger.log(.acknowledgeStoreFailed, [.error: "\(error.description)"])
            store.health.ended(.acknowledgement, failed: true)
            pass.next = clock.now + .seconds(5)
        }
        return pass
    }

    /// Counts a pass for ``failedPasses``.
    private func count(_ pass: Pass) {
        if pass.failedAttempts > 0 {
            failures.store(max(failedPasses + 1, pass.failedAttempts), ordering: .relaxed)
        } else if !pass.leavesBatch {
            failures.store(0, ordering: .relaxed)
        }
    }

    private func acknowledge(_ poll: Poll, _ stream: StreamKey, _ pass: inout Pass) async throws(StoreError) {
        while !Task.isCancelled {
            let dialect = await account.gate.dialect
            guard poll.kind == .starredProjects, await asksServer(dialect: dialect) else {
                let completion = try await Trace.span(.acknowledge) { span throws(StoreError) in
                    let completion = try await store.acknowledgeLocally(stream, now: clock.now)
                    span?.set(.poll, poll.name)
                    span?.set(.count, completion.acknowledged)
                    span?.set(.outcome, AcknowledgementResult.local)
                    return completion
                }
                environment.metrics.outbox.acknowledgements[.local].increment(by: UInt64(completion.acknowledged))
                pass.acknowledged += completion.acknowledged
                return note(completion.watermark, poll, &pass)
            }
            let batch = try await store.nextAckBatch(
                stream,
                limit: min(options.batchSize, limit),
                now: clock.now,
                newKey: { RandomID.uuid() }
            )
            guard let batch else {
                guard let next = try await store.nextAckAt(stream) else { return }
                pass.next = min(pass.next ?? next, next)
                pass.leavesBatch = true
                return
            }
            // The batch was created under a larger limit than the current one.
            guard batch.ids.count <= limit else {
                try await store.halveAck(batch, until: clock.now, newKey: RandomID.uuid())
                continue
            }
            let isSent = try await Trace.span(.acknowledge) { span throws(StoreError) in
                let isSent = try await send(batch, poll, dialect: dialect ?? .canonical, &pass)
                guard let span else { return isSent }
                span.set(.poll, poll.name)
                span.set(.count, batch.ids.count)
                if isSent {
                    span.set(.outcome, AcknowledgementResult.ok)
                } else {
                    span.fail(AcknowledgementResult.failed)
                }
                return isSent
            }
            guard isSent else { return }
        }
    }

    /// Returns `true` if acknowledgements go to the server (C-046). Its endpoint accepts changes of plans only, not
    /// offers.
    private func asksServer(dialect: Dialect?) async -> Bool {
        switch options.mode {
        case .server: true
        case .local: false
        case .auto: await account.gate.acknowledges(now: environment.time.now) ?? dialect?.hasAcknowledgement ?? false
        }
    }

    /// The next try of a batch that was not acknowledged.
    private struct Retry {
        /// Not before this time.
        var resume: Timestamp
        /// Whether the server rejects the batch itself.
        var isRefused = false
        /// The backoff after this failure.
        var backoff = Backoff.acknowledgement
        /// A new idempotency key, where the old one cannot be used again.
        var newKey: String?
        /// Whether nothing failed, and the batch only waits for the rate limit.
        var isWait = false
    }

    /// Sends one batch.
    ///
    /// - Returns: Whether the next batch can follow.
    private func send(
        _ batch: AckBatch,
        _ poll: Poll,
        dialect: Dialect,
        _ pass: inout Pass
    ) async throws(StoreError) -> Bool {
        let count = UInt64(batch.ids.count)
        var retry = Retry(resume: clock.now)
        let hasAcknowledged = await account.gate.acknowledges(now: environment.time.now) ?? false
        let reply = await account.api.reply(to: call(for: batch), dialect: dialect)
        switch reply.result {
        case .success(let answer):
            switch try await take(answer, reply.trace, batch, poll, &pass) {
            case .done: return true
            case .refused: retry.isRefused = true
            // The server can have taken the batch, and knows it by its key.
            case .unreadable: break
            }
        // A server that has taken acknowledgements before has not lost its endpoint: it is tried again.
        case .failure(.failed(let failure))
        where failure.result == .notFound && options.mode == .auto && !hasAcknowledged:
            logger.log(
                .acknowledgeLocal,
                [.runID: "\(batch.runID)", .reason: "not_found"].merging(AgentEvent.fields(of: reply.trace)) { $1 }
            )
            await account.gate.missEndpoint(now: environment.time.now)
            return true
        case .failure(.failed(let failure)):
            guard failure.failureClass != .cancelled else {
                pass.leavesBatch = true
                return false
            }
            let result: AcknowledgementResult = failure.failureClass == .refused ? .failed : .retried
            environment.metrics.outbox.acknowledgements[result].increment(by: count)
            // The key was used with another body, such as that of a former version. Acknowledging twice is harmless.
            if failure.status == 409 { retry.newKey = RandomID.uuid() }
            // Other failures say nothing about the batch. The server can have taken it, even if its answer is unreadable.
            retry.isRefused = failure.result != .unauthenticated && [400, 413, 422].contains(failure.status)
            note(failure.reason, batch, reply.trace, failure.cause)
        case .failure(.deferred(let until, _)):
            // The gate's times are the local clock's.
            retry.resume = until + (clock.now - environment.time.now)
            retry.isWait = true
        case .failure(.noToken(let error)):
            retry.backoff = .token
            retry.isWait = true
            let error = error as? TokenError
            logger.log(
                .acknowledgeNoToken,
                [
                    .runID: "\(batch.runID)", .error: "\(error?.description ?? "There is no token.")",
                    .reason: "\((error?.cause ?? .noToken).rawValue)",
                ]
            )
        case .failure(.unstored(let error)): throw error
        }
        try await postpone(batch, retry, &pass)
        return false
    }

    private func call(for batch: AckBatch) -> EndorserAPI.Call<AcknowledgeAnswer?> {
        EndorserAPI.Call(
            endpoint: .acknowledge,
            method: .post,
            body: Self.body(of: batch, clientVersion: account.api.client.clientVersion),
            account: batch.stream.account,
            purpose: .acknowledge,
            runID: batch.runID,
            idempotencyKey: batch.key,
            identifiers: batch.ids.count,
            retries: .tokenOnly,
            read: { response, _ in response.decoded(as: AcknowledgeAnswer.self) }
        )
    }

    /// The meaning of an answer for its batch.
    private enum Verdict {
        case done, refused
        /// The answer says nothing about the batch.
        case unreadable
    }

    /// Reads the server's answer to a batch.
    private func take(
        _ answer: AcknowledgeAnswer?,
        _ trace: RequestTrace?,
        _ batch: AckBatch,
        _ poll: Poll,
        _ pass: inout Pass
    ) async throws(StoreError) -> Verdict {
        let count = UInt64(batch.ids.count)
        let results = environment.metrics.outbox.acknowledgements
        guard let answer else {
            results[.retried].increment(by: count)
            note("The server's answer cannot be read.", batch, trace, FailureReason(.malformed))
            return .unreadable
        }
        if answer.isSuccess(of: batch.ids.count) {
            let already = UInt64(min(max(answer.alreadyAcknowledged ?? 0, 0), batch.ids.count))
            let completion = try await store.completeAck(batch, requestID: trace?.id, now: clock.now)
            if completion.acknowledged > 0 {
                results[.already].increment(by: already)
                results[.ok].increment(by: count - already)
            }
            try await account.gate.learnAcknowledges()
            pass.acknowledged += completion.acknowledged
            note(completion.watermark, poll, &pass)
            return .done
        }
        // All or nothing: when a part failed, the whole batch failed (C-044).
        results[.failed].increment(by: count)
        let isGivenUp = count == 1 && batch.refusals + 1 >= Self.triesOfOne
        note(
            isGivenUp
                ? "The server rejects one acknowledgement; it counts as done, so that others can follow."
                : "The server did not take the whole batch.",
            batch,
            trace,
            FailureReason(.notAccepted)
        )
        guard isGivenUp else { return .refused }
        // Without the request, because the server did not take it.
        let completion = try await store.completeAck(batch, now: clock.now)
        note(completion.watermark, poll, &pass)
        return .done
    }

    /// Logs that a batch was not acknowledged.
    private func note(_ sentence: String, _ batch: AckBatch, _ trace: RequestTrace?, _ reason: FailureReason) {
        logger.log(
            .acknowledgeFailed,
            [.runID: "\(batch.runID)", .changeCount: .number(batch.ids.count), .error: "\(sentence)"]
                .merging(reason.fields) { $1 }.merging(AgentEvent.fields(of: trace)) { $1 }
        )
    }

    /// Stores when a batch is tried again, in halves if the server rejected it several times.
    private func postpone(_ batch: AckBatch, _ retry: Retry, _ pass: inout Pass) async throws(StoreError) {
        let delay = retry.backoff.delay(afterFailures: batch.attempts + 1, random: environment.random())
        let next = max(retry.resume, clock.now + delay)
        if retry.isRefused, batch.ids.count > 1, batch.refusals + 1 >= Self.triesBeforeHalving {
            try await store.halveAck(batch, until: next, newKey: RandomID.uuid())
        } else {
            try await store.deferAck(
                batch,
                until: next,
                isRefused: retry.isRefused,
                isWait: retry.isWait,
                newKey: retry.newKey
            )
        }
        pass.next = min(pass.next ?? next, next)
        if retry.isWait {
            pass.leavesBatch = true
        } else {
            pass.failedAttempts = max(pass.failedAttempts, batch.attempts + 1)
        }
    }

    private func note(_ outcome: WatermarkOutcome, _ poll: Poll, _ pass: inout Pass) {
        switch outcome {
        case .unchanged: break
        case .advanced(let to):
            environment.metrics.outbox.watermarkAdvances[poll.label].increment()
            environment.metrics.outbox.watermark[poll.label].set(to.timestamp.seconds)
            pass.watermarkMoved = true
        case .conflict: environment.metrics.outbox.watermarkConflicts[poll.label].increment()
        }
    }

    /// Returns the body of R-EP-21, identical for every try: reusing a key with another body is a conflict. Identifiers
    /// and versions need no escaping.
    private static func body(of batch: AckBatch, clientVersion: String) -> [UInt8] {
        let ids = batch.ids.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        return Array(
            #"{"acknowledgedJwtIds":[\#(ids)],"acknowledgedAt":"\#(batch.createdAt.iso8601)","clientVersion":"\#(clientVersion)"}"#
                .utf8
        )
    }
}
