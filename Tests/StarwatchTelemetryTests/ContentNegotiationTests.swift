import Testing

@testable import StarwatchTelemetry

@Suite struct ContentNegotiationTests {
    private static let prometheus2 =
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    private static let native =
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
        + "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    private static let prometheus3 =
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        + "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
        + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"

    @Test(
        arguments: [
            (nil, .text), ("", .text), ("*/*", .text), ("text/*", .text), ("application/*", .openMetrics),
            (prometheus2, .openMetrics), (native, .openMetrics), (prometheus3, .openMetrics),
            ("text/html,application/xhtml+xml,*/*;q=0.8", .text),
            ("application/openmetrics-text;q=0,text/plain", .text),
            ("application/openmetrics-text;q=0, */*", .text),
            ("text/plain;q=0, */*", .openMetrics),
            ("application/openmetrics-text;q=0.4,text/plain;q=0.5", .text),
            ("application/openmetrics-text;q=.5,text/plain;q=.4", .openMetrics),
            ("application/openmetrics-text,text/plain", .openMetrics),
            ("text/plain;version=0.0.4,application/openmetrics-text", .text),
            ("application/openmetrics-text;version=0.0.1", .text),
            ("application/openmetrics-text; version=\"1.0.0\" ; charset=UTF-8", .openMetrics),
            ("APPLICATION/OpenMetrics-Text", .openMetrics),
            ("application/openmetrics-text;q=2,text/plain;q=0.1", .text),
            ("application/openmetrics-text;q=abc,text/plain;q=0.1", .text),
            ("application/openmetrics-text;charset=latin1,text/plain;q=0.1", .text),
            ("application/json", .text), ("application/json;x=\",\";q=1,application/openmetrics-text", .openMetrics),
            ("application/openmetrics-text;q=0.001,text/plain;q=0", .openMetrics),
            ("*/*;q=0", .text),
        ] as [(String?, ExpositionFormat)]
    )
    func formatFollowsTheClientsPreference(accept: String?, expected: ExpositionFormat) {
        #expect(ContentNegotiation.choose(accept: accept) == expected)
    }

    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("x-gzip", true), ("deflate, gzip;q=1.0", true),
            ("gzip;q=0", false), ("*", true), ("*;q=0", false), ("gzip;q=0,*", false), ("identity", false),
            ("gzip;q=0.5,identity;q=0.9", false), ("gzip;q=0.9,identity;q=0.5", true), ("br", false),
            ("gzip;q=0.000", false), ("gzip;q=nonsense", false),
        ] as [(String?, Bool)]
    )
    func gzipFollowsAcceptEncoding(header: String?, expected: Bool) {
        #expect(ContentNegotiation.acceptsGzip(header) == expected)
    }
}
