import Foundation
import StarwatchCore
import StarwatchTransport

extension SimulatedServer {
    /// Plan of all offers.
    static let offerPlan = "offers"

    struct Query: Decodable {
        var planIds: Set<String>
        var afterId: String
        var beforeId: String?
        var limit: Int?
    }

    func changes(_ request: HTTPRequest) -> Answer {
        guard let query = query(request.body ?? []) else { return plain(400, "") }
        return page(
            of: query.planIds,
            after: query.afterId,
            before: query.beforeId,
            limit: min(query.limit ?? settings.pageSize, settings.pageSize),
            item: text.change
        )
    }

    /// Returns the plans that a request asks about.
    func plans(of request: HTTPRequest) -> Set<String> { query(request.body ?? [])?.planIds ?? [] }

    private func query(_ body: [UInt8]) -> Query? {
        // A poll without new changes repeats the same query.
        if let last = state.value.lastQuery, last.body == body { return last.query }
        guard let query = try? JSONDecoder().decode(Query.self, from: Data(body)) else { return nil }
        state.value.lastQuery = (body, query)
        return query
    }

    func offers(_ request: HTTPRequest) -> Answer {
        func item(_ name: String) -> String? {
            let items = request.url.utf8.split { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }
            return items.first { $0.starts(with: name.utf8) }.map { String(Substring($0.dropFirst(name.utf8.count))) }
        }
        return page(
            of: [Self.offerPlan],
            after: item("afterId=") ?? "0",
            before: item("beforeId="),
            limit: settings.pageSize,
            isOffers: true,
            item: text.offer
        )
    }

    private var text: ItemText { ItemText(dialect: settings.dialect, now: clock.boot) }

    private func page(
        of plans: Set<String>,
        after: String,
        before: String?,
        limit: Int,
        isOffers: Bool = false,
        item: (FeedRow) -> String
    ) -> Answer {
        let isDescending = settings.dialect.isDescending
        var (rows, hasMore) = state.value.feed.page(
            of: plans,
            after: after,
            before: before,
            isDescending: isDescending,
            limit: max(limit, 1),
            now: clock.boot
        )
        let last = rows.last?.id
        if defect == .loseItems { rows.removeAll { Fingerprint(of: $0.id).value % 5 == 0 } }
        if rows.count > 1, faults.strikes(.outOfOrder, 0.02) { rows.reverse() }
        if let first = rows.first, faults.strikes(.duplicated, 0.02) { rows.append(first) }
        var next = last
        if faults.strikes(.wrongNext, 0.01) {
            hasMore = true
            next = ["0000000000_000000_00000000", after, nil, "nonsense"][faults.number(.wrongNext, 0...3)]
        }
        var body = "{\"data\":[" + rows.map(item).joined(separator: ",") + "],\"hitLimit\":\(hasMore)"
        if settings.dialect == .canonical, !isOffers {
            body += ",\"pagination\":{\"hasMore\":\(hasMore)"
            if hasMore, let next { body += ",\"nextAfterId\":\"\(next)\"" }
            body += "}"
        }
        return plain(200, body + "}")
    }

    private struct Acknowledgement: Decodable {
        var acknowledgedJwtIds: [String]
    }

    func acknowledge(_ request: HTTPRequest, of ids: [String]) -> Answer {
        guard let body = request.body, !ids.isEmpty,
            let key = request.headers.first(where: { $0.name == "X-Idempotency-Key" })?.value
        else { return plain(400, "") }
        var fingerprint = Fingerprint()
        fingerprint.add(body)
        if let former = state.value.bodies.updateValue(fingerprint, forKey: key), former != fingerprint {
            violations.record(.idempotency, "one key was used with two bodies")
            return plain(409, "")
        }
        if faults.strikes(.partialAcknowledgement, 0.02) {
            return plain(200, "{\"acknowledged\":0,\"failed\":\(ids.count)}")
        }
        let already = ids.count { state.value.acknowledged.contains($0) }
        state.value.acknowledged.formUnion(ids)
        return plain(200, "{\"acknowledged\":\(ids.count - already),\"alreadyAcknowledged\":\(already),\"failed\":0}")
    }

    /// Returns the identifiers that a request acknowledges.
    func acknowledged(by request: HTTPRequest) -> [String] {
        guard request.url.hasSuffix("/acknowledge"), let body = request.body else { return [] }
        return (try? JSONDecoder().decode(Acknowledgement.self, from: Data(body)))?.acknowledgedJwtIds ?? []
    }
}
