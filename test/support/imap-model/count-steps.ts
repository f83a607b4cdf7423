import { changeMailboxes } from './mailbox-steps.ts';
import { FLAGS, pickMessages } from './message-steps.ts';
import { numbers } from './replica.ts';
import type { ModelSession } from './session.ts';
import type { TruthMailbox } from './truth.ts';

const MESSAGE = 'Subject: model\r\n\r\nx\r\n';
const LITERAL = `{${MESSAGE.length}+}\r\n${MESSAGE}`;
/** Messages of a mailbox beyond which more are removed than added. */
const MANY = 30;

/** The selected mailbox more often than another one. */
function target(session: ModelSession, share: number): TruthMailbox {
  const { random, truth } = session.account;
  return random.chance(share) ? session.box : random.one(truth.mailboxes);
}

/** APPEND of a literal. */
export async function append(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const box = target(session, 0.7);
  const flags = random.some(FLAGS, 0.2);
  const uid = truth.append(box, flags);
  const lines = await session.client.command(`APPEND ${box.name} (${flags.join(' ')}) ${LITERAL}`);
  expectAppended(lines.at(-1), uid);
  await session.learn();
}

/**
 * APPEND whose literal waits while others change mailboxes: what they did is reported at once, at its end. The message goes to
 * the mailbox that had the name at first, which another name does not change.
 */
export async function appendSlowly(session: ModelSession): Promise<void> {
  const { random, truth, sessions } = session.account;
  const box = random.one(truth.mailboxes);
  const tag = await session.client.beginLiteral(`APPEND ${box.name} ()`, MESSAGE);
  const others = sessions.filter((each) => each !== session && each.isReady);
  for (let count = random.below(4); count >= 0; count -= 1) {
    const ready = others.filter((each) => each.isReady);
    if (ready.length > 0) await changeMailboxes(random.one(ready));
  }
  const uid = box.gone ? 0 : truth.append(box, []);
  const lines = await session.client.endLiteral(tag, MESSAGE, box.gone ? 'TRYCREATE' : undefined);
  if (!box.gone) expectAppended(lines.at(-1), uid);
  if (session.isReady && session.selected !== undefined) await session.learn();
}

/** APPEND of a message made of another one, which may be expunged. RFC 4469. */
export async function catenate(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const picked = pickMessages(session);
  if (picked === undefined) return append(session);
  const [box, uid] = [target(session, 0.5), random.one(picked.uids)];
  const isThere = truth.flags(session.box, uid) !== undefined;
  const url = random.chance(0.5) ? '' : `/${session.box.name};UIDVALIDITY=${session.replica.uidValidity}`;
  const parts = `(URL "${url}/;UID=${uid}/;SECTION=HEADER" TEXT {3+}\r\nx\r\n)`;
  const made = isThere ? truth.append(box, []) : 0;
  const refusal = isThere ? undefined : 'BADURL';
  const lines = await session.client.command(`APPEND ${box.name} CATENATE ${parts}`, { refusal });
  if (isThere) expectAppended(lines.at(-1), made);
  await session.learn();
}

/** REPLACE of a message, which may be expunged, also into another mailbox. RFC 8508. */
export async function replace(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const picked = pickMessages(session, 0);
  const [uid] = picked?.uids ?? [];
  if (picked === undefined || uid === undefined) return append(session);
  const box = target(session, 0.6);
  const flags = random.some(FLAGS, 0.2);
  const isThere = truth.flags(session.box, uid) !== undefined;
  const made = isThere ? truth.replace(session.box, uid, box, flags) : 0;
  const command = `${picked.uid ? 'UID ' : ''}REPLACE ${picked.set} ${box.name} (${flags.join(' ')}) ${LITERAL}`;
  const lines = await session.client.command(command, { refusal: isThere ? undefined : 'EXPUNGEISSUED' });
  if (isThere) expectAppended(beforeCounts(lines), made);
  await session.learn();
}

/** RFC 8508 3.1: APPENDUID comes before the EXISTS and EXPUNGE of this command. */
function beforeCounts(lines: readonly string[]): string | undefined {
  const gone = lines.findLastIndex((line) => /^\* (?:\d+ (?:EXPUNGE|EXISTS)|VANISHED)/.test(line));
  return lines.slice(0, gone < 0 ? undefined : gone).find((line) => line.includes('[APPENDUID'));
}

/** COPY and MOVE, into mailboxes that are not there too. */
export async function copy(session: ModelSession): Promise<void> {
  const picked = pickMessages(session);
  if (picked === undefined) return append(session);
  const { random, truth, copies } = session.account;
  const move = !copies || random.chance(0.5) || session.box.entries.length > MANY;
  const head = `${picked.uid ? 'UID ' : ''}${move ? 'MOVE' : 'COPY'} ${picked.set}`;
  if (random.chance(0.05)) {
    await session.client.command(`${head} nowhere`, { refusal: 'TRYCREATE' });
    return session.learn();
  }
  const to = random.one(truth.mailboxes);
  const there = picked.uids.filter((uid) => truth.flags(session.box, uid) !== undefined);
  const made = truth.copy(session.box, there, to, move);
  const lines = await session.client.command(`${head} ${to.name}`);
  const code = /\[COPYUID \d+ ([\d:,]+) ([\d:,]+)\]/.exec(lines.join('\n'));
  const got = code === null ? '' : `${numbers(code[1] ?? '').join()} ${numbers(code[2] ?? '').join()}`;
  const expected = there.length === 0 ? '' : `${there.join()} ${made.join()}`;
  if (got !== expected) throw new Error(`COPYUID ${got} and not ${expected}`);
  await session.learn();
}

/** EXPUNGE and UID EXPUNGE. */
export async function expunge(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  if (session.box.entries.length > MANY) return expungeMany(session);
  const picked = pickMessages(session);
  const byUid = picked !== undefined && random.chance(0.5);
  truth.expunge(session.box, byUid ? picked.uids : session.replica.uids());
  await session.client.command(byUid ? `UID EXPUNGE ${picked.uids.join(',')}` : 'EXPUNGE');
  await session.learn();
}

async function expungeMany(session: ModelSession): Promise<void> {
  const { random, truth } = session.account;
  const uids = session.replica.uids().filter(() => random.chance(0.7));
  if (uids.length === 0) return;
  truth.store(session.box, uids, '+', ['\\Deleted']);
  await session.client.command(`UID STORE ${uids.join(',')} +FLAGS (\\Deleted)`);
  truth.expunge(session.box, uids);
  await session.client.command(`UID EXPUNGE ${uids.join(',')}`);
  await session.learn();
}

function expectAppended(line: string | undefined, uid: number): void {
  if (!new RegExp(`APPENDUID \\d+ ${uid}\\]`).test(line ?? '')) throw new Error(`${line} has not APPENDUID ${uid}`);
}
