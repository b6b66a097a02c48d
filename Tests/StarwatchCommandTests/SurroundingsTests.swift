import Foundation
import Glibc
import StarwatchTestKit
import Testing

@testable import StarwatchCommand

/// The mistakes of a valid configuration that only this machine shows.
@Suite struct SurroundingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The problems of `check`, with `FOLDER` for the folder of the file.
    private func problems(_ yaml: String) async throws -> [String] {
        let listen = yaml.contains("http:") ? "" : "http: {listen: \"127.0.0.1:0\"}\n"
        let file = try folder.write(yaml + listen, to: "starwatch.yaml")
        let loaded = try ConfigurationLoader(environment: [:], workingDirectory: folder.path).load(file: file)
        do throws(ConfigurationFailure) { try await loaded.check() } catch {
            return error.lines.map { $0.replacing(folder.path, with: "FOLDER") }
        }
        return []
    }

    private func sink(_ argv: String) -> String {
        "delivery:\n  sinks:\n    - name: program\n      kind: command\n      argv: \(argv)\n"
    }

    @Test func aPathOfAProgramStartsAtTheFolderOfTheFile() async throws {
        try folder.write("#!/bin/sh\n", to: "notify", mode: 0o700)
        #expect(try await problems(sink("[./notify]")) == [])
        #expect(
            try await problems(sink("[./other]")) == [
                "FOLDER/starwatch.yaml:5: delivery.sinks[0].argv: there is no program FOLDER/other; install it, or correct the path."
            ]
        )
    }

    @Test func theContentOfABadSecretHasTheLineOfItsSetting() async throws {
        try folder.write("whsec_no base64 at all, and long enough!", to: "hook.secret", mode: 0o600)
        let sinks = "delivery:\n  sinks:\n    - {name: log, kind: log}\n    - name: hook\n      kind: webhook\n"
        let lines = try await problems(sinks + "      url: https://a.test\n      secret_file: hook.secret\n")
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix(
                "FOLDER/starwatch.yaml:7: delivery.sinks[1].secret_file: must hold the secret's bytes"
            ) == true
        )
    }

    @Test func theContentOfTheMasterKeyIsChecked() async throws {
        let key = try folder.write("garbage", to: "master.key", mode: 0o600)
        #expect(
            try await problems("security:\n  master_key_file: master.key\n") == [
                "FOLDER/starwatch.yaml:2: security.master_key_file: must hold 32 bytes in base64 on one line; 'starwatch keys init' makes such a file."
            ]
        )
        try FileManager.default.removeItem(atPath: key)
        try folder.write(Data(repeating: 7, count: 32).base64EncodedString() + "\n", to: "master.key", mode: 0o600)
        #expect(try await problems("security:\n  master_key_file: master.key\n") == [])
    }

    @Test func aSinkOfAFileNeedsItsFolder() async throws {
        let sink = "delivery:\n  sinks:\n    - {name: f, kind: file, path: no/f.jsonl}\n"
        #expect(
            try await problems(sink) == [
                "FOLDER/starwatch.yaml:3: delivery.sinks[0].path: is in a folder that does not exist; create it for the agent's user."
            ]
        )
    }

    @Test(arguments: [
        ("[/nowhere/notify]", "there is no program /nowhere/notify; install it, or correct the path."),
        ("[no-such-program]", "there is no program no-such-program; install it, or correct the path."),
        ("[\"/bin/cat -n\"]", "names no program; write the program and each argument as an item of its own."),
        ("[/tmp]", "there is no program /tmp; install it, or correct the path."),
    ])
    func aProgramThatIsNotThereIsReportedAtItsLine(argv: String, says: String) async throws {
        let lines = try await problems(sink(argv))
        #expect(lines == ["FOLDER/starwatch.yaml:5: delivery.sinks[0].argv: \(says)"])
        #expect(try await problems(sink("[cat]")) == [])
    }

    @Test func aProgramThatAllCanChangeOrNobodyCanRunIsReported() async throws {
        let open = try folder.write("#!/bin/sh\n", to: "open", mode: 0o777)
        let closed = try folder.write("#!/bin/sh\n", to: "closed", mode: 0o644)
        #expect(
            try await problems(sink("[\(open)]")).first?.hasSuffix(
                "FOLDER/open can be changed by other users; run 'chmod go-w FOLDER/open'."
            ) == true
        )
        #expect(
            try await problems(sink("[\(closed)]")).first?.hasSuffix(
                "FOLDER/closed is not executable; run chmod +x on it."
            ) == true
        )
        let token = "auth:\n  kind: command\n  argv: [\(open)]\n"
        #expect(try await problems(token).first?.contains("starwatch.yaml:3: auth.argv: ") == true)
    }

    @Test func aProgramBelowAFolderThatAllCanChangeOrOfAnotherUserIsReported() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/shared/bin",
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let program = try folder.write("#!/bin/sh\n", to: "shared/bin/notify", mode: 0o755)
        #expect(try await problems(sink("[\(program)]")) == [])
        for mode in [0o777, 0o775, 0o1777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path + "/shared")
            let lines = try await problems(sink("[\(program)]"))
            let says = "FOLDER/shared/bin/notify can be replaced by other users; run 'chmod go-w FOLDER/shared'."
            #expect(lines.map { $0.hasSuffix(says) } == (mode == 0o1777 ? [] : [true]), "\(mode): \(lines)")
        }
        guard geteuid() == 0 else { return }
        try folder.giveAway("shared/bin/notify")
        #expect(
            try await problems(sink("[\(program)]")).first?.hasSuffix(
                "FOLDER/shared/bin/notify belongs to another user; run 'chown' on FOLDER/shared/bin/notify."
            ) == true
        )
    }

    @Test(arguments: [
        // A label of more than 63 bytes fails in the resolver without a DNS query, which can take long or find something.
        (String(repeating: "a", count: 64) + ".invalid:9464", "there is no host of that name"),
        ("192.0.2.77:9464", "does not have that address"),
    ])
    func anAddressThatIsNotThisMachinesIsReported(address: String, says: String) async throws {
        let lines = try await problems("http:\n  listen: \(address)\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("FOLDER/starwatch.yaml:2: http.listen: ") == true)
        #expect(lines.first?.contains(says) == true)
    }

    @Test func aPortInUseIsReportedUnlessTheAgentHasIt() async throws {
        let listener = try Listener()
        defer { listener.close() }
        let yaml = "http:\n  listen: 127.0.0.1:\(listener.port)\n"
        let lines = try await problems(yaml)
        let says = "another program listens on port \(listener.port); choose another port, or stop it."
        #expect(lines == ["FOLDER/starwatch.yaml:2: http.listen: \(says)"])
        let file = try folder.write(yaml, to: "starwatch.yaml")
        var surroundings = Surroundings(try ConfigurationLoader(environment: [:]).load(file: file))
        #expect(!surroundings.isRunning)
        surroundings.isRunning = true
        #expect(surroundings.problems == [])
    }

    /// Root could run it.
    @Test(arguments: [
        "auth: {kind: command, argv: [FOLDER/program]}", "security: {master_key_command: [FOLDER/program]}",
        "delivery: {sinks: [{name: a, kind: command, argv: [FOLDER/program]}]}",
    ]) func noCommandRunsAProgramThatOthersCanChange(setting: String) async throws {
        try folder.write("#!/bin/sh\ntouch \(folder.path)/ran\n", to: "program", mode: 0o777)
        let poll = "polls: {starred_projects: {kind: starred_projects, plan_ids: [x]}}\n"
        let server = "server: {url: 'http://127.0.0.1:1'}\ncontrol: {socket: s.sock}\n"
        let identity = "identity: {did: 'did:ethr:0x00000000000000000000000000000000000000aa'}\n"
        let yaml = poll + server + identity + setting.replacing("FOLDER", with: folder.path) + "\n"
        let file = try folder.write(yaml, to: "starwatch.yaml")
        for command in ["check", "doctor", "sinks test a", "poll starred_projects", "keys encrypt-database"] {
            let words = command.split(separator: " ").map(String.init) + ["--config", file]
            #expect(await StarwatchTool.run(words).exitCode != .good, "\(command)")
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/ran"), "\(command)")
        }
    }

    @Test(arguments: [
        ("nonsense", 4, "auth.key_file: The file of auth.key_file cannot be used"),
        (String(repeating: "1", count: 64), 4, "auth.key_file: The key in auth.key_file does not match identity.did"),
    ])
    func whatOnlyTheAgentFindsHasItsLineToo(key: String, line: Int, says: String) async throws {
        try folder.write(key, to: "key")
        let did = "did:ethr:0x00000000000000000000000000000000000000aa"
        let lines = try await problems("auth:\n  kind: did_key\n\n  key_file: key\nidentity:\n  did: \(did)\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("FOLDER/starwatch.yaml:\(line): \(says)") == true)
    }
}

/// A port that is in use.
private struct Listener {
    let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func close() { Glibc.close(descriptor) }
}
