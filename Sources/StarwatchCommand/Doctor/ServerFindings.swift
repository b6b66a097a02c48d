import Foundation
import Starwatch
import StarwatchCore

/// The findings of polls that were tried: name, connection, TLS, dialect, clock, token, and each poll.
struct ServerFindings {
    let trial: Trial.Polls
    let options: AgentOptions
    /// The results of the running agent, which tried its polls with its own token, by name of the poll; empty without an
    /// agent.
    var own: [String: PollReport] = [:]

    /// Whether the trial had the token. Without it, no poll was tried.
    private var hasToken: Bool { trial.reach == nil }

    /// The steps of a request, in their order.
    private enum Step: Int, CaseIterable {
        case dns, connection, tls, server

        var area: String { "\(self)" }

        /// The step that a failure ended.
        init(_ reason: FailureReason) {
            self =
                switch reason.cause {
                case .dns: .dns
                case .connect, .proxy, .timeout: .connection
                case .tls, .certificateExpired: .tls
                default: .server
                }
        }
    }

    var all: [Finding] {
        // Each list has a server of its own, of which its poll tells all.
        if options.pollsListsAlone { return reports.map(poll) }
        if let reach = trial.reach { return tokenless(reach) }
        let asked = trial.reports.filter { !lists.contains($0.poll) }.first {
            $0.outcome != "skipped" || reason(of: $0) != nil
        }
        let failure = asked.flatMap { isFailed($0) ? reason(of: $0) : nil }
        // A poll without a token asks nothing.
        guard asked != nil, failure?.label != .noToken else {
            return untried(failure) + (own.isEmpty ? reports.filter { lists.contains($0.poll) }.map(poll) : [])
        }
        if let failure, Step(failure) != .server {
            return network(failure) + reports.filter { lists.contains($0.poll) }.map(poll)
        }
        return network(failure) + [clock, token].compactMap { $0 } + reports.map(poll)
    }

    /// The findings of a trial that had no token. The polls are those that the running agent tried.
    private func tokenless(_ reach: Reach) -> [Finding] {
        let failure = reach.failure?.reason
        if let failure, Step(failure) != .server { return network(failure) }
        return network(failure) + [clock, token].compactMap { $0 } + reports.map(poll)
    }

    /// The findings if the trial sent no request.
    private func untried(_ failure: FailureReason?) -> [Finding] {
        if !own.isEmpty { return [token].compactMap { $0 } + reports.map(poll) }
        guard let failure else { return [Finding("server", .warning, unasked)] }
        return [Finding("token", .problem, failure.sentence)]
    }

    /// The results of the polls; those of the running agent, if there are any.
    private var reports: [PollReport] { trial.reports.map { own[$0.poll] ?? $0 } }

    private var tokenIsElsewhere: String {
        options.tokens.storedKeys
            ? "Only the running agent has the key, which is in its database; start the agent."
            : "Only the service can read the secret of auth."
    }

    private var unasked: String {
        trial.reports.isEmpty
            ? "There are no polls, so nothing asks the server."
            : "The server was not tried, because \(skip(trial.reports[0]))."
    }

    /// The names of the polls of lists, which the Endorser server does not answer.
    private var lists: Set<String> { Set(options.polls.filter(\.kind.isList).map(\.name.rawValue)) }

    private func isFailed(_ report: PollReport) -> Bool { ["failed", "deferred", "skipped"].contains(report.outcome) }

    private func reason(of report: PollReport) -> FailureReason? { report.cause.flatMap { FailureReason($0) } }

    private func skip(_ report: PollReport) -> String {
        report.reason.flatMap(SkipReason.init(rawValue:))?.phrase ?? "it was skipped"
    }

    // MARK: Network

    private func network(_ failure: FailureReason?) -> [Finding] {
        let broken = failure.map(Step.init)
        return Step.allCases.compactMap { step in
            if let broken, let failure, step == broken, step != .server {
                return Finding(step.area, .problem, failure.sentence)
            }
            if let broken, step.rawValue > broken.rawValue {
                return Finding(step.area, .skipped, "Not reached.")
            }
            return success(step)
        }
    }

