import StarwatchCore
import StarwatchTransport

@testable import Starwatch

/// Sinks of each kind that sends requests.
extension RequestSink {
    enum Address {
        case url(String)
        case file(SecretFile)
    }

    static func webhook(
        name: String,
        url: String,
        urlFile: SecretFile? = nil,
        timeout: Duration,
        http: any HTTPTransport,
        time: any TimeSource,
        secret: SinkSecret? = nil,
        template: BodyTemplate? = nil
    ) -> RequestSink {
        var sink = RequestSink(name: name, format: WebhookSink.plain(template: template), http: http, time: time)
        (sink.url, sink.urlFile, sink.timeout, sink.secret) = (url, urlFile, timeout, secret)
        return sink
    }

    static func ntfy(
        name: String,
        url: String,
        topic: String,
        http: any HTTPTransport,
        time: any TimeSource,
        token: SinkSecret? = nil
    ) -> RequestSink {
        let format = NtfySink.format(of: SinkOptions(name: name, kind: .ntfy(url: url, topic: topic, tokenFile: nil)))
        var sink = RequestSink(name: name, format: format, http: http, time: time)
        (sink.url, sink.room, sink.secret) = (url, topic, token)
        return sink
    }

    static func chat(
        name: String,
        service: SinkFormat,
        receiver: (room: String, token: SinkSecret?),
        address: Address,
        timeout: Duration,
        http: any HTTPTransport,
        time: any TimeSource
    ) -> RequestSink {
        var sink = RequestSink(name: name, format: service, http: http, time: time)
        (sink.room, sink.secret, sink.timeout) = (receiver.room, receiver.token, timeout)
        switch address {
        case .url(let url): sink.url = url
        case .file(let file): sink.urlFile = file
        }
        return sink
    }
}
