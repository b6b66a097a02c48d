import FoundationEssentials
package import StarwatchCore

/// The changes behind a shortlink.
package struct StoredShortlink: Sendable, Hashable {
    package struct Target: Sendable, Hashable, Codable {
        package let jwt: JWTID
        package let plan: String

        enum CodingKeys: String, CodingKey {
            case jwt = "jwt_id"
            case plan
        }

        /// The JSON of the changes.
        static func stored(_ changes: [Change]) -> String {
            var bytes: [UInt8] = []
            JSONQuotes.append(array: changes, to: &bytes) { change, bytes in
                JSONQuotes.append(
                    [(CodingKeys.jwt.rawValue, change.id.rawValue), (CodingKeys.plan.rawValue, change.plan)],
                    to: &bytes
                )
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The changes in the order of the notification.
    package let targets: [Target]
    package let poll: PollName
    package let expiresAt: Timestamp
}

extension StoreNotifications {
    /// The changes behind a shortlink of the account; `nil` if it is unknown or expired, or does not open.
    package func shortlink(
        _ shortlink: Shortlink,
        of account: DID,
        now: Timestamp
    ) async throws(StoreError) -> StoredShortlink? {
        try await store.direct(.read) { db in
            let row = try db.row(
                """
                SELECT l.targets, l.expires_at, l.token, s.poll FROM shortlinks l
                JOIN notifications n ON n.id = l.notification_id JOIN streams s ON s.id = n.stream_id
                WHERE l.token = ? AND l.expires_at > ? AND s.account = ?
                """,
                [db.vault.lookup(shortlink.rawValue, as: "shortlink"), now.milliseconds, db.key(account)]
            )
            guard let row else { return nil }
            let json = try ifReadable {
                try db.opened(row["targets"], .shortlinkTargets, row: try row["token"]) as String
            }
            guard let json else { return nil }
            guard let targets = try? JSONDecoder().decode([StoredShortlink.Target].self, from: Data(json.utf8)) else {
                throw StoreError.damaged
            }
            return StoredShortlink(targets: targets, poll: try row["poll"], expiresAt: try row["expires_at"])
        }
    }
}
