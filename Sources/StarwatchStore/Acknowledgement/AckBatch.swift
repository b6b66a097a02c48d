package import StarwatchCore

/// Rows to be acknowledged in one request, under a key that was stored before the request.
package struct AckBatch: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The idempotency key; the same for every try of this batch.
    package let key: String
    /// In ascending order.
    package let ids: [JWTID]
    /// Tries that failed, for whatever reason.
    package let attempts: Int
    /// Those of them that the server refused.
    package let refusals: Int
    /// When the batch was made: part of its request, which stays the same under its key.
    package let createdAt: Timestamp
}

/// What an acknowledgement changed.
package struct AckCompletion: Sendable, Hashable {
    /// Rows acknowledged now, suppressed ones included; 0 when the batch was closed already.
    package let acknowledged: Int
    package let watermark: WatermarkOutcome

    package init(acknowledged: Int, watermark: WatermarkOutcome) {
        self.acknowledged = acknowledged
        self.watermark = watermark
    }
}
