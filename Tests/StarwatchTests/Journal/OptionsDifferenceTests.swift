import Testing

@testable import Starwatch

/// The hash and the names of changed settings, which the journal, the log and the black box show.
@Suite struct OptionsDifferenceTests {
    private let differences = OptionsDifference(key: [1], settings: nil)

    /// Options whose headers have room for so many entries. Room decides the order of a dictionary, as a process does.
    private func options(room: Int, value: String = "x") -> AgentOptions {
        var headers = [String: String](minimumCapacity: room)
        for number in 0..<20 { headers["header-\(number)"] = value }
        var fetch = FetchOptions(url: "https://example.org")
        fetch.headers = headers
        var options = AgentOptions()
        options.callbacks.heartbeat = fetch
        return options
    }

    private struct Nested {
        var values: [String: [Int]]
        var words: Set<String>
        var choice: Choice
    }

    private enum Choice {
        case some([String: Int])
    }

    private func nested(room: Int) -> Nested {
        var (values, words) = ([String: [Int]](minimumCapacity: room), Set<String>(minimumCapacity: room))
        var counts = [String: Int](minimumCapacity: room)
        for number in 0..<20 {
            values["value-\(number)"] = [number, 1]
            words.insert("word-\(number)")
            counts["count-\(number)"] = number
        }
        return Nested(values: values, words: words, choice: .some(counts))
    }

    @Test(arguments: [64, 300, 5000]) func aTextDoesNotDependOnTheOrderOfNestedDictionariesAndSets(room: Int) {
        let first = nested(room: 0)
        #expect(OptionsDifference.text(of: nested(room: room)) == OptionsDifference.text(of: first))
        var next = first
        next.values["value-3"] = [1, 3]
        #expect(OptionsDifference.text(of: next) != OptionsDifference.text(of: first))
    }

    @Test func equalOptionsHaveOneHashWhateverTheOrderOfTheirDictionaries() {
        let first = options(room: 0)
        for room in [64, 300, 5000] {
            #expect(options(room: room) == first)
            #expect(differences.hash(options(room: room)) == differences.hash(first))
            #expect(differences.names(first, options(room: room)).isEmpty)
        }
    }

    @Test func aChangedHeaderChangesTheHash() {
        let (first, next) = (options(room: 0), options(room: 0, value: "y"))
        #expect(differences.hash(first) != differences.hash(next))
        #expect(differences.names(first, next) == ["callbacks.heartbeat.headers"])
    }
}
