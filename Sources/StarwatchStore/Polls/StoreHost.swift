package import StarwatchCore

/// The stored state of a host application's schedule: only data, never code.
package struct StoredSchedule: Sendable, Hashable {
    package var nextRun: Timestamp?
    package var lastAttempt: Timestamp?
    package var lastSuccess: Timestamp?
    /// The number of consecutive failures.
    package var failures = 0
    /// The code of the last failure; `nil` after a success.
    package var lastError: String?
    package var validator: StoredValidator?

    package init() {}
}

/// The validators of an answer, for the next conditional request: `ETag` and `Last-Modified`.
package struct StoredValidator: Sendable, Hashable {
    /// The URL of the answer. Validators of one URL do not apply to another.
    package var url: String
    package var etag: String?
    package var lastModified: String?

    package init(url: String, etag: String?, lastModified: String?) {
        (self.url, self.etag, self.lastModified) = (url, etag, lastModified)
    }
}

/// The schedules and watermarks of host applications. They belong to no account and no outbox row.
package struct StoreHost: Sendable {
    let store: Store

    /// The stored state of a schedule; `nil` if there is none.
    package func schedule(_ id: String) async throws(StoreError) -> StoredSchedule? {
        try await store.direct(.read) { db in
            let row = try db.row(
                """
                SELECT next_run, last_attempt, last_success, failures, last_error, validator_url, etag,
                    last_modified
                FROM poll_schedules WHERE schedule_id = ?
                """,
                [id]
            )
            guard let row else { return nil }
            var schedule = StoredSchedule()
            schedule.nextRun = try row["next_run"]
            schedule.lastAttempt = try row["last_attempt"]
            schedule.lastSuccess = try row["last_success"]
            schedule.failures = try row["failures"]
            schedule.lastError = try row["last_error"]
            if let url: String = try row["validator_url"] {
                let (etag, lastModified): (String?, String?) = (try row["etag"], try row["last_modified"])
                schedule.validator = StoredValidator(url: url, etag: etag, lastModified: lastModified)
            }
            return schedule
        }
    }

    /// Stores a schedule with its timing. The state of its runs stays.
    ///
    /// - Parameter configuration: The timing as a JSON object, for people who inspect the database.
    package func addSchedule(_ id: String, configuration: String, now: Timestamp) async throws(StoreError) {
        try await store.direct(.pollState) { db in
            try db.run(
                """
                INSERT INTO poll_schedules (schedule_id, config_json, updated_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (schedule_id) DO UPDATE SET config_json = ?2, updated_at = ?3
                """,
                [id, configuration, now.milliseconds]
            )
        }
    }

    /// Stores the state of a schedule's runs. Does nothing if the schedule was removed meanwhile.
    package func saveSchedule(_ schedule: StoredSchedule, id: String, now: Timestamp) async throws(StoreError) {
        try await store.direct(.pollState) { db in
            try db.run(
                """
                UPDATE poll_schedules SET next_run = ?, last_attempt = ?, last_success = ?, failures = ?,
                    last_error = ?, validator_url = ?, etag = ?, last_modified = ?, updated_at = ?
                WHERE schedule_id = ?
                """,
                [
                    schedule.nextRun?.milliseconds, schedule.lastAttempt?.milliseconds,
                    schedule.lastSuccess?.milliseconds, schedule.failures, schedule.lastError, schedule.validator?.url,
                    schedule.validator?.etag, schedule.validator?.lastModified, now.milliseconds, id,
                ]
            )
        }
    }

    /// Removes a schedule. Does nothing if there is none.
    package func removeSchedule(_ id: String) async throws(StoreError) {
        try await store.direct(.pollState) { db in try db.run("DELETE FROM poll_schedules WHERE schedule_id = ?", [id])
        }
    }

    /// A host application's watermark; `nil` if there is none.
    package func watermark(_ key: String) async throws(StoreError) -> String? {
        try await store.direct(.read) { db in try db.value("SELECT watermark FROM host_watermarks WHERE key = ?", [key])
        }
    }

    /// Moves a host application's watermark from `expected` to `new`, if it is still `expected` and `new` is greater.
    ///
    /// Texts are compared byte by byte, as SQLite does by default.
    ///
    /// - Returns: Whether it moved.
    package func advanceWatermark(
        _ key: String,
        from expected: String?,
        to new: String,
        now: Timestamp
    ) async throws(StoreError) -> Bool {
        try await store.direct(.watermark) { db in
            guard let expected else {
                return try db.changed(
                    """
                    INSERT INTO host_watermarks (key, watermark, updated_at) VALUES (?, ?, ?)
                    ON CONFLICT (key) DO NOTHING
                    """,
                    [key, new, now.milliseconds]
                ) == 1
            }
            return try db.changed(
                """
                UPDATE host_watermarks SET watermark = ?1, updated_at = ?2
                WHERE key = ?3 AND watermark = ?4 AND watermark < ?1
                """,
                [new, now.milliseconds, key, expected]
            ) == 1
        }
    }
}
