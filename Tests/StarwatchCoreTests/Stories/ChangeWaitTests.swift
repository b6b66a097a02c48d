import StarwatchCore
import Testing

@Suite struct ChangeWaitTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func facts(_ state: OutboxState, _ edit: (inout ChangeWaitFacts) -> Void = { _ in }) -> ChangeWaitFacts {
        var facts = ChangeWaitFacts(row: 17, state: state)
        facts.isAcknowledged = true
        edit(&facts)
        return facts
    }

    private func waits(_ state: OutboxState, _ edit: (inout ChangeWaitFacts) -> Void = { _ in }) -> [ChangeWait] {
        facts(state, edit).waits(at: now)
    }

    private func sink(_ edit: (inout SinkStatus) -> Void) -> SinkStatus {
        var sink = SinkStatus("hook", .pending, nextAttemptAt: now + .seconds(4), updatedAt: now)
        sink.attempts = 1
        edit(&sink)
        return sink
    }

    @Test func aPendingChangeWaitsForItsGroup() {
        let wait = waits(.pending) { facts in
            facts.grouping.oldestWaiting = now
            facts.grouping.wait = .seconds(30)
        }
        #expect(wait == [ChangeWait(.groupWait, until: now + .seconds(30))])
        let interval = waits(.pending) { facts in
            facts.grouping.oldestWaiting = now
            facts.grouping.lastNotified = now - .seconds(100)
            facts.grouping.wait = .seconds(30)
            facts.grouping.interval = .seconds(300)
        }
        #expect(interval == [ChangeWait(.groupInterval, until: now + .seconds(200))])
        #expect(waits(.pending) { $0.grouping.oldestWaiting = now } == [ChangeWait(.dispatch)])
        #expect(waits(.pending) { $0.hasSinks = false } == [ChangeWait(.sinks)])
    }

    @Test(arguments: [OutboxState.pending, .claimed, .delivered])
    func aFormerIdentitysChangeWaitsForIt(state: OutboxState) {
        #expect(waits(state) { $0.isActive = false } == [ChangeWait(.identity)])
    }

    @Test func aClaimedChangeNamesEverySinkAndItsReason() {
        let until = now + .seconds(4)
        let later = now + .seconds(60)
        let cases: [(SinkStatus, ChangeWait)] = [
            (sink { $0.leasedUntil = later }, ChangeWait(.attempt, until: later, sink: "hook")),
            (sink { _ in }, ChangeWait(.sinkBackoff, until: until, sink: "hook")),
            (
                sink { $0.pause = ChangeWait(.sinkBackoff, until: later) },
                ChangeWait(.sinkBackoff, until: later, sink: "hook")
            ),
            (
                sink { $0.pause = ChangeWait(.sinkCircuit, until: later) },
                ChangeWait(.sinkCircuit, until: later, sink: "hook")
            ),
            (
                sink { $0.pause = ChangeWait(.sinkRetryAfter, until: later) },
                ChangeWait(.sinkRetryAfter, until: later, sink: "hook")
            ),
            (sink { $0.rejections = 1 }, ChangeWait(.rejected, until: until, sink: "hook")),
            (sink { $0.nextAttemptAt = now }, ChangeWait(.dispatch, sink: "hook")),
        ]
        for (sink, expected) in cases { #expect(waits(.claimed) { $0.sinks = [sink] } == [expected]) }
        #expect(waits(.claimed) { $0.sinks = cases.map(\.0) } == cases.map(\.1))
        let snoozed = waits(.claimed) { facts in
            facts.sinks = [sink { $0.attempts = 0 }]
            facts.isRepetition = true
        }
        #expect(snoozed == [ChangeWait(.snooze, until: until, sink: "hook")])
        let held = waits(.claimed) { $0.sinks = [sink { $0.isHeld = true }] }
        #expect(held == [ChangeWait(.sinkHours, until: until, sink: "hook")])
        let down = waits(.claimed) { facts in
            facts.sinks = [
                sink { ($0.isHeld, $0.pause) = (true, ChangeWait(.sinkCircuit, until: until + .seconds(1))) }
            ]
        }
        #expect(down == [ChangeWait(.sinkCircuit, until: until + .seconds(1), sink: "hook")])
    }

    @Test func aDeliveredChangeWaitsForItsAcknowledgement() {
        let until = now + .seconds(8)
        #expect(waits(.delivered) == [ChangeWait(.acknowledgement)])
        let retry = ChangeWaitFacts.Batch(isOwn: true, attempts: 2, nextAttemptAt: until)
        #expect(waits(.delivered) { $0.batch = retry } == [ChangeWait(.ackRetry, until: until)])
        let other = ChangeWaitFacts.Batch(isOwn: false, attempts: 2, nextAttemptAt: until)
        #expect(waits(.delivered) { $0.batch = other } == [ChangeWait(.ackQueue, until: until)])
        let limited = waits(.delivered) { facts in
            facts.batch = retry
            facts.throttledUntil = now + .seconds(60)
        }
        #expect(limited == [ChangeWait(.rateLimit, until: now + .seconds(60))])
        #expect(waits(.suppressed) { $0.isAcknowledged = false } == [ChangeWait(.acknowledgement)])
    }

    @Test func aFinishedChangeWaitsForTheWatermarkOnly() {
        #expect(waits(.acknowledged) == [])
        let blocked = waits(.acknowledged) { facts in
            facts.isPastWatermark = false
            facts.blockingRow = 12
        }
        #expect(blocked == [ChangeWait(.watermarkRow, row: 12)])
        #expect(blocked.first?.sentence == "The watermark waits for row 12.")
        let beyond = waits(.cancelled) { facts in
            facts.isPastWatermark = false
            facts.isBeyondCursor = true
        }
        #expect(beyond == [ChangeWait(.watermarkCursor)])
        #expect(waits(.dead) == [ChangeWait(.retry, row: 17)])
        #expect(waits(.evicted) == [ChangeWait(.room)])
    }

    /// An acknowledged change can still wait for a sink with `required: false`.
    @Test func aFinishedChangeWaitsForItsOptionalSinks() {
        let (now, next) = (Timestamp(milliseconds: 1_767_225_600_000), Timestamp(milliseconds: 1_767_225_660_000))
        for state in [OutboxState.acknowledged, .delivered] {
            var facts = ChangeWaitFacts(row: 1, state: state)
            facts.sinks = [SinkStatus("hook", .pending, nextAttemptAt: next, updatedAt: next)]
            #expect(facts.waits(at: now).contains(ChangeWait(.sinkBackoff, until: next, sink: "hook")))
            facts.sinks = []
            #expect(!facts.waits(at: now).contains { $0.sink != nil })
        }
    }

    @Test func everyReasonHasItsOwnSentence() {
        let sentences = ChangeWait.Reason.allCases.map { ChangeWait($0).sentence }
        #expect(Set(sentences).count == sentences.count)
        #expect(sentences.allSatisfy { !$0.isEmpty })
    }
}

@Suite struct RequestTraceTests {
    @Test(arguments: ["req_abc123", "7f1d0c1e-5a1e-4c57-9d30-5a2f3c1b8e44"])
    func aPlainIdentifierIsShown(text: String) {
        #expect(RequestTrace.shown(text) == text)
    }

    @Test(arguments: [
        nil, "", "did:ethr:0xaa", "a b", "a\"b", "eyJhbGciOiJIUzI1NiJ9.e30.x", String(repeating: "a", count: 65),
        "01JGQ3A7B8C9D0E1F2G3H4J5K6", "1704067200_abc123_12345678", "ü", "Alice", "CANARYHEADER", "req_",
        "req_did:ethr:0xaa",
    ])
    func anIdentifierThatCanNameAPersonIsNot(text: String?) {
        #expect(RequestTrace.shown(text) == nil)
    }
}
