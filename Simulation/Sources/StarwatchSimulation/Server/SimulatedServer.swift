import Foundation
import StarwatchCore
import StarwatchTransport

/// Endorser server in memory, in either dialect, with injected faults.
final class SimulatedServer: Sendable {
    struct State {
        var feed: Feed
        var chance: Chance
        var accounts: [String: String] = [:]
        var refused: Set<String> = []
        var bodies: [String: Fingerprint] = [:]
        var acknowledged: Set<String> = []
        var outageUntil: Int64 = 0
        /// Microseconds by which the clock is ahead of its usual time until ``leadUntil``.
        var lead: Int64 = 0
        var leadUntil: Int64 = 0
        /// Plans that were unstarred at any time.
        var unstarred: Set<String> = []
        var lastQuery: (body: [UInt8], query: Query)?
        var lastDate: (second: Int64, text: String)?
    }

    /// Response, and the wait it requires in microseconds.
    struct Answer {
        var response: HTTPResponse
        var wait: Int64?
    }

    let settings: Settings
    let clock: SimulatedClock
    let faults: FaultInjector
    let violations: Violations
    let state: Confined<State>
    let defect: Defect

    init(
        seed: UInt64,
        settings: Settings,
        clock: SimulatedClock,
        faults: FaultInjector,
        violations: Violations,
        defect: Defect
    ) {
        self.settings = settings
        self.clock = clock
        self.faults = faults
        self.violations = violations
        self.defect = defect
        state = Confined(
            State(
                feed: Feed(keepsOneRowPerPlan: settings.keepsOneRowPerPlan),
                chance: Chance(seed: seed, "server")
            )
        )
    }

    /// Server time in microseconds since 1970.
    var now: Int64 {
        SimulatedClock.start + clock.boot + settings.serverSkew
            + (clock.boot < state.value.leadUntil ? state.value.lead : 0)
    }

    /// Server time as the responses tell it.
    private var toldNow: Int64 {
        defect == .keepLead ? SimulatedClock.start + clock.boot + settings.serverSkew + state.value.lead : now
    }

    /// Puts the clock ahead for a while.
    ///
    /// Changes that would appear late appear now: later they would be as old as the lead, and the agent can miss them.
    func lead(by lead: Duration, for duration: Duration) {
        state.value.feed.reveal(at: clock.boot)
        state.value.lead = lead.wholeMilliseconds * 1000
        state.value.leadUntil = clock.boot + duration.wholeMilliseconds * 1000
    }

    /// Publishes a change that makes its page unreadable, for some time or for ever.
    func publishUnreadable(of plans: [String]) {
        let until = spoiledUntil(.unreadableItem)
        publish(1, of: plans, form: .unreadable(until: until))
    }

    /// Returns the form of a new change.
    private func newForm(isOffer: Bool) -> ItemForm {
        if faults.strikes(.hostileClaim, 0.04) {
            return .hostile(ItemForm.Hostile.allCases[faults.number(.hostileClaim, 0...3)])
        }
        guard faults.strikes(.invalidItem, 0.02) else { return .plain }
        let until = spoiledUntil(.invalidItem)
        let fields = ItemForm.Invalid.allCases
        // Only the canonical server names the next page, so that a walk passes a page without identifiers.
        let hasNamelessItems = settings.dialect == .canonical && !isOffer
        return .invalid(fields[faults.number(.invalidItem, 0...(hasNamelessItems ? 2 : 1))], until: until)
    }

    private func spoiledUntil(_ kind: FaultKind) -> Int64 {
        guard faults.number(kind, 0...2) > 0 else { return .max }
        return clock.boot + Int64(faults.number(kind, 1...900)) * 1_000_000
    }

    /// Publishes changes of random plans.
    func publish(_ count: Int, of plans: [String], form: ItemForm? = nil) {
        for _ in 0..<count {
            let late = settings.dialect.lateVisibility.wholeMilliseconds * 1000 - 1_100_000
            let isLate = faults.strikes(.lateVisibility, 0.1)
            let delay = isLate ? Int64(faults.number(.lateVisibility, 1...Int(late))) : 0
            let row = FeedRow(
                id: newID(),
                plan: state.value.chance.pick(plans),
                createdAt: clock.boot,
                visibleAt: clock.boot + delay,
                form: form ?? newForm(isOffer: plans == [Self.offerPlan])
            )
            state.value.feed.add(row)
        }
    }

    private static let hexadecimal = Array("0123456789abcdef")
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private func newID() -> String {
        let time = Timestamp(milliseconds: now / 1000)
        let start = JWTID.floor(settings.dialect.idKind, at: time).rawValue.prefix(10)
        let letters = settings.dialect == .canonical ? Self.hexadecimal : Self.crockford
        var text = String(start)
        for index in 10..<26 {
            let isBar = settings.dialect == .canonical && (index == 10 || index == 17)
            text.append(isBar ? "_" : letters[state.value.chance.below(letters.count)])
        }
        return text
    }

