import Foundation
import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// One attempt to acknowledge a batch at the server: send, read the answer, complete or postpone the batch.
struct AcknowledgeAttempt {
    enum End {
        /// The batch is done, and the next one can follow.
        case done(acknowledged: Int, WatermarkOutcome)
        /// The attempt failed; the next one is at this time.
        case failed(next: Timestamp, FailureReason)
        /// Nothing failed: the batch waits for a limit.
        case waits(next: Timestamp)
        case cancelled

        var isDone: Bool { if case .done = self { true } else { false } }
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
        /// The reason for the failure; `nil` if nothing failed, and the batch only waits.
        var failure: FailureReason?
    }

    /// Number of rejections before a batch is halved, to find the identifier that the server rejects.
    static let triesBeforeHalving = 3
    /// Number of rejections before a single acknowledgement is given up, if the last one is a 200 that rejects it.
    static let triesOfOne = 5

    let batch: AckBatch
    let dialect: Dialect
    let service: AcknowledgeService

    private var gate: Gate { service.account.gate }
    private var results: MetricVector1<AcknowledgementResult, Counter> { service.metrics.outbox.acknowledgements }

    func run() async throws(StoreError) -> End {
        var retry = Retry(resume: service.now)
        let hasAcknowledged = gate.known.acknowledges(now: service.time.now) ?? false
        let (result, end) = await service.account.api.answer(to: request, dialect: dialect) { response, _ in
            response.decoded(as: AcknowledgeAnswer.self)
        }
        switch result {
        case .success(let answer):
            if let end = try await read(answer, end.trace) { return end }
            // The server can have taken a batch whose answer cannot be read, and knows it by its key.
            retry.isRefused = answer != nil
            retry.failure = FailureReason(retry.isRefused ? .notAccepted : .malformed)
        // A server that has taken acknowledgements before has not lost its endpoint: it is tried again.
        case .failure(.failed(let failure))
        where failure.result == .notFound && service.options.mode == .auto && !hasAcknowledged:
            service.logger.log(
                .acknowledgeLocal,
                [.runID: "\(batch.runID)", .reason: "not_found"].merging(AgentEvent.fields(of: end.trace)) { $1 }
            )
            gate.known.miss(.acknowledge, now: service.time.now)
            return .done(acknowledged: 0, .unchanged)
        case .failure(.failed(let failure)):
            guard failure.failureClass != .cancelled else { return .cancelled }
            let result: AcknowledgementResult = failure.failureClass == .refused ? .failed : .retried
            results[result].increment(by: UInt64(batch.ids.count))
            // The key was used with another body, such as that of a former version. Acknowledging twice is harmless.
            if failure.status == 409 { retry.newKey = RandomID.uuid() }
            // Other failures say nothing about the batch. The server can have taken it, even if its answer is unreadable.
            retry.isRefused = failure.result != .unauthenticated && [400, 413, 422].contains(failure.status)
            retry.failure = failure.cause
            log(failure.reason, failure.cause, end.trace)
        case .failure(.deferred(let until, _)):
            // The gate's times are the local clock's.
            retry.resume = until + (service.now - service.time.now)
        case .failure(.noToken(let error)):
            retry.backoff = .token
            let failure = APIFailure(noToken: error)
            retry.failure = failure.cause
            service.logger.log(
                .acknowledgeNoToken,
                [
                    .runID: "\(batch.runID)", .error: "\(failure.reason)",
                    .reason: "\(failure.cause.word)", .identity: "\(batch.stream.account.rawValue)",
                ]
            )
        case .failure(.unstored(let error)): throw error
        }
        return try await postpone(retry)
    }

    private var request: EndorserRequest {
        var request = EndorserRequest(.acknowledge, .post, of: batch.stream.account, runID: batch.runID)
        (request.body, request.purpose, request.idempotencyKey) = (body, .acknowledge, batch.key)
        (request.identifiers, request.retries) = (batch.ids.count, .tokenOnly)
        return request
    }

