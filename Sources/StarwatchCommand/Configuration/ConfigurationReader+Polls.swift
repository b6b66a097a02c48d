import Starwatch
import StarwatchCore

extension ConfigurationReader {
    static let maximumPolls = 16

    /// What is polled when the file names no polls.
    static let defaultPoll = PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)

    mutating func readPolls(_ section: SettingsSection) {
        guard !section.entries.isEmpty else {
            options.polls = [Self.defaultPoll]
            if section.isExplicitlyEmpty { section.report("must name at least one poll.") }
            return
        }
        if section.entries.count > Self.maximumPolls {
            section.report("must name at most \(Self.maximumPolls) polls; here are \(section.entries.count).")
        }
        for entry in section.entries {
            let poll = section.section(entry.key)
            if let problem = ValueRules.name(entry.key) {
                poll.report(problem)
            } else if let name = PollName(entry.key), !poll.isMisplaced {
                readPoll(name, poll)
            }
        }
    }

    private mutating func readPoll(_ name: PollName, _ section: SettingsSection) {
        section.allow([
            "kind", "schedule", "every", "timezone", "catch_up", "splay", "stale_after", "plan_ids", "bootstrap",
            "validation", "quarantine_invalid", "group_interval", "max_group_size", "priority",
        ])
        var kind = PollKind(rawValue: name.rawValue) ?? .starredProjects
        section.choice("kind", &kind)
        if section.entry("kind") == nil, PollKind(rawValue: name.rawValue) == nil {
            let kinds = PollKind.allCases.map(\.rawValue).joined(separator: ", ")
            section.report("needs a kind: one of \(kinds).")
        }
        var poll = PollOptions(name: name, kind: kind)
        readTiming(section, &poll.timing)
        section.choice("catch_up", &poll.catchUp)
        section.duration("splay", &poll.splay, atMost: .days(7))
        section.duration("stale_after", &poll.staleAfter, atLeast: .seconds(1))
        if let planIDs = section.list("plan_ids") {
            if Set(planIDs).count < planIDs.count {
                section.report("names a plan twice; remove one.", at: "plan_ids")
            }
            if kind != .starredProjects, !planIDs.isEmpty {
                section.report("only a poll of kind starred_projects has plans; remove it.", at: "plan_ids")
            }
            poll.planIDs = planIDs
        }
        section.choice("bootstrap", &poll.bootstrap)
        section.choice("validation", &poll.validation)
        section.flag("quarantine_invalid", &poll.quarantineInvalid)
        section.optionalDuration("group_interval", &poll.groupInterval, atLeast: .zero, atMost: .days(7))
        section.optionalInteger("max_group_size", &poll.maxGroupSize, in: 1...100)
        section.integer("priority", &poll.priority, in: -100...100)
        options.polls.append(poll)
    }

    private func readTiming(_ section: SettingsSection, _ timing: inout PollOptions.Timing) {
        guard section.entry("every") != nil else {
            guard case .cron(var schedule, var timezone) = timing else { return }
            section.text("schedule", &schedule, check: ValueRules.schedule)
            section.text("timezone", &timezone, check: ValueRules.timezone)
            timing = .cron(schedule, timezone: timezone)
            return
        }
        if section.entry("schedule") != nil {
            section.report("stands beside schedule; keep one of the two.", at: "every")
        }
        if section.entry("timezone") != nil {
            section.report("means nothing beside every; remove it.", at: "timezone")
        }
        var interval = Duration.seconds(60)
        section.duration("every", &interval, atLeast: Schedule.minimumInterval)
        timing = .every(interval)
    }
}
