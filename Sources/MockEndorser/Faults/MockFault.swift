/// A fault of one response.
public enum MockFault: Sendable {
    /// Replaces the response; the request is not executed. The default body is the dialect's own for this status: an
    /// error object, or in the endorser dialect a bare string (500) or a proxy's HTML (502 to 504).
    case status(Int, headers: [String: String] = [:], body: String? = nil)
    /// Delays the regular response.
    case delay(Duration)
    /// Sends the regular response a few bytes at a time.
    case dripBody(chunkBytes: Int, every: Duration)
    /// Resets the connection (RST) without a response; the request is not executed.
    case resetBeforeHead
    /// Resets the connection after the head and this many bytes of the regular body.
    case resetMidBody(afterBytes: Int)
    /// Never responds and leaves the connection open; the request is not executed.
    case neverAnswer
    /// Responds 200 with half of a JSON text.
    case malformedJSON
    /// Cuts the regular response in half if it has the item with this identifier.
    case unreadableItem(String)
    /// Changes the regular response so that it breaks the contract. Affects only the paged reports.
    case schemaViolation(MockSchemaViolation)
    /// Responds 200 with a JSON text of about this many bytes, mostly blanks. With `gzip` it is a small stream that
    /// unpacks to this size. The body is chunked unless `declaresLength` is set.
    case oversizedBody(bytes: Int, gzip: Bool = false, declaresLength: Bool = false)
    /// Responds 307 to this URL.
    case redirect(to: String)
    /// Responds 429; `nil` omits `Retry-After`.
    case rateLimited(retryAfter: MockRetryAfter?)
    /// Executes the request, then resets the connection without a response.
    case commitThenReset
    /// Sends the dialect's response to an invalid token: 401, or 400 with `JWT_VERIFY_FAILED`.
    case authenticationFailure
    /// Sends these bytes in place of a response, valid HTTP or not. The connection carries no later response.
    case raw([UInt8], then: MockRawEnding = .close)
}

/// The end of a connection after the bytes of ``MockFault/raw(_:then:)``.
public enum MockRawEnding: Sendable, Equatable {
    /// The connection stays open.
    case open
    case close
    /// The connection is reset (RST).
    case reset
    /// The bytes are sent one by one at this interval, repeatedly.
    case drip(every: Duration)
}

/// The value of `Retry-After` in a scripted 429.
public enum MockRetryAfter: Sendable, Equatable {
    case seconds(Int)
    /// A date, this long after the time of the mock's own (skewed) clock.
    case date(in: Duration, form: HTTPDateForm = .imfFixdate)
    /// The header's text, unchanged.
    case text(String)
}

/// The contract violations of a page.
public enum MockSchemaViolation: String, Sendable, CaseIterable {
    /// The first item has no `jwtId`.
    case missingJWTID = "missing_jwt_id"
    /// The first item's `handleId` is null.
    case nullHandleID = "null_handle_id"
    /// The first item's `handleId` is a number, and `data` stays an array.
    case wrongType = "wrong_type"
    /// `data` is an object.
    case dataNotArray = "data_not_array"
    /// The items are in the wrong order. Has no effect on pages with fewer than two items.
    case unorderedPage = "unordered_page"
    /// The page announces more items, but its next cursor is the request's own. In the endorser dialect the same page
    /// repeats.
    case stuckPage = "stuck_page"
    /// The first item's `jwtId` has the other dialect's format.
    case foreignID = "foreign_id"
    /// `hitLimit` is inverted.
    case hitLimitLies = "hit_limit_lies"
    /// `hitLimit` and `pagination` are missing.
    case missingPagination = "missing_pagination"
}
