import Testing

@testable import StarwatchCore

@Suite struct ProblemHistoryTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    @Test func eachProblemBeginsOnceEndsOnceAndKeepsItsStart() {
        var history = ProblemHistory()
        let sink = Problem(.sinkRejecting, of: "hook", "sink hook rejects everything")
        let letters = Problem(.deadLetters, "1 dead letter")
        let first = history.follow([sink], now: start)
        #expect(first.dated.map(\.since) == [start])
        #expect(first.began.map(\.word) == ["sink_rejecting:hook"] && first.ended.isEmpty)

        // Its words can change: it is still the same problem.
        let worse = Problem(.deadLetters, "2 dead letters")
        let second = history.follow([sink, letters], now: start + .seconds(60))
        let third = history.follow([sink, worse], now: start + .seconds(120))
        #expect(second.dated.map(\.since) == [start, start + .seconds(60)])
        #expect(third.dated.map(\.since) == [start, start + .seconds(60)])
        #expect(third.began.isEmpty && third.ended.isEmpty)

        let fourth = history.follow([worse], now: start + .seconds(180))
        #expect(fourth.began.isEmpty && fourth.ended.map(\.word) == ["sink_rejecting:hook"])
        let fifth = history.follow([sink, worse], now: start + .seconds(240))
        #expect(
            fifth.dated[0].since == start + .seconds(240) && fifth.began.map(\.word) == ["sink_rejecting:hook"]
        )
    }

    @Test func aKnownStartCountsMoreThanTheFirstLook() {
        var history = ProblemHistory()
        let stale = Problem(.stale, of: "stars", "poll stars is stale", since: start - .seconds(3600))
        #expect(history.follow([stale], now: start).dated == [stale])
    }

    /// A database that cannot be read says nothing of the rows in it.
    @Test func whatCouldNotBeLookedForDoesNotEnd() {
        var history = ProblemHistory()
        let letters = Problem(.deadLetters, "1 dead letter")
        let store = Problem(.storeUnavailable, "the database fails")
        _ = history.follow([letters], now: start)
        let blind = history.follow([store], isComplete: false, now: start + .seconds(30))
        #expect(blind.began == blind.dated && blind.ended.isEmpty)
        let seeing = history.follow([letters], now: start + .seconds(60))
        #expect(seeing.began.isEmpty && seeing.ended.map(\.word) == ["store_unavailable"])
        #expect(seeing.dated[0].since == start)
    }

    /// Every surface shows the words and sentences of one list.
    @Test func everyKindHasItsOwnWordAndSaysWhatItMeans() {
        let kinds = Problem.Kind.allCases
        #expect(Set(kinds.map(\.rawValue)).count == kinds.count)
        for kind in kinds {
            #expect(kind.meaning.hasSuffix(".") && !kind.meaning.contains("  "), "\(kind)")
            #expect(
                Problem(kind, of: "x", "x").command?.hasPrefix("starwatch ") ?? (kind == .ledgerImbalance),
                "\(kind)"
            )
        }
    }
}
