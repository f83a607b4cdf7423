import { type Facts, PAGE, readPlaces } from './facts.ts';
import type { Scene } from './scene.ts';

/** Who of an email's thread has a keyword: RFC 8621 4.4.1. A thread has the emails that somebody can see. */
export type InThread = 'all' | 'some' | 'none';

/** Answers, for emails it was prepared with, whether they have a keyword. */
export async function keywordHeld(
  scene: Scene,
  keyword: string,
  among: readonly Facts[],
): Promise<(facts: Facts) => boolean> {
  const bit = scene.bit(keyword);
  if (bit !== undefined) return ({ flags }) => (flags & bit) !== 0;
  await readPlaces(scene.rx, scene.account, among);
  return ({ places }) => places !== undefined && places.kw.split(' ').includes(keyword);
}

const MEMBERS = `SELECT e.thread_id, n.flags, n.kw FROM email e INDEXED BY email_thread
  JOIN entry n ON n.email_id = e.id JOIN mailbox m ON m.id = n.mailbox_id
  WHERE e.thread_id IN (SELECT value FROM json_each(?)) AND e.account_id = ? AND n.flags & 16 = 0 AND m.gone_at IS NULL`;

/** The same for the threads of emails. */
export async function keywordInThread(
  scene: Scene,
  has: InThread,
  keyword: string,
  among: readonly Facts[],
): Promise<(facts: Facts) => boolean> {
  const bit = scene.bit(keyword);
  const threads = [...new Set(among.map(({ thread }) => thread))];
  const held = new Map<number, { some: boolean; all: boolean }>();
  for (let at = 0; at < threads.length; at += PAGE) {
    scene.looked(0);
    const ids = JSON.stringify(threads.slice(at, at + PAGE));
    for (const row of await scene.rx.all<{ thread_id: number; flags: number; kw: string | null }>(
      MEMBERS,
      ids,
      scene.account,
    )) {
      const one = bit === undefined ? (row.kw ?? '').split(' ').includes(keyword) : (row.flags & bit) !== 0;
      const known = held.get(row.thread_id) ?? { some: false, all: true };
      held.set(row.thread_id, { some: known.some || one, all: known.all && one });
    }
  }
  return ({ thread }) => {
    const { some, all } = held.get(thread) ?? { some: false, all: false };
    return has === 'all' ? all : has === 'some' ? some : !some;
  };
}
