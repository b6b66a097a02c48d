"""The result of the attacks."""
import contextlib
import sys
import traceback


class Category:
    """The attempts of one kind, with the worst figures that were measured."""

    def __init__(self, title, verbose=False):
        self.title, self.verbose = title, verbose
        self.attempts, self.broken, self.notes, self.figures = 0, [], [], {}

    @contextlib.contextmanager
    def attempt(self, name, counts=True):
        """One attempt. What the block raises is a broken promise."""
        self.attempts += counts
        try:
            yield
        except Exception as error:  # Every failure counts, also one of the attack.
            words = str(error) if type(error).__name__ == "Broken" else "".join(traceback.format_exception(error)[-2:])
            self.broken.append(f"{self.title}: {name}: {words.strip()}")
            print(f"  BROKEN {name}: {words.strip()}", file=sys.stderr)
        else:
            if self.verbose and counts:
                print(f"  held {name}", file=sys.stderr)

    def measure(self, name, value, unit, digits=0, lowest=False):
        """Keeps the worst value of a figure."""
        former = self.figures.get(name)
        if former is None or (value < former[0] if lowest else value > former[0]):
            self.figures[name] = (value, unit, digits)

    def note(self, words):
        if words not in self.notes:
            self.notes.append(words)

    @property
    def result(self):
        if self.broken:
            return f"broken: {len(self.broken)}"
        return "held" if self.attempts else "skipped"

    @staticmethod
    def table(categories):
        rows = [("category", "attempts", "result", "worst figure")]
        for category in categories:
            figures = [f"{name} {value:.{digits}f} {unit}" for name, (value, unit, digits) in category.figures.items()]
            rows.append((category.title, str(category.attempts), category.result, "; ".join(figures + category.notes)))
        rows.insert(1, ("---",) * 4)
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
