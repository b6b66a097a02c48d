import Foundation
import Glibc
import StarwatchCore
import Testing

@testable import Starwatch

@Suite(.timeLimit(.minutes(5))) struct CommandSinkTests {
    private let folder: TestFolder
    private let clock = ManualClock()

    init() throws { folder = try TestFolder() }

    /// A shell with a script. A file of its own could not be run while a program that another test starts still has it open
    /// for writing.
    private func script(_ text: String) -> [String] { ["/bin/sh", "-c", text, "script"] }

    private func sink(_ argv: [String], timeout: Duration = .seconds(30)) -> CommandSink {
        CommandSink(name: "command", argv: argv, timeout: timeout, time: clock)
    }

    @Test(arguments: [(0, "ok"), (75, "unavailable"), (1, "rejected"), (2, "rejected"), (127, "rejected")])
    func theExitStatusSaysHowItEnded(_ status: Int, _ expected: String) async throws {
        let result = await sink(script("cat > /dev/null; exit \(status)")).deliver(.sample())
        #expect(result.answer.rawValue == expected)
    }

    @Test func aCommandThatASignalEndedIsUnavailable() async throws {
        #expect(await sink(script("kill -9 $$")).deliver(.sample()).answer.rawValue == "unavailable")
    }

    @Test func aMissingProgramIsUnavailable() async throws {
        #expect(await sink([folder.path("no-such-program")]).deliver(.sample()).answer.rawValue == "unavailable")
    }

    @Test(arguments: [("true", "ok"), ("false", "rejected"), ("no-such-program-anywhere", "unavailable")])
    func programsAreFoundInPATH(_ name: String, _ expected: String) async {
        #expect(await sink([name]).deliver(.sample()).answer.rawValue == expected)
    }

    @Test func theNotificationIsOnStandardInputByteForByte() async throws {
        let output = folder.path("input")
        let notification = OutgoingNotification.sample(padding: 200_000)
        #expect(await sink(script(#"cat > "$1""#) + [output]).deliver(notification) == .ok)
        #expect(try Array(Data(contentsOf: URL(filePath: output))) == notification.payload)
    }

    @Test func onlyNamedVariablesAreInherited() async throws {
        let kept = ["PATH", "HOME", "LANG", "LC_ALL", "LC_TIME", "TZ", "TMPDIR", "USER", "LOGNAME"]
        let others = ["AWS_SECRET_ACCESS_KEY", "CREDENTIALS_DIRECTORY", "LD_PRELOAD", "PATHS", "XLC_ALL", "home"]
        let all = Dictionary(uniqueKeysWithValues: (kept + others).map { ($0, "x") })
        #expect(Set(CommandSink.inherited(from: all).keys) == Set(kept))

        let output = folder.path("variables")
        #expect(await sink(script(#"env > "$1""#) + [output]).deliver(.sample()) == .ok)
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.contains("PATH="))
        // Those that this process has: another one would be set beside threads that read the environment.
        let ofShell = ["PWD", "OLDPWD", "SHLVL", "_"]
        for name in ProcessInfo.processInfo.environment.keys where !kept.contains(name) && !ofShell.contains(name) {
            #expect(!"\n\(text)".contains("\n\(name)="))
        }
    }

    @Test func aCommandThatDoesNotReadItsInputIsStillOK() async throws {
        #expect(await sink(script("exit 0")).deliver(.sample(padding: 200_000)) == .ok)
    }

    /// Both outputs exceed a pipe's capacity; the sink discards them.
    @Test func longOutputIsDiscarded() async throws {
        let text = "head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2; exit 0"
        #expect(await sink(script(text)).deliver(.sample()) == .ok)
    }

    @Test func aFailureReportsTheStatusWithoutOutput() async throws {
        let sink = sink(script("cat; cat >&2; exit 3"))
        #expect(
            await sink.deliver(.sample())
                == .rejected(SinkFailure("The command exited with status 3.", .exitStatus))
        )
    }

    @Test func noShellReadsTheArguments() async throws {
        let output = folder.path("arguments")
        let argument = "$(touch \(folder.path("owned"))); `id` * \"'"
        let argv = script(#"printf '%s\n' "$#" "$2" > "$1""#) + [output, argument]
        #expect(await sink(argv).deliver(.sample()) == .ok)
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "2\n\(argument)\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path("owned")))
    }

    /// Both the program and what it started: an orphan would go on with a notification that is sent again.
    @Test(.timeLimit(.minutes(5))) func aTimeoutKillsTheProcessGroup() async throws {
        let pipe = folder.path("pids")
        #expect(mkfifo(pipe, 0o600) == 0)
        let program = script(#"sleep 1000 & echo "$$ $!" > "$1"; wait"#)
        let (sink, clock) = (sink(program + [pipe], timeout: .seconds(5)), clock)
        async let result = sink.deliver(.sample())
        let text = await BlockingQueue(label: "test.pids").run { FileHandle(forReadingAtPath: pipe)?.availableData }
        let pids = String(decoding: text ?? Data(), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { pid_t($0) }
        #expect(pids.count == 2)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(5))
        #expect(await result == .timeout)
        // A signal that was sent takes a moment to arrive.
        while pids.contains(where: Self.isRunning) { await Task.yield() }
    }

    /// A process that has ended and was not waited for by its parent does not run either.
    private static func isRunning(_ pid: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let state = status.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    }

    @Test func aCancelledAttemptIsUnavailable() async throws {
        let sink = sink(script("sleep 1000"))
        let result = await withTaskGroup(of: SinkResult.self) { group in
            group.addTask { await sink.deliver(.sample()) }
            await clock.sleepers(atLeast: 1)
            group.cancelAll()
            return await group.next()
        }
        #expect(result?.answer == .unavailable)
    }
}
