@testable import StarwatchCore

extension FuzzTarget {
    /// A deep link is read or refused in a sentence that repeats nothing of it; one that is read comes back the same when
    /// it is written.
    static let deepLink = FuzzTarget(
        name: "deep-link",
        words: [
            "timesafari://", "projects/", "updates", "/details", "?jwtIds=", "?jwtId=", "?shortlink=", "&", ",", "%2F",
            "notifications/starred-projects", "features/starred-projects", "01KDV8Y8000000000000000000",
            "1767225600_Ab3xYz_0123abcd",
        ],
        tries: 20_000
    ) { input in
        let text = input.text
        do throws(DeepLinkError) {
            let link = try DeepLink(parsing: text)
            guard (try? DeepLink(parsing: link.url)) == link else { return "a link that does not come back" }
            if case .updates(let claims) = link, !(1...10).contains(claims.ids.count) { return "too many claims" }
        } catch {
            guard DeepLinkError.allCases.contains(error) else { return "an error of its own" }
        }
        return nil
    }

    /// A message is read or refused at a place inside it; one that is read has a text in every language.
    static let message = FuzzTarget(
        name: "message",
        words: [
            "{n, plural, ", "{w, select, ", "one {", "few {", "other {", "=0 {", "}", "#", "'", "''", "{n}", "{w}",
            "{x}",
            "offset:1 ",
        ],
        tries: 20_000
    ) { input in
        let text = input.text
        do throws(MessageError) {
            let pattern = try MessagePattern(text)
            for rules in PluralRules.allCases {
                for number in [0, 1, 2, 5, 22, 1_000_000] {
                    _ = pattern.format(["n": .number(number), "w": .text("{n}")], rules)
                }
            }
            if pattern.uses.isEmpty, !text.contains("'"), pattern.format([:], .english) != text {
                return "another text"
            }
        } catch {
            guard (1...text.count + 1).contains(error.position) else { return "a mistake outside of the text" }
        }
        return nil
    }
}
