import { describe, expect, test } from 'vitest';
import { RecentLog } from '../../../src/core/recent-log.ts';
import { openLog } from '../../../src/start/log.ts';

function logged(write: (log: ReturnType<typeof openLog>) => void): RecentLog {
  const recent = new RecentLog();
  write(openLog({ level: 'debug', format: 'pretty', write: () => {}, copy: (line) => recent.add(line) }));
  return recent;
}

const ALL = { level: 'trace', text: '' } as const;
const texts = (recent: RecentLog, filter: Parameters<RecentLog['after']>[1] = ALL, number = 0, limit = 100): string[] =>
  recent.after(number, filter, limit).lines.map(({ text }) => text);

describe('the newest lines of the log', () => {
  test('are filtered by level, and by text of the line in any case', () => {
    const recent = logged((log) => {
      log.debug({ ip: '192.0.2.1' }, 'connection opened');
      log.info({ ip: '192.0.2.2' }, 'message accepted');
      log.error({ ip: '192.0.2.2' }, 'failed to sync');
    });
    expect(texts(recent)).toEqual(['connection opened', 'message accepted', 'failed to sync']);
    expect(texts(recent, { level: 'info', text: '' })).toEqual(['message accepted', 'failed to sync']);
    expect(texts(recent, { level: 'trace', text: '192.0.2.2' })).toEqual(['message accepted', 'failed to sync']);
    expect(texts(recent, { level: 'trace', text: 'ACCEPTED' })).toEqual(['message accepted']);
  });

  test('have no secrets, and text of peers cannot pass for a level', () => {
    const recent = logged((log) => {
      log.info({ password: 'hunter2', token: 'mst_x', said: '{"level":"error"' }, 'login');
    });
    const [line] = recent.after(0, ALL, 1).lines;
    expect(JSON.stringify(line)).not.toMatch(/hunter2|mst_x/);
    expect(line).toMatchObject({ level: 'info', text: 'login' });
    expect(texts(recent, { level: 'error', text: '' })).toEqual([]);
  });

  test('are at most 1,000, and a reader learns how many it missed', () => {
    const recent = logged((log) => {
      for (let i = 1; i <= 1_500; i++) log.info({}, `line ${i}`);
    });
    expect(texts(recent, ALL, 0, 2_000)).toHaveLength(1_000);
    expect(recent.after(400, ALL, 100)).toMatchObject({ skipped: 1_000 });
    expect(texts(recent, ALL, 1_499)).toEqual(['line 1500']);
    expect(recent.after(recent.last, ALL, 100)).toEqual({ lines: [], skipped: 0 });
  });

  test('take bounded memory: a long line keeps its text only, and the oldest go', () => {
    const recent = logged((log) => {
      for (let i = 1; i <= 200; i++) log.info({ all: Array.from({ length: 50 }, () => 'x'.repeat(900)) }, `line ${i}`);
      for (let i = 1; i <= 200; i++)
        log.info({ all: 'y'.repeat(900), more: Array(5).fill('z'.repeat(900)) }, `next ${i}`);
    });
    const { lines } = recent.after(0, ALL, 1_000);
    expect(lines.at(-1)?.text).toBe('next 200');
    expect(lines.reduce((sum, { fields }) => sum + fields.length, 0)).toBeLessThan(512 * 1024);
    expect(lines.length).toBeLessThan(400);
  });
});
