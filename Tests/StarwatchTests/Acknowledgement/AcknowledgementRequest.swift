import Foundation
import MockEndorser

/// An acknowledgement as the mock got it (R-EP-21).
struct AcknowledgementRequest: Hashable {
    let key: String?
    let ids: [String]
    let body: Data
    let authorization: String?
    let receivedAt: Date

    init(_ request: RecordedRequest) throws {
        struct Body: Decodable {
            let acknowledgedJwtIds: [String]
            let acknowledgedAt: String
            let clientVersion: String
        }
        key = request.header("X-Idempotency-Key")
        ids = try JSONDecoder().decode(Body.self, from: request.body).acknowledgedJwtIds
        body = request.body
        authorization = request.header("Authorization")
        receivedAt = request.receivedAt
    }
}

extension MockServer {
    /// The acknowledgements that came, refused ones too, the oldest first.
    func acknowledgements() throws -> [AcknowledgementRequest] {
        try requests(to: .acknowledge).map(AcknowledgementRequest.init)
    }
}

extension Bench {
    /// Publishes changes, fetches them and delivers them to every sink; their ids.
    @discardableResult
    func deliver(_ count: Int) async -> [String] {
        let ids = await fetch(count)
        await dispatch()
        return ids
    }
}
