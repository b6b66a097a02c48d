import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// The rules of the addresses that accounts bring. No sentence repeats a value, which can be a secret.
enum SinkAddressRule {
    /// Returns what is wrong with an account's address for a sink, in one sentence; `nil` if it can be stored and used.
    ///
    /// - Parameter address: `nil` takes the stored one away.
    static func problem(of address: SinkAddress?, for name: String, among sinks: [SinkOptions]) -> String? {
        guard let sink = sinks.first(where: { $0.name == name }) else {
            let names = sinks.filter(\.isOfAccounts).map(\.name)
            return names.isEmpty
                ? "No sink takes an address of an account; leave out the address of one in the configuration."
                : "There is no sink of that name; those that take an address are \(names.joined(separator: ", "))."
        }
        guard sink.isOfAccounts else {
            return
                "The sink \(name) takes no address of an account; leave it out, or remove its own in the configuration."
        }
        guard let address else { return nil }
        return problem(of: address, for: sink)
    }

    /// The same of a sink that takes addresses.
    static func problem(of address: SinkAddress, for sink: SinkOptions) -> String? {
        let (given, parts, name) = (address.parts, sink.partsOfAccounts, sink.name)
        if let extra = given.first(where: { !parts.needed.contains($0) && !parts.optional.contains($0) }) {
            return "The sink \(name) takes no \(extra.rawValue) of an account; leave it out."
        }
        if let missing = parts.needed.first(where: { !given.contains($0) }) {
            return "The sink \(name) needs the \(missing.rawValue) of the account; add it."
        }
        return given.lazy.compactMap { problem(of: $0, address[$0] ?? "", for: sink) }.first
    }

    private static func problem(of part: SinkAddressPart, _ text: String, for sink: SinkOptions) -> String? {
        let subject = "The \(part.rawValue) for the sink \(sink.name)"
        guard (1...4096).contains(text.utf8.count) else { return "\(subject) must have 1 to 4,096 bytes." }
        switch part {
        case .url:
            guard isWord(text), SinkURL.isGood(text) else {
                return """
                    \(subject) must be a URL that starts with https://, without user and password; http:// is allowed to this \
                    machine only.
                    """
            }
            guard case .chat(let chat) = sink.kind else { return nil }
            return ChatAddress.problem(of: text, for: chat.service).map { "\(subject) \($0)" }
        case .room:
            guard isWord(text), text.utf8.count <= 255 else {
                return "\(subject) must be the id that the service shows, without spaces."
            }
            guard case .chat(let chat) = sink.kind else { return nil }
            return ChatAddress.problem(ofRoom: text, for: chat.service).map { "\(subject) \($0)" }
        case .topic:
            if case .chat = sink.kind {
                return Int(text).map { ChatOptions.topics.contains($0) } == true
                    ? nil : "\(subject) must be the number of a topic in the group."
            }
            let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            return isPlain && text.utf8.count <= 64
                ? nil : "\(subject) must be letters, digits, - and _, at most 64 long."
        case .to:
            return MailAddress.problem(of: text).map { "\(subject) \($0)" }
        case .secret:
            if case .webhook = sink.kind {
                return WebhookSigner(file: Array(text.utf8)) == nil
                    ? "\(subject) must be the secret's text, or lines of whsec_ and then a secret in base64." : nil
            }
            return isWord(text) ? nil : "\(subject) must be the token that the service shows, without spaces."
        }
    }

    private static func isWord(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 && !$0.properties.isWhitespace }
    }
}

extension SinkOptions {
    /// Returns whether the sink uses an account's address; `nil` if it takes none.
    var takesAddress: (@Sendable (SinkAddress) -> Bool)? {
        guard isOfAccounts else { return nil }
        return { address in SinkAddressRule.problem(of: address, for: self) == nil }
    }
}

extension SinkAddress {
    /// The parts that the account brought.
    var parts: [SinkAddressPart] { SinkAddressPart.allCases.filter { self[$0] != nil } }

    fileprivate subscript(part: SinkAddressPart) -> String? {
        switch part {
        case .url: url
        case .room: room
        case .topic: topic
        case .to: to
        case .secret: secret
        }
    }
}

/// A file with the address that an account brings for a sink, for a command.
package enum SinkAddressFile {
    private static let limitBytes = 65_536

    /// - Throws: ``AgentError`` if others can read or own the file, or for another content. It repeats none of it.
    package static func read(_ path: String) throws(AgentError) -> SinkAddress {
        let bytes = try SecretFile(path: path, setting: "--sink", holding: .text, limitBytes: limitBytes).bytes()
        guard let address = try? JSONDecoder().decode(SinkAddress.self, from: Data(bytes)), !address.hasUnknownFields
        else {
            throw AgentError(
                .configuration,
                #"The file of --sink must be JSON such as {"url": "https://…", "secret": "…"} or {"to": "me@example.org"}; correct it."#
            )
        }
        return address
    }
}
