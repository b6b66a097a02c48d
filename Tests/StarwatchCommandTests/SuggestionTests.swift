import Testing

@testable import StarwatchCommand

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("timout", "timeout"), ("tiemout", "timeout"), ("Timeout", "timeout"), ("time-out", "timeout"),
        ("max_responses", "max_response"), ("ulr", "url"), ("dialekt", "dialect"),
    ])
    func aSlipIsRecognised(_ word: String, _ meant: String) {
        #expect(Suggestion.nearest(to: word, among: ["url", "dialect", "timeout", "max_response"]) == meant)
    }

    @Test(arguments: ["x", "colour", "abc", ""])
    func anotherWordIsNotASlip(_ word: String) {
        #expect(Suggestion.nearest(to: word, among: ["url", "dialect", "timeout"]) == nil)
    }

    @Test func distancesCountEdits() {
        #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
        #expect(Suggestion.distance(Array("ab"), Array("ba")) == 1)
        #expect(Suggestion.distance([], Array("abc")) == 3)
        #expect(Suggestion.distance(Array("abc"), Array("abc")) == 0)
    }
}
