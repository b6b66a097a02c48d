package import StarwatchCore

/// Rows to acknowledge in one request, under a key stored before the request.
package struct AckBatch: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The idempotency key, the same for every attempt of this batch.
    package let key: String
    /// In ascending order.
    package let ids: [JWTID]
    /// The run that stored the last of them.
    package let runID: String
    /// The number of failed attempts, whatever the reason.
    package let attempts: Int
    /// The number of attempts that the server refused.
    package let refusals: Int
    /// The creation time. It is part of the request, which must not change under its key.
    package let createdAt: Timestamp
}

/// The result of an acknowledgement.
package struct AckCompletion: Sendable, Hashable {
    /// The number of rows acknowledged now, including suppressed ones; 0 if the batch was already closed.
    package let acknowledged: Int
    package let watermark: WatermarkOutcome

    package init(acknowledged: Int, watermark: WatermarkOutcome) {
        self.acknowledged = acknowledged
        self.watermark = watermark
    }
}
