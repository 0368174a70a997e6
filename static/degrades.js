// What a source could not give, as one sentence that names the source and what its reader can do. Pure.
import { many, num } from './format.js';
import { str } from './model.js';

const NEWER = 'a newer Cargento may read more';

// What is known of each code of DECK-020, and the remedy; `n` is a count or null, `own` the harness as commands name it.
const SAYS = {
  'store-missing': () => 'not there; run cargento --diagnose to see where it was searched',
  'store-unreadable': () => 'could not be read; run cargento --diagnose to see its path, and check that this account may read it',
  'store-locked': () => 'locked by another program; it is read again by itself, close that program if this stays',
  'store-corrupt': () => 'damaged, and nothing of it is shown; run cargento --diagnose to see its path',
  'store-encrypted': () => 'encrypted, and read by its own program only; nothing can be done here',
  'schema-unknown': () => `in a form this version does not know, and nothing of it is shown in part; ${NEWER}`,
  'record-skipped': (n) => `${n === null ? 'some records' : many(n, 'record')} could not be read, the others are shown; ${NEWER}`,
  'read-in-part': () => 'only the newest part was read; what is older stays in the harness’s own files',
  compressed: (n) => `${n === null ? 'compressed and not read' : `${many(n, 'compressed file')} not read`}; unpack what is to be shown`,
  'version-unseen': () => `written by a newer version than this build was tried on; it is read all the same, and ${NEWER}`,
  'hooks-silent': (_, own) => `its harness can send events, and none came for ten minutes while its sessions moved; run cargento hooks ${own} to see what must be installed and approved`,
  'watch-lost': () => 'the system gives no more notices of its files, so they are looked at now and then; raising the system’s limit on watched files brings the notices back',
};

/** One of the payload's `degrades` in words, of the harness called `label`; '' for something that is none. */
export function sentence(degrade, label) {
  const code = str(degrade?.code);
  if (!code) return '';
  const source = str(degrade.source);
  // Stores and files carry a dot; a source without one is the harness itself.
  const who = [str(label), source.includes('.') ? source : ''].filter(Boolean).join(', ') || 'A source';
  return `${who}: ${Object.hasOwn(SAYS, code) ? SAYS[code](num(degrade.count), source || 'HARNESS') : code}.`;
}
