import Testing

@testable import Starwatch

@Suite struct FeedEventParserTests {
    private static let text = """
        retry: 2000
        id: 6

        : heartbeat

        id: 7
        event: notification
        data: {"a":"é"}

        event: gap
        data: {"after":7,
        data: "before":9}


        """

    @Test(arguments: [1, 2, 3, 7, 1000])
    func whereverItIsCutTheEventsAreTheSame(size: Int) {
        var parser = FeedEventParser()
        let bytes = Array(Self.text.utf8)
        var events: [FeedEvent] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += parser.take(bytes[start..<min(start + size, bytes.count)]) ?? []
        }
        #expect(
            events == [
                FeedEvent(sequence: 6, name: "message", data: ""),
                FeedEvent(sequence: 7, name: "notification", data: "{\"a\":\"é\"}"),
                FeedEvent(sequence: nil, name: "gap", data: "{\"after\":7,\n\"before\":9}"),
            ]
        )
    }

    @Test func aLineWithoutEndIsNotKeptForEver() {
        var parser = FeedEventParser()
        let piece = [UInt8](repeating: 97, count: FeedEventParser.lineLimitBytes / 2 + 1)
        let (first, second) = (parser.take(piece), parser.take(piece))
        #expect(first != nil)
        #expect(second == nil)
    }
}
