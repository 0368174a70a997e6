// Session.
import { html } from './part-base.js';

export default function View() {
  return html`<h1 class="h1" tabindex="-1">Session</h1>`;
}
