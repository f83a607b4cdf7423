import { append, appendSlowly, catenate, copy, expunge, replace } from './count-steps.ts';
import { changeMailboxes, listMailboxes, select } from './mailbox-steps.ts';
import { fetchChanged, search, storeFlags } from './message-steps.ts';
import type { ModelSession } from './session.ts';

interface Step {
  /** Its share of all steps, of 123. */
  readonly weight: number;
  readonly run: (session: ModelSession) => Promise<void>;
  /** The server acts on what it has reported, as on sequence numbers: a client that is notified reads it first. */
  readonly readsFirst?: true;
  /** A message may arrive while it runs: it adds none to INBOX and compares nothing. */
  readonly allowsDelivery?: true;
  /** It needs no selected mailbox. */
  readonly unselected?: true;
}

const STEPS: readonly Step[] = [
  { weight: 12, run: append, readsFirst: true },
  { weight: 30, run: storeFlags, readsFirst: true, allowsDelivery: true },
  { weight: 12, run: copy, readsFirst: true },
  { weight: 10, run: expunge, readsFirst: true, allowsDelivery: true },
  { weight: 10, run: search, readsFirst: true },
  { weight: 6, run: fetchChanged, readsFirst: true },
  { weight: 12, run: (session) => session.check() },
  { weight: 2, run: (session) => session.leave('CLOSE'), readsFirst: true },
  { weight: 2, run: (session) => session.leave('UNSELECT') },
  { weight: 4, run: select, unselected: true },
  { weight: 2, run: (session) => Promise.resolve(session.cut()), unselected: true },
  { weight: 6, run: replace, readsFirst: true },
  { weight: 3, run: appendSlowly, readsFirst: true, unselected: true },
  { weight: 2, run: catenate, readsFirst: true },
  { weight: 8, run: changeMailboxes, unselected: true },
  { weight: 1, run: listMailboxes, readsFirst: true, unselected: true },
  { weight: 1, run: (session) => session.account.deliver(), unselected: true },
];
const BY_WEIGHT = STEPS.flatMap((step) => Array.from({ length: step.weight }, () => step));
const UNSELECTED = BY_WEIGHT.filter(({ unselected }) => unselected === true);

/** One random step of a client. */
export async function runStep(session: ModelSession): Promise<void> {
  const { account, selected, client } = session;
  if (!client.connected) return session.connect();
  if (selected?.gone === true) {
    // RFC 9051 6.3.5 has no response for a selected mailbox that another client deletes: the connection ends.
    await client.expectBye('NONEXISTENT');
    session.selected = undefined;
    return;
  }
  if (selected === undefined && account.random.chance(0.6)) return select(session);
  const step = account.random.one(selected === undefined ? UNSELECTED : BY_WEIGHT);
  if (session.notify && step.readsFirst === true) await session.check();
  const arrives = step.allowsDelivery === true && account.random.chance(0.05);
  await Promise.all([arrives ? account.deliver() : undefined, step.run(session)]);
}
