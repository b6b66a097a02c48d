extension Mistake {
    /// Settings of an agent for many accounts, `accounts: many`.
    static let many: [Mistake] = [
        Mistake(
            "accounts in number",
            "accounts: 10\n",
            ["starwatch.yaml:1: accounts: must be one of one, many."]
        ),
        Mistake(
            "many, not encrypted",
            "accounts: many\n",
            ["starwatch.yaml:1: accounts: needs an encrypted database when it is many; set security.master_key_file."]
        ),
        Mistake(
            "many, a missing key",
            "accounts: many\nsecurity: {master_key_file: master.key}\n",
            [
                "starwatch.yaml:2: security.master_key_file: there is no file FOLDER/master.key; create it or correct the path."
            ]
        ),
        withKey(
            "many, a DID",
            "identity:\n  did: did:ethr:0x00000000000000000000000000000000000000aa\n",
            "starwatch.yaml:4: identity.did: has no meaning with accounts: many; leave it out, and run 'starwatch accounts add'."
        ),
        withKey(
            "many, plans",
            "polls:\n  p:\n    kind: starred_projects\n    plan_ids: [\"https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37\"]\n",
            "starwatch.yaml:6: polls.p.plan_ids: has no meaning with accounts: many; give each account its stars."
        ),
        withKey(
            "many, a canary",
            "canary: {every: 1h}\ndelivery: {sinks: [{name: h, kind: webhook, url: https://a.test, canary: true}]}\n",
            "starwatch.yaml:3: canary: needs account, the DID of the account that gets the synthetic changes; add it."
        ),
        withKey(
            "many, one key",
            "auth:\n  kind: did_key\n  key_file: master.key\n",
            "starwatch.yaml:5: auth.key_file: is the key of one account; remove it, and run 'starwatch keys import' for each."
        ),
        withKey(
            "many, a missing secret",
            "auth:\n  kind: shared_secret\n  secret_file: shared.secret\n",
            "starwatch.yaml:5: auth.secret_file: there is no file FOLDER/shared.secret; create it or correct the path."
        ),
        withKey(
            "many, no requests",
            "fleet:\n  requests_per_second: 0\n",
            "starwatch.yaml:4: fleet.requests_per_second: must be between 1 and 10000."
        ),
    ]

    /// A mistake in a file that has all that many accounts need.
    private static func withKey(_ name: String, _ text: String, _ line: String) -> Mistake {
        Mistake(
            name,
            "accounts: many\nsecurity: {master_key_file: master.key}\n" + text,
            [line],
            with: [.file("master.key", String(repeating: "A", count: 43) + "=\n", mode: 0o600)]
        )
    }
}
