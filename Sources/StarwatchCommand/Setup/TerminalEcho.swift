import Glibc

/// The settings of a terminal that shows what is typed, kept while a secret is typed.
struct TerminalEcho {
    /// The same for the handlers of signals, which find nothing else.
    private nonisolated(unsafe) static var kept = termios()
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let settings: termios

    /// Hides what is typed until ``show()`` or a signal that ends the process; `nil` if the input is no terminal.
    static func hide() -> TerminalEcho? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        kept = settings
        for number in signals {
            signal(number) { number in
                tcsetattr(STDIN_FILENO, TCSANOW, &TerminalEcho.kept)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        var hidden = settings
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &hidden)
        return TerminalEcho(settings: settings)
    }

    func show() {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}
