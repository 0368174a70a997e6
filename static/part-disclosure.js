// Native disclosures whose openness the tab remembers, and long lists that show their first few.
import { useState } from './hooks.js';
import { html } from './part-base.js';
import { opened } from './app-context.js';

/** A `details` element. `id` keys what the reader opened; `open` is how it starts. */
export function Disclosure({ id, summary, open = false, children, cls = '' }) {
  const is = opened.get(id) ?? open;
  const [drawn, draw] = useState(is);
  const toggle = (event) => {
    opened.set(id, event.currentTarget.open);
    draw(event.currentTarget.open);
  };
  return html`<details class=${`fold ${cls}`} open=${is} onToggle=${toggle}>
    <summary data-fk=${`fold|${id}`}><span>${summary}</span></summary>${drawn || is ? html`<div class="fold-body">${children}</div>` : null}</details>`;
}

/** The first `shown` of `items`, with a control for the rest. `draw` makes one item; `list` says that items stand in a list. */
export function More({ id, items, shown, draw, noun = 'more', list = false }) {
  const [, again] = useState(null);
  const open = opened.get(id) === true;
  const hidden = items.length - shown;
  const press = () => {
    opened.set(id, !open);
    again({});
  };
  const button = hidden > 0 ? html`<button type="button" class="btn btn-quiet more" data-act="more" data-fk=${`more|${id}`} aria-expanded=${open ? 'true' : 'false'} onClick=${press}>
      ${open ? `Show fewer (hide ${hidden})` : `Show ${hidden} ${noun}`}</button>` : null;
  return html`${(open ? items : items.slice(0, shown)).map(draw)}${button && list ? html`<li>${button}</li>` : button}`;
}
