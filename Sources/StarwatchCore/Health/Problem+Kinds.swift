extension Problem {
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
}

extension Problem.Kind {
    package enum Topic: Sendable { case agent, poll, sink, port, certificate }

    /// The topic. A changed configuration that was refused can also be that of the agent.
    package var topic: Topic { entry().topic }
    package var severity: Problem.Severity { entry().severity }
    /// The name of its page in `alerts/runbooks`, which the agent serves below `/help/runbooks/`.
    package var runbook: String { entry().runbook }

    /// The command that answers or ends it.
    func command(_ subject: String) -> String? { entry(of: subject).command }

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
    package var isOfStore: Bool { rawValue.hasPrefix("store_") }

    private typealias Entry = (topic: Topic, severity: Problem.Severity, runbook: String, command: String?)

    private func entry(of subject: String = "") -> Entry {
        switch self {
        case .storeDamaged: (.agent, .critical, "StarwatchStoreDamaged", "starwatch doctor")
        case .storeLost: (.agent, .critical, "StarwatchStoreLost", "starwatch doctor")
        case .storeFull: (.agent, .critical, "StarwatchStoreFull", "starwatch doctor")
        case .storeBusy: (.agent, .critical, "StarwatchStoreBusy", "starwatch doctor")
        case .storeUnavailable: (.agent, .critical, "StarwatchStoreErrors", "starwatch doctor")
        case .restarting: (.agent, .critical, "StarwatchCrashLooping", "starwatch incident")
        case .diskLow: (.agent, .critical, "StarwatchDiskLow", "starwatch doctor")
        case .certificateExpired: (.certificate, .critical, "StarwatchCertificateExpired", "starwatch doctor")
        case .signedOut: (.agent, .warning, "StarwatchSignedOut", "starwatch identity set DID")
        case .credentialsRefused: (.poll, .warning, "StarwatchCredentialsRefused", "starwatch doctor")
        case .noToken: (.poll, .warning, "StarwatchTokenRefreshFailing", "starwatch doctor")
        case .serverUnreachable: (.agent, .warning, "StarwatchServerUnreachable", "starwatch doctor")
        case .held: (.agent, .warning, "StarwatchThrottledTooLong", "starwatch server clear-wait")
        case .contractViolated: (.poll, .warning, "StarwatchContractViolations", "starwatch poll \(subject)")
        case .failing: (.poll, .warning, "StarwatchPollFailing", "starwatch poll \(subject)")
        case .sinkUnreachable: (.sink, .warning, "StarwatchSinkCircuitOpen", "starwatch sinks test \(subject)")
        case .sinkRejecting: (.sink, .warning, "StarwatchDeliveryFailing", "starwatch sinks test \(subject)")
        case .sinkDisabled: (.sink, .warning, "StarwatchSinkDisabled", "starwatch sinks test \(subject)")
        case .stale: (.poll, .warning, "StarwatchPollStale", "starwatch poll \(subject)")
        case .acknowledgementsFailing:
            (.agent, .warning, "StarwatchAcknowledgementsFailing", "starwatch logs --level warn")
        case .deadLetters: (.agent, .warning, "StarwatchDeadLettersPresent", "starwatch outbox list --state dead")
        case .quarantined: (.agent, .warning, "StarwatchQuarantinedItems", "starwatch quarantine list")
        case .backpressure: (.agent, .warning, "StarwatchBackpressure", "starwatch outbox list --state claimed")
        case .canaryLate: (.agent, .warning, "StarwatchCanaryLate", "starwatch outbox list --poll canary")
        case .behind: (.poll, .warning, "StarwatchBehindServer", "starwatch poll \(subject)")
        case .accountsFailing: (.agent, .warning, "StarwatchAccountsFailing", "starwatch accounts list --failing")
        case .accountsLate: (.agent, .warning, "StarwatchAccountsLate", "starwatch accounts list")
        case .tokenPoolLow: (.agent, .warning, "StarwatchTokenPoolLow", "starwatch doctor")
        case .certificateExpiring: (.certificate, .warning, "StarwatchCertificateExpiring", "starwatch doctor")
        case .answersWithErrors: (.agent, .warning, "StarwatchServerErrors", "starwatch logs --level warn")
        case .slow: (.agent, .info, "StarwatchServerSlow", "starwatch logs --level warn")
        case .certificateRenewalDue: (.certificate, .info, "StarwatchCertificateExpiring", "starwatch doctor")
        case .reloadRefused:
            (
                .port, .warning, "StarwatchConfigReloadFailed",
                subject.isEmpty ? "starwatch check" : "starwatch logs --level warn"
            )
        case .noPolls: (.agent, .info, "StarwatchNoPolls", "starwatch init")
        case .noStars: (.poll, .info, "StarwatchNoStars", "starwatch stars add ID")
        case .endpointMissing: (.poll, .info, "StarwatchPollFailing", "starwatch poll \(subject)")
        case .clockSkew: (.agent, .warning, "StarwatchClockSkewHigh", "starwatch doctor")
        case .clockJumped: (.agent, .info, "StarwatchClockJumped", "starwatch doctor")
        case .notScraped: (.agent, .info, "StarwatchTargetGone", "starwatch doctor --prometheus URL")
        case .ledgerImbalance: (.agent, .warning, "StarwatchLedgerImbalance", nil)
        }
    }

