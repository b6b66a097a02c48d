import StarwatchCore
import StarwatchTransport

/// Unreliable network between an agent, the server and the sinks.
final class SimulatedNetwork: Sendable {
    /// Time until which requests of a process do not get to the server.
    private struct Stall {
        let until: Int64
        /// Whether the connections break at its end.
        let isBroken: Bool
        /// Whether notifications do not get to the sinks either.
        let withSinks: Bool
    }

    private let settings: Settings
    private let clock: SimulatedClock
    private let faults: FaultInjector
    private let trace: Trace
    private let chance: Confined<Chance>
    /// Pseudonyms of the accounts of an agent for many, by index, as their first notifications name them.
    private let pseudonyms = Confined<[Int: String]>([:])
    /// By the numbers of the processes.
    private let stalls = Confined<[Int: Stall]>([:])
    let server: SimulatedServer
    let receivers: [Receiver]
    let meter: RequestMeter
    /// The leases of several processes; `nil` for one.
    let leases: LeaseBook?
    let violations: Violations
    let defect: Defect

    init(
        seed: UInt64,
        clock: SimulatedClock,
        server: SimulatedServer,
        receivers: [Receiver],
        meter: RequestMeter,
        leases: LeaseBook? = nil,
        trace: Trace
    ) {
        settings = server.settings
        defect = server.defect
        self.leases = leases
        faults = server.faults
        violations = server.violations
        chance = Confined(Chance(seed: seed, "network"))
        self.clock = clock
        self.server = server
        self.receivers = receivers
        self.meter = meter
        self.trace = trace
    }

    private var reading: StarwatchTransport.ClockReading { .init(wall: clock.now, monotonic: clock.monotonic) }

    /// Sends a request of an agent and returns the response, unless the agent has died.
    func exchange(_ request: HTTPRequest, of process: SimulatedProcess) async -> HTTPExchange {
        let sentAt = reading
        let result: Result<HTTPResponse, APIFailure>
        if process.isDead {
            result = .failure(.cancelled)
        } else if let index = receivers.indices.first(where: { request.url == Receiver.url($0) }) {
            result = await deliver(request, to: receivers[index], of: process)
        } else {
            result = await ask(request, of: process)
        }
        await process.clock.waitWhileStopped()
        let end: Result<HTTPResponse, APIFailure> = process.isDead ? .failure(.cancelled) : result
        if !process.isDead { trace.note("< \(Self.summary(end))") }
        var measurements = HTTPMeasurements(sentAt: sentAt, receivedAt: reading)
        measurements.total = measurements.receivedAt.monotonic - sentAt.monotonic
        var status: Int?
        if case .success(let response) = end { status = response.status }
        return HTTPExchange(result: end, measurements: measurements, status: status)
    }

    private static func summary(_ result: Result<HTTPResponse, APIFailure>) -> String {
        switch result {
        case .success(let response): "\(response.status) \(response.body.count)"
        case .failure(let error): "\(error.result)"
        }
    }

    /// Keeps requests of a process on their way, so that the visits that sent them outlive their leases.
    func stall(_ process: SimulatedProcess, for duration: Duration, withSinks: Bool = false) {
        let until = clock.boot + duration.wholeMilliseconds * 1000
        stalls.value[process.number] = Stall(until: until, isBroken: false, withSinks: withSinks)
    }

    /// Breaks the connections of a process that stalls.
    func endStall(_ process: SimulatedProcess) {
        stalls.value[process.number] = Stall(until: clock.boot, isBroken: true, withSinks: true)
    }

    /// Waits until requests of a process get on.
    ///
    /// - Parameter timeout: The time after which a request to a sink fails. Those to the server wait without a limit.
    /// - Returns: The failure if there is one; `nil` if the request gets there.
    private func stalled(
        _ process: SimulatedProcess,
        atSink timeout: Duration?
    ) async -> Result<HTTPResponse, APIFailure>? {
        var waited = Duration.zero
        while let stall = stalls.value[process.number], stall.until > clock.boot, stall.withSinks || timeout == nil {
            if let timeout, waited >= timeout { return .failure(.timeout) }
            // The stalls of several processes can end early.
            let rest = Duration.microseconds(stall.until - clock.boot)
            let part = settings.stores > 1 ? min(rest, .milliseconds(250)) : rest
            guard (try? await clock.sleep(for: part)) != nil else { return .failure(.cancelled) }
            waited += part
        }
        return waited > .zero && stalls.value[process.number]?.isBroken == true ? .failure(.reset) : nil
    }

    /// Waits for the latency of one direction; returns `false` if the request was cancelled.
    private func travel() async -> Bool {
        let length = chance.value.number(100...settings.latency)
        return (try? await clock.sleep(for: .microseconds(length))) != nil
    }

    private func wait(_ duration: Duration, then error: APIFailure) async -> Result<HTTPResponse, APIFailure> {
        (try? await clock.sleep(for: duration)) == nil ? .failure(.cancelled) : .failure(error)
    }

