package import StarwatchCore

/// What is kept of a host application's schedule: data only, never code (C-112).
package struct StoredSchedule: Sendable, Hashable {
    /// The timing in a JSON object, for people who look into the database.
    package var configuration: String
    package var nextRun: Timestamp?
    package var lastAttempt: Timestamp?
    package var lastSuccess: Timestamp?
    /// Failures in a row.
    package var failures = 0
    /// The code of the last failure; `nil` after a success.
    package var lastError: String?
    package var validator: StoredValidator?

    package init(configuration: String) {
        self.configuration = configuration
    }
}

/// What an answer said to ask with the next time: its `ETag` and `Last-Modified`.
package struct StoredValidator: Sendable, Hashable {
    /// Whose answer it was: a validator says nothing about another URL.
    package var url: String
    package var etag: String?
    package var lastModified: String?

    package init(url: String, etag: String?, lastModified: String?) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
    }
}
