import StarwatchCore
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:9464", "127.0.0.1", 9464), ("[::1]:0", "::1", 0), (":80", "0.0.0.0", 80),
        ("localhost:65535", "localhost", 65_535),
    ])
    func anAddressIsHostAndPort(text: String, host: String, port: Int) throws {
        let address = try #require(ListenAddress(parsing: text))
        #expect(address == ListenAddress(host: host, port: port))
        #expect(ListenAddress(parsing: address.description) == address)
    }

    @Test(arguments: [
        "", "9464", "host", "host:", "::1:80", "[::1]", "[host]:1", "h:65536", "h:-1", "h:+1", "h:-0", "http://h:1",
        "h h:1",
        "h]:1",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(ListenAddress(parsing: text) == nil)
    }
}
