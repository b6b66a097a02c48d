/// A thing that is wrong. The status, its headline, the page, the commands and the log show the same list of them.
package struct Problem: Sendable, Hashable {
    package let kind: Kind
    /// The poll, sink or port that it is about; `nil` for the whole agent.
    package let subject: String?
    /// A phrase that says what is wrong: `sink hook down for 13 min`.
    package let phrase: String
    /// The start by the local clock; `nil` if it is not known.
    package var since: Timestamp?
    /// The time at which it ends by itself; `nil` if it is not known.
    package var until: Timestamp?

    package init(
        _ kind: Kind,
        of subject: String? = nil,
        _ phrase: String,
        since: Timestamp? = nil,
        until: Timestamp? = nil
    ) {
        (self.kind, self.subject, self.phrase, self.since, self.until) = (kind, subject, phrase, since, until)
    }

    /// The word in the status, with its subject after a colon: `stale:starred_projects`.
    package var word: String { kind.rawValue + (subject.map { ":\($0)" } ?? "") }

    /// ``phrase`` as the beginning of a sentence.
    package var title: String { phrase.prefix(1).uppercased() + phrase.dropFirst() }

    /// The next command; `nil` if there is nothing to run.
    package var command: String? { kind.command(subject ?? "") }

    /// The closed set of problems, the gravest first.
    package enum Kind: String, Sendable, CaseIterable {
        case storeUnavailable = "store_unavailable"
        case signedOut = "signed_out"
        case credentialsRefused = "credentials_refused"
        case noToken = "no_token"
        case serverUnreachable = "server_unreachable"
        case held
        case failing
        case sinkUnreachable = "sink_unreachable"
        case sinkRejecting = "sink_rejecting"
        case sinkDisabled = "sink_disabled"
        case stale
        case acknowledgementsFailing = "acknowledgements_failing"
        case deadLetters = "dead_letters"
        case quarantined
        case backpressure
        case reloadRefused = "reload_refused"
        case noStars = "no_stars"
        case clockSkew = "clock_skew"
        case ledgerImbalance = "ledger_imbalance"
        case restarting
    }
}

extension Problem.Kind {
    package enum Topic: Sendable {
        case agent, poll, sink, port
    }

    /// The topic. A changed configuration that was refused can also be that of the agent.
    package var topic: Topic {
        switch self {
        case .credentialsRefused, .noToken, .failing, .stale, .noStars: .poll
        case .sinkUnreachable, .sinkRejecting, .sinkDisabled: .sink
        case .reloadRefused: .port
        default: .agent
        }
    }

    /// The meaning, and what to do. Commands and settings stand between backticks.
    package var meaning: String {
        switch self {
        case .storeUnavailable:
            "The database cannot be read. Check the disk and the file’s owner and mode; the log has SQLite’s error."
        case .signedOut: "No identity is signed in, so nothing is polled."
        case .credentialsRefused:
            """
            The server refused the poll’s token (401, 403 or a 400 about the token). Check `auth`, the identity’s \
            permissions and this machine’s clock. The poll still follows its schedule.
            """
        case .noToken:
            """
            The poll needs a token, and there is none: `auth.kind` is `none` and the poll asks for offers, or the token’s \
            file or command fails. Check `auth`.
            """
        case .serverUnreachable:
            "The server failed repeatedly, so requests to it pause. The agent retries by itself, and nothing is lost."
        case .sinkUnreachable:
            "The sink failed repeatedly, so requests to it pause. The agent retries by itself, and nothing is lost."
        case .held:
            """
            The server asked for a wait that is longer than the time between two runs of a poll. No request is sent before \
            its end. The command ends it now, if the server’s operator agrees.
            """
        case .failing:
            """
            The poll’s last two cycles or more failed or were deferred. The agent retries by itself, and one success ends \
            this problem.
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
            The server did not accept acknowledgements two times in a row. Notifications are delivered, and the agent \
            retries by itself.
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
            The outbox is nearly full, so polling pauses while delivery continues. Check the sinks. Set `required: false` \
            on a sink that changes need not wait for; `starwatch outbox discard --all --claimed` gives up what waits.
            """
        case .reloadRefused:
            """
            A changed configuration cannot be used, so the former one stays; with a port, the web configuration of that \
            port. Correct it. The configuration then needs a reload, that of a port does not.
            """
        case .noStars:
            """
            The identity has no starred projects, so the poll is skipped. `starwatch stars opt-out` says that none are \
            wanted.
            """
        case .clockSkew:
            "This machine’s clock differs from the server’s by more than `clock.max_skew`. Check its time service."
        case .ledgerImbalance:
            "The outbox counters are inconsistent. This is a defect of Starwatch; please report it."
        case .restarting:
            """
            The agent ended three times or more within an hour without being asked to, and was started again. The command \
            shows how each run ended, and what came before.
            """
        }
    }

    /// The command that answers or ends it.
    fileprivate func command(_ subject: String) -> String? {
        switch self {
        case .storeUnavailable, .credentialsRefused, .noToken, .serverUnreachable, .clockSkew: "starwatch doctor"
        case .signedOut: "starwatch identity set DID"
        case .sinkUnreachable, .sinkRejecting, .sinkDisabled: "starwatch sinks test \(subject)"
        case .held: "starwatch server clear-wait"
        case .failing, .stale: "starwatch poll \(subject)"
        case .acknowledgementsFailing: "starwatch logs --level warn"
        case .deadLetters: "starwatch outbox list --state dead"
        case .quarantined: "starwatch quarantine list"
        case .backpressure: "starwatch outbox list --state claimed"
        case .reloadRefused: subject.isEmpty ? "starwatch check" : "starwatch logs --level warn"
        case .noStars: "starwatch stars add ID"
        case .ledgerImbalance: nil
        case .restarting: "starwatch incident"
        }
    }
}
