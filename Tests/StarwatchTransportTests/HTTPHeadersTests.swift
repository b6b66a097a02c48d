import Testing

@testable import StarwatchTransport

@Suite struct HTTPHeadersTests {
    @Test func allFieldsOfANameAreOneList() {
        let headers = HTTPHeaders(block: Array("Link: <a>; rel=prev\r\nlink:<b>; rel=next \r\nX-Link: <c>\r\n".utf8))
        #expect(headers.list("LINK") == "<a>; rel=prev, <b>; rel=next")
        #expect(headers["Link"] == "<a>; rel=prev")
        #expect(headers.list("Date") == nil)
    }
}
