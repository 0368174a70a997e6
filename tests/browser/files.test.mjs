// What the page is made of: its files, their sizes, the policy they keep and the style sheet, read as bytes.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { STATIC, assets } from './fake.mjs';

const is = assert.deepEqual;
const sources = () => readdirSync(STATIC).filter((n) => n.endsWith('.js')).map((n) => [n, readFileSync(join(STATIC, n), 'utf8')]);
const css = readFileSync(join(STATIC, 'app.css'), 'utf8');

// ---- what the files hold

test('UI-005 the vendored files are those recorded', () => {
  const lines = readFileSync(join(STATIC, 'vendor/SOURCES.txt'), 'utf8').trim().split('\n').slice(1).map((l) => l.split(' | '));
  assert.ok(lines.length >= 17);
  const sha = (p) => createHash('sha256').update(readFileSync(p)).digest('hex');
  for (const [file, name, version, from, upstream, served] of lines) {
    assert.equal(sha(join(STATIC, file.startsWith('fonts/') ? file : `vendor/${file}`)), served, file);
    const original = join(import.meta.dirname, 'node_modules', name, from);
    if (existsSync(original)) {
      assert.equal(sha(original), upstream, `${name} ${version}`);
    }
  }
  const recorded = new Set(lines.map((l) => l[0]));
  for (const name of [...readdirSync(join(STATIC, 'vendor')), ...readdirSync(join(STATIC, 'fonts')).map((n) => `fonts/${n}`)]) assert.ok(recorded.has(name) || ['SOURCES.txt', 'licenses.txt'].includes(name), name);
  assert.match(readFileSync(join(STATIC, 'vendor/hooks.js'), 'utf8'), /from"\.\/preact\.js"/);
  for (const name of ['preact.js', 'hooks.js', 'htm.js', 'xterm.js']) assert.doesNotMatch(readFileSync(join(STATIC, 'vendor', name), 'utf8'), /sourceMappingURL/);
});

test('UI-008 no source can write markup or run text', () => {
  for (const [name, text] of [...sources(), ['index.html', readFileSync(join(STATIC, 'index.html'), 'utf8')]]) {
    for (const word of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'dangerouslySetInnerHTML', 'srcdoc', 'eval(', 'new Function', 'javascript:', 'setAttribute(\'style\'', '.cssText']) assert.ok(!text.includes(word), `${name} holds ${word}`);
  }
});

