// The two live regions beside the app. Text is written only when something happened; the same sentence twice is emptied
// first, so it is heard twice. A redraw of the payload says nothing.

function put(id, text) {
  const region = document.getElementById(id);
  if (!region) return;
  if (region.textContent === text && text) {
    region.textContent = '';
    requestAnimationFrame(() => { region.textContent = text; });
  } else region.textContent = text;
}

/** Says a sentence when the reader is free to hear it. */
export const say = (text) => put('polite', text);

/** Says a sentence at once: an armed discard and nothing else. Empty clears it. */
export const alarm = (text) => put('assertive', text);
