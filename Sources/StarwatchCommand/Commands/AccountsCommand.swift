import ArgumentParser
import Starwatch
import StarwatchCore

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Add, list, move or remove the accounts of an agent with accounts: many.",
        discussion: "Other commands, such as stars, outbox and explain, work for one of them with --account DID.",
        subcommands: [Add.self] + List.commands + commands + [Export.self, Import.self]
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "add",
            "Add accounts, or change their stars, polls and addresses.",
            """
            With --stdin, each line of standard input is an account: {"did": "did:ethr:0x…", "stars": ["…"], "polls": ["…"], \
            "sinks": {"hook": {"url": "https://…", "secret": "…"}}}. A line with a mistake is named, and the other lines are \
            added. An account that exists gets the new stars, polls and addresses, if any are given; null takes an address \
            away. polls names some of the configured polls; without it, an account has all. A removed account whose data is \
            still stored begins anew with its stars and settings: changes since its removal are not announced.
            """,
            waiting: ControlAPI.addAccounts.patience,
            examples: [
                "starwatch accounts add did:ethr:0x… --star https://endorser.ch/entity/… --sink hook=hook.json",
                "starwatch accounts add --stdin",
            ]
        )

        @Argument(help: "The DID, such as did:ethr:0x….")
        var did: String?

        @Option(help: ArgumentHelp("A starred plan; give it several times for more.", valueName: "id"))
        var star: [String] = []

        @Option(help: ArgumentHelp("Poll only this one; give it several times for more.", valueName: "name"))
        var poll: [String] = []

        @Option(
            help: ArgumentHelp(
                """
                The account's address for a sink, in a file of mode 0600: {"url": "https://…", "secret": "…"}. Give it several \
                times for more.
                """,
                valueName: "name=file"
            )
        )
        var sink: [String] = []

        @Flag(help: "Read one account from each line of standard input.")
        var stdin = false

        @OptionGroup var arguments: AgentArguments

        func validate() throws {
            guard (did != nil) != stdin else { throw ValidationError("Give either a DID or --stdin.") }
            if stdin, !star.isEmpty || !poll.isEmpty || !sink.isEmpty {
                throw ValidationError("With --stdin, the stars, polls and addresses stand in its lines.")
            }
        }

        /// The addresses in the files.
        private func addresses() throws -> [String: SinkAddress?]? {
            guard !sink.isEmpty else { return nil }
            var addresses: [String: SinkAddress?] = [:]
            for text in sink {
                let parts = text.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { throw ValidationError("--sink must be NAME=FILE.") }
                addresses[String(parts[0])] = try SinkAddress.read(String(parts[1]))
            }
            return addresses
        }

        func run() async throws {
            var input = AccountLines()
            if let did {
                let entry = AccountAdditions.Entry(
                    did: did,
                    stars: star.isEmpty ? nil : star,
                    polls: poll.isEmpty ? nil : poll,
                    sinks: try addresses()
                )
                input.add(entry, line: nil)
            } else {
                while let line = readLine() { input.add(line) }
            }
            var report = AccountLines.Report(refused: input.refused)
            for batch in input.batches {
                let answer = try await arguments.ask(
                    ControlAPI.addAccounts,
                    AccountAdditions(accounts: batch.map(\.entry))
                )
                report.take(answer, of: batch)
            }
            report.sort()
            for refusal in report.refused {
                StandardError.sayOnce("starwatch: \(refusal.line.map { "line \($0): " } ?? "")\(refusal.problem)")
            }
            if let warning = report.warning { StandardError.sayOnce("starwatch: warning: \(warning)") }
            try arguments.print(report, isGood: report.refused.isEmpty) { $0.text }
        }
    }

    struct List: ParsableArguments, OneQuestion {
        static let question = Question<List>(
            ControlAPI.listAccounts,
            "list",
            "List the accounts, page by page.",
            examples: [
                "starwatch accounts list", "starwatch accounts list --failing",
                "starwatch accounts list --limit 1000 --after did:ethr:0x…",
            ],
            taking: \.query,
            then: { listing, list, arguments in
                try arguments.print(listing.accounts, list.failing ? AccountsCommand.failing : AccountsCommand.list)
            }
        )

        @Option(help: "Number of accounts, at most \(AccountQuery.listLimit).")
        var limit = AccountQuery().limit

        @Option(help: ArgumentHelp("The last account of the former page.", valueName: "did"))
        var after: String?

        @Flag(help: "List only the accounts that fail, the longest failure first.")
        var failing = false

        func validate() throws { try OptionValue.check(limit: limit, upTo: AccountQuery.listLimit) }

        private var query: AccountQuery {
            var query = AccountQuery()
            (query.limit, query.after, query.failing) = (limit, after, failing)
            return query
        }
    }
}

