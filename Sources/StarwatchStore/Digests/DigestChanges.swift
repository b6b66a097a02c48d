package import StarwatchCore

/// A rendered text to store with its occurrence.
package struct ArmedText: Sendable, Hashable {
    package let text: DigestText
    package let fingerprint: Int64
    package let title: String
    package let body: String
    /// The exact bytes for the sinks.
    package let payload: [UInt8]

    package init(text: DigestText, fingerprint: Int64, title: String, body: String, payload: [UInt8]) {
        (self.text, self.fingerprint, self.title, self.body) = (text, fingerprint, title, body)
        self.payload = payload
    }
}

/// The changes of one pass over the digests, applied in one transaction.
package struct DigestChanges: Sendable, Hashable {
    /// An occurrence with the text to store; `nil` makes it unarmed.
    package struct Arming: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        /// The notification id of a new occurrence. A stored occurrence keeps its own.
        package let token: String
        package let text: ArmedText?

        package init(occurrence: DigestOccurrence, token: String, text: ArmedText?) {
            (self.occurrence, self.token, self.text) = (occurrence, token, text)
        }
    }

    /// An armed occurrence to hand to the sinks.
    package struct Firing: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        package let sinks: [String]
        package let runID: String

        package init(occurrence: DigestOccurrence, sinks: [String], runID: String) {
            (self.occurrence, self.sinks, self.runID) = (occurrence, sinks, runID)
        }
    }

    /// An occurrence that has ended.
    package struct Ending: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        package let status: SlotStatus
        package let code: SlotCode?
        /// The time when the sinks received it.
        package let shownAt: Timestamp?

        package init(
            occurrence: DigestOccurrence,
            status: SlotStatus,
            code: SlotCode? = nil,
            shownAt: Timestamp? = nil
        ) {
            (self.occurrence, self.status, self.code, self.shownAt) = (occurrence, status, code, shownAt)
        }
    }

    package var dropped: [DigestOccurrence] = []
    package var armed: [Arming] = []
    package var fired: [Firing] = []
    package var ended: [Ending] = []
    /// The occurrences whose fetch begins.
    package var fetching: [DigestOccurrence] = []
    /// The time up to which each digest is armed.
    package var armedThrough: [DigestName: Timestamp] = [:]
    package var events: [EventDraft] = []

    package init() {}

    package var isEmpty: Bool { self == DigestChanges() }
}

/// The stored state of one account's digests.
package struct DigestState: Sendable, Hashable {
    package struct Row: Sendable, Hashable {
        package let row: DigestRow
        package let token: String
        /// The state of its notification; `nil` before it is fired, `cancelled` if the notification no longer exists.
        package let notification: StoredNotification.State?
        /// The end time of its notification.
        package let finishedAt: Timestamp?
        package let code: SlotCode?
    }

    package let rows: [Row]
    package let armedThrough: [DigestName: Timestamp]
}

/// Fetched content.
package struct StoredContent: Sendable, Hashable {
    package let payload: String
    /// The last time when the server confirmed the content; at first the time of the fetch.
    package let validatedAt: Timestamp
    package let etag: String?

    package init(payload: String, validatedAt: Timestamp, etag: String?) {
        (self.payload, self.validatedAt, self.etag) = (payload, validatedAt, etag)
    }
}

/// The result of a fetch.
package enum PrefetchResult: Sendable, Hashable {
    case fetched(payload: String, etag: String?)
    case notModified
    case failed
}

extension DigestState.Row {
    /// - Parameter isReadable: Whether the armed text opens.
    init(_ stored: SQLRow, isReadable: Bool) throws {
        guard let digest = DigestName(try stored["digest"]) else { throw StoreError.damaged }
        var arming: DigestRow.Arming?
        if isReadable, let kind: String = try stored["text_kind"] {
            guard let kind = DigestText.Kind(rawValue: kind),
                let text = DigestText(kind, contentAt: try stored["content_at"])
            else { throw StoreError.damaged }
            arming = DigestRow.Arming(text: text, fingerprint: try stored["fingerprint"] ?? 0)
        }
        let isFired = try stored["fired_at"] as Timestamp? != nil
        row = DigestRow(
            DigestOccurrence(digest: digest, slot: try stored["slot_id"], fireAt: try stored["fire_at"]),
            status: try stored["status"],
            arming: arming,
            prefetch: try stored["prefetch"],
            isFired: isFired
        )
        token = try stored["token"] ?? ""
        notification = isFired ? try stored["notification"] ?? .cancelled : nil
        finishedAt = try stored["finished_at"]
        code = (try stored["error_code"] as String?).flatMap(SlotCode.init)
    }
}
