import StarwatchCore
import Testing

@Suite struct WatermarkRuleTests {
    private func id(_ seconds: Int) -> JWTID { JWTID.floor(.timestamped, at: Timestamp(seconds: Int64(seconds))) }

    private func advance(_ current: Int?, firstOpen: Int?, last: Int?, cursor: Int?) -> JWTID? {
        WatermarkRule.advance(
            current: current.map(id),
            firstOpen: firstOpen.map(id),
            lastTerminalBeforeOpen: last.map(id),
            fetchCursor: cursor.map(id)
        )
    }

    @Test func itMovesToTheLastTerminalRow() {
        #expect(advance(1, firstOpen: nil, last: 5, cursor: 5) == id(5))
        #expect(advance(nil, firstOpen: 6, last: 5, cursor: 9) == id(5))
    }

    @Test func itStaysBelowOpenRowsAndTheCursor() {
        #expect(advance(5, firstOpen: nil, last: 5, cursor: 9) == nil)
        #expect(advance(6, firstOpen: nil, last: 5, cursor: 9) == nil)
        #expect(advance(1, firstOpen: nil, last: nil, cursor: 9) == nil)
        #expect(advance(1, firstOpen: nil, last: 5, cursor: nil) == nil)
        #expect(advance(1, firstOpen: nil, last: 5, cursor: 4) == nil)
        #expect(advance(1, firstOpen: 5, last: 5, cursor: 9) == nil)
        #expect(advance(1, firstOpen: 4, last: 5, cursor: 9) == nil)
    }

    @Test func itNeverMovesBetweenKinds() {
        let ulid = JWTID.floor(.ulid, at: Timestamp(seconds: 5))
        #expect(
            WatermarkRule.advance(current: id(1), firstOpen: nil, lastTerminalBeforeOpen: ulid, fetchCursor: ulid)
                == nil
        )
        #expect(
            WatermarkRule.advance(current: nil, firstOpen: nil, lastTerminalBeforeOpen: ulid, fetchCursor: id(9)) == nil
        )
    }

    /// Rows end in random order. The watermark only rises, over a finished prefix, up to the cursor.
    @Test(arguments: 1...10)
    func itIsTheEndOfTheFinishedPrefix(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var open = Set(1...40)
        var watermark: JWTID?
        var position = 0
        let cursor = Int.random(in: 10...40, using: &random)
        while let ended = open.randomElement(using: &random) {
            open.remove(ended)
            let firstOpen = open.min()
            let last = (1...cursor).filter { $0 < (firstOpen ?? .max) }.max()
            let new = WatermarkRule.advance(
                current: watermark,
                firstOpen: firstOpen.map(id),
                lastTerminalBeforeOpen: last.map(id),
                fetchCursor: id(cursor)
            )
            let expected = min(cursor, (firstOpen ?? .max) - 1)
            #expect(new == (expected > position ? id(expected) : nil))
            if let new { (watermark, position) = (new, expected) }
        }
        #expect(position == cursor)
    }

    @Test func onlyFinishedStatesLetTheWatermarkPass() {
        #expect(Set(OutboxState.allCases.filter(\.isTerminal)) == [.acknowledged, .dead, .cancelled, .suppressed])
    }

    @Test func ledgerImbalancesAreReported() {
        var ledger = Ledger()
        ledger.fetched = 10
        ledger.new = 7
        ledger.duplicate = 2
        ledger.rejected = 1
        #expect(ledger.fetchedImbalance == 0)
        ledger.delivered = 3
        ledger.dead = 1
        ledger.cancelled = 1
        ledger.suppressed = 1
        #expect(ledger.newImbalance(pending: 1) == 0)
        #expect(ledger.newImbalance(pending: 0) == 1)
        ledger.fetched = 9
        #expect(ledger.fetchedImbalance == -1)
    }
}
