import { afterEach, expect, test, vi } from 'vitest';
import { watched } from '../../../mail/imap/search/session-search.ts';
import type { Session } from '../../../mail/imap/session.ts';

afterEach(() => vi.useRealTimers());

/** A session that counts what is written. */
function session(): { written: string[]; connected: boolean } & Pick<Session, 'writeUnsolicited'> {
  const written: string[] = [];
  return { written, connected: true, writeUnsolicited: (text) => void written.push(text) };
}

test('a long search reports every 10 seconds that it goes on', async () => {
  vi.useFakeTimers();
  const client = session();
  const search = watched(
    client as unknown as Session,
    'a1',
    () => new Promise((resolve) => setTimeout(resolve, 25_000)),
  );
  await vi.advanceTimersByTimeAsync(9_000);
  expect(client.written).toEqual([]);
  await vi.advanceTimersByTimeAsync(16_000);
  await search;
  const line = '* OK [INPROGRESS ("a1" NIL NIL)] Still searching\r\n';
  expect(client.written).toEqual([line, line]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(client.written).toHaveLength(2);
});

test('a search is aborted when its client is gone', async () => {
  vi.useFakeTimers();
  const client = session();
  const search = watched(
    client as unknown as Session,
    'a1',
    (signal) => new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(signal.aborted))),
  );
  client.connected = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await search).toBe(true);
});
