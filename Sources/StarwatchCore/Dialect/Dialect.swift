/// The two forms in which an Endorser server answers.
public enum Dialect: String, Sendable, CaseIterable, Codable {
    /// Ascending pages, `pagination`, acknowledgement, `/api/v2/time`.
    case canonical
    /// Descending pages of 50, `beforeId`, no acknowledgement: the server at api.endorser.ch.
    case endorser

    /// The kind of identifier the dialect uses.
    public var idKind: IDKind { self == .canonical ? .timestamped : .ulid }

    /// How late a change may become visible after the time in its identifier.
    public var lateVisibility: Duration { self == .canonical ? .seconds(5) : .seconds(30) }

    /// From where a poll that stands at `cursor` asks, so that what became visible late is found.
    public func overlap(below cursor: JWTID) -> JWTID { .floor(cursor.kind, at: cursor.timestamp - lateVisibility) }

    /// What bootstrapping must store of what lies below the newest change: an eviction just above it takes the cursor to
    /// before it, and a poll would find the rest anew.
    public func bootstrapFloor(below newest: JWTID) -> JWTID { overlap(below: newest.cursorBefore) }

    /// Whether pages run from the newest change to the oldest.
    public var isDescending: Bool { self == .endorser }

    /// The most changes the server puts on a page.
    public var pageSize: Int { self == .canonical ? 100 : 50 }

    /// The most plan identifiers of one request.
    public var maxPlanIDs: Int { self == .canonical ? 1000 : .max }

    /// The largest request body in bytes (R-EP-14; the endorser server's own limit is 40 kB).
    public var maxBodyBytes: Int { self == .canonical ? 1_048_576 : 38_000 }

    /// The cursor that means "from the beginning". A missing `afterId` is an error to the endorser server.
    public var startCursor: String { self == .canonical ? "0000000000_000000_00000000" : "0" }

    /// Whether the server has `POST /api/v2/plans/acknowledge`.
    public var hasAcknowledgement: Bool { self == .canonical }

    /// Whether the server has `GET /api/v2/time`.
    public var hasTimeEndpoint: Bool { self == .canonical }
}
