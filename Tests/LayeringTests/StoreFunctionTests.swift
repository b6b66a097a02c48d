import Foundation
import Testing

/// A function of the store works for one account, or it is on the list of those that work for the whole database.
///
/// A function is for an account if a parameter is the account, one of its streams, or a value that carries one. An
/// optional account does not count.
@Suite struct StoreFunctionTests {
    /// The functions for the whole database, by the reason why they need no account.
    static let ofWholeDatabase: [String: [String]] = [
        "The file, its pages, its log and its keys are shared by all accounts.": [
            "Store.close", "StoreStatus.checkPages", "StoreStatus.checkpoint", "StoreStatus.fileSizes",
            "StoreStatus.probe", "StoreStatus.rescue", "StoreStatus.whenIdle", "StoreIdentity.installation",
            "StoreKeys.changeMasterKey", "StoreKeys.decrypt", "StoreKeys.encrypt", "StoreKeys.endSigningKeys",
            "StoreKeys.replaceDataKeys",
            "StoreKeys.report", "StoreKeys.reseal", "StoreKeys.revokeSigningKey", "StoreKeys.verify",
        ],
        "The active identity is one row, and a change of it concerns the former account and the new one.": [
            "StoreIdentity.active", "StoreIdentity.seedIfEmpty", "StoreIdentity.set",
        ],
        "Without a name it hands out the active identity, or the account that left last.": ["StoreMoves.handOut"],
        "It finds the accounts whose work is then done one by one.": [
            "StoreAccounts.claim", "StoreAccounts.list", "StoreDeliveries.accounts", "StoreNotifications.introduce",
        ],
        "It changes a batch of accounts, each of which it is given.": [
            "StoreAccounts.add", "StoreAccounts.release", "StoreAccounts.renew", "StoreAccounts.served",
        ],
        "The clock is that of all accounts.": [
            "StoreAccounts.moveDue", "StoreAccounts.settleDue",
        ],
        "Rows expire by their age, whatever their account; each of its transactions is short.": [
            "StoreRetention.apply"
        ],
        "The accounts of a server share its dialect and its waits.": [
            "StoreServers.hasIdentifiers", "StoreServers.rememberAcknowledges", "StoreServers.rememberDialect",
            "StoreServers.setNotBefore", "StoreServers.state",
        ],
        "Status and metrics show the sums over all accounts.": [
            "StoreAccounts.counts", "StoreAccounts.failures", "StoreAccounts.nextDue", "StoreStatus.rememberedSnapshot",
            "StoreStatus.snapshot",
        ],
        "Counters and samples are those of the process.": [
            "StoreDeliveries.takeUnreadable", "StoreStatus.ledgerOfLastDay", "StoreStatus.ledgerTotals",
            "StoreStatus.sampleLedger",
        ],
        "Logs, the journal and the last runs are those of the process.": [
            "StoreJournal.append", "StoreJournal.list", "StoreLogs.append", "StoreLogs.list", "StoreStories.keep",
            "StoreStories.lastStoredRun", "StoreStories.storedRun",
        ],
        "Callbacks go to receivers of the process, and their events name no account.": [
            "StoreEvents.count", "StoreEvents.dropOld", "StoreEvents.due", "StoreEvents.enqueueHeartbeat",
            "StoreEvents.nextDue", "StoreEvents.postpone", "StoreEvents.remove",
            "StoreEvents.retain",
        ],
        "Digests are configured once for the process.": ["StoreDigests.retain", "StoreDigests.storeConfiguration"],
        "The configured length of the feeds is that of each account.": ["StoreFeed.trim"],
        "A token in an address finds its account.": ["StoreFeed.owner"],
        "A host program's polls serve a process with one account only.": [
            "StoreHost.addSchedule", "StoreHost.advanceWatermark", "StoreHost.removeSchedule", "StoreHost.saveSchedule",
            "StoreHost.schedule",
            "StoreHost.watermark",
        ],
        "An operator names rows by id, also those of former identities.": [
            "StoreOutbox.discard", "StoreOutbox.ids", "StoreOutbox.list", "StoreOutbox.row",
            "StoreOutbox.unreadable", "StoreQuarantine.discard", "StoreQuarantine.items", "StoreQuarantine.list",
            "StoreStories.armedDigest", "StoreStories.change", "StoreStories.changes", "StoreStories.hadRow",
            "StoreStories.notification", "StoreStories.rows", "StoreStories.run",
        ],
    ]

