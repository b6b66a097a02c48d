import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// A disk that fails under a running agent: the agent stays up and says so, loses nothing, and goes on by itself when
/// the disk is well again.
@Suite struct DiskRunTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let error: Int32
        /// The label of the metric that counts it.
        let kind: String
        var testDescription: String { name }
    }

    @Test(arguments: [
        Fault(name: "full", error: ENOSPC, kind: "full"), Fault(name: "read-only", error: EROFS, kind: "io"),
        Fault(name: "broken", error: EIO, kind: "io"),
    ])
    func aDiskThatFailsIsReportedAndGoneOnWithWhenItIsWell(fault: Fault) async throws {
        let world = try await AgentWorld(.canonical)
        try await world.cycle()
        let disk = FaultLibrary.Disk(in: world.workspace)
        let environment = try FaultLibrary.disk(disk)
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        try await expectRecovery(of: agent, world, kind: fault.kind) {
            try disk.fail(with: fault.error)
        } mend: {
            try disk.mend()
        }
    }

    @Test func aLineThatIsWrittenButNotSureToStayIsNotWrittenAgain() async throws {
        let world = try await AgentWorld(.canonical)
        try await world.cycle()
        let disk = FaultLibrary.Disk(in: world.workspace)
        let environment = try FaultLibrary.disk(disk)
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        let pages = agent.pages
        try disk.fail(with: EIO, onlySync: true)
        world.mock.publish(count: 3)
        let tried = await eventually { () -> Bool? in
            let series = "starwatch_delivery_attempts_total{sink=\"file\",result=\"unavailable\"}"
            return (try? await pages.metric(series)) ?? 0 >= 2 ? true : nil
        }
        #expect(tried == true)
        try disk.mend()
        let (mock, published) = (world.mock, world.mock.publishedIDs)
        let arrived = await eventually {
            mock.acknowledgedIDs.count == published.count ? true : nil
        }
        #expect(arrived == true)
        #expect(await agent.stop() == 0)
        try await world.expectAllIsWell("after writes that were not sure to stay")
        try await world.mock.stop()
    }

    @Test func aDatabaseThatAnotherProgramLocksIsReportedAndGoneOnWithWhenItIsFree() async throws {
        let world = try await AgentWorld(.endorser)
        try await world.cycle()
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        var lock: DatabaseLock?
        try await expectRecovery(of: agent, world, kind: "busy") {
            lock = try DatabaseLock(world.database)
        } mend: {
            try lock?.release()
        }
    }

    /// A limit of the kernel's, which would end a process that does not expect it by SIGXFSZ.
    @Test func aFileThatMayNotGrowIsReportedAndGoneOnWithWhenItMay() async throws {
        let world = try await AgentWorld(.canonical)
        try await world.cycle()
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        try await expectRecovery(of: agent, world, kind: "io") {
            try limitFiles(of: agent.pid, to: "1024")
        } mend: {
            try limitFiles(of: agent.pid, to: "unlimited")
        }
    }

    /// - Parameter bytes: How long a file may be that the process writes; only the soft limit, which can be raised.
    private func limitFiles(of process: pid_t, to bytes: String) throws {
        let program = Process()
        program.executableURL = try Program.find("prlimit")
        program.arguments = ["--pid", String(process), "--fsize=\(bytes):unlimited"]
        try program.start()
        program.waitUntilExit()
        guard program.terminationStatus == 0 else { throw AcceptanceError("prlimit failed") }
    }

    private func expectRecovery(
        of agent: RunningAgent,
        _ world: AgentWorld,
        kind: String,
        spoil: () throws -> Void,
        mend: () throws -> Void
    ) async throws {
        let pages = agent.pages
        try await expectReady(pages)
        try spoil()
        world.mock.publish(count: 5)
        let reported = await eventually { () -> Bool? in
            guard let ready = try? await HTTP.get("http://\(pages.address)/-/ready") else { return nil }
            return ready.status == 503 && ready.body.contains("store_") ? true : nil
        }
        #expect(reported == true)
        let errors = "starwatch_store_errors_total{kind=\"\(kind)\"}"
        // It says so as soon as it waits, and counts what it has given up.
        let counted = await eventually { (try? await pages.metric(errors)) ?? 0 > 0 ? true : nil }
        #expect(counted == true)
        // It answers, so there is no reason to start it anew.
        #expect(try await HTTP.get("http://\(pages.address)/-/healthy").status == 200)
        #expect(agent.isRunning)

        world.mock.publish(count: 5)
        try mend()
        try await expectReady(pages)
        let published = world.mock.publishedIDs
        let (mock, database) = (world.mock, world.database)
        let settled = await eventually { () -> Bool? in
            guard (try? Database.watermark(at: database)) == published.max() else { return nil }
            return mock.acknowledgedIDs.count == published.count || mock.options.dialect == .endorser ? true : nil
        }
        #expect(settled == true)
        #expect(try await pages.metric("starwatch_ledger_imbalance_rows{law=\"fetched\"}") == 0)
        #expect(try await pages.metric("starwatch_ledger_imbalance_rows{law=\"new\"}") == 0)
        #expect(await agent.stop() == 0)
        try await world.expectAllIsWell("after the disk was mended")
        try await world.mock.stop()
    }

    private func expectReady(_ pages: AgentPages) async throws {
        let ready = await eventually {
            (try? await HTTP.get("http://\(pages.address)/-/ready").status) == 200 ? true : nil
        }
        #expect(ready == true)
    }
}
