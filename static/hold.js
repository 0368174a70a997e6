// A redraw never takes anything from the reader's hands. Painting goes through here: focus, caret and selection come back
// to the same control (by its key) or to the nearest thing that is left, nothing is scrolled, and a paint waits while a
// select is open or a disclosure the reader just moved is still moving. A row under a moving pointer stays under it, so that
// a press meets what it was meant for.

const SELECT_DEFERRALS = 12;
const MOTION = 220;
/** How long, in ms, a pointer counts as moving after its last move. A resting one holds nothing: what is new comes into sight. */
const HAND = 1000;

/** The element inside `root` whose `data-fk` is `key`. Keys hold payload text, so they are compared, never put in a selector. */
export function byKey(root, key, name = 'fk') {
  if (!key) return null;
  for (const node of root.querySelectorAll(`[data-${name}]`)) if (node.dataset[name] === key) return node;
  return null;
}

function remember(root) {
  const node = document.activeElement;
  if (!node || node === document.body || !root.contains(node)) return null;
  const note = {
    node, key: node.dataset.fk, next: node.dataset.fallback,
    row: node.closest('[data-row]')?.dataset.row, group: node.closest('[data-group]')?.dataset.group, selection: null,
  };
  if (typeof node.selectionStart === 'number') note.selection = [node.selectionStart, node.selectionEnd, node.selectionDirection];
  return note;
}

function restore(root, note) {
  let node = note.node;
  if (!node.isConnected || node.hidden) {
    const row = byKey(root, note.row, 'row');
    const group = byKey(root, note.group, 'group');
    node = byKey(root, note.key) ?? byKey(root, note.next) ?? row?.querySelector('a') ?? group?.querySelector('h2') ?? root.querySelector('h1');
    if (node && node.tabIndex < 0 && !node.hasAttribute('tabindex')) node.setAttribute('tabindex', '-1');
  }
  if (!node || document.activeElement === node) return;
  node.focus({ preventScroll: true });
  if (note.selection && node === note.node) node.setSelectionRange(...note.selection);
}

function under(hand, root) {
  if (!hand || performance.now() > hand.until) return null;
  const node = document.elementFromPoint(hand.x, hand.y)?.closest('[data-row]');
  return node && root.contains(node) ? { node, top: node.getBoundingClientRect().top } : null;
}

// Only a small shift is followed: a row that went to another group is let go.
function stay({ node, top }) {
  const by = node.isConnected ? node.getBoundingClientRect().top - top : 0;
  if (Math.abs(by) >= 1 && Math.abs(by) < innerHeight / 2) scrollBy(0, by);
}

/** A painter of `root`: `draw` renders now; the returned `paint(why)` decides when. `why` is `payload`, `manual` or `own`. */
export function painter(root, draw) {
  let deferred = 0;
  let dirty = false;
  let quietUntil = 0;
  let timer = 0;
  let hand = null;

  function now(why = 'payload') {
    dirty = false;
    deferred = 0;
    const note = remember(root);
    const held = why === 'payload' ? under(hand, root) : null;
    draw();
    if (held) stay(held);
    if (note) restore(root, note);
  }

  function paint(why = 'own') {
    dirty = true;
    if (document.hidden && why === 'payload') return;
    if (why === 'payload') {
      const select = document.activeElement;
      if (select?.tagName === 'SELECT' && root.contains(select) && deferred < SELECT_DEFERRALS) {
        deferred += 1;
        return;
      }
      const wait = quietUntil - performance.now();
      if (wait > 0) {
        clearTimeout(timer);
        timer = setTimeout(() => dirty && now(), wait);
        return;
      }
    }
    now(why);
  }

  const point = (event) => { hand = { x: event.clientX, y: event.clientY, until: performance.now() + HAND }; };
  root.addEventListener('pointermove', point, { passive: true });
  root.addEventListener('pointerdown', point, { passive: true });
  const late = (event) => {
    if (event.target.tagName === 'SELECT') setTimeout(() => dirty && now(), 0);
  };
  root.addEventListener('change', late);
  root.addEventListener('focusout', late);
  // A click on a summary is the reader's own toggle; it is heard before the element moves.
  root.addEventListener('click', (event) => {
    if (!event.target.closest?.('summary,[aria-expanded]')) return;
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) quietUntil = performance.now() + MOTION;
  }, true);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && dirty) now();
  });
  return paint;
}
