import Foundation
import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// An account of before the feature is told of it once, through the sinks.
@Suite struct FeatureNoticeTests {
    /// A database of before: an account with preferences and no stars, and no mark.
    private func old(_ bench: Bench, preferences: String = #"{"sound":true}"#) async throws {
        try await bench.agent.store.identity.setNotificationPreferences(
            preferences,
            of: Bench.did,
            server: bench.mock.url,
            now: bench.clock.now
        )
        let (server, now) = (bench.mock.url, bench.clock.now)
        _ = try await bench.agent.store.stars.change(of: Bench.did, server: server, now: now) { _, _ in [] }
        await bench.agent.close()
        let path = bench.options.storage.path
        try await forgetIntroductions(path)
        try await bench.restart()
    }

    private func forgetIntroductions(_ path: String) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["sqlite3", path, "DELETE FROM feature_notices; DELETE FROM feature_introductions;"]
        try process.start()
        await process.end()
        #expect(process.terminationStatus == 0)
    }

    @Test func everySinkIsToldOnceUnderOneIDAlsoAfterARestart() async throws {
        try await Bench.run(sinks: ["one", "two"]) { bench in
            try await old(bench)
            bench["two"].script(.down)
            await bench.dispatch()
            #expect(bench["one"].seen.count == 1 && bench["two"].seen.count == 1)
            try await bench.restart()
            bench.clock.advance(by: .seconds(60))
            await bench.dispatch()
            await bench.dispatch()
            #expect(bench["one"].seen.count == 1 && bench["two"].seen.count == 2)
            let notices = bench["one"].seen + bench["two"].seen
            #expect(Set(notices).count == 1)
            let notice = try #require(notices.first)
            #expect(notice.title == "New Feature: Starred Projects")
            #expect(notice.body == "You can now get notifications for projects you star. Tap to learn more.")
            let message = try JSONDecoder().decode(NotificationMessage.self, from: Data(notice.payload))
            #expect(message.deepLink == "timesafari://features/starred-projects" && message.count == 0)
            #expect(message.id == notice.id && message.changes.isEmpty)
            try await bench.restart()
            await bench.dispatch()
            #expect(bench["one"].seen.count == 1 && bench["two"].seen.count == 2)
        }
    }

    @Test func aCrashBetweenSendingAndMarkingRepeatsTheSameNotice() async throws {
        try await Bench.run(sinks: ["one"]) { bench in
            try await old(bench)
            // The sink has it, and the database is gone before that can be said.
            let store = bench.agent.store
            bench["one"].before { _ in await store.close() }
            await bench.dispatch()
            bench["one"].before(nil)
            try await bench.restart()
            await bench.dispatch()
            #expect(bench["one"].seen.count == 2 && Set(bench["one"].seen).count == 1)
            await bench.dispatch()
            #expect(bench["one"].seen.count == 2)
        }
    }

    @Test func oneThatASinkRefusesIsGivenUpAfterAsManyTriesAsANotification() async throws {
        try await Bench.run(sinks: ["one"]) { bench in
            try await old(bench)
            bench["one"].answer(.refused)
            for _ in 0..<6 {
                bench.clock.advance(by: .seconds(60))
                await bench.dispatch()
            }
            #expect(bench["one"].seen.count == 3)
        }
    }

    @Test func aSinkThatIsDownCostsNoTryAndTheOthersTriesAreTheirs() async throws {
        try await Bench.run(sinks: ["one", "two"]) { bench in
            try await old(bench)
            bench["one"].script(.down, .down, .down)
            bench["two"].script(.refused, .refused)
            for _ in 0..<6 {
                bench.clock.advance(by: .seconds(600))
                await bench.dispatch()
                try await bench.restart()
            }
            #expect(bench["one"].seen.count == 4 && bench["two"].seen.count == 3)
            let notice = try #require(bench["one"].seen.first)
            #expect(try await bench.agent.store.notifications.find(notice.id, of: Bench.did)?.state == .delivered)
            #expect(
                try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.dismiss, on: notice.id))
                    .already
                    == false
            )
        }
    }

    @Test func whoeverIsNewOrOptedOutIsNotTold() async throws {
        try await Bench.run(sinks: ["one"]) { bench in
            await bench.dispatch()
            #expect(bench["one"].seen.isEmpty)
            try await old(bench, preferences: #"{"starredProjects":false}"#)
            await bench.dispatch()
            #expect(bench["one"].seen.isEmpty)
        }
    }
}
