extension PageFrame {
    /// Reloads the page after a new notification, and replaces the content.
    static let liveScript: HTML = """

        const latest = document.getElementById("feed")?.dataset.latest;
        if (latest !== undefined) {
          const events = new EventSource("api/v1/notifications/events?after=" + latest);
          const say = (text) => document.getElementById("live").textContent = text;
          let words = "Connecting…";
          const renew = async () => {
            const answer = await fetch("feed");
            if (!answer.ok) return;
            // Its style has another nonce than this page's policy.
            const text = (await answer.text()).replace(/<style[^]*?<[/]style>/g, "");
            const page = new DOMParser().parseFromString(text, "text/html");
            for (const part of ["main", ".asof"]) {
              document.querySelector(part).replaceWith(page.querySelector(part));
            }
            localise();
            say(words);
          };
          say(words);
          events.onopen = () => say(words = "Live: new ones appear by themselves.");
          events.onerror = () => say(words = "The agent does not answer; trying again.");
          events.addEventListener("notification", renew);
          events.addEventListener("gap", renew);
        }

        """
}
