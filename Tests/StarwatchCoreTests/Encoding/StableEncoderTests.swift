import FoundationEssentials
import StarwatchCore
import Testing

@Suite struct StableEncoderTests {
    private struct Link: Encodable {
        let z = "a/b"
        let a: Int? = nil
        let m = 1
    }

    @Test func keysAreSortedAndSlashesAreNotEscaped() throws {
        #expect(String(decoding: try JSONEncoder.stable().encode(Link()), as: UTF8.self) == #"{"m":1,"z":"a/b"}"#)
    }

    @Test func prettyOutputHasOneKeyPerLine() throws {
        let text = String(decoding: try JSONEncoder.stable(isPretty: true).encode(Link()), as: UTF8.self)
        #expect(text.split(separator: "\n").map { $0.filter { $0 != " " } } == ["{", #""m":1,"#, #""z":"a/b""#, "}"])
    }

    @Test(arguments: [[], [""], ["a"], ["a/b", "żółw", "a]b", "a,b"]]) func plainTextsAreThoseThatWereEncoded(
        _ texts: [String]
    ) {
        #expect(StableJSON.plainTexts(in: StableJSON.text(of: texts)) == texts)
    }

    @Test(arguments: [
        "", "[", "]", "{}", "[1]", "[\"a\"", "[\"a\\n\"]", "[\"a\" ]", "[ \"a\"]", "[\"a\"\"b\"]", "[\"a\",]",
        "[,\"a\"]",
        "[\"a\nb\"]", "[\"a]", "[[\"a\"]]", "null",
    ]) func otherJSONHasNoPlainTexts(_ json: String) {
        #expect(StableJSON.plainTexts(in: json) == nil)
    }
}
