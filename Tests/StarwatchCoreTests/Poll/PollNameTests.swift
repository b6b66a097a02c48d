import StarwatchCore
import Testing

@Suite struct PollNameTests {
    @Test(arguments: ["a", "starred_projects", "p2", "a" + String(repeating: "_", count: 62)])
    func namesAreLabelValues(text: String) {
        #expect(PollName(text)?.rawValue == text)
    }

    @Test(arguments: ["", "A", "1a", "_a", "a-b", "a b", "é", "aé", "a" + String(repeating: "_", count: 63), "a\"}"])
    func otherTextsAreRejected(text: String) {
        #expect(PollName(text) == nil)
    }
}