    /// The request body, identical for every try: reusing a key with another body is a conflict. Identifiers and
    /// versions need no escaping.
    private var body: [UInt8] {
        let ids = batch.ids.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        let version = service.account.api.client.clientVersion
        return Array(
            #"{"acknowledgedJwtIds":[\#(ids)],"acknowledgedAt":"\#(batch.createdAt.iso8601)","clientVersion":"\#(version)"}"#
                .utf8
        )
    }

    /// Reads the server's answer, and completes the batch that it ends.
    ///
    /// - Returns: `nil` if the batch is not done: the server refused it, or its answer cannot be read, and `answer` is `nil`.
    private func read(_ answer: AcknowledgeAnswer?, _ trace: RequestTrace?) async throws(StoreError) -> End? {
        let count = UInt64(batch.ids.count)
        guard let answer else {
            results[.retried].increment(by: count)
            log("The server's answer cannot be read.", FailureReason(.malformed), trace)
            return nil
        }
        if answer.isSuccess(of: batch.ids.count) {
            let already = UInt64(min(max(answer.alreadyAcknowledged ?? 0, 0), batch.ids.count))
            let completion = try await service.store.acknowledgements.complete(
                batch,
                requestID: trace?.id,
                now: service.now
            )
            if completion.acknowledged > 0 {
                results[.already].increment(by: already)
                results[.ok].increment(by: count - already)
            }
            try await gate.known.learnAcknowledges()
            return .done(acknowledged: completion.acknowledged, completion.watermark)
        }
        // All or nothing: when a part failed, the whole batch failed.
        results[.failed].increment(by: count)
        let isGivenUp = count == 1 && batch.refusals + 1 >= Self.triesOfOne
        log(
            isGivenUp
                ? "The server rejects one acknowledgement; it counts as done, so that others can follow."
                : "The server did not take the whole batch.",
            FailureReason(.notAccepted),
            trace
        )
        guard isGivenUp else { return nil }
        // Without the request, because the server did not take it.
        let completion = try await service.store.acknowledgements.complete(batch, now: service.now)
        return .done(acknowledged: 0, completion.watermark)
    }

    /// Logs that the batch was not acknowledged.
    private func log(_ sentence: String, _ reason: FailureReason, _ trace: RequestTrace?) {
        service.logger.log(
            .acknowledgeFailed,
            [
                .runID: "\(batch.runID)", .changeCount: .number(batch.ids.count), .error: "\(sentence)",
                .identity: "\(batch.stream.account.rawValue)",
            ]
            .merging(reason.fields) { $1 }.merging(AgentEvent.fields(of: trace)) { $1 }
        )
    }

    /// Stores when the batch is tried again, in halves if the server rejected it several times.
    private func postpone(_ retry: Retry) async throws(StoreError) -> End {
        let delay = retry.backoff.delay(afterFailures: batch.attempts + 1, random: service.environment.random())
        let next = max(retry.resume, service.now + delay)
        if retry.isRefused, batch.ids.count > 1, batch.refusals + 1 >= Self.triesBeforeHalving {
            try await service.store.acknowledgements.halve(batch, until: next, newKey: RandomID.uuid())
        } else {
            try await service.store.acknowledgements.postpone(
                batch,
                until: next,
                isRefused: retry.isRefused,
                isWait: retry.failure == nil,
                newKey: retry.newKey
            )
        }
        return retry.failure.map { .failed(next: next, $0) } ?? .waits(next: next)
    }
}

/// The relevant part of the response.
private struct AcknowledgeAnswer: Decodable {
    var acknowledged: Int?
    var failed: Int
    var alreadyAcknowledged: Int?

    /// Returns `true` if all `count` identifiers are now acknowledged.
    func isSuccess(of count: Int) -> Bool {
        guard failed == 0 else { return false }
        // A response without counts reports only that nothing failed.
        guard acknowledged != nil || alreadyAcknowledged != nil else { return true }
        let (sum, overflow) = (acknowledged ?? 0).addingReportingOverflow(alreadyAcknowledged ?? 0)
        return !overflow && sum == count
    }
}
