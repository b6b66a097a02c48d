import Foundation
import StarwatchCore
import Testing

/// The results of reading pages are those of earlier releases, which read them with Foundation's decoder.
///
/// They wrote `Fixtures/page_results.txt`. A changed line is a page that is now read in another way.
@Suite struct PageResultTests {
    @Test func pagesAreReadAsBefore() throws {
        let expected = try String(contentsOf: PageResults.file, encoding: .utf8).split(separator: "\n").map(String.init)
        let found = try PageResults.lines()
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) where found != expected {
            Issue.record("now    \(found)\nbefore \(expected)")
        }
    }
}

/// Results of reading the fuzzing corpus, the fixtures, and mutations of both.
enum PageResults {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let corpus = tests.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fuzz/Corpus/page")
    static let file = tests.appending(path: "Fixtures/page_results.txt")

    static func lines() throws -> [String] {
        var inputs: [(name: String, bytes: [UInt8])] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted() {
            inputs.append((name, Array(try Data(contentsOf: corpus.appending(path: name)))))
        }
        for fixture in GoldenFixture.allCases { inputs.append((fixture.rawValue + ".json", try fixture.bytes())) }
        var lines = inputs.flatMap { input in
            variants.map { "\(input.name), \($0.name): \($0.read(input.bytes))" } + [
                "\(input.name): \(detections(input.bytes))"
            ]
        }
        let seeds = inputs.map(\.bytes).filter { (100..<4000).contains($0.count) }
        var random = SplitMix64(seed: 26)
        for block in 0..<20 {
            var digest = Digest()
            for _ in 0..<100 {
                let bytes = mutation(of: seeds, &random)
                for variant in variants { digest.add(variant.read(bytes)) }
                digest.add(detections(bytes))
            }
            lines.append("mutations \(block): \(digest)")
        }
        return lines
    }

    private struct Variant {
        let dialect: Dialect
        let kind: PollKind
        let validation: Validation
        let quarantine: Bool

        var name: String { "\(dialect) \(kind.preference) \(validation)\(quarantine ? " quarantine" : "")" }

        func read(_ bytes: [UInt8]) -> String {
            do throws(PageRejection) {
                let page = try PageDecoder(
                    dialect: dialect,
                    kind: kind,
                    validation: validation,
                    quarantine: quarantine,
                    latest: Timestamp(seconds: 1_780_000_000)
                ).decode(bytes)
                return "\(page.changes.count) changes, \(summary(page.issues)) \(Digest(of: page))"
            } catch {
                return "\(error.violation), \(summary(error.issues))"
            }
        }

        private func summary(_ issues: [ValidationIssue]) -> String {
            var digest = Digest()
            for issue in issues { digest.add("\(issue)") }
            return "\(issues.prefix(3)) " + (issues.count > 3 ? "\(issues.count) issues \(digest)" : "")
        }
    }

    private static let variants = Dialect.allCases.flatMap { dialect in
        [PollKind.starredProjects, .offersToMe].flatMap { kind in
            Validation.allCases.flatMap { validation in
                [false, true].map {
                    Variant(dialect: dialect, kind: kind, validation: validation, quarantine: $0)
                }
            }
        }
    }

    /// Dialects that the bytes reveal. Only earlier releases looked for one in bytes that are not UTF-8.
    private static func detections(_ bytes: [UInt8]) -> String {
        guard String(validating: bytes, as: UTF8.self) != nil else { return "not UTF-8" }
        return [PollKind.starredProjects, .offersToMe].map { "\(PageDecoder.detect(bytes, of: $0))" }
            .joined(separator: " ").replacing("StarwatchCore.Dialect.", with: "")
    }

    private static let words = [
        "null", "true", "7", "1e999", "-0", "1.50", "01", "\"\"", "\\u00e9", "\\ud800", "\\q", "\t", "é", ",", "{}",
        "[]",
        "\"x\\q\":", "\"n\\u0061me\":", "\"name\":", "\"data\":", "\"claim\":", "\"jwtId\":", "\"locLat\":",
        "\"claimData\":",
    ]

    private static func mutation(of seeds: [[UInt8]], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = seeds.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            // Between two parts, mostly, so that many mutations stay JSON.
            let borders = bytes.indices.filter { ":,{}[]\"".utf8.contains(bytes[$0]) }
            guard let start = borders.randomElement(using: &random) else { continue }
            let end = borders.first { $0 > start } ?? bytes.count
            let word = Array(words.randomElement(using: &random)!.utf8)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: word, at: start + 1)
            default: bytes.replaceSubrange(start + 1..<max(end, start + 1), with: word)
            }
        }
        return bytes
    }

    /// FNV-1a of all that a page has.
    private struct Digest: CustomStringConvertible {
        private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var description: String { String(hash, radix: 16) }

        init() {}

        init(of page: Page) {
            for fetched in page.changes {
                let change = fetched.change
                for text in [change.id.rawValue, change.plan, change.name, "\(change.isOffer)"] { add(text) }
                for field in PlanDetails.Field.allCases { add(fetched.details?[field]) }
                // Earlier releases dropped the fields of a claim that are no details of a plan.
                let changes = (fetched.claimedChanges ?? [:]).filter { ClaimField(rawValue: $0.key) == nil }
                for (field, texts) in changes.sorted(by: { $0.key < $1.key }) {
                    for text in [field, texts.before, texts.after] { add(text) }
                }
            }
            add(
                "\(page.hasMore) \(page.nextAfter?.rawValue ?? "") \(page.fetched) \(page.hasPagination) \(page.reordered)"
            )
            for refused in page.refused {
                add("\(refused.violation) \(refused.id?.rawValue ?? "") \(refused.fingerprint)")
            }
        }

        mutating func add(_ text: String?) {
            for byte in (text.map { $0 + "." } ?? "-").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }
}
