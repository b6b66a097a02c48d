extension AgentOptions {
    /// What an agent for many accounts cannot have: the path of each such setting, and the sentence about it. Empty for one
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
