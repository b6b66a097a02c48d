import FoundationEssentials
import StarwatchCore
import StarwatchStore
import StarwatchTestKit

/// Words that stand in every kind of personal data that ``World/fill(_:)`` stores.
enum Canary {
    static let name = "canaryname"
    static let plan = "canaryplan"
    static let title = "canarytitle"
    static let body = "canarybody"
    static let payload = "canarypayload"
    static let description = "canarydescription"
    static let content = "canarycontent"
    static let digest = "canarydigest"
    static let etag = "canaryetag"
    static let feed = "canaryfeed"
    static let details = "canarydetails"
    static let list = "canarylist"
    /// Stands in the DID.
    static let did = "0xalice"

    static let all = [name, plan, title, body, payload, description, content, digest, etag, feed, details, list, did]
}

extension World {
    /// The canaries in the files of the database.
    func canaries() throws -> Set<String> {
        var found: Set<String> = []
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: path + suffix)) else { continue }
            let text = String(decoding: data, as: Unicode.ASCII.self)
            for canary in Canary.all where text.contains(canary) { found.insert(canary) }
        }
        return found
    }
}

extension World {
    /// Stores something in every column that can be encrypted, for `alice`.
    func fill(_ store: Store) async throws {
        let (alice, server) = (Self.alice, Self.server)
        let plans = (0..<4).map { Canary.plan + "\($0)" }
        _ = try await store.stars.set(Array(plans.prefix(2)), of: alice, server: server, now: now)
        let changes = (0..<4).map { n in
            var change = Change(id: id(n), plan: plans[n % 2], name: Canary.name + "\(n)")
            change.details = ItemDetails(link: nil, fields: ["author": Canary.details])
            return change
        }
        try await commit(store, changes) { page in
            for (index, change) in changes.enumerated() {
                page.edit(change.id) {
                    $0.details = PlanDetails([.name: Canary.name, .description: Canary.description + "\(index)"])
                }
            }
        }
        _ = try await store.deliveries.claim(
            stream,
            now: now,
            limit: 2,
            leaseUntil: now + .seconds(60),
            sinks: ["log"]
        ) { rows, _ in
            let outgoing = OutgoingNotification(
                id: "ntf_fill",
                runID: "run",
                poll: "starred_projects",
                group: .several,
                count: rows.count,
                text: (Canary.title, Canary.body),
                payload: Array(Canary.payload.utf8)
            )
            return (outgoing, Shortlink(Contents.shortlink))
        }
        try await store.feed.append("ntf_feed", payload: Array(Canary.feed.utf8), of: alice, keep: 100, now: now)
        var state = ListState()
        state.etag = Canary.list
        try await commit(store, items: [item(0), item(1)]) { $0.isBootstrap = true }
        try await commit(store, items: [item(0)]) { [state] in $0.state = state }
        let generation = try await store.identity.active().generation
        _ = try await store.digests.finishPrefetch(
            .fetched(payload: #"{"text":"\#(Canary.content)"}"#, etag: "\"\(Canary.etag)\""),
            slot: "slot",
            source: "source",
            occurrence: nil,
            of: alice,
            generation: generation,
            now: now
        )
        var digests = DigestChanges()
        digests.armed = [
            DigestChanges.Arming(
                occurrence: DigestOccurrence(digest: DigestName("daily")!, slot: "slot", fireAt: now + .seconds(3600)),
                token: "ntf_digest",
                text: ArmedText(
                    text: .fallback,
                    fingerprint: 1,
                    title: Canary.digest,
                    body: Canary.digest,
                    payload: Array(Canary.digest.utf8)
                )
            )
        ]
        _ = try await store.digests.apply(digests, of: alice, generation: generation, server: server, now: now)
    }
}

/// What a store answers about everything that it can encrypt.
struct Contents: Equatable {
    static let shortlink = "AbCdEfGhIjKlMnOpQrStUv"

    var identity: DID?
    var stars: [String]
    var names: [String: String]
    var rows: [OutboxRow]
    var titles: [String]
    var payloads: [[UInt8]]
    var targets: [String]?
    var feed: [[UInt8]]
    var content: String?
    var etag: String?
    var digests: [String]
    var notifications: [OpenNotification]
    var watermark: JWTID?

    init(_ store: Store, _ world: World) async throws {
        identity = try await store.identity.active().did
        stars = try await store.stars.list(of: World.alice)
        names = try await store.stars.planNames(of: World.alice, server: World.server)
        rows = try await store.outbox.list(OutboxFilter())
        let stored = try await store.notifications.list(of: world.account, limit: 100)
        titles = stored.map { $0.title + $0.body }
        payloads = stored.map(\.payload)
        if let shortlink = Shortlink(Self.shortlink) {
            targets = try await store.notifications.shortlink(shortlink, of: world.account, now: world.now)?.targets
                .map(\.plan)
        }
        feed = try await store.feed.list(of: World.alice, after: 0, limit: 100).map(\.payload)
        content = try await store.digests.content(source: "source", account: World.alice)?.payload
        etag = try await store.digests.content(source: "source", account: World.alice)?.etag
        digests = try await store.digests.state(of: World.alice, since: world.now).rows.map(\.token)
        notifications = []
        watermark = try await store.acknowledgements.watermark(world.stream)
    }
}

final class Failure: Sendable {
    private let storage = Witness()
    var isDue: Bool {
        get { storage["due"] % 2 == 1 }
        set { if newValue != isDue { storage.add("due") } }
    }
}
