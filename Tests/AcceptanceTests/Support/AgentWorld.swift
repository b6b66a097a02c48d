import MockEndorser

/// A mock server, and the files of an agent that polls it.
struct AgentWorld: Sendable {
    let mock: MockServer
    let workspace: Workspace
    private(set) var configuration: TestConfiguration

    var config: String { workspace.path("starwatch.yaml") }
    var database: String { workspace.path("starwatch.db") }

    /// Starts the server, and writes the configuration.
    ///
    /// - Parameters:
    ///   - shared: A server to share; `nil` starts one.
    ///   - server: Changes the options of the server, which counts no requests.
    ///   - configure: Changes the configuration, whose sink is a file.
    init(
        mock shared: MockServer? = nil,
        server: (inout MockServerOptions) -> Void = { _ in },
        configure: (inout TestConfiguration, Workspace) throws -> Void = { _, _ in }
    ) async throws {
        var options = MockServerOptions()
        options.requestsPerMinute = nil
        server(&options)
        mock = shared ?? MockServer(options: options)
        if shared == nil { try await mock.start() }
        workspace = try Workspace()
        configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.file(workspace)
        )
        try configure(&configuration, workspace)
        try write()
    }

    /// Writes the configuration to its file.
    ///
    /// - Parameter change: What is different in the file.
    func write(_ change: (inout TestConfiguration) -> Void = { _ in }) throws {
        var configuration = configuration
        change(&configuration)
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
    }

    /// Starts `starwatch run`.
    func start() async throws -> RunningAgent { try await RunningAgent(config: config, in: workspace) }
}
