import Foundation
import Synchronization

/// A tab that writes down whatever goes wrong in it.
final class BrowserTab: Sendable {
    /// A node of the accessibility tree: what a screen reader has of the page.
    struct Node: Sendable, Hashable {
        var role: String
        var name: String
        var level: Int?
    }

    private let browser: Browser
    private let session: String
    private let seen = Mutex<[JSON]>([])

    init(in browser: Browser) async throws {
        self.browser = browser
        let target = try await browser.call("Target.createTarget", ["url": "about:blank"])["targetId"]
        let attached = try await browser.call("Target.attachToTarget", ["targetId": target, "flatten": true])
        session = attached["sessionId"].text ?? ""
        for domain in ["Page", "Runtime", "Log", "Network", "Audits", "Accessibility"] {
            try await send("\(domain).enable")
        }
    }

    @discardableResult
    func send(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await browser.call(method, parameters, session: session)
    }

    /// As a phone or a desk has it.
    func resize(width: Int, height: Int) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
                "mobile": .bool(width < 500),
            ]
        )
    }

    func prefer(_ scheme: String) async throws {
        let feature: JSON = ["name": "prefers-color-scheme", "value": .string(scheme)]
        try await send("Emulation.setEmulatedMedia", ["features": [feature]])
    }

    /// Opens a page and waits until it is loaded.
    func open(_ url: String) async throws {
        let frame = try await send("Page.navigate", ["url": .string(url)])
        if let error = frame["errorText"].text { throw AcceptanceError("\(url): \(error)") }
        try await loaded()
    }

    /// Waits until a page has been loaded since the last one.
    func loaded() async throws {
        let isLoaded = await eventually { self.events("Page.loadEventFired", taking: true).isEmpty ? nil : true }
        guard isLoaded == true else { throw AcceptanceError("the page was not loaded") }
    }

    /// The value of an expression in the page; works where the page's own scripts may not.
    func evaluate(_ expression: String) async throws -> JSON {
        let answer = try await send(
            "Runtime.evaluate",
            ["expression": .string(expression), "returnByValue": true, "awaitPromise": true, "userGesture": true]
        )
        if let text = answer["exceptionDetails"]["exception"]["description"].text { throw AcceptanceError(text) }
        return answer["result"]["value"]
    }

    /// Accessibility tree, in page order.
    func accessibilityTree() async throws -> [Node] {
        let nodes = try await send("Accessibility.getFullAXTree")["nodes"].list
        return nodes.filter { !$0["ignored"].isTrue }.map { node in
            let level = node["properties"].list.first { $0["name"].text == "level" }
            return Node(
                role: node["role"]["value"].text ?? "",
                name: node["name"]["value"].text ?? "",
                level: level?["value"]["value"].number.map { Int($0) }
            )
        }
    }

    /// Addresses that were asked for.
    var requests: [String] {
        events("Network.requestWillBeSent").compactMap { $0["params"]["request"]["url"].text }
    }

    /// Whatever the console, the policy or the page's scripts complained of.
    var complaints: [String] {
        let kinds = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded"]
        return kinds.flatMap { kind in
            events(kind).map { event in
                let bytes = (try? JSONEncoder().encode(event["params"])) ?? Data()
                return "\(kind): \(String(decoding: bytes, as: UTF8.self))"
            }
        }
    }

    private func events(_ method: String, taking: Bool = false) -> [JSON] {
        let new = browser.takeEvents(of: session)
        return seen.withLock { seen in
            seen += new
            defer { if taking { seen.removeAll { $0["method"].text == method } } }
            return seen.filter { $0["method"].text == method }
        }
    }
}
