import Foundation
import MockEndorser
import Testing

/// The built example of a host sink, a package of its own.
@Suite struct MailSpoolTests {
    @Test func everyChangeBecomesOneMailThoughTheProgramIsKilled() async throws {
        let workspace = try Workspace()
        let mock = MockServer()
        try await mock.start()
        let program = Binary.starwatch.deletingLastPathComponent()
        let arguments =
            [mock.url, workspace.url.path, "did:ethr:0x00000000000000000000000000000000000000aa"] + mock.planIDs
        func start() throws -> RunningProgram {
            let log = workspace.url.appending(path: "log")
            return try RunningProgram("MailSpool", arguments, log: log, in: [program])
        }
        func mails(_ count: Int) async -> [String] {
            let found = await eventually { () -> [String]? in
                let names = try? FileManager.default.contentsOfDirectory(atPath: workspace.url.path)
                let mails = (names ?? []).filter { $0.hasSuffix(".eml") }
                return mails.count >= count ? mails : nil
            }
            return found ?? []
        }
        let first = try start()
        // The first run announces nothing that was there before.
        let bootstrapped = await eventually { mock.requests(to: .plansChanged).isEmpty ? nil : true }
        #expect(bootstrapped == true)
        mock.publish(count: 1)
        #expect(await mails(1).count == 1)
        await first.stop(with: SIGKILL)
        mock.publish(count: 1)
        let second = try start()
        let all = await mails(2)
        #expect(all.count == 2)
        let text = try String(contentsOfFile: workspace.path(all[0]), encoding: .utf8)
        #expect(text.hasPrefix("Message-ID: <ntf_") && text.contains("Subject: Project Update\r\n"))
        await second.stop()
        try await mock.stop()
    }
}
