/// The facts about an agent. They decide whether it is healthy, and the status and the metrics are views of them. Times are by the
/// local clock unless they say otherwise.
package struct HealthFacts: Sendable, Hashable {
    /// A poll of the active identity, or of any of many accounts.
    package struct Poll: Sendable, Hashable {
        package var name: String
        package var kind: PollKind
        /// The limit for the age of its last success.
        package var staleAfter = Duration.zero
        /// The time since which its last success is older than that; `nil` if it is not.
        package var staleSince: Timestamp?
        /// The last cycle that reached the server, and the last complete one.
        package var last = CycleTimes()
        /// The outcome of the last cycle that reached the server.
        package var lastOutcome: PollOutcome?
        /// The end of the last cycle that found new changes; `nil` if none is known.
        package var lastNew: Timestamp?
        /// The earliest time of the next run; `nil` before the first check of the schedule.
        package var nextRun: Timestamp?
        /// The server's time up to which it has seen every change.
        package var seenUntil: Timestamp?
        /// The server's time up to which all changes are finished.
        package var watermark: Timestamp?
        /// The server's time up to which all changes are fetched.
        package var fetchCursor: Timestamp?
        /// The number of the account's own projects that the last cycle asked for; `nil` for a poll of other projects.
        package var ownPlans: Int?
        /// Whether that cycle left out some of them.
        package var leavesPlansOut = false
        /// The reason why the last cycle failed, was deferred or got no token; `nil` if it succeeded.
        package var lastReason: FailureReason?
        /// The first failure since the last success; `nil` if the last cycle did not fail.
        package var failingSince: Timestamp?
        /// The reason why the latest run was skipped; `nil` if it was not.
        package var skip: SkipReason?
        /// The time since which its runs are skipped for that; `nil` if they are not.
        package var skippedSince: Timestamp?
        /// Whether it needs stars, the account has none, and the account has not opted out.
        package var lacksStars = false
        /// Whether the server has no endpoint for it, so that it rests.
        package var lacksEndpoint = false
        /// Whether its requests need a token, and none is available.
        package var lacksToken = false
        /// Whether the server refused the credentials of its last cycles.
        package var isRefused = false
        /// The number of cycles in a row that failed or were deferred, counted up to ``failingAfter``.
        package var failures = 0
        /// The reason for the last of these failures.
        package var failure: FailureReason?
        /// Whether an invalid item stops it until the server repairs the item (``QuarantinePolicy/isNever(validation:)``).
        package var stopsAtInvalidItems = false
        /// The time between two runs of its schedule; `nil` if it is not expected to run.
        package var interval: Duration?
        /// The changes that its last cycle left at the server; `nil` if it left none.
        package var backlog: FetchBacklog?
        /// The time without changes; `nil` if it is not known what is usual.
        package var silence: ChangeRhythm.Silence?

        /// The number of cycles in a row without success after which a poll counts as failing.
        package static let failingAfter = 2

        package var isStale: Bool { staleSince != nil }

        /// Whether only a person can end its failures.
        package var needsAction: Bool { lastReason?.needsAction ?? false }

        /// Whether its cycles fail for another reason than its token.
        package var isFailing: Bool {
            // A later cycle cannot fix this.
            let limit = stopsAtInvalidItems && failure?.cause == .contract ? 1 : Self.failingAfter
            return failures >= limit && !isRefused && !lacksToken
        }

        package init(name: String, kind: PollKind = .starredProjects) { (self.name, self.kind) = (name, kind) }
    }

    package struct Sink: Sendable, Hashable {
        package var name: String
        package var condition: SinkCondition
        package var circuit = CircuitState.closed
        /// `nil` before the first success of this process.
        package var lastSuccess: Timestamp?
        /// The start of the outage; `nil` if the last attempt got a response.
        package var downSince: Timestamp?
        /// The reason for the failure of the last attempt; `nil` if it succeeded.
        package var failure: FailureReason?
        /// The changes that its hours hold, and that the watermark waits for; `nil` for none.
        package var held: HeldChanges?

        package init(
            name: String,
            condition: SinkCondition,
            downSince: Timestamp? = nil,
            failure: FailureReason? = nil
        ) {
            (self.name, self.condition, self.downSince, self.failure) = (name, condition, downSince, failure)
        }
    }

    /// Changes that the hours of a sink hold.
    package struct HeldChanges: Sendable, Hashable {
        package var count: Int
        /// The moment when the sink opens.
        package var until: Timestamp

        package init(count: Int, until: Timestamp) { (self.count, self.until) = (count, until) }
    }

    package struct Outbox: Sendable, Hashable {
        package var pending = 0
        package var claimed = 0
        /// Delivered rows that are not yet acknowledged.
        package var delivered = 0
        package var dead = 0
        package var capacity = 0
        /// The number of open rows from which on polling pauses.
        package var pressure = Int.max
        /// The creation of the oldest open row; `nil` if there is none.
        package var oldestPending: Timestamp?
        /// The time since which the oldest deliverable row has been due; `nil` if there is none.
        package var oldestDue: Timestamp?
        /// Notifications that an optional sink did not get.
        package var undelivered = 0
        /// Invalid items of the server that were rejected alone.
        package var quarantined = 0
        /// Rows that the counters cannot account for.
        package var imbalance = 0

        package var open: Int { pending + claimed }

        /// Whether polling pauses because the outbox is nearly full.
        package var isUnderPressure: Bool { open >= pressure }

        package init() {}
    }

    /// The space for the database, in bytes.
    package struct Disk: Sendable, Hashable {
        package var free: Int
        /// The size of the database with its write-ahead log.
        package var used: Int

        /// The free space below which a disk is low, however small the database.
        package static let least = 256 << 20

        package var isLow: Bool { free < max(2 * used, Self.least) }

        package init(free: Int, used: Int) { (self.free, self.used) = (free, used) }
    }

    /// The synthetic changes that prove delivery. Times are by the local clock.
    package struct Canary: Sendable, Hashable {
        package var every: Duration
        /// The creation of the last one that has arrived; `nil` if none has.
        package var lastArrival: Timestamp?
        package var startedAt: Timestamp

        /// The time that one can take through grouping and retries.
        package static let grace = Duration.seconds(600)

        package init(every: Duration, lastArrival: Timestamp?, startedAt: Timestamp) {
            (self.every, self.lastArrival, self.startedAt) = (every, lastArrival, startedAt)
        }

        /// The time since which one is missing; `nil` if none is.
        package func missingSince(now: Timestamp) -> Timestamp? {
            // An agent that did not run has sent none.
            let due = (lastArrival.map { max($0, startedAt - every) } ?? startedAt) + every
            return now > due + Self.grace ? due : nil
        }
    }

    /// The accounts of a process that serves many.
    package struct Accounts: Sendable, Hashable {
        /// The time that the account has waited which is due for longest; zero if none is.
        package var wait: Duration
        /// The time of one round of all accounts, as far as the limit of requests decides.
        package var round: Duration
        /// The number of accounts without a success for longer than `stale_after`.
        package var stale: Int
        /// The number of active accounts that no sink reaches, because they have no address.
        package var unreachable = 0
        /// The number of active accounts whose polls or acknowledgements fail.
        package var failing = 0
        /// The reason that most of them have; `nil` if it is not known.
        package var failure: FailureReason?
        /// Whether some have another reason.
        package var failuresDiffer = false
        /// The start of the longest failure.
        package var failingSince: Timestamp?

        /// The delay that is usual, beyond that of the limit.
        package static let grace = Duration.seconds(300)

        package init(wait: Duration, round: Duration, stale: Int = 0) {
            (self.wait, self.round, self.stale) = (wait, round, stale)
        }

        package var areLate: Bool { wait > round + Self.grace }
    }

    /// A step of the local clock.
    package struct Jump: Sendable, Hashable {
        package var jump: ClockJump
        package var size: Duration
        package var age: Duration

        /// The size of a step that people notice.
        package static let noticed = Duration.seconds(60)
        /// The time for which it is a problem.
        package static let lasts = Duration.seconds(900)

        package var isProblem: Bool { jump != .suspend && size > Self.noticed && age < Self.lasts }

        package init(_ jump: ClockJump, size: Duration, age: Duration) {
            (self.jump, self.size, self.age) = (jump, size, age)
        }
    }

    package var canReadStore = true
    /// The reason why the last work of some part failed by the database, or why it cannot be read; `nil` if it works.
    package var storeFault: StoreErrorKind?
    /// Whether the path of the database does not name the open file any more.
    package var isStoreLost = false
    /// `nil` if it cannot be measured.
    package var disk: Disk?
    /// Whether the configuration gives the agent nothing to do.
    package var isIdle = false
    /// The valid tokens of a pool; `nil` without a pool.
    package var tokensLeft: Int?
    /// The server's answers of late.
    package var answers = AnswerWindow.Summary()
    /// `nil` without canaries, or while signed out.
    package var canary: Canary?
    /// `nil` for a process that serves the active identity.
    package var accounts: Accounts?
    /// The last step of the local clock; `nil` without one.
    package var jump: Jump?
    /// The time since the last scrape, if scrapes have ceased; `nil` if they go on, or never began.
    package var scrapeSilence: Duration?
    /// Whether no identity is active although there is something to do for one.
    package var isSignedOut = false
    package var polls: [Poll] = []
    package var sinks: [Sink] = []
    package var outbox = Outbox()
    package var serverCircuit = CircuitState.closed
    /// The requests that the rate limits of agent and server still allow this minute.
    package var requestsLeft: Int?
    /// The expiry of the token in use; `nil` without one, and if it states none.
    package var tokenExpiry: Timestamp?
    /// The wait that the server asked for; `nil` if requests can go.
    package var hold: NotBefore?
    /// The number of passes in a row in which an acknowledgement failed.
    package var failedAcknowledgements = 0
    /// The reason for the last of these failures; `nil` if it is not known.
    package var acknowledgementFailure: FailureReason?
    /// The refusal of the last reload, so that a former configuration runs; `nil` if it succeeded.
    package var refusedReload: RefusedReload?
    /// The ports whose changed web configuration was refused.
    package var refusedPorts: [String] = []
    /// Whether the local clock is off by more than the limit.
    package var isSkewed = false
    /// The certificates whose expiry is known.
    package var certificates: [Certificate] = []
    /// The ends of former runs, the oldest first.
    package var restarts: [RunEnd] = []

    /// The number of ends within ``restartWindow`` that nobody asked for, from which on the agent restarts too often.
    package static let restartsOfTrouble = 3
    package static let restartWindow = Duration.seconds(3600)

    /// The number of failed passes in a row after which acknowledgements count as failing.
    package static let acknowledgementsFailAfter = 2
    /// The number of valid tokens below which a pool is low.
    package static let fewTokens = 3

    package init() {}
}

