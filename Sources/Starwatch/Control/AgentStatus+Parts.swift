public import StarwatchCore
package import StarwatchPolling
package import StarwatchStore

extension AgentStatus {
    /// The clock, measured against the server's.
    public struct Clock: Sendable, Codable, Hashable {
        /// The server's time minus the local time; `nil` before the first sample.
        public var skewSeconds: Double?
        /// Uncertainty of the skew in either direction; `nil` before the first sample.
        public var uncertaintySeconds: Double?
        /// Time of the last measurement; `nil` before the first sample.
        public var lastSync: TimeText?
        /// The server's time, as far as the agent follows it; `nil` from an older agent. Times of notifications and of
        /// the life of a change are by this clock.
        public var serverTime: TimeText?

        enum CodingKeys: String, SnakeKey { case skewSeconds, uncertaintySeconds, lastSync, serverTime }

        public init() {}
    }

    /// The connection to the server.
    public struct Server: Sendable, Codable, Hashable {
        /// The server's dialect; `nil` until the first answer if it is detected.
        public var dialect: Dialect?
        /// `closed` (working), `half_open` or `open`.
        public var circuit = "closed"
        /// The time before which no request is sent; `nil` if there is no wait.
        public var throttledUntil: TimeText?
        /// The requests of the last 15 minutes; `nil` from an older agent.
        public var answers: Answers?
        /// The requests that the rate limits of agent and server still allow this minute; `nil` from an older agent.
        public var requestsLeft: Int?
        /// The expiry of the token in use; `nil` without one, and if it states none.
        public var tokenExpires: TimeText?
        /// The creation of the key that signs tokens, or the last write to its file; `nil` without one.
        public var keyCreated: TimeText?

        enum CodingKeys: String, SnakeKey {
            case dialect, circuit, throttledUntil, answers, requestsLeft, tokenExpires, keyCreated
        }

        public init() {}
    }

    /// The requests of the last 15 minutes, compared with those before.
    public struct Answers: Sendable, Codable, Hashable {
        /// The number of requests. Each attempt counts.
        public var requests: Int
        /// The number of those that failed: every one without the answer that it asked for, such as 401, 429 and 503.
        public var failed: Int
        /// The p95 of their durations in seconds, at most the longest; `nil` for fewer than five requests.
        public var p95Seconds: Double?
        /// The same for the requests before; `nil` for fewer than twenty.
        public var usualP95Seconds: Double?

        enum CodingKeys: String, SnakeKey { case requests, failed, p95Seconds, usualP95Seconds }

        package init(_ answers: AnswerWindow.Summary) {
            (requests, failed) = (answers.requests, answers.unsuccessful)
            (p95Seconds, usualP95Seconds) = (answers.p95?.withoutNoise, answers.usual?.withoutNoise)
        }
    }

    /// The synthetic changes that prove delivery.
    public struct Canary: Sendable, Codable, Hashable {
        /// The time between two of them.
        public var everySeconds: Double
        /// Creation of the last one that has reached its sinks; `nil` if none has.
        public var lastArrival: TimeText?

        enum CodingKeys: String, SnakeKey { case everySeconds, lastArrival }

        package init(_ canary: HealthFacts.Canary) {
            (everySeconds, lastArrival) = (canary.every.inSeconds, canary.lastArrival?.iso8601)
        }
    }

    /// The accounts of a process that serves many, in numbers.
    public struct Accounts: Sendable, Codable, Hashable {
        /// Those that the agent works for.
        public var active: Int
        /// Those that an operator paused.
        public var paused: Int
        /// Those that are due and wait for their visit.
        public var due: Int
        /// Those without a success for longer than the longest `stale_after`.
        public var stale: Int
        /// Active ones that no sink reaches, because every sink needs an address of them and has none.
        public var withoutAddress: Int
        /// The time since which the one that waits longest is due; `nil` if none waits.
        public var oldestDue: TimeText?
        /// Seconds that one round of all accounts takes at least, by the limit of requests.
        public var roundSeconds: Double
        /// Requests of one round.
        public var roundRequests: Int?
        /// Requests for many accounts together since the start; `nil` if each asks alone.
        public var sharedRequests: Int?
        /// Polls of accounts that they answered.
        public var sharedPolls: Int?
        /// Active ones whose polls or acknowledgements fail; `nil` from an older agent.
        public var failing: Int?
        /// At most ten of them, the longest failure first; `nil` from an older agent.
        public var worst: [Failing]?

        /// The largest number of ``worst``.
        static let longestList = 10

        /// A failing account.
        public struct Failing: Sendable, Codable, Hashable {
            /// The account's pseudonym, as in logs.
            public var account: String
            public var failure: AccountFailureReport
        }

        enum CodingKeys: String, SnakeKey {
            case active, paused, due, stale, withoutAddress, oldestDue, roundSeconds, roundRequests
            case sharedRequests, sharedPolls, failing, worst
        }

        package init(_ counts: AccountCounts, round: Duration, requests: Int) {
            (active, paused, due, stale) = (counts.active, counts.paused, counts.due, counts.stale)
            withoutAddress = counts.unreachable
            (oldestDue, roundSeconds, roundRequests) = (counts.oldestDue?.iso8601, round.inSeconds, requests)
        }

        /// How many requests the shared ones saved.
        package var savedRequests: Int? {
            sharedPolls.flatMap { polls in sharedRequests.map { max(polls - $0, 0) } }
        }
    }

