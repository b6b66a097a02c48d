import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

extension SinkOptions {
    /// Returns what is wrong with an account's address for the sink of a name, in one sentence; `nil` if it can be stored and
    /// used.
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
        return address.flatMap(sink.problem)
    }

    /// The same of a sink that takes addresses.
    func problem(of address: SinkAddress) -> String? {
        let (given, parts) = (address.parts, partsOfAccounts)
        if let extra = given.first(where: { !parts.needed.contains($0) && !parts.optional.contains($0) }) {
            return "The sink \(name) takes no \(extra.rawValue) of an account; leave it out."
        }
        if let missing = parts.needed.first(where: { !given.contains($0) }) {
            return "The sink \(name) needs the \(missing.rawValue) of the account; add it."
        }
        return given.lazy.compactMap { part in
            let text = address[part] ?? ""
            let problem =
                (1...4096).contains(text.utf8.count)
                ? kind.type.problem(of: part, text, in: self) : "must have 1 to 4,096 bytes."
            return problem.map { "The \(part.rawValue) for the sink \(name) \($0)" }
        }.first
    }

    /// Returns whether the sink uses an account's address; `nil` if it takes none.
    var takesAddress: (@Sendable (SinkAddress) -> Bool)? {
        guard isOfAccounts else { return nil }
        return { problem(of: $0) == nil }
    }
}

extension SinkAddress {
    private static let limitBytes = 65_536

    /// Reads the file with the address that an account brings for a sink, for a command.
    ///
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
