extension AgentOptions {
    /// The settings of the fleet; `nil` for an agent that works for the active identity.
    package var fleetOfMany: FleetOptions? { accounts == .many ? fleet : nil }

    /// The settings that an agent for many accounts cannot have: the path of each, and the sentence about it. Empty for one
    /// that works for the active identity.
    package var problemsOfMany: [(path: String, message: String)] {
        guard fleetOfMany != nil else { return [] }
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
            if sink.kind.type.mixesAccounts {
                report("delivery.sinks[\(index)].kind", "would mix many accounts in one place; use webhook or command.")
            }
            // An account that brings the address brings the secret.
            if sink.partsOfAccounts.needed.contains(.url), sink["token_file"] != nil {
                report(
                    "delivery.sinks[\(index)].token_file",
                    "would be sent to whatever host an account names; set the sink's url, or leave the token to the accounts."
                )
            }
        }
        if let canary, canary.account == nil {
            report("canary", "needs account, the DID of the account that gets the synthetic changes; add it.")
        }
        if [.didKey, .sharedSecret].contains(auth.kind), !auth.storedKeys {
            report(
                "auth.kind",
                "has one key for all accounts; use none, token_pool or command, or set auth.stored_keys."
            )
        }
        return problems
    }
}

extension DeliveryOptions {
    /// ``stalenessNotice``, or its default: with many accounts, each visit would look for one.
    func noticesStaleness(forMany isOfMany: Bool) -> Bool { stalenessNotice ?? !isOfMany }
}
