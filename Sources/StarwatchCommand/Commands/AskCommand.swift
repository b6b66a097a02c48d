import ArgumentParser
import Starwatch
import StarwatchCore

/// A question to the agent, and the command that asks it and prints the answer as text or JSON.
struct Question<Options: ParsableArguments>: Sendable {
    let configuration: CommandConfiguration
    /// Asks, and prints the answer.
    let run: @Sendable (Options, AgentArguments) async throws -> Void
}

extension Question {
    /// A question whose help says the wait for the answer, if that is longer than usual.
    init<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ name: String,
        _ abstract: String,
        about discussion: String = "",
        examples: [String],
        taking input: @escaping @Sendable (Options) throws -> Input,
        then show: @escaping @Sendable (Answer, Options, AgentArguments) throws -> Void
    ) {
        let wait = verb.patience > .seconds(10) ? verb.patience : nil
        configuration = CommandConfiguration(name, abstract, discussion, waiting: wait, examples: examples)
        run = { options, arguments in
            try show(await arguments.ask(verb, input(options)), options, arguments)
        }
    }

    init<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ name: String,
        _ abstract: String,
        about discussion: String = "",
        examples: [String],
        taking input: @escaping @Sendable (Options) throws -> Input,
        text: @escaping @Sendable (Answer) -> String
    ) {
        self.init(verb, name, abstract, about: discussion, examples: examples, taking: input) { answer, _, arguments in
            try arguments.print(answer, text)
        }
    }

    init<Answer>(
        _ verb: Verb<Void, Answer>,
        _ name: String,
        _ abstract: String,
        about discussion: String = "",
        examples: [String],
        text: @escaping @Sendable (Answer) -> String
    ) {
        self.init(verb, name, abstract, about: discussion, examples: examples, taking: { _ in }, text: text)
    }
}

/// The questions that commands with the same options ask.
protocol Questions {
    associatedtype Options: ParsableArguments = Self

    static var questions: [Question<Options>] { get }
}

extension Questions {
    /// A command for each question.
    static var commands: [any ParsableCommand.Type] {
        let commands: [any ParsableCommand.Type] = [
            AskCommand<Self, 0>.self, AskCommand<Self, 1>.self, AskCommand<Self, 2>.self, AskCommand<Self, 3>.self,
            AskCommand<Self, 4>.self,
        ]
        precondition(questions.count <= commands.count, "There are more questions than commands")
        return Array(commands.prefix(questions.count))
    }
}

/// A question with options of its own.
protocol OneQuestion: Questions {
    associatedtype Options

    static var question: Question<Options> { get }
}

extension OneQuestion {
    static var questions: [Question<Options>] { [question] }
}

/// The command of a question. ArgumentParser knows a command by its type.
struct AskCommand<Group: Questions, let index: Int>: AsyncParsableCommand {
    @OptionGroup var options: Group.Options
    @OptionGroup var arguments: AgentArguments

    static var configuration: CommandConfiguration { Group.questions[index].configuration }

    func run() async throws { try await Group.questions[index].run(options, arguments) }
}

/// No options of a question's own.
struct NoOptions: ParsableArguments {}
