import StarwatchCore
import StarwatchPolling
import StarwatchTestKit
import Testing

@testable import Starwatch

/// The slots of attempts at addresses of accounts.
@Suite(.timeLimit(.minutes(5))) struct DeliverySlotsTests {
    private let clock = ManualClock()
    /// 20 slots, of which 2 are for hosts that answered.
    private let slots = DeliverySlots(files: 40)

    private func enter(_ host: String, _ standing: HostStanding = .unknown) -> Task<Bool, Never> {
        Task { [slots, clock] in await slots.enter(host, standing, on: clock) }
    }

    /// Lets `count` hosts hang.
    private func hang(_ count: Int) async {
        for host in 0..<count { #expect(await enter("hangs \(host)").value) }
    }

    @Test func aHostGetsNoMoreThanItsShare() async {
        for _ in 0..<DeliverySlots.perHost { #expect(await enter("a").value) }
        let next = enter("a")
        await clock.sleepers(atLeast: 1)
        #expect(await enter("b").value)
        slots.leave("a")
        #expect(await next.value)
    }

    @Test func aHostThatAnswersFindsRoomHoweverManyOthersHang() async {
        await hang(18)
        let stranger = enter("stranger")
        await clock.sleepers(atLeast: 1)
        #expect(await enter("good", .answers).value)
        #expect(await enter("good", .answers).value)
        slots.leave("good")
        slots.leave("good")
        slots.leave("hangs 0")
        #expect(await stranger.value)
    }

    @Test func hostsThatFailedComeLast() async {
        await hang(18)
        let fails = enter("fails", .fails)
        await clock.sleepers(atLeast: 1)
        let unknown = enter("unknown")
        await clock.sleepers(atLeast: 2)
        slots.leave("hangs 0")
        #expect(await unknown.value)
        slots.leave("hangs 1")
        #expect(await fails.value)
    }

    @Test func noneWaitsForLong() async {
        await hang(18)
        let late = enter("late")
        await clock.sleepers(atLeast: 1)
        clock.advance(by: DeliverySlots.longestWait)
        #expect(await late.value == false)
        // It takes no slot that is free later.
        slots.leave("hangs 0")
        #expect(await enter("next").value)
    }

    @Test func aWaitThatIsCancelledTakesNoSlot() async {
        await hang(18)
        for _ in 0..<50 {
            let waiting = enter("waiting")
            slots.leave("hangs 0")
            waiting.cancel()
            if await waiting.value { slots.leave("waiting") }
            #expect(await enter("hangs 0").value)
        }
    }
}
