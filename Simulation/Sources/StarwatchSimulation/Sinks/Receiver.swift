import StarwatchCore
import StarwatchTransport

/// Webhook receiver in memory, which remembers the ids it has seen.
final class Receiver: Sendable {
    /// Reaction to a request.
    enum Reaction {
        case answer(Int, headers: [(name: String, value: String)])
        case fail(APIFailure, after: Duration)
    }

    private struct State {
        var contents: [String: Fingerprint] = [:]
        /// Accepted notifications by change.
        var notifications: [String: Set<String>] = [:]
        /// Accepted notifications whose response the agent did not get.
        var unheard: Set<String> = []
        /// Notifications whose changes are allowed in other notifications too.
        var excused: Set<String> = []
        /// Notifications that were sent, and those of them that the operator's edits can have made anew.
        var sent: Set<String> = []
        var renewable: Set<String> = []
        var isGone = false
        var downUntil: Int64 = 0
        /// `true` if it was gone at any time, when the agent left changes to the other sinks.
        var wasGone = false
    }

    let name: String
    /// `false` for a sink that changes do not wait for.
    let isRequired: Bool
    private let faults: FaultInjector
    private let violations: Violations
    private let state = Confined(State())

    init(index: Int, isRequired: Bool, faults: FaultInjector, violations: Violations) {
        name = Self.name(index)
        self.isRequired = isRequired
        self.faults = faults
        self.violations = violations
    }

    static func name(_ index: Int) -> String { "sink_\(index)" }
    static func url(_ index: Int) -> String { "http://sink-\(index).test/hook" }

    /// Returns the notification's id.
    static func id(of request: HTTPRequest) -> String? { request.headers.first { $0.name == "webhook-id" }?.value }

    var isGone: Bool { state.value.isGone }

    /// Ends the 410 responses; the agent notices when it loads its configuration.
    func revive() { state.value.isGone = false }

    var wasGone: Bool { state.value.wasGone }

    /// Refuses every connection until a time in microseconds since the start of the simulation.
    func isDown(until end: Int64) { state.value.downUntil = end }

    func isDown(at now: Int64) -> Bool { now < state.value.downUntil }

    /// Returns `true` unless the sink is required and the change was never accepted.
    func releases(_ change: String) -> Bool { !isRequired || state.value.wasGone || hasAccepted(change) }

    func hasAccepted(_ change: String) -> Bool { state.value.notifications[change] != nil }

    /// Reacts to a request that has reached the receiver.
    func receive(_ request: HTTPRequest) -> Reaction {
        let id = Self.id(of: request) ?? ""
        // The agent repeats a notification if it got no response, or died before it stored the response.
        if state.value.contents[id] != nil { state.value.unheard.insert(id) }
        if state.value.isGone { return gone() }
        let kinds: [(FaultKind, Double)] = [
            (.sinkRefused, 0.03), (.sinkRejected, 0.03), (.sinkAnswerLost, 0.03), (.sinkTimeout, 0.02),
            (.sinkBusy, 0.02), (.sinkGone, 0.004),
        ]
        switch faults.first(of: kinds) {
        case .sinkRefused: return .fail(.connect, after: .milliseconds(1))
        // An accepted notification is never rejected later.
        case .sinkRejected where state.value.contents[id] == nil:
            return .answer([400, 403, 404, 422][faults.number(.sinkRejected, 0...3)], headers: [])
        case .sinkAnswerLost:
            accept(request, isHeard: false)
            return .fail(.reset, after: .milliseconds(5))
        case .sinkTimeout:
            if faults.number(.sinkTimeout, 0...1) == 0 { accept(request, isHeard: false) }
            return .fail(.timeout, after: request.timeout ?? .zero)
        case .sinkBusy: return .answer(503, headers: [("Retry-After", "\(faults.number(.sinkBusy, 0...90))")])
        case .sinkGone:
            (state.value.isGone, state.value.wasGone) = (true, true)
            return gone()
        default:
            accept(request, isHeard: true)
            return .answer(204, headers: [])
        }
    }

    /// Returns a 410. The agent drops notifications without a response, and those whose response a failed disk did not
    /// store, and sends their changes in new ones later.
    private func gone() -> Reaction {
        state.value.excused.formUnion(state.value.unheard)
        let diskFaults: [FaultKind] = [.diskBusy, .diskFull, .diskError, .diskLate]
        if diskFaults.contains(where: { faults.counts[$0, default: 0] > 0 }) { excuseRepetitions() }
        return .answer(410, headers: [])
    }

    private func accept(_ request: HTTPRequest, isHeard: Bool) {
        guard let id = Self.id(of: request), let body = request.body else {
            return violations.record(.sameContent, "a notification without an id or a body")
        }
        var fingerprint = Fingerprint()
        fingerprint.add(body)
        if let former = state.value.contents.updateValue(fingerprint, forKey: id), former != fingerprint,
            !state.value.renewable.contains(id)
        {
            violations.record(.sameContent, "\(name) got a notification twice with different contents")
        }
        if isHeard { state.value.unheard.remove(id) } else { state.value.unheard.insert(id) }
        for change in Self.changes(in: body) {
            let others = state.value.notifications[change, default: []].subtracting([id])
            if !others.subtracting(state.value.excused).isEmpty {
                violations.record(.nothingTwice, "\(name) got \(change) in two notifications")
            }
            state.value.notifications[change, default: []].insert(id)
        }
    }

    /// Notes a notification on its way.
    func noteSent(_ request: HTTPRequest) {
        if let id = Self.id(of: request) { state.value.sent.insert(id) }
    }

    /// Allows other contents, because a discard or a retry makes open notifications anew under their ids.
    func excuseContents() { state.value.renewable = state.value.sent }

    /// Allows repetitions, because a power loss can make the agent forget these notifications.
    func excuseRepetitions() {
        for ids in state.value.notifications.values { state.value.excused.formUnion(ids) }
    }

    /// Allows repetitions of a notification that arrives after the power loss.
    func excuseRepetition(of request: HTTPRequest) {
        if let id = Self.id(of: request) { state.value.excused.insert(id) }
    }

    /// Returns a notification without the identifiers of its changes after the first `count`.
    static func cut(_ body: [UInt8], after count: Int) -> [UInt8] {
        let mark = "\"jwt_id\":\""
        let parts = String(decoding: body, as: UTF8.self).split(separator: mark, omittingEmptySubsequences: false)
        let kept = parts.prefix(count + 1).joined(separator: mark)
        return Array((kept + parts.dropFirst(count + 1).map { "\"cut\":\"" + $0 }.joined()).utf8)
    }

    static func changes(in body: [UInt8]) -> [String] { texts(of: "jwt_id", count: 26, in: body) }

    /// Returns the pseudonym of the account that a notification is for; `nil` if it names none.
    static func account(in body: [UInt8]) -> String? { texts(of: "account", count: 25, in: body).first }

    /// Returns the beginnings of all texts with a name.
    private static func texts(of name: String, count: Int, in body: [UInt8]) -> [String] {
        let mark = Array("\"\(name)\":\"".utf8)
        var found: [String] = []
        var index = 0
        while index + mark.count + count <= body.count {
            if body[index] == mark[0], body[index..<index + mark.count].elementsEqual(mark) {
                index += mark.count
                found.append(String(decoding: body[index..<index + count], as: UTF8.self))
                index += count
            } else {
                index += 1
            }
        }
        return found
    }
}
