/// A thing that is wrong. The status, its headline, the page, the commands, the metrics and the log show the same list of
/// them.
package struct Problem: Sendable, Hashable {
    package let kind: Kind
    /// The poll, sink, port or owner of a certificate that it is about; `nil` for the whole agent.
    package let subject: String?
    /// A phrase that says what is wrong: `sink hook down for 13 min`.
    package let phrase: String
    /// Details that the phrase leaves out, as sentences; `nil` if it says all.
    package var detail: String?
    /// The reason, a word from a closed set; `nil` if there is none to tell.
    package var reason: String?
    /// The start by the local clock; `nil` if it is not known.
    package var since: Timestamp?
    /// The time at which it ends by itself; `nil` if it is not known.
    package var until: Timestamp?

    package init(
        _ kind: Kind,
        of subject: String? = nil,
        _ phrase: String,
        reason: String? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil
    ) {
        (self.kind, self.subject, self.phrase, self.reason) = (kind, subject, phrase, reason)
        (self.since, self.until) = (since, until)
    }

    /// The word in the status, with its subject after a colon: `stale:starred_projects`.
    package var word: String { kind.rawValue + (subject.map { ":\($0)" } ?? "") }

    /// ``phrase`` as the beginning of a sentence.
    package var title: String { phrase.prefix(1).uppercased() + phrase.dropFirst() }

    /// The next command; `nil` if there is nothing to run.
    package var command: String? {
        if kind == .signedOut, reason == Self.noActiveAccounts.reason { return "starwatch accounts add DID" }
        guard kind == .reloadRefused else { return kind.command(subject ?? "") }
        return switch reason.flatMap(RefusedReload.Remedy.init) {
        // The configuration is good, so a check of it would find nothing.
        case .restart: "systemctl restart starwatch"
        case .restartOfHost: nil
        case .correction, nil: kind.command(subject ?? "")
        }
    }

    /// The reason of backpressure that the hours of a sink cause.
    static let quietHours = "quiet_hours"

    /// An agent for many accounts has none to work for.
    static let noActiveAccounts = Problem(.signedOut, "there are no active accounts", reason: "no_accounts")

    /// The cause of a poll's staleness among the present problems, the gravest first; `nil` if none explains it.
    package static func cause(ofStale poll: PollName, among problems: [Problem]) -> Problem? {
        problems.first { $0.member.stops(poll.rawValue) }
    }

    /// The closed set of problems, the gravest first.
    package enum Kind: String, Sendable, CaseIterable {
        case storeDamaged = "store_damaged"
        case storeLost = "store_lost"
        case storeFull = "store_full"
        case storeBusy = "store_busy"
        case storeUnavailable = "store_unavailable"
        case restarting
        case diskLow = "disk_low"
        case certificateExpired = "certificate_expired"
        case signedOut = "signed_out"
        case credentialsRefused = "credentials_refused"
        case noToken = "no_token"
        case serverUnreachable = "server_unreachable"
        case held
        case contractViolated = "contract_violated"
        case failing
        case sinkUnreachable = "sink_unreachable"
        case sinkRejecting = "sink_rejecting"
        case sinkDisabled = "sink_disabled"
        case stale
        case acknowledgementsFailing = "acknowledgements_failing"
        case deadLetters = "dead_letters"
        case quarantined
        case backpressure
        case canaryLate = "canary_late"
        case behind
        case accountsFailing = "accounts_failing"
        case accountsLate = "accounts_late"
        case tokenPoolLow = "token_pool_low"
        case certificateExpiring = "certificate_expiring"
        case answersWithErrors = "answers_with_errors"
        case slow
        case certificateRenewalDue = "certificate_renewal_due"
        case reloadRefused = "reload_refused"
        case noPolls = "no_polls"
        case noStars = "no_stars"
        case endpointMissing = "endpoint_missing"
        case clockSkew = "clock_skew"
        case clockJumped = "clock_jumped"
        case notScraped = "not_scraped"
        case ledgerImbalance = "ledger_imbalance"
    }

    /// The gravity, by the words that the alerts use.
    package enum Severity: String, Sendable, CaseIterable {
        /// Nothing works until somebody acts, or data is at risk.
        case critical
        /// Changes are late, or will be.
        case warning
        /// Nothing is late yet.
        case info
    }
}

