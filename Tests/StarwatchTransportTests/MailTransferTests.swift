import Dispatch
import Foundation
import ProgramTestKit
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// A mail server that says what a test wants it to.
private final class ScriptedMailServer: Sendable {
    /// The replies by command, such as `RCPT`; `GREETING` and `MESSAGE` are those to a connection and to a message. `nil`
    /// closes the connection.
    typealias Script = @Sendable (_ command: String) -> String?

    private let server: LoopbackServer
    private let seen = Seen()

    /// What the clients said.
    private final class Seen: Sendable {
        let commands = Mutex<[String]>([])
        let messages = Mutex<[String]>([])
    }

    var commands: [String] { seen.commands.withLock { $0 } }
    var messages: [String] { seen.messages.withLock { $0 } }
    var url: String { "smtp://127.0.0.1:\(server.port)" }

    init(_ script: @escaping Script) throws {
        let seen = seen
        server = try LoopbackServer { connection in
            func say(_ command: String) -> Bool {
                let standard = [
                    "EHLO": "250-here\r\n250-AUTH PLAIN\r\n250 SIZE 10000", "AUTH": "334 ", "DATA": "354 go",
                ]
                let texts = ["GREETING": "220 hello", "CREDENTIALS": "235 ok", "MESSAGE": "250 2.0.0 kept"]
                let known = script(command)
                guard let reply = known == "" ? standard[command] ?? texts[command] ?? "250 ok" : known else {
                    return false
                }
                return connection.write(reply + "\r\n")
            }
            guard say("GREETING") else { return }
            while let line = connection.readLine() {
                seen.commands.withLock { $0.append(line) }
                let command = String(line.prefix { $0 != " " })
                guard command != "QUIT", say(command) else { return }
                if command == "AUTH" {
                    guard connection.readLine() != nil, say("CREDENTIALS") else { return }
                } else if command == "DATA", script("DATA")?.isEmpty != false {
                    var message = ""
                    while let line = connection.readLine(), line != "." { message += line + "\r\n" }
                    seen.messages.withLock { [message] in $0.append(message) }
                    guard say("MESSAGE") else { return }
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct MailTransferTests {
    private static let envelope = MailEnvelope(
        sender: "agent@example.org",
        recipients: ["me@example.org", "you@example.org"],
        login: nil,
        demandsTLS: false
    )

    private func send(
        _ message: String? = "Subject: x\r\n\r\n.dot\r\n..\r\nend\r\n",
        _ envelope: MailEnvelope = envelope,
        to url: String,
        timeout: Duration = longestWait
    ) async throws -> HTTPExchange {
        let client = try makeMailClient()
        defer { client.shutdown() }
        let mail = message.map { Array($0.utf8) }
        return await client.exchange(HTTPRequest(mail: mail, envelope: envelope, url: url, timeout: timeout))
    }

    private func makeMailClient() throws -> HTTPClient {
        var options = HTTPClientOptions().patient
        options.isForMails = true
        // Nothing ends by itself.
        (options.longestReplySeconds, options.longestIdleSeconds) = (3600, 3600)
        return try makeClient(options)
    }

    private static func request(to url: String) -> HTTPRequest {
        HTTPRequest(mail: Array("x\r\n".utf8), envelope: envelope, url: url, timeout: .seconds(3600))
    }

    @Test func aMailGoesToAllItsReceiversWithItsDotsDoubled() async throws {
        let server = try ScriptedMailServer { _ in "" }
        let exchange = try await send(to: server.url)
        let response = try exchange.result.get()
        #expect(response.status == 250 && text(response).hasPrefix("250 2.0.0 kept"))
        #expect(server.messages == ["Subject: x\r\n\r\n..dot\r\n...\r\nend\r\n"])
        #expect(server.commands.contains("MAIL FROM:<agent@example.org> SIZE=29"))
        #expect(
            server.commands.filter { $0.hasPrefix("RCPT") } == [
                "RCPT TO:<me@example.org>", "RCPT TO:<you@example.org>",
            ]
        )
        #expect(exchange.measurements.isNewConnection)
    }

    @Test(arguments: [
        ("RCPT", "550 5.1.1 <me@example.org> unknown", 550), ("RCPT", "451 4.3.0 later", 451),
        ("RCPT", "421 4.7.0 limit", 421),
        ("MAIL", "552 too long", 552), ("MAIL", "530 5.7.0 log in", 530), ("DATA", "554 no", 554),
        ("MESSAGE", "554 5.7.1 spam", 554), ("MESSAGE", "452 4.2.2 full", 452),
    ])
    func aRefusalIsAResponseWithItsCode(command: String, reply: String, code: Int) async throws {
        let server = try ScriptedMailServer { $0 == command ? reply : "" }
        let response = try await send(to: server.url).result.get()
        #expect(response.status == code)
        #expect(text(response).hasPrefix(reply))
    }

    @Test(
        arguments: [
            ("GREETING", "554 no service", APIFailure.connect, 554), ("GREETING", "421 busy", .connect, 421),
            ("CREDENTIALS", "535 5.7.8 bad", .login, 535),
            ("CREDENTIALS", "534-5.7.9 Password\r\n534 5.7.9 of the application required", .login, 534),
            ("CREDENTIALS", "454 4.7.0 later", .login, 454), ("GREETING", nil, .reset, nil), ("MAIL", nil, .reset, nil),
            ("MESSAGE", nil, .reset, nil),
        ] as [(String, String?, APIFailure, Int?)]
    )
    func troubleBeforeAReplyToTheMailIsAnError(
        command: String,
        reply: String?,
        error: APIFailure,
        code: Int?
    ) async throws {
        var envelope = Self.envelope
        if error == .login { envelope.login = ("agent", "secret") }
        let server = try ScriptedMailServer { $0 == command ? reply : "" }
        let exchange = try await send("Subject: x\r\n\r\nx\r\n", envelope, to: server.url)
        #expect(failure(of: exchange.result) == error)
        if let code { #expect(exchange.status == code) }
        if let reply { #expect(String(decoding: exchange.lastReply, as: UTF8.self).hasPrefix(reply)) }
    }

    /// libcurl would send it without the login.
    @Test(arguments: ["x\r\n", nil])
    func aServerThatOffersNoLoginGetsNoMailWithOne(message: String?) async throws {
        var envelope = Self.envelope
        envelope.login = ("agent", "secret")
        let server = try ScriptedMailServer { $0 == "EHLO" ? "250 here" : "" }
        let exchange = try await send(message, envelope, to: server.url)
        #expect(failure(of: exchange.result) == .login)
        #expect(server.messages.allSatisfy(\.isEmpty) && !server.commands.contains { $0.hasPrefix("AUTH") })
        envelope.login = nil
        #expect(try await send(message, envelope, to: server.url).result.get().status == 250)
    }

    @Test func aMailThatFollowsNeedsNoOtherLogin() async throws {
        var envelope = Self.envelope
        envelope.login = ("agent", "secret")
        let server = try ScriptedMailServer { _ in "" }
        let client = try makeMailClient()
        defer { client.shutdown() }
        for _ in 0..<2 {
            let mail = HTTPRequest(
                mail: Array("x\r\n".utf8),
                envelope: envelope,
                url: server.url,
                timeout: .seconds(3600)
            )
            #expect(try await client.exchange(mail).result.get().status == 250)
        }
        #expect(server.commands.filter { $0.hasPrefix("AUTH") }.count == 1 && server.messages.count == 2)
    }

    @Test func aDemandedEncryptionThatTheServerDoesNotOfferEndsTheConnection() async throws {
        var envelope = Self.envelope
        (envelope.demandsTLS, envelope.login) = (true, ("agent", "secret"))
        let server = try ScriptedMailServer { _ in "" }
        let exchange = try await send("x", envelope, to: server.url)
        #expect(failure(of: exchange.result) == .unencrypted)
        // Neither the login nor the mail was said.
        #expect(server.commands.map { $0.prefix(4) } == ["EHLO"])
    }

    @Test func withoutAMessageItOnlyLogsIn() async throws {
        var envelope = Self.envelope
        envelope.login = ("agent", "secret")
        let server = try ScriptedMailServer { _ in "" }
        #expect(try await send(nil, envelope, to: server.url).result.get().status == 235)
        #expect(server.commands == [server.commands[0], "AUTH PLAIN"])
        let refusing = try ScriptedMailServer { $0 == "CREDENTIALS" ? "535 no" : "" }
        #expect(failure(of: try await send(nil, envelope, to: refusing.url).result) == .login)
    }

    @Test func aSilentServerIsATimeoutAndNoLackOfEncryption() async throws {
        let server = try LoopbackServer { _ = $0.waitForClose() }
        let exchange = try await send(to: "smtp://127.0.0.1:\(server.port)", timeout: .seconds(5))
        #expect(failure(of: exchange.result) == .timeout)
    }

    @Test func aMailThatFollowsUsesTheSameConnection() async throws {
        let server = try ScriptedMailServer { _ in "" }
        let client = try makeMailClient()
        defer { client.shutdown() }
        for _ in 0..<2 {
            let exchange = await client.exchange(Self.request(to: server.url + "/agent.test"))
            #expect(try exchange.result.get().status == 250)
        }
        #expect(server.commands.filter { $0.hasPrefix("EHLO") } == ["EHLO agent.test"])
        #expect(server.messages.count == 2)
    }

    // libcurl does not return to the thread before the server replies.
    @Test func aServerThatIsSilentHoldsUpNeitherHTTPNorTheEnd() async throws {
        let (said, end) = (Events(of: Bool.self), DispatchSemaphore(value: 0))
        let server = try ScriptedMailServer { command in
            if command == "MESSAGE" {
                said.report.yield(true)
                end.wait()
            }
            return ""
        }
        let web = try LoopbackServer.answering { _ in answer(body: "yes") }
        let (mails, http) = (try makeMailClient(), try makeClient())
        let mail = Task { await mails.exchange(Self.request(to: server.url)) }
        _ = await said.next()
        #expect(text(try await http.execute(HTTPRequest(url: web.url()))) == "yes")
        mails.shutdown()
        http.shutdown()
        #expect(failure(of: await mail.value.result) == .cancelled)
        end.signal()
    }

    @Test func aCancelledMailDoesNotWaitForTheReplyToIt() async throws {
        let (said, end) = (Events(of: Bool.self), DispatchSemaphore(value: 0))
        let server = try ScriptedMailServer { command in
            if command == "MESSAGE" {
                said.report.yield(true)
                end.wait()
            }
            return ""
        }
        let mails = try makeMailClient()
        defer { mails.shutdown() }
        let mail = Task { await mails.exchange(Self.request(to: server.url)) }
        _ = await said.next()
        mail.cancel()
        #expect(failure(of: await mail.value.result) == .cancelled)
        end.signal()
    }

    @Test func aMailThatIsCancelledInTheMiddleIsNotSentAsAPart() async throws {
        let (begun, ended) = (Events(of: Void.self), Events(of: Bool.self))
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            connection.write("220 hello\r\n")
            while let line = connection.readLine(), line != "DATA" { connection.write("250 ok\r\n") }
            connection.write("354 go\r\n")
            _ = connection.readLine()
            begun.report.yield()
            goOn.wait()
            var isWhole = false
            while let line = connection.readLine() {
                if line == "." {
                    isWhole = true
                    connection.write("250 kept\r\n")
                }
            }
            ended.report.yield(isWhole)
        }
        let mails = try makeMailClient()
        defer { mails.shutdown() }
        // More than the buffers of both sides take, while the server does not read.
        var message = [UInt8](repeating: UInt8(ascii: "x"), count: 998) + Array("\r\n".utf8)
        for _ in 0..<14 { message += message }
        let request = HTTPRequest(
            mail: message,
            envelope: Self.envelope,
            url: "smtp://127.0.0.1:\(server.port)",
            timeout: longestWait
        )
        let mail = Task { await mails.exchange(request) }
        _ = await begun.next()
        mail.cancel()
        goOn.signal()
        #expect(failure(of: await mail.value.result) == .cancelled)
        #expect(await ended.next() == false)
    }

    @Test func clientsForMailsAndForHTTPRefuseTheOther() async throws {
        let (mails, http) = (try makeMailClient(), try makeClient())
        defer {
            mails.shutdown()
            http.shutdown()
        }
        #expect(failure(of: await http.exchange(Self.request(to: "smtp://127.0.0.1:1")).result) == .invalidRequest)
        #expect(failure(of: await mails.exchange(HTTPRequest(url: "http://127.0.0.1:1")).result) == .invalidRequest)
    }

    @Test(arguments: [
        ("http://127.0.0.1:1", "agent@example.org", "me@example.org"),
        ("smtp://127.0.0.1:1", "a@b>\r\nRCPT TO:<x@y", "me@example.org"),
        ("smtp://127.0.0.1:1", "agent@example.org", "me@example.org> NOTIFY=NEVER"),
        ("smtp://127.0.0.1:1", "agent@example.org", ""),
        ("smtp://127.0.0.1:1\r\n", "agent@example.org", "me@example.org"),
    ])
    func nothingThatWouldAddACommandIsSent(url: String, sender: String, receiver: String) async throws {
        let envelope = MailEnvelope(sender: sender, recipients: [receiver], login: nil, demandsTLS: false)
        #expect(failure(of: try await send("x", envelope, to: url).result) == .invalidRequest)
    }

    @Test func aRequestOfHTTPReachesNoMailServer() async throws {
        let client = try makeClient()
        defer { client.shutdown() }
        #expect(failure(of: await client.exchange(HTTPRequest(url: "smtp://127.0.0.1:1")).result) == .invalidRequest)
    }

    @Test func theLibcurlOfTheseTestsHasMail() {
        #expect(CurlVersion.hasMail)
    }
}
