import Crypto
import Foundation

@testable import StarwatchStore

extension FuzzTarget {
    private static let key = SymmetricKey(data: Array("0123456789abcdef0123456789abcdef".utf8))

    /// A stored value is parsed or refused; a parsed one survives being written again, and opens only if it was sealed with
    /// this key for this place.
    static let sealedValue = FuzzTarget(
        name: "sealed-value",
        words: ["\"sw1.", "\"sw2.", "\"", "SW\u{1}", "SW\u{2}", "AAAB", "====", "+/+/", "\u{0}\u{0}\u{1}"],
        tries: 20_000
    ) { input in
        if let value = SealedValue(text: input.text) {
            if SealedValue(text: value.text) != value { return "another value from its own text" }
            if let problem = opened(value) { return problem }
        }
        if let value = SealedValue(blob: Data(input)) {
            if SealedValue(blob: value.blob) != value { return "another value from its own blob" }
            if let problem = opened(value) { return problem }
        }
        // What is sealed opens in its place, and nowhere else.
        guard let sealed = try? SealedValue.seal(input, with: key, id: 1, .outboxName, row: "1/a") else {
            return "not sealed"
        }
        guard let again = SealedValue(text: sealed.text), SealedValue(blob: sealed.blob) == sealed else {
            return "its own form is refused"
        }
        if (try? again.open(with: key, .outboxName, row: "1/a")) != Data(input) { return "another content" }
        if (try? again.open(with: key, .outboxName, row: "1/b")) != nil { return "opened in another row" }
        if (try? again.open(with: key, .outboxPlan, row: "1/a")) != nil { return "opened in another column" }
        return nil
    }

    private static func opened(_ value: SealedValue) -> String? {
        return (try? value.open(with: key, .outboxName, row: "1/a")) == nil ? nil : "opened what nobody sealed"
    }

    /// The content of a key file is one key or none, and a key has one content.
    static let masterKey = FuzzTarget(
        name: "master-key",
        words: ["=", "\n", "\r\n", "AAAAAAAAAAAAAAAA", "+/", "-_", "\u{feff}"],
        tries: 20_000
    ) { input in
        guard let key = MasterKey(text: input) else { return nil }
        let content = Array(key.text.utf8)
        if MasterKey(text: content)?.id != key.id { return "another key from its own content" }
        let line = input.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed()
        if !line.elementsEqual(content.dropLast()) { return "two contents of one key" }
        return "\(key)".contains(key.text.dropLast(4)) ? "it prints itself" : nil
    }
}
