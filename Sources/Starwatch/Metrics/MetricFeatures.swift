package import StarwatchCore
import StarwatchPolling

/// The optional features whose metrics are on the page from the start. The series of another feature appear when they
/// count; the families of digests, callbacks and web configurations do not appear at all.
package struct MetricFeatures: Sendable, Hashable {
    package var endpoints = Set(Endpoint.allCases)
    package var phases = Set(RequestPhase.allCases)
    package var results = Set(RequestResult.allCases)
    package var failures = Set(FailureLabel.allCases)
    /// Names of the polls that the contract set counts together: those of the kind `starred_projects`.
    package var contractPolls: Set<String> = ["starred_projects"]
    /// Names of the sinks that send no requests.
    package var localSinks: Set<String> = []
    /// Names of the sinks that send mails.
    package var mailSinks: Set<String> = []
    /// Whether a poll uses an endpoint that a server can lack.
    package var hasOptionalEndpoints = true
    /// Whether a sink has hours.
    package var hasSinkHours = true
    /// Whether something follows a time zone other than UTC.
    package var hasTimeZones = true
    package var clockSources = Set(ClockSource.allCases)
    package var controlOperations = Set(ControlOperation.allCases)
    package var controlRefusals = Set(ControlRefusal.allCases)
    package var isEncrypted = true
    package var webPorts = Set(ServedPort.allCases)
    var hasWebPorts: Bool { !webPorts.isEmpty }
    /// Whether a server is known to name replaced claims. It never is from the start, except in the catalogue.
    package var namesReplacedClaims = true
    /// Whether a poll asks for the account's own plans.
    package var namesOwnPlans = true
    package var hasDigests = true
    package var hasCallbacks = true
    package var hasCanary = true
    package var hasFleet = true
    package var hasHostPolls = true

    /// All features, as the catalogue lists them.
    package static let all = MetricFeatures()

    private init() {}

    /// Whether a sink can fail for a reason.
    func canFail(_ sink: String, for reason: FailureLabel) -> Bool {
        reason.isOfMail ? mailSinks.contains(sink) : reason.isLocal || !localSinks.contains(sink)
    }
}

extension MetricFeatures {
    /// The features of a configuration. The polls of a host program appear at their first use.
    package init(_ options: AgentOptions) {
        self.init()
        let kinds = Set(options.polls.map(\.kind))
        contractPolls = Set(options.polls.lazy.filter { $0.kind.isOfPlans }.map(\.name.rawValue))
        // Until the dialect is known, the assumed one decides.
        let dialect = options.assumedDialect
        let asksForTime =
            options.clock.source == .timeEndpoint || options.clock.source == .auto && dialect.hasTimeEndpoint
        endpoints = asksForTime ? [.time] : []
        endpoints.formUnion(kinds.flatMap(\.endpoints))
        if kinds.contains(where: \.isOfPlans) {
            switch options.acknowledge.mode {
            case .server: endpoints.insert(.acknowledge)
            case .auto where dialect.hasAcknowledgement: endpoints.insert(.acknowledge)
            case .auto, .local: break
            }
        }
        // Answers of others than the server are rare.
        results.subtract([.redirected, .html])
        failures.subtract([.http3xx, .html])
        namesReplacedClaims = false
        namesOwnPlans = kinds.contains { $0.scope == .ownPlans }
        hasOptionalEndpoints = kinds.contains(where: \.endpoint.isOptional)
        if !options.server.url.hasPrefix("https:") { phases.remove(.tls) }
        localSinks = Set(options.delivery.sinks.filter { !$0.kind.type.sendsRequests }.map(\.name))
        mailSinks = Set(options.delivery.sinks.filter { $0.kind.type.kind == "email" }.map(\.name))
        hasSinkHours = options.delivery.sinks.contains { $0.hours != nil }
        hasTimeZones = options.needsLocalZone || options.namedZones.contains { !ZoneDatabase.isUTC($0.zone) }
        if options.clock.source != .ntp { clockSources = [.timeEndpoint, .dateHeader] }
        isEncrypted = options.security.isEncrypted
        hasDigests = !options.digests.isEmpty
        // On the socket a refusal is rare.
        if options.control.feedTokenFile == nil { controlRefusals.remove(.formerToken) }
        if options.control.listen == nil { controlRefusals = [] }
        webPorts = []
        if options.http.webConfigFile != nil { webPorts.insert(.http) }
        if options.control.listen != nil, options.control.webConfigFile != nil { webPorts.insert(.control) }
        if options.control.tokenFile != nil || !webPorts.contains(.control) { controlRefusals.remove(.password) }
        // Few agents ever use these.
        controlOperations.subtract([
            .sinkTest, .sinkClearWait, .serverClearWait, .identityErase, .keysRotate, .quarantineDiscard,
            .feedToken,
        ])
        hasFleet = options.fleetOfMany != nil
        if !hasFleet { controlOperations.remove(.accountsChange) }
        if !hasDigests { controlOperations.subtract([.digestsFetch, .digestsShow]) }
        if options.delivery.feedKeep == nil {
            controlOperations.remove(.notificationsFollow)
        }
        hasCallbacks = CallbackKind.allCases.contains { options.callbacks.receiver(of: $0) != nil }
        hasCanary = options.canary != nil
        hasHostPolls = false
    }
}
