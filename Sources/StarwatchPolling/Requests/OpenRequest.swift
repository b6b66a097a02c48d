package import StarwatchCore
import StarwatchStore
package import StarwatchTransport

/// One logical request to a server, from its terms to its end: it waits for its turns, gets tokens, learns from the answers, and
/// decides about retries. Its maker sends each attempt and reads the answers:
///
///     while await request.next() {
///         let exchange = await http.exchange(…)
///         let askedAt = request.receive(exchange)
///         await request.end(with: failure)
///     }
///
/// Make it where ``Offload/isChosen``.
package struct OpenRequest: ~Copyable {
    private let sender: Sender
    /// The number of identifiers that the request acknowledges; they have their own limit.
    package var identifiers = 0
    package var retries = RequestRetries.policy(nil)
    /// The time before which the request must be sent; `nil`: each wait is at most ``RetryDecision/longestInlineWait``.
    package var deadline: Timestamp?
    package private(set) var end = RequestEnd()
    /// The token of the present attempt; `nil` without one.
    package private(set) var token: AccessToken?
    /// The time at which the present attempt was counted, by the local clock.
    package private(set) var admittedAt = Timestamp(milliseconds: 0)
    /// The end of the last attempt; `nil` before it.
    package private(set) var exchange: HTTPExchange?
    /// The result of the last attempt.
    package private(set) var result = RequestResult.cancelled
    private let gate: Gate
    private let requester: Requester
    private let observer: (any RequestObserver)?
    private let makeToken: TokenSource?
    private var refused: AccessToken?
    private var isTokenRenewed = false
    private var isEnded = false

    /// Returns a token, or `nil` to send none. Its argument is the token that the server rejected, if any.
    package typealias TokenSource = @Sendable (_ refused: AccessToken?) async throws -> AccessToken?

    /// - Parameter token: `nil` for a request without a token.
    package init(
        of sender: Sender,
        through gate: Gate,
        by requester: Requester,
        observer: (any RequestObserver)? = nil,
        token: TokenSource?
    ) {
        (self.sender, self.gate, self.requester, self.observer) = (sender, gate, requester, observer)
        makeToken = token
    }

    private var gates: Gates { requester.gates }
    private var time: any TimeSource { requester.time }

    // MARK: - Turns

    /// Waits until the next attempt can go, and gets its token. Cancelling the task ends the request.
    ///
    /// - Returns: `false` after the request's end.
    package mutating func next() async -> Bool {
        guard !isEnded else { return false }
        let ticket = TicketQueue.Ticket()
        guard let failure = await turn(with: ticket) else { return true }
        await gate.leave(ticket, of: sender)
        end.failure = failure
        return false
    }

    /// - Returns: The request's end if it cannot go in time.
    private mutating func turn(with ticket: TicketQueue.Ticket) async -> RequestFailure? {
        do throws(StoreError) {
            while !Task.isCancelled {
                admittedAt = await gates.followClock()
                if let makeToken {
                    let turn = try await gate.turn(
                        of: sender,
                        ticket: ticket,
                        acknowledging: identifiers,
                        now: admittedAt
                    )
                    if let until = begin(turn) {
                        if let end = await wait(until: until) { return end }
                        continue
                    }
                    if let end = lateness { return end }
                    observer?.turnCame()
                    do { token = try await makeToken(refused) } catch { return .noToken(error) }
                    // Counted when it goes: the token can have taken a while, and another request can have received a wait
                    // meanwhile.
                    admittedAt = await gates.followClock()
                } else if let end = lateness {
                    return end
                }
                let admission = try await gate.admit(
                    of: sender,
                    ticket: ticket,
                    acknowledging: identifiers,
                    now: admittedAt
                )
                if let until = begin(admission) {
                    if let end = await wait(until: until) { return end }
                    continue
                }
                if makeToken == nil { observer?.turnCame() }
                // Last, because the token and the count can take a while.
                if let account = sender.account, gate.store?.accounts.canAsk(for: account, at: time.boottime) == false {
                    await gate.ended(of: sender, acknowledging: identifiers, now: time.now)
                    throw .leaseLost
                }
                end.begin(at: time.boottime)
                return nil
            }
            return .failed(.cancelled)
        } catch {
            return .unstored(error)
        }
    }

    /// The request's end if it is too late for its deadline, or belongs to a previous identity.
    private var lateness: RequestFailure? {
        if Task.isCancelled { return .failed(.cancelled) }
        if let deadline, admittedAt >= deadline { return .deferred(until: admittedAt, failure: nil) }
        return nil
    }

    /// Tells the observer of a wait, and returns its end; `nil` if the request can go.
    private func begin(_ admission: Gate.Admission) -> Timestamp? {
        guard case .wait(let until, let source) = admission else { return nil }
        observer?.throttled(by: source, for: until - admittedAt)
        return until
    }

    /// Sleeps until `until`.
    ///
    /// - Returns: The end of the request if the wait is too long for it, or if the task was cancelled.
    private func wait(until: Timestamp) async -> RequestFailure? {
        let isTooLong = deadline.map { until >= $0 } ?? (until - admittedAt > RetryDecision.longestInlineWait)
        if isTooLong { return .deferred(until: until, failure: nil) }
        return (try? await time.sleep(for: until - admittedAt)) == nil ? .failed(.cancelled) : nil
    }

    // MARK: - Answers

    /// Learns the server's time from the answer to the present attempt.
    ///
    /// - Returns: The server's time at which it was sent, as far as it is known.
    package mutating func receive(_ exchange: HTTPExchange) -> Timestamp {
        self.exchange = exchange
        if let response = exchange.response {
            gate.clock?.observe(
                serverTime: response.headers["X-Server-Time"],
                date: response.headers["Date"],
                age: response.headers.contains("Age") ? "" : nil,
                sentAt: exchange.measurements.sentAt.wall,
                roundTrip: exchange.measurements.roundTrip
            )
        }
        return (gate.clock?.now ?? time.now) - exchange.measurements.total
    }

    /// Ends the present attempt. After a failure it waits until another one can follow, if one does.
    ///
    /// - Parameter failure: `nil` if the answer was taken.
    package mutating func end(with failure: APIFailure?) async {
        guard let exchange else { return }
        await leaveGate(exchange.response)
        end.note(exchange)
        result = exchange.result(failure)
        observer?.tried(self)
        isEnded = true
        guard let failure else { return }
        if let wait = RetryPolicy.serverWait(for: failure) {
            let now = await gates.followClock()
            await gate.hold(until: now + wait, now: now)
        }
        await observer?.failed(failure, self)
        end.failure = await retry(after: failure)
        isEnded = end.failure != nil
    }

    /// Ends an attempt at the gate, which learns the server's limits from its response.
    private func leaveGate(_ response: HTTPResponse?) async {
        let now = await gates.followClock()
        let budget = response.flatMap { ServerBudget(of: $0, now: now) }
        await gate.ended(of: sender, acknowledging: identifiers, budget: budget, now: now)
    }

    // MARK: - Retries

    /// Waits for the next attempt.
    ///
    /// - Returns: The end of the request if there is no other attempt.
    private mutating func retry(after failure: APIFailure) async -> RequestFailure? {
        // The wait that the request makes because the server asked for it, here or in a later cycle.
        let isServersWait = RetryPolicy.serverWait(for: failure) != nil
        switch (decision(after: failure), retries) {
        case (_, .never): return .failed(failure)
        case (.retry(let delay, _), .tokenOnly):
            guard isServersWait else { return .failed(failure) }
            observer?.throttled(by: .server, for: delay)
            return .deferred(until: time.now + delay, failure: failure)
        case (.retry(let delay, let reason), .policy), (.retry(let delay, let reason), .attempts):
            if isServersWait { observer?.throttled(by: .server, for: delay) }
            observer?.retrying(because: reason, after: delay)
            return (try? await time.sleep(for: delay)) == nil ? .failed(.cancelled) : nil
        case (.renewTokenAndRetry, _) where token != nil:
            (refused, isTokenRenewed) = (token, true)
            observer?.retrying(because: .unauthenticated, after: nil)
            return nil
        case (.deferUntil(let wait), _):
            observer?.throttled(by: .server, for: wait)
            return .deferred(until: time.now + wait, failure: failure)
        case (.renewTokenAndRetry, _), (.giveUp(exhausted: false), _): return .failed(failure)
        case (.giveUp(exhausted: true), _):
            if let reason = RetryReason(failure.failureClass) { observer?.exhausted(because: reason) }
            return .failed(failure)
        }
    }

    private func decision(after failure: APIFailure) -> RetryDecision {
        var policy: RetryPolicy?
        // A policy of its own does not limit an attempt with a new token.
        switch retries {
        case _ where failure.failureClass == .unauthenticated: break
        case .policy(let own): policy = own
        case .attempts(let attempts):
            policy = .standard(for: failure.failureClass)
            policy?.attempts = attempts
        case .tokenOnly, .never: break
        }
        return RetryDecision.decide(
            failure: failure,
            attempt: end.tries,
            random: requester.random(),
            tokenRenewed: isTokenRenewed,
            policy: policy
        )
    }
}

