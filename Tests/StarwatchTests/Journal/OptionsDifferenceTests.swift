import StarwatchCore
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
        options.delivery.catalogues = catalogues(room: room)
        return options
    }

    /// The built-in catalogues, added in another order for each room.
    private func catalogues(room: Int) -> MessageCatalogues {
        let texts = (0..<8).map { #"{"feature_changes": "{count, plural, =\#($0) {a} one {b} other {c}}"}"# }
        let tags = ["de", "fr", "es", "it", "nl", "sv", "da", "fi"].compactMap { LocaleTag($0) }
        let made = zip(tags, texts).compactMap { try? MessageCatalogue($0, json: $1.utf8) }
        return MessageCatalogues.builtIn.adding(room > 100 ? made.reversed() : made)
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
