import { expect, test } from 'vitest';
import { openLog } from '../../../src/start/log.ts';

function recorded(format: 'json' | 'pretty', level: 'debug' | 'info' = 'info') {
  const lines: string[] = [];
  return { log: openLog({ level, format, write: (line) => lines.push(line) }), lines };
}

/** The fields of one event as they are kept. */
function kept(fields: object): Record<string, unknown> {
  const { log, lines } = recorded('json');
  log.info(fields, 'event');
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

test('an event is one line of JSON with time, level and text', () => {
  const { log, lines } = recorded('json');
  log.warn({ trace: 'abc', size: 12 }, 'message received');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    trace: 'abc',
    size: 12,
    msg: 'message received',
  });
});

test('what is below the level is not written', () => {
  const { log, lines } = recorded('json');
  log.debug({}, 'detail');
  log.info({}, 'event');
  expect(lines).toHaveLength(1);
});

test.each([
  ['password'],
  ['Password'],
  ['newPassword'],
  ['authorization'],
  ['token'],
  ['apiKey'],
  ['privateKey'],
  ['sessionToken'],
  ['sealed'],
])('a value called %s is kept out, at any depth', (name) => {
  const line = JSON.stringify(kept({ [name]: 'hunter2', inner: { list: [{ [name]: 'hunter2' }] } }));
  expect(line).not.toContain('hunter2');
  expect(line).toContain('<secret>');
});

test('what only sounds like a secret is reported', () => {
  expect(kept({ user: 'me@box.test', publicKey: 'abc', passed: 3 })).toMatchObject({
    user: 'me@box.test',
    publicKey: 'abc',
    passed: 3,
  });
});

test('an error is reported with its cause and without its own properties', () => {
  const cause = Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' });
  const err = Object.assign(new Error('could not connect', { cause }), {
    password: 'hunter2',
    command: 'AUTH hunter2',
  });
  const line = kept({ err });
  expect(line['err']).toMatchObject({
    type: 'Error',
    message: 'could not connect',
    cause: { message: 'no route', code: 'EHOSTUNREACH' },
  });
  expect(JSON.stringify(line)).not.toContain('hunter2');
});

test('long and deep values are cut', () => {
  let deep: object = { end: true };
  for (let i = 0; i < 10_000; i++) deep = { deep };
  const line = JSON.stringify(
    kept({ long: 'x'.repeat(1_000_000), many: Array(10_000).fill(1), bytes: Buffer.alloc(9), deep }),
  );
  expect(line.length).toBeLessThan(3_000);
  expect(line).toContain('<9 octets>');
});

const FORGED = 'a\r\n{"level":"info","msg":"forged"}\u2028\u0085\x1b[2J\x9b2J';

test.each(['json', 'pretty'] as const)(
  'a value from a peer cannot make a second line or move the cursor (%s)',
  (format) => {
    const { log, lines } = recorded(format);
    log.info({ helo: FORGED, [FORGED]: 1 }, FORGED);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  },
);

test('the form for people is short, and keeps fields apart', () => {
  const { log, lines } = recorded('pretty');
  log.info({ trace: 'abc', helo: 'x user=root', rcpt: ['a@b', 'c@d'] }, 'message received');
  expect(lines[0]?.slice(9)).toBe('info  message received trace=abc helo="x user=root" rcpt=["a@b","c@d"]\n');
});
