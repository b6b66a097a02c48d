import Testing

@testable import StarwatchTelemetry

/// Checks that no entry is lost: each is written, or counted in exactly one summary.
@Suite struct LogFolderPropertyTests {
    @Test(arguments: 0..<20 as Range<UInt64>, [LogFolder.Reader.log, .blackBox])
    func everyEntryIsWrittenOrReportedOnce(seed: UInt64, reader: LogFolder.Reader) {
        var random = SplitMix(state: seed)
        var folder = LogFolder(for: reader)
        var now: Int64 = 1_000_000
        var (given, written, reported) = ([String: Int](), [String: Int](), [String: Int]())
        func note(_ summaries: [LogEntry]) {
            for summary in summaries { reported[summary.event, default: 0] += suppressed(summary) }
        }
        for _ in 0..<3000 {
            // Mostly small steps, sometimes large ones, sometimes the clock goes back.
            now += Int64.random(in: 0...2000, using: &random)
            if Int.random(in: 0..<200, using: &random) == 0 {
                now += Int64.random(in: -90_000...90_000, using: &random)
            }
            // More keys than the folder remembers.
            var entry = LogEntry(
                timestampMilliseconds: now,
                severity: LogSeverity.allCases.randomElement(using: &random)!,
                event: "e\(Int.random(in: 0..<100, using: &random) % Int.random(in: 1...100, using: &random))"
            )
            entry.mayFold = Int.random(in: 0..<20, using: &random) > 0
            given[entry.event, default: 0] += 1
            let (isWritten, summaries) = folder.take(entry)
            note(summaries)
            if isWritten { written[entry.event, default: 0] += 1 }
            #expect(entry.mayFold || isWritten)
            if Int.random(in: 0..<50, using: &random) == 0 { note(folder.expire(at: now)) }
            #expect(folder.count <= LogFolder.capacity)
        }
        note(folder.report(at: now))
        #expect(written.merging(reported, uniquingKeysWith: +) == given, "seed \(seed)")
        #expect(reported.values.reduce(0, +) > 100, "seed \(seed): nothing was folded")
    }

    /// A remembered summary is no longer than its key, so 64 keys need 512 KiB at most.
    @Test func entriesWithLongKeysAreWritten() {
        for (length, isFolded) in [(4000, true), (LogFolder.longestKeyBytes + 1, false)] {
            var folder = LogFolder()
            for severity in LogSeverity.allCases {
                let entry = LogEntry(
                    timestampMilliseconds: 0,
                    severity: severity,
                    event: "e",
                    error: String(repeating: "x", count: length)
                )
                #expect(folder.take(entry).isWritten)
                #expect(folder.take(entry).isWritten == !isFolded)
            }
            #expect(folder.count == (isFolded ? 4 : 0))
        }
    }

    private func suppressed(_ entry: LogEntry) -> Int {
        guard let count = entry.counts.last, count.name == "suppressed", case .integer(let value) = count.value else {
            Issue.record("a summary without a count")
            return 0
        }
        return Int(value)
    }
}