/// The kind of an error of the database.
package enum StoreErrorKind: String, Sendable, CaseIterable {
    case busy, full, corrupt, io, version
}

/// The condition of a sink, by its recent results.
package enum SinkCondition: String, Sendable, CaseIterable {
    case working
    /// It does not answer, and its circuit is open or half-open.
    case down
    /// It rejected everything of late.
    case rejecting
    /// It returned 410 Gone.
    case disabled

    /// The number of rejections in a row after which a sink counts as rejecting everything.
    package static let rejectionsOfAll = 3

    package init(isDisabled: Bool, circuit: CircuitState, rejectionsInARow: Int) {
        self =
            if isDisabled {
                .disabled
            } else if circuit != .closed {
                .down
            } else {
                rejectionsInARow >= Self.rejectionsOfAll ? .rejecting : .working
            }
    }
}

/// The refusal of a changed configuration.
package struct RefusedReload: Sendable, Hashable {
    /// End of the refusal. The raw value is the reason of the problem.
    package enum Remedy: String, Sendable {
        /// A correction of the configuration.
        case correction
        /// A restart: the configuration is good.
        case restart = "needs_restart"
        /// A restart of the program that the agent is part of.
        case restartOfHost = "needs_restart_of_host"
    }

    package let sentence: String
    package let remedy: Remedy

    package init(_ sentence: String, _ remedy: Remedy = .correction) {
        (self.sentence, self.remedy) = (sentence, remedy)
    }
}
