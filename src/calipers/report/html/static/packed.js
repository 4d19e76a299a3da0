// Data that are packed (base64 of zlib) are unpacked by the browser itself before anything reads them.
(function () {
  "use strict";

  async function unpack(holder) {
    const bytes = Uint8Array.from(atob(holder.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    holder.textContent = await new Response(stream).text();
    holder.removeAttribute("data-packed");
  }

  // Run once every element that is packed is in the page and unpacked: at once where none is.
  async function whenUnpacked(act) {
    await Promise.all(Array.from(document.querySelectorAll("script[data-packed]"), unpack));
    act();
  }

  let waiting = null;
  window.calipersUnpacked = function (act) {
    if (!waiting && !document.querySelector("script[data-packed]")) return act();
    waiting = waiting || new Promise((resolve) => { whenUnpacked(resolve); });
    return waiting.then(act);
  };
})();
