import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// Sends a host application's request until it is answered or given up.
struct RequestRunner: Sendable {
    /// How a request ended, as it is shared by all who asked the same.
    struct Answer: Sendable {
        var result: Result<HTTPResponse, PollError>
        var requestID: String
        var retryCount: Int
    }

    let http: any HTTPTransport
    let time: any TimeSource
    let random: @Sendable () -> Double
    let gates: Gates

    func send(_ request: PreparedRequest) async -> Answer {
        let gate = gates.gate(to: request.origin, for: request.account)
        await gates.lookAtClock()
        guard await gate.begin(now: time.now) else {
            var error = PollError(
                .circuitOpen,
                "The server failed so often that it is left alone for a while.",
                isRetryable: true
            )
            error.retryAfter = await gate.nextTrial().map { max(.zero, $0 - time.now) }
            return Answer(result: .failure(error), requestID: "", retryCount: 0)
        }
        var answer = Answer(result: .failure(.cancelled), requestID: "", retryCount: 0)
        let failure = await send(request, through: gate, &answer)
        await gates.lookAtClock()
        await gate.end(failure, now: time.now)
        return answer
    }

    /// - Returns: What the circuit has to know; `nil`: it succeeded.
    private func send(
        _ request: PreparedRequest,
        through gate: any RequestGate,
        _ answer: inout Answer
    ) async -> FailureClass? {
        var attempt = 0
        var isRenewed = false
        var refused: AccessToken?
        while true {
            let (token, admittedAt): (AccessToken?, Timestamp)
            do throws(PollError) {
                (token, admittedAt) = try await takeTurn(of: request, at: gate, refused: refused)
            } catch {
                answer.result = .failure(error)
                return .cancelled
            }
            attempt += 1
            answer.requestID = RandomID.uuid()
            answer.retryCount = attempt - 1
            let exchange = await http.exchange(request.httpRequest(token: token, requestID: answer.requestID))
            await gate.ended(admittedAt: admittedAt, now: time.now)
            await gates.learn(from: exchange, of: request.origin, at: gate)
            let failure: APIFailure
            switch exchange.result {
            case .success(let response):
                guard let refusal = refusal(of: response, isConditional: request.validator != nil) else {
                    answer.result = .success(response)
                    return nil
                }
                failure = refusal
            case .failure(let error):
                failure = APIFailure(
                    result: error.result,
                    failureClass: error.failureClass,
                    reason: error.description
                )
            }
            if let wait = RetryPolicy.serverWait(for: failure) {
                // A clock that was set since must not move this wait too.
                await gates.lookAtClock()
                await gate.hold(until: time.now + wait, now: time.now)
            }
            var error = PollError(failure)
            answer.result = .failure(error)
            let decision = RetryDecision.decide(
                failure: failure,
                attempt: attempt,
                random: random(),
                tokenRenewed: isRenewed,
                // A new token is not a try that a host could want more or fewer of.
                policy: failure.failureClass == .unauthenticated ? nil : request.retry
            )
            switch decision {
            case .retry(let delay, _):
                guard (try? await time.sleep(for: delay)) != nil else {
                    answer.result = .failure(.cancelled)
                    return .cancelled
                }
            case .renewTokenAndRetry where token != nil:
                isRenewed = true
                refused = token
            case .deferUntil(let wait):
                error.retryAfter = wait
                answer.result = .failure(error)
                return failure.failureClass
            case .renewTokenAndRetry, .giveUp: return failure.failureClass
            }
        }
    }

    private struct NoToken: Error {}

    private static func noToken(_ error: any Error) -> PollError {
        var failure = PollError(
            .noToken,
            (error as? TokenError)?.description ?? "There is no token to send.",
            isRetryable: false
        )
        if !(error is NoToken) { failure.underlying = error }
        return failure
    }

    /// The failure that an answer is; `nil` when it is none.
    private func refusal(of response: HTTPResponse, isConditional: Bool) -> APIFailure? {
        if response.status == 304, !isConditional {
            return APIFailure(
                result: .malformed,
                failureClass: .malformed,
                status: 304,
                reason: "The server says that nothing changed, and was not asked (304)."
            )
        }
        return AnswerClassifier.classify(
            status: response.status,
            headers: response.headers,
            body: response.body,
            now: time.now
        )
    }

    /// Waits until the request may go, and gets its token.
    ///
    /// - Parameter refused: The token that the server did not accept.
    /// - Returns: The token, and when the request was counted.
    private func takeTurn(
        of request: PreparedRequest,
        at gate: any RequestGate,
        refused: AccessToken?
    ) async throws(PollError) -> (AccessToken?, Timestamp) {
        let ticket = WaitingLine.Ticket()
        do throws(PollError) {
            return try await takeTurn(of: request, at: gate, refused: refused, ticket)
        } catch {
            await gate.leave(ticket)
            throw error
        }
    }

    private func takeTurn(
        of request: PreparedRequest,
        at gate: any RequestGate,
        refused: AccessToken?,
        _ ticket: WaitingLine.Ticket
    ) async throws(PollError) -> (AccessToken?, Timestamp) {
        while true {
            await gates.lookAtClock()
            if Task.isCancelled { throw .cancelled }
            let now = time.now
            let until: Timestamp?
            do { until = try await gate.turn(ticket, now: now) } catch { throw PollError(error) }
            if let until {
                let wait = until - now
                if wait > RetryDecision.longestInlineWait {
                    throw PollError(
                        .rateLimitExceeded,
                        "The server, or our own limit, asks for a longer wait than is sat out.",
                        isRetryable: true,
                        retryAfter: wait
                    )
                }
                guard (try? await time.sleep(for: wait)) != nil else { throw .cancelled }
                continue
            }
            let token: AccessToken?
            do {
                token = try await request.tokens?.token(request.account, refused, gates.serverTime(of: request.origin))
                guard token != nil || request.tokens == nil || request.mayGoWithoutToken else { throw NoToken() }
            } catch {
                throw Self.noToken(error)
            }
            // Counted when it goes: another request may have been told to wait while the token was made.
            await gates.lookAtClock()
            let admittedAt = time.now
            let mustWait: Bool
            do { mustWait = try await gate.admit(ticket, now: admittedAt) != nil } catch { throw PollError(error) }
            if !mustWait { return (token, admittedAt) }
        }
    }
}