    /// The rules of time zones, and the machine's own zone.
    public struct TimeZones: Sendable, Codable, Hashable {
        /// `machine` for the files of the machine, or `bundled` for the data in the program.
        public var source: String
        /// The version of tzdata, such as `2026a`, or `unknown`.
        public var version: String
        /// The folder of the files; `nil` without files.
        public var folder: String?
        /// The machine's own zone: an IANA name, a rule, or the path of a file that nothing names; `nil` if it cannot be read.
        public var local: String?
        /// The place that names it: `TZ` or a file; `nil` if nothing does, so that it is UTC.
        public var localSource: String?
        /// The reason why it cannot be read now; `nil` if it can.
        public var localProblem: String?

        enum CodingKeys: String, SnakeKey { case source, version, folder, local, localSource, localProblem }

        package init(_ data: ZoneData, _ own: LocalZone) {
            (source, version, folder) = (data.source.rawValue, data.version, data.folder)
            do throws(ZoneError) {
                let (zone, origin) = try own.find()
                local = zone.identifier
                localSource =
                    switch origin {
                    case .variable: "TZ"
                    case .file(let path): path
                    case .none: nil
                    }
            } catch {
                localProblem = error.description
            }
        }

        /// Both in one line.
        package var text: String {
            let data =
                folder.map { "tzdata \(version) in \($0)" }
                ?? "tzdata \(version) in the program, because the machine has no zone files"
            guard let local else { return "\(data); the machine's own zone \(localProblem ?? "is unknown.")" }
            return "\(data); the machine's own is \(local), "
                + (localSource.map { "from \($0)" } ?? "because it has neither TZ nor /etc/localtime") + "."
        }
    }

    /// The memory of the process.
    public struct Memory: Sendable, Codable, Hashable {
        /// Resident memory in bytes.
        public var residentBytes: Int
        /// The same 10 min after the start; `nil` before.
        public var settledBytes: Int?

        enum CodingKeys: String, SnakeKey { case residentBytes, settledBytes }

        package init(residentBytes: Int, settledBytes: Int?) {
            (self.residentBytes, self.settledBytes) = (residentBytes, settledBytes)
        }
    }

    /// The disk of the database.
    public struct Disk: Sendable, Codable, Hashable {
        /// Free space in bytes.
        public var freeBytes: Int
        /// Size of the database with its write-ahead log, in bytes.
        public var databaseBytes: Int

        enum CodingKeys: String, SnakeKey { case freeBytes, databaseBytes }

        package init(_ disk: HealthFacts.Disk) { (freeBytes, databaseBytes) = (disk.free, disk.used) }
    }

    /// A thing that is wrong.
    public struct Problem: Sendable, Codable, Hashable {
        /// The kind, from a fixed set of words.
        public var problem: String
        /// The poll, sink or port that it is about; `nil` for the whole agent.
        public var subject: String?
        /// `critical`, `warning` or `info`; `nil` from an older agent.
        public var severity: String?
        /// The reason in a word from a fixed set, such as `timeout` or `http_503`; `nil` if there is none to tell.
        public var reason: String?
        /// A phrase for people: its words can change.
        public var title: String
        /// Details that the title leaves out, such as the whole error with the path of a file; `nil` if it says all.
        public var detail: String?
        /// The meaning, and what to do. Commands and settings stand between backticks.
        public var meaning: String
        /// Its start, or the time at which this process first saw it.
        public var since: TimeText?
        /// The time at which it ends by itself; `nil` if it is not known.
        public var until: TimeText?
        /// The next command; `nil` if there is nothing to run.
        public var command: String?
        /// The name of its runbook, which the agent serves at `/help/runbooks/NAME`; `nil` from an older agent.
        public var runbook: String?

        package init(_ problem: StarwatchCore.Problem) {
            self.problem = problem.kind.rawValue
            subject = problem.subject
            severity = problem.kind.severity.rawValue
            reason = problem.reason
            title = problem.title
            detail = problem.detail
            meaning = problem.kind.meaning
            since = problem.since?.iso8601
            until = problem.until?.iso8601
            command = problem.command
            runbook = problem.kind.runbook
        }
    }

    /// The encryption of the database.
    public struct Storage: Sendable, Codable, Hashable {
        /// Whether the database is encrypted.
        public var encrypted: Bool
        /// The part of the rows that a rotation of the data keys has passed, from 0 to 1; `nil` without a rotation.
        public var reencryption: Double?

        public init(encrypted: Bool, reencryption: Double?) {
            (self.encrypted, self.reencryption) = (encrypted, reencryption)
        }
    }

    /// The ends of the agent that nobody asked for.
    public struct Restarts: Sendable, Codable, Hashable {
        /// Their number in the last 24 hours, up to some hundreds.
        public var lastDay: Int
        /// The cause of the last of them; `nil` if there is none in the last 24 hours.
        public var lastCause: String?
        /// Its time; where only the next start shows it, that of the start.
        public var lastAt: TimeText?
        /// The last sign of life before it; `nil` if its time is known.
        public var lastAfter: TimeText?

        enum CodingKeys: String, SnakeKey { case lastDay, lastCause, lastAt, lastAfter }

        init(_ ends: [RunEnd], now: Timestamp) {
            let unasked = RunEnd.unasked(ends, within: .seconds(86_400), now: now)
            lastDay = unasked.count
            (lastCause, lastAt) = (unasked.last?.cause.rawValue, unasked.last?.at.iso8601)
            lastAfter = unasked.last?.after?.iso8601
        }
    }
}
