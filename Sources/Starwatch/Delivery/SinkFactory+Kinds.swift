extension SinkFactory {
    /// The kinds of sinks, in the order of the reference.
    package static let kinds: [any ConfiguredSink.Type] = [
        StdoutSink.self,
        LogEntrySink.self,
        FeedSink.self,
        FileSink.self,
        WebhookSink.self,
        NtfySink.self,
        MailSink.self,
        CommandSink.self,
    ]
}
