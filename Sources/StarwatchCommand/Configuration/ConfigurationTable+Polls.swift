import Starwatch
import StarwatchCore

extension ConfigurationTable {
    static var polls: Entry<AgentOptions> {
        Entry(named: "polls", \.polls, "at most \(maximumParts); names: a-z, 0-9 and _", others: otherKinds) {
            let stale = "degraded after it; null: longest gap between runs + 1h, at least 4h"
            Entry("kind", \.kind, as: .choice(isLong: true), "what it asks for: changes, offers or gifts")
            Entry("enabled", \.isEnabled, as: .flag, "false: it does not run, and resumes where it was")
            Entry("schedule", \.schedule, as: .text(ValueRules.schedule), "cron, five fields, in quotes")
            Entry("timezone", \.timezone, as: .text(ValueRules.timezone), "of the schedule; an IANA name")
            Entry("every", \.interval, as: .duration(Schedule.minimumInterval), "replaces schedule, such as 5m")
            Entry("catch_up", \.catchUp, as: .choice(), "latest: one run replaces all missed runs")
            Entry("splay", \.splay, as: .duration(.zero, .days(7)), "range of this instance's fixed delay")
            Entry("stale_after", \.staleAfter, as: .duration(.seconds(1)), stale)
            Entry("plan_ids", \.planIDs, as: plans, "only seeds an empty database; later: starwatch stars set")
            near
            Entry("words", \.words, as: words, "for projects_of_interest, those with one of them")
            ListTable.entries
            Entry("bootstrap", \.bootstrap, as: .choice(), "the first run announces none, a week or all")
            Entry("validation", \.validation, as: .choice())
            Entry("quarantine_invalid", \.quarantineInvalid, as: .quarantine, "the third rejection sets items aside")
            Entry("group_interval", \.groupInterval, as: .duration(.zero, .days(7)), "replaces delivery.group_interval")
            Entry("max_group_size", \.maxGroupSize, as: .integer(1...100), "replaces delivery.max_group_size")
            Entry("priority", \.priority, as: .integer(-100...100), "higher is delivered first and evicted last")
        } check: { poll, _, section in
            checkPoll(poll, section)
            ListTable.check(poll, section)
        }
    }

    /// Writes a poll of each kind that the defaults do not have.
    private static func otherKinds(_ printer: inout ConfigurationPrinter) {
        for kind in PollKind.allCases where kind != .starredProjects {
            printer.example(kind.traits.announced + (kind.needsToken ? "; needs a token:" : ":")) { printer in
                printer.section(kind.rawValue) { printer in
                    printer.value("kind", kind.rawValue, "")
                    if kind.isList { exampleOfList(&printer) }
                }
            }
        }
    }

    /// Writes what a list needs, and what most have.
    private static func exampleOfList(_ printer: inout ConfigurationPrinter) {
        for (key, value) in [("url", "https://api.example.org/releases"), ("id", "/id"), ("name", "/title")] {
            printer.value(key, value, "")
        }
    }

    /// Starred plans, which identify a person.
    private static var plans: Rule<[String]> {
        .list.checked { plans, _ in Set(plans).count < plans.count ? "names a plan twice; remove one." : nil }
            .shown { ConfigurationPrinter.list($0.map { _ in "<plan>" }) }
    }

    /// A place near which somebody looks for projects tells where they live.
    private static var near: Entry<PollOptions> {
        Entry(optional: "near", \.near, GeoCircle(), "for projects_of_interest, those near a place") {
            let degrees = { (range: ClosedRange<Double>) in Rule.number(range).shown { _ in "<degrees>" } }
            Entry(
                "latitude",
                \.center.latitude,
                as: degrees(-90...90).needed("needs latitude; add it."),
                "degrees north"
            )
            Entry(
                "longitude",
                \.center.longitude,
                as: degrees(-180...180).needed("needs longitude; add it."),
                "degrees east"
            )
            Entry("km", \.kilometers, as: .number(0.1...1000).needed("needs km; add it."), "the distance")
        }
    }

    private static var words: Rule<[String]> {
        .list.checked(limits: "at most 10") { words, _ in
            if words.count > 10 { return "must name at most 10 words; found \(words.count)." }
            if Set(words).count < words.count { return "names a word twice; remove one." }
            let bad = words.firstIndex {
                $0.allSatisfy(\.isWhitespace) || $0.count > 64 || $0.contains(where: \.isNewline)
            }
            return bad.map { "must have words of 1 to 64 characters in one line; correct number \($0 + 1)." }
        }
    }

    private static func checkPoll(_ poll: PollOptions, _ section: SettingsField) {
        if section.field("kind").node == nil, PollKind(rawValue: poll.name.rawValue) == nil {
            section.report("needs a kind: one of \(PollKind.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        if poll.name == .canary { section.report("is the name of synthetic changes; choose another one.") }
        if section.has("every"), section.has("schedule") {
            section.report("cannot be combined with schedule; keep one of the two.", at: "every")
        }
        if section.has("every"), section.has("timezone") {
            section.report("has no effect with every; remove it.", at: "timezone")
        }
        if !poll.kind.needsStars, !poll.planIDs.isEmpty {
            section.report("is only for polls of starred projects; remove it.", at: "plan_ids")
        }
        for (key, isThere) in [("near", poll.near != nil), ("words", !poll.words.isEmpty)]
        where isThere && !poll.kind.walksRows {
            section.report("is only for polls of projects_of_interest; remove it.", at: key)
        }
        if poll.kind.walksRows, poll.bootstrap == .beginning {
            section.report("cannot be beginning for projects_of_interest; use last_week or latest.", at: "bootstrap")
        }
    }
}

/// The parts of the timing as settings of their own; `nil` for the form that is not used.
extension PollOptions {
    fileprivate var schedule: String? {
        get { if case .cron(let schedule, _) = timing { schedule } else { nil } }
        set { if let newValue, let timezone { timing = .cron(newValue, timezone: timezone) } }
    }

    fileprivate var timezone: String? {
        get { if case .cron(_, let timezone) = timing { timezone } else { nil } }
        set { if let newValue, let schedule { timing = .cron(schedule, timezone: newValue) } }
    }

    fileprivate var interval: Duration? {
        get { if case .every(let interval) = timing { interval } else { nil } }
        set { if let newValue { timing = .every(newValue) } }
    }
}

extension PollOptions: NamedOptions {
    init?(named text: String) {
        guard let name = PollName(text) else { return nil }
        self.init(name: name, kind: PollKind(rawValue: text) ?? .starredProjects)
    }
}