extension Problem.Kind {
    package enum Topic: Sendable { case agent, poll, sink, port, certificate }

    /// The topic. A changed configuration that was refused can also be that of the agent.
    package var topic: Topic {
        switch self {
        case .credentialsRefused, .noToken, .contractViolated, .failing, .stale, .behind, .noStars, .endpointMissing:
            .poll
        case .sinkUnreachable, .sinkRejecting, .sinkDisabled: .sink
        case .reloadRefused: .port
        case .certificateExpired, .certificateExpiring, .certificateRenewalDue: .certificate
        default: .agent
        }
    }

    package var severity: Problem.Severity {
        switch self {
        case .certificateExpired, .diskLow, .restarting: .critical
        case .slow, .certificateRenewalDue, .noPolls, .noStars, .endpointMissing, .clockJumped, .notScraped: .info
        case _ where isOfStore: .critical
        default: .warning
        }
    }

    /// Whether an agent with this problem cannot work, so that it is not ready.
    package var preventsReadiness: Bool { isOfStore || self == .signedOut }

    /// Whether it keeps a poll from succeeding.
    package var stopsPolls: Bool {
        switch self {
        case .restarting, .credentialsRefused, .noToken, .serverUnreachable, .held, .contractViolated, .failing,
            .backpressure:
            true
        default: isOfStore
        }
    }

    /// Whether the database cannot be used.
    package var isOfStore: Bool {
        switch self {
        case .storeDamaged, .storeLost, .storeFull, .storeUnavailable, .storeBusy: true
        default: false
        }
    }

    /// The name of its page in `alerts/runbooks`, which the agent serves below `/help/runbooks/`.
    package var runbook: String {
        switch self {
        case .storeDamaged: "StarwatchStoreDamaged"
        case .storeLost: "StarwatchStoreLost"
        case .storeFull: "StarwatchStoreFull"
        case .storeUnavailable: "StarwatchStoreErrors"
        case .signedOut: "StarwatchSignedOut"
        case .credentialsRefused: "StarwatchCredentialsRefused"
        case .noToken: "StarwatchTokenRefreshFailing"
        case .serverUnreachable: "StarwatchServerUnreachable"
        case .held: "StarwatchThrottledTooLong"
        case .contractViolated: "StarwatchContractViolations"
        case .failing: "StarwatchPollFailing"
        case .sinkUnreachable: "StarwatchSinkCircuitOpen"
        case .sinkRejecting: "StarwatchDeliveryFailing"
        case .sinkDisabled: "StarwatchSinkDisabled"
        case .stale: "StarwatchPollStale"
        case .acknowledgementsFailing: "StarwatchAcknowledgementsFailing"
        case .deadLetters: "StarwatchDeadLettersPresent"
        case .quarantined: "StarwatchQuarantinedItems"
        case .backpressure: "StarwatchBackpressure"
        case .canaryLate: "StarwatchCanaryLate"
        case .behind: "StarwatchBehindServer"
        case .accountsFailing: "StarwatchAccountsFailing"
        case .accountsLate: "StarwatchAccountsLate"
        case .diskLow: "StarwatchDiskLow"
        case .storeBusy: "StarwatchStoreBusy"
        case .certificateExpired: "StarwatchCertificateExpired"
        case .certificateExpiring, .certificateRenewalDue: "StarwatchCertificateExpiring"
        case .tokenPoolLow: "StarwatchTokenPoolLow"
        case .answersWithErrors: "StarwatchServerErrors"
        case .slow: "StarwatchServerSlow"
        case .reloadRefused: "StarwatchConfigReloadFailed"
        case .noPolls: "StarwatchNoPolls"
        case .noStars: "StarwatchNoStars"
        case .endpointMissing: "StarwatchPollFailing"
        case .clockSkew: "StarwatchClockSkewHigh"
        case .clockJumped: "StarwatchClockJumped"
        case .notScraped: "StarwatchTargetGone"
        case .restarting: "StarwatchCrashLooping"
        case .ledgerImbalance: "StarwatchLedgerImbalance"
        }
    }

