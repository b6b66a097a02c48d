extension AgentOptions {
    /// The settings of the fleet; `nil` for an agent that works for the active identity.
    package var fleetOfMany: FleetOptions? { accounts == .many ? fleet : nil }

    /// The source of tokens. With many accounts and no file, ``AuthOptions/storedKeys`` is implied.
    package var tokens: AuthOptions {
        var auth = auth
        if fleetOfMany != nil, auth.signingAlgorithm != nil, auth.keyFile == nil, auth.secretFile == nil {
            auth.storedKeys = true
        }
        return auth
    }

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
        for poll in polls where poll.kind.isList {
            let path = "polls.\(poll.name).kind"
            report(path, "cannot be json with accounts: many; watch lists with an agent of their own.")
        }
        for (index, sink) in delivery.sinks.enumerated() {
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
        if auth.kind == .didKey, auth.keyFile != nil, !auth.storedKeys {
            report("auth.key_file", "is the key of one account; remove it, and run 'starwatch keys import' for each.")
        }
        return problems
    }
}

extension DeliveryOptions {
    /// ``stalenessNotice``, or its default: with many accounts, each visit would look for one.
    func noticesStaleness(forMany isOfMany: Bool) -> Bool { stalenessNotice ?? !isOfMany }
}
