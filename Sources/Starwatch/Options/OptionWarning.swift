package import StarwatchCore
import StarwatchPolling

/// An option that is valid, and probably not what the operator wants.
package struct OptionWarning: Sendable, Hashable {
    /// Facts that the options alone do not tell.
    package struct Facts: Sendable, Hashable {
        /// The DID of `auth.key_file` as apps write it; `nil` without a key.
        package var keyDID: DID?
        /// The longest time between two runs, by poll.
        package var longestGaps: [PollName: Duration] = [:]
        /// Whether the database's folder exists.
        package var hasStorageFolder = true
        /// The ports whose web configuration has TLS.
        package var encryptedPorts: Set<ServedPort> = []
        /// The ports whose web configuration has users.
        package var passwordPorts: Set<ServedPort> = []
        /// The number of files that the process may have open.
        package var openFiles = Int.max
        /// The named time zones for which the machine has no file.
        package var bundledZones: Set<String> = []
        /// The reason why the machine's own zone cannot be read; `nil` if it can.
        package var localZoneProblem: String?

        package init() {}
    }

    /// The setting, such as `polls.offers.every`.
    package let path: String
    /// One sentence that says what happens and what to do. It contains no secret, DID or plan.
    package let message: String
    /// Whether it concerns a value that only seeds an empty database. The database can have another one.
    package var isOfSeed = false

    /// The warnings about `options`, in the order of the configuration file.
    package static func all(in options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        (options.accounts == .one ? identity(options, facts) + stars(options) : []) + storage(facts)
            + options.polls.flatMap { poll($0, options, facts) }
            + locale(options.delivery) + limits(options, facts) + listeners(options) + clearText(options, facts)
            + feedToken(options)
            + zones(options, facts)
    }

    /// The warnings about time zones whose rules are not the machine's. A setting that needs the machine's own zone is an
    /// error where that zone cannot be read.
    private static func zones(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        let message = """
            has no file in this machine's time zone database, so the rules of \(ZoneData.bundled.version) that are in the \
            program apply, which become outdated; install tzdata, on Debian 13 and later also tzdata-legacy.
            """
        let own = facts.localZoneProblem.map {
            OptionWarning(path: "", message: "No setting needs this machine's time zone, which \($0)")
        }
        return options.namedZones.filter { facts.bundledZones.contains($0.zone) }.map {
            OptionWarning(path: $0.path, message: message)
        } + (options.needsLocalZone ? [] : own.map { [$0] } ?? [])
    }

    private static func locale(_ delivery: DeliveryOptions) -> [OptionWarning] {
        guard let locale = LocaleTag(delivery.locale), locale.language != LocaleTag.english.language,
            delivery.catalogues.messages(for: locale).locale == .english
        else { return [] }
        let message = "has no texts, so notifications are in English; add a catalogue, or use en, ja or pl."
        return [OptionWarning(path: "delivery.locale", message: message)]
    }

    private static func identity(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        guard let did = options.initialIdentity else { return signedOut(facts) }
        guard let own = facts.keyDID, did != own,
            did.rawValue.lowercased() == own.rawValue.lowercased()
        else { return [] }
        return [
            OptionWarning(
                path: "identity.did",
                message: """
                    differs in upper and lower case from the DID of auth.key_file. The server compares DIDs with their \
                    case; write it exactly as it was registered.
                    """
            )
        ]
    }

    private static func signedOut(_ facts: Facts) -> [OptionWarning] {
        let advice =
            facts.keyDID == nil ? "write a DID, or run 'starwatch identity set'." : "write the DID of auth.key_file."
        let message = "is not set, so the agent would start signed out and poll nothing; \(advice)"
        return [OptionWarning(path: "identity.did", message: message, isOfSeed: true)]
    }

    private static func stars(_ options: AgentOptions) -> [OptionWarning] {
        let polls = options.polls.filter(\.kind.needsStars)
        // Stars belong to the identity, so one poll's plans are enough.
        guard let poll = polls.first, polls.allSatisfy(\.planIDs.isEmpty) else { return [] }
        let message = "names no plan, so the poll requests nothing; add plans, or run 'starwatch stars add'."
        return [OptionWarning(path: "polls.\(poll.name).plan_ids", message: message, isOfSeed: true)]
    }

    private static func storage(_ facts: Facts) -> [OptionWarning] {
        guard !facts.hasStorageFolder else { return [] }
        return [
            OptionWarning(
                path: "storage.path",
                message: "is in a folder that does not exist, and the agent does not create it; create the folder."
            )
        ]
    }

    private static func poll(_ poll: PollOptions, _ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        var warnings: [OptionWarning] = []
        func warn(_ key: String, _ message: String) {
            warnings.append(OptionWarning(path: "polls.\(poll.name).\(key)", message: message))
        }
        if poll.kind.needsToken, options.auth.kind == .none {
            warn("kind", "\(poll.kind.rawValue) needs a token, and auth.kind is none: the poll never runs; set auth.")
        }
        if let limit = poll.staleAfter, let gap = facts.longestGaps[poll.name], limit <= gap {
            warn(
                "stale_after",
                """
                is not longer than the time between two runs, up to \(DurationText.format(gap)), so the poll is stale \
                although it succeeds; remove the line for the default.
                """
            )
        }
        if case .every(let interval) = poll.timing {
            // One poll that uses a tenth of the limit leaves too little for pages, retries and the other polls.
            let limit = options.limits.requestsPerMinute
            let least = Duration.seconds(60 * 10) / limit
            if interval < least, interval < .seconds(60) {
                warn(
                    "every",
                    """
                    is short: the poll sends a request to the server every \(DurationText.format(interval)), against a \
                    limit of \(limit) requests a minute; poll less often, or raise limits.requests_per_minute if the server \
                    allows more.
                    """
                )
            }
        }
        if let gap = poll.interval ?? facts.longestGaps[poll.name], poll.splay > gap {
            let most = DurationText.format(gap)
            warn(
                "splay",
                "is longer than the time between two runs, \(most), and delays whole runs; use \(most) or less."
            )
        }
        if case .cron(let text, _) = poll.timing, (try? CronExpression(text))?.matchesEitherDay == true {
            warn(
                "schedule",
                """
                has a day of the month and a day of the week, so it runs on every day that matches one of the two; write * \
                for one of them.
                """
            )
        }
        for (index, id) in poll.planIDs.enumerated() where !PlanIDRule.canExist(id, in: options.assumedDialect) {
            warn(
                "plan_ids",
                """
                no plan can have the identifier of item \(index + 1), and the server ignores unknown ones; copy it from \
                the app, such as https://endorser.ch/entity/ and 26 characters.
                """
            )
        }
        return warnings
    }

    private static func limits(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        guard options.limits.arePollsTooMany(forOpenFiles: facts.openFiles) else { return [] }
        let message = """
            is more than a quarter of the \(facts.openFiles) files and connections that this command may have open; lower \
            it, or raise that limit where the agent is started. A service has the limit of its unit instead (LimitNOFILE), \
            and logs agent.open_files_low at its start if that one is too low.
            """
        return [OptionWarning(path: "limits.max_concurrent_polls", message: message)]
    }

    private static func listeners(_ options: AgentOptions) -> [OptionWarning] {
        let listeners = [("http.listen", options.http.listen), ("control.listen", options.control.listen)]
        return listeners.compactMap { path, text in
            guard let address = text.flatMap(ListenAddress.init(parsing:)), address.isEveryAddress else {
                return nil
            }
            return OptionWarning(
                path: path,
                message: "listens on every address of this machine; use 127.0.0.1 or the address of one network."
            )
        }
    }

    private static func feedToken(_ options: AgentOptions) -> [OptionWarning] {
        guard options.fleetOfMany != nil, options.control.feedTokenFile != nil else { return [] }
        let message =
            "opens no feed with accounts: many; leave it out, and run 'starwatch feed url --account' for each account."
        return [OptionWarning(path: "control.feed_token_file", message: message)]
    }

    /// The warnings about secrets in clear text on a network.
    private static func clearText(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        func warning(_ port: ServedPort, _ text: String?, _ secret: String) -> [OptionWarning] {
            guard let address = text.flatMap(ListenAddress.init(parsing:)), !address.isLoopback,
                !facts.encryptedPorts.contains(port)
            else { return [] }
            let message =
                "\(secret) over the network in clear text; set \(port.rawValue).web_config_file to a file with "
                + "tls_server_config, or listen on 127.0.0.1."
            return [OptionWarning(path: "\(port.rawValue).listen", message: message)]
        }
        let sendsPasswords = facts.passwordPorts
        let http = sendsPasswords.contains(.http) ? options.http.listen : nil
        let control = options.control
        return warning(.http, http, "sends passwords")
            + warning(
                .control,
                control.listen,
                control.tokenFile == nil ? "sends passwords" : "sends the control token"
            )
    }
}