/// The dependencies of requests to all servers.
package struct Requester: Sendable {
    package let gates: Gates
    package let time: any TimeSource
    /// A random number in `0 ..< 1`.
    package let random: @Sendable () -> Double

    package init(gates: Gates, time: any TimeSource, random: @escaping @Sendable () -> Double) {
        (self.gates, self.time, self.random) = (gates, time, random)
    }
}

/// A receiver of the steps of a request, for metrics and logs.
package protocol RequestObserver: Sendable {
    /// The request must wait: for its turn, or because an answer asked for it.
    func throttled(by source: ThrottleSource, for wait: Duration)
    /// The request's turn came; its token is next.
    func turnCame()
    /// An attempt ended.
    func tried(_ request: borrowing OpenRequest)
    func failed(_ failure: APIFailure, _ request: borrowing OpenRequest) async
    /// Another attempt follows after `delay`; `nil`: at once, with a new token.
    func retrying(because reason: RetryReason, after delay: Duration?)
    /// No attempts are left.
    func exhausted(because reason: RetryReason)
}

extension ServerBudget {
    /// Reads the server's limits from a response; `nil` if it says nothing. A rejection states its own wait.
    fileprivate init?(of response: HTTPResponse, now: Timestamp) {
        guard response.status != 429, response.status != 503 else { return nil }
        let headers = response.headers
        let (remaining, all) = (headers.rateLimit(.remaining), headers["RateLimit"])
        guard remaining != nil || all != nil,
            let budget = Self.read(
                remaining: remaining,
                reset: remaining == nil ? nil : headers.rateLimit(.reset),
                rateLimit: all,
                answerDate: headers["Date"].flatMap { HTTPDate.parse($0, now: now) },
                now: now
            )
        else { return nil }
        self = budget
    }
}

extension HTTPMeasurements {
    /// The time from the request to the response. If the machine slept or the wall clock was set, the two clocks
    /// disagree. The result is then large, so the response says little about the server's clock.
    fileprivate var roundTrip: Duration {
        let wall = receivedAt.wall - sentAt.wall
        let monotonic = receivedAt.monotonic - sentAt.monotonic
        let difference = wall > monotonic ? wall - monotonic : monotonic - wall
        return difference > .seconds(1) ? max(monotonic, difference) : monotonic
    }
}
