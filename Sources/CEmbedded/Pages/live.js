const latest = document.getElementById("feed")?.dataset.latest;
if (latest !== undefined) {
  const events = new EventSource("api/v1/notifications/events?after=" + latest);
  const say = (text) => document.getElementById("live").textContent = text;
  let words = "Connecting…";
  const renew = async () => {
    // A relative address would have the password of this one, with which fetch refuses.
    const answer = await fetch(location.origin + location.pathname);
    if (!answer.ok) return;
    // The new page's style has another nonce than this page's policy.
    const text = (await answer.text()).replace(/<style[^]*?<[/]style>/g, "");
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const part of ["main", ".asof"]) {
      document.querySelector(part).replaceWith(page.querySelector(part));
    }
    localise();
    say(words);
  };
  say(words);
  events.onopen = () => say(words = "Live: new notifications appear by themselves.");
  events.onerror = () => say(words = "The agent does not answer; reconnecting.");
  events.addEventListener("notification", renew);
  events.addEventListener("gap", renew);
}
