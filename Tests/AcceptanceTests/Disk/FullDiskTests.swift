import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The black box on a disk that is really full: a tmpfs in a mount namespace of the test's own.
@Suite(.timeLimit(.minutes(5)))
struct FullDiskTests {
    /// Why the kernel refuses a mount; `nil` if it does not.
    private static let refusal: String? = {
        let process = Process()
        let errors = Pipe.make()
        guard let program = try? Program.find("unshare") else { return "unshare is not installed" }
        process.executableURL = program
        process.arguments = unshare + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
        do { try process.start() } catch { return "\(error)" }
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : said
    }()

    private static let unshare = geteuid() == 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"]

    /// Where tests must not be skipped, a refusal fails them.
    private static var canRun: Bool { refusal == nil || ProcessInfo.processInfo.environment["CI"] != nil }

    private struct Report: Decodable {
        struct Item: Decodable {
            let problem: String
        }
        struct Entry: Decodable {
            let event: String
            let text: String
        }
        let running: Bool
        let problems: [Item]
        let entries: [Entry]
    }

    /// Runs an agent on the small disk, fills the disk, acts until the agent says it and 40 times more, and kills the agent.
    private static let script = """
        set -e
        starwatch=$1 config=$2 disk=$3
        mount -t tmpfs -o size=3m,mode=700 tmpfs "$disk"
        "$starwatch" run --config "$config" 2>"$disk.log" &
        agent=$!
        trap 'kill -9 $agent' EXIT
        for try in $(seq 1000); do
            code=0
            "$starwatch" status --config "$config" >/dev/null 2>&1 || code=$?
            # 3: no agent answers.
            test $code -ne 3 && break
            sleep 0.2
        done
        dd if=/dev/zero of="$disk/filling" bs=4k 2>/dev/null || true
        for try in $(seq 1000); do
            "$starwatch" server clear-wait --config "$config" >/dev/null 2>&1 || true
            grep -q 'store_full' "$disk.log" && break
            sleep 0.2
        done
        test "$(dd if=/dev/zero of="$disk/more" bs=4k count=1 2>&1 | grep -c 'No space')" -gt 0
        for act in $(seq 40); do "$starwatch" server clear-wait --config "$config" >/dev/null 2>&1 || true; done
        kill -9 $agent
        wait $agent || true
        trap - EXIT
        "$starwatch" incident --since 1h --json --config "$config"
        """

    @Test(.enabled(if: canRun, "The kernel allows no mount namespace here."))
    func theBlackBoxGetsItsRecordsAndTellsThatTheStoreWasFull() async throws {
        if let refusal = Self.refusal { return #expect(Bool(false), "\(refusal)") }
        let world = try await AgentWorld {
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.logLevel = "notice"
        }
        let disk = world.workspace.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let yaml = try String(contentsOfFile: world.config, encoding: .utf8)
        try world.workspace.write(yaml.replacing(world.database, with: disk + "/starwatch.db"), to: "starwatch.yaml")
        let arguments = ["sh", "-c", Self.script, "sh", Binary.starwatch.path, world.config, disk]
        let result = try await runToEnd(try Program.find("unshare"), Self.unshare + arguments)
        let log = (try? String(contentsOfFile: disk + ".log", encoding: .utf8)) ?? ""
        #expect(result.status == 0, "\(result.errors)\n\(log.suffix(3000))")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(!report.running)
        #expect(report.problems.map(\.problem).contains("store_full"), "\(result.output)")
        let began = report.entries.lastIndex { $0.event == "problem.began" && $0.text.contains("store_full") }
        // The actions after it were recorded on the full disk. They need more room than the page of the first records has.
        let acted = report.entries.suffix(from: try #require(began)).filter { $0.event == "operator.action" }
        #expect(acted.count >= 40)
        #expect(report.entries.last?.event == "run.killed")
        try await world.mock.stop()
    }
}
