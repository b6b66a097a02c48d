import Testing

@testable import StarwatchCore

@Suite struct JSONPointerTests {
    @Test(arguments: [
        ("", "whole"), ("/a", "list"), ("/a/1", "two"), ("/m~1n", "slash"), ("/m~0n", "tilde"), ("/", "blank"),
    ])
    func aPointerFindsItsValue(pointer: String, expected: String) throws {
        let tree: JSONTree = ["a": ["one", "two"], "m/n": "slash", "m~n": "tilde", "": "blank"]
        let found = try #require(JSONPointer(pointer)?.value(in: tree))
        switch expected {
        case "whole": #expect(found == tree)
        case "list": #expect(found == ["one", "two"])
        default: #expect(found.scalar == expected)
        }
    }

    @Test(arguments: ["/b", "/a/2", "/a/01", "/a/-1", "/a/x", "/a/0/b"])
    func aPlaceThatIsNotThereHasNoValue(pointer: String) throws {
        #expect(try #require(JSONPointer(pointer)).value(in: ["a": ["one", "two"]]) == nil)
    }

    @Test(arguments: ["a", "a/b", "/~", "/~2", "/a~", "#/a"])
    func aTextThatIsNoPointerSaysWhatToDo(text: String) throws {
        #expect(JSONPointer(text) == nil)
        #expect(try #require(JSONPointer.problem(of: text)).hasSuffix("."))
    }
}
