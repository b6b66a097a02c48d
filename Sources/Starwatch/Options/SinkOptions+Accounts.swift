/// A part of a sink's address that each of many accounts can bring, by its name in `accounts add`.
package enum SinkAddressPart: String, Sendable, CaseIterable {
    case url, room, topic, to, secret
}

extension SinkOptions {
    /// Whether each of many accounts brings a part of the address, because the configuration leaves it out.
    package var isOfAccounts: Bool { !partsOfAccounts.needed.isEmpty }

    /// The parts that each account brings: those that a request needs and the configuration leaves out, and those that an
    /// account can add to them. Nothing of a sink with a whole address.
    package var partsOfAccounts: (needed: [SinkAddressPart], optional: [SinkAddressPart]) {
        var (needed, optional): ([SinkAddressPart], [SinkAddressPart]) = ([], [])
        switch kind {
        case .stdout, .log, .feed, .file, .command: break
        case .webhook(let url, let secretFile, _):
            if url.isEmpty { needed.append(.url) }
            if secretFile == nil { optional.append(.secret) }
        case .ntfy(let url, let topic, let tokenFile):
            if url.isEmpty { needed.append(.url) }
            if topic.isEmpty { needed.append(.topic) }
            if tokenFile == nil { optional.append(.secret) }
        case .email(let mail):
            if mail.to.isEmpty { needed.append(.to) }
        case .chat(let chat):
            if chat.address == .standard, chat.service.standardURL == nil { needed.append(.url) }
            if chat.service.needsRoom, chat.room == nil { needed.append(.room) }
            if chat.service.needsToken, chat.tokenFile == nil { needed.append(.secret) }
        }
        return needed.isEmpty ? ([], []) : (needed, optional)
    }
}