test('UI-002 UI-004 the shell holds no inline script, style or handler, and the policy', () => {
  const page = readFileSync(join(STATIC, 'index.html'), 'utf8');
  assert.equal((page.match(/<script\b/g) ?? []).length, 1);
  assert.match(page, /<script type="module" src="\/assets\/app\.js"><\/script>/);
  assert.doesNotMatch(page, /<style|style="|\son\w+=|<base|@import|http:\/\/|https:\/\//);
  assert.ok(page.includes(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'">`));
  assert.ok(page.indexOf('Content-Security-Policy') < page.indexOf('<link'));
  assert.equal(page.split('</head>').length, 2);
});

test('UI-003 every import and every asset named in a file is served', () => {
  const table = assets();
  for (const [name, text] of [...sources(), ...['preact.js', 'hooks.js', 'htm.js'].map((n) => [n, readFileSync(join(STATIC, 'vendor', n), 'utf8')])]) {
    for (const [, path] of text.matchAll(/(?:from\s*|import\()['"]([^'"]+)['"]/g)) assert.ok(path.startsWith('./') && table.has(path.slice(2)), `${name} imports ${path}`);
  }
  for (const text of [css, readFileSync(join(STATIC, 'index.html'), 'utf8'), ...sources().map((s) => s[1])]) for (const [, name] of text.matchAll(/\/assets\/([a-z0-9._-]+)/g)) assert.ok(table.has(name), name);
});

test('UI-003 the binary embeds exactly the files the page is made of', () => {
  const table = readFileSync(join(STATIC, '../src/http/assets.rs'), 'utf8');
  const embedded = [...table.matchAll(/\("([a-z0-9._-]+)", include_bytes!\("..\/..\/static\/([^"]+)"\)\)/g)].map(([, name, path]) => [name, join(STATIC, path)]);
  is(new Map(embedded.sort()), new Map([...assets()].sort()));
});

test('UI-250 UI-251 storage is touched in one file', () => {
  for (const [name, text] of sources()) if (name !== 'keep.js') assert.doesNotMatch(text, /localStorage|sessionStorage|document\.cookie|indexedDB|caches\.|serviceWorker/, name);
});

const tokens = (block) => Object.fromEntries([...block.matchAll(/--([a-z0-9-]+):\s*(#[0-9A-Fa-f]{6})/g)].map((x) => [x[1], x[2]]));
const [, darkCss] = css.match(/@layer tokens \{\s*:root \{([^}]*)\}/);
const [, lightCss] = css.match(/\[data-theme=light\] \{([^}]*)\}/);
const [, autoCss] = css.match(/\[data-theme=auto\] \{([^}]*)\}/);
const lum = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };

test('LOOK-021 LOOK-022 every ink is legible on every ground, in both schemes', () => {
  for (const [scheme, t] of [['dark', tokens(darkCss)], ['light', tokens(lightCss)]]) {
    for (const ground of ['bg-0', 'bg-1', 'bg-2', 'bg-3']) {
      for (const ink of ['ink-1', 'ink-2', 'ink-3', 'need', 'work', 'idle', 'accent', 'amber', 'clay', 'ok']) assert.ok(contrast(t[ink], t[ground]) >= 4.5, `${scheme} ${ink} on ${ground}`);
      assert.ok(contrast(t['line-ctl'], t[ground]) >= 2.995, `${scheme} line-ctl on ${ground} ${contrast(t['line-ctl'], t[ground])}`);
    }
    for (const [ink, ground] of [['need-ink', 'need-bg'], ['work-ink', 'work-bg'], ['amber-ink', 'amber-bg'], ['primary-ink', 'primary-bg']]) assert.ok(contrast(t[ink], t[ground]) >= 4.5, `${scheme} ${ink}`);
  }
  is(tokens(autoCss), tokens(lightCss));
});

test('LOOK-080 LOOK-082 one file, its layers, no ids, nothing forced, text colours are tokens', () => {
  assert.match(css, /@layer reset, tokens, base, parts, views, overrides;/);
  assert.doesNotMatch(css, /!important|@import/);
  const rules = css.replace(/\/\*[\s\S]*?\*\//g, '').replace(/@font-face \{[^}]*\}/g, '');
  for (const [, selector] of rules.matchAll(/([^{};]+)\{/g)) assert.doesNotMatch(selector, /#[a-z]/i, selector);
  for (const [, value] of rules.matchAll(/[{;\s]color:\s*([^;}]+)/g)) assert.match(value.trim(), /^(var\(--[a-z0-9-]+\)|inherit|currentColor|CanvasText)$/, value);
  assert.ok(Buffer.byteLength(css) <= 45_000, `${Buffer.byteLength(css)} bytes`);
});

test('LOOK-083 every class in the style sheet is used', () => {
  const text = [...sources().map((s) => s[1]), readFileSync(join(STATIC, 'index.html'), 'utf8')].join('\n');
  const used = new Set(text.match(/[A-Za-z][A-Za-z0-9_-]*/g));
  const prefixes = [...text.matchAll(/([a-z][a-z0-9-]*-)\$\{/g)].map((x) => x[1]);
  const rules = css.replace(/\/\*[\s\S]*?\*\//g, '').replace(/@font-face \{[^}]*\}/g, '');
  const names = new Set([...rules.matchAll(/\.(-?[A-Za-z_][\w-]*)(?=[^{}]*\{)/g)].map((x) => x[1]));
  assert.ok(names.size > 100);
  is([...names].filter((n) => !used.has(n) && !prefixes.some((p) => n.startsWith(p))), []);
});

test('UI-262 what the first view loads stays small', () => {
  const seen = new Set();
  const follow = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = readFileSync(assets().get(name), 'utf8');
    for (const [, path] of text.matchAll(/from\s*['"]\.\/([^'"]+)['"]/g)) follow(path);
  };
  follow('app.js');
  const bytes = [...seen].reduce((n, name) => n + readFileSync(assets().get(name)).length, 0);
  assert.ok(bytes <= 150_000, `${bytes} bytes of script`);
  const fonts = readdirSync(join(STATIC, 'fonts')).filter((n) => !n.includes('latin-ext')).reduce((n, name) => n + readFileSync(join(STATIC, 'fonts', name)).length, 0);
  assert.ok(fonts <= 150_000, `${fonts} bytes of fonts`);
});
