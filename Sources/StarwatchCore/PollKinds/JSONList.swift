extension PollKind {
    /// Items of a list of any server that answers JSON, as ``JSONPoll`` describes it.
    public static let json = PollKind(
        PollTraits(
            name: "json",
            item: .listed,
            endpoint: .list,
            scope: .list,
            announced: "Items of a list of any server",
            leftOut: "no item of the list"
        )
    )
}