    private var url: URL? { URL(string: options.server.url) }

    private func success(_ step: Step) -> Finding? {
        let host = url?.host ?? ""
        switch step {
        case .dns:
            let isAddress = host.allSatisfy { $0.isNumber || $0 == "." } || host.contains(":")
            return Finding(step.area, .ok, isAddress ? "\(host) is an address." : "\(host) resolves.")
        case .connection: return Finding(step.area, .ok, "\(host) accepts connections.")
        case .tls:
            let isSecure = url?.scheme == "https"
            let expiry =
                trial.status.certificates?[CertificateOwner.server.word].map { " until \($0.prefix(10))" } ?? ""
            return Finding(
                step.area,
                isSecure ? .ok : .skipped,
                isSecure ? "The certificate is valid\(expiry)." : "The server is this machine, which needs no TLS."
            )
        case .server:
            guard let dialect = trial.status.server.dialect else {
                if case .answered(let status) = trial.reach {
                    return Finding(step.area, .ok, "The server answers (HTTP \(status) to a request without a token).")
                }
                return Finding(step.area, .warning, "The server answers, but its dialect is not known yet.")
            }
            return Finding(step.area, .ok, "The server answers in the dialect \(dialect.rawValue).")
        }
    }

    // MARK: Clock and token

    private var clock: Finding? {
        guard let skew = trial.status.clock.skewSeconds else { return nil }
        let limit = options.clock.maxSkew
        let text = "The clock differs by \(AgeText.duration(skew.magnitude)) from the server's"
        if skew.magnitude > limit.inSeconds {
            let advice = "correct the time of this machine, for example with systemd-timesyncd."
            return Finding("clock", .problem, "\(text), more than \(DurationText.format(limit)); \(advice)")
        }
        return Finding("clock", .ok, text + ".")
    }

    private var token: Finding? {
        let isTried = hasToken || !own.isEmpty
        let reasons = reports.filter { !lists.contains($0.poll) }.compactMap(reason)
        if let refused = reasons.first(where: \.needsAction) {
            return isTried
                ? Finding("token", .problem, refused.sentence) : Finding("token", .skipped, tokenIsElsewhere)
        }
        guard reports.contains(where: { !isFailed($0) }) else { return nil }
        guard isTried else { return Finding("token", .skipped, tokenIsElsewhere) }
        if options.auth.kind == .none { return Finding("token", .ok, "The polls need none.") }
        let token = own.isEmpty ? "the token" : "the agent's token"
        return Finding("token", .ok, "The server did not reject \(token) (\(options.auth.kind.rawValue)).")
    }

    // MARK: Polls

    private func poll(_ report: PollReport) -> Finding {
        let area = "poll \(report.poll)"
        if lists.contains(report.poll), let reason = reason(of: report), isFailed(report) {
            let command = "'starwatch poll try \(report.poll)' says more."
            return hasToken || own[report.poll] != nil
                ? Finding(area, .problem, "It failed (\(reason.phrase)); \(command)")
                : Finding(area, .skipped, "It was not tried; \(command)")
        }
        if let reason = reason(of: report), isFailed(report) {
            let isUntried = reason.needsAction && !hasToken && own[report.poll] == nil
            return Finding(area, isUntried ? .skipped : .problem, isUntried ? "It needs the token." : reason.sentence)
        }
        switch report.outcome {
        case "skipped": return Finding(area, .warning, "It cannot be tried, because \(skip(report)).")
        case "failed", "deferred", "cancelled":
            return Finding(area, .problem, report.reason ?? "It \(report.outcome).")
        default:
            return Finding(
                area,
                .ok,
                "The server answered with \(report.fetched.counted(lists.contains(report.poll) ? "item" : "change"))."
            )
        }
    }
}
