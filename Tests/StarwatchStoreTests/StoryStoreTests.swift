import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The stored life of changes: their page, the answers of sinks, and the moves of the watermark.
@Suite struct StoryStoreTests {
    private let world = World()

    private func origin(_ page: Int) -> PageOrigin {
        PageOrigin(
            page: page,
            request: RequestTrace(id: "request-\(page)", serverID: "req_\(page)"),
            askedAt: world.now - .milliseconds(12),
            answeredAt: world.now,
            tries: 2
        )
    }

    private func count(_ table: String) throws -> Int {
        try DatabaseQueue(path: world.path).read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
    }

    @Test func everyChangeKeepsThePageThatBroughtIt() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2)) { $0.origin = origin(1) }
        try await world.commit(store, world.changes(2...3)) { $0.origin = origin(2) }
        #expect(try await store.stories.change(1)?.page == origin(1))
        #expect(try await store.stories.change(2)?.page == origin(1))
        let last = try #require(try await store.stories.rows(of: world.id(3)).first)
        #expect(try await store.stories.change(last)?.page == origin(2))
        #expect(try count("page_fetches") == 2)
    }

    @Test func aPageWithoutNewChangesStoresNothing() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2)) { $0.origin = origin(1) }
        try await world.commit(store, world.changes(1...2)) { $0.origin = origin(2) }
        #expect(try count("page_fetches") == 1)
    }

    @Test func anExpiredPagesNumberIsNotUsedAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1)) { $0.origin = origin(1) }
        let counts = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(counts.history == 1)
        try await world.commit(store, world.changes(2...2)) { $0.origin = origin(2) }
        #expect(try await store.stories.change(1)?.page == nil)
        #expect(try await store.stories.change(2)?.page == origin(2))
    }

    @Test func aRefetchedChangeHasItsNewPage() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10)) { $0.origin = origin(1) }
        #expect(try await world.evict(store, .fifo, limit: 9) == 2)
        try await world.commit(store, world.changes(1...2)) { $0.origin = origin(2) }
        #expect(try await store.stories.change(1)?.page == origin(2))
        #expect(try await store.stories.change(3)?.page == origin(1))
    }

    @Test func everyAnswerOfASinkIsKeptInItsOrder() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let ticket = try #require(try await world.claim(store)).tickets[0]
        let started = world.now
        world.now = world.now + .milliseconds(9)
        _ = try await store.deliveries.record(
            ticket,
            .rejected(nextAttemptAt: world.now + .seconds(1)),
            attempt: DeliveryAttempt(.rejected, reason: "No.", startedAt: started),
            now: world.now,
            maxRetries: 3
        )
        world.now = world.now + .seconds(1)
        let again = try await world.reclaim(store, until: world.now + .seconds(60))
        let second = try #require(again.first).tickets[0]
        // A postponement is no attempt.
        _ = try await store.deliveries.record(second, .postponed(until: world.now), now: world.now, maxRetries: 3)
        let third = try await world.reclaim(store, until: world.now + .seconds(60))
        _ = try await store.deliveries.record(
            try #require(third.first).tickets[0],
            .ok,
            attempt: DeliveryAttempt(.ok, reason: nil, startedAt: world.now),
            now: world.now,
            maxRetries: 3
        )
        let story = try #require(try await store.stories.change(1)?.notification)
        try #require(story.attempts.map(\.attempt.answer) == [.rejected, .ok])
        #expect(story.attempts.map(\.number) == [1, 2])
        #expect(story.attempts[0].attempt.reason == "No.")
        #expect(story.attempts[0].finishedAt == started + .milliseconds(9))
        #expect(story.attempts[0].nextAttemptAt == started + .milliseconds(1009))
        #expect(story.attempts[1].nextAttemptAt == nil)
        // Attempts of a lost lease are not the notification's.
        let stale = try await store.deliveries.record(
            ticket,
            .ok,
            attempt: DeliveryAttempt(.ok, reason: nil, startedAt: world.now),
            now: world.now,
            maxRetries: 3
        )
        #expect(stale == .stale)
        #expect(try count("delivery_attempts") == 2)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(15)).deliveries == 3)
        #expect(try count("delivery_attempts") == 0)
    }

    @Test func theOldestAttemptsGoBeyondTheLimit() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let ticket = try #require(try await world.claim(store)).tickets[0]
        _ = try await store.deliveries.record(
            ticket,
            .ok,
            attempt: DeliveryAttempt(.ok, reason: nil, startedAt: world.now),
            now: world.now,
            maxRetries: 3
        )
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(
                sql: """
                    INSERT INTO delivery_attempts SELECT notification_id, sink, 1 + value, started_at, finished_at + value,
                        result, reason, next_attempt_at, cause FROM delivery_attempts, json_each('[1, 2, 3, 4]')
                    """
            )
            let context = SessionContext(StoreOptions(path: ""))
            #expect(try Session(database: db, context: context).deliveries.trimAttempts(keep: 3) == 2)
            #expect(try Int.fetchAll(db, sql: "SELECT number FROM delivery_attempts ORDER BY number") == [3, 4, 5])
        }
    }

    @Test func theWatermarkKeepsWhenItPassedEachChange() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let start = world.now
        try await world.deliverAll(store)
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 2, now: world.now) { "key" }
        )
        #expect(batch.runID == "run")
        world.now = start + .seconds(5)
        _ = try await store.acknowledgements.complete(batch, requestID: "request-9", now: world.now)
        let first = try #require(try await store.stories.change(1))
        #expect(first.watermark.isPast)
        #expect(first.watermark.passedAt == start + .seconds(5))
        #expect(first.ackRequestID == "request-9")
        let third = try #require(try await store.stories.change(3))
        #expect(!third.watermark.isPast)
        #expect(third.watermark.passedAt == nil)
        world.now = start + .seconds(9)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.stories.change(3)?.watermark.passedAt == start + .seconds(9))
        #expect(try await store.stories.change(3)?.ackRequestID == nil)
        #expect(try await store.stories.change(1)?.watermark.passedAt == start + .seconds(5))
    }

    @Test func anOpenRowBelowHoldsTheWatermark() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        _ = try await world.claim(store)
        try await world.commit(store, world.changes(2...2))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        let story = try #require(try await store.stories.change(2))
        #expect(story.row.state == .acknowledged)
        #expect(!story.watermark.isPast)
        #expect(story.watermark.blockingRow == 1)
    }

    @Test func aRunHasItsPagesRowsAndNotifications() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2)) { $0.origin = origin(1) }
        _ = try await world.claim(store)
        let run = try await store.stories.run("run")
        #expect(run.pages == [origin(1)])
        #expect(run.rows.map(\.id) == [1, 2])
        #expect(run.notifications == ["ntf_1"])
        #expect(run.stream == world.stream)
        #expect(try await store.stories.run("run_other").isEmpty)
    }
}
