import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The file sink's file, rotated by a real logrotate while the agent is dead and has not stored that it wrote.
@Suite(.serialized) struct RotationTests {
    @Test(arguments: [false, true])
    func aLineThatWasWrittenBeforeADeathIsNotWrittenAgainAfterARotation(copies: Bool) async throws {
        let world = try await AgentWorld(.endorser)
        // Alone: what another sink does beside it would come between its writes.
        let yaml = try String(contentsOfFile: world.config, encoding: .utf8)
        let hook = TestConfiguration.webhook(world.mock.url) + "\n"
        #expect(yaml.contains(hook))
        try world.workspace.write(yaml.replacing(hook, with: ""), to: "starwatch.yaml")
        try await world.cycle()
        _ = try await world.writesOfACycle()
        let tally = try String(contentsOfFile: world.workspace.path("tally"), encoding: .utf8).split(separator: "\n")
        let synced = try #require(tally.lastIndex(of: "fsync \(world.file.lastPathComponent)"))
        var unrecorded = 0
        for offset in 1...4 {
            world.mock.publish(count: 3)
            _ = try await world.cycle(FaultLibrary.dying(at: synced + offset))
            let pending = try Database.strings(
                world.database,
                """
                SELECT n.token FROM notifications n JOIN deliveries d ON d.notification_id = n.id
                WHERE n.state = 'open' AND d.sink = 'file' AND d.state = 'pending'
                """
            )
            if try world.notifications().contains(where: { pending.contains($0.id) }) { unrecorded += 1 }
            try await rotate(world, copies: copies)
            let left = (try? Data(contentsOf: world.file).count) ?? 0
            #expect(left == 0)
            try await world.expectAllIsWell(
                "rotated after write \(synced + offset), copied: \(copies)",
                isHookOurs: false
            )
        }
        #expect(unrecorded > 0, "the agent never died between the write and its record: \(tally)")
        try await world.mock.stop()
    }

    private func rotate(_ world: AgentWorld, copies: Bool) async throws {
        let how = copies ? "copytruncate" : "nocreate"
        try world.workspace.write(
            "\(world.file.path) {\n  rotate 100\n  nocompress\n  missingok\n  \(how)\n}\n",
            to: "logrotate.conf"
        )
        let process = Process()
        process.executableURL = try Program.find("logrotate", or: [URL(filePath: "/usr/sbin")])
        process.arguments = [
            "--force", "--state", world.workspace.path("rotated"), world.workspace.path("logrotate.conf"),
        ]
        process.standardInput = FileHandle.nullDevice
        try process.start()
        _ = await eventually { process.isRunning ? nil : true }
        #expect(process.terminationStatus == 0)
    }
}
