// Every figure and phrase the page prints from a number. Pure: no DOM, no clock, no locale beyond en-US digits,
// so the tables in tests/browser hold each rule. An unknown value gives null, never a zero: the caller words the absence.

/** Words for what a source does not say. Fixed, so that every view says the same. */
export const ABSENT = {
  activity: 'Activity not published',
  state: 'No state published',
  next: 'No pending step published',
  location: 'Exact location not published',
  wait: 'Wait duration not published',
  git: 'Git state was not measured',
  end: 'No stop or end observed',
  blocks: 'Harness does not report blocks',
  blocksUnread: 'Block state could not be read',
  rate: 'Token rate not reported',
  title: 'Title not published',
};

/** A finite number, else null. */
export const num = (v) => (typeof v === 'number' && Number.isFinite(v) ? v : null);

/** `59s`, `1m`, `1h 0m`, `1d 1h`: seconds floored; null for a negative or unknown one. */
export function duration(seconds) {
  const n = num(seconds);
  if (n === null || n < 0) return null;
  const s = Math.floor(n);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${Math.floor((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86400)}d ${Math.floor((s % 86400) / 3600)}h`;
}

/** Seconds since `t` against the payload's clock; null when either is unknown. A time ahead of the clock reads 0. */
export function since(generated, t) {
  const g = num(generated);
  const n = num(t);
  return g === null || n === null || n <= 0 ? null : Math.max(0, g - n);
}

/** `since` in words. */
export const age = (generated, t) => duration(since(generated, t));

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n) => String(n).padStart(2, '0');

/** Local wall clock of `t` as seen from `generated`: `14:02`, `Tue 09:20` within a week ahead, else `Nov 03`. */
export function clock(t, generated) {
  const n = num(t);
  const g = num(generated);
  if (n === null || n <= 0) return null;
  const at = new Date(n * 1000);
  if (Number.isNaN(at.getTime())) return null;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (g === null) return time;
  const from = new Date(g * 1000);
  if (at.toDateString() === from.toDateString()) return time;
  if (n > g && n - g <= 7 * 86400) return `${DAYS[at.getDay()]} ${time}`;
  return `${MONTHS[at.getMonth()]} ${two(at.getDate())}`;
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** An integer with thousands separators. */
export const count = (n) => whole.format(Math.round(n));

/** `1 session`, `2 sessions`. */
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

/** What `412/m` counts. */
export const RATE_WHY = 'output tokens per minute';

/** `412/m`; `≥ 412/m` when the figure is a floor; null when unknown. */
export function rate(perMinute, floor = false) {
  const n = num(perMinute);
  return n === null || n < 0 ? null : `${floor ? '≥ ' : ''}${count(n)}/m`;
}

/** `812`, `12.3k`, `1.2M`; a real zero prints `0`. */
export function tokens(n) {
  const v = num(n);
  if (v === null || v < 0) return null;
  if (v < 1000) return String(Math.floor(v));
  if (v < 999950) return `${(v / 1000).toFixed(1)}k`;
  return `${(v / 1e6).toFixed(1)}M`;
}

/** The footer figure of a session: the turn's tokens while it works, else the session's, else whichever is known. */
export function tokenLine(working, turn, session) {
  const t = tokens(turn);
  const s = tokens(session);
  const pick = working ? [t, s] : [s, t];
  const value = pick[0] ?? pick[1];
  if (value === null) return null;
  const ofTurn = working ? t !== null : s === null;
  return `${value} output tokens this ${ofTurn ? 'turn' : 'session'}`;
}

/** `34%`. */
export const percent = (n) => (num(n) === null ? null : `${Math.round(n)}%`);

/** `1.4×`. */
export const pace = (ratio) => (num(ratio) === null ? null : `${ratio.toFixed(1)}×`);

/** `last 41s`, `last 3h 5m`, `last 2d 4h`: minutes and hours left out at 0; `since this tab opened` without a span. */
export function observed(seconds) {
  const n = num(seconds);
  if (n === null || n <= 0) return 'since this tab opened';
  return `last ${duration(n).replace(/ 0[hm]$/, '')}`;
}

const MCP = /\bmcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*?)__([A-Za-z0-9_-]+)/g;

/** Text with each MCP wire name replaced by `Service · action`. The caller keeps the recorded string as the tooltip. */
export function toolText(text) {
  return text.replace(MCP, (whole, server, tool) => {
    const service = server.replace(/^(?:claude_ai_|claude_code_|plugin_)/, '').replaceAll('_', ' ').trim();
    const action = tool.replaceAll('_', ' ').trim();
    if (!action) return whole;
    return service ? `${service} · ${action}` : action;
  });
}

// Vendor ids a Pi session spends, and the harness whose label says whose authority that is.
const PROVIDERS = {
  'openai-codex': 'Codex', anthropic: 'Claude', 'google-gemini-cli': 'Gemini', 'google-antigravity': 'Antigravity',
  'github-copilot': 'Copilot', opencode: 'OpenCode', cursor: 'Cursor',
};

/** What a row spends, in words: the model, or on Pi whose authority and the model; null when neither is published. */
export function authority(harness, provider, model, consumption) {
  const parts = [];
  if (harness === 'pi' && provider) parts.push(`via ${PROVIDERS[provider] ?? provider}`);
  if (model) parts.push(model);
  if (consumption) parts.push(consumption);
  return parts.length ? parts.join(' · ') : null;
}

/** `6m into turn · 3m estimated remaining`, from the two published strings. */
export function turnText(elapsed, eta) {
  if (!elapsed) return null;
  return eta ? `${elapsed} into turn · ${eta} estimated remaining` : `${elapsed} into turn`;
}

/** True when an instruction line would only say the title again. */
export function repeatsTitle(title, text) {
  const t = title.trim().toLowerCase();
  const x = text.trim().toLowerCase();
  if (!t || !x) return false;
  return t === x || (t.endsWith('…') && x.startsWith(t.slice(0, -1).trimEnd()));
}

/** One line of typed text: breaks, control and bidirectional controls become one space, as the store does it. */
export const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/g, ' ');

/** The command that re-enters a session in its own CLI; null unless the harness has one and the token is safe. */
export function resumeCommand(harness, id) {
  if (typeof id !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(id)) return null;
  if (harness === 'claude') return `claude --resume ${id}`;
  return harness === 'codex' ? `codex resume ${id}` : null;
}
