import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import { takeHit } from '../bootstrap/hits-commands.ts';

const DAY_MS = 24 * 3_600_000;
/** Days that a link is good for. */
export const CONFIRM_DAYS = 7;
const LETTERS_A_DAY = 5;

/** What asks a destination whether it wants the mail. */
export interface Confirmation {
  hash: Uint8Array;
  letter: Outgoing;
  /** Hash of the destination without its +tag: it gets few letters a day, whoever asks. */
  base: string;
}

/**
 * Whether forwards of an organization to a domain wait for its word: its policy asks for that, and the domain is none of
 * its own.
 */
export async function asksWord(rx: Read, { organization, domain }: { organization: number; domain: string }) {
  const row = await rx.get(
    `SELECT 1 AS asks FROM organization WHERE id = ?1 AND confirm_forwards = 1
       AND NOT EXISTS (SELECT 1 FROM domain WHERE tenant = ?1 AND name = ?2 AND state = 1)`,
    organization,
    domain,
  );
  return row !== undefined;
}

export const asksConfirmation = query('asks-confirmation', asksWord);

/** Takes the place of a letter to a destination, or answers in how many ms there is one again. */
export function takeLetter(tx: Write, { base }: Confirmation, stamp: Stamp): Promise<number> {
  return takeHit(tx, { counter: 'forward-letter', subject: base, most: LETTERS_A_DAY, windowMs: DAY_MS }, stamp);
}

/** Asks the destination of a pending forward. Links of before open nothing any more. */
export async function askDestination(tx: Write, id: number, { hash, letter }: Confirmation, stamp: Stamp) {
  await tx.run(
    'UPDATE forwarder SET confirm_hash = ?, confirm_until = ? WHERE id = ?',
    hash,
    stamp.now + CONFIRM_DAYS * DAY_MS,
    id,
  );
  await send(tx, letter, stamp);
}

export const setForwardPolicy = command(
  'set-forward-policy',
  async (tx, input: { organization: number; confirm: boolean }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE organization SET confirm_forwards = ? WHERE id = ?',
      Number(input.confirm),
      input.organization,
    );
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);

/** What the page behind a link says. */
export interface AskedForward {
  kind: 'asked';
  id: number;
  organization: number;
  name: string;
  source: string;
  destination: string;
}

export type DeadConfirmation = { kind: 'missing' | 'used' | 'expired' | 'frozen' };

async function findAsked(rx: Read, hash: Uint8Array, now: number): Promise<AskedForward | DeadConfirmation> {
  const row = await rx.get<{
    id: number;
    organization_id: number;
    name: string;
    source: string;
    destination: string;
    pending: number;
    stopped: number;
    confirm_until: number;
  }>(
    `SELECT f.id, f.organization_id, o.name, f.source, f.destination, f.pending, f.stopped, f.confirm_until
     FROM forwarder f JOIN organization o ON o.id = f.organization_id WHERE f.confirm_hash = ?`,
    hash,
  );
  if (row === undefined) return { kind: 'missing' };
  if (row.pending === 0) return { kind: 'used' };
  if (row.confirm_until <= now) return { kind: 'expired' };
  if (row.stopped === 1) return { kind: 'frozen' };
  const { id, organization_id: organization, name, source, destination } = row;
  return { kind: 'asked', id, organization, name, source, destination };
}

export const askedForward = query('asked-forward', (rx, input: { hash: Uint8Array; now: number }) =>
  findAsked(rx, input.hash, input.now),
);

/** The destination wants the mail: the forward is active from now on. The link opens once. */
export const confirmForward = command(
  'confirm-forward',
  async (
    tx,
    input: { hash: Uint8Array; ip: string },
    stamp,
  ): Promise<{ kind: 'confirmed'; source: string; destination: string } | DeadConfirmation> => {
    const found = await findAsked(tx, input.hash, stamp.now);
    if (found.kind !== 'asked') return found;
    const { id, organization, source, destination } = found;
    await tx.run('UPDATE forwarder SET pending = 0 WHERE id = ?', id);
    const actor = { actor: 'anonymous', actorName: destination, way: 'portal' as const, ip: input.ip };
    const entry = { organization, ...actor, operation: 'confirm_forward', target: source, detail: { destination } };
    await appendAudit(tx, entry, 'confirmed', stamp);
    return { kind: 'confirmed', source, destination };
  },
);
