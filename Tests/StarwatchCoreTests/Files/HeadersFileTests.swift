import Testing

@testable import StarwatchCore

@Suite struct HeadersFileTests {
    private func headers(_ text: String) throws -> [String] {
        try HeadersFile.parse(Array(text.utf8)).map { "\($0.name)=\($0.value)" }
    }

    private func advice(_ text: String) -> String? {
        do throws(SecretContent.Mistake) {
            _ = try HeadersFile.parse(Array(text.utf8))
            return nil
        } catch { return error.advice }
    }

    @Test func eachLineIsAHeader() throws {
        #expect(
            try headers("\u{FEFF}Authorization: Bearer a:b c\r\n\r\n X-Key:\t1 \n") == [
                "Authorization=Bearer a:b c", "X-Key=1",
            ]
        )
    }

    @Test(arguments: ["token", "A: 1\n\n# a comment: of a kind\nB: 2", ": 1", "A b: 1", "Ä: 1"])
    func aLineWithoutANameIsRefused(text: String) {
        #expect(advice(text)?.hasSuffix("must be Name: value; correct it") == true)
    }

    @Test func theLineIsNamedAndNotRepeated() {
        #expect(advice("\n\nA: 1\nhunter2\n") == "line 4 must be Name: value; correct it")
    }

    @Test(arguments: ["A:", "A: \u{7}x", "A: ü", "A: x\u{0}y", "A: " + String(repeating: "x", count: 8001)])
    func aValueIsPrintableAndNotTooLong(text: String) {
        #expect(
            advice(text) == "line 1 must have a value of 1 to 8000 printable ASCII characters; correct it"
        )
    }

    @Test(arguments: [
        "Host", "content-length", "Transfer-Encoding", "CONNECTION", "Range", "If-None-Match", "If-Modified-Since",
    ])
    func aHeaderOfTheAgentIsRefused(name: String) {
        #expect(advice("\(name): 1") == "line 1 has a header that the agent sets itself; remove it")
    }

    @Test func aNameIsThereOnce() {
        #expect(advice("A: 1\na: 2") == "line 2 has the name of an earlier header; remove one")
    }

    @Test func thereAreAtMostTwentyHeaders() {
        let lines = (1...21).map { "H\($0): 1" }
        #expect(advice(lines.dropLast().joined(separator: "\n")) == nil)
        #expect(advice(lines.joined(separator: "\n")) == "it must have at most 20 headers; remove the others")
    }

    @Test(arguments: ["", "\n \r\n", "\u{FEFF}\n"]) func nothingIsNoHeader(text: String) {
        #expect(advice(text) == "it is empty; check the path")
    }
}
