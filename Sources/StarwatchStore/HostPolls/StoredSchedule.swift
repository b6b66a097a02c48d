package import StarwatchCore

/// The stored state of a host application's schedule: only data, never code.
package struct StoredSchedule: Sendable, Hashable {
    /// The timing as a JSON object, for people who inspect the database.
    package var configuration: String
    package var nextRun: Timestamp?
    package var lastAttempt: Timestamp?
    package var lastSuccess: Timestamp?
    /// The number of consecutive failures.
    package var failures = 0
    /// The code of the last failure; `nil` after a success.
    package var lastError: String?
    package var validator: StoredValidator?

    package init(configuration: String) {
        self.configuration = configuration
    }
}

/// The validators of an answer, for the next conditional request: `ETag` and `Last-Modified`.
package struct StoredValidator: Sendable, Hashable {
    /// The URL of the answer. Validators of one URL do not apply to another.
    package var url: String
    package var etag: String?
    package var lastModified: String?

    package init(url: String, etag: String?, lastModified: String?) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
    }
}