extension PollOptions {
    /// The time between two runs of `every`; `nil` for a schedule.
    fileprivate var interval: Duration? { if case .every(let interval) = timing { interval } else { nil } }
}

extension AgentOptions {
    /// The dialect to assume before the server's first response: only the canonical one accepts shared secrets.
    package var assumedDialect: Dialect {
        server.dialect.fixed ?? (auth.kind == .sharedSecret ? .canonical : .endorser)
    }
}

extension AgentOptions {
    /// Whether something is in the machine's own time zone, or states it.
    var needsLocalZone: Bool {
        digests.contains { $0.timezone == nil } || CallbackKind.allCases.contains { callbacks.receiver(of: $0) != nil }
            || delivery.sinks.contains { $0.hours != nil && $0.timezone == nil }
    }

    /// The settings that name a time zone.
    package var namedZones: [(path: String, zone: String)] {
        var zones: [(path: String, zone: String?)] = polls.map { poll in
            guard case .cron(_, let zone) = poll.timing else { return ("", nil) }
            return ("polls.\(poll.name).timezone", zone)
        }
        zones += delivery.sinks.enumerated().map { ("delivery.sinks[\($0)].timezone", $1.timezone) }
        zones += digests.map { ("digests.\($0.name).timezone", $0.timezone) }
        return zones.compactMap { path, zone in zone.map { (path, $0) } }
    }
}

extension LimitOptions {
    /// Whether the concurrent polls can need more files than the process may have open. A cycle can have a connection to the
    /// server and one to a sink, and the rest needs as many again.
    func arePollsTooMany(forOpenFiles files: Int) -> Bool { maxConcurrentPolls > files / 4 }
}
