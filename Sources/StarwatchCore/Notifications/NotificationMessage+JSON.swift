import FoundationEssentials

extension NotificationMessage {
    /// JSON with sorted keys, so that every attempt sends the same bytes: those of ``StableJSON``.
    ///
    /// Foundation's encoder takes 71,000 instructions instead of 9,000 for a change of a backlog (`Benchmarks/poll backlog`).
    public func json() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024 + changes.count * 512)
        JSONQuotes.append(object: CodingKeys.sorted, to: &bytes, append)
        return bytes
    }

    /// Decodes the output of ``json()``, also of an older version; `nil` for other bytes.
    public init?(json: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = message
    }

    private func append(_ key: CodingKeys, to bytes: inout [UInt8]) {
        let name = key.rawValue
        switch key {
        case .id: JSONQuotes.append(name, id, to: &bytes)
        case .runID: JSONQuotes.append(name, runID, to: &bytes)
        case .poll: JSONQuotes.append(name, poll, to: &bytes)
        case .polls: JSONQuotes.append(name, list: polls, to: &bytes)
        case .group: JSONQuotes.append(name, group.rawValue, to: &bytes)
        case .collapseKey: JSONQuotes.append(name, collapseKey, to: &bytes)
        case .count: JSONQuotes.append(name, plain: count, to: &bytes)
        case .part: JSONQuotes.append(name, plain: part, to: &bytes)
        case .parts: JSONQuotes.append(name, plain: parts, to: &bytes)
        case .total: JSONQuotes.append(name, plain: total, to: &bytes)
        case .title: JSONQuotes.append(name, title, to: &bytes)
        case .body: JSONQuotes.append(name, body, to: &bytes)
        case .locale: JSONQuotes.append(name, locale, to: &bytes)
        case .createdAt: JSONQuotes.append(name, createdAt, to: &bytes)
        case .deepLink: JSONQuotes.append(name, deepLink, to: &bytes)
        case .actions: JSONQuotes.append(name, list: actions, to: &bytes)
        case .actionLabels: JSONQuotes.append(name, texts: actionLabels, to: &bytes)
        case .repeats: JSONQuotes.append(name, repeats, to: &bytes)
        case .priority: JSONQuotes.append(name, priority, to: &bytes)
        case .cleared: JSONQuotes.append(name, plain: cleared, to: &bytes)
        case .canary: JSONQuotes.append(name, plain: canary, to: &bytes)
        case .problem: JSONQuotes.append(name, problem, to: &bytes)
        case .account: JSONQuotes.append(name, account, to: &bytes)
        case .changes:
            JSONQuotes.appendName(name, to: &bytes)
            JSONQuotes.append(array: changes, to: &bytes) { item, bytes in
                JSONQuotes.append(object: Item.CodingKeys.sorted, to: &bytes, item.append)
            }
        }
    }
}

extension NotificationMessage.Item {
    fileprivate func append(_ key: CodingKeys, to bytes: inout [UInt8]) {
        let name = key.rawValue
        switch key {
        case .jwtID: JSONQuotes.append(name, jwtID, to: &bytes)
        case .plan: JSONQuotes.append(name, plan, to: &bytes)
        case .name: JSONQuotes.append(name, self.name, to: &bytes)
        case .changedAt: JSONQuotes.append(name, changedAt, to: &bytes)
        case .changed:
            guard let changed else { return }
            JSONQuotes.appendName(name, to: &bytes)
            bytes.append(contentsOf: changed.stored.utf8)
        case .edited: JSONQuotes.append(name, plain: edited, to: &bytes)
        case .fulfillsOffer: JSONQuotes.append(name, plain: fulfillsOffer, to: &bytes)
        case .poll: JSONQuotes.append(name, poll, to: &bytes)
        case .link: JSONQuotes.append(name, link, to: &bytes)
        case .values: JSONQuotes.append(name, texts: values, to: &bytes)
        }
    }
}

extension NotificationMessage.CodingKeys {
    fileprivate static let sorted = allCases.sorted { $0.rawValue < $1.rawValue }
}

extension NotificationMessage.Item.CodingKeys {
    fileprivate static let sorted = allCases.sorted { $0.rawValue < $1.rawValue }
}