    @Test func everyOtherFunctionOfTheStoreIsForAnAccount() throws {
        let files = LayeringTests.swiftFiles(below: LayeringTests.sources.appending(path: "StarwatchStore"))
        let source = try StoreSource(files.map { try String(contentsOf: $0, encoding: .utf8) })
        // Otherwise the reader of the sources has become blind.
        #expect(source.functions.count > 100 && source.carriers.contains("PageCommit"))
        let listed = Set(Self.ofWholeDatabase.values.joined())
        let found = Set(source.functions.filter { !$0.isForAnAccount }.map(\.name))
        #expect(found.subtracting(listed).sorted() == [], "Give them an account, or list them with a reason.")
        #expect(listed.subtracting(found).sorted() == [], "These are for an account, or are gone.")
    }

    @Test(arguments: [
        ("    package func work(of account: DID) async {}", true),
        ("    package func work(\n        _ cycle: Carrier,\n        now: Int\n    ) async {}", true),
        ("    package func work(of account: DID?, _ ids: [Int64]) {}", false),
        ("    package func work() -> DID {}", false),
    ])
    func theAccountOfAFunctionIsFoundInItsParameters(_ function: String, _ isFound: Bool) throws {
        let source = StoreSource([
            """
            extension Store { package nonisolated var topic: StoreTopic { StoreTopic(store: self) } }

            package struct Carrier {
                package struct Part { let number: Int }

                package let stream: StreamKey
            }

            package struct StoreTopic {
            \(function)
            }

            """
        ])
        let found = try #require(source.functions.first)
        #expect(found.name == "StoreTopic.work" && found.isForAnAccount == isFound)
        #expect(source.carriers == ["Carrier"])
    }
}

/// The functions of the store's topics, read from the sources.
private struct StoreSource {
    struct Function {
        let name: String
        let isForAnAccount: Bool
    }

    /// The types with a property that is an account or a stream.
    let carriers: Set<String>
    let functions: [Function]

    init(_ texts: [String]) {
        let carriers = Set(texts.flatMap(Self.carriers))
        let topic = /package nonisolated var \w+: (Store\w+) \{/
        let topics = Set(texts.flatMap { $0.matches(of: topic).map { String($0.1) } }).union(["Store"])
        self.carriers = carriers
        functions = texts.flatMap { Self.functions(in: $0, of: topics, carriers) }
    }

    /// The top-level declarations of a file with their bodies.
    private static func declarations(in text: String) -> [(name: String, body: Substring)] {
        let head =
            /(?m)^(?:(?:package|private|fileprivate|final|indirect) )*(?:struct|class|enum|actor|extension) (\w+)/
        let heads = Array(text.matches(of: head))
        return heads.indices.map { index in
            let end = index + 1 < heads.count ? heads[index + 1].range.lowerBound : text.endIndex
            return (String(heads[index].1), text[heads[index].range.lowerBound..<end])
        }
    }

    private static func carriers(in text: String) -> [String] {
        let property = /(?m)^    package (?:let|var) \w+: (?:DID|StreamKey)$/
        return declarations(in: text).filter { $0.body.contains(property) }.map(\.name)
    }

    private static func functions(in text: String, of topics: Set<String>, _ carriers: Set<String>) -> [Function] {
        let head = /(?m)^    package (?:nonisolated )?func (\w+)[^(]*\(/
        return declarations(in: text).filter { topics.contains($0.name) }.flatMap { declaration in
            declaration.body.matches(of: head).map { match in
                let parameters = parameters(declaration.body[match.range.upperBound...])
                let types = parameters.matches(of: /: (?:inout )?(\w+)(?:,|\)|\s|$)/).map { String($0.1) }
                let isForAnAccount = types.contains { $0 == "DID" || $0 == "StreamKey" || carriers.contains($0) }
                return Function(name: "\(declaration.name).\(match.1)", isForAnAccount: isForAnAccount)
            }
        }
    }

    /// The text up to the bracket that closes the parameters.
    private static func parameters(_ text: Substring) -> Substring {
        var depth = 1
        let end = text.firstIndex { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth == 0
        }
        return text[..<(end ?? text.endIndex)]
    }
}
