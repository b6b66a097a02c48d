import StarwatchCore
import Testing

@Suite struct SchedulerDecisionTests {
    private let quarter: Schedule
    private let noon: Timestamp

    init() throws {
        quarter = .cron(try CronExpression("*/15 * * * *"), zone: FixedZone.utc)
        noon = try at("2026-01-01T12:00:00Z")
    }

    private func decide(
        _ schedule: Schedule? = nil,
        nextRun: Timestamp?,
        lastRun: Timestamp? = nil,
        now: Timestamp,
        catchUp: CatchUp = .latest,
        splay: Duration = .zero,
        isRunning: Bool = false
    ) -> SchedulerDecision {
        .decide(
            schedule: schedule ?? quarter,
            nextRun: nextRun,
            lastRun: lastRun,
            now: now,
            catchUp: catchUp,
            splay: splay,
            isRunning: isRunning
        )
    }

    @Test func sleepsAtMostThirtySecondsUntilTheRun() {
        let run = noon + .seconds(900)
        #expect(decide(nextRun: nil, now: noon) == .sleep(until: noon + .seconds(30), nextRun: run))
        // All polls look at the clock at the same moments.
        #expect(decide(nextRun: nil, now: noon + .seconds(7)) == .sleep(until: noon + .seconds(30), nextRun: run))
        #expect(decide(nextRun: run, now: run - .seconds(4)) == .sleep(until: run, nextRun: run))
        #expect(decide(nextRun: run, now: run - .seconds(4)).outcomes.isEmpty)
    }

