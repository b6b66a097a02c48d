import Starwatch
import StarwatchCore

/// The findings about the running agent: version, health, sinks, scrapes, rules.
struct AgentFindings {
    let status: AgentStatus
    let options: AgentOptions
    /// Whether `http.listen` has TLS.
    var isEncrypted = false

    private var now: Timestamp { Timestamp(iso8601: status.now) ?? Timestamp(milliseconds: 0) }

    private func age(_ time: String?) -> Duration? { time.flatMap { Timestamp(iso8601: $0) }.map { now - $0 } }

    var agent: [Finding] {
        let up = age(status.startedAt).map { AgeText.duration(max(0, $0.inSeconds)) } ?? "an unknown time"
        var findings = [Finding("agent", .ok, "starwatch \(status.version) has been running for \(up).")]
        if status.version != AgentVersion.current {
            let text =
                "starwatch \(status.version) runs, but \(AgentVersion.current) is installed; restart the agent."
            findings = [Finding("agent", .warning, text)]
        }
        if status.status == .healthy { return findings + [Finding("health", .ok, "The agent is healthy.")] }
        // An older agent lists words only.
        return findings
            + (status.shownProblems?.filter { !isSaidElsewhere($0) }.map { problem in
                Finding("health", .problem, Self.sentence(problem))
            } ?? [Finding("health", .problem, status.reasons.joined(separator: ", "))])
    }

    /// A problem with the next command, or with its meaning if the command is this one.
    private static func sentence(_ problem: AgentStatus.Problem) -> String {
        let detail = problem.detail.map { " (\($0))" } ?? ""
        guard let command = problem.command, command != "starwatch doctor" else {
            let title = "\(problem.title)\(detail)."
            guard problem.command != nil else { return title }
            let meaning = problem.meaning.replacing("`", with: "")
            return meaning.hasPrefix(title) ? meaning : "\(title) \(meaning)"
        }
        return "\(problem.title)\(detail); run \(command)."
    }

    /// Whether the finding about a configured sink, or about certificates, says it.
    private func isSaidElsewhere(_ problem: AgentStatus.Problem) -> Bool {
        switch Problem.Kind(rawValue: problem.problem)?.topic {
        case .sink: options.delivery.sinks.contains { $0.name == problem.subject }
        case .certificate: true
        default: false
        }
    }

    /// The certificates whose expiry the agent knows, the first to expire first.
    var certificates: [Finding] {
        (status.certificates ?? [:]).sorted { $0.value < $1.value }.compactMap { name, expiry in
            Timestamp(iso8601: expiry).map { Self.finding(Certificate(of: .init(word: name), expiry: $0), now: now) }
        }
    }

    /// The finding about one certificate.
    static func finding(_ certificate: Certificate, now: Timestamp) -> Finding {
        let area = "certificate \(certificate.owner.word)"
        let (day, left) = (certificate.expiry.iso8601.prefix(10), AgeText.age((now - certificate.expiry).inSeconds))
        let problem = certificate.problem(now: now)
        let state: Finding.State =
            switch problem?.kind {
            case nil: .ok
            case .certificateExpired: .problem
            default: .warning
            }
        let advice = problem.map { _ in " Renew it, or tell its operator." } ?? ""
        return Finding(
            area,
            state,
            "It \(certificate.expiry > now ? "expires" : "expired") \(left), on \(day).\(advice)"
        )
    }

    /// The state of a sink in the running agent; `nil` if it works.
    func sink(_ name: String) -> Finding? {
        let reason = status.outbox.sinkReasons[name].flatMap { FailureReason($0)?.phrase }
        let because = reason.map { " (\($0))" } ?? ""
        let test = "see 'starwatch sinks test \(name)'."
        return switch status.outbox.sinks[name] {
        case "open", "half_open": Finding("sink \(name)", .problem, "The agent's attempts fail\(because); \(test)")
        case "rejecting": Finding("sink \(name)", .problem, "It rejects every notification\(because); \(test)")
        case "disabled":
            Finding("sink \(name)", .problem, "It answered 410 Gone, so it is off until a reload; correct its URL.")
        case .none: Finding("sink \(name)", .problem, "The agent does not know it; reload the configuration.")
        default: nil
        }
    }

    /// The time without a scrape that is not expected: more than most scrape intervals.
    private static let longestScrapeGap = Duration.seconds(300)

    var scraping: Finding {
        let address = "\(isEncrypted ? "https" : "http")://\(options.http.listen)/metrics"
        let advice = "add \(options.http.listen) to the targets of Prometheus."
        guard let age = age(status.lastScrape) else {
            let uptime = self.age(status.startedAt) ?? .zero
            let isNew = uptime < Self.longestScrapeGap
            return Finding(
                "scraping",
                isNew ? .skipped : .warning,
                isNew
                    ? "The agent has just started, and nothing has scraped \(address) yet."
                    : "Nothing has scraped \(address) since the start; \(advice)"
            )
        }
        let text = "Prometheus scraped \(address) \(AgeText.duration(max(0, age.inSeconds))) ago"
        return age <= Self.longestScrapeGap
            ? Finding("scraping", .ok, text + ".")
            : Finding("scraping", .warning, text + "; start Prometheus again, or \(advice)")
    }
}