    /// The meaning, and what to do. Commands and settings stand between backticks.
    package var meaning: String {
        switch self {
        case .storeUnavailable:
            "The database cannot be read. Check the disk and the file’s owner and mode; the log has SQLite’s error."
        case .storeDamaged:
            """
            The database is damaged, so changes can be lost or repeated. Stop the agent, and restore a backup, or move \
            the file away to start empty.
            """
        case .storeLost:
            """
            The path of the database does not name the open file any more, so a restart would begin with another one. The \
            agent works on, and copies what it has to a file that ends in `.rescued`, now and when it stops. Stop it, and move \
            that file to the path of the database, or keep the one that you put there.
            """
        case .storeFull:
            """
            The disk of the database is full, so nothing is polled or delivered. Free space; the agent resumes by itself, \
            and nothing that was stored is lost.
            """
        case .storeBusy:
            """
            Nothing is polled or delivered while another program locks the database. End that program, or its transaction; the \
            agent resumes by itself, and nothing that was stored is lost.
            """
        case .certificateExpired:
            """
            New connections fail, and open ones end sometime. Renew the certificate of a port; the agent reads it by itself. For \
            that of the server or of a sink, tell its operator. If it is valid, correct this machine’s clock.
            """
        case .certificateExpiring:
            "The certificate expires within two days. Renew it, or tell the operator of the server or sink today."
        case .certificateRenewalDue:
            "The certificate expires within 14 days, and was not renewed yet. Look whether its renewal works."
        case .diskLow:
            """
            The disk has less space than twice the database, or less than 256 MiB. Polling and delivery stop when it is \
            full. Free space.
            """
        case .signedOut: "No identity is signed in, or none of many accounts is active, so nothing is polled."
        case .credentialsRefused:
            """
            The server refused the poll’s token (401, 403 or a 400 about the token). Check `auth`, the identity’s \
            permissions and this machine’s clock. The poll still follows its schedule.
            """
        case .noToken:
            """
            The poll needs a token, and there is none: `auth.kind` is `none` and the poll asks for offers or gifts, or the token’s \
            file or command fails. Check `auth`.
            """
        case .tokenPoolLow:
            "The token file has less than three tokens that are valid. Polling stops with the last one. Add tokens."
        case .serverUnreachable:
            "The server failed repeatedly, so requests to it pause. The agent retries by itself, and nothing is lost."
        case .sinkUnreachable:
            """
            The sink failed repeatedly, or refuses its token or address, so requests to it pause. The agent retries by itself, \
            and nothing is lost.
            """
        case .held:
            """
            The server asked for a wait that is longer than the time between two runs of a poll. No request is sent before \
            its end. The command ends it now, if the server’s operator agrees.
            """
        case .contractViolated:
            """
            The server sends pages that break its contract, and the poll does not pass them. Nothing is lost: it resumes \
            when the server is fixed. `quarantine_invalid` sets invalid items aside.
            """
        case .failing:
            """
            The poll’s last two cycles or more failed or were deferred. The agent retries by itself, and one success ends \
            this problem.
            """
        case .answersWithErrors:
            """
            A quarter or more of the last requests failed. The agent retries them, so changes come late at most. If it \
            lasts, tell the server’s operator.
            """
        case .slow:
            "The server takes much longer than before. Changes come late at most. If it lasts, tell its operator."
        case .behind:
            """
            The server has more changes than one cycle fetches. Each cycle continues where the last one ended, and nothing \
            is skipped. The command fetches the next part now.
            """
        case .accountsFailing:
            """
            The server refuses the token of accounts, there is none, or their last two cycles or more failed. Only these \
            accounts get no changes. The command lists them, and `starwatch accounts show DID` has the reason of one.
            """
        case .accountsLate:
            """
            Accounts wait longer for their visit than the limit of requests explains, had no success for longer than \
            `stale_after`, or have no address at any sink. A server or a sink is slow, credentials of accounts are wrong, or \
            addresses are missing. `starwatch accounts list` has the last success and the addresses of each.
            """
        case .sinkRejecting:
            """
            The sink rejected its last notifications, all of them. Check its URL and credentials. After \
            `outbox.max_retries` rejections a notification is a dead letter.
            """
        case .sinkDisabled:
            "The sink returned 410 Gone and is disabled. Fix or remove it, then reload. Its changes wait."
        case .stale: "The last success is older than the poll’s `stale_after`. The command runs it and shows the error."
        case .acknowledgementsFailing:
            """
            Acknowledgements failed two times in a row: the server did not accept them, or there was no token. Notifications \
            are delivered, and the agent retries by itself.
            """
        case .deadLetters:
            """
            A sink rejected changes for good, or was given up after `give_up_after`. `starwatch outbox retry ID` retries \
            one, `starwatch outbox discard ID` discards it.
            """
        case .quarantined:
            """
            The server sent invalid items, which were rejected alone. The command shows where their faults are; \
            `starwatch quarantine discard ID` ends the notice.
            """
        case .backpressure:
            """
            The outbox is nearly full, so polling pauses while delivery continues. Check the sinks and their hours; \
            `outbox.max_undelivered` must hold the changes of quiet hours. Set `required: false` \
            on a sink that changes need not wait for; `starwatch outbox discard --all --claimed` gives up what waits.
            """
        case .canaryLate:
            """
            The synthetic change that is sent every `canary.every` did not reach its sinks, so notifications do not either. \
            The command shows where it waits.
            """
        case .reloadRefused:
            """
            A changed configuration cannot be used, so the former one stays; with a port, the web configuration of that \
            port. Correct it. The configuration then needs a reload, that of a port does not. An agent that is part of another \
            program reloads nothing: restart that program.
            """
        case .noPolls: "The configuration has no polls and no digests, so the agent has nothing to do."
        case .noStars:
            """
            The identity has no starred projects, so the poll is skipped. `starwatch stars opt-out` says that none are \
            wanted.
            """
        case .endpointMissing:
            """
            The server has no endpoint for this kind of poll (404), so the poll rests. The agent tries again once a day, and \
            the command tries now. Remove the poll, or set `enabled: false`, if the server will not have it.
            """
        case .clockSkew:
            "This machine’s clock differs from the server’s by more than `clock.max_skew`. Check its time service."
        case .clockJumped:
            """
            This machine’s clock was set by more than a minute. Schedules follow it, and ages that other programs compute \
            from times before are wrong. Check its time service.
            """
        case .notScraped:
            """
            Prometheus scraped this agent, and no longer does. None of its alerts can fire. Check Prometheus and its list \
            of targets.
            """
        case .restarting:
            """
            The agent ended three times or more within an hour without being asked to, and was started again. The command \
            shows how each run ended, and what came before.
            """
        case .ledgerImbalance:
            "The outbox counters are inconsistent. This is a defect of Starwatch; please report it."
        }
    }
}
