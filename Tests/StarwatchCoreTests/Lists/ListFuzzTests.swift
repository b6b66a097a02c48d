import Testing

@testable import StarwatchCore

/// Answers of a hostile server: whatever they are, nothing traps, and what is read keeps its promises.
@Suite struct ListFuzzTests {
    private static let values = [
        "1", "\"b\"", "null", "true", "false", "1e400", "-0", "0.5", "1767323045", "9223372036854775808", "[]",
        "{\"id\":1}",
        "\"\"", "\"\\u0000\"", "\"\\ud83d\"", "\"2026-01-01T12:00:00Z\"", "\"0000-01-01T00:00:00Z\"",
        "\"9999-12-31T23:59:60+23:59\"", "\"//evil.example/\"", "\"?a#b\"", "\"https://api.example.org:99999999999/\"",
    ]
    private static let words = ["{", "}", "[", "]", ",", ":", "\"", "\\", "[[[[[[[[", "\"id\":", "\u{0}", "\u{feff}"]

    /// A page with values of any kind, of which every third one is damaged.
    private static func answer(_ generator: inout SplitMix64) -> [UInt8] {
        func value() -> String { values.randomElement(using: &generator)! }
        let items = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            "{\"id\":\(value()),\"at\":\(value()),\"url\":\(value())}"
        }
        var bytes = Array("{\"data\":[\(items.joined(separator: ","))],\"next\":\(value())}".utf8)
        if Int.random(in: 0..<3, using: &generator) == 0 {
            let start = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 0...6, using: &generator))
            bytes.replaceSubrange(start..<end, with: words.randomElement(using: &generator)!.utf8)
        }
        return bytes
    }

    private static let list: JSONPoll = {
        var list = JSONPoll()
        (list.url, list.items) = ("https://api.example.org/items", JSONPointer("/data")!)
        (list.id, list.version) = (JSONPointer("/id")!, JSONPointer("/at"))
        (list.name, list.link) = (JSONPointer("/at"), JSONPointer("/url"))
        list.next = .url(at: JSONPointer("/next")!)
        list.since = JSONPoll.Since(parameter: "since", from: JSONPointer("/at")!)
        return list
    }()

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func noAnswerTrapsOrLeadsElsewhere(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<150 {
            let bytes = Self.answer(&generator)
            let request = ListRequest(url: Self.list.url, page: 1)
            guard case .success(let page)? = ListReader(Self.list, setsAside: true).read(bytes, of: request) else {
                continue
            }
            #expect(page.items.count + page.refused.count <= page.fetched)
            #expect(page.items.allSatisfy { (1...2048).contains($0.id.utf8.count) && $0.name?.isEmpty != true })
            if case .url(let url)? = page.next { #expect(ListURL.haveSameOrigin(url, Self.list.url)) }
            // What one walk leaves is what the next one begins with.
            var state = ListState()
            for _ in 0..<2 {
                var walk = ListWalk(Self.list, known: state, now: Timestamp(seconds: 1_767_225_600))
                #expect(walk.next()?.url.hasPrefix(Self.list.url) == true)
                try? walk.receive(page, isLastKnown: false)
                #expect(walk.commits.flatMap(\.items).count == page.items.count)
                state = walk.state
            }
        }
    }

    @Test func noLinkHeaderTraps() {
        let words = ["<", ">", ";", ",", "\"", "\\", "=", " ", "\t", "rel", "next", "/a", "é", "\u{301}"]
        var generator = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            let text = (0..<12).map { _ in words.randomElement(using: &generator)! }.joined()
            let target = LinkHeader.next(in: text)
            #expect(target.map { text.contains("<\($0)>") } ?? true)
        }
    }
}
