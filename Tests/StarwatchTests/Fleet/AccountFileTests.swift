import Foundation
import MockEndorser
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// Each of many accounts has a file of its own at a sink of kind `file`.
@Suite(.timeLimit(.minutes(5))) struct AccountFileTests {
    private static let accounts = [TestAccount.ethr, TestAccount.other]
    private static let strangersCanWrite = 0o666

    /// An agent for two accounts, each with a star.
    private static func with(_ body: (World, Agent) async throws -> Void) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany()
            let entries = zip(accounts, world.mock.planIDs).map { did, plan in
                AccountAdditions.Entry(did: did.rawValue, stars: [plan])
            }
            _ = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: entries))
            await agent.visitAll(after: .seconds(60), on: world.clock)
            try await body(world, agent)
        }
    }

    /// Publishes a change for each account.
    private static func publish(_ world: World) -> [String] {
        world.mock.publish(world.mock.planIDs.prefix(accounts.count).map { MockChange(planID: $0) })
    }

    private static func file(_ account: Int, _ agent: Agent) -> String {
        let pseudonym = agent.process.pseudonym.hash(accounts[account])
        return "sink.\(pseudonym.dropFirst("did:hash:".count)).jsonl"
    }

    private static func lines(_ file: String, in world: World) throws -> [World.Notification] {
        let data = FileManager.default.contents(atPath: world.folder.path(file)) ?? Data()
        return try data.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(World.Notification.self, from: Data($0))
        }
    }

    private static func changes(_ file: String, in world: World) throws -> [String] {
        try lines(file, in: world).flatMap { $0.changes.map(\.jwt_id) }
    }

    private static func setMode(_ mode: Int, of file: String, in world: World) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: world.folder.path(file))
    }

    /// Replaces the database by its copy, or the copy by the database.
    private static func copyDatabase(from source: String, to destination: String, in world: World) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.path("."))
        for name in names where name.hasPrefix(destination) {
            try FileManager.default.removeItem(atPath: world.folder.path(name))
        }
        for name in names where name.hasPrefix(source) {
            let copy = destination + name.dropFirst(source.count)
            try FileManager.default.copyItem(atPath: world.folder.path(name), toPath: world.folder.path(copy))
        }
    }

    @Test func eachChangeIsOnceInTheFileOfItsAccountAlsoAfterAKillBeforeTheRecord() async throws {
        try await Self.with { world, agent in
            let files = [Self.file(0, agent), Self.file(1, agent)]
            // No file can be written, so that the notifications are stored and wait.
            for file in files {
                try world.folder.write("", to: file)
                try Self.setMode(Self.strangersCanWrite, of: file, in: world)
            }
            let ids = Self.publish(world)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            for file in files { try #expect(Self.lines(file, in: world).isEmpty) }
            await world.stopAgent()
            try Self.copyDatabase(from: "starwatch.db", to: "before", in: world)
            for file in files { try Self.setMode(0o600, of: file, in: world) }
            for _ in ["delivered", "killed before it was stored"] {
                let next = try await world.agentOfMany()
                await next.visitAll(after: .seconds(300), on: world.clock)
                for (index, file) in files.enumerated() {
                    try #expect(Self.changes(file, in: world) == [ids[index]])
                    let name = next.process.pseudonym.hash(Self.accounts[index])
                    try #expect(Self.lines(file, in: world).map(\.account) == [name])
                }
                #expect(try await next.rows([.acknowledged]).count == 2)
                await world.stopAgent()
                try Self.copyDatabase(from: "before", to: "starwatch.db", in: world)
            }
            #expect(!FileManager.default.fileExists(atPath: world.folder.path("sink.jsonl")))
        }
    }

    @Test func aFileThatCannotBeWrittenStopsOnlyItsAccount() async throws {
        try await Self.with { world, agent in
            let (first, second) = (Self.file(0, agent), Self.file(1, agent))
            try world.folder.write("", to: first)
            try Self.setMode(Self.strangersCanWrite, of: first, in: world)
            var ids: [[String]] = []
            for _ in 0..<8 {
                ids.append(Self.publish(world))
                await agent.visitAll(after: .seconds(61), on: world.clock)
            }
            try #expect(Self.changes(second, in: world) == ids.map { $0[1] })
            try #expect(Self.changes(first, in: world).isEmpty)
            let slot = agent.process.sinks[0]
            #expect(slot.withHosts(\.down) == 1)
            #expect(slot.circuit.condition == .working)
            #expect(await agent.page()["starwatch_fleet_unreachable_hosts", ["sink": "file"]] == 1)
            try Self.setMode(0o600, of: first, in: world)
            for _ in 0..<3 { await agent.visitAll(after: .seconds(120), on: world.clock) }
            try #expect(Self.changes(first, in: world).sorted() == ids.map { $0[0] }.sorted())
            #expect(slot.withHosts(\.down) == 0)
        }
    }

    @Test func anErasedAccountKeepsItsFile() async throws {
        try await Self.with { world, agent in
            let ids = Self.publish(world)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            let removal = IdentityRemoval(did: Self.accounts[0].rawValue)
            _ = try await agent.perform(ControlAPI.eraseAccount, removal)
            try #expect(Self.changes(Self.file(0, agent), in: world) == [ids[0]])
        }
    }

    /// A test without an account goes to the file that the setting names.
    @Test func aTestNotificationGoesToTheFileOfTheAccountThatIsNamed() async throws {
        try await Self.with { world, agent in
            _ = try await agent.perform(ControlAPI.testSink, "file")
            #expect(FileManager.default.fileExists(atPath: world.folder.path("sink.jsonl")))
            try #expect(Self.lines(Self.file(0, agent), in: world).isEmpty)
            var caller = Operator.program
            caller.account = Self.accounts[0]
            _ = try await agent.topics.perform(ControlAPI.testSink, "file", for: caller)
            try #expect(!Self.lines(Self.file(0, agent), in: world).isEmpty)
        }
    }
}
