package import StarwatchCore

/// The active identity.
package struct IdentityReport: Sendable, Codable, Hashable {
    /// The DID; `nil` when signed out.
    package var did: String?
    package var generation: Int
    /// The identity's pseudonym in logs.
    package var pseudonym: String?
    /// The kinds of poll that the account opted out of, by name; `nil` if there are none.
    package var optedOut: [PollKind]?
}

/// `{"kind": "offers_to_me", "opted_out": true}`: switches a kind of poll off, or on again, for the active identity.
package struct KindChoice: Sendable, Codable, Hashable {
    package var kind: PollKind
    package var optedOut: Bool

    package init(kind: PollKind, optedOut: Bool) { (self.kind, self.optedOut) = (kind, optedOut) }
}

/// The kinds of poll that the active identity opted out of.
package struct KindListing: Sendable, Codable, Hashable {
    package var optedOut: [PollKind]
}

/// The time until which the identity can come back.
package struct IdentityRemovalReport: Sendable, Codable, Hashable {
    /// Deletion time. Signing in before then keeps it; changes of the time between are not announced.
    package var keptUntil: TimeText
}

/// The confirmation that an identity was erased.
package struct IdentityErasureReport: Sendable, Codable, Hashable {
    package var erased = true
    /// Whether the write-ahead log is empty too. If not, another program reads the database, and the log is emptied by the
    /// next cleanup after it has ended.
    package var purged = true
}

/// `{"did": "…"}`, or `{"did": null}` to sign out. The key is required.
package struct IdentityChoice: Sendable, Codable {
    package var did: String?

    package init(did: String?) { self.did = did }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let key = AnyKey("did")
        did = try container.decodeNil(forKey: key) ? nil : container.decode(String.self, forKey: key)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(did, forKey: AnyKey("did"))
    }

    /// - Throws: ``ControlError`` of kind `invalid` if the text is no DID.
    func account() throws(ControlError) -> DID? { if let did { try DID(named: did) } else { nil } }
}

/// The account to remove or to erase.
package struct IdentityRemoval: Sendable, Codable {
    package var did: String

    package init(did: String) { self.did = did }

    /// - Throws: ``ControlError`` of kind `invalid` if the text is no DID.
    func account() throws(ControlError) -> DID { try DID(named: did) }
}

extension DID {
    /// - Throws: ``ControlError`` of kind `invalid` if the text is no DID.
    init(named text: String) throws(ControlError) {
        guard let did = DID(text) else {
            throw ControlError(.invalid, "That is not a DID; it has the form did:method:id.")
        }
        self = did
    }
}

/// A change of the active identity's starred plans.
package struct StarsChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case set, add, remove, restore
        case optOut = "opt_out"
        case optIn = "opt_in"
    }

    /// The maximum number of an identity's starred plans, and of the plans in one change.
    package static let planLimit = 10_000

    /// Whether to set, add or remove plans. `restore` adds what was archived last; `opt_out` and `opt_in` switch the polls of
    /// starred plans off and on. These three ignore the ids.
    package var operation: Operation
    package var planIDs: [String]

    package init(operation: Operation, planIDs: [String]) {
        self.operation = operation
        self.planIDs = planIDs
    }
}

/// The starred plans.
package struct StarsListing: Sendable, Codable {
    package var planIDs: [String]
    /// The known names by plan; `nil` in the answer to a change.
    package var names: [String: String]?
}

/// Stars of the active identity that a change of identity archived. They are kept for 30 days.
package struct ArchivedStarsReport: Sendable, Codable, Hashable {
    package var archivedAt: TimeText
    package var planIDs: [String]
}

/// Former stars, newest first.
package struct StarsArchive: Sendable, Codable {
    package var archived: [ArchivedStarsReport]
}