extension AccountsCommand: Questions {
    static let questions = [
        Question<DIDArgument>(
            ControlAPI.showAccount,
            "show",
            "Show an account.",
            examples: ["starwatch accounts show did:ethr:0x…"],
            taking: \.account,
            text: AccountsCommand.details
        ),
        Question(
            ControlAPI.pauseAccount,
            "pause",
            "Stop the work for an account; what is stored stays.",
            examples: ["starwatch accounts pause did:ethr:0x…"],
            taking: \.account,
            text: AccountsCommand.details
        ),
        Question(
            ControlAPI.resumeAccount,
            "resume",
            "Continue the work for an account.",
            examples: ["starwatch accounts resume did:ethr:0x…"],
            taking: \.account,
            text: AccountsCommand.details
        ),
        Question(
            ControlAPI.removeAccount,
            "remove",
            "Stop serving an account, and delete its stored data after 30 days.",
            about:
                "Changes that wait for delivery are cancelled. Adding the account again within the 30 days keeps its data.",
            examples: ["starwatch accounts remove did:ethr:0x…"],
            taking: \.account,
            text: AccountsCommand.removal
        ),
        Question(
            ControlAPI.eraseAccount,
            "erase",
            "Delete all stored data of an account now, for good.",
            about: """
                Nothing of it stays in the database file and its write-ahead log: its keys are destroyed first. Files of sinks are \
                not touched.
                """,
            examples: ["starwatch accounts erase did:ethr:0x…"],
            taking: \.account,
            text: { IdentityCommand.erasure($0, of: "account") }
        ),
    ]
}

/// The accounts of standard input, and their lines.
struct AccountLines {
    /// The number is `nil` for an account of the command line.
    typealias Line = (entry: AccountAdditions.Entry, number: Int?, bytes: Int)

    struct Refusal: Encodable, Sendable {
        var line: Int?
        var problem: String
    }

    /// The results of the lines.
    struct Report: Encodable, Sendable {
        var added = 0
        /// Those of the added accounts that were stored before.
        var returned = 0
        var changed = 0
        var unchanged = 0
        var refused: [Refusal] = []
        var warning: String?

        init(refused: [Refusal]) { self.refused = refused }

        mutating func take(_ answer: AccountAdditionsReport, of batch: [Line]) {
            warning = answer.warning
            for (line, entry) in zip(batch, answer.accounts) {
                switch entry.result {
                case "added":
                    added += 1
                    if entry.returned == true { returned += 1 }
                case "changed": changed += 1
                case "unchanged": unchanged += 1
                default: refused.append(Refusal(line: line.number, problem: entry.problem ?? "The agent refuses it."))
                }
            }
        }

        /// Brings the refused lines into the order of the file.
        mutating func sort() { refused.sort { ($0.line ?? 0) < ($1.line ?? 0) } }

        var text: String {
            let parts = [(added, "added"), (changed, "changed"), (unchanged, "unchanged"), (refused.count, "refused")]
            let found = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            let text = found.isEmpty ? "No account was given." : "Accounts: \(found.joined(separator: ", "))."
            guard returned > 0 else { return text }
            let (whose, since) =
                returned == 1
                ? ("1 was stored before and begins", "it") : ("\(returned) were stored before and begin", "they")
            return "\(text) \(whose) anew: changes since \(since) left are not announced."
        }
    }

    /// Accounts of one request, so that none takes long, and their bytes, so that no long line makes a request too long.
    private static let batch = (count: 500, bytes: 500_000)
    /// The largest line. A request has a limit of 1 MiB.
    private static let longestLine = 1_000_000

    private var lines: [Line] = []
    private var count = 0
    private(set) var refused: [Refusal] = []
    /// The first line of each DID, because the agent sees one batch at a time.
    private var firstLines: [String: Int] = [:]

    var batches: [[Line]] {
        var batches: [[Line]] = []
        var bytes = 0
        for line in lines {
            if let last = batches.last, last.count < Self.batch.count, bytes + line.bytes <= Self.batch.bytes {
                batches[batches.count - 1].append(line)
            } else {
                batches.append([line])
                bytes = 0
            }
            bytes += line.bytes
        }
        return batches
    }

