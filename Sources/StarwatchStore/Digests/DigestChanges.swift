package import StarwatchCore

/// A rendered text, to be stored with its occurrence.
package struct ArmedText: Sendable, Hashable {
    package let text: DigestText
    package let fingerprint: Int64
    package let title: String
    package let body: String
    /// What sinks get, byte for byte.
    package let payload: [UInt8]

    package init(text: DigestText, fingerprint: Int64, title: String, body: String, payload: [UInt8]) {
        self.text = text
        self.fingerprint = fingerprint
        self.title = title
        self.body = body
        self.payload = payload
    }
}

/// What one pass changes about digests, all in one transaction.
package struct DigestChanges: Sendable, Hashable {
    /// An occurrence with the text to store; `nil`: it becomes unarmed.
    package struct Arming: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        /// The id of its notification, of a new row; a stored one keeps its own.
        package let token: String
        package let text: ArmedText?

        package init(occurrence: DigestOccurrence, token: String, text: ArmedText?) {
            self.occurrence = occurrence
            self.token = token
            self.text = text
        }
    }

    /// An occurrence to hand to the sinks. It is armed.
    package struct Firing: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        package let sinks: [String]
        package let runID: String

        package init(occurrence: DigestOccurrence, sinks: [String], runID: String) {
            self.occurrence = occurrence
            self.sinks = sinks
            self.runID = runID
        }
    }

    /// An occurrence that has come to its end.
    package struct Ending: Sendable, Hashable {
        package let occurrence: DigestOccurrence
        package let status: SlotStatus
        package let code: SlotCode?
        /// When the sinks had it.
        package let shownAt: Timestamp?

        package init(
            occurrence: DigestOccurrence,
            status: SlotStatus,
            code: SlotCode? = nil,
            shownAt: Timestamp? = nil
        ) {
            self.occurrence = occurrence
            self.status = status
            self.code = code
            self.shownAt = shownAt
        }
    }

    package var dropped: [DigestOccurrence] = []
    package var armed: [Arming] = []
    package var fired: [Firing] = []
    package var ended: [Ending] = []
    /// Those whose one fetch begins.
    package var fetching: [DigestOccurrence] = []
    /// Up to when each digest is armed.
    package var armedThrough: [DigestName: Timestamp] = [:]
    package var events: [EventDraft] = []

    package init() {}

    package var isEmpty: Bool { self == DigestChanges() }
}

/// What is stored of one account's digests.
package struct DigestState: Sendable, Hashable {
    package struct Row: Sendable, Hashable {
        package let row: DigestRow
        package let token: String
        /// How its notification stands; `nil` before it is fired, and `cancelled` when it is gone.
        package let notification: StoredNotification.State?
        /// When its notification ended.
        package let finishedAt: Timestamp?
        package let code: SlotCode?
    }

    package let rows: [Row]
    package let armedThrough: [DigestName: Timestamp]
}

/// What was fetched, and for how long it holds.
package struct StoredContent: Sendable, Hashable {
    package let payload: String
    package let fetchedAt: Timestamp
    /// When the server last said that it has not changed; at first ``fetchedAt``.
    package let validatedAt: Timestamp
    package let etag: String?
}

/// How a fetch ended.
package enum PrefetchResult: Sendable, Hashable {
    case fetched(payload: String, etag: String?)
    case notModified
    case failed
}