    @Test func runsOnTimeWithinASecondAndLateAfterIt() {
        let next = noon + .seconds(900)
        #expect(decide(nextRun: noon, now: noon) == .run(.onTime, planned: noon, missed: 0, nextRun: next))
        #expect(
            decide(nextRun: noon, now: noon + .seconds(1)) == .run(.onTime, planned: noon, missed: 0, nextRun: next)
        )
        #expect(
            decide(nextRun: noon, now: noon + .milliseconds(1001))
                == .run(.late, planned: noon, missed: 0, nextRun: next)
        )
        #expect(decide(nextRun: noon, now: noon).outcomes == [.onTime: 1])
    }

    @Test func catchesUpOnceForAllMissedRuns() {
        let now = noon + .seconds(3 * 3600 + 100)
        let latest = noon + .seconds(3 * 3600)
        let decision = decide(nextRun: noon, lastRun: noon - .seconds(900), now: now)
        #expect(decision == .run(.late, planned: latest, missed: 12, nextRun: latest + .seconds(900)))
        #expect(decision.outcomes == [.late: 1, .missed: 12])
    }

    @Test func withoutCatchUpAllRunsAreMissedUnlessTheLatestIsFresh() {
        let latest = noon + .seconds(3600)
        #expect(
            decide(nextRun: noon, now: latest + .seconds(61), catchUp: .none)
                == .skip(missed: 5, nextRun: latest + .seconds(900))
        )
        #expect(
            decide(nextRun: noon, now: latest + .seconds(60), catchUp: .none)
                == .run(.late, planned: latest, missed: 4, nextRun: latest + .seconds(900))
        )
    }

    @Test func aRestartWithoutAStoredPlanCatchesUpFromTheLastRun() {
        #expect(
            decide(nextRun: nil, lastRun: noon - .seconds(1000), now: noon + .seconds(10))
                == .run(.late, planned: noon, missed: 1, nextRun: noon + .seconds(900))
        )
    }

    @Test func anOverlapIsCoalesced() {
        let decision = decide(nextRun: noon, now: noon + .seconds(901), isRunning: true)
        #expect(decision == .coalesce(runs: 2, nextRun: noon + .seconds(1800)))
        #expect(decision.outcomes == [.coalesced: 2])
    }

    @Test func theSplayMovesTheRunButNotThePlan() {
        let splay = Duration.seconds(40)
        #expect(
            decide(nextRun: noon, now: noon + .seconds(35), splay: splay)
                == .sleep(until: noon + .seconds(40), nextRun: noon)
        )
        #expect(
            decide(nextRun: noon, now: noon + .seconds(40), splay: splay)
                == .run(.onTime, planned: noon, missed: 0, nextRun: noon + .seconds(900))
        )
        // A splay longer than the interval delays every run and loses none.
        let long = Duration.seconds(1000)
        #expect(
            decide(nextRun: noon, now: noon + .seconds(1000), splay: long)
                == .run(.onTime, planned: noon, missed: 0, nextRun: noon + .seconds(900))
        )
    }

    @Test func aPlanInTheFutureIsRepaired() throws {
        #expect(
            decide(nextRun: noon + .seconds(7200), lastRun: noon + .seconds(6300), now: noon)
                == .sleep(until: noon + .seconds(30), nextRun: noon + .seconds(900))
        )
        #expect(
            decide(nextRun: nil, lastRun: noon + .seconds(6300), now: noon)
                == .sleep(until: noon + .seconds(30), nextRun: noon + .seconds(900))
        )
    }

    @Test func aPlanOfAnotherScheduleIsReplacedWithoutARun() {
        let stale = noon - .seconds(60)
        #expect(decide(nextRun: stale, now: noon) == .sleep(until: noon + .seconds(30), nextRun: noon + .seconds(900)))
    }

    @Test func anIntervalRunsAtTheStartAndThenAtMultiples() {
        let every = Schedule.every(.seconds(5))
        #expect(
            decide(every, nextRun: nil, now: noon)
                == .run(.onTime, planned: noon, missed: 0, nextRun: noon + .seconds(5))
        )
        #expect(
            decide(every, nextRun: noon, now: noon + .milliseconds(17_300))
                == .run(.late, planned: noon + .seconds(15), missed: 3, nextRun: noon + .seconds(20))
        )
        #expect(
            decide(every, nextRun: nil, lastRun: noon - .seconds(2), now: noon)
                == .sleep(until: noon + .seconds(3), nextRun: noon + .seconds(3))
        )
        #expect(
            decide(every, nextRun: noon + .seconds(500), lastRun: noon + .seconds(495), now: noon)
                == .sleep(until: noon + .seconds(5), nextRun: noon + .seconds(5))
        )
    }

    @Test func yearsOfMissedMinutesAreCountedUpToALimit() throws {
        let minutely = Schedule.cron(try CronExpression("* * * * *"), zone: FixedZone.utc)
        let now = noon + .seconds(200_000 * 60)
        #expect(
            decide(minutely, nextRun: noon, now: now)
                == .run(.onTime, planned: now, missed: SchedulerDecision.missedLimit, nextRun: now + .seconds(60))
        )
    }

    /// For any change of the clock, the next look is within 30 s and the next run within one interval.
    @Test func noStoredStateDelaysTheNextRun() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<2000 {
            func any() -> Timestamp? {
                Bool.random(using: &random)
                    ? noon + .seconds(Int64.random(in: -100_000...100_000, using: &random)) : nil
            }
            let decision = decide(nextRun: any(), lastRun: any(), now: noon, catchUp: .latest, splay: .seconds(7))
            switch decision {
            case .sleep(let until, let next):
                #expect(until > noon && until <= noon + .seconds(30))
                #expect(next > noon - .seconds(7) && next <= noon + .seconds(900))
            case .run(_, let planned, _, let next):
                #expect(planned <= noon - .seconds(7))
                #expect(next.map { $0 > noon - .seconds(7) } == true)
            case .skip, .coalesce, .idle: Issue.record("\(decision)")
            }
        }
    }

    @Test func theSplayIsStableSpreadAndWithinItsLimit() throws {
        let poll = try #require(PollName("starred_projects"))
        let other = try #require(PollName("offers_to_me"))
        let delay = Splay.delay(instance: "host-1", poll: poll, within: .seconds(900))
        #expect(delay == .milliseconds(Self.knownDelay))
        #expect(delay != Splay.delay(instance: "host-1", poll: other, within: .seconds(900)))
        #expect(Splay.delay(instance: "host-1", poll: poll, within: .zero) == .zero)
        var quarters = [0, 0, 0, 0]
        for host in 0..<1000 {
            let delay = Splay.delay(instance: "host-\(host)", poll: poll, within: .seconds(40))
            #expect(delay >= .zero && delay < .seconds(40))
            quarters[Int(delay.components.seconds) / 10] += 1
        }
        #expect(quarters.allSatisfy { (200...300).contains($0) }, "\(quarters)")
    }

    /// Pinned, because an agent must keep its delay across upgrades.
    private static let knownDelay: Int64 = 820_694

    @Test func anIntervalMissesTheRunsThatFellDueWhileTheAgentWasDown() {
        let hour = Schedule.every(.seconds(3600))
        func missed(_ schedule: Schedule, after: Duration, _ catchUp: CatchUp = .latest, splay: Duration = .zero) -> Int
        {
            SchedulerDecision.missedBeforeStart(
                of: schedule,
                nextRun: noon,
                now: noon + after,
                catchUp: catchUp,
                splay: splay
            )
        }
        #expect(missed(hour, after: .seconds(-1)) == 0)
        // The run of the start stands for the latest one.
        #expect(missed(hour, after: .seconds(3599)) == 0)
        #expect(missed(hour, after: .seconds(3 * 3600)) == 3)
        // Without catch-up only for one that is just due.
        #expect(missed(hour, after: .seconds(60), .none) == 0)
        #expect(missed(hour, after: .seconds(61), .none) == 1)
        #expect(missed(hour, after: .seconds(61), .none, splay: .seconds(30)) == 0)
        #expect(missed(quarter, after: .seconds(3 * 3600)) == 0)
        #expect(
            SchedulerDecision.missedBeforeStart(of: hour, nextRun: nil, now: noon, catchUp: .latest) == 0
        )
    }
}
