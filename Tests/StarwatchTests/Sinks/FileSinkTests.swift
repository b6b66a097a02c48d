import Dispatch
import Foundation
import Glibc
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct FileSinkTests {
    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func aNotificationIsALineWithItsBytes() async throws {
        let folder = try TestFolder()
        let sink = FileSink(name: "file", path: folder.path("out.jsonl"))
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        #expect(await sink.deliver(.sample("ntf_2")) == .ok)
        let written = try Data(contentsOf: URL(filePath: folder.path("out.jsonl")))
        let expected = [OutgoingNotification.sample("ntf_1"), .sample("ntf_2")].flatMap { $0.payload + [10] }
        #expect(Array(written) == expected)
    }

    @Test func anIDIsWrittenOnceByOneSinkAndByTheNext() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        let sink = FileSink(name: "file", path: path)
        for _ in 0..<3 { #expect(await sink.deliver(.sample("ntf_1")) == .ok) }
        let next = FileSink(name: "file", path: path)
        #expect(await next.deliver(.sample("ntf_1")) == .ok)
        #expect(await next.deliver(.sample("ntf_2")) == .ok)
        #expect(try lines(path).count == 2)
    }

    @Test func onlyTheLastIDsAreKnownToOneSinkAndToTheNext() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        func deliver(_ sink: FileSink, _ ids: ClosedRange<Int>) async throws -> Int {
            for id in ids { #expect(await sink.deliver(.sample("ntf_\(id)")) == .ok) }
            return try lines(path).count
        }
        let sink = FileSink(name: "file", path: path, memory: 3)
        #expect(try await deliver(sink, 1...5) == 5)
        #expect(try await deliver(sink, 3...5) == 5)
        #expect(try await deliver(sink, 2...2) == 6)
        #expect(try await deliver(sink, 4...5) == 6)
        let next = FileSink(name: "file", path: path, memory: 3)
        #expect(try await deliver(next, 4...5) == 6)
        #expect(try await deliver(next, 1...1) == 7)
        #expect(try await deliver(next, 3...3) == 8)
    }

    @Test func aLastLineThatACrashToreIsCutAndWrittenAgain() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        try Data((#"{"id":"ntf_1"}"# + "\n" + #"{"id":"ntf_2","cou"#).utf8).write(to: URL(filePath: path))
        let sink = FileSink(name: "file", path: path)
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        #expect(await sink.deliver(.sample("ntf_2")) == .ok)
        #expect(
            try lines(path)
                == [#"{"id":"ntf_1"}"#, String(decoding: OutgoingNotification.sample("ntf_2").payload, as: UTF8.self)]
        )
    }

    @Test func aFileThatIsOnlyATornLineIsEmptied() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        try Data(#"{"id":"ntf_"#.utf8).write(to: URL(filePath: path))
        #expect(await FileSink(name: "file", path: path).deliver(.sample("ntf_1")) == .ok)
        #expect(try lines(path).count == 1)
    }

    @Test(arguments: ["export PATH=/bin", #"{"other":1"#, #"{"idle":"ntf_1"#])
    func anUnfinishedLineOfAnotherProgramStays(_ line: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write("first\n" + line, to: "out.jsonl")
        let sink = FileSink(name: "file", path: path)
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        let own = String(decoding: OutgoingNotification.sample("ntf_1").payload, as: UTF8.self)
        #expect(try lines(path) == ["first", line, own])
    }

    @Test func aLinkIsNotFollowed() async throws {
        let folder = try TestFolder()
        let target = try folder.write("mine", to: "target")
        let path = folder.path("out.jsonl")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        let result = await FileSink(name: "file", path: path).deliver(.sample())
        #expect(result.answer.rawValue == "unavailable")
        #expect(result.failure?.sentence.contains("is a link") == true)
        #expect(try lines(target) == ["mine"])
    }

    @Test(arguments: [0o660, 0o602])
    func aFileThatOthersCanChangeIsNotWritten(mode: Int) async throws {
        let folder = try TestFolder()
        let path = try folder.write("", to: "out.jsonl")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        #expect(await FileSink(name: "file", path: path).deliver(.sample()).answer.rawValue == "unavailable")
        #expect(try lines(path).isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change an owner."), arguments: ["out.jsonl", "out.jsonl.1"])
    func aFileOfAnotherUserIsNeitherWrittenNorBelieved(_ name: String) async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        let strange = try folder.write(#"{"id":"ntf_1"}"# + "\n", to: name)
        try FileManager.default.setAttributes([.ownerAccountID: 4_000_000], ofItemAtPath: strange)
        let result = await FileSink(name: "file", path: path).deliver(.sample("ntf_1"))
        #expect(result.answer.rawValue == (strange == path ? "unavailable" : "ok"))
        #expect(try lines(strange).count == 1)
        if strange != path { #expect(try lines(path).count == 1) }
    }

    /// As logrotate does by default, and as it does with `copytruncate`; between two lines, and before the next start.
    @Test(arguments: [false, true], ["out.jsonl.1", "out.jsonl-20260101"])
    func aFileThatIsRotatedKeepsEachIDOnce(copies: Bool, name: String) async throws {
        let folder = try TestFolder()
        let (path, rotated) = (folder.path("out.jsonl"), folder.path(name))
        func rotate() throws {
            if copies {
                try? FileManager.default.removeItem(atPath: rotated)
                try FileManager.default.copyItem(atPath: path, toPath: rotated)
                try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 0)
            } else {
                try FileManager.default.moveItem(atPath: path, toPath: rotated)
            }
        }
        let sink = FileSink(name: "file", path: path)
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        try rotate()
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        #expect(await sink.deliver(.sample("ntf_2")) == .ok)
        // The next one, after a death before the record.
        #expect(await FileSink(name: "file", path: path).deliver(.sample("ntf_1")) == .ok)
        #expect(try lines(path).count == 1)
        #expect(try lines(rotated).count == 1)
    }

    @Test func onlyWhatCanBeTheFileRotatedIsRead() throws {
        let folder = try TestFolder()
        for name in [
            "a.jsonl", "a.jsonl.1", "a.jsonl.2.gz", "b.jsonl.1", "a.json", "a.jsonl-1", "a.jsonl2", "a.jsonl.bak",
            "a.jsonl.3",
        ] {
            try folder.write("x", to: name)
        }
        try FileManager.default.createDirectory(atPath: folder.path("a.jsonl.d"), withIntermediateDirectories: false)
        let others: Set = [RotatedFiles.plain(folder.path("a.jsonl.3"))]
        let found = RotatedFiles.newest(9, of: folder.path("a.jsonl"), except: others)
            .map { URL(filePath: $0).lastPathComponent }
        #expect(Set(found) == ["a.jsonl.1", "a.jsonl-1"])
        #expect(RotatedFiles.newest(1, of: folder.path("a.jsonl")).count == 1)
    }

    @Test(arguments: ["out.jsonl", "out.1"])
    func anotherSinksFileIsNotThisOneRotated(_ name: String) async throws {
        let folder = try TestFolder()
        let (path, other) = (folder.path("out"), folder.path(name))
        #expect(await FileSink(name: "other", path: other, others: [path]).deliver(.sample("ntf_1")) == .ok)
        #expect(await FileSink(name: "file", path: path, others: [other]).deliver(.sample("ntf_1")) == .ok)
        #expect(try lines(path).count == 1)
        #expect(try lines(other).count == 1)
    }

    // MARK: - Many accounts

    /// A sink of many accounts, whose pseudonyms have digits alone, as rotated files do.
    private func sinkOfMany(_ path: String, others: [String] = [], memory: Int = 10_000) -> FileSink {
        var sink = FileSink(name: "file", path: path, others: others, memory: memory)
        sink.pseudonym = { "did:hash:000000000000000\($0 == TestAccount.ethr ? 1 : 2)" }
        return sink
    }

    @Test(arguments: [
        ("out.jsonl", "out.0000000000000001.jsonl"), ("out", "out.0000000000000001"),
        (".out", ".out.0000000000000001"), ("a.b/out", "a.b/out.0000000000000001"),
    ])
    func theFileOfAnAccountHasItsPseudonymBeforeTheExtension(_ path: String, _ own: String) {
        #expect(sinkOfMany("/x/" + path).sink(of: TestAccount.ethr, at: SinkAddress()).host == "/x/" + own)
    }

    @Test(arguments: ["out", "out.jsonl"])
    func filesOfOtherAccountsAndSinksAreNoRotatedFiles(_ name: String) async throws {
        let folder = try TestFolder()
        let (path, other) = (folder.path(name), folder.path(name + ".1"))
        let sinks = [sinkOfMany(other, others: [path]), sinkOfMany(path, others: [other])]
        for sink in sinks {
            for account in [TestAccount.ethr, TestAccount.other] {
                let own = sink.sink(of: account, at: SinkAddress())
                for _ in 0..<2 { #expect(await own.deliver(.sample("ntf_1")) == .ok) }
                #expect(try lines(own.host).count == 1)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(".")).count == 4)
    }

    @Test func idsOfManyFilesThatAreForgottenAreReadAgain() async throws {
        let folder = try TestFolder()
        let sink = sinkOfMany(folder.path("out"), memory: 3)
        for _ in 0..<2 {
            for account in [TestAccount.ethr, TestAccount.other] {
                let own = sink.sink(of: account, at: SinkAddress())
                for id in 1...3 { #expect(await own.deliver(.sample("ntf_\(id)")) == .ok) }
                #expect(try lines(own.host).count == 3)
            }
        }
    }

    @Test func aFullFileIsRememberedWhateverOthersGet() {
        let limit = 3
        var files = RecentFiles(limit: limit)
        var full = RecentIDs(capacity: limit)
        for id in 0..<limit { full.insert("\(id)") }
        files.keep(full, of: "full")
        var one = RecentIDs(capacity: limit)
        one.insert("0")
        for number in 0..<1000 {
            files.keep(one, of: "\(number)")
            // The file that is written all the time stays, and so does the one before it.
            let ids = files.take("full")
            #expect(ids?.count == limit)
            files.keep(ids ?? full, of: "full")
            #expect(files.take("\(number)")?.count == 1)
            files.keep(one, of: "\(number)")
        }
        #expect(files.take("0") == nil, "All files are remembered.")
    }

    @Test func theIDsOfAFileOutliveAWriteThatFailed() async throws {
        // The limit holds for the whole process.
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let path = folder.path("out.jsonl")
            let sink = FileSink(name: "file", path: path)
            try #require(await sink.deliver(.sample("ntf_1")) == .ok)
            let size = try Data(contentsOf: URL(filePath: path)).count
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let former = limit.rlim_cur
            limit.rlim_cur = rlim_t(size + 5)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try #require(await sink.deliver(.sample("ntf_2")).answer == .unavailable)
            try #require(try Data(contentsOf: URL(filePath: path)).count == size)
            // Only what the sink remembers can tell now that the line was written.
            try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 0)
            limit.rlim_cur = former
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try #require(await sink.deliver(.sample("ntf_1")) == .ok)
            try #require(try Data(contentsOf: URL(filePath: path)).isEmpty)
        }
    }

    /// With a hung file system, as on a network, each visit would keep its place.
    @Test func aFileSystemThatHangsEndsTheWaitAndThenRefusesAtOnce() async throws {
        let folder = try TestFolder()
        let (path, clock) = (folder.path("out.jsonl"), ManualClock())
        let sink = FileSink(name: "file", path: path, time: clock)
        let (hasBegun, hangs) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let first = sink.writer.run { _ in
            hasBegun.signal()
            hangs.wait()
            return .ok
        }
        await BlockingQueue(label: "test").run { hasBegun.wait() }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: FileWriter.patience)
        #expect(await first == .timeout)
        #expect(await sink.deliver(.sample("ntf_1")) == .timeout)
        #expect(clock.sleeperCount == 0)
        hangs.signal()
        await sink.writer.queue.run {}
        #expect(await sink.deliver(.sample("ntf_1")) == .ok)
        #expect(try lines(path).count == 1)
    }

    // MARK: - Other content

    @Test func linesOfOthersAreLeftAlone() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        try Data("not JSON\n{\"other\":1}\n".utf8).write(to: URL(filePath: path))
        #expect(await FileSink(name: "file", path: path).deliver(.sample("ntf_1")) == .ok)
        #expect(try lines(path).prefix(2) == ["not JSON", #"{"other":1}"#])
        #expect(try lines(path).count == 3)
    }

    @Test func aPathThatCannotBeWrittenIsUnavailableUntilItCan() async throws {
        let folder = try TestFolder()
        let sink = FileSink(name: "file", path: folder.path("missing/out.jsonl"))
        #expect(await sink.deliver(.sample()).answer == .unavailable, "A file without a folder was written.")
        try FileManager.default.createDirectory(atPath: folder.path("missing"), withIntermediateDirectories: false)
        #expect(await sink.deliver(.sample()) == .ok)
        #expect(try lines(folder.path("missing/out.jsonl")).count == 1)
    }

    @Test func onlyTheOwnerMayReadTheFile() async throws {
        let folder = try TestFolder()
        let path = folder.path("out.jsonl")
        _ = await FileSink(name: "file", path: path).deliver(.sample())
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
