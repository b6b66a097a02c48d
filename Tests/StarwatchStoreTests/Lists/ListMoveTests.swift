import StarwatchCore
import Testing

@testable import StarwatchStore

/// Lists of accounts that move to another database.
@Suite struct ListMoveTests {
    let moves = MoveTests()

    /// Otherwise the new home would announce the list again, or skip what came in between.
    @Test(arguments: MoveTests.Encryption.allCases)
    func whatWasSeenMovesWithTheAccount(_ encryption: MoveTests.Encryption) async throws {
        let (source, destination) = (moves.source, moves.destination)
        let key = encryption.isOfSource ? MasterKey() : nil
        let from = try await source.open { $0.masterKey = key }
        // A rank can be any number.
        let items = source.items(1...2) + [source.item(3, version: "3", rank: .max)]
        try await source.commit(from, items: Array(items.prefix(1)))
        try await source.announceList(from)
        try await source.commit(from, items: items) { $0.state = ListState() }
        let text = try moves.text(try await moves.handOut(from))
        let to = try await moves.openDestination(sealed: encryption.isOfDestination)
        #expect(try await moves.take(to, text) == .arrived)

        #expect(try await destination.news(to, items + [destination.item(4)]) == ["item-4"])
        #expect(try await to.outbox.listState(of: World.list) == ListState())
        #expect(try await to.polls.state(World.list, maxUndelivered: 10).bootstrapped)
        #expect(try await destination.commit(to, items: items + [destination.item(4)])?.inserted == 1)
        let announced = try await destination.announceList(to, id: "ntf_moved")
        #expect(announced.map(\.plan) == ["item-2", "item-3", "item-4"])
        #expect(announced.map(\.details) == [2, 3, 4].map { destination.item($0).details })
        try await destination.expectBalanced(to)
        if encryption.isOfDestination { #expect(try await to.keys.verify().failed == 0) }
    }

    /// The source cancels the rows of an account that leaves. With them its items become news, but only there.
    @Test func aMoveThatIsUndoneAnnouncesNothingTwice() async throws {
        let source = moves.source
        let from = try await source.open()
        try await source.commit(from, items: [source.item(1)])
        let text = try moves.text(try await moves.handOut(from))
        #expect(try await moves.take(from, text, isMany: false, isUndo: true) == .arrived)
        from.moves.stay(World.alice)
        #expect(try await source.commit(from, items: [source.item(1)])?.inserted == 0)
        #expect(try await source.announceList(from).map(\.plan) == ["item-1"])
    }
}
