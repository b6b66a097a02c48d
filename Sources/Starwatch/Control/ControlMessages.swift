// Bodies of the control API, as the server and its clients exchange them.

/// A request body that has these fields and no others.
package protocol ControlBody: Decodable {
    static var fields: Set<String> { get }
}

/// `{"error": {"kind": …, "message": …}}`. The kind is a ``ControlError/Kind`` or one of the server's own words.
package struct ErrorBody: Sendable, Codable {
    package struct Detail: Sendable, Codable {
        package var kind: String
        package var message: String
    }

    package var error: Detail

    package init(kind: String, message: String) { error = Detail(kind: kind, message: message) }
}

/// `{"ids": [1, 2]}`, or `{"all": true}` for every dead row, with `"poll": "…"` for those of one poll.
package struct RowSelection: Sendable, Codable, ControlBody {
    package static let fields: Set = ["ids", "all", "poll"]

    package var ids: [Int64]?
    package var all: Bool?
    package var poll: String?

    package init(ids: [Int64]) { self.ids = ids }

    package init(allOf poll: String?) { (all, self.poll) = (true, poll) }
}

/// A ``RowSelection`` to discard. `"state": "claimed"` with `all` selects claimed rows instead of dead ones.
package struct DiscardSelection: Sendable, Codable, ControlBody {
    package static let fields = RowSelection.fields.union(["state"])

    package var rows: RowSelection
    /// `nil` means dead.
    package var state: DiscardableState?

    package init(_ rows: RowSelection, in state: DiscardableState? = nil) { (self.rows, self.state) = (rows, state) }

    package init(from decoder: any Decoder) throws {
        rows = try RowSelection(from: decoder)
        state = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(DiscardableState.self, forKey: .state)
    }

    package func encode(to encoder: any Encoder) throws {
        try rows.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(state, forKey: .state)
    }

    enum CodingKeys: String, CodingKey { case state }
}

/// The number of changed rows.
package struct ChangeCount: Sendable, Codable {
    package var changed: Int

    package init(changed: Int) { self.changed = changed }
}

/// `{"did": "…"}`, or `{"did": null}` to sign out. The key is required.
package struct IdentityChange: Sendable, Codable, ControlBody {
    package static let fields: Set = ["did"]

    package var did: String?

    package init(did: String?) { self.did = did }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        did = try container.decodeNil(forKey: .did) ? nil : container.decode(String.self, forKey: .did)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(did, forKey: .did)
    }

    enum CodingKeys: String, CodingKey { case did }
}

/// The account to remove.
package struct IdentityRemoval: Sendable, Codable, ControlBody {
    package static let fields: Set = ["did"]

    package var did: String
}

extension StarsChange: ControlBody {
    package static let fields: Set = ["operation", "plan_ids"]
}

// MARK: - Answers that wrap a list

package struct OutboxListing: Sendable, Codable {
    package var entries: [OutboxEntry]

    package init(entries: [OutboxEntry]) { self.entries = entries }
}

package struct StarsListing: Sendable, Codable {
    package var planIDs: [String]
    /// The known names by plan; `nil` in the answer to a change.
    package var names: [String: String]?

    enum CodingKeys: String, CodingKey {
        case planIDs = "plan_ids"
        case names
    }

    package init(planIDs: [String], names: [String: String]? = nil) { (self.planIDs, self.names) = (planIDs, names) }
}

package struct StarsArchive: Sendable, Codable {
    package var archived: [ArchivedStarsReport]

    package init(archived: [ArchivedStarsReport]) { self.archived = archived }
}

package struct DigestListing: Sendable, Codable {
    package var digests: [DigestReport]

    package init(digests: [DigestReport]) { self.digests = digests }
}

package struct FeedListing: Sendable, Codable {
    package var notifications: [FeedEntry]

    package init(notifications: [FeedEntry]) { self.notifications = notifications }
}

package struct NotificationListing: Sendable, Codable {
    package var notifications: [NotificationEntry]

    package init(notifications: [NotificationEntry]) { self.notifications = notifications }
}

package struct ReloadAnswer: Sendable, Codable {
    package var reloaded: Bool

    package init(reloaded: Bool) { self.reloaded = reloaded }
}
