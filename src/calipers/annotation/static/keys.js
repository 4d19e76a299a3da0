// Keys for the page of an item. Everything works without them, and without this script.
"use strict";
(() => {
  const form = document.getElementById("answers");
  const questions = Array.from(form.querySelectorAll(".question"));
  const toggle = document.getElementById("keys");
  const REMEMBERED = "calipers-keys";
  let on = remembered() !== "off";
  let current = Math.max(0, questions.findIndex((each) => !chosen(each)));
  let sent = false;

  document.documentElement.classList.add("scripted");
  show();

  function remembered() {
    try { return localStorage.getItem(REMEMBERED); } catch { return null; }
  }
  function remember(value) {
    try { localStorage.setItem(REMEMBERED, value); } catch { /* then for this page alone */ }
  }
  function choices(question) {
    return Array.from(question.querySelectorAll("input[type=radio]"));
  }
  function typed(question) {
    return question.querySelector("input[type=number]");
  }
  function chosen(question) {
    const number = typed(question);
    return number ? number.value !== "" : choices(question).some((each) => each.checked);
  }
  function show() {
    questions.forEach((each, place) => each.classList.toggle("current", on && place === current));
    document.documentElement.classList.toggle("keyless", !on);
    toggle.textContent = on ? "Keys on" : "Keys off";
    toggle.setAttribute("aria-pressed", String(on));
  }
  // A keyboard of another script has its own digits and letters on the same keys
  function digitOf(event) {
    if (event.key >= "0" && event.key <= "9") return event.key;
    const [, digit] = /^(?:Digit|Numpad)([0-9])$/.exec(event.code) || [];
    return digit && event.key.length === 1 && /\p{N}/u.test(event.key) ? digit : "";
  }
  function isBack(event) {
    return event.key.toLowerCase() === "b" || (event.code === "KeyB" && event.key > "\u024f");
  }
  function go(place) {
    current = Math.min(Math.max(place, 0), questions.length - 1);
    // The question itself: a ring around its first choice would look like a suggestion
    (typed(questions[current]) || questions[current]).focus();
    show();
  }
  function answer(key) {
    const choice = choices(questions[current]).find((each) => each.dataset.key === key);
    if (!choice) return false;
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    const open = questions.findIndex((each) => !chosen(each));
    if (open >= 0) go(open);
    else if (current < questions.length - 1) go(current + 1);
    else document.getElementById("send").focus();
    return true;
  }

  toggle.addEventListener("click", () => {
    on = !on;
    remember(on ? "on" : "off");
    show();
  });
  form.addEventListener("focusin", (event) => {
    const place = questions.findIndex((each) => each.contains(event.target));
    if (place >= 0) { current = place; show(); }
  });
  // A second click while the first is on its way would send the same answer again
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    if (!on || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || event.repeat) return;
    const at = event.target;
    const link = at.closest && at.closest("a, button");
    if (at.type === "number" && event.key !== "Enter") return; // it is typed into
    const digit = digitOf(event);
    if (digit !== "") {
      if (answer(digit)) event.preventDefault();
    } else if (event.key === "Enter" && !link) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (at.closest && at.closest(".text")) return; // it scrolls
      event.preventDefault();
      go(current + (event.key === "ArrowDown" ? 1 : -1));
    } else if (isBack(event) && !event.shiftKey) {
      const back = document.getElementById("back");
      if (back) { event.preventDefault(); back.click(); }
    }
  });
})();
