import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// The last seen details of a plan, and the changed fields of later changes.
@Suite struct SnapshotTests {
    let world = World()

    private func commit(_ store: Store, _ n: Int, name: String?, plan: String = "plan") async throws {
        try await world.commit(store, [world.change(n, plan: plan)]) { page in
            if let name { page.edit(world.id(n)) { $0.details = PlanDetails([.name: name]) } }
        }
    }

    /// The changed fields of every pending row, by JWT ID.
    private func changed(_ store: Store) async throws -> [JWTID: [String: FieldChange]] {
        let (stream, now) = (world.stream, world.now)
        let open = try await store.deliveries.claim(
            stream,
            now: now,
            limit: 100,
            leaseUntil: now,
            sinks: ["log"]
        ) { rows, _ in
            let fields = rows.compactMap { row in row.changedFields.map { (row.change.id, $0) } }
            let message = NotificationMessage(
                id: "ntf_\(rows[0].id)",
                runID: "run",
                poll: stream.poll,
                kind: .starredProjects,
                changes: rows.map(\.change),
                context: NotificationContext(largestGroup: 5, fields: Dictionary(fields) { $1 }),
                createdAt: now
            )
            return (OutgoingNotification(message), nil)
        }
        let changes = NotificationMessage(json: open.first?.outgoing.payload ?? [])?.changes ?? []
        return Dictionary(
            uniqueKeysWithValues: changes.compactMap { change in
                change.fields.flatMap { fields in JWTID(change.jwtID).map { ($0, fields) } }
            }
        )
    }

    @Test func onlyLaterChangesOfAPlanHaveChangedFields() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        #expect(try await changed(store).isEmpty)
        try await commit(store, 2, name: "B")
        try await commit(store, 3, name: "B")
        try await commit(store, 4, name: nil)
        #expect(
            try await changed(store) == [
                world.id(2): ["name": FieldChange(before: "A", after: "B")], world.id(3): [:],
            ]
        )
    }

    @Test func theServersClaimCountsOnlyWhereNoEarlierStateIsKnown() async throws {
        let store = try await world.open()
        let claimed = ["name": FieldChange(before: "claimed", after: "?")]
        for n in 1...2 {
            try await world.commit(store, [world.change(n)]) { page in
                page.edit(world.id(n)) {
                    $0.details = PlanDetails([.name: "\(n)"])
                    $0.claimedChanges = claimed
                }
            }
        }
        #expect(
            try await changed(store) == [
                world.id(1): claimed, world.id(2): ["name": FieldChange(before: "1", after: "2")],
            ]
        )
    }

    /// No state of a plan has them, so the claim is the only source.
    @Test func theServersClaimAlwaysTellsStatusAndProgress() async throws {
        let store = try await world.open()
        let claimed = [
            "name": FieldChange(before: "claimed", after: "?"),
            "status": FieldChange(before: "in_progress", after: nil),
        ]
        for n in 1...2 {
            try await world.commit(store, [world.change(n)]) { page in
                page.edit(world.id(n)) {
                    $0.details = PlanDetails([.name: "\(n)"])
                    $0.claimedChanges = claimed
                }
            }
        }
        #expect(
            try await changed(store)[world.id(2)] == [
                "name": FieldChange(before: "1", after: "2"), "status": FieldChange(before: "in_progress", after: nil),
            ]
        )
    }

    @Test func bootstrappingStoresSnapshots() async throws {
        let store = try await world.open()
        try await world.commit(store, []) { page in
            page.disposition = .bootstrap
            page.seenOnly = [FetchedChange(world.change(1), details: PlanDetails([.name: "A"]))]
        }
        try await commit(store, 2, name: "B")
        #expect(try await changed(store) == [world.id(2): ["name": FieldChange(before: "A", after: "B")]])
    }

    @Test func aLateOlderChangeKeepsTheSnapshot() async throws {
        let store = try await world.open()
        try await commit(store, 5, name: "new")
        try await commit(store, 3, name: "old")
        try await commit(store, 6, name: "newer")
        #expect(try await changed(store) == [world.id(6): ["name": FieldChange(before: "new", after: "newer")]])
    }

    @Test func knownChangesAreNotComparedAgain() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        try await commit(store, 2, name: "B")
        try await commit(store, 2, name: "C")
        try await commit(store, 3, name: "D")
        #expect(try await changed(store)[world.id(3)] == ["name": FieldChange(before: "B", after: "D")])
    }

    @Test func unstarringDeletesTheSnapshot() async throws {
        let store = try await world.open()
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await commit(store, 1, name: "A")
        _ = try await store.stars.set([], of: World.alice, server: World.server, now: world.now)
        try await commit(store, 2, name: "B")
        #expect(try await changed(store).isEmpty)
    }

    @Test func optingOutDeletesEverySnapshot() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        _ = try await store.stars.setOptedOut(true, of: World.alice, server: World.server, now: world.now)
        try await commit(store, 2, name: "B")
        #expect(try await changed(store).isEmpty)
    }

    @Test func aChangeOfIdentityDeletesEverySnapshot() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await commit(store, 2, name: "B")
        #expect(try await changed(store).isEmpty)
    }

    /// Returns the stored fields of the change.
    private func storedFields(_ n: Int) async throws -> String? {
        let sql = "SELECT changed_fields FROM notification_outbox WHERE jwt_id = '\(world.id(n).rawValue)'"
        return try await DatabaseQueue(path: world.path).read { db in try String.fetchOne(db, sql: sql) }
    }

    @Test func aDeliveredChangeHasItsFieldsInTheNotificationOnly() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        try await commit(store, 2, name: "B")
        let first = try #require(try await world.claim(store))
        _ = try await store.deliveries.record(first.tickets[0], .gone, now: world.now, maxRetries: 3)
        #expect(try await storedFields(2) != nil)
        let again = try #require(try await world.claim(store, id: "ntf_2"))
        _ = try await store.deliveries.record(again.tickets[0], .ok, now: world.now, maxRetries: 3)
        #expect(try await storedFields(2) == nil)
    }

    @Test func aRejectedPageStoresNoSnapshot() async throws {
        let store = try await world.open()
        try await commit(store, 1, name: "A")
        let page = try await world.commit(store, [world.change(2)]) { page in
            page.expectedGeneration += 1
            page.edit(world.id(2)) { $0.details = PlanDetails([.name: "B"]) }
        }
        #expect(page == nil)
        try await commit(store, 3, name: "C")
        #expect(try await changed(store)[world.id(3)] == ["name": FieldChange(before: "A", after: "C")])
    }
}
