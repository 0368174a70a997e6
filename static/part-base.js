// The smallest parts: markup, untrusted text, stated absences, ages, and the boundary that keeps one broken unit to itself.
import { Component, h } from './preact.js';
import { useLayoutEffect, useRef } from './hooks.js';
import htm from './htm.js';
import { track } from './ticker.js';
import { toolText } from './format.js';

// The library writes a text of 0 or nothing again at every redraw, changed or not: the one is drawn as words, the other not at all.
const settled = (child) => (child === 0 ? '0' : child === '' ? null : Array.isArray(child) ? child.map(settled) : child);

/** Markup as tagged text. */
export const html = htm.bind((type, props, ...children) => h(type, props, ...children.map(settled)));

/** Untrusted text, isolated so that its direction cannot reorder what stands beside it. */
export const T = ({ s }) => html`<bdi>${s}</bdi>`;

/** Untrusted text that may hold a tool's wire name: shown readably, with the recorded string as tooltip and description. */
export function Tool({ s }) {
  const shown = toolText(s);
  if (shown === s) return html`<bdi>${s}</bdi>`;
  return html`<bdi title=${s}>${shown}</bdi><span class="sr"> (recorded as ${s})</span>`;
}

/** An absence in words. It never looks like a smaller value. */
export const Absent = ({ children }) => html`<span class="absent" data-absent="">${children}</span>`;

/** A small uppercase label. */
export const Label = ({ children }) => html`<span class="label">${children}</span>`;

/** A mark that stands beside its words. */
export const Glyph = ({ children }) => html`<span class="glyph" aria-hidden="true">${children}</span>`;

/**
 * Time since `since` (epoch seconds). `live` lets it move between payloads; `before` and `after` are words around it; after
 * `longAfter` seconds it is set in bold. Its text is drawn by the one ticker, not by this component.
 */
export function Age({ since, live = false, before = '', after = '', fixed = false, longAfter = 0 }) {
  const ref = useRef(null);
  useLayoutEffect(() => track({ node: ref.current, since, live, before, after, longAfter }), [since, live, before, after, longAfter]);
  return html`<time class=${fixed ? 'age age-fixed' : before || after ? 'age age-said' : 'age'} ref=${ref} />`;
}

/** Draws its children, or says that this one unit could not be drawn. */
export class Boundary extends Component {
  static getDerivedStateFromError() {
    return { broken: true };
  }

  componentDidUpdate(props) {
    if (this.state.broken && props.of !== this.props.of) this.setState({ broken: false });
  }

  render({ children, what = 'This part' }, { broken }) {
    return broken ? html`<p class="absent" data-absent="">${what} could not be drawn.</p>` : children;
  }
}
