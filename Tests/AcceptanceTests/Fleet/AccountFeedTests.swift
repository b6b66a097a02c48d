import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The feeds of many accounts, as an operator and their readers use them.
@Suite(.timeLimit(.minutes(5))) struct AccountFeedTests {
    private func addresses(_ words: String..., in world: AgentWorld) async throws -> [String] {
        let result = try await world.command(["feed"] + words)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 2)
        return lines
    }

    @Test func eachAccountHasAnAddressOfItsOwnUntilTheNextOne() async throws {
        let world = try await AgentWorld.ofAccounts()
        let control = "127.0.0.1:\(try FreePort.take())"
        try world.workspace.write("a-token-of-some-length\n", to: "token")
        try world.write { ($0.sinks, $0.controlAddress) = ("    - {name: feed, kind: feed}", control) }
        let agent = try await world.start()
        let added = try await world.command(
            ["accounts", "add", "--stdin"],
            input: AgentWorld.lines(world.accounts(2))
        )
        #expect(added.status == 0, "\(added.errors)")
        let dids = [AgentWorld.did(1), AgentWorld.did(2)]
        let unnamed = try await world.command(["feed", "url"])
        #expect(unnamed.status == 1 && unnamed.errors.contains("name one with --account"))

        let first = try await addresses("url", "--account", dids[0], in: world)
        let second = try await addresses("url", "--account", dids[1], in: world)
        #expect(try await addresses("url", "--account", dids[0], in: world) == first)
        let tested = try await world.command(["sinks", "test", "feed", "--account", dids[0]])
        #expect(tested.status == 0, "\(tested.errors)")
        for (addresses, hasEntries) in [(first, true), (second, false)] {
            let (atom, json) = (try await HTTP.get(addresses[0]), try await HTTP.get(addresses[1]))
            #expect(atom.status == 200 && atom.body.contains("<entry") == hasEntries)
            #expect(json.status == 200 && json.body.contains(#""items":[]"#) != hasEntries)
        }
        let unknown = try await HTTP.get("http://\(control)/no/such/page")
        let next = try await addresses("rotate", "--account", dids[0], in: world)
        let former = try await HTTP.get(first[0])
        #expect(former.status == 401 && former.body == unknown.body)
        #expect(try await HTTP.get(next[0]).status == 200)

        #expect(try await world.command(["accounts", "remove", dids[0]]).status == 0)
        #expect(try await HTTP.get(next[0]).status == 401)
        #expect(try await HTTP.get(second[0]).status == 200)
        #expect(await agent.stop() == 0)
        let log = try String(contentsOfFile: world.workspace.path("agent.log"), encoding: .utf8)
        for address in [first, second, next].map({ $0[0] }) {
            let token = address.split(separator: "/").dropLast().last.map(String.init) ?? ""
            #expect(token.count == 32 && !log.contains(token))
        }
        try await world.mock.stop()
    }
}
