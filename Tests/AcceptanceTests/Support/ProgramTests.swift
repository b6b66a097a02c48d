import Foundation
import ProgramTestKit
import Testing

@Suite struct ProgramTests {
    @Test func aMissingProgramFailsWithWhatToDo() throws {
        let failure = try #require(throws: AcceptanceError.self) { try Program.find("prometheus", in: "/nowhere") }
        #expect(
            failure.description
                == "prometheus is not installed; run scripts/setup --full, which installs what the tests need."
        )
        #expect(try Program.find("sh", in: "/nowhere:/bin").path == "/bin/sh")
    }

    /// In a process of its own, because all threads of a process share the actions.
    @Test func aProgramInheritsNoIgnoredOrBlockedSignal() async {
        await #expect(processExitsWith: .success) {
            func signals(_ field: String, in status: String) throws -> UInt64 {
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
                return try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
            }
            let asked: UInt64 = 1 << (SIGTERM - 1) | 1 << (SIGINT - 1)
            var mask = sigset_t()
            sigemptyset(&mask)
            for number in [SIGTERM, SIGINT] {
                signal(number, SIG_IGN)
                sigaddset(&mask, number)
            }
            pthread_sigmask(SIG_BLOCK, &mask, nil)
            let (process, output) = (Process(), Pipe.make())
            process.executableURL = URL(filePath: "/bin/cat")
            process.arguments = ["/proc/self/status"]
            process.standardOutput = output
            try process.start()
            let ofProgram = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let own = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            for field in ["SigIgn", "SigBlk"] {
                try #require(try signals(field, in: ofProgram) & asked == 0)
                try #require(try signals(field, in: own) & asked == asked)
            }
        }
    }

    /// The lists of `scripts/test` run at once, each in a process.
    @Test func noTwoProcessesTakeTheSamePort() async throws {
        let own = try FreePort.take()
        #expect(!FreePort.claims(own))
        await #expect(processExitsWith: .success) { [own = own as Int] in
            try #require(!FreePort.claims(own))
            try #require(FreePort.claims(1))
        }
    }
}
