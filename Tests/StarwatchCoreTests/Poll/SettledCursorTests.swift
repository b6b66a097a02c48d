import StarwatchCore
import Testing

/// The end of the overlap below a cursor.
@Suite struct SettledCursorTests {
    private let newest = JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600))

    private func page(_ ids: [JWTID], more: Bool = false) throws -> Page {
        let items = ids.map { #"{"plan":{"jwtId":"\#($0.rawValue)","handleId":"h"}}"# }.joined(separator: ",")
        return try PageDecoder(
            dialect: .endorser,
            validation: .lenient,
            quarantine: false
        ).decode(Array(#"{"data":[\#(items)],"hitLimit":\#(more)}"#.utf8))
    }

    private func walk(
        cursor: JWTID?,
        resume: OpenWalk? = nil,
        mode: PageWalk.Mode = .poll,
        isSettled: Bool = false
    ) -> PageWalk {
        PageWalk(
            dialect: .endorser,
            mode: mode,
            cursor: cursor,
            resume: resume,
            chunks: 1,
            isSettled: isSettled
        )
    }

    /// 30 s after the newest identifier nothing below it can appear any more.
    @Test(arguments: [(0, false), (30, false), (31, true), (900, true)])
    func aCursorSettlesWhenTheServerHasReadThePageLateEnough(seconds: Int, isSettled: Bool) throws {
        var walk = walk(cursor: nil)
        _ = try walk.receive(page([newest]), askedAt: nil, readSince: newest.timestamp + .seconds(seconds))
        #expect(walk.settledCursor == (isSettled ? newest : nil))
    }

    @Test func anUnknownTimeSettlesNothing() throws {
        var walk = walk(cursor: nil)
        _ = try walk.receive(page([newest]), askedAt: newest.timestamp + .seconds(900), readSince: nil)
        #expect(walk.settledCursor == nil)
    }

    @Test func theEarliestPageCounts() throws {
        let older = JWTID.floor(.ulid, at: newest.timestamp - .seconds(5))
        var walk = walk(cursor: nil)
        _ = try walk.receive(page([newest], more: true), askedAt: nil, readSince: newest.timestamp + .seconds(29))
        #expect(walk.settledCursor == nil)
        _ = try walk.receive(page([older]), askedAt: nil, readSince: newest.timestamp + .seconds(60))
        #expect(walk.isComplete && walk.settledCursor == nil)
    }

    @Test func aResumedWalkAndABootstrapSettleNothing() throws {
        let late = newest.timestamp + .seconds(900)
        let open = OpenWalk(top: newest, before: newest, after: nil)
        var resumed = walk(cursor: nil, resume: open)
        _ = try resumed.receive(page([]), askedAt: nil, readSince: late)
        #expect(resumed.isComplete && resumed.settledCursor == nil)
        var bootstrap = walk(cursor: nil, mode: .bootstrap)
        _ = try bootstrap.receive(page([newest]), askedAt: nil, readSince: late)
        #expect(bootstrap.isComplete && bootstrap.settledCursor == nil)
    }

    @Test func aSettledCursorIsTheLowerEndAndStaysWhileNothingComes() throws {
        var walk = walk(cursor: newest, isSettled: true)
        #expect(walk.next(limit: nil)?.query.after == newest)
        _ = try walk.receive(page([]), askedAt: nil, readSince: newest.timestamp + .seconds(900))
        #expect(walk.settledCursor == newest)
        // A server whose clock was set back can give out smaller identifiers again.
        var back = self.walk(cursor: newest, isSettled: true)
        _ = try back.receive(page([]), askedAt: nil, readSince: newest.timestamp + .seconds(10))
        #expect(back.settledCursor == nil)
    }

    @Test func withoutItTheOverlapIsFetched() {
        var walk = walk(cursor: newest)
        #expect(walk.next(limit: nil)?.query.after == Dialect.endorser.overlap(below: newest))
    }

    @Test func theCanonicalDialectKeepsItsOverlap() throws {
        let id = JWTID.floor(.timestamped, at: newest.timestamp)
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: id, resume: nil, chunks: 1)
        _ = try walk.receive(.none, askedAt: nil, readSince: newest.timestamp + .seconds(900))
        #expect(walk.isComplete && walk.settledCursor == nil)
    }
}
