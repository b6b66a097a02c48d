/// Something that goes wrong with one answer.
public enum MockFault: Sendable {
    /// This answer in place of the real one; the request changes nothing. Without a body it is the dialect's own for
    /// this status: an error object, in the endorser dialect a bare string (500) or a proxy's HTML (502 to 504).
    case status(Int, headers: [String: String] = [:], body: String? = nil)
    /// The real answer, later.
    case delay(Duration)
    /// The real answer, a few bytes at a time.
    case dripBody(chunkBytes: Int, every: Duration)
    /// The connection is reset (RST) and nothing answered; the request changes nothing.
    case resetBeforeHead
    /// The connection is reset after the head and this many bytes of the real body.
    case resetMidBody(afterBytes: Int)
    /// The request changes nothing and is never answered; the connection stays open.
    case neverAnswer
    /// 200 with half of a JSON text.
    case malformedJSON
    /// The real answer, changed so that it breaks the contract. It affects the paged reports only.
    case schemaViolation(MockSchemaViolation)
    /// 200 with a JSON text of about this many bytes, mostly blanks; with `gzip`, a small stream that unpacks to it.
    /// Chunked, unless `declaresLength`.
    case oversizedBody(bytes: Int, gzip: Bool = false, declaresLength: Bool = false)
    /// 307 to this URL.
    case redirect(to: String)
    /// 429 with, or without, `Retry-After`.
    case rateLimited(retryAfter: MockRetryAfter?)
    /// The request is carried out, then the connection is reset with nothing answered.
    case commitThenReset
    /// The dialect's answer to a bad token: 401, or 400 with `JWT_VERIFY_FAILED`.
    case authenticationFailure
    /// These bytes in place of an answer, be they HTTP or not. The connection carries no answer after them.
    case raw([UInt8], then: MockRawEnding = .close)
}

/// What follows the bytes of ``MockFault/raw(_:then:)``.
public enum MockRawEnding: Sendable, Equatable {
    /// Nothing: the connection stays open.
    case open
    case close
    /// The connection is reset (RST).
    case reset
    /// The bytes come one by one, this far apart, over and over.
    case drip(every: Duration)
}

/// What a scripted 429 says about when to come back.
public enum MockRetryAfter: Sendable, Equatable {
    case seconds(Int)
    /// A date, this long after the mock's own (skewed) clock.
    case date(in: Duration, form: HTTPDateForm = .imfFixdate)
    /// The header's text as it is.
    case text(String)
}

/// The ways a page can break its contract.
public enum MockSchemaViolation: String, Sendable, CaseIterable {
    /// The first item has no `jwtId`.
    case missingJWTID = "missing_jwt_id"
    /// The first item's `handleId` is null.
    case nullHandleID = "null_handle_id"
    /// The first item's `handleId` is a number, and `data` stays an array.
    case wrongType = "wrong_type"
    /// `data` is an object.
    case dataNotArray = "data_not_array"
    /// The items come in the wrong order; seen only on pages of two and more.
    case unorderedPage = "unordered_page"
    /// There is always more, and the next cursor is the one that was sent (the same page again, where pages go down).
    case stuckPage = "stuck_page"
    /// The first item's `jwtId` is of the other dialect's kind.
    case foreignID = "foreign_id"
    /// `hitLimit` is the opposite of the truth.
    case hitLimitLies = "hit_limit_lies"
    /// `hitLimit` and `pagination` are missing.
    case missingPagination = "missing_pagination"
}
