// A tab strip after the WAI-ARIA pattern: one tab stop, arrows move and open.
import { html } from './part-base.js';

/** `tabs` are `{key, label, cue, said}`; `cue` is the small figure, `said` what it means in words. `open(key)` opens one. */
export function Tabs({ id, label, tabs, selected, open }) {
  const move = (event) => {
    const at = tabs.findIndex((t) => t.key === selected);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const key = tabs[(to + tabs.length) % tabs.length].key;
    const strip = event.currentTarget;
    open(key);
    requestAnimationFrame(() => [...strip.querySelectorAll('[role=tab]')].find((t) => t.dataset.tab === key)?.focus());
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
    ${tabs.map((t) => html`<button type="button" role="tab" class="tab" id=${`${id}-tab-${t.key}`} data-tab=${t.key} data-fk=${`tab|${id}|${t.key}`}
      aria-selected=${t.key === selected ? 'true' : 'false'} aria-controls=${`${id}-panel`} tabindex=${t.key === selected ? 0 : -1} onClick=${() => open(t.key)}>
      ${t.label}${t.cue === undefined ? null : html`<span class="tab-cue" aria-hidden="true">${t.cue}</span><span class="sr">, ${t.said}</span>`}</button>`)}
  </div>`;
}

/** The panel under a strip. */
export const Panel = ({ id, selected, children }) => html`<div class="tab-panel" role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-tab-${selected}`} tabindex="0">${children}</div>`;
