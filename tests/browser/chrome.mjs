// One way to start the browser, used by the tests, the pictures and the measurements.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** The browser program, or null where there is none. */
export const program = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p)) ?? null;

/** A browser with a profile of its own: `{context, close}`. Options are those of a playwright context. */
export async function browser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'cargento-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: program, headless: true, viewport: { width: 1440, height: 900 }, colorScheme: 'dark', locale: 'en-GB', timezoneId: 'UTC', ...options,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...(options.args ?? [])],
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
