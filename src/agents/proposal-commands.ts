import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';

/** That wait at once: of one token, and of an organization. */
export const MOST_OF_TOKEN = 20;
export const MOST_PENDING = 100;
/** A decided or expired one is shown so long. */
export const KEEP_PROPOSALS_MS = 30 * 86_400_000;
const SLICE = 200;

export interface NewProposal {
  organization: number;
  token: number;
  operation: string;
  /** Only one can wait for a target; '' is none. */
  target: string;
  actions: readonly string[];
  /** Sealed. */
  input: Uint8Array;
  digest: Uint8Array;
  /** ms UTC. */
  expiresAt: number;
}

export type Proposed =
  | { kind: 'pending'; id: number; expiresAt: number }
  /** One of another token waits for the same target. */
  | { kind: 'target-taken'; id: number }
  | { kind: 'too-many' };

/** Keeps what a token asks for until a person decides; asked again it is the one that waits already. */
export const addProposal = command('add-proposal', async (tx, input: NewProposal, stamp): Promise<Proposed> => {
  const waiting = await waitingNow(tx, input.organization, stamp);
  const same = waiting.find((one) => Buffer.from(one.digest).equals(Buffer.from(input.digest)));
  if (same !== undefined) return { kind: 'pending', id: same.id, expiresAt: same.expires_at };
  const other = waiting.find((one) => input.target !== '' && one.target === input.target);
  if (other !== undefined && other.token_id !== input.token) return { kind: 'target-taken', id: other.id };
  // Who asks again for the same means this instead of that: nobody accepts both, one after the other.
  if (other !== undefined) await tx.run(`UPDATE proposal SET state = 'replaced', input = x'' WHERE id = ?`, other.id);
  const own = waiting.filter((one) => one.token_id === input.token);
  if (waiting.length >= MOST_PENDING || own.length >= MOST_OF_TOKEN) return { kind: 'too-many' };
  const { id } = await tx.run(
    `INSERT INTO proposal (organization_id, token_id, operation, target, actions, input, digest, state, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    input.organization,
    input.token,
    input.operation,
    input.target,
    input.actions.join(' '),
    input.input,
    input.digest,
    stamp.now,
    input.expiresAt,
  );
  return { kind: 'pending', id, expiresAt: input.expiresAt };
});

type Waiting = { id: number; token_id: number; target: string; digest: Uint8Array; expires_at: number };

function waitingNow(tx: Write, organization: number, { now }: Stamp): Promise<Waiting[]> {
  return tx.all<Waiting>(
    `SELECT id, token_id, target, digest, expires_at FROM proposal
     WHERE organization_id = ? AND state = 'pending' AND expires_at > ?`,
    organization,
    now,
  );
}

export interface Decision {
  organization: number;
  id: number;
  accept: boolean;
  /** Who decides, as people know them. */
  by: string;
}

export type Decided =
  | { kind: 'accepted'; operation: string; token: number; actions: string[]; input: Uint8Array; digest: Uint8Array }
  | { kind: 'refused' | 'missing' | 'expired' }
  /** Somebody was faster. */
  | { kind: 'decided'; state: string };

/** Decides, once. What was asked for leaves the table with it: the arguments may hold secrets. */
export const decideProposal = command('decide-proposal', async (tx, input: Decision, stamp): Promise<Decided> => {
  const row = await tx.get<{
    operation: string;
    token_id: number;
    actions: string;
    input: Uint8Array;
    digest: Uint8Array;
    state: string;
    expires_at: number;
  }>(
    'SELECT operation, token_id, actions, input, digest, state, expires_at FROM proposal WHERE id = ? AND organization_id = ?',
    input.id,
    input.organization,
  );
  if (row === undefined) return { kind: 'missing' };
  if (row.state !== 'pending') return { kind: 'decided', state: row.state };
  if (row.expires_at <= stamp.now) return { kind: 'expired' };
  await tx.run(
    `UPDATE proposal SET state = ?, decided_at = ?, decided_by = ?, input = x'' WHERE id = ?`,
    input.accept ? 'accepted' : 'refused',
    stamp.now,
    input.by,
    input.id,
  );
  if (!input.accept) return { kind: 'refused' };
  const { operation, token_id: token, input: sealed, digest } = row;
  return { kind: 'accepted', operation, token, actions: row.actions.split(' '), input: sealed, digest };
});

/** Notes what became of an accepted one; where this never comes it is not known. */
export const settleProposal = command(
  'settle-proposal',
  async (tx, { id, outcome }: { id: number; outcome: string }): Promise<void> => {
    await tx.run(`UPDATE proposal SET outcome = ? WHERE id = ? AND state = 'accepted'`, outcome, id);
  },
);

/** Takes a slice of those away that have been over for long. */
export const forgetProposals = command('forget-proposals', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM proposal WHERE id IN (SELECT id FROM proposal WHERE expires_at <= ? LIMIT ?)',
    now - KEEP_PROPOSALS_MS,
    SLICE,
  );
  return changes === SLICE;
});
