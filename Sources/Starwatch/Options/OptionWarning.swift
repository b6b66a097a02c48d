package import StarwatchCore

/// An option that is valid, and probably not what the operator wants.
package struct OptionWarning: Sendable, Hashable {
    /// Facts that the options alone do not tell.
    package struct Facts: Sendable, Hashable {
        /// The DID of `auth.key_file` as apps write it; `nil` without a key.
        package var keyDID: DID?
        /// Whether the database's folder exists.
        package var hasStorageFolder = true
        /// The ports whose web configuration has TLS.
        package var encryptedPorts: Set<ServedPort> = []
        /// The ports whose web configuration has users.
        package var passwordPorts: Set<ServedPort> = []

        package init() {}
    }

    /// The shortest interval that is no warning.
    package static let shortestInterval = Duration.seconds(60)

    /// The setting, such as `polls.offers.every`.
    package let path: String
    /// One sentence that says what happens and what to do. It contains no secret, DID or plan.
    package let message: String

    /// The warnings about `options`, in the order of the configuration file.
    package static func all(in options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        identity(options, facts) + storage(facts) + options.polls.flatMap { poll($0, options) }
            + locale(options.delivery) + listeners(options) + clearText(options, facts)
    }

    private static func locale(_ delivery: DeliveryOptions) -> [OptionWarning] {
        guard let locale = LocaleTag(delivery.locale), locale.language != LocaleTag.english.language,
            delivery.catalogues.messages(for: locale).locale == .english
        else { return [] }
        let message = "has no texts, so notifications are in English; add a catalogue, or use en, ja or pl."
        return [OptionWarning(path: "delivery.locale", message: message)]
    }

    private static func identity(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        guard let did = options.initialIdentity, let own = facts.keyDID, did != own,
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

    private static func storage(_ facts: Facts) -> [OptionWarning] {
        guard !facts.hasStorageFolder else { return [] }
        return [
            OptionWarning(
                path: "storage.path",
                message: "is in a folder that does not exist, and the agent does not create it; create the folder."
            )
        ]
    }

    private static func poll(_ poll: PollOptions, _ options: AgentOptions) -> [OptionWarning] {
        var warnings: [OptionWarning] = []
        func warn(_ key: String, _ message: String) {
            warnings.append(OptionWarning(path: "polls.\(poll.name).\(key)", message: message))
        }
        if poll.kind.needsToken, options.auth.kind == .none {
            warn("kind", "\(poll.kind.rawValue) needs a token, and auth.kind is none: the poll never runs; set auth.")
        }
        if case .every(let interval) = poll.timing, interval < shortestInterval {
            warn(
                "every",
                """
                is short: the poll sends a request to the server every \(DurationText.format(interval)), against a limit \
                of \(options.limits.requestsPerMinute) requests a minute; use 1m or more.
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

    private static func listeners(_ options: AgentOptions) -> [OptionWarning] {
        let listeners = [("http.listen", options.http.listen), ("control.listen", options.control.listen)]
        return listeners.compactMap { path, text in
            guard let address = text.flatMap({ try? ListenAddress(parsing: $0) }), address.isEveryAddress else {
                return nil
            }
            return OptionWarning(
                path: path,
                message: "listens on every address of this machine; use 127.0.0.1 or the address of one network."
            )
        }
    }

    /// The warnings about secrets in clear text on a network.
    private static func clearText(_ options: AgentOptions, _ facts: Facts) -> [OptionWarning] {
        func warning(_ port: ServedPort, _ text: String?, _ secret: String) -> [OptionWarning] {
            guard let address = text.flatMap({ try? ListenAddress(parsing: $0) }), !address.isLoopback,
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

extension AgentOptions {
    /// The dialect to assume before the server's first response: only the canonical one accepts shared secrets.
    package var assumedDialect: Dialect {
        server.dialect.fixed ?? (auth.kind == .sharedSecret ? .canonical : .endorser)
    }
}