    mutating func add(_ entry: AccountAdditions.Entry, line: Int?, bytes: Int = 0) {
        lines.append((entry, line, bytes))
    }

    /// Takes a line of standard input. An empty one is skipped.
    mutating func add(_ text: String) {
        count += 1
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        guard text.utf8.count <= Self.longestLine else {
            let problem =
                "has \(text.utf8.count) bytes, and a request takes 1,000,000; leave some stars out. The others are added."
            return refused.append(Refusal(line: count, problem: problem))
        }
        var request = ControlRequest()
        request.body = Array(text.utf8)
        guard let entry = try? ControlAPI.accountLine.read(request) else {
            let problem = """
                must be JSON of the form {"did": "did:ethr:0x…", "stars": ["…"], "polls": ["…"], "sinks": {"hook": {"url": \
                "https://…"}}}; the others are added.
                """
            return refused.append(Refusal(line: count, problem: problem))
        }
        if let first = firstLines[entry.did] {
            let problem = "has the DID of line \(first); leave one of the two out."
            return refused.append(Refusal(line: count, problem: problem))
        }
        firstLines[entry.did] = count
        add(entry, line: count, bytes: text.utf8.count)
    }
}

/// Accounts as text for a person.
extension AccountsCommand {
    static func list(_ accounts: [AccountReport]) -> String {
        guard !accounts.isEmpty else { return "There are no accounts; add some with starwatch accounts add." }
        let rows = accounts.map { account in
            let status = account.failure == nil ? account.status : "failing"
            return [
                account.did, status, "\(account.stars)", account.lastSuccess ?? "never", account.dueAt ?? "-",
                sinks(account) ?? "-",
            ]
        }
        let titles = ["ACCOUNT", "STATUS", "STARS", "LAST SUCCESS", "DUE", "ADDRESSES"]
        return TextTable(titles: titles, right: [2], rows: rows).text
    }

    static func failing(_ accounts: [AccountReport]) -> String {
        guard !accounts.isEmpty else { return "No account fails." }
        let rows = accounts.compactMap { account in
            account.failure.map {
                [
                    account.did, $0.poll, $0.reason.map { FailureReason($0)?.phrase ?? $0 } ?? "unknown", $0.since,
                    "\($0.failures)", $0.nextTry ?? "-",
                ]
            }
        }
        let titles = ["ACCOUNT", "POLL", "REASON", "SINCE", "FAILURES", "NEXT TRY"]
        return TextTable(titles: titles, right: [4], rows: rows).text
    }

    static func removal(_ report: IdentityRemovalReport) -> String {
        let time = TerminalText.printable(report.keptUntil)
        return
            "Its data is deleted after \(time). Adding the account again before then brings back its stars and settings; "
            + "changes of the time between are not announced."
    }

    /// The states of the account's addresses; `nil` if no sink needs one.
    private static func sinks(_ account: AccountReport) -> String? {
        guard !account.sinks.isEmpty else { return nil }
        return account.sinks.sorted { $0.key < $1.key }.map { sink, state in
            let reason = account.sinkReasons?[sink].map { FailureReason($0)?.phrase ?? $0 }
            return "\(sink) \(state)" + (reason.map { " (\($0))" } ?? "")
        }.joined(separator: ", ")
    }

    static func details(_ account: AccountReport) -> String {
        var pairs = [
            ("DID", account.did), ("In logs", account.pseudonym),
            ("Status", account.status + (account.working ? ", at work now" : "")), ("Stars", "\(account.stars)"),
            ("Polls", account.polls.isEmpty ? "none" : account.polls.joined(separator: ", ")),
            ("Added", account.addedAt), ("Last attempt", account.lastAttempt ?? "never"),
            ("Last success", account.lastSuccess ?? "never"), ("Due", account.dueAt ?? "not while it is paused"),
            ("Addresses", sinks(account) ?? "none needed"),
        ]
        if let failure = account.failure {
            let count = failure.failures.counted("failure")
            pairs.append(("Failing", "poll \(failure.poll) since \(failure.since), \(count): \(failure.problem)"))
            pairs.append(("Next try", failure.nextTry ?? "none planned"))
        }
        return TextTable.pairs(pairs)
    }
}
