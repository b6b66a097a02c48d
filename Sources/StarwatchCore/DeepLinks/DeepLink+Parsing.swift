extension DeepLink {
    /// Parses a link and checks it by the rules of its route.
    public init(parsing text: String) throws(DeepLinkError) {
        let prefix = Self.scheme + "://"
        guard text.utf8.count <= 16_384, text.utf8.count >= prefix.utf8.count,
            text.prefix(prefix.count).lowercased() == prefix
        else { throw .notALink }
        let rest = text.dropFirst(prefix.count)
        guard !rest.utf8.contains(UInt8(ascii: "#")) else { throw .unknownRoute }
        let sides = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parameters = try Self.parameters(sides.count == 2 ? sides[1] : "")
        switch sides[0].split(separator: "/", omittingEmptySubsequences: false) {
        case ["projects", "updates"]: self = try Self.updates(parameters)
        case ["notifications", "starred-projects"]: self = try Self.plain(.notifications, parameters)
        case ["features", "starred-projects"]: self = try Self.plain(.feature, parameters)
        case let path where path.count == 3 && path[0] == "projects" && path[2] == "details":
            self = try Self.details(path[1], parameters)
        default: throw .unknownRoute
        }
    }

    private static func plain(_ link: DeepLink, _ parameters: [String: String]) throws(DeepLinkError) -> DeepLink {
        guard parameters.isEmpty else { throw .unknownParameter }
        return link
    }

    private static func updates(_ parameters: [String: String]) throws(DeepLinkError) -> DeepLink {
        guard Set(parameters.keys).isSubset(of: ["jwtIds", "shortlink"]) else { throw .unknownParameter }
        switch (parameters["jwtIds"], parameters["shortlink"]) {
        case (nil, nil): throw .missingParameter
        case (_?, _?): throw .conflictingParameters
        case (nil, let text?):
            guard let shortlink = Shortlink(text) else { throw .invalidShortlink }
            return .shortlink(shortlink)
        case (let list?, nil):
            let texts = list.split(separator: ",", omittingEmptySubsequences: false)
            guard texts.count <= LinkedJWTs.limit else { throw .tooManyJWTs }
            var ids: [JWTID] = []
            for text in texts { ids.append(try jwt(text)) }
            guard let jwts = LinkedJWTs(ids) else { throw .missingParameter }
            return .updates(jwts)
        }
    }

    private static func details(
        _ segment: Substring,
        _ parameters: [String: String]
    ) throws(DeepLinkError) -> DeepLink {
        guard Set(parameters.keys).isSubset(of: ["jwtId"]) else { throw .unknownParameter }
        guard let handle = PercentEncoding.decode(segment).flatMap({ ProjectHandle($0) }) else { throw .invalidProject }
        guard let text = parameters["jwtId"] else { return .project(handle, jwt: nil) }
        return .project(handle, jwt: try jwt(text))
    }

    private static func jwt(_ text: some StringProtocol) throws(DeepLinkError) -> JWTID {
        guard let id = JWTID(text) else { throw .invalidJWT }
        return id
    }

    private static func parameters(_ query: Substring) throws(DeepLinkError) -> [String: String] {
        var found: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(sides[0]),
                let value = PercentEncoding.decode(sides.count == 2 ? sides[1] : "")
            else { throw .unknownParameter }
            guard found.updateValue(value, forKey: name) == nil else { throw .repeatedParameter }
        }
        return found
    }
}