    private func ask(
        _ request: HTTPRequest,
        of process: SimulatedProcess
    ) async -> Result<HTTPResponse, APIFailure> {
        let ids = server.acknowledged(by: request)
        let path = request.url.dropFirst(Settings.server.count)
        trace.note(
            "> \(path) \(ids.count) \(request.body.map { String(decoding: $0.suffix(100), as: UTF8.self) } ?? "")"
                .prefixed
        )
        let owner = owner(of: request, acknowledging: ids)
        checkLease(of: owner, process)
        meter.sent(
            by: owner.map { "account \($0)" } ?? (settings.served.isEmpty ? server.account(of: request) : "no account"),
            acknowledging: ids.count,
            from: process.number
        )
        if server.state.value.outageUntil > clock.boot { return await wait(.milliseconds(3), then: .connect) }
        let fault = faults.first(of: [
            (.unresolved, 0.01), (.unconnected, 0.01), (.reset, 0.01), (.answerLost, 0.02), (.timeout, 0.005),
            (.oversized, 0.003),
        ])
        switch fault {
        case .unresolved: return await wait(.milliseconds(40), then: .dns)
        case .unconnected: return await wait(.milliseconds(10), then: .connect)
        case .reset: return await wait(.milliseconds(20), then: .reset)
        default: break
        }
        if let failure = await stalled(process, atSink: nil) { return failure }
        guard await travel() else { return .failure(.cancelled) }
        let answer = server.answer(request, acknowledging: ids)
        checkAcknowledged(ids, answer)
        let answeredAt = clock.boot
        switch fault {
        case .answerLost: return await wait(.milliseconds(20), then: .reset)
        case .timeout: return await wait(request.timeout ?? .zero, then: .timeout)
        case .oversized: return await wait(.milliseconds(20), then: .tooLarge)
        default: break
        }
        guard await travel() else { return .failure(.cancelled) }
        if let wait = answer.wait {
            meter.learned(wait: wait, answeredAt: answeredAt, by: process.number)
            if defect == .hideRetryAfter {
                return .success(HTTPResponse(status: 500, headers: HTTPHeaders([]), body: []))
            }
        }
        return .success(answer.response)
    }

    /// Checks that every required sink accepted each acknowledged change, or that its plan was unstarred.
    private func checkAcknowledged(_ ids: [String], _ answer: SimulatedServer.Answer) {
        guard answer.response.status == 200 else { return }
        for id in ids where !isDelivered(id) && !server.wasUnstarred(id) {
            violations.record(.acknowledgedAfterDelivery, "\(id) was acknowledged and a required sink does not have it")
        }
    }

    /// Returns `true` if every required sink accepted the change, and one sink did.
    func isDelivered(_ change: String) -> Bool {
        receivers.allSatisfy { $0.releases(change) } && receivers.contains { $0.hasAccepted(change) }
    }

    /// Returns the one of many accounts whose limits count a request: without a token its plans tell it.
    private func owner(of request: HTTPRequest, acknowledging ids: [String]) -> Int? {
        guard !settings.served.isEmpty else { return nil }
        let plan = ids.first.flatMap { server.state.value.feed[$0]?.plan } ?? server.plans(of: request).first
        return plan.flatMap(settings.owner)
    }

    /// Checks that a process sends only for accounts that are its.
    private func checkLease(of account: Int?, _ process: SimulatedProcess) {
        guard let account, let objection = leases?.objection(to: process.number, for: account) else { return }
        violations.record(.leaseKept, "process \(process.number) sent for account \(account): \(objection)")
    }

    /// Checks that a notification is for the account whose plans changed.
    private func checkAddressee(of request: HTTPRequest, from process: SimulatedProcess) {
        guard !settings.served.isEmpty, let body = request.body else { return }
        let owners = Set(
            Receiver.changes(in: body).compactMap {
                server.state.value.feed[$0].flatMap { settings.owner(of: $0.plan) }
            }
        )
        guard let owner = owners.first, owners.count == 1, let pseudonym = Receiver.account(in: body) else {
            return violations.record(.rightAccount, "a notification has changes of \(owners.count) accounts")
        }
        let known = pseudonyms.value[owner] ?? pseudonym
        if known != pseudonym || pseudonyms.value.contains(where: { $0.key != owner && $0.value == pseudonym }) {
            violations.record(.rightAccount, "a notification for account \(owner) names another one")
        }
        pseudonyms.value[owner] = pseudonym
        checkLease(of: owner, process)
    }

    private func deliver(
        _ request: HTTPRequest,
        to receiver: Receiver,
        of process: SimulatedProcess
    ) async -> Result<HTTPResponse, APIFailure> {
        trace.note("> \(receiver.name) \(Receiver.id(of: request) ?? "")")
        receiver.noteSent(request)
        checkAddressee(of: request, from: process)
        if receiver.isDown(at: clock.boot) { return await wait(.milliseconds(1), then: .connect) }
        if let failure = await stalled(process, atSink: request.timeout ?? .seconds(10)) { return failure }
        guard await travel() else { return .failure(.cancelled) }
        var request = request
        if defect == .renameNotifications, let index = request.headers.firstIndex(where: { $0.name == "webhook-id" }) {
            request.headers[index].value += "\(clock.boot)"
        }
        if defect == .cutNotifications { request.body = request.body.map { Receiver.cut($0, after: 20) } }
        let reaction = receiver.receive(request)
        // The power loss came during the request: the agent can have forgotten that it made this notification.
        if process.hasLostPower { receiver.excuseRepetition(of: request) }
        switch reaction {
        case .fail(let error, let delay): return await wait(delay, then: error)
        case .answer(let status, let headers):
            guard await travel() else { return .failure(.cancelled) }
            return .success(HTTPResponse(status: status, headers: HTTPHeaders(headers), body: []))
        }
    }
}

extension String {
    /// Text truncated for a trace.
    fileprivate var prefixed: String { utf8.count > 400 ? String(prefix(400)) : self }
}

/// Transport of one agent process.
struct ProcessTransport: HTTPTransport {
    let network: SimulatedNetwork
    let process: SimulatedProcess

    func exchange(_ request: HTTPRequest) async -> HTTPExchange { await network.exchange(request, of: process) }
    func shutdown() {}
}