    /// The command that answers or ends it.
    fileprivate func command(_ subject: String) -> String? {
        switch self {
        case .storeUnavailable, .storeDamaged, .storeLost, .storeFull, .storeBusy, .diskLow, .credentialsRefused,
            .noToken, .tokenPoolLow, .serverUnreachable, .clockSkew, .clockJumped, .certificateExpired,
            .certificateExpiring, .certificateRenewalDue:
            "starwatch doctor"
        case .signedOut: "starwatch identity set DID"
        case .sinkUnreachable, .sinkRejecting, .sinkDisabled: "starwatch sinks test \(subject)"
        case .held: "starwatch server clear-wait"
        case .failing, .contractViolated, .stale, .behind, .endpointMissing: "starwatch poll \(subject)"
        case .acknowledgementsFailing, .answersWithErrors, .slow: "starwatch logs --level warn"
        case .accountsFailing: "starwatch accounts list --failing"
        case .accountsLate: "starwatch accounts list"
        case .deadLetters: "starwatch outbox list --state dead"
        case .quarantined: "starwatch quarantine list"
        case .backpressure: "starwatch outbox list --state claimed"
        case .reloadRefused: subject.isEmpty ? "starwatch check" : "starwatch logs --level warn"
        case .canaryLate: "starwatch outbox list --poll canary"
        case .noPolls: "starwatch init"
        case .noStars: "starwatch stars add ID"
        case .notScraped: "starwatch doctor --prometheus URL"
        case .ledgerImbalance: nil
        case .restarting: "starwatch incident"
        }
    }
}

/// The problems that exist, with the time at which each was first seen.
package struct ProblemHistory: Sendable {
    /// The difference from the last look.
    package struct Change: Sendable, Hashable {
        package var began: [Problem] = []
        package var ended: [Problem] = []
    }

    /// A look for problems. It takes several steps, and others can overtake it.
    package struct Look: Sendable { fileprivate let number: Int }

    private var known: [Problem] = []
    private var looks = 0
    /// The newest look whose problems are known.
    private var followed = 0

    package init() {}

    package mutating func beginLook() -> Look {
        looks += 1
        return Look(number: looks)
    }

    /// The problems with their starts: one without gets the time at which it was first seen. Remembers nothing.
    package func dated(_ problems: [Problem], now: Timestamp) -> [Problem] {
        problems.map { problem in
            var problem = problem
            let first = known.first { $0.word == problem.word }?.since
            problem.since = min(problem.since ?? first ?? now, now)
            return problem
        }
    }

    /// Takes the problems that a look has found. One without a start gets the time at which it was first seen.
    ///
    /// - Parameters:
    ///   - look: A look that a later one has overtaken begins and ends nothing.
    ///   - isComplete: `false` if others can exist that could not be looked for. Then none ends.
    /// - Returns: The same problems with their starts, and what has begun and ended since the last call.
    package mutating func follow(
        _ problems: [Problem],
        of look: Look,
        isComplete: Bool = true,
        now: Timestamp
    ) -> (dated: [Problem], change: Change) {
        let dated = dated(problems, now: now)
        guard look.number > followed else { return (dated, Change()) }
        followed = look.number
        let (former, words) = (Set(known.map(\.word)), Set(dated.map(\.word)))
        let gone = known.filter { !words.contains($0.word) }
        known = isComplete ? dated : dated + gone
        return (dated, Change(began: dated.filter { !former.contains($0.word) }, ended: isComplete ? gone : []))
    }
}
