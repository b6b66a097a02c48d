import Dispatch
import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// Messages of the built agent to a service manager, over a real socket.
@Suite struct SupervisionTests {
    @Test(arguments: [false, true])
    func aServiceManagerHearsOfTheStartTheProgressReloadsAndTheEnd(isAbstract: Bool) async throws {
        let world = try await AgentWorld(.endorser)
        let path = world.workspace.path("notify")
        let manager = try NotifyListener(isAbstract ? "@\(path)" : path)
        let agent = try await RunningAgent(
            config: world.config,
            in: world.workspace,
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "400000"]
        )
        let ready = try await manager.messages(with: "READY=1", atLeast: 1)
        #expect(ready == ["READY=1\nSTATUS=Running; metrics on \(agent.address)."])
        // It comes every 0.2 s.
        _ = try await manager.messages(with: "WATCHDOG=1", atLeast: 3)
        #expect(manager.matching("STOPPING=1").isEmpty)

        let before = monotonicMicroseconds()
        agent.hangUp()
        _ = try await manager.messages(with: "READY=1", atLeast: 2)
        let reloading = try #require(manager.messages.first { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        let time = try #require(reloading.firstMatch(of: /MONOTONIC_USEC=([0-9]+)\n/).flatMap { Int($0.1) })
        #expect((before...monotonicMicroseconds()).contains(time))

        try world.workspace.write("polls: 3\n", to: "starwatch.yaml")
        agent.hangUp()
        let again = try await manager.messages(with: "READY=1", atLeast: 3)
        #expect(again.last?.contains("refused") == true)
        #expect(manager.messages.count { $0.hasPrefix("RELOADING=1") } == 2)
        let beats = manager.matching("WATCHDOG=1").count
        _ = try await manager.messages(with: "WATCHDOG=1", atLeast: beats + 3)
        #expect(manager.matching("STOPPING=1").isEmpty)

        #expect(await agent.stop() == 0)
        #expect(manager.matching("STOPPING=1").count == 1)
        try await world.mock.stop()
    }

    @Test func theWatchdogOfAnotherProcessHearsNothing() async throws {
        let world = try await AgentWorld(.endorser)
        let manager = try NotifyListener(world.workspace.path("notify"))
        let agent = try await RunningAgent(
            config: world.config,
            in: world.workspace,
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"]
        )
        // The second beat says how the agent is.
        _ = try await manager.messages(with: "STATUS=Running.", atLeast: 1)
        #expect(await agent.stop() == 0)
        #expect(manager.matching("READY=1").count == 1 && manager.matching("WATCHDOG=1").isEmpty)
        try await world.mock.stop()
    }

    @Test func aDiskThatHangsEndsTheProgressAndDoesNotHoldTheEnd() async throws {
        let world = try await AgentWorld(.endorser, limits: "shutdown: 1s")
        try await world.cycle()
        let manager = try NotifyListener(world.workspace.path("notify"))
        let disk = FaultLibrary.Disk(in: world.workspace)
        var environment = try FaultLibrary.disk(disk)
        environment["NOTIFY_SOCKET"] = manager.name
        environment["WATCHDOG_USEC"] = "200000"
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        let address = agent.address
        for _ in 0..<2 {
            _ = try await manager.messages(with: "WATCHDOG=1", atLeast: manager.matching("WATCHDOG=1").count + 3)
            try disk.hang()
            world.mock.publish(count: 3)
            let reported = await eventually { () -> Bool? in
                guard let ready = try? await HTTP.get("http://\(address)/-/ready") else { return nil }
                return ready.body.contains("store_unavailable") ? true : nil
            }
            #expect(reported == true)
            // Status messages do not wait for the disk.
            #expect(try await HTTP.get("http://\(address)/metrics").status == 200)
            #expect(try await HTTP.get("http://\(address)/api/v1/status").body.contains("store_unavailable"))
            let beats = manager.matching("WATCHDOG=1").count
            // Time for five beats.
            await pause(milliseconds: 1000)
            #expect(manager.matching("WATCHDOG=1").count == beats)
            try disk.mend()
        }
        _ = try await manager.messages(with: "WATCHDOG=1", atLeast: manager.matching("WATCHDOG=1").count + 1)
        try disk.hang()
        world.mock.publish(count: 3)
        _ = await eventually { (try? await HTTP.get("http://\(address)/-/ready").status) == 503 ? true : nil }
        // The disk hangs until it is mended, so that nothing but the deadline ends the agent.
        #expect(await agent.stop() == 1)
        #expect(agent.logText.contains("did not stop in time"))
        try disk.mend()
        try await world.expectAllIsWell("after a disk that hung")
        try await world.mock.stop()
    }

    /// On Linux, CLOCK_MONOTONIC.
    private func monotonicMicroseconds() -> Int { Int(DispatchTime.now().uptimeNanoseconds / 1000) }
}
