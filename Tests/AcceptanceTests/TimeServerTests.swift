import Foundation
import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// A real chronyd is asked for the time. It is told to leave this machine's clock alone.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TimeServerTests {
    /// Starts chronyd, gives its port to `body`, and stops it.
    private func withChrony(_ setting: String, _ body: (Workspace, Int) async throws -> Void) async throws {
        let workspace = try Workspace()
        let port = try FreePort.take(ofDatagrams: true)
        try workspace.write(
            """
            \(setting)
            port \(port)
            bindaddress 127.0.0.1
            allow 127.0.0.1
            cmdport 0
            bindcmdaddress /
            pidfile \(workspace.path("chronyd.pid"))

            """,
            to: "chrony.conf"
        )
        // -x: the clock is left alone; -d: in the foreground; -U, -F 0: as whoever runs the tests, in a container too.
        let chrony = try RunningProgram(
            "chronyd",
            ["-x", "-d", "-U", "-F", "0", "-u", NSUserName(), "-f", workspace.path("chrony.conf")],
            log: workspace.url.appending(path: "chrony.log"),
            in: [Repository.root.appending(path: ".build/chrony/usr/sbin"), URL(filePath: "/usr/sbin")]
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(workspace, port)) } catch { result = .failure(error) }
        await chrony.stop(with: SIGKILL)
        try result.get()
    }

    private func client(_ port: Int) -> NTPClient {
        NTPClient(host: "127.0.0.1", port: port) {
            ClockReading(wall: SystemClock().now, monotonic: SystemClock().monotonic)
        }
    }

    @Test func theAgentMeasuresItsClockAgainstChrony() async throws {
        try await withChrony("local stratum 1") { workspace, port in
            let client = client(port)
            // A busy machine can make a trip so long that it says little.
            let short = await eventually {
                (try? await client.sample()).flatMap { $0.roundTrip < .seconds(1) ? $0 : nil }
            }
            let sample = try #require(short)
            var estimator = ClockEstimator()
            #expect(estimator.add(sample) == .used)
            let estimate = try #require(estimator.estimate)
            // It is the same clock.
            #expect(abs(estimate.offset.wholeMilliseconds) <= estimate.uncertainty.wholeMilliseconds + 1)
            #expect(estimate.uncertainty < .seconds(1))

            let mock = MockServer(options: MockServerOptions())
            try await mock.start()
            let configuration = TestConfiguration(
                server: mock.url,
                plans: mock.planIDs,
                sinks: TestConfiguration.webhook(mock.url),
                logLevel: "info"
            )
            let clock = "clock: {source: ntp, ntp_server: \"127.0.0.1:\(port)\", check_interval: 15s}\n"
            try workspace.write(configuration.yaml(in: workspace) + clock, to: "starwatch.yaml")
            let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
            let used = try await eventually { () -> Bool? in
                let samples = #"starwatch_clock_samples_total{source="ntp",result="used"}"#
                return (try await agent.pages.metric(samples) ?? 0) >= 1 ? true : nil
            }
            #expect(used == true)
            let skew = try #require(try await agent.pages.metric("starwatch_clock_skew_seconds"))
            let doubt = try #require(try await agent.pages.metric("starwatch_clock_skew_uncertainty_seconds"))
            #expect(abs(skew) <= doubt + 0.001)
            for source in ["time_endpoint", "date_header"] {
                let series = #"starwatch_clock_samples_total{source="\#(source)",result="used"}"#
                #expect(try await agent.pages.metric(series) == 0)
            }
            #expect(await agent.stop() == 0)
            try await mock.stop()
        }
    }

    /// Without a reference chronyd says that its clock is not right: the alarm, and stratum 0 without a code.
    @Test func aChronyThatKnowsNoTimeIsNotBelieved() async throws {
        try await withChrony("") { _, port in
            let client = client(port)
            let error = await eventually { () -> NTPError? in
                do throws(NTPError) {
                    _ = try await client.sample()
                    return .cancelled
                } catch {
                    return error == .network ? nil : error
                }
            }
            #expect(error == .unsynchronised)
        }
    }
}
