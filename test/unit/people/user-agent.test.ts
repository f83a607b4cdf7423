import { expect, test } from 'vitest';
import { knownBrowserOf } from '../../../src/people/user-agent.ts';
import { browserName } from '../../../src/portal/device-list.ts';
import { ENGLISH, translatorFor } from '../../../src/portal/translator.ts';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const NAMES: readonly (readonly [string, string])[] = [
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2210.61`, 'Edge on Windows'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36 OPR/106.0`, 'Opera on Linux'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.0 Safari/605.1.15`, 'Safari on a Mac'],
  ['Mozilla/5.0 (Windows NT 10.0; rv:120.0) Gecko/20100101 Firefox/120.0', 'Firefox on Windows'],
  ['curl/8.5.0', 'curl'],
];

test.each(NAMES)('%s', (agent, name) => {
  expect(knownBrowserOf(agent)).toBe(name);
  expect(browserName(ENGLISH, agent)).toBe(name);
});

test('the beginning of others is shown, and nothing has a name', () => {
  expect(knownBrowserOf('Thing 1')).toBeUndefined();
  expect(browserName(ENGLISH, 'y'.repeat(100))).toBe('y'.repeat(60));
  expect(browserName(ENGLISH, '')).toBe('Unknown');
  expect(browserName(translatorFor('de'), NAMES[3]?.[0] ?? '')).toBe('Safari auf einem Mac');
});
