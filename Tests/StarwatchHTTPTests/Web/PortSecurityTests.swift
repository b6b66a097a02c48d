import Foundation
import StarwatchCore
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Files that change while a port is served.
@Suite(.timeLimit(.minutes(5)))
struct PortSecurityTests {
    private func withCertificates(_ body: (WebServer) async throws -> Void) async throws {
        try await withDirectory { directory async throws in
            let certificates = Certificates(directory: directory)
            try await certificates.makeAuthority()
            try await certificates.issue("server")
            try "".write(toFile: certificates.path("web.yml"), atomically: true, encoding: .utf8)
            try await body(WebServer(in: directory, WebServer.tls(in: directory)))
        }
    }

    private func isRefused(_ news: WebConfigurationNews?) -> String? {
        if case .refused(let text)? = news { text } else { nil }
    }

    @Test func aRenewedCertificateIsServedWithoutAReloadAndNoRequestFails() async throws {
        try await withCertificates { server async throws in
            try await server.withRunning { address async throws in
                let certificates = server.certificates
                let first = try await certificates.serial(ofFile: "server.pem")
                #expect(try await certificates.serial(of: address) == first)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            var failures = 0
                            while !server.isOver.withLock({ $0 }) {
                                if try await server.curl("https://\(address)/metrics") != 200 { failures += 1 }
                            }
                            return failures
                        }
                    }
                    try await certificates.issue("new", host: "server.test")
                    for suffix in ["pem", "key"] {
                        let (new, old) = (certificates.path("new." + suffix), certificates.path("server." + suffix))
                        #expect(rename(new, old) == 0)
                    }
                    let second = try await certificates.serial(ofFile: "server.pem")
                    #expect(second != first)
                    var served = first
                    while served != second {
                        server.time.withLock { $0 += .seconds(1) }
                        served = try await certificates.serial(of: address)
                    }
                    server.isOver.withLock { $0 = true }
                    for try await failures in group { #expect(failures == 0) }
                }
            }
            #expect(server.agent.now.news.contains { if case .reloaded = $0 { true } else { false } })
            #expect(server.agent.now.news.allSatisfy { isRefused($0) == nil })
        }
    }

    @Test func anUnusableFileLeavesTheFormerOneInForce() async throws {
        try await withCertificates { server async throws in
            let security = try server.security()
            #expect(server.agent.now.news.count == 1)
            let good = try String(contentsOfFile: server.certificates.path("server.key"), encoding: .utf8)
            try await server.certificates.makeAuthority("foreign")
            let foreign = try String(contentsOfFile: server.certificates.path("foreign.key"), encoding: .utf8)
            for (text, problem) in [(foreign, "does not belong"), ("no key", "no PEM key"), ("", "empty")] {
                try write(text, to: "server.key", server)
                let count = server.agent.now.news.count
                // A certificate and its key are replaced one after the other, so the first look says nothing.
                security.reread()
                #expect(server.agent.now.news.count == count)
                security.reread()
                #expect(isRefused(server.agent.now.news.last)?.contains(problem) == true)
                security.reread()
                #expect(server.agent.now.news.count == count + 1)
                #expect(security.isEncrypted)
            }
            try write(good, to: "server.key", server)
            security.reread()
            #expect(isRefused(server.agent.now.news.last) == nil)
        }
    }

    private func write(_ text: String, to name: String, _ server: WebServer) throws {
        // A file of its own, so that the attributes differ however fast the test is.
        let path = server.certificates.path(UUID().uuidString)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(rename(path, server.certificates.path(name)) == 0)
    }

    @Test func changedUsersAreInForceAndTLSIsNotTurnedOff() async throws {
        try await withCertificates { server async throws in
            let security = try server.security()
            server.configuration.withLock { $0.users = ["a": WebServer.secretHash] }
            try write("changed", to: "web.yml", server)
            security.reread()
            #expect(security.active.configuration.users.keys.sorted() == ["a"])
            server.configuration.withLock { $0.tls = nil }
            try write("changed again", to: "web.yml", server)
            security.reread()
            security.reread()
            #expect(isRefused(server.agent.now.news.last)?.contains("needs a reload") == true)
            #expect(security.isEncrypted)
        }
    }

    @Test(arguments: [0o644, 0o640, 0o660])
    func aKeyThatOthersCanReadIsRefused(mode: Int) async throws {
        try await withCertificates { server async throws in
            let key = server.certificates.path("server.key")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
            let error = #expect(throws: AgentError.self) { try server.security() }
            #expect(error?.message.contains("key_file") == true)
        }
    }

    @Test func aCertificateThatOthersCanChangeIsRefused() async throws {
        try await withCertificates { server async throws in
            let file = server.certificates.path("server.pem")
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
            let error = #expect(throws: AgentError.self) { try server.security() }
            #expect(error?.message.contains("cert_file can be changed by other users") == true)
        }
    }

    @Test func theExpiryOfTheCertificateIsKnown() async throws {
        try await withCertificates { server async throws in
            _ = try server.security()
            guard case .loaded(let certificate)? = server.agent.now.news.first else {
                Issue.record("nothing was loaded")
                return
            }
            let days = ((certificate?.seconds ?? 0) - Date().timeIntervalSince1970) / 86_400
            #expect((1.9...2.1).contains(days))
        }
    }

    /// A chain ends with its first certificate that does.
    @Test func theEarliestExpiryOfTheChainCountsAlsoAfterAChange() async throws {
        try await withCertificates { server async throws in
            let security = try server.security()
            try await server.certificates.issue("server", days: 30)
            let (leaf, authority) = (server.certificates.path("server.pem"), server.certificates.path("ca.pem"))
            let chain =
                try String(contentsOfFile: leaf, encoding: .utf8) + String(contentsOfFile: authority, encoding: .utf8)
            try chain.write(toFile: leaf, atomically: true, encoding: .utf8)
            security.reread()
            guard case .reloaded(let certificate)? = server.agent.now.news.last else {
                Issue.record("nothing was reloaded")
                return
            }
            let days = ((certificate?.seconds ?? 0) - Date().timeIntervalSince1970) / 86_400
            #expect((1.9...2.1).contains(days))
        }
    }
}
