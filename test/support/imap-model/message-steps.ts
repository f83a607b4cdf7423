import { PASSWORD, USER } from '../imap-world.ts';
import { numbers } from './replica.ts';
import type { ModelSession } from './session.ts';

export const FLAGS = ['\\Seen', '\\Flagged', '\\Deleted', '\\Answered', '$a', '$b'];

/** Messages as a command names them. */
export interface Picked {
  uids: number[];
  set: string;
  /** The command has its UID form. */
  uid: boolean;
}

/** Some messages that the client knows; undefined: it knows none. */
export function pickMessages(session: ModelSession, share = 0.15): Picked | undefined {
  const { random } = session.account;
  const known = session.replica.messages.flatMap(({ uid }, at) => (uid === undefined ? [] : [{ uid, at: at + 1 }]));
  if (known.length === 0) return undefined;
  const unique = [...new Set([random.one(known), ...random.some(known, share)])].toSorted((a, b) => a.uid - b.uid);
  const uid = random.chance(0.5);
  return { uids: unique.map((each) => each.uid), set: unique.map((each) => (uid ? each.uid : each.at)).join(','), uid };
}

/** STORE, with and without UNCHANGEDSINCE. */
export async function storeFlags(session: ModelSession): Promise<void> {
  const picked = pickMessages(session);
  if (picked === undefined) return session.check();
  const { random, truth } = session.account;
  const how = random.one(['+', '-', ''] as const);
  const flags = random.some(FLAGS, 0.3);
  if (flags.length === 0) flags.push('\\Seen');
  const silent = random.chance(0.4) ? '.SILENT' : '';
  const conditional = session.condstore && random.chance(0.4);
  const since = conditional ? sinceOf(session, picked.uids) : 0;
  const modified = conditional ? await changedSince(session, picked.uids, since) : [];
  const stored = picked.uids.filter((uid) => !modified.includes(uid));
  truth.store(session.box, stored, how, flags);
  const head = `${picked.uid ? 'UID ' : ''}STORE ${picked.set}${conditional ? ` (UNCHANGEDSINCE ${since})` : ''}`;
  const numbering = new Map(session.replica.messages.map(({ uid }, at) => [uid, at + 1]));
  const rule = { noExpunge: !picked.uid };
  const lines = await session.client.command(`${head} ${how}FLAGS${silent} (${flags.join(' ')})`, rule);
  const told = /\[MODIFIED ([\d:,]+)\]/.exec(lines.at(-1) ?? '')?.[1];
  const expected = modified.map((uid) => (picked.uid ? uid : (numbering.get(uid) ?? 0))).toSorted((a, b) => a - b);
  const got = told === undefined ? [] : numbers(told);
  if (got.join() !== expected.join()) throw new Error(`MODIFIED ${got.join()} and not ${expected.join()}`);
  if (silent !== '') session.replica.store(stored, how, flags);
  await session.learn();
}

function sinceOf({ replica, account }: ModelSession, uids: readonly number[]): number {
  const known = replica.messages.filter(({ uid }) => uid !== undefined && uids.includes(uid));
  return Math.max(1, account.random.one(known).modseq);
}

/** Asks a client that has only just connected which of these changed: those UNCHANGEDSINCE must leave alone. */
async function changedSince(session: ModelSession, uids: readonly number[], since: number): Promise<number[]> {
  const oracle = await session.account.world.connect();
  await oracle.command(`LOGIN ${USER} ${PASSWORD}`);
  await oracle.command(`EXAMINE ${session.box.name} (CONDSTORE)`);
  const lines = await oracle.command(`UID FETCH ${uids.join(',')} (UID) (CHANGEDSINCE ${since})`);
  oracle.socket.destroy();
  return lines.flatMap((line) =>
    (/^\* \d+ FETCH \(UID (\d+)/.exec(line)?.[1] ?? '').split(' ').filter(Boolean).map(Number),
  );
}

/** UID SEARCH of a flag finds what the client counts and is there. */
export async function search(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const flag = random.one(['SEEN', 'FLAGGED', 'DELETED', 'UNSEEN']);
  const before = session.replica.uids();
  const lines = await session.client.command(`UID SEARCH ${flag}`);
  const response = lines.find((line) => line.startsWith('* SEARCH')) ?? '';
  const found = response.split(' ').slice(2);
  const has = (uid: number): boolean => {
    const flags = (truth.flags(session.box, uid) ?? '').toUpperCase().split(' ');
    return flag === 'UNSEEN' ? !flags.includes('\\SEEN') : flags.includes(`\\${flag}`);
  };
  const expected = before.filter((uid) => truth.flags(session.box, uid) !== undefined && has(uid));
  if (found.join() !== expected.join()) throw new Error(`SEARCH ${flag}: ${found.join()} and not ${expected.join()}`);
  await session.learn();
}

/** UID FETCH of what changed. */
export async function fetchChanged(session: ModelSession): Promise<void> {
  const { condstore, replica } = session;
  const { random } = session.account;
  if (!condstore || replica.messages.length === 0) return session.check();
  const since = random.below(2) === 0 ? replica.highest : random.below(replica.highest + 1);
  const modifier = session.qresync ? `(CHANGEDSINCE ${since} VANISHED)` : `(CHANGEDSINCE ${since})`;
  await session.client.command(`UID FETCH 1:* (FLAGS) ${modifier}`);
  await session.learn();
}
