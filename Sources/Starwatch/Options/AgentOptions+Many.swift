extension AgentOptions {
    /// The settings that an agent for many accounts cannot have: the path of each, and the sentence about it. Empty for one
    /// that works for the active identity.
    package var problemsOfMany: [(path: String, message: String)] {
        guard accounts == .many else { return [] }
        var problems: [(path: String, message: String)] = []
        func report(_ path: String, _ message: String) { problems.append((path, message)) }
        if initialIdentity != nil {
            report(
                "identity.did",
                "has no meaning with accounts: many; leave it out, and run 'starwatch accounts add'."
            )
        }
        if storage.owner == .host {
            report("storage.owner", "must be agent with accounts: many; the host's database has one active identity.")
        }
        if !security.isEncrypted {
            report("accounts", "needs an encrypted database when it is many; set security.master_key_file.")
        }
        for poll in polls where !poll.planIDs.isEmpty {
            report("polls.\(poll.name).plan_ids", "has no meaning with accounts: many; give each account its stars.")
        }
        for (index, sink) in delivery.sinks.enumerated() {
            switch sink.kind {
            case .file, .feed:
                report("delivery.sinks[\(index)].kind", "would mix many accounts in one place; use webhook or command.")
            default: break
            }
            if sink.sendsOwnTokenAnywhere {
                report(
                    "delivery.sinks[\(index)].token_file",
                    "would be sent to whatever host an account names; set the sink's url, or leave the token to the accounts."
                )
            }
        }
        if !digests.isEmpty {
            report("digests", "are not made for many accounts yet; leave them out with accounts: many.")
        }
        if canary != nil { report("canary", "needs the active identity, and accounts: many has none; leave it out.") }
        if [.didKey, .sharedSecret].contains(auth.kind), !auth.storedKeys {
            report(
                "auth.kind",
                "has one key for all accounts; use none, token_pool or command, or set auth.stored_keys."
            )
        }
        return problems
    }
}

/// A part of a sink's address that each of many accounts can bring, by its name in `accounts add`.
package enum SinkAddressPart: String, Sendable, CaseIterable { case url, room, topic, to, secret }

extension SinkOptions {
    /// Whether each of many accounts brings a part of the address, because the configuration leaves it out.
    package var isOfAccounts: Bool { !partsOfAccounts.needed.isEmpty }

    /// The parts that each account brings: those that a request needs and the configuration leaves out, and those that an
    /// account can add to them. Nothing of a sink with a whole address.
    package var partsOfAccounts: (needed: [SinkAddressPart], optional: [SinkAddressPart]) {
        var (needed, optional): ([SinkAddressPart], [SinkAddressPart]) = ([], [])
        switch kind {
        case .stdout, .log, .feed, .file, .command: break
        case .webhook(let url, let secretFile, _):
            if url.isEmpty, urlFile == nil { needed.append(.url) }
            if secretFile == nil { optional.append(.secret) }
        case .ntfy(let url, let topic, let tokenFile):
            if url.isEmpty { needed.append(.url) }
            if topic.isEmpty { needed.append(.topic) }
            if tokenFile == nil { optional.append(.secret) }
        case .email(let mail):
            if mail.to.isEmpty { needed.append(.to) }
        case .chat(let chat):
            if chat.address == .standard, chat.service.standardURL == nil { needed.append(.url) }
            if chat.service.needsRoom, chat.room == nil {
                needed.append(.room)
                if chat.service.hasTopics { optional.append(.topic) }
            }
            if chat.service.needsToken, chat.tokenFile == nil { needed.append(.secret) }
        }
        return needed.isEmpty ? ([], []) : (needed, optional)
    }

    /// Whether the configured token would go to the address of an account: who brings the address brings the secret.
    fileprivate var sendsOwnTokenAnywhere: Bool {
        guard partsOfAccounts.needed.contains(.url) else { return false }
        return switch kind {
        case .ntfy(_, _, let tokenFile): tokenFile != nil
        case .chat(let chat): chat.tokenFile != nil
        default: false
        }
    }
}

extension DeliveryOptions {
    /// ``stalenessNotice``, or its default: with many accounts, each visit would look for one.
    func noticesStaleness(forMany isOfMany: Bool) -> Bool { stalenessNotice ?? !isOfMany }
}
