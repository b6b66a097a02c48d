import Foundation
import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Acknowledges what was delivered, and only then moves the watermark.
package final class AcknowledgeService: Service {
    /// What one pass did.
    package struct Pass: Sendable, Hashable {
        package var acknowledged = 0
        package var watermarkMoved = false
        /// When a batch is tried again; `nil` when only a delivery can give work.
        package var next: Timestamp?
        /// Whether there was a batch to send, whatever came of it.
        var hasTried = false
    }

    /// Refusals after which a batch is halved, to find what it is that the server does not take (C-044).
    static let triesBeforeHalving = 3
    /// Refusals after which a single acknowledgement is given up, when the last one is a 200 that says so.
    static let triesOfOne = 5

    private let polls: [Poll]
    private let store: Store
    private let account: Account
    private let options: AcknowledgeOptions
    /// The most identifiers that a minute allows, and so a request.
    private let limit: Int
    private let environment: Environment
    private let wakes: Wakes
    private let passes = PassRunner<Pass>()
    private let memory = PassMemory()

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

    /// Passes whenever something was delivered or is due; once more when told to stop.
    package func run() async throws {
        await PassLoop(wake: wakes.acknowledge, time: environment.time, finishes: true).run {
            let next = await self.pass().next
            return next.map { min(max($0 - self.clock.now, .zero), .seconds(60)) } ?? .seconds(60)
        }
    }

    /// Acknowledges everything that may be acknowledged now. Passes never overlap.
    package func pass() async -> Pass {
        await passes.run { await self.passOnce() } ?? Pass()
    }

    /// Gives up the pass under way, because the identity changed, and returns when it has ended.
    package func abort() async {
        await passes.abort()
        // It may have found nothing because it was given up, or for the identity that left.
        memory.forget()
    }

    private func passOnce() async -> Pass {
        var pass = Pass()
        let (revision, start) = (store.revision, clock.now)
        let rest = memory.rest(revision: revision, at: start)
        if rest.isResting { return Pass(next: rest.next) }
        memory.forget()
        do throws(StoreError) {
            guard let did = try await account.identity.current().identity.did else { return pass }
            let configured = polls.map { StreamKey(account: did, server: account.server, poll: $0.name) }
            for (poll, stream) in zip(polls, configured) {
                try await acknowledge(poll, stream, &pass)
                // Rows that died or were discarded let it move too.
                note(try await store.advanceWatermark(stream, now: clock.now), poll, &pass)
            }
            // Nothing asks a server about a poll that is not configured any more; what it left is done when delivered.
            for stream in try await store.streams(of: did, with: .delivered, except: configured) {
                let completion = try await store.acknowledgeLocally(stream, now: clock.now)
                environment.metrics.outbox.acknowledgements[.local].increment(by: UInt64(completion.acknowledged))
                pass.acknowledged += completion.acknowledged
            }
            if !pass.hasTried, !Task.isCancelled { memory.remember(revision: revision, at: start, next: pass.next) }
        } catch {
            logger.log(.acknowledgeStoreFailed, [.error: "\(error.description)"])
            pass.next = clock.now + .seconds(5)
        }
        return pass
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
                if let next = try await store.nextAckAt(stream) { pass.next = min(pass.next ?? next, next) }
                return
            }
            // Made under a larger limit than today's.
            guard batch.ids.count <= limit else {
                try await store.halveAck(batch, until: clock.now, newKey: RandomID.uuid())
                continue
            }
            pass.hasTried = true
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

    /// Whether acknowledgements go to the server (C-046). Its endpoint knows changes of plans only, no offers.
    private func asksServer(dialect: Dialect?) async -> Bool {
        switch options.mode {
        case .server: true
        case .local: false
        case .auto: await account.gate.acknowledges ?? dialect?.hasAcknowledgement ?? false
        }
    }

    /// Sends one batch; whether to go on with the next.
    private func send(
        _ batch: AckBatch,
        _ poll: Poll,
        dialect: Dialect,
        _ pass: inout Pass
    ) async throws(StoreError) -> Bool {
        let call = EndorserAPI.Call(
            endpoint: .acknowledge,
            method: .post,
            body: Self.body(of: batch),
            account: batch.stream.account,
            purpose: .acknowledge,
            runID: RandomID.runID(),
            idempotencyKey: batch.key,
            identifiers: batch.ids.count,
            retries: .tokenOnly
        )
        let count = UInt64(batch.ids.count)
        let results = environment.metrics.outbox.acknowledgements
        var resume = clock.now
        var newKey: String?
        var isRefused = false
        let hasAcknowledged = await account.gate.acknowledges ?? false
        switch await account.api.send(call, dialect: dialect) {
        case .answer(let response, _):
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
            if let answer, answer.isSuccess(of: batch.ids.count) {
                let already = UInt64(min(max(answer.alreadyAcknowledged ?? 0, 0), batch.ids.count))
                let completion = try await store.completeAck(batch, now: clock.now)
                if completion.acknowledged > 0 {
                    results[.already].increment(by: already)
                    results[.ok].increment(by: count - already)
                }
                if options.mode == .auto { try await account.gate.learn(acknowledges: true) }
                pass.acknowledged += completion.acknowledged
                note(completion.watermark, poll, &pass)
                return true
            }
            // All or nothing: a part that failed is the whole that failed (C-044).
            isRefused = true
            results[.failed].increment(by: count)
            let isGivenUp = answer != nil && count == 1 && batch.refusals + 1 >= Self.triesOfOne
            logger.log(
                .acknowledgeFailed,
                [
                    .changeCount: .number(count),
                    .error: isGivenUp
                        ? "The server does not take one acknowledgement; it counts as done, so that others go on."
                        : "The server did not take the whole batch.",
                ]
            )
            if isGivenUp {
                let completion = try await store.completeAck(batch, now: clock.now)
                note(completion.watermark, poll, &pass)
                return true
            }
        // A server that has taken acknowledgements before has not lost its endpoint: it is tried again.
        case .failed(let failure)
        where failure.result == .notFound && options.mode == .auto && !hasAcknowledged:
            logger.log(.acknowledgeLocal, [.reason: "not_found"])
            try await account.gate.learn(acknowledges: false)
            return true
        case .failed(let failure):
            guard failure.failureClass != .cancelled else { return false }
            results[failure.failureClass == .refused ? .failed : .retried].increment(by: count)
            // The key was used with another body, such as that of a former version. Acknowledging twice is harmless.
            if failure.status == 409 { newKey = RandomID.uuid() }
            isRefused = [400, 413, 422].contains(failure.status)
            logger.log(.acknowledgeFailed, [.changeCount: .number(count), .error: "\(failure.reason)"])
        case .deferred(let until, _):
            // The gate's times are the local clock's.
            resume = until + (clock.now - environment.time.now)
        case .noToken(let error):
            logger.log(.acknowledgeNoToken, [.error: "\((error as? TokenError)?.description ?? "There is no token.")"])
        case .unstored(let error): throw error
        }
        let delay = Backoff.acknowledgement.delay(afterFailures: batch.attempts + 1, random: environment.random())
        let next = max(resume, clock.now + delay)
        if isRefused, batch.ids.count > 1, batch.refusals + 1 >= Self.triesBeforeHalving {
            try await store.halveAck(batch, until: next, newKey: RandomID.uuid())
        } else {
            try await store.deferAck(batch, until: next, isRefused: isRefused, newKey: newKey)
        }
        pass.next = min(pass.next ?? next, next)
        return false
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

    /// The body of R-EP-21, the same for every try: a key with another body is a conflict. Identifiers and versions need no escaping.
    private static func body(of batch: AckBatch) -> [UInt8] {
        let ids = batch.ids.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        return Array(
            #"{"acknowledgedJwtIds":[\#(ids)],"acknowledgedAt":"\#(batch.createdAt.iso8601)","clientVersion":"\#(AgentVersion.userAgent)"}"#
                .utf8
        )
    }

    /// The answer of R-EP-22, as far as it matters.
    private struct Answer: Decodable {
        var acknowledged: Int?
        var failed: Int
        var alreadyAcknowledged: Int?

        /// Whether every one of `count` identifiers is acknowledged now.
        func isSuccess(of count: Int) -> Bool {
            guard failed == 0 else { return false }
            // A server that does not count says only that nothing failed.
            guard acknowledged != nil || alreadyAcknowledged != nil else { return true }
            let (sum, overflow) = (acknowledged ?? 0).addingReportingOverflow(alreadyAcknowledged ?? 0)
            return !overflow && sum == count
        }
    }
}
