// The bodies of the control API: what the server writes and the client reads, and the other way round.

/// A body that has these fields and no others.
protocol RequestBody: Decodable {
    static var fields: Set<String> { get }
}

/// `{"error": {"kind": …, "message": …}}`. The kind is a ``ControlError/Kind`` or one of the server's own words.
struct ErrorBody: Sendable, Codable {
    struct Detail: Sendable, Codable {
        var kind: String
        var message: String
    }

    var error: Detail
}

struct OutboxListing: Sendable, Codable {
    var entries: [OutboxEntry]
}

/// `{"ids": [1, 2]}`, or `{"all": true}` for every dead row, with `"poll": "…"` for those of one poll.
struct RowSelection: Sendable, Codable, RequestBody {
    static let fields: Set = ["ids", "all", "poll"]

    var ids: [Int64]?
    var all: Bool?
    var poll: String?
}

/// How many rows were changed.
struct ChangeCount: Sendable, Codable {
    var changed: Int
}

/// `{"did": "…"}`, or `{"did": null}` to sign out. The key must be there.
struct IdentityChange: Sendable, Codable, RequestBody {
    static let fields: Set = ["did"]

    var did: String?

    init(did: String?) { self.did = did }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        did = try container.decodeNil(forKey: .did) ? nil : container.decode(String.self, forKey: .did)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(did, forKey: .did)
    }

    enum CodingKeys: String, CodingKey { case did }
}

/// The account that is to be deleted.
struct IdentityRemoval: Sendable, Codable, RequestBody {
    static let fields: Set = ["did"]

    var did: String
}

/// That an account is to be deleted.
package struct IdentityRemovalReport: Sendable, Codable, Hashable {
    /// Until when it comes back by signing in; then all that is stored of it goes.
    package var keptUntil: String

    enum CodingKeys: String, CodingKey { case keptUntil = "kept_until" }
}

extension StarsChange: RequestBody {
    static let fields: Set = ["operation", "plan_ids"]
}

struct StarsListing: Sendable, Codable {
    var planIDs: [String]

    enum CodingKeys: String, CodingKey { case planIDs = "plan_ids" }
}

struct StarsArchive: Sendable, Codable {
    var archived: [ArchivedStarsReport]
}

struct FeedListing: Sendable, Codable {
    var notifications: [FeedEntry]
}

struct DigestListing: Sendable, Codable {
    var digests: [DigestReport]
}

struct ReloadAnswer: Sendable, Codable {
    var reloaded: Bool
}

struct ReadyAnswer: Sendable, Codable {
    var ready: Bool
    /// Left out when ready.
    var reasons: [String]?
}

struct HealthyAnswer: Sendable, Codable {
    var healthy: Bool
}