    /// Returns the account of a request's token; requests without a token share one account.
    func account(of request: HTTPRequest) -> String {
        guard let token = token(of: request) else { return "anonymous" }
        if let known = state.value.accounts[token] { return known }
        let payload = token.split(separator: ".").dropFirst().first ?? ""
        let padded = payload.replacing("-", with: "+").replacing("_", with: "/")
        let data = Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)) ?? Data()
        struct Claims: Decodable { var iss: String }
        let account = (try? JSONDecoder().decode(Claims.self, from: data))?.iss ?? "unreadable"
        state.value.accounts[token] = account
        return account
    }

    private func token(of request: HTTPRequest) -> String? {
        request.headers.first { $0.name == "Authorization" }.map { String($0.value.dropFirst(7)) }
    }

    /// Returns `true` if the change's plan was unstarred, so that it need not be delivered.
    func wasUnstarred(_ id: String) -> Bool {
        state.value.feed[id].map { state.value.unstarred.contains($0.plan) } ?? false
    }

    /// Answers a request that has reached the server.
    ///
    /// - Parameter ids: Identifiers that the request acknowledges.
    func answer(_ request: HTTPRequest, acknowledging ids: [String]) -> Answer {
        let kind = faults.first(of: [
            (.rateLimited, 0.01), (.unavailable, 0.01), (.serverError, 0.02), (.unauthenticated, 0.01),
            (.malformed, 0.01),
        ])
        if settings.usesTokens {
            guard let token = token(of: request) else { return plain(401, "") }
            if state.value.refused.contains(token) || kind == .unauthenticated {
                state.value.refused.insert(token)
                return settings.dialect == .canonical
                    ? plain(401, #"{"error":"unauthorized"}"#)
                    : plain(400, #"{"error":{"code":"JWT_VERIFY_FAILED","message":"JWT failed"}}"#)
            }
        }
        switch kind {
        case .rateLimited: return refusal(429, canStaySilent: true)
        case .unavailable: return refusal(503, canStaySilent: false)
        case .serverError: return plain([500, 502, 503, 504][faults.number(.serverError, 0...3)], "")
        case .malformed: return plain(200, ["{\"data\":[{\"pl", "<html>", "[]", ""][faults.number(.malformed, 0...3)])
        default: break
        }
        let path = request.url.dropFirst(Settings.server.count).prefix { $0 != "?" }
        switch path {
        case "/api/v2/report/plansLastUpdatedBetween": return changes(request)
        case "/api/v2/report/offers": return offers(request)
        case "/api/v2/plans/acknowledge" where settings.dialect == .canonical: return acknowledge(request, of: ids)
        case "/api/v2/time" where settings.dialect == .canonical: return plain(200, "{\"time\":\(toldNow / 1000)}")
        default: return plain(404, "")
        }
    }

    /// Returns a 429 or 503 with one of the forms of a wait.
    private func refusal(_ status: Int, canStaySilent: Bool) -> Answer {
        let kind: FaultKind = status == 429 ? .rateLimited : .unavailable
        let seconds = [0, 1, 7, 61, 110, 130, 400][faults.number(kind, 0...6)]
        let until = (now + 999_999) / 1_000_000 + Int64(seconds)
        let wait = Int64(seconds) * 1_000_000
        switch faults.number(kind, 0...(canStaySilent ? 5 : 4)) {
        case 0: return plain(status, "", [("Retry-After", "\(seconds)")], wait: wait)
        case 1: return plain(status, "{\"error\":\"x\",\"retryAfter\":\(seconds)}", wait: wait)
        case let form where form < 5:
            return plain(status, "", [("Retry-After", DateForm.allCases[form - 2].text(until))], wait: wait)
        default: return plain(status, "", wait: 60_000_000)
        }
    }

    /// Returns the HTTP date. It is cached, because most responses fall into the second of the one before.
    private func date(_ second: Int64) -> String {
        if let last = state.value.lastDate, last.second == second { return last.text }
        let text = DateForm.preferred.text(second)
        state.value.lastDate = (second, text)
        return text
    }

    func plain(_ status: Int, _ body: String, _ more: [(String, String)] = [], wait: Int64? = nil) -> Answer {
        var headers = more.map { (name: $0.0, value: $0.1) }
        let second = toldNow / 1_000_000
        if wait == nil, faults.strikes(.skewedDate, 0.02) {
            switch faults.number(.skewedDate, 0...2) {
            case 0: headers.append(("Date", "yesterday"))
            case 1: headers += [("Date", DateForm.preferred.text(second - 4000)), ("Age", "4000")]
            default:
                headers.append(("Date", DateForm.preferred.text(second + Int64(faults.number(.skewedDate, 0...4)) - 2)))
            }
        } else {
            headers.append(("Date", date(second)))
            if settings.dialect == .canonical { headers.append(("X-Server-Time", "\(toldNow / 1000)")) }
        }
        return Answer(
            response: HTTPResponse(status: status, headers: HTTPHeaders(headers), body: Array(body.utf8)),
            wait: wait
        )
    }
}
