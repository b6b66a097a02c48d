/// The two API dialects of Endorser servers.
public enum Dialect: String, Sendable, CaseIterable, Codable {
    /// Ascending pages, `pagination`, acknowledgement, `/api/v2/time`.
    case canonical
    /// Descending pages of 50, `beforeId`, no acknowledgement: the server at api.endorser.ch.
    case endorser

    /// The kind of identifier the dialect uses.
    public var idKind: IDKind { self == .canonical ? .timestamped : .ulid }

    /// The longest delay between the time in an identifier and the moment when its change becomes visible.
    public var lateVisibility: Duration { self == .canonical ? .seconds(5) : .seconds(30) }

    /// Largest lead of a token's issue time over the server's time. The endorser server allows 300 s.
    public var clockTolerance: Duration { self == .canonical ? .seconds(30) : .seconds(300) }

    /// The lower end of a poll from `cursor`, low enough to find changes that became visible late.
    public func overlap(below cursor: JWTID) -> JWTID { .floor(cursor.kind, at: cursor.timestamp - lateVisibility) }

    /// The lower end of the range that bootstrapping must store. An eviction just above the newest change moves the
    /// cursor below it; a poll would then announce the unstored rest.
    public func bootstrapFloor(below newest: JWTID) -> JWTID { overlap(below: newest.cursorBefore) }

    /// Whether pages run from the newest change to the oldest.
    public var isDescending: Bool { self == .endorser }

    /// The largest number of changes on a page.
    public var pageSize: Int { self == .canonical ? 100 : 50 }

    /// The largest number of plan identifiers in a request.
    public var maxPlanIDs: Int { self == .canonical ? 1000 : .max }

    /// The largest request body in bytes. The endorser server itself allows 40 kB.
    public var maxBodyBytes: Int { self == .canonical ? 1_048_576 : 38_000 }

    /// The cursor for the beginning. The endorser server rejects a request without `afterId`.
    public var startCursor: String { self == .canonical ? "0000000000_000000_00000000" : "0" }

    /// Whether the server has `POST /api/v2/plans/acknowledge`.
    public var hasAcknowledgement: Bool { self == .canonical }

    /// Whether the server has `GET /api/v2/time`.
    public var hasTimeEndpoint: Bool { self == .canonical }
}
