import Foundation
import ProgramTestKit
import Synchronization

/// A headless Chromium with a profile of its own, spoken to in the DevTools protocol over a pipe.
final class Browser: Sendable {
    private struct State {
        var unread = Data()
        var answers: [Int: JSON] = [:]
        var events: [JSON] = []
        var lastID = 0
    }

    private let process: Process
    private let input: FileHandle
    private let output: FileHandle
    private let state = Mutex(State())

    init(in workspace: Workspace) throws {
        let chromium = try Program.find("chromium").path
        let (toBrowser, fromBrowser) = (Pipe.make(), Pipe.make())
        process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            // The protocol is spoken on descriptors 3 and 4, which Foundation cannot hand on.
            "-c", #"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#, "sh",
            chromium, "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(workspace.path("profile"))",
            // The pages are our own, and root, as in a container, has no sandbox.
            "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank",
        ]
        process.standardInput = toBrowser
        process.standardOutput = fromBrowser
        process.standardError = FileHandle.nullDevice
        input = toBrowser.fileHandleForWriting
        output = fromBrowser.fileHandleForReading
        try process.start()
        output.readabilityHandler = { [weak self] handle in self?.take(handle.availableData) }
    }

    deinit {
        output.readabilityHandler = nil
        if process.isRunning { process.terminate() }
    }

    /// Ends the browser and waits until it is gone, so that its profile can be removed.
    func close() async {
        // Its answer may be lost with the pipe; and what does not end by itself has nothing to save.
        _ = try? post("Browser.close")
        await process.end(within: .seconds(3))
    }

    /// Sends a command and returns its result.
    @discardableResult
    func call(_ method: String, _ parameters: JSON = [:], session: String? = nil) async throws -> JSON {
        let id = try post(method, parameters, session: session)
        let answer = await eventually { self.state.withLock { $0.answers.removeValue(forKey: id) } }
        guard let answer else { throw AcceptanceError("chromium did not answer \(method)") }
        if let error = answer["error"]["message"].text { throw AcceptanceError("\(method): \(error)") }
        return answer["result"]
    }

    /// Sends a command; the number its answer will have.
    private func post(_ method: String, _ parameters: JSON = [:], session: String? = nil) throws -> Int {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        var message: [String: JSON] = ["id": .number(Double(id)), "method": .string(method), "params": parameters]
        if let session { message["sessionId"] = .string(session) }
        try input.write(contentsOf: JSONEncoder().encode(message) + [0])
        return id
    }

    /// The events of a session since they were last taken.
    func takeEvents(of session: String) -> [JSON] {
        state.withLock { state in
            defer { state.events.removeAll { $0["sessionId"].text == session } }
            return state.events.filter { $0["sessionId"].text == session }
        }
    }

    private func take(_ data: Data) {
        state.withLock { state in
            state.unread += data
            while let end = state.unread.firstIndex(of: 0) {
                let message = try? JSONDecoder().decode(JSON.self, from: Data(state.unread[..<end]))
                state.unread = Data(state.unread[(end + 1)...])
                guard let message else { continue }
                if let id = message["id"].number {
                    state.answers[Int(id)] = message
                } else {
                    state.events.append(message)
                }
            }
        }
    }
}
